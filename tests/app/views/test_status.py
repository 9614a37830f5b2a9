"""The status of a session, from its state, its liveness and the orchestrator's notes."""

import os
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from agentmux.app.result import SessionProblem
from agentmux.app.session.search.lookup import Liveness, SessionEntry, entry_at
from agentmux.app.views.rows import session_row
from agentmux.app.views.session.session_view import SessionView
from agentmux.app.views.session_words import lines_after_detach, next_step
from agentmux.app.views.status import _summary, look, session_view, wants_decision
from agentmux.cli.session_text import session_list, status_lines
from agentmux.core.definitions.definition import Kind, PhaseDefinition, PipelineDefinition
from agentmux.core.definitions.feature import FEATURE
from agentmux.core.fold.acceptance import takes_approval
from agentmux.core.journal.results import Fix, PhaseResult
from agentmux.core.journal.state import (
    Base,
    Commit,
    Delivery,
    Interruption,
    Issue,
    Options,
    Parked,
    Request,
    Seat,
    SessionState,
    StepState,
    encode,
)
from agentmux.core.names.layout import slug_of
from agentmux.core.names.phase import Phase
from agentmux.core.names.status_labels import SessionStatus, StatusGroup, parked_label
from agentmux.errors import ExitCode
from agentmux.ports.tmux.terminal import Server, Target, TerminalUnreachableError, TmuxSession
from agentmux.wiring import build
from tests.app.driver import git, make_project
from tests.app.on_disk import OnDisk
from tests.core.builders import state_of

PROJECT = Path("/project")
PATH = PROJECT / ".agentmux/.sessions/20260101-101500-add-auth"
NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
SINCE = "2026-01-01T11:59:00.000Z"

WORKING = Liveness(
    live=True, because="tmux session x", tmux=TmuxSession(id="$1", name="x", uuid="u"),
    locked=True, orchestrator=42,
)  # fmt: skip
SERVER = Server(socket="/s", pid=1, started=1)
TARGET = Target(server=SERVER, session="$0", uuid="u")
LEFT = Liveness(live=True, because="tmux session x", target=TARGET)
GONE = Liveness(live=False, because="no tmux session")
CHECKED = PipelineDefinition(
    name="mine",
    phases=(
        PhaseDefinition(phase="verifying", kind=Kind.CHECK, folder="verifying"),
        PhaseDefinition(phase="reviewing", kind=Kind.REVIEW, folder="reviewing"),
        PhaseDefinition(phase="completing", kind=Kind.COMPLETE, folder="completing"),
    ),
)
COMING = Liveness(live=True, because="tmux session x", target=TARGET, starter=7)
SOON = Liveness(live=False, because="no tmux session", starter=7)
COPY = Liveness(live=True, because="a copy of the live session at /p", copy_of=Path("/p"))
HIDDEN = Liveness(
    live=True, because="the tmux server 7 runs without its socket", way_back=("kill -USR1 7",)
)
SILENT = Liveness(live=None, because="silence", error=TerminalUnreachableError("silence"))


def seat(**values: Any) -> Seat:
    given = {"launch": "L1", "role": "coder", "phase": "implementing", "mode": "fresh"}
    return Seat(**{**given, "reason": "first start", "since": SINCE, **values})


def entry(phase: Phase = Phase.IMPLEMENTING, **values: Any) -> SessionEntry:
    return SessionEntry(
        name=PATH.name,
        path=PATH,
        fields=encode(state_of(phase, **values)),
        source="state.json",
        updated=NOW - timedelta(minutes=5),
    )


def view(
    found: SessionEntry, liveness: Liveness, runtime: dict[str, Any] | None = None
) -> SessionView:
    return session_view(found, liveness, runtime or {}, project=PROJECT, now=NOW)


def noted(status: str, launch: str = "L1") -> dict[str, Any]:
    seen = {"status": status, "source": "screen", "since": "2026-01-01T11:59:30.000Z"}
    return {"statuses": {"coder": seen}, "panes": {"coder": {"pane": "%1", "launch": launch}}}


STOPPED = Interruption(cause="stopped by the user")
BROKEN = Interruption(cause="the tmux server is gone")
DECIDING: dict[str, Any] = {"phase": Phase.COMPLETING, "summary_submitted": True}
DELAYED: dict[str, Any] = {"approval": "a1", "commit": Commit(status="delayed", reason="a lock")}


@pytest.mark.parametrize(
    ("found", "liveness", "runtime", "status"),
    [
        (entry(), WORKING, {}, "running"),
        (entry(seats={"coder": seat()}), WORKING, noted("busy"), "running"),
        (entry(seats={"coder": seat()}), WORKING, noted("waiting_for_user"), "waiting_for_user"),
        (entry(seats={"coder": seat()}), WORKING, noted("usage_limit"), "usage_limit"),
        (entry(seats={"coder": seat(stalled=True)}), WORKING, {}, "stalled"),
        (entry(), WORKING, {"problem": "an event cannot be handled"}, "stalled"),
        (entry(**DECIDING), WORKING, {}, "decision"),
        (entry(**DECIDING, **DELAYED), WORKING, {}, "stalled"),
        (entry(), LEFT, {}, "interrupted"),
        (entry(), GONE, {}, "interrupted"),
        (entry(interruption=BROKEN), GONE, {}, "interrupted"),
        (entry(interruption=STOPPED), GONE, {}, "stopped"),
        (entry(interruption=STOPPED), LEFT, {}, "interrupted"),
        (entry(), COMING, {}, "starting"),
        (entry(), SOON, {}, "starting"),
        (entry(Phase.FAILED), SOON, {}, "starting"),
        (entry(interruption=STOPPED), COMING, {}, "starting"),
        (entry(Phase.DONE), SOON, {}, "done"),
        (entry(), SILENT, {}, "unknown"),
        (entry(Phase.DONE), GONE, {}, "done"),
        (entry(Phase.DONE), SILENT, {}, "done"),
        (entry(Phase.FAILED), WORKING, {}, "failed"),
    ],
)
def test_the_status_of_a_session(
    found: SessionEntry, liveness: Liveness, runtime: dict[str, Any], status: str
) -> None:
    assert view(found, liveness, runtime).status == status


def test_what_was_noted_counts_only_while_an_orchestrator_runs() -> None:
    found = entry(seats={"coder": seat()})
    assert view(found, LEFT, noted("waiting_for_user")).status is SessionStatus.INTERRUPTED
    (agent,) = view(found, LEFT, noted("waiting_for_user")).seats
    assert (agent.status, agent.label, agent.age_s) == ("unknown", "unknown", None)
    earlier = {"problem": "an old one", "orchestrator_pid": 999_999}
    assert view(found, WORKING, earlier).problems == ()
    assert view(found, WORKING, {**earlier, "orchestrator_pid": WORKING.orchestrator}).problems


def test_of_a_session_that_starts_nothing_is_said_to_be_gone() -> None:
    found = view(entry(), COMING)
    assert found.problems == ()
    assert next_step(found) == ""


def test_a_seat_with_all_that_is_known() -> None:
    agents = {"coder": {"agent": "demo"}}
    seats = {"coder": seat(mode="native", attempt=2, prompt_bytes=212, fresh_prompt_bytes=9120)}
    found = view(entry(agents=agents, seats=seats), WORKING, noted("busy")).as_json()
    assert found["seats"] == [
        {
            "seat": "coder",
            "role": "coder",
            "agent": "demo",
            "mode": "native",
            "reason": "first start",
            "status": "busy",
            "source": "screen",
            "age_s": 30.0,
            "attempt": 2,
            "prompt_bytes": 212,
            "fresh_prompt_bytes": 9120,
            "resets": None,
            "trouble": None,
            "parked_until": None,
            "screen": None,
        }
    ]


def test_when_a_limit_ends_and_what_went_wrong_are_told() -> None:
    told = {"resets": "5pm", "trouble": "API error · retrying"}
    runtime = noted("usage_limit")
    runtime["statuses"]["coder"].update(told)

    found = view(entry(seats={"coder": seat()}), WORKING, runtime)

    assert (found.seats[0].resets, found.seats[0].trouble) == ("5pm", "API error · retrying")
    assert "coder says: API error · retrying" in found.problems
    assert any("usage limit, resets 5pm" in line for line in status_lines(found, colours=False))
    assert found.as_json()["seats"][0]["resets"] == "5pm"


UNTIL = "2026-01-01T12:10:00.000Z"
PARKED = Parked(launch="L1", agent="demo", until=UNTIL)
CLOCK = parked_label(datetime.fromisoformat(UNTIL), NOW.astimezone())


@pytest.mark.parametrize(
    ("parked", "seen", "liveness", "status", "label"),
    [
        (PARKED, "usage_limit", WORKING, "parked", CLOCK),
        (PARKED, "idle", WORKING, "parked", CLOCK),
        (PARKED, "busy", WORKING, "busy", "busy"),
        (PARKED, "waiting_for_user", WORKING, "waiting_for_user", "waiting for you"),
        (replace(PARKED, woken=UNTIL), "usage_limit", WORKING, "usage_limit", "usage limit"),
        (PARKED, "usage_limit", GONE, "stopped", f"stopped, {CLOCK}"),
    ],
)
def test_who_is_parked_is_shown_with_the_time(
    parked: Parked, seen: str, liveness: Liveness, status: str, label: str
) -> None:
    found = view(entry(seats={"coder": seat()}, parked={"coder": parked}), liveness, noted(seen))
    (coder,) = found.seats
    assert (coder.status, coder.label) == (status, label)
    assert coder.parked_until == (UNTIL if parked == PARKED else None)
    assert any(label in line for line in status_lines(found, colours=False))


def test_a_parked_agent_is_shown_with_what_its_screen_tells() -> None:
    runtime = noted("usage_limit")
    runtime["statuses"]["coder"]["trouble"] = "API error"
    found = view(entry(seats={"coder": seat()}, parked={"coder": PARKED}), WORKING, runtime)
    assert (found.seats[0].status, found.seats[0].trouble) == ("parked", "API error")


def test_the_label_of_a_session_is_that_of_the_agent_that_goes_on_first() -> None:
    later = replace(PARKED, until="2026-01-01T17:10:00.000Z")
    found = entry(seats={}, parked={"coder-1": later, "coder-2": PARKED})
    shown = view(found, WORKING)
    assert [each.seat for each in shown.seats] == ["coder-1", "coder-2"], "after a reboot"
    assert (shown.status, shown.label) == ("parked", CLOCK)
    assert "label" not in shown.as_json()
    assert f"agentmux unpark {PATH.name}" in status_lines(shown, colours=False)[-1]
    over = replace(PARKED, until="2026-01-01T11:00:00.000Z")
    (next_one,) = view(entry(parked={"coder": over}), WORKING).seats
    assert next_one.status == "parked", "another one of its account was just woken"
    assert view(found, GONE).seats == ()


def test_of_a_seat_that_is_gone_no_trouble_is_told() -> None:
    runtime = noted("busy")
    runtime["statuses"]["coder"]["trouble"] = "API error"
    found = view(entry(seats={"coder": seat(status="crashed")}), WORKING, runtime)
    assert (found.seats[0].trouble, found.problems) == (None, ())


@pytest.mark.parametrize(
    ("held", "liveness", "runtime", "expected"),
    [
        (seat(), WORKING, {}, ("launched", "journal", 60.0)),
        (seat(), WORKING, noted("busy", launch="L0"), ("launched", "journal", 60.0)),
        (seat(status="crashed"), WORKING, noted("busy"), ("crashed", "journal", None)),
        (seat(), GONE, {}, ("stopped", "journal", None)),
        (seat(), SILENT, {}, ("unknown", "journal", None)),
        (seat(since="?"), WORKING, {}, ("launched", "journal", None)),
    ],
)
def test_the_status_of_a_seat(
    held: Seat, liveness: Liveness, runtime: dict[str, Any], expected: tuple[object, ...]
) -> None:
    (found,) = view(entry(seats={"coder": held}), liveness, runtime).seats
    assert (found.status, found.source, found.age_s) == expected


def test_the_json_has_what_scripts_rely_on() -> None:
    found = view(entry(cycle=2, review_iteration=1, interruption=BROKEN), WORKING).as_json()
    assert found["session"] == PATH.name
    assert found["path"] == ".agentmux/.sessions/20260101-101500-add-auth"
    assert (found["phase"], found["status"]) == ("implementing", "running")
    assert (found["cycle"], found["review_iteration"]) == (2, 1)
    assert (found["live"], found["orchestrator"], found["seats"]) == (True, 42, [])
    assert found["updated_at"] == "2026-01-01T11:55:00.000Z"
    assert found["age_s"] == 300.0
    assert isinstance(found["interruption"], dict)
    assert found["interruption"]["cause"] == BROKEN.cause


@pytest.mark.parametrize(
    ("outcomes", "said"),
    [
        ((), None),
        (("passed", "passed"), "passed"),
        (("passed", ""), None),
        (("capped", "passed"), "capped"),
    ],
)
def test_checks_and_reviews_of_another_pipeline_are_told_as_one(
    outcomes: tuple[str, ...], said: str | None
) -> None:
    found = {f"p{n}": PhaseResult(outcome=each) for n, each in enumerate(outcomes)}
    fix = Fix(sender="p0", iteration=2)
    seen = view(entry(Phase.COMPLETING, pipeline=FEATURE, results=found, fix=fix), GONE)
    assert (seen.review_iteration, seen.review_outcome) == (2, said)


@pytest.mark.parametrize(
    ("results", "label", "mark"),
    [
        ({"verifying": "capped", "reviewing": "passed"}, "decide: check failed", "\u2717 check"),
        ({"verifying": "passed", "reviewing": "capped"}, "decide: review failed", "\u2717 review"),
        ({"verifying": "passed", "reviewing": "passed"}, "yours to decide", "decide"),
    ],
)
def test_a_row_says_that_what_is_to_be_decided_did_not_pass(
    results: dict[str, str], label: str, mark: str
) -> None:
    found = {phase: PhaseResult(outcome=each) for phase, each in results.items()}
    command = {"name": "tests", "run": ["pytest"], "timeout_s": 60.0, "required": True}
    state = entry(
        Phase.COMPLETING, pipeline=CHECKED, results=found, summary_submitted=True,
        verify=(command,),
    )  # fmt: skip
    shown = session_row(view(state, WORKING))
    assert (shown.label, shown.mark, shown.status) == (label, mark, "decision")


@pytest.mark.parametrize(
    ("interruption", "label"),
    [
        (BROKEN, "decide (interrupted)"),
        (STOPPED, "decide (stopped)"),
        (None, "decide (interrupted)"),
    ],
)
def test_a_decision_is_named_although_the_session_does_not_run(
    interruption: Interruption | None, label: str
) -> None:
    state = entry(Phase.COMPLETING, summary_submitted=True, interruption=interruption)
    shown = session_row(view(state, GONE))
    assert (shown.label, shown.group) == (label, StatusGroup.NEEDS_YOU)


def test_a_session_elsewhere_has_its_whole_path() -> None:
    found = session_view(entry(), GONE, {}, project=Path("/other"), now=NOW)
    assert found.path == str(PATH)


def test_an_unreadable_session_says_why() -> None:
    problem = SessionProblem(session=PATH.name, code=ExitCode.DATA, message="it is from tomorrow")
    lost = SessionEntry(
        name=PATH.name, path=PATH, fields={}, source="none", updated=NOW, problem=problem
    )
    found = view(lost, GONE)
    assert (found.phase, found.status) == (None, SessionStatus.UNREADABLE)
    assert found.problems == ("it is from tomorrow",)


@pytest.mark.parametrize(
    ("found", "liveness", "runtime", "says"),
    [
        (entry(), LEFT, {}, "its orchestrator is gone"),
        (entry(), WORKING, {"problem": "odd"}, "odd"),
        (entry(), SILENT, {}, "silence"),
        (entry(), COPY, {}, "a copy of the live session at /p"),
        (entry(), HIDDEN, {}, "runs without its socket; kill -USR1 7"),
        (entry(commit=Commit(status="failed", reason="a hook")), GONE, {}, "a hook"),
        (entry(commit=Commit(status="delayed", reason="a lock")), WORKING, {}, "waits: a lock"),
        (
            entry(commit=Commit(status="delayed", reason="a lock")),
            GONE,
            {},
            "the commit waited for a resume to try again: a lock",
        ),
    ],
)
def test_problems_are_said(
    found: SessionEntry, liveness: Liveness, runtime: dict[str, Any], says: str
) -> None:
    assert any(says in problem for problem in view(found, liveness, runtime).problems)


def test_the_panes_of_a_done_session_are_nobodys_to_take_over() -> None:
    """Its orchestrator ends a moment before them."""
    assert not view(entry(phase=Phase.DONE), LEFT).has_lost_orchestrator


def test_a_delivery_is_shown_with_its_steps_and_the_reason_of_a_failed_one() -> None:
    steps = {
        "commit": StepState(status="done", record={"commit": "c0ffee"}),
        "merge": StepState(status="failed", reason="conflicts in a.py", record={"base": "main"}),
    }
    found = view(entry(**DECIDING, delivery=Delivery(id="a1", then="merge", steps=steps)), GONE)
    assert found.as_json()["delivery"] == {
        "id": "a1",
        "then": "merge",
        "steps": {
            "commit": {"status": "done", "commit": "c0ffee"},
            "merge": {"status": "failed", "reason": "conflicts in a.py", "base": "main"},
        },
    }
    assert "  delivery      commit done, merge failed" in status_lines(found, colours=False)
    assert "merge failed: conflicts in a.py" in found.problems
    done = {**steps, "merge": StepState(status="done", record={"base": "main"})}
    over = view(
        entry(
            Phase.DONE,
            worktree="/w",
            commit=Commit(status="made", commit="c0ffee"),
            delivery=Delivery(id="a1", then="merge", steps=done),
        ),
        GONE,
    )
    assert lines_after_detach(over) == [
        f"session {PATH.name} is done: commit c0ffee, merged into main"
    ]
    assert not [line for line in status_lines(over, colours=False) if "get it" in line]


@pytest.mark.parametrize("liveness", [GONE, LEFT, WORKING, SOON])
@pytest.mark.parametrize("step", ["commit", "merge"])
def test_in_a_session_that_nobody_drives_no_step_runs(liveness: Liveness, step: str) -> None:
    status = "committing" if step == "commit" else "made"
    steps = {"commit": StepState(status="done"), step: StepState(status="running")}
    found = view(
        entry(
            **DECIDING,
            approval="a1",
            commit=Commit(status=status, approval="a1"),
            delivery=Delivery(id="a1", then="merge", steps=steps),
        ),
        liveness,
    )
    said = "\n".join(status_lines(found, colours=False))
    interrupted = f"the {step} was interrupted; a resume finds out whether it was done, and else"
    assert (f"{step} running" in said) is (liveness is WORKING)
    assert (f"{step} interrupted" in said) is (liveness is not WORKING)
    assert any(interrupted in each for each in found.problems) is (liveness in {GONE, LEFT})


def test_a_result_that_was_kept_is_taken_further_with_git() -> None:
    kept = view(
        entry(
            Phase.DONE,
            worktree="/w",
            branch="agentmux/x&y",
            base=Base(commit="b0", branch="main"),
            commit=Commit(status="made", commit="c0ffee"),
            delivery=Delivery(id="a1", then="keep", steps={"commit": StepState(status="done")}),
        ),
        GONE,
    )
    for before in ((), ("the merge brings back 1 commit", "to go without, first: git rebase")):
        ways = partial(tuple[str, ...], (*before, "git merge"))
        lines = status_lines(kept, ways, colours=False)
        at = lines.index("  get it with   git merge")
        assert lines[at - len(before) : at] == [f"  warning       {each}" for each in before]
        (said,) = lines_after_detach(kept, ways)
        assert said.startswith(f"session {PATH.name} is done: commit c0ffee on branch agentmux/x&y")
        assert said.endswith("; ".join((*before, "get it with: git merge")))


@pytest.mark.parametrize(
    "fields",
    [
        {"phase": "completing", "delivery": {"steps": {"merge": {"record": 5}, "push": 1}}},
        {"phase": "implementing", "seats": [], "agents": 5, "interruption": "x", "commit": "y"},
        {"phase": "implementing", "cycle": "two", "review_iteration": True, "feature": 7},
        {"phase": "implementing", "seats": {"coder": 1, "b": {"attempt": None, "launch": []}}},
    ],
)
def test_odd_states_are_shown_as_far_as_they_go(fields: dict[str, Any]) -> None:
    odd = SessionEntry(name=PATH.name, path=PATH, fields=fields, source="state.json", updated=NOW)
    runtime = {"statuses": [], "panes": "", "problem": 0}
    found = view(odd, WORKING, runtime)
    assert found.phase == fields["phase"]
    assert found.cycle == 1
    assert found.as_json()
    assert status_lines(found, colours=False)


def test_the_users_turn() -> None:
    def fields(**values: Any) -> Any:
        return encode(SessionState(**{"phase": Phase.COMPLETING, **values}))

    assert wants_decision(fields(summary_submitted=True))
    assert not wants_decision(fields())
    assert not wants_decision(fields(summary_submitted=True, approval="e1"))
    assert not wants_decision(fields(phase=Phase.DONE, summary_submitted=True))


@pytest.mark.parametrize(
    ("decided", "status", "label"),
    [(False, "decision", "yours to decide"), (True, "running", "your decision is taken")],
)
def test_a_decision_is_shown_as_taken_until_it_is_applied(
    decided: bool, status: str, label: str
) -> None:
    ready = entry(Phase.COMPLETING, summary_submitted=True)
    view = session_view(ready, WORKING, {}, project=PROJECT, now=NOW, decided=decided)
    assert (view.status, view.label, view.decision) == (status, label, not decided)
    assert view.problems == ()


@pytest.mark.parametrize(
    ("status", "turn"),
    [("launched", False), ("crashed", False), ("finished", True), ("ended_by_user", True)],
)
def test_a_summary_whose_writer_has_left_is_not_waited_for(status: str, turn: bool) -> None:
    writer = seat(role="reviewer_logic", phase="completing", status=status)
    topic = seat(role="web-researcher", phase="reviewing", topic="x")
    seats = {"reviewer_logic": writer, "web-researcher-x": topic}
    found = entry(Phase.COMPLETING, seats=seats)
    assert wants_decision(found.fields) is turn
    assert view(found, WORKING).decision is turn
    assert takes_approval(SessionState(phase=Phase.COMPLETING, seats=seats)) or not turn


def test_a_researcher_who_left_holds_nobody_up() -> None:
    gone = seat(role="code-researcher", topic="auth", phase="architecting", status="finished")
    seats = {"code-researcher-auth": gone}
    found = view(entry(seats={**seats, "coder": seat()}), WORKING)
    assert (found.status, next_step(found)) == (SessionStatus.RUNNING, "")
    assert [each for each in found.problems if "code-researcher-auth left" in each]
    deciding = view(entry(**DECIDING, seats=seats), WORKING)
    assert [line for line in status_lines(deciding, colours=False) if "summary.md" in line]


def test_what_was_committed_is_said() -> None:
    done = view(entry(Phase.DONE, commit=Commit(status="made", commit="ab12")), GONE)
    assert done.commit == "ab12"
    assert "  commit        ab12" in status_lines(done, colours=False)
    assert view(entry(Phase.DONE, commit=Commit(status="none")), GONE).commit is None


@pytest.mark.parametrize("status", ["finished", "ended_by_user"])
def test_who_left_without_its_work_waits_for_the_user(status: str) -> None:
    found = view(entry(seats={"coder": seat(status=status)}), WORKING)
    assert found.status == SessionStatus.WAITING
    assert [each for each in found.problems if "coder left without handing in its work" in each]
    assert next_step(found) == f"agentmux restart {PATH.name} --role coder"
    assert not view(entry(seats={"coder": seat(status=status)}), GONE).problems


def test_what_a_person_would_type_next() -> None:
    lost = Interruption(cause="`coder` was lost twice", seat="coder", phase="implementing")
    failed = view(entry(Phase.FAILED, interruption=lost, seats={"coder": seat()}), WORKING)
    assert next_step(failed) == f"agentmux restart {PATH.name} --role coder"
    assert "it failed: `coder` was lost twice" in failed.problems
    ended = view(entry(seats={"coder": seat(status="ended_by_user")}), WORKING)
    assert next_step(ended) == f"agentmux restart {PATH.name} --role coder"
    assert next_step(view(entry(interruption=STOPPED), GONE)) == f"agentmux resume {PATH.name}"
    decided = session_view(
        entry(**DECIDING, interruption=STOPPED), GONE, {}, project=PROJECT, now=NOW, decided=True
    )
    assert next_step(decided) == f"agentmux resume {PATH.name}"
    assert "agentmux approve" in next_step(view(entry(**DECIDING, interruption=STOPPED), GONE))


def test_a_setup_that_failed_can_be_mended() -> None:
    name = PATH.name
    lost = Interruption(cause="the setup `x` failed (exit 3)", seat="setup", phase="architecting")
    failed = entry(Phase.FAILED, interruption=lost, seats={"setup": seat(status="crashed")})
    mend = "or fix git.setup in the configuration: "
    again = f"agentmux resume {name} --repin"
    assert next_step(view(failed, WORKING)) == (
        f"agentmux restart {name} --role setup; {mend}agentmux stop {name} && {again}"
    )
    assert next_step(view(failed, GONE)) == f"agentmux resume {name}; {mend}{again}"


def test_a_worktree_is_shown_with_its_branch_and_base() -> None:
    base = Base(commit="ab" * 20, branch="b")
    found = view(entry(worktree="/w/x", branch="agentmux/x", base=base), WORKING)
    assert (found.worktree, found.branch, found.base) == (
        "/w/x", "agentmux/x", {"commit": "ab" * 20, "branch": "b"},
    )  # fmt: skip
    lines = status_lines(found, colours=False)
    assert "  branch        agentmux/x, from b at abababababab" in lines
    assert "  worktree      /w/x" in lines
    plain = view(entry(branch="main"), WORKING)
    assert "  branch        main" in status_lines(plain, colours=False)
    listed = session_list(
        [session_row(replace(found, title="one")), session_row(replace(plain, title="two"))],
        [PATH.name],
        cols=None,
        colours=False,
    )
    assert listed[0].split() == ["SESSION", "PHASE", "STATUS", "UPDATED", "BRANCH", "FEATURE"]
    assert "  agentmux/x  one" in listed[1]
    alone = session_list([session_row(replace(plain, title="two"))], [], cols=None, colours=False)
    assert "BRANCH" not in alone[0]


@pytest.mark.parametrize("cols", [170, 132, 100])
def test_a_list_fits_into_its_terminal(cols: int) -> None:
    own = {"branch": "agentmux/add-auth-and-more", "worktree": "/w"}
    long = view(entry(Phase.IMPLEMENTING, cycle=2, review_iteration=1, **own), WORKING)
    plain = view(entry(branch="main"), WORKING)
    lines = session_list(
        [session_row(replace(each, title="a long title " * 9)) for each in (long, plain)],
        [PATH.name],
        cols=cols,
        colours=False,
    )
    assert max(map(len, lines)) <= cols
    assert all(line.startswith(slug_of(PATH.name)) for line in lines[1:])
    assert ("agentmux/add-auth-and-more" in lines[1]) is (cols == 170)
    assert "and-more  " in lines[1]
    assert ("implementing, cycle 2, fix 1" in lines[1]) is (cols > 100)
    assert len({line.find("running") for line in lines[1:]}) == 1


def test_a_list_of_similar_features_tells_them_apart_in_80_columns() -> None:
    own = {"branch": "agentmux/add-a-json-flag-to-the-import", "worktree": "/w"}
    plain = view(entry(branch="main"), WORKING)
    shown = (
        (replace(plain, phase="failed", label="failed"), "add a --json flag to the import"),
        (view(entry(Phase.IMPLEMENTING, **own), WORKING), "add a --json flag to the import"),
        (plain, "add a --json flag to the export"),
    )
    lines = session_list(
        [session_row(replace(each, title=title)) for each, title in shown],
        [PATH.name, "20260101-000000-add-auth"],
        cols=80,
        colours=False,
    )
    assert max(map(len, lines)) <= 80
    assert [line.rpartition(" ")[2] for line in lines[1:]] == ["import", "import", "export"]
    assert lines[1].count("failed") == 1
    assert "BRANCH" not in lines[0]  # the feature needs its room


def test_a_commit_that_failed_is_named_once() -> None:
    steps = {"commit": StepState(status="failed", reason="a hook")}
    found = view(
        entry(
            **DECIDING,
            commit=Commit(status="failed", reason="a hook"),
            delivery=Delivery(id="a1", then="keep", steps=steps),
        ),
        WORKING,
    )
    assert found.problems == ("the commit failed: a hook",)
    assert next_step(found).startswith(f"agentmux approve {PATH.name}; or ")


def test_if_something_did_not_pass_changes_come_before_an_approval() -> None:
    steps = {"push": StepState(status="failed", reason="rejected")}
    failed = {"reviewing": PhaseResult(outcome="capped")}
    for results, delivery, first in (
        ({}, None, "approve"),
        (failed, None, "request-changes"),
        (failed, Delivery(id="a1", then="push", steps=steps), "approve"),
    ):
        found = view(entry(**DECIDING, results=results, delivery=delivery), WORKING)
        assert next_step(found).startswith(f"agentmux {first} "), (results, delivery)
        assert " or agentmux " in next_step(found)


def test_what_was_pushed_is_said_when_the_session_is_done() -> None:
    steps = {
        "commit": StepState(status="done"),
        "push": StepState(status="done", record={"remote": "origin"}),
    }
    done = entry(
        Phase.DONE,
        commit=Commit(status="made", commit="ab" * 20),
        delivery=Delivery(id="a1", then="push", steps=steps),
    )
    (said,) = lines_after_detach(view(done, GONE))
    assert said == f"session {PATH.name} is done: commit abababababab, pushed to origin"


def test_issue_and_request_are_shown() -> None:
    found = entry(
        worktree="/w/x",
        branch="agentmux/x",
        base=Base(commit="ab" * 20, branch=None),
        issue=Issue(url="https://h/i/4", number=4, title="t"),
        request=Request(url="https://h/p/5", number=5),
    )
    lines = status_lines(view(found, WORKING), colours=False)
    assert "  branch        agentmux/x, from abababababab" in lines
    assert "  issue         #4 https://h/i/4" in lines
    assert "  request       #5 https://h/p/5" in lines


def test_before_a_decision_repositories_that_came_later_are_named(tmp_path: Path) -> None:
    made = OnDisk(
        tmp_path / ".agentmux/.sessions/20260101-101500-x",
        options=Options(commit=True, dirty=("old/",)),
        **DECIDING,
    )
    site = build.site(tmp_path, config=None, environ=dict(os.environ))
    site = replace(
        site, repositories=replace(site.repositories, nested=lambda path: ("new/", "old/"))
    )
    (found,) = look(site, (entry_at(site, made.path),)).data
    assert found.warnings == ("`new/` is a git repository of its own: the commit leaves it out",)


def test_a_head_that_has_left_the_branch_is_seen_at_once(tmp_path: Path) -> None:
    project = make_project(tmp_path / "p")
    values: dict[str, Any] = {"branch": "main", "options": Options(commit=True, base="a" * 40)}
    made = OnDisk(project / ".agentmux/.sessions/20260101-101500-x", **values)
    site = build.site(project, config=None, environ=dict(os.environ))

    def left() -> list[str]:
        (found,) = look(site, (entry_at(site, made.path),)).data
        return [each for each in found.problems if "your checkout is on" in each]

    assert left() == []
    git(project, "switch", "-qc", "feat/x")
    (said,) = left()
    assert said.startswith("your checkout is on branch feat/x now, not on branch main")
    git(project, "switch", "-q", "main")
    assert left() == []


@pytest.mark.parametrize("case", ["worktree is gone", "done"])
def test_where_nobody_works_no_branch_was_left(tmp_path: Path, case: str) -> None:
    project = make_project(tmp_path / "p")  # around the place of the worktree
    made = OnDisk(
        project / ".agentmux/.sessions/20260101-101500-x",
        Phase.DONE if case == "done" else Phase.IMPLEMENTING,
        branch="agentmux/x",
        options=Options(commit=True, base="a" * 40),
        worktree=str(project / "w") if case == "worktree is gone" else None,
    )
    site = build.site(project, config=None, environ=dict(os.environ))
    (found,) = look(site, (entry_at(site, made.path),)).data
    assert not [each for each in found.problems if " is on " in each]


def test_the_summary_is_in_the_folder_of_the_last_phase() -> None:
    assert _summary({}) == "08_completion/summary.md"
    phases = [{"phase": "work", "kind": "work"}, {"phase": "ending", "kind": "complete"}]
    assert _summary({"pipeline": {"phases": phases}}) == "ending/summary.md"
    phases[1]["folder"] = "end"
    assert _summary({"pipeline": {"phases": phases}}) == "end/summary.md"
    odd: tuple[object, ...] = (5, {"phases": [5]}, {"phases": {}})
    for each in odd:
        assert _summary({"pipeline": each}) == "08_completion/summary.md"


def test_the_pipeline_is_named_where_it_is_not_the_usual_one() -> None:
    usual = session_view(entry(), GONE, {}, project=PROJECT, now=NOW)
    assert usual.as_json()["pipeline"] == "feature"
    assert not usual.is_other_pipeline
    short = entry()
    short = replace(short, fields={**short.fields, "pipeline": {"name": "quick"}})
    found = session_view(short, GONE, {}, project=PROJECT, now=NOW)
    assert found.as_json()["pipeline"] == "quick"
    assert found.is_other_pipeline


@pytest.mark.parametrize(("liveness", "stop"), [(GONE, ""), (WORKING, "agentmux stop {} && ")])
def test_a_worktree_that_is_not_at_its_place_is_named_and_only_a_resume_is_next(
    tmp_path: Path, liveness: Liveness, stop: str
) -> None:
    place = tmp_path / "x"
    place.mkdir()
    (place / ".git").write_text("gitdir: /somewhere\n")
    kept = {**DECIDING, "worktree": str(place), "worktree_made": True}
    assert "agentmux approve" in next_step(view(entry(**kept), liveness))
    place.rename(tmp_path / "moved")
    found = view(entry(**kept), liveness)
    assert next_step(found) == f"{stop.format(PATH.name)}agentmux resume {PATH.name}"
    (said,) = found.problems
    assert said.startswith(f"the worktree {place} is not there: a resume makes it again")
    done = view(entry(**{**kept, "phase": Phase.DONE}), GONE)
    assert (next_step(done), done.problems) == ("", ())


def test_a_worktree_that_is_half_made_is_named_and_only_a_resume_is_next(tmp_path: Path) -> None:
    project, place = make_project(tmp_path / "project"), tmp_path / "x"
    git(project, "worktree", "add", "-q", str(place))
    site = build.site(project, config=None, environ=dict(os.environ))
    kept = {**DECIDING, "worktree": str(place), "worktree_made": True}
    (found,) = look(site, (entry(**kept),)).data
    assert f"the worktree {place} is only half made: a resume makes it again" in str(found.problems)
    assert next_step(found) == f"agentmux resume {PATH.name}"
    marker = project / ".git" / "worktrees" / "x" / "agentmux-session"
    marker.write_text("/home\nuuid\n")
    (found,) = look(site, (entry(**kept),)).data
    assert "agentmux approve" in next_step(found)
