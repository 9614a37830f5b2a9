"""Every face says the same of the same session, and of the same seat."""

import html
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from agentmux.app.loop.monitor.tmux_options import session_options
from agentmux.app.result import SessionProblem
from agentmux.app.session.search.lookup import Liveness, SessionEntry
from agentmux.app.views.project_summary import ProjectSummary
from agentmux.app.views.rows import SessionRow, session_row
from agentmux.app.views.session.last_screens import LastScreen, heading
from agentmux.app.views.session.session_view import SessionView
from agentmux.app.views.session_words import also_where, label, next_step, where
from agentmux.app.views.status import session_view
from agentmux.cli.commands.look.show import how_to_answer
from agentmux.cli.fast import project_summary
from agentmux.cli.picker.view import KnownSession, PickerScene, draw
from agentmux.cli.session_text import session_list, status_lines
from agentmux.core.codec.frozen import replace
from agentmux.core.decisions.attention import session_attention
from agentmux.core.journal.state import Interruption, Parked, Seat, SessionState, encode
from agentmux.core.names import layout
from agentmux.core.names.conversations import conversation, which_conversation
from agentmux.core.names.phase import Phase
from agentmux.core.names.status_labels import StatusGroup, age, status_colour, status_group
from agentmux.core.terminal.keys.picker import Choice, begin, press, tell
from agentmux.core.terminal.text.colours import CODES
from agentmux.desk.list.list_lines import row_line, titles_of
from agentmux.desk.list.listing import DeskRow, Heading, SessionListing, search, with_rows
from agentmux.desk.session.overview import OverviewFacts, head_lines, more_lines
from agentmux.desk.styled import plain
from agentmux.errors import ExitCode
from agentmux.monitor.view import render
from agentmux.ports.tmux.display import MonitorContent, SeatStatus
from agentmux.ports.tmux.terminal import StatusOption, TerminalUnreachableError, TmuxSession
from agentmux.web.pages.pages import templates
from agentmux.web.pages.reading import ListedGroup, ListedSession, ListedSessions, SessionRef

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
NAME = "20260101-101500-add-auth"
PROJECT = Path("/project")
SINCE = "2026-01-01T11:53:00.000Z"
UNTIL = "2026-01-01T12:10:00.000Z"

AT_WORK = Liveness(
    live=True, because="tmux session x", tmux=TmuxSession(id="$1", name="x", uuid="u"),
    locked=True, orchestrator=42,
)  # fmt: skip
GONE = Liveness(live=False, because="no tmux session")
SOON = Liveness(live=False, because="no tmux session", starter=7)
SILENT = Liveness(live=None, because="silence", error=TerminalUnreachableError("silence"))
UNREADABLE = SessionProblem(session=NAME, code=ExitCode.DATA, message="not readable", hints=())


def seat(**values: Any) -> Seat:
    given = {"launch": "L1", "role": "coder", "phase": "implementing", "mode": "fresh"}
    return Seat(**{**given, "reason": "none before", "since": SINCE, **values})


ONE: dict[str, Any] = {"seats": {"coder": seat()}, "agents": {"coder": {"agent": "claude"}}}
SETUP: dict[str, Any] = {"seats": {"coder": seat(role="setup")}}
STOPPED = Interruption(cause="stopped by the user", at=SINCE)
PARKED: dict[str, Any] = {
    **ONE, "parked": {"coder": Parked(launch="L1", agent="claude", until=UNTIL)},
}  # fmt: skip
DECIDING: dict[str, Any] = {"summary_submitted": True}

CASES: dict[str, tuple[SessionState, Liveness, str]] = {
    "running": (SessionState(phase=Phase.IMPLEMENTING, **ONE), AT_WORK, "busy"),
    "setting_up": (SessionState(phase=Phase.IMPLEMENTING, **SETUP), AT_WORK, "setting_up"),
    "waiting_for_user": (
        SessionState(phase=Phase.IMPLEMENTING, **ONE), AT_WORK, "waiting_for_user",
    ),
    "stalled": (SessionState(phase=Phase.IMPLEMENTING, **ONE), AT_WORK, "stalled"),
    "parked": (SessionState(phase=Phase.IMPLEMENTING, **PARKED), AT_WORK, "usage_limit"),
    "decision": (SessionState(phase=Phase.COMPLETING, **DECIDING), AT_WORK, ""),
    "failed": (SessionState(phase=Phase.FAILED, **ONE), AT_WORK, "crashed"),
    "starting": (SessionState(phase=Phase.IMPLEMENTING, **ONE), SOON, ""),
    "interrupted": (SessionState(phase=Phase.IMPLEMENTING, **ONE), GONE, ""),
    "stopped": (SessionState(phase=Phase.PLANNING, interruption=STOPPED), GONE, ""),
    "unknown": (SessionState(phase=Phase.PLANNING), SILENT, ""),
    "done": (SessionState(phase=Phase.DONE), GONE, ""),
}  # fmt: skip
MARKED = {
    "waiting_for_user": "waits", "decision": "decide", "stalled": "stalled", "failed": "failed",
}  # fmt: skip


def noted(seen: str) -> dict[str, Any]:
    note = {"status": seen, "source": "screen", "since": SINCE}
    panes = {"coder": {"pane": "%1", "launch": "L1"}}
    return {"statuses": {"coder": note}, "panes": panes} if seen else {}


def shown(status: str) -> SessionView:
    return view_of(*CASES[status])


def view_of(state: SessionState, liveness: Liveness, seen: str) -> SessionView:
    entry = SessionEntry(
        name=NAME,
        path=PROJECT / ".agentmux/.sessions" / NAME,
        fields=encode(state),
        source="state.json",
        updated=NOW - timedelta(minutes=5),
    )
    return session_view(entry, liveness, noted(seen), project=PROJECT, now=NOW)


def monitor(status: str) -> tuple[str, ...]:
    state, _, seen = CASES[status]
    return monitor_of(state, seen)


def monitor_of(state: SessionState, seen: str, until: str = "") -> tuple[str, ...]:
    doing = SeatStatus(status=seen, source="screen", since=SINCE, until=until)
    statuses = {"coder": doing} if seen else {}
    picture = MonitorContent(
        state=state, statuses=statuses, problem=None, messages=(), now=NOW.astimezone()
    )
    return render(picture, 60, 60)


def picked(row: SessionRow, sought: str, cols: int = 100) -> str:
    """Return the picker's line of the session; empty if the search does not find it."""
    picker = tell(begin([Choice(name=NAME, words="add-auth")]), {NAME: row.label})
    for key in f"/{sought}":
        picker = press(picker, key)
    known = KnownSession(name=NAME, phase=row.phase, updated=NOW - timedelta(minutes=5), title="")
    scene = PickerScene(picker=picker, known={NAME: known}, outlooks={}, now=NOW, rows={NAME: row})
    return next((line.text for line in draw(scene, cols, 24)[1:2] if NAME in line.text), "")


def desk_row(status: str) -> DeskRow:
    view = shown(status)
    return DeskRow(
        path=PROJECT / layout.SESSIONS_DIR / NAME,
        project=PROJECT,
        row=session_row(replace(view, title="Log people in")),
        updated=NOW - timedelta(minutes=5),
        words="add-auth Log people in",
        live=view.live,
        is_done=status == "done",
        decision=view.decision,
    )


@pytest.mark.parametrize("status", CASES)
def test_the_desk_says_the_same_of_a_session_as_list_and_status(status: str) -> None:
    view, row = shown(status), desk_row(status)
    listing = with_rows(SessionListing(), [row])
    heading, line = listing.lines
    assert isinstance(heading, Heading)
    assert (heading.group, line) == (view.group, row)
    wide = plain(row_line(listing, row, titles_of(listing, 100)[row.path], 100, NOW)).split()
    (_, listed) = session_list([row.row], [], cols=None, colours=False)
    words = listed.removesuffix("Log people in").replace("5m ago", "5m").split()
    assert wide == [">", "add-auth", *words[1:]]
    narrow = plain(row_line(listing, row, titles_of(listing, 40)[row.path], 40, NOW)).split()
    said = row.row.label.removeprefix(f"{view.group} ")
    assert narrow[2:-1] in ([MARKED.get(status, "")], row.row.label.split(), said.split())
    facts = OverviewFacts(view=view, title="", project=PROJECT, row=row, now=NOW)
    page = map(plain, (*head_lines(facts), *more_lines(facts)))
    text = "\n".join(page)
    place = "" if row.row.phase == row.row.label else f"{row.row.phase}, "
    assert f"{row.row.label}, {place}in {PROJECT.name}" in text
    for each in view.seats:
        assert f"{each.seat:<18} {each.label}" in text
    assert not search(listing, "2026").shown_rows


def on_page(template: str, **values: Any) -> str:
    """Return the text of a page as a browser shows it."""
    given: dict[str, Any] = {"read_only": False, "said": None, "signed_in": True, "token": "x"}
    made = templates().get_template(template).render(**given, **values)
    return " ".join(html.unescape(re.sub("<[^>]*>", " ", made)).split())


@pytest.mark.parametrize("status", CASES)
def test_the_page_says_the_same_of_a_session_as_list_and_status(status: str) -> None:
    view = shown(status)
    row = session_row(replace(view, title="Log people in"))
    site: Any = SimpleNamespace(project=PROJECT)
    place = SessionRef(site=site, path=PROJECT / layout.SESSIONS_DIR / NAME)
    listed = ListedSession(session=place, row=row, view=view)
    assert listed.colour == status_colour(row.status).value
    groups = (ListedGroup(group=view.group, shown=(listed,), older=0),)
    found = ListedSessions(groups=groups, problems=(), needs=0, of_several=False)
    text = on_page("sessions.html", found=found, sought="")
    phase = "" if row.phase == row.label else f"{row.phase} "
    assert f"{view.group.value} 1 Log people in {row.label} {phase}5m ago" in text

    empty = dict.fromkeys(("phases", "questions", "failures", "told", "restarted", "delivered"), ())
    entry = SimpleNamespace(title="Log people in", is_done=status == "done", problem=None)
    place_of = f"{where(view)}, " if view.phase != view.status else ""
    text = on_page(
        "overview.html",
        **empty,
        **dict.fromkeys(("decision", "summary", "changes", "plan", "worked"), ""),
        tab="overview",
        place=place,
        entry=entry,
        view=view,
        where=also_where(view, ""),
        label=label(view),
        next_step=next_step(view),
    )
    assert f"Log people in {label(view)} {place_of}updated 5m ago" in text
    for each in view.seats:
        assert f"{each.seat} {each.label}" in text
    for said in (*view.problems, *view.warnings):
        assert said in text


@pytest.mark.parametrize("status", CASES)
def test_all_faces_say_the_same_of_a_session(status: str) -> None:
    view = shown(status)
    row = session_row(replace(view, title="Log people in"))
    assert (view.status, row.label) == (status, view.label)

    (_, listed) = session_list([row], [], cols=None, colours=False)
    assert listed.split() == (
        f"{NAME} {row.phase_beside_label} {row.label} 5m ago Log people in".split()
    )
    assert f"  status        {row.label}, updated 5m ago" in status_lines(view, colours=False)
    alone = ProjectSummary(
        names=(),
        sessions={view.group: (replace(view, title="Log people in"),)},
        done=0,
        problems=(),
        exit_code=ExitCode.OK,
    )
    assert f"  {listed}" in list(project_summary.lines(alone, PROJECT, cols=None, colours=False))
    assert picked(row, row.label).split()[-1] == "5m"
    assert (f"! {row.label}" in picked(row, row.label)) is (status in MARKED)
    assert f"! {MARKED[status]} " in picked(row, "", 80) if status in MARKED else True
    assert not picked(row, "2026")


def test_a_session_that_was_stopped_at_its_decision_needs_its_user_in_every_list() -> None:
    view = replace(shown("stopped"), decision=True)
    assert session_row(view).group is StatusGroup.NEEDS_YOU
    assert session_row(replace(view, decision=False)).group is StatusGroup.INTERRUPTED


@pytest.mark.parametrize("status", [each for each in CASES if CASES[each][1] is AT_WORK])
def test_tmux_says_the_same_of_a_session_as_list(status: str) -> None:
    state, _, seen = CASES[status]
    wanted = session_attention(state, {"coder": seen} if seen else {}, troubled=False)
    options = session_options(state, wanted)
    without_time = shown(status).label.partition(" until ")[0]
    assert options[StatusOption.STATUS] == without_time
    needs_you = status_group(status) is StatusGroup.NEEDS_YOU
    assert bool(options[StatusOption.NEEDS_YOU]) is needs_you


@pytest.mark.parametrize("status", ["failed", "done"])
def test_the_monitor_says_the_same_of_a_session_that_has_ended(status: str) -> None:
    (line,) = (each for each in monitor(status) if each.startswith((" ✗", " ✓ done")))
    assert line.split()[-1] == shown(status).label


def test_the_monitor_says_the_same_of_a_conversation_as_status_and_the_picker() -> None:
    for mode, attempt in (("native", 2), ("fresh", 1), ("fresh", 3)):
        one = {**ONE, "seats": {"coder": seat(mode=mode, attempt=attempt)}}
        state = SessionState(phase=Phase.IMPLEMENTING, **one)
        about = next(each for each in monitor_of(state, "busy") if "claude, for " in each)
        view = view_of(state, AT_WORK, "busy")
        (said,) = (each for each in status_lines(view, colours=False) if "  claude " in each)
        told = re.split("  +", said.strip())[-1].split(", ")
        assert about.strip().split(", ")[2:] == [which_conversation(mode), *told[1:]]
        assert told[0] == conversation(mode)


def test_show_says_the_same_of_a_seat_as_status() -> None:
    (seat_view,) = shown("waiting_for_user").seats
    screen = LastScreen(
        seat="coder", agent="claude", ansi="", cols=80, rows=24, captured_at=SINCE, exit_status=None
    )
    assert heading(screen, NOW) == f"== coder · {seat_view.agent} · {age(seat_view.age_s)} ago =="
    assert how_to_answer(NAME, screen).startswith(f"-- {seat_view.label}; ")


@pytest.mark.parametrize("status", CASES)
def test_the_colours_of_status_are_only_added(status: str) -> None:
    view = shown(status)
    painted = "\n".join(status_lines(view, colours=True))
    assert re.sub("\x1b\\[[0-9]*m", "", painted).split("\n") == status_lines(view, colours=False)
    for each in view.seats:
        code = CODES.get(status_colour(each.status))
        assert (f"\x1b[{code}m{each.label}" in painted) is (code is not None)


@pytest.mark.parametrize("status", ["unknown", "unreadable"])
def test_what_is_not_known_is_never_said_to_run_or_to_rest(status: str) -> None:
    view = shown("unknown")
    if status == "unreadable":
        state, liveness, _ = CASES["running"]
        entry = SessionEntry(
            name=NAME,
            path=PROJECT / NAME,
            fields=encode(state),
            source="none",
            updated=NOW,
            problem=UNREADABLE,
        )
        view = session_view(entry, liveness, {}, project=PROJECT, now=NOW)
    assert (view.status, session_row(view).group) == (status, StatusGroup.NEEDS_YOU)
    text = "\n".join(status_lines(view, colours=False))
    assert f"status        {status}" in text


@pytest.mark.parametrize(
    "status", ["running", "setting_up", "waiting_for_user", "stalled", "parked"]
)
def test_the_monitor_says_the_same_of_a_seat_as_status(status: str) -> None:
    state, _, seen = CASES[status]
    (seat_view,) = shown(status).seats
    until = UNTIL if status == "parked" else ""
    (line,) = (each for each in monitor_of(state, seen, until) if "1 coder " in each)
    since = "" if status == "parked" else " 7m"
    assert line.rstrip().endswith(f" {seat_view.label}{since}")
    lines = [re.split("  +", each.strip()) for each in status_lines(shown(status), colours=False)]
    (said,) = (each for each in lines if each[:2] == ["coder", seat_view.agent or "-"])
    assert said[2:4] == [seat_view.label, "7m"]
