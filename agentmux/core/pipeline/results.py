"""What the checks and reviews of a session have found, and the fixes that they ask for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from agentmux.core.codec.frozen import replace
from agentmux.core.codec.records import Json
from agentmux.core.definitions.definition import LOOKING
from agentmux.core.journal.results import Fix, PhaseResult
from agentmux.core.journal.state import SessionState
from agentmux.core.names.statuses import CAPPED, PASSED
from agentmux.core.pipeline.artifacts import RESULTS, Artifacts, nominations, reviewing
from agentmux.core.pipeline.registry import pipeline_of

_COUNT: Final = (PASSED, CAPPED)


def result_of(state: SessionState, phase: str) -> PhaseResult:
    """Return what a check or a review has found so far; an empty result for nothing."""
    return state.results.get(phase, PhaseResult(iteration=state.iteration))


def with_result(state: SessionState, phase: str, result: PhaseResult) -> SessionState:
    """Return the state in which a check or a review has found ``result``."""
    return replace(state, results={**state.results, phase: result})


def reviewers(state: SessionState, phase: str) -> tuple[str, ...]:
    """Return the roles that review in a phase; see `reviewing`."""
    return reviewing(nominations(state, Artifacts()), pipeline_of(state)[phase].roles)


def with_found(state: SessionState, outcomes: Mapping[str, str]) -> SessionState:
    """Return the state of a session whose journal is lost, with what its checks had decided.

    Args:
        state: The state by what else is known.
        outcomes: The outcome in each ``results.yaml``, by its path (`Artifacts.results`).
    """
    looking = pipeline_of(state).of_kind(*LOOKING)
    phase_outcomes = {each.phase: outcomes.get(f"{each.folder}/{RESULTS}", "") for each in looking}
    decided = {p: PhaseResult(outcome=each) for p, each in phase_outcomes.items() if each in _COUNT}
    return replace(state, results={**decided, **state.results})


def all_results(state: SessionState) -> Mapping[str, PhaseResult]:
    """Return the results of the session's checks and reviews by phase, in the order of the walk."""
    phases = (each.phase for each in pipeline_of(state).of_kind(*LOOKING))
    return {phase: state.results[phase] for phase in phases if phase in state.results}


def all_verdicts(state: SessionState) -> Mapping[str, str]:
    """Return the verdict of each reviewer by its role; of two reviews the later one counts."""
    verdicts = (result.verdicts for result in all_results(state).values())
    return {role: verdict for each in verdicts for role, verdict in each.items()}


def all_reviews(state: SessionState) -> Mapping[str, Json]:
    """Return the parsed review of each reviewer by its role; of two the later one counts."""
    reviews = (result.reviews for result in all_results(state).values())
    return {role: review for each in reviews for role, review in each.items()}


def outcome(state: SessionState) -> str:
    """Return what checks and reviews have found together: ``passed``, ``capped``, or empty.

    One that was capped is enough. Empty where nothing was looked at, or a result is still open.
    """
    outcomes = [each.outcome for each in all_results(state).values()]
    if CAPPED in outcomes:
        return CAPPED
    return PASSED if outcomes and set(outcomes) == {PASSED} else ""


def fixes(state: SessionState, sender: str) -> int:
    """Return how many fixes a check or a review has asked for in this cycle."""
    return state.fix.sent.get(sender, 0) if state.fix is not None else 0


def with_fix(state: SessionState, sender: str, *, counts: bool = True) -> SessionState:
    """Return the state in which a check or a review has asked for the next fix.

    ``counts`` says whether the fix counts for the cap of its sender; one that the user asks for
    does not.
    """
    sent = dict(state.fix.sent) if state.fix is not None else {}
    if counts:
        sent[sender] = sent.get(sender, 0) + 1
    return replace(state, fix=Fix(sender=sender, iteration=state.iteration + 1, sent=sent))
