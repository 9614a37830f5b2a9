"""Giving a stopped session another pipeline, without skipping any phase."""

from __future__ import annotations

from collections.abc import Container, Mapping

from agentmux.core.codec.frozen import replace
from agentmux.core.codec.records import Json
from agentmux.core.definitions.definition import Kind, PhaseDefinition, PipelineDefinition
from agentmux.core.journal.results import BaseChecks, Fix
from agentmux.core.journal.state import SessionState
from agentmux.core.names.phase import BASE, CHECK
from agentmux.core.pipeline.registry import Pipeline, pipeline_of


def with_pipeline(
    state: SessionState,
    pipeline: PipelineDefinition,
    files: Mapping[str, str],
    verify: tuple[Json, ...],
) -> SessionState:
    """Return the state with another pipeline.

    The session stays in its phase. If the new pipeline has no such phase, the session goes back to
    the nearest earlier phase that both pipelines have, or else to the first phase. If that is a fix
    for which nobody in the new pipeline has asked, it goes back to the work that the fix changes.
    These results are dropped: those of phases that are gone or whose definition has changed, those
    of all checks if a command has changed, and for each changed command its result on the base and
    the user's decision to skip it.

    Args:
        state: The state of the stopped session.
        pipeline: The new pipeline.
        files: The SHA-256 of each file of the pipeline by its name, as the state's
            ``pipeline_files``.
        verify: The commands of its checks, each as a mapping, in the form of the state's
            ``verify``.
    """
    before = pipeline_of(state)
    known = {str(each.get("name")) for each in verify if each in state.verify}
    taken = replace(
        state,
        pipeline=pipeline,
        pipeline_files=files,
        verify=verify,
        skipped_checks=tuple(name for name in state.skipped_checks if name in known),
        base_checks=_base(state.base_checks, known),
        seats={
            name: seat
            for name, seat in state.seats.items()
            if seat.role not in {CHECK, BASE} or name == BASE or seat.topic in known
        },
    )
    after = pipeline_of(taken)
    stale = {each.phase for each in after.phases if each.kind is Kind.CHECK}
    lost = stale if verify != state.verify else set()
    lost |= _looking_elsewhere(state.pipeline, pipeline)
    kept = {
        name: each for name, each in state.results.items() if name in after and name not in lost
    }
    phase = _phase(before, after, state.phase)
    fix = _fix(state, after)
    if phase in after and after[phase].kind is Kind.FIX and (fix is None or not fix.sender):
        # Nobody in the new pipeline has asked for this fix.
        phase = (after.find_fixed_work(phase) or after.phases[0]).phase
    return replace(taken, phase=phase, results=kept, fix=fix)


def _fix(state: SessionState, after: Pipeline) -> Fix | None:
    """Return the last fix, adapted to the new pipeline; None if there was none.

    If the phase that asked for the fix is gone, or has no fix any more, only the iteration is kept,
    because no two attempts may have the same one.
    """
    known = state.fix
    if known is None or (known.sender in after and after[known.sender].on_fail):
        return known
    return replace(known, sender="", sent={}, over=False)


def _looking_elsewhere(before: PipelineDefinition, after: PipelineDefinition) -> set[str]:
    """Return the names of the new pipeline's phases that are new or defined differently.

    Their results would be about other commands or other reviewers.
    """
    old = {each.phase: _looks_at(each) for each in before.phases}
    return {each.phase for each in after.phases if old.get(each.phase) != _looks_at(each)}


def _looks_at(phase: PhaseDefinition) -> tuple[object, ...]:
    return phase.kind, phase.folder, phase.roles, phase.run, phase.expect


def _base(base: BaseChecks | None, known: Container[str]) -> BaseChecks | None:
    if base is None:
        return None
    checks = {name: each for name, each in base.checks.items() if name in known}
    return replace(base, checks=checks)


def _phase(before: Pipeline, after: Pipeline, phase: str) -> str:
    """Return the session's phase in the new pipeline: ``phase``, or the nearest earlier one."""
    if phase not in before or phase in after:
        return phase
    place = before.places[phase]
    earlier = [e for e in before.phases if before.places[e.phase] < place and e.phase in after]
    nearest = max(earlier, key=lambda each: before.places[each.phase], default=after.phases[0])
    return nearest.phase
