"""The monitor's text for each picture; it fits every size."""

from __future__ import annotations

import re
import string
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from wcwidth import wcswidth

from agentmux.core.codec.frozen import replace as replace_phases
from agentmux.core.definitions.definition import Kind, PhaseDefinition
from agentmux.core.definitions.feature import FEATURE
from agentmux.core.journal.results import BaseChecks, CheckResult, Fix, PhaseResult
from agentmux.core.journal.state import (
    Commit,
    Delivery,
    Interruption,
    Parked,
    Seat,
    SessionState,
    StepState,
)
from agentmux.core.names.phase import REVIEWERS, Phase
from agentmux.core.terminal.keys.console import TextPage
from agentmux.core.terminal.keys.monitor_keys import help_lines
from agentmux.core.terminal.text.text_width import clean, spread, wrap
from agentmux.monitor.reading import page_of
from agentmux.monitor.screen import style_line
from agentmux.monitor.segments import SegmentStyle, plain
from agentmux.monitor.view import draw, render
from agentmux.ports.tmux.display import (
    DisplayedText,
    MonitorContent,
    MonitorMessage,
    ResultView,
    SeatStatus,
)
from tests.monitor.pictures import NOW, SLUG, picture, seat, seen

MONITOR = (44, 60)


CHECKED = replace_phases(
    FEATURE,
    phases=(
        *FEATURE.phases[:5],
        PhaseDefinition(phase="verifying", kind=Kind.CHECK, folder="verifying", on_fail="fixing"),
        *FEATURE.phases[5:],
    ),
)


CHECK_PASSED = CheckResult(outcome="passed")


def checking(phase: str = "verifying", **values: Any) -> MonitorContent:
    names = ({"name": n, "run": [n], "timeout_s": 60, "required": True} for n in ("tests", "types"))
    return picture(phase, pipeline=CHECKED, verify=tuple(names), **values)  # type: ignore[arg-type]


def text_of(shown: MonitorContent, cols: int = 44, rows: int = 60) -> str:
    """Return the picture as text, with several blank rows reduced to one."""
    lines = render(shown, cols, rows)
    assert len(lines) == rows
    return re.sub(r"\n{3,}", "\n\n", "\n".join(line.rstrip() for line in lines))


AT_WORK = picture(
    subplan_count=4,
    completed_subplans=(1,),
    cycle=2,
    seats={
        "coder-2": seat(mode="native", reason="every check passed"),
        "coder-3": seat(attempt=2, reason="recorded on another host"),
        "code-researcher-how-sessions-are-stored-on-disk": seat("code-researcher"),
    },
    agents={"coder-2": {"agent": "claude", "model": "opus"}, "coder-3": {"agent": "codex"}},
    statuses={"coder-2": seen("busy"), "coder-3": seen("waiting_for_user", "10:29:20")},
)
AT_WORK = replace(
    AT_WORK,
    messages=(
        MonitorMessage("coder-3: crashed (exit 3)", NOW - timedelta(minutes=3)),
        MonitorMessage(
            "coder-3: reminded, since it had gone quiet", datetime(2025, 12, 31, 23, 58, tzinfo=UTC)
        ),
    ),
    last_lines={"coder-2": "Edit calc.py"},
    spent_s={"architecting": 725.0, "planning": 20.0, "implementing": 900.0},
)
LIMITED = picture(
    seats={"coder-2": seat(), "coder-3": seat()},
    agents={"coder-2": {"agent": "claude"}, "coder-3": {"agent": "codex"}},
    statuses={
        "coder-2": replace(seen("usage_limit"), resets="Nov 26, 5pm"),
        "coder-3": replace(seen("busy"), trouble="Connection refused · retrying"),
    },
)
DECIDING = picture(
    Phase.COMPLETING,
    product_manager=True,
    needs_design=True,
    review_iteration=1,
    review_outcome="passed",
    summary_submitted=True,
)
FAILED = picture(
    Phase.FAILED,
    seats={"coder-2": seat(status="crashed", attempt=2)},
    agents={"coder-2": {"agent": "demo"}},
    interruption=Interruption(
        cause="coder-2 was lost twice (exit 3)", seat="coder-2", phase="implementing"
    ),
)
SETUP_FAILED = picture(
    Phase.FAILED,
    seats={"setup": seat(status="crashed")},
    interruption=Interruption(
        cause="the setup `x` failed (exit 3)", seat="setup", phase="architecting"
    ),
)

WHOLE = {
    "at work": (
        AT_WORK,
        """\
Add a login form
cycle 2

 ✓ architecting                          12m
 ✓ planning
 ▶ implementing           1/4 sub-plans  15m
 · reviewing
 · completing

Your turn
! coder-3 asks you something
  x goes there

At work (3)
  1 coder-2                          busy 3m
    claude opus, for 15m, ↻ continued
    > Edit calc.py
! 2 coder-3              waiting for you <1m
    codex, for 15m, new conversation,
      started 2 times
    recorded on another host
  3 code-researcher-how-sessions-a… launched
    for 15m

Messages
10:27 coder-3: crashed (exit 3)
Dec 31, 23:58 coder-3: reminded, since it
  had gone quiet

20260101-101500-add-login

? all keys, detach: prefix d""",
    ),
    "deciding": (
        DECIDING,
        """\
Add a login form

 ✓ product management
 ✓ architecting
 ✓ planning
 ✓ designing
 ✓ implementing
 ✓ reviewing                          passed
 ✓ fixing                            fix 1/3
 ▶ completing

Your turn
! read the summary and decide
  a approve (shows it first), c ask for
    changes, d the diff, s the whole summary

20260101-101500-add-login

? all keys, detach: prefix d""",
    ),
    "failed": (
        FAILED,
        """\
Add a login form

 ✓ architecting
 ✓ planning
 ✗ implementing                       failed
 · reviewing
 · completing

Your turn
! failed: coder-2 was lost twice (exit 3)
  press r to start it again
  or stop it, then resume it, in a shell:
  agentmux stop add-login
  agentmux resume add-login

Agents
  1 coder-2                      crashed 15m
    demo, for 15m, new conversation, started
      2 times

20260101-101500-add-login

? all keys, detach: prefix d""",
    ),
}


def test_the_last_line_of_an_agent_that_has_ended_is_not_shown() -> None:
    asks = {"coder-2": "Enter to confirm"}
    for status, is_shown in (("launched", True), ("crashed", False), ("finished", False)):
        shown = picture(seats={"coder-2": seat(status=status)}, statuses={"coder-2": seen(status)})
        assert ("> Enter to confirm" in text_of(replace(shown, last_lines=asks))) is is_shown


def test_the_question_of_an_agent_is_whole_above_who_is_at_work_and_said_once() -> None:
    asked = "Do you want to make this edit to loader.py, which is in the folder of the loader?"
    shown = replace(AT_WORK, last_lines={"coder-3": asked})
    for cols in (30, 44, 80):
        said = " ".join(text_of(shown, cols).split())
        assert f"Your turn ! coder-3 asks: {asked} x goes there At work" in said
        assert "> Do" not in said
    said = text_of(replace(AT_WORK, last_lines={"coder-3": "Enter to select"}))
    assert "! coder-3 asks you something" in said
    assert "> Enter to select" in said


def test_when_a_limit_ends_and_trouble_with_a_service_are_shown() -> None:
    shown = " ".join(text_of(LIMITED).split())
    assert "resets Nov 26, 5pm" in shown
    assert "Connection refused · retrying" in shown
    assert "Your turn" not in shown


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("coder-1", "! 1 coder-1 waiting for you 3m"),
        ("coder-10", "! 1 coder-10   waiting for you"),  # the time is left out first
        ("reviewer_logic", "! 1 reviewer_logic waiting …"),
    ],
)
def test_in_a_narrow_monitor_the_name_of_a_seat_stays_whole(name: str, line: str) -> None:
    shown = picture(seats={name: seat()}, statuses={name: seen("waiting_for_user")})
    assert line in text_of(shown, 30, 24).split("\n")


def test_who_is_parked_does_not_wait_for_the_user() -> None:
    until = "2026-01-01T12:10:00.000Z"
    waits = replace(seen("usage_limit"), resets="12:10pm", until=until)
    parked = {
        "coder-2": Parked(launch="L", agent="claude", until=until),
        "coder-3": Parked(launch="gone", agent="claude", until="2026-01-02T12:10:00.000Z"),
    }
    known = seat()
    parked["coder-2"] = replace(parked["coder-2"], launch=known.launch)
    shown = picture(seats={"coder-2": known}, statuses={"coder-2": waits}, parked=parked)
    text = " ".join(text_of(shown).split())
    assert "coder-2 limit until 12:10" in text
    assert "Waiting coder-3 limit until Jan 2, 12:10" in text
    assert "Your turn" not in text


def test_what_went_wrong_before_an_agent_went_quiet_is_told() -> None:
    quiet = replace(seen("stalled"), trouble="API Error: 500")
    shown = " ".join(text_of(picture(seats={"coder": seat()}, statuses={"coder": quiet})).split())
    assert "coder has gone quiet (API Error: 500)" in shown


def test_a_seat_without_its_prompt_is_the_users_turn() -> None:
    mute = replace(seen("unknown"), unsent="its input field is not known")
    shown = " ".join(text_of(picture(seats={"coder": seat()}, statuses={"coder": mute})).split())
    assert "coder has not got its prompt" in shown
    assert "p types the prompt now" in shown
    assert "its prompt has not arrived: its input field is not known" in shown


@pytest.mark.parametrize("name", WHOLE)
def test_a_whole_picture(name: str) -> None:
    shown, expected = WHOLE[name]
    assert text_of(shown) == expected


PARTS: dict[str, tuple[MonitorContent, str | None, str | None]] = {
    # picture, a line that it shows, a text that it does not show
    "nobody asked for a product manager": (picture(), None, "product management"),
    "no design is needed": (picture(needs_design=False), None, "designing"),
    "a phase under way is always there": (picture(Phase.DESIGNING), " ▶ designing", None),
    "no fix yet": (picture(Phase.REVIEWING), None, "fixing"),
    "verdicts": (
        picture(
            Phase.REVIEWING, reviewer_nominations=REVIEWERS[:2], verdicts={REVIEWERS[0]: "pass"}
        ),
        " ▶ reviewing                     1/2 reviews",
        None,
    ),
    "fixing comes before its reviewing": (
        picture(Phase.FIXING, review_iteration=2),
        " · reviewing",
        " ✓ reviewing",
    ),
    "fixing is the current one": (
        picture(Phase.FIXING, review_iteration=2),
        " ▶ fixing                            fix 2/3",
        None,
    ),
    "reviewing comes after its fixing": (
        picture(Phase.REVIEWING, review_iteration=2),
        " ✓ fixing                            fix 2/3",
        None,
    ),
    "capped": (
        picture(Phase.COMPLETING, review_outcome="capped", summary_submitted=True),
        " ✗ reviewing                    did not pass",
        None,
    ),
    "capped is said where it is decided": (
        picture(Phase.COMPLETING, review_outcome="capped", summary_submitted=True),
        "! read the summary and decide (reviewing did",
        None,
    ),
    "a check counts its commands": (
        checking(
            results={"verifying": PhaseResult(checks={"tests": CheckResult(outcome="passed")})}
        ),
        " ▶ verifying                    1/2 have run",
        None,
    ),
    "a check waits for the base": (
        checking(base_checks=BaseChecks(path="/base", commit="c")),
        " ▶ verifying              waits for the base",
        None,
    ),
    "a check that is capped": (
        checking(
            Phase.COMPLETING,
            summary_submitted=True,
            results={"verifying": PhaseResult(outcome="capped")},
        ),
        "! read the summary and decide (verifying did",
        "(reviewing",
    ),
    "a command that could not run": (
        checking(seats={"check-tests": seat("check", mode="check", status="broken")}),
        "  press r to run it again, w to go on",
        None,
    ),
    "no summary, nothing to decide": (picture(Phase.COMPLETING), None, "Your turn"),
    "decided": (
        picture(Phase.COMPLETING, summary_submitted=True, approval="e1"),
        " ▶ completing                     committing",
        "Your turn",
    ),
    "merging": (
        picture(
            Phase.COMPLETING,
            summary_submitted=True,
            approval="e1",
            delivery=Delivery(id="e1", then="merge", steps={"commit": StepState(status="done")}),
        ),
        " ▶ completing                        merging",
        "Your turn",
    ),
    "the push failed": (
        picture(
            Phase.COMPLETING,
            summary_submitted=True,
            delivery=Delivery(
                id="e1", then="push", steps={"push": StepState(status="failed", reason="rejected")}
            ),
        ),
        "! not pushed: rejected",
        None,
    ),
    "the commit failed": (
        picture(
            Phase.COMPLETING,
            summary_submitted=True,
            commit=Commit(status="failed", reason="HEAD moved"),
        ),
        "! the commit was not made: HEAD moved",
        None,
    ),
    "the commit waits": (
        picture(
            Phase.COMPLETING,
            summary_submitted=True,
            approval="e1",
            commit=Commit(status="delayed", reason="index.lock is there"),
        ),
        "! the commit waits: index.lock is there",
        "committing",
    ),
    "done": (picture(Phase.DONE), " ✓ done", "▶"),
    "failed before any phase is known": (picture(Phase.FAILED), " ✗ failed", "✓"),
    "failed setup": (SETUP_FAILED, f"  agentmux resume {SLUG} --repin", None),
    "a long problem with its way out": (
        replace(picture(), problem="word " * 40 + "the way out"),
        "  word the way out",
        "…",
    ),
    "a name that two sessions share": (
        replace(picture(Phase.FAILED), name=""),
        f"  agentmux resume 20260101-101500-{SLUG}",
        f"resume {SLUG}",
    ),
    "a name that does not fit": (
        replace(picture(Phase.FAILED), name="add-a-login-form-and-a-page-for-it"),
        "  agentmux resume",
        "a-page-for-it",
    ),
    "failed without a seat": (picture(Phase.FAILED), f"  agentmux resume {SLUG}", "press r"),
    "first cycle": (picture(), None, "cycle"),
    "problem": (picture(problem="no\nspace"), "problem: no space", None),
    "interrupted": (
        picture(interruption=Interruption(cause="SIGTERM", at="2026-01-01T08:30:00.000Z")),
        "interrupted 2h ago: SIGTERM",
        None,
    ),
    "native says no reason": (
        picture(
            seats={"coder-1": seat(mode="native", reason="reached 3 times")},
            agents={"coder-1": {"agent": "demo"}},
        ),
        "    demo, for 15m, ↻ continued",
        "reached",
    ),
    "first attempt": (picture(seats={"coder-1": seat()}), None, "started"),
    "no session directory": (picture(feature_dir="", session_name="agentmux"), "agentmux", None),
}


@pytest.mark.parametrize("name", PARTS)
def test_a_part_of_a_picture(name: str) -> None:
    shown, line, absent = PARTS[name]
    found = text_of(shown)
    assert line is None or line in found.split("\n")
    assert absent is None or absent not in found


@pytest.mark.parametrize(
    ("status", "line"),
    [
        ("waiting_for_user", "! coder-1 asks you something"),
        ("stalled", "! coder-1 has gone quiet"),
        ("stopped", "! coder-1 waits for your choice in its pane"),
        ("stopped", "  o goes there, where the choices are; R"),
        ("finished", "! coder-1 ended without handing in its work"),
        ("ended_by_user", "  press r to start it again"),
    ],
)
def test_a_seat_that_waits_for_the_user(status: str, line: str) -> None:
    shown = picture(seats={"coder-1": seat()}, statuses={"coder-1": seen(status)})
    assert line in text_of(shown, 46).split("\n") or line in text_of(shown).split("\n")
    assert "! coder-1 " in text_of(shown)


@pytest.mark.parametrize("status", ["busy", "idle", "starting", "crashed", "unknown"])
def test_a_seat_that_needs_nobody(status: str) -> None:
    shown = picture(seats={"coder-1": seat()}, statuses={"coder-1": seen(status)})
    assert "Your turn" not in text_of(shown)
    assert "!" not in text_of(shown)


@pytest.mark.parametrize(
    ("since", "age"),
    [
        ("2026-01-01T10:29:01.000Z", "<1m"),
        ("2026-01-01T10:29:00.000Z", "1m"),
        ("2026-01-01T09:30:00.000Z", "1h"),
        ("2025-12-30T10:29:00.000Z", "2d"),
        ("2026-01-01T10:31:00.000Z", "<1m"),
        ("2026-01-01T10:20:00", "10m"),
    ],
)
def test_an_age_has_one_unit(since: str, age: str) -> None:
    status = SeatStatus(status="busy", source="screen", since=since)
    shown = picture(seats={"coder-1": seat()}, statuses={"coder-1": status})
    assert f"busy {age}\n" in text_of(shown)


def test_a_time_that_cannot_be_read_has_no_age() -> None:
    status = SeatStatus(status="busy", source="screen", since="soon")
    shown = picture(seats={"coder-1": seat()}, statuses={"coder-1": status})
    assert "busy\n" in text_of(shown)


def test_an_orchestrator_that_has_ended_says_how_to_go_on() -> None:
    last = "\n".join(plain(line) for line in draw(AT_WORK, *MONITOR, ended=True))
    again = f"  agentmux resume --reattach {SLUG}"
    assert last.endswith(f"the orchestrator has ended; in a shell:\n{again}")
    left = replace(AT_WORK, leave="C-b d detaches")
    last = "\n".join(plain(line) for line in draw(left, *MONITOR, ended=True))
    assert last.endswith(f"the orchestrator has ended. C-b d detaches;\n  then type:\n{again}")
    assert "Your turn" in text_of(AT_WORK)
    assert "Your turn" not in last


def test_an_orchestrator_that_has_ended_names_no_key_that_nobody_answers() -> None:
    failed = replace(AT_WORK, state=replace(AT_WORK.state, phase=Phase.FAILED))
    last = "\n".join(plain(line) for line in draw(failed, *MONITOR, ended=True))
    assert "! failed" in last
    assert "press r" not in last
    assert "agentmux stop" not in last


def test_changes_are_seen_while_they_are_written() -> None:
    shown = replace(DECIDING, draft="greet in French")
    said = text_of(shown)
    assert "! What should change? Enter twice sends" in said
    assert "\n> greet in French\u258f\n" in said
    assert "a approve" not in said
    long = replace(DECIDING, draft="word " * 200 + "the end")
    assert "the end\u258f" in text_of(long)
    for cols, rows in ((80, 24), (30, 8), (20, 4)):
        assert any("end\u258f" in line for line in render(long, cols, rows)), (cols, rows)


def test_a_question_stands_below_what_it_is_about() -> None:
    asked = "press a again within 10 s to commit 1 file: calc.py"
    said = " ".join(text_of(replace(DECIDING, question=asked)).split())
    assert f"Your turn ! {asked} ! read the summary" in said
    said = " ".join(text_of(replace(DECIDING, draft="greet", question=asked)).split())
    assert f"> greet\u258f ! {asked}" in said
    assert "Your turn ! press Ctrl-C" in " ".join(
        text_of(replace(AT_WORK, question="press Ctrl-C again")).split()
    )


REVIEWED = replace(
    DECIDING,
    question="press a again within 60 s to commit 40 files, then merged into main",
    reading=DisplayedText(
        title="What an approval would do",
        lines=(
            "What changed:",
            "",
            *(f"  src/part_{n:02}.py | {n} +++" for n in range(40)),
            "the end",
        ),
    ),
)


def at(shown: MonitorContent, top: int) -> MonitorContent:
    assert shown.reading is not None
    return replace(shown, reading=replace_phases(shown.reading, top=top))


def test_what_would_be_delivered_is_read_page_by_page_above_the_question() -> None:
    first = render(REVIEWED, 80, 24)
    assert " ".join(first[0].split()) == "What an approval would do lines 1-21 of 43"
    assert first[1:4] == ("What changed:", "", "  src/part_00.py | 0 +++")
    assert first[-2] == "↓ ↑ PgDn PgUp move, Esc takes the question back"
    assert first[-1] == f"! {REVIEWED.question}"
    page = page_of(REVIEWED, 80, 24)
    assert page == TextPage(rows=21, last=22)
    assert render(at(REVIEWED, 21), 80, 24)[1] == "  src/part_19.py | 19 +++"
    last = render(at(REVIEWED, page.last), 80, 24)
    assert last[-3] == "the end"
    assert render(at(REVIEWED, 1000), 80, 24) == last


def test_a_narrow_foot_names_the_key_without_where_it_leads() -> None:
    shown = replace(picture(), leave="C-b L goes back (a-long-name)")
    assert render(shown, 32, 24)[-1] == "? all keys, C-b L goes back"
    assert render(shown, 60, 24)[-1] == "? all keys, C-b L goes back (a-long-name)"


def test_while_somebody_writes_no_key_is_shown_that_would_be_text() -> None:
    shown = replace(picture(), draft="what should", leave="C-b d detaches")
    assert render(shown, 60, 24)[-1] == "C-b d detaches"


def test_a_phase_that_is_still_to_come_shows_no_time_of_an_earlier_cycle() -> None:
    shown = replace(picture(), spent_s={"completing": 725.0})
    assert [line.strip() for line in render(shown, 60, 40) if "completing" in line] == [
        "\u00b7 completing"
    ]


def test_a_short_text_has_no_pages() -> None:
    shown = replace(picture(), reading=DisplayedText(title="All keys", lines=help_lines("")))
    text = render(shown, 80, 60)
    assert text[0] == "All keys"
    assert [line for line in text if line.startswith("  d ")]
    assert text[-1] == "↓ ↑ PgDn PgUp move, Esc closes, ? all keys"
    assert page_of(shown, 80, 60).last == 0


def test_a_diff_has_its_colours_and_keeps_its_indentation() -> None:
    lines = (
        "diff --git a/x b/x",
        "--- a/x",
        "+++ b/x",
        "@@ -1 +1 @@",
        "-\tone",
        "+    two  two",
        " z",
    )
    text = DisplayedText(title="Every change so far", lines=lines, is_diff=True)
    shown = replace(picture(), reading=text)
    drawn = draw(shown, 80, 24)[1:8]
    assert [plain(line) for line in drawn][3:] == ["@@ -1 +1 @@", "-    one", "+    two  two", " z"]
    styles = [line[0].style for line in drawn]
    assert styles[:3] == [SegmentStyle.HEADER] * 3
    assert styles[3:] == [
        SegmentStyle.PLACE,
        SegmentStyle.BAD,
        SegmentStyle.GOOD,
        SegmentStyle.PLAIN,
    ]


def test_a_pane_too_small_for_a_text_shows_the_question_alone() -> None:
    assert "press a again" in "\n".join(render(REVIEWED, 40, 6))
    assert "What changed:" not in "\n".join(render(REVIEWED, 40, 6))


RESULT = ResultView(
    summary=("What was done:", "", *(f"• step {n} of the work" for n in range(30))),
    checks=("verifying: tests passed",),
    verdicts=("review logic: pass: all is well", "review quality: pass"),
    changes=(
        *(f"src/part_{n:02}.py | 3 +++" for n in range(12)),
        "12 files changed, 36 insertions(+)",
    ),
)
DECIDED_ON = replace(DECIDING, result=RESULT)


@pytest.mark.parametrize(("cols", "rows"), [(200, 50), (120, 36), (80, 24), (44, 24)])
def test_who_decides_sees_what_there_is_to_decide_on(cols: int, rows: int) -> None:
    text = text_of(DECIDED_ON, cols, rows)
    for said in ("tests passed", "review quality: pass", "12 files changed", "part_00.py"):
        assert said in text, said
    assert ("Summary\nWhat was done" in text) is (rows > 30)
    for said in ("What was done:", "a approve", "▶ completing", "Add a login form", "? all keys"):
        assert said in text, said
    assert "more lines of the summary: press s" in text
    assert max(map(len, text.split("\n"))) <= 100


def test_a_short_result_has_its_headings_at_80x24_too() -> None:
    short = ResultView(summary=("All is done.",), checks=("tests passed",), verdicts=("pass",))
    text = text_of(replace(DECIDING, result=short), 80, 24)
    assert "Summary\nAll is done.\n\nChecks\ntests passed\n\nReviews\npass" in text


def test_a_small_pane_shows_the_keys_and_not_the_result() -> None:
    text = text_of(DECIDED_ON, 44, 10)
    assert "a approve" in text
    assert "Summary" not in text


def test_the_result_stays_while_changes_are_written() -> None:
    shown = replace(DECIDED_ON, draft="greet", begins="it begins in fixing; Tab: somewhere else")
    text = text_of(shown, 80, 24)
    assert "12 files changed" in text
    assert "> greet\u258f\n  it begins in fixing; Tab: somewhere else" in text


def test_what_a_key_could_not_do_is_said() -> None:
    note = "`z` does nothing here: ? shows all keys"
    for shown in (AT_WORK, DECIDED_ON, REVIEWED):
        assert note in text_of(replace(shown, note=note), 80, 24)


def test_a_finished_session_needs_nobody_to_go_on() -> None:
    last = draw(picture(Phase.DONE), *MONITOR, ended=True)
    assert "resume" not in "\n".join(plain(line) for line in last)


# -- small sizes -----------------------------------------------------------------------------------


def test_a_head_that_left_the_branch_is_shown_as_long_as_that_is_so() -> None:
    said = "/w is on branch feat/x now"
    shown = text_of(replace(AT_WORK, problem="no space left", left_branch=said), 80, 40)
    assert "problem: no space left" in shown
    assert f"warning: {said}" in shown


def test_an_80x24_client_sees_all_that_matters() -> None:
    crowded = replace(AT_WORK, problem="tmux does not answer", messages=AT_WORK.messages * 50)
    found = text_of(crowded, 44, 24)
    for text in ("Add a login", "▶ implementing", "coder-2", "coder-3 asks", "problem:", "detach"):
        assert text in found


def test_where_there_is_no_room_the_time_in_a_phase_is_left_out_first() -> None:
    assert " ▶ implementing  1/4 sub-plans" in text_of(AT_WORK, 30, 30).split("\n")


@pytest.mark.parametrize("case", [AT_WORK, FAILED])
def test_no_message_stands_without_its_heading_nor_the_heading_alone(case: MonitorContent) -> None:
    said = tuple(MonitorMessage(f"message {n}", NOW) for n in range(3))
    for rows in range(1, 60):
        lines = [*render(replace(case, messages=said), 44, rows)]
        shown = sum("message " in line for line in lines)
        assert (f"Messages\n{NOW:%H:%M} message" in "\n".join(lines)) is bool(shown), rows
        assert ("Messages" in lines) is bool(shown), rows


def test_a_narrow_pane_stays_legible() -> None:
    assert (
        text_of(AT_WORK, 20, 12)
        == """\
Add a login form
 ▶ implementing …
! coder-3 asks you
something
x goes there
  1 coder-2  busy 3m
claude opus, for
! 2 coder-3 waiting…
codex, for 15m, new
  3 code-r… launched
for 15m
? all keys, detach:…"""
    )


def test_the_smallest_pane_says_where_it_is_and_what_is_wrong() -> None:
    found = text_of(replace(AT_WORK, problem="no space left"), 44, 3).split("\n")
    assert found == [
        " ▶ implementing           1/4 sub-plans  15m",
        "! coder-3 asks you something",
        "problem: no space left",
    ]


def test_the_newest_messages_stay() -> None:
    told = picture(messages=tuple(f"message {number}" for number in range(100)))
    found = text_of(told, 44, 20)
    assert "message 99\n" in found
    assert found.index("message 98") < found.index("message 99")
    assert "message 50" not in found


# -- texts of the user -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("a\x1b[31mb\x07\nc\td", "a [31mb c d"),
        ("\u202egnp\u200b.exe", "gnp .exe"),
        ("bad \udcff byte", "bad byte"),
        ("\u2764\ufe0f", "\u2764"),
        ("a\u2028b\x85c\x9bd", "a b c d"),
    ],
)
def test_what_could_move_a_cursor_is_taken_out(text: str, cleaned: str) -> None:
    assert clean(text) == cleaned


def test_a_feature_of_a_megabyte_is_cut() -> None:
    found = render(picture(feature="word " * 200_000), *MONITOR)
    assert found[1].endswith("…")
    assert "implementing" in "\n".join(found)


@pytest.mark.parametrize(
    ("cols", "lines", "wrapped"),
    [
        (24, 2, ("日本語 one two three", "  four five")),
        (20, 9, ("日本語 one two three", "four five")),
        (6, 3, ("日本語", "one", "two t…")),
        (24, 1, ("日本語 one two three …",)),
        (1, 3, ("o", "n", "…")),
    ],
)
def test_wrapping_counts_cells(cols: int, lines: int, wrapped: tuple[str, ...]) -> None:
    assert wrap("日本語 one two three four five", cols, lines) == wrapped


@pytest.mark.parametrize(
    ("cols", "both"),
    [
        (12, "coder-1 busy"),
        (11, "coder… busy"),
        (14, "coder-1   busy"),
        (7, "coder-…"),
    ],
)
def test_two_edges(cols: int, both: str) -> None:
    assert "".join(spread("coder-1", "busy", cols, least=5)) == both


# -- styles ----------------------------------------------------------------------------------------


def test_styles_never_carry_meaning_alone() -> None:
    shown = replace(FAILED, problem="no space left", statuses={"coder-2": seen("stalled")})
    for line in draw(shown, *MONITOR):
        for segment in line:
            if segment.style is SegmentStyle.ATTENTION:
                assert segment.text.lstrip().startswith(("!", "pane"))
            if segment.style is SegmentStyle.PROBLEM:
                assert segment.text.startswith("problem: ")


@pytest.mark.parametrize("colour", [True, False])
def test_styling_adds_nothing_but_styles(colour: bool) -> None:
    for line in draw(AT_WORK, *MONITOR):
        assert re.sub(r"\x1b\[[0-9;]*m", "", style_line(line, colour=colour)) == plain(line)


def test_without_colour_there_is_bold_and_dim() -> None:
    shown = replace(AT_WORK, problem="no space left")
    found = "".join(style_line(line, colour=False) for line in draw(shown, *MONITOR))
    assert set(re.findall(r"\x1b\[([0-9;]*)m", found)) == {"0", "1", "2"}
    coloured = "".join(style_line(line, colour=True) for line in draw(shown, *MONITOR))
    assert {"1;31", "1;33"} < set(re.findall(r"\x1b\[([0-9;]*)m", coloured))


# -- any picture, any size -------------------------------------------------------------------------

# Also surrogates and control characters, which may come from users and agents.
TEXTS = st.one_of(
    st.text(max_size=80),
    st.text(string.printable, max_size=300),
    st.text("日本👩‍👩‍👧\u0301\u200d\ufe0f\u202e🇩🇪क्षि\x1b\udc80 ", max_size=60),
)
TIMES = st.one_of(
    TEXTS, st.datetimes().map(datetime.isoformat), st.just("0001-01-01T00:00:00+23:59")
)
SEATS = st.builds(
    Seat,
    launch=TEXTS, role=TEXTS, phase=TEXTS, mode=st.sampled_from(["native", "fresh", "shell", "x"]),
    reason=TEXTS, since=TIMES, attempt=st.integers(0, 10**9), status=TEXTS,
)  # fmt: skip
SEAT_NAMES = st.one_of(st.sampled_from(["coder-1", "architect", "{0}", "{seat"]), TEXTS)
STATUSES = st.builds(
    SeatStatus,
    status=st.one_of(st.sampled_from(["waiting_for_user", "stalled", "finished", "busy"]), TEXTS),
    source=TEXTS, since=TIMES,
)  # fmt: skip
NUMBERS = st.integers(0, 2**63 - 1)
STATES = st.builds(
    SessionState,
    phase=st.sampled_from(Phase),
    feature=TEXTS, feature_dir=TEXTS, session_name=TEXTS, cycle=NUMBERS,
    fix=st.none() | st.builds(
        Fix, sender=st.sampled_from(["reviewing", ""]), iteration=NUMBERS,
        sent=st.dictionaries(TEXTS, NUMBERS, max_size=2), over=st.booleans(),
    ),
    needs_design=st.none() | st.booleans(), product_manager=st.booleans(),
    reviewer_nominations=st.lists(TEXTS, max_size=3).map(tuple),
    results=st.dictionaries(
        st.just("reviewing"),
        st.builds(
            PhaseResult, verdicts=st.dictionaries(TEXTS, TEXTS, max_size=3), outcome=TEXTS
        ),
    ),
    subplan_count=NUMBERS,
    summary_submitted=st.booleans(), approval=st.none() | TEXTS,
    commit=st.none() | st.builds(Commit, status=st.sampled_from(["failed", "made"]), reason=TEXTS),
    interruption=st.none() | st.builds(
        Interruption, cause=TEXTS, seat=SEAT_NAMES,
        phase=st.sampled_from([phase.value for phase in Phase]) | TEXTS, at=TIMES,
    ),
    seats=st.dictionaries(SEAT_NAMES, SEATS, max_size=6),
    agents=st.dictionaries(SEAT_NAMES, st.fixed_dictionaries({"agent": TEXTS}), max_size=3),
)  # fmt: skip
LINES = st.lists(TEXTS, max_size=40).map(tuple)
PICTURES = st.builds(
    MonitorContent,
    state=STATES,
    statuses=st.dictionaries(SEAT_NAMES, STATUSES, max_size=6),
    problem=st.none() | TEXTS,
    messages=st.lists(st.builds(MonitorMessage, TEXTS), max_size=20).map(tuple),
    now=st.just(NOW) | st.datetimes(timezones=st.just(UTC)),
    draft=st.none() | TEXTS,
    question=TEXTS,
    note=TEXTS,
    begins=TEXTS,
    reading=st.none()
    | st.builds(
        DisplayedText, title=TEXTS, lines=LINES, top=st.integers(0, 60), is_diff=st.booleans()
    ),
    result=st.none()
    | st.builds(ResultView, summary=LINES, checks=LINES, verdicts=LINES, changes=LINES),
    last_lines=st.dictionaries(SEAT_NAMES, TEXTS, max_size=3),
    spent_s=st.dictionaries(st.sampled_from(list(Phase)), st.floats(0, 1e9), max_size=3),
)


def _assert_fits(lines: tuple[str, ...], cols: int, rows: int) -> None:
    assert len(lines) == rows
    for line in lines:
        assert 0 <= wcswidth(line) <= cols, line  # -1 means a control character
        line.encode()


@settings(deadline=None, max_examples=100)
@given(shown=PICTURES, cols=st.integers(10, 230), rows=st.integers(3, 80))
@example(shown=AT_WORK, cols=10, rows=3)
@example(shown=replace(DECIDING, result=ResultView(changes=("\x1f",) * 3)), cols=10, rows=10)
def test_any_picture_fits_any_size(shown: MonitorContent, cols: int, rows: int) -> None:
    _assert_fits(render(shown, cols, rows), cols, rows)
    for line in draw(shown, cols, rows, ended=True):
        assert wcswidth(plain(line)) <= cols


@pytest.mark.parametrize(
    "shown",
    [AT_WORK, DECIDING, DECIDED_ON, FAILED, REVIEWED],
    ids=["at work", "deciding", "decided on", "failed", "reviewed"],
)
def test_the_known_pictures_fit_every_small_size(shown: MonitorContent) -> None:
    for cols in range(1, 50):
        for rows in range(1, 30):
            _assert_fits(render(shown, cols, rows), cols, rows)


def test_a_size_of_nothing_is_the_smallest() -> None:
    assert len(render(AT_WORK, 0, 0)) == 1


def test_the_clock_may_be_anywhere() -> None:
    late: Any = datetime.max.replace(tzinfo=NOW.tzinfo) - timedelta(days=1)
    assert render(replace(AT_WORK, now=late), *MONITOR)


def test_the_worktree_of_a_session_is_shown_with_its_branch() -> None:
    shown = picture(worktree="/w/calc-worktrees/x", branch="agentmux/x")
    assert text_of(shown).split("\n")[-5:-2] == [
        "20260101-101500-add-login", "agentmux/x", "/w/calc-worktrees/x",
    ]  # fmt: skip
    assert "agentmux/x" not in text_of(picture(branch="agentmux/x"))


def test_a_worktree_without_a_branch_is_shown_alone() -> None:
    shown = text_of(picture(worktree="/w/calc-worktrees/review-x"))
    assert shown.split("\n")[-3] == "/w/calc-worktrees/review-x"
    assert "None" not in shown


def test_the_last_line_of_an_ended_agent_is_quoted() -> None:
    last = {"coder-2": "Error: no API key"}
    shown = text_of(replace(FAILED, last_lines=last))
    assert "! failed: coder-2 was lost twice (exit 3)\n  its last line: Error: no API key" in shown
    ended = replace(AT_WORK, statuses={"coder-2": seen("finished")}, last_lines=last)
    assert "  its last line: Error: no API key\n  press r to start it again" in text_of(ended)
