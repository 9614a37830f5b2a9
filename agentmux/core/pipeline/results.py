"""What checks and reviews have found, read and written the same way for every session.

Version 1 of ``feature`` has one review, and fields of its own for it. Every other session has
``results`` and ``fix``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from agentmux.core.codec.frozen import replace
from agentmux.core.codec.records import Json
from agentmux.core.definitions.definition import Kind
from agentmux.core.documents.review import DEFAULT_NOMINATIONS
from agentmux.core.journal.results import Fix, PhaseResult
from agentmux.core.journal.state import SessionState
from agentmux.core.names.phase import REVIEWERS
from agentmux.core.names.statuses import CAPPED, FAILED, PASSED
from agentmux.core.pipeline.artifacts import RESULTS
from agentmux.core.pipeline.registry import pipeline_of

_LOOKING: Final = (Kind.CHECK, Kind.REVIEW)
_COUNT: Final = (PASSED, CAPPED)


def result_of(state: SessionState, phase: str) -> PhaseResult:
    """Return what a check or a review has found so far; an empty result for nothing."""
    if state.pipeline is not None:
        return state.results.get(phase, PhaseResult(iteration=state.iteration))
    return PhaseResult(
        iteration=state.iteration,
        verdicts=state.verdicts,
        reviews=state.reviews,
        outcome=state.review_outcome or "",
    )


def with_result(state: SessionState, phase: str, result: PhaseResult) -> SessionState:
    """Return the state in which a check or a review has found ``result``."""
    if state.pipeline is not None:
        return replace(state, results={**state.results, phase: result})
    return replace(
        state,
        verdicts=result.verdicts,
        reviews=result.reviews,
        review_outcome=None if result.outcome in {"", FAILED} else result.outcome,
    )


def reviewers(state: SessionState, phase: str) -> tuple[str, ...]:
    """Return the roles that review in a phase: its own roles, and those that are nominated.

    The built-in reviewers review where they are nominated, by default ``reviewer_logic``. If nobody
    else would, all roles of the phase review.
    """
    if state.pipeline is None:
        return state.reviewer_nominations
    roles = pipeline_of(state)[phase].roles
    nominated = state.reviewer_nominations or DEFAULT_NOMINATIONS
    others = tuple(role for role in roles if role not in REVIEWERS)
    named = tuple(role for role in nominated if role in roles)
    return tuple(dict.fromkeys((*named, *others))) or roles


def with_found(state: SessionState, outcomes: Mapping[str, str]) -> SessionState:
    """Return the state of a session whose journal is lost, with what its checks had decided.

    Args:
        state: The state by what else is known.
        outcomes: The outcome in each ``results.yaml``, by its path (`Artifacts.results`).
    """
    if state.pipeline is None:
        return state
    looking = pipeline_of(state).of_kind(*_LOOKING)
    found = {each.phase: outcomes.get(f"{each.folder}/{RESULTS}", "") for each in looking}
    decided = {p: PhaseResult(outcome=each) for p, each in found.items() if each in _COUNT}
    return replace(state, results={**decided, **state.results})


def all_results(state: SessionState) -> Mapping[str, PhaseResult]:
    """Return the results of the session's checks and reviews by phase, in the order of the walk."""
    phases = (each.phase for each in pipeline_of(state).of_kind(*_LOOKING))
    if state.pipeline is None:
        return {phase: result_of(state, phase) for phase in phases}
    return {phase: state.results[phase] for phase in phases if phase in state.results}


def all_verdicts(state: SessionState) -> Mapping[str, str]:
    """Return the verdict of each reviewer by its role; of two reviews the later one counts."""
    found = (result.verdicts for result in all_results(state).values())
    return {role: verdict for each in found for role, verdict in each.items()}


def all_reviews(state: SessionState) -> Mapping[str, Json]:
    """Return the parsed review of each reviewer by its role; of two the later one counts."""
    found = (result.reviews for result in all_results(state).values())
    return {role: review for each in found for role, review in each.items()}


def outcome(state: SessionState) -> str:
    """Return what checks and reviews have found together: ``passed``, ``capped``, or empty.

    One that was capped is enough. Empty where nothing was looked at, or a result is still open.
    """
    found = [each.outcome for each in all_results(state).values()]
    if CAPPED in found:
        return CAPPED
    return PASSED if found and set(found) == {PASSED} else ""


def fixes(state: SessionState, sender: str) -> int:
    """Return how many fixes a check or a review has asked for in this cycle."""
    if state.pipeline is None:
        return state.iteration
    return state.fix.sent.get(sender, 0) if state.fix is not None else 0


def with_fix(state: SessionState, sender: str, *, counts: bool = True) -> SessionState:
    """Return the state in which a check or a review has asked for the next fix.

    ``counts`` says whether the fix counts for the cap of its sender; one that the user asks for
    does not.
    """
    if state.pipeline is None:
        return replace(state, review_iteration=state.iteration + 1)
    sent = dict(state.fix.sent) if state.fix is not None else {}
    if counts:
        sent[sender] = sent.get(sender, 0) + 1
    return replace(state, fix=Fix(sender=sender, iteration=state.iteration + 1, sent=sent))
