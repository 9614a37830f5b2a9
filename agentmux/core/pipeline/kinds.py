"""What the program does in a phase, by the phase's kind, as a `PhaseDescriptor` for each phase.

The seven kinds are code. What the pipeline ``feature`` of version 1 does differently is listed here
and nowhere else, by the name of the phase: its sessions go on as they began.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from agentmux.core.codec.frozen import dataclass
from agentmux.core.definitions.definition import (
    Kind,
    PhaseDefinition,
    PipelineDefinition,
    When,
    first_after_fix,
)
from agentmux.core.definitions.feature import FEATURE
from agentmux.core.documents.review import review_file, review_files
from agentmux.core.journal.events import (
    ArchitectureDone,
    CodeDone,
    DesignDone,
    PlanDone,
    PmDone,
    ReviewDone,
    SummaryDone,
)
from agentmux.core.journal.state import SessionState
from agentmux.core.names.phase import Phase
from agentmux.core.pipeline import completion
from agentmux.core.pipeline.artifacts import Artifacts
from agentmux.core.pipeline.completion import Completion
from agentmux.errors import DataError

Check: TypeAlias = Callable[[SessionState, Artifacts], Completion]


@dataclass(frozen=True, slots=True, kw_only=True)
class PhaseDescriptor:
    """One phase.

    Attributes:
        phase: The name of the phase.
        kind: What is done in it.
        folder: The folder of the phase's artifacts.
        roles: The roles that work in the phase; the first one starts it (the start-up role).
        prompt: The name of the prompt template, by role.
        leaves: The artifacts that the agents leave, relative to ``folder``.
        signal: The kind of the event by which an agent says that it is done.
        check: Decides by the artifacts whether the phase is complete.
        archives: The paths to move to history when a session enters the phase: what earlier
            attempts at it, and at the phases that build on it, have left.
        on_fail: The fix that follows where a check or review fails; None: the walk goes on.
        next: The phase that follows; `transitions` in ``fold`` knows the exceptions.
        when: When a session goes through the phase, by the definition.
        takes_part: Whether a session goes through the phase; None if that is not known yet.
    """

    phase: str
    kind: Kind
    folder: str
    roles: tuple[str, ...]
    prompt: Mapping[str, str]
    leaves: tuple[str, ...]
    signal: str
    check: Check
    archives: tuple[str, ...]
    on_fail: str | None
    next: str
    when: When
    takes_part: Callable[[SessionState], bool | None]

    @property
    def startup_role(self) -> str:
        """The role that starts the phase: the first one of ``roles``."""
        return self.roles[0]


_SIGNALS: Final[Mapping[Kind, str]] = {
    Kind.PLAN: PlanDone.kind,
    Kind.WORK: CodeDone.kind,
    Kind.REVIEW: ReviewDone.kind,
    Kind.FIX: CodeDone.kind,
    Kind.COMPLETE: SummaryDone.kind,
}
_CHECKS: Final[Mapping[Kind, Check]] = {
    Kind.PLAN: completion.planning,
    Kind.WORK: completion.implementing,
    Kind.REVIEW: completion.reviewing,
    Kind.FIX: completion.fixing,
    Kind.COMPLETE: completion.completing,
}

_SIGNALS_OF_1: Final[Mapping[str, str]] = {
    Phase.PRODUCT_MANAGEMENT: PmDone.kind,
    Phase.ARCHITECTING: ArchitectureDone.kind,
    Phase.DESIGNING: DesignDone.kind,
}
"""The documents of version 1 have signals with names of their own."""
_CHECKS_OF_1: Final[Mapping[str, Check]] = {
    Phase.PRODUCT_MANAGEMENT: completion.product_management,
    Phase.ARCHITECTING: completion.architecting,
    Phase.DESIGNING: completion.designing,
}
"""Product management of version 1 is complete with a marker, not with what it leaves."""


def described(pipeline: PipelineDefinition) -> tuple[PhaseDescriptor, ...]:
    """Return what the program knows of each phase of a pipeline, in order.

    Raises:
        DataError: The pipeline has a phase that this version cannot run. It runs those of
            `FEATURE`, exactly as they are there, in any selection.
    """
    strange = [each.phase for each in pipeline.phases if each not in FEATURE.phases]
    if strange:
        raise DataError(f"pipeline `{pipeline.name}`: the phase `{strange[0]}` cannot be run yet")
    return tuple(_described(pipeline, each) for each in pipeline.phases)


def _described(pipeline: PipelineDefinition, phase: PhaseDefinition) -> PhaseDescriptor:
    return PhaseDescriptor(
        phase=phase.phase,
        kind=phase.kind,
        folder=phase.folder,
        roles=phase.roles,
        prompt={role: phase.prompt or role for role in phase.roles},
        leaves=_leaves(phase),
        signal=_SIGNALS_OF_1.get(phase.phase) or _SIGNALS[phase.kind],
        check=_CHECKS_OF_1.get(phase.phase) or _CHECKS[phase.kind],
        archives=_archives(pipeline, phase),
        on_fail=phase.on_fail or None,
        next=_next(pipeline, phase),
        when=phase.when,
        takes_part=_takes_part(phase),
    )


def _leaves(phase: PhaseDefinition) -> tuple[str, ...]:
    match phase.kind:
        case Kind.PLAN:
            return ("plan.yaml",)
        case Kind.REVIEW:
            return tuple(map(review_file, phase.roles))
        case Kind.COMPLETE:
            return ("summary.md",)
        case _:
            return tuple(each.file for each in phase.leaves)


def _archives(pipeline: PipelineDefinition, phase: PhaseDefinition) -> tuple[str, ...]:
    """Return what is moved to history on entering a phase: its own files and all later ones.

    A review keeps the rest of its folder, where the fix request is. A fix clears its own marker,
    and the verdicts that the walk will ask for again.
    """
    match phase.kind:
        case Kind.FIX:
            again = _named(pipeline, _next(pipeline, phase))
            return (f"{phase.folder}/done_1", *_archives(pipeline, again))
        case Kind.REVIEW:
            return (*_verdicts(phase), *_folders(_behind(pipeline, phase)))
        case _:
            return _folders((phase, *_behind(pipeline, phase)))


def _verdicts(phase: PhaseDefinition) -> tuple[str, ...]:
    names = (name for role in phase.roles for name in review_files(role, alone=True))
    return tuple(f"{phase.folder}/{name}" for name in dict.fromkeys((*names, "review.md")))


def _folders(phases: tuple[PhaseDefinition, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(each.folder for each in phases))


def _behind(pipeline: PipelineDefinition, phase: PhaseDefinition) -> tuple[PhaseDefinition, ...]:
    walk = pipeline.walk
    return walk[walk.index(phase) + 1 :]


def _named(pipeline: PipelineDefinition, name: str) -> PhaseDefinition:
    return next(each for each in pipeline.phases if each.phase == name)


def _next(pipeline: PipelineDefinition, phase: PhaseDefinition) -> str:
    if phase.kind is Kind.FIX:
        failed = next(each.phase for each in pipeline.walk if each.on_fail == phase.phase)
        return first_after_fix(pipeline, failed)
    behind = _behind(pipeline, phase)
    return behind[0].phase if behind else Phase.DONE.value


def _takes_part(phase: PhaseDefinition) -> Callable[[SessionState], bool | None]:
    if phase.kind is Kind.FIX:
        return lambda state: state.iteration > 0
    match phase.when:
        case When.ALWAYS:
            return lambda _: True
        case When.REQUESTED:
            return lambda state: state.product_manager
        case When.NEEDS_DESIGN:
            return lambda state: state.needs_design
