"""The phases of a session as lines: the mark, the result so far, and the time spent in each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Final

from agentmux.core.codec.frozen import dataclass
from agentmux.core.definitions.definition import LOOKING, Kind
from agentmux.core.fold.phase_times import blank_before, phase_times
from agentmux.core.journal.state import SessionState
from agentmux.core.names.phase import ENDS, Phase
from agentmux.core.names.statuses import CAPPED, DELAYED, MERGE, PUSH
from agentmux.core.pipeline.check_phase import check_commands
from agentmux.core.pipeline.checks.base_run import is_base_open
from agentmux.core.pipeline.delivery import failed_step, open_step
from agentmux.core.pipeline.registry import kind_of, pipeline_of, working_phase
from agentmux.core.pipeline.results import fixes, result_of, reviewers

if TYPE_CHECKING:
    from agentmux.ports.session.session_files import SessionFiles

DONE: Final = "\u2713"
CURRENT: Final = "\u25b6"
LATER: Final = "\u00b7"
FAILED: Final = "\u2717"


@dataclass(frozen=True, slots=True, kw_only=True)
class PhaseLine:
    """A phase of a session, or its end.

    Attributes:
        phase: The phase; at the end ``done`` or ``failed``.
        mark: One character: `DONE`, `CURRENT`, `LATER` or `FAILED`.
        is_here: Whether the session is in this phase, or failed in it.
        says: What the phase has produced so far, in words; empty if nothing.
        spent_s: The seconds that the session has spent in the phase. 0 for a phase that is still to
            come in this cycle, even if an earlier cycle spent time in it.
    """

    phase: str
    mark: str
    is_here: bool
    says: str = ""
    spent_s: float = 0.0

    @property
    def name(self) -> str:
        """The name of the phase, for people."""
        return self.phase.replace("_", " ")


def phase_lines(
    state: SessionState, spent_s: Mapping[str, float], *, runs: bool = True
) -> Iterator[PhaseLine]:
    """Yield the phases of a session in order, then its end if it has ended.

    Args:
        state: The state of the session.
        spent_s: The seconds spent in each phase so far, by phase.
        runs: Whether an orchestrator runs; without one, an unfinished delivery is shown as
            interrupted.
    """
    here = working_phase(state)
    for phase in shown_phases(state, here):
        mark = phase_mark(state, phase, here)
        spent = spent_s.get(phase, 0.0) if mark != LATER else 0.0
        is_here = phase == here
        is_cut_off = is_here and not runs and _is_delivering(state)
        says = "delivery interrupted" if is_cut_off else phase_detail(state, phase)
        yield PhaseLine(phase=phase, mark=mark, is_here=is_here, says=says, spent_s=spent)
    if here in ENDS:
        yield PhaseLine(phase=here, mark=DONE if here == Phase.DONE else FAILED, is_here=True)


def phase_seconds(
    files: SessionFiles, state: SessionState, *, runs: bool, now: datetime
) -> Mapping[str, float]:
    """Return the seconds spent in each phase so far, according to the journal.

    Args:
        files: The session's directory.
        state: The state of the session.
        runs: Whether an orchestrator runs; without one, time counts only until the last event.
        now: The current time.

    Raises:
        AgentmuxError: The journal cannot be read.
    """
    times = phase_times(blank_before(state), (event for event, _ in files.tail(0)))
    return times.seconds(now if runs else (times.until or now))


def shown_phases(state: SessionState, here: str) -> tuple[str, ...]:
    """Return the phases that the session goes through, in order; ``here`` is always among them.

    ``here`` is the phase in which the session is, or failed.
    """
    phases = pipeline_of(state).phases
    return tuple(each.phase for each in phases if each.takes_part(state) or each.phase == here)


def phase_mark(state: SessionState, phase: str, here: str) -> str:
    """Return the mark of a phase: `DONE`, `CURRENT`, `LATER` or `FAILED`.

    A check or a review that did not pass is marked as failed, even if the session went on.

    Args:
        state: The state of the session.
        phase: The phase to mark.
        here: The phase in which the session is, or failed.
    """
    if phase == here:
        return FAILED if state.phase == Phase.FAILED else CURRENT
    pipeline = pipeline_of(state)
    is_done = here == Phase.DONE or (here in pipeline and pipeline.earlier(phase, here) == phase)
    if not is_done:
        return LATER
    judges = pipeline[phase].kind in LOOKING
    return FAILED if judges and result_of(state, phase).outcome == CAPPED else DONE


def phase_detail(state: SessionState, phase: str) -> str:
    """Return what a phase has produced so far, such as ``2/3 sub-plans``; empty if nothing."""
    detail = _DETAIL.get(pipeline_of(state)[phase].kind)
    return detail(state, phase) if detail is not None else ""


def _subplans(state: SessionState, _: str) -> str:
    count = state.subplan_count
    return f"{len(state.completed_subplans)}/{count} sub-plans" if count else ""


def _verdicts(state: SessionState, phase: str) -> str:
    result = result_of(state, phase)
    if result.outcome == CAPPED:
        return "did not pass"
    if state.phase != phase:
        return result.outcome
    count = len(reviewers(state, phase))
    return f"{len(result.verdicts)}/{count} reviews" if count else ""


def _outcome(state: SessionState, phase: str) -> str:
    """Return how many commands of a check have ended, or its outcome once there is one."""
    result = result_of(state, phase)
    if state.phase != phase or result.outcome:
        return "did not pass" if result.outcome == CAPPED else result.outcome
    if is_base_open(state):
        return "waits for the base"
    return f"{len(result.checks)}/{len(check_commands(state, phase))} have run"


def _iteration(state: SessionState, phase: str) -> str:
    """Return how many fixes were made; if several phases ask for them, for the last that asked."""
    asking = [each for each in pipeline_of(state).phases if each.on_fail == phase]
    if state.fix is not None and state.fix.sender and len(asking) > 1:
        sent = fixes(state, state.fix.sender)
        return f"fix {sent}/{state.max_review_iterations} for {state.fix.sender}"
    return f"fix {state.iteration}/{state.max_review_iterations}"


def _is_delivering(state: SessionState) -> bool:
    return kind_of(state) is Kind.COMPLETE and state.approval is not None


def _commit(state: SessionState, _: str) -> str:
    if _is_delivering(state):
        waits = state.commit is not None and state.commit.status == DELAYED
        doing = _DOING.get(open_step(state) or "", "committing")
        return "commit waits" if waits else doing
    failure = failed_step(state)
    if failure is not None:
        return f"{failure[0]} failed"
    return f"commit {state.commit.status}" if state.commit is not None else ""


_DOING: Final = {MERGE: "merging", PUSH: "pushing"}
_DETAIL: Final[Mapping[Kind, Callable[[SessionState, str], str]]] = {
    Kind.WORK: _subplans,
    Kind.CHECK: _outcome,
    Kind.REVIEW: _verdicts,
    Kind.FIX: _iteration,
    Kind.COMPLETE: _commit,
}
