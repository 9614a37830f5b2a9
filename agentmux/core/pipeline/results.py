"""The results of a session's checks and reviews, and the fixes that they ask for."""

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
    """Return the result so far of the check or review ``phase``; never None.

    If it has not begun, that is a result without verdicts, commands and outcome.
    """
    return state.results.get(phase, PhaseResult(iteration=state.iteration))


def with_result(state: SessionState, phase: str, result: PhaseResult) -> SessionState:
    """Return the state with ``result`` as the result of the check or review ``phase``."""
    return replace(state, results={**state.results, phase: result})


def reviewers(state: SessionState, phase: str) -> tuple[str, ...]:
    """Return the roles that review in ``phase`` of the session, those that were nominated first.

    These are all roles of the phase except built-in reviewers that are not nominated; if that
    leaves no role, all roles of the phase.
    """
    return reviewing(nominations(state, Artifacts()), pipeline_of(state)[phase].roles)


def with_found(state: SessionState, outcomes: Mapping[str, str]) -> SessionState:
    """Return the state of a session whose journal is lost, with the outcomes found on disk.

    Only the outcomes ``passed`` and ``capped`` are added. Results in the state take precedence.

    Args:
        state: The state from all other sources.
        outcomes: The outcome in each ``results.yaml``, by its path (`Artifacts.results`).
    """
    looking = pipeline_of(state).of_kind(*LOOKING)
    phase_outcomes = {each.phase: outcomes.get(f"{each.folder}/{RESULTS}", "") for each in looking}
    decided = {p: PhaseResult(outcome=each) for p, each in phase_outcomes.items() if each in _COUNT}
    return replace(state, results={**decided, **state.results})


def all_results(state: SessionState) -> Mapping[str, PhaseResult]:
    """Return the results of the session's checks and reviews, by phase, in the pipeline's order.

    Phases that have not begun are left out.
    """
    phases = (each.phase for each in pipeline_of(state).of_kind(*LOOKING))
    return {phase: state.results[phase] for phase in phases if phase in state.results}


def all_verdicts(state: SessionState) -> Mapping[str, str]:
    """Return the last verdict of each reviewer, ``pass`` or ``fail``, by role.

    If a role reviews in several phases, its verdict in the last of them counts.
    """
    verdicts = (result.verdicts for result in all_results(state).values())
    return {role: verdict for each in verdicts for role, verdict in each.items()}


def all_reviews(state: SessionState) -> Mapping[str, Json]:
    """Return the last review of each reviewer, as the mapping in its YAML file, by role.

    Its keys are ``verdict``, ``summary``, ``findings`` and, if there is one, ``commit_message``.
    If a role reviews in several phases, its review in the last of them counts.
    """
    reviews = (result.reviews for result in all_results(state).values())
    return {role: review for each in reviews for role, review in each.items()}


def capped_phases(state: SessionState) -> list[str]:
    """Return the names of the checks and reviews that failed and may ask for no further fix.

    They are in the order of the pipeline.
    """
    return [phase for phase, each in all_results(state).items() if each.outcome == CAPPED]


def outcome(state: SessionState) -> str:
    """Return the combined outcome of all checks and reviews: ``passed``, ``capped`` or empty.

    It is ``capped`` if any of them failed and no further fix was allowed, whatever the others are.
    It is ``passed`` if all that have begun have passed. Otherwise it is empty: none has begun, or
    one has failed or is undecided.
    """
    outcomes = [each.outcome for each in all_results(state).values()]
    if CAPPED in outcomes:
        return CAPPED
    return PASSED if outcomes and set(outcomes) == {PASSED} else ""


def fixes(state: SessionState, sender: str) -> int:
    """Return how many fixes the check or review ``sender`` has asked for in this cycle.

    The number counts towards the limit of fixes. A fix that the user asked for is not included.
    """
    return state.fix.sent.get(sender, 0) if state.fix is not None else 0


def with_fix(state: SessionState, sender: str, *, counts: bool = True) -> SessionState:
    """Return the state in which a check or review has just asked for a fix.

    The next iteration begins. The session's phase is not changed.

    Args:
        state: The state before.
        sender: The name of the check or review; for a fix that the user asks for, the one that
            `Pipeline.sender` returns.
        counts: Whether the fix counts towards the limit of fixes for its sender; a fix that the
            user asks for does not.
    """
    sent = dict(state.fix.sent) if state.fix is not None else {}
    if counts:
        sent[sender] = sent.get(sender, 0) + 1
    return replace(state, fix=Fix(sender=sender, iteration=state.iteration + 1, sent=sent))
