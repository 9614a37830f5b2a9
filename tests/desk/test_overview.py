"""The overview of a session, and the keys that it offers."""

from __future__ import annotations

from typing import Any

import pytest

from agentmux.app.session.search.lookup import Liveness, SessionEntry
from agentmux.app.views.rows import session_row
from agentmux.app.views.status import session_view
from agentmux.core.codec.frozen import replace
from agentmux.core.definitions.definition import Kind, PhaseDefinition, PipelineDefinition
from agentmux.core.definitions.feature import FEATURE
from agentmux.core.journal.results import CheckResult, Fix, PhaseResult
from agentmux.core.journal.state import Commit, Interruption, Seat, SessionState, encode
from agentmux.core.names.phase import Phase
from agentmux.core.names.status_labels import Safety, SessionStatus
from agentmux.core.terminal.keys.key_commands import KeyCommand
from agentmux.desk.session.overview import (
    OverviewFacts,
    head_lines,
    more_lines,
    offer_commands,
)
from agentmux.desk.styled import plain
from agentmux.ports.tmux.terminal import TmuxSession
from tests.desk.builders import NOW, SHOP, row

W = KeyCommand
LIVE = Liveness(
    live=True, because="tmux session x", tmux=TmuxSession(id="$1", name="x", uuid="u"),
    locked=True, orchestrator=42,
)  # fmt: skip
CHECKED = PipelineDefinition(
    name="mine",
    phases=(
        PhaseDefinition(phase="verifying", kind=Kind.CHECK, folder="verifying"),
        PhaseDefinition(phase="completing", kind=Kind.COMPLETE, folder="completing"),
    ),
)
GONE = Liveness(live=False, because="no tmux session")


def facts(state: SessionState, liveness: Liveness = LIVE, **values: Any) -> OverviewFacts:
    known = row("add-auth")
    entry = SessionEntry(
        name=known.name, path=known.path, fields=encode(state), source="state.json",
        updated=known.updated,
    )  # fmt: skip
    view = session_view(entry, liveness, {}, project=SHOP, now=NOW)
    shown = session_row(view)
    known = replace(
        known, row=shown, live=liveness.live, orchestrator=liveness.orchestrator, **values
    )
    return OverviewFacts(
        view=view, title="Log people in", project=SHOP, row=known, now=NOW, state=state
    )


def text(found: OverviewFacts) -> list[str]:
    return [plain(each).rstrip() for each in (*head_lines(found), *more_lines(found))]


@pytest.mark.parametrize(
    ("values", "commands"),
    [
        ({"live": True}, (W.ATTACH,)),
        ({"status": SessionStatus.WAITING, "live": True, "asks": True}, (W.ANSWER, W.ATTACH)),
        ({"status": SessionStatus.WAITING, "live": True}, (W.ATTACH,)),
        ({"status": SessionStatus.WAITING, "live": True, "holds": True}, (W.RESTART, W.ATTACH)),
        ({"status": SessionStatus.STALLED, "live": True}, (W.TELL, W.ATTACH)),
        (
            {"status": SessionStatus.DECISION, "live": True, "decision": True},
            (W.APPROVE, W.CHANGES, W.DIFF, W.SUMMARY, W.ATTACH),
        ),
        (
            {"status": SessionStatus.DECISION, "decision": True},
            (W.APPROVE, W.CHANGES, W.DIFF, W.SUMMARY),
        ),
        ({"status": SessionStatus.FAILED, "live": True}, (W.RESTART, W.ATTACH)),
        ({"status": SessionStatus.PARKED, "live": True}, (W.UNPARK, W.ATTACH)),
        ({"status": SessionStatus.STOPPED}, (W.RESUME,)),
        ({"status": SessionStatus.INTERRUPTED}, (W.RESUME,)),
        ({"status": SessionStatus.INTERRUPTED, "live": True}, (W.RESUME,)),
        (
            {"status": SessionStatus.INTERRUPTED, "live": True, "decision": True},
            (W.APPROVE, W.CHANGES, W.DIFF, W.SUMMARY, W.RESUME),
        ),
        ({"status": SessionStatus.DONE, "is_done": True}, ()),
    ],
)
def test_it_offers_what_the_session_needs(
    values: dict[str, Any], commands: tuple[KeyCommand, ...]
) -> None:
    assert offer_commands(row("add-auth", **values)) == commands


def test_it_begins_with_the_feature_and_what_the_session_does() -> None:
    seat = Seat(
        launch="l1", role="coder", phase="implementing", mode="fresh", reason="",
        since="2026-01-02T11:53:00.000Z",
    )  # fmt: skip
    state = SessionState(
        phase=Phase.IMPLEMENTING, seats={"coder": seat}, agents={"coder": {"agent": "claude"}}
    )
    lines = text(facts(state))
    assert lines[0] == "Log people in"
    assert lines[1] == "running, implementing, in shop"
    assert lines.index("Phases") < lines.index("Seats")
    assert any(each.startswith("  coder ") and "claude" in each for each in lines)


@pytest.mark.parametrize(("outcome", "fails"), [("capped", True), ("passed", False)])
def test_a_check_that_fails_is_named_first_and_shown_with_its_output(
    outcome: str, fails: bool
) -> None:
    check = CheckResult(outcome="failed", status=1, output="FAIL: test_total\n1150 != 1250")
    state = SessionState(
        phase=Phase.COMPLETING, pipeline=CHECKED, summary_submitted=True,
        verify=({"name": "tests", "run": ["pytest"], "timeout_s": 60.0, "required": True},),
        results={"verifying": PhaseResult(outcome=outcome, checks={"tests": check})},
    )  # fmt: skip
    lines = text(facts(state))
    first = "\u2717 verifying, tests: failed (exit 1)  pytest"
    assert (first in lines) is fails
    assert ("    1150 != 1250" in lines) is fails
    assert "  verifying, tests: failed (exit 1)  pytest" in lines
    if fails:
        assert any(each.startswith("decide: check failed, completing") for each in lines)
        assert lines.index(first) < lines.index("Phases") < lines.index("    1150 != 1250")


def test_a_session_at_rest_says_why_and_whether_a_resume_is_safe() -> None:
    interrupted = Interruption(cause="the machine went down", at="2026-01-02T11:00:00.000Z")
    state = SessionState(phase=Phase.PLANNING, interruption=interrupted)
    lines = text(facts(state, GONE, safety=Safety.CHOICE, warned="coder has no conversation"))
    assert "interrupted: the machine went down" in lines
    assert "needs a choice: coder has no conversation" in lines
    assert "R: resume; there you choose: new conversation, shell or stopped" in lines


def test_a_resume_that_is_blocked_is_not_offered() -> None:
    state = SessionState(phase=Phase.PLANNING, interruption=Interruption(cause="the machine"))
    lines = text(facts(state, GONE, safety=Safety.BLOCKED, warned="no program `claude`"))
    assert "cannot resume: no program `claude`" in lines
    assert not any("R: resume" in each or "agentmux resume" in each for each in lines)


def test_an_unreadable_session_is_shown_without_its_phases() -> None:
    found = facts(SessionState(phase=Phase.PLANNING), GONE)
    broken = replace(found.view, problems=("the journal is of a later version",), phase=None)
    lines = text(replace(found, view=broken, state=None))
    assert "! the journal is of a later version" in lines
    assert "Phases" not in lines


def test_the_next_command_is_said_only_where_no_key_does_it() -> None:
    interrupted = Interruption(cause="the machine went down", at="2026-01-02T11:00:00.000Z")
    state = SessionState(phase=Phase.PLANNING, interruption=interrupted)
    rests = facts(state, GONE)
    assert W.RESUME in offer_commands(rests.row)
    assert not any("next:" in each for each in text(rests))
    outdated = replace(rests, view=replace(rests.view, outdated=True))
    assert any(each.startswith("next: agentmux stop ") for each in text(outdated))


def test_the_names_of_phases_leave_room_for_what_is_said() -> None:
    state = SessionState(phase=Phase.IMPLEMENTING, subplan_count=1)
    lines = text(facts(state))
    (shown,) = (each for each in lines if " implementing" in each and "sub-plans" in each)
    assert len(shown) <= 45


def test_the_time_in_a_phase_stands_beside_it() -> None:
    found = facts(SessionState(phase=Phase.IMPLEMENTING))
    lines = text(replace(found, spent_s={Phase.PLANNING: 125.0, Phase.ARCHITECTING: 0.2}))
    (planning,) = (each for each in lines if " planning " in each)
    assert " 2m" in planning


def test_in_a_session_that_nobody_drives_nothing_is_delivered() -> None:
    state = SessionState(phase=Phase.COMPLETING, approval="a1", commit=Commit(status="committing"))
    assert "committing" in "\n".join(text(facts(state)))
    said = "\n".join(text(facts(state, GONE)))
    assert "delivery interrupted" in said
    assert "committing" not in said


def test_a_fix_says_for_which_check_or_review_it_is() -> None:
    fix = Fix(sender="reviewing", iteration=1, sent={"reviewing": 1})
    check = replace(CHECKED.phases[0], on_fail=Phase.FIXING)
    two = replace(FEATURE, phases=(*FEATURE.phases[:5], check, *FEATURE.phases[5:]))
    lines = text(facts(SessionState(phase=Phase.FIXING, fix=fix, pipeline=two)))
    assert any("fixing" in each and "fix 1/3 for reviewing" in each for each in lines)
