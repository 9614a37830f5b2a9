"""What the program does in a phase, by the phase's kind, as a `PhaseDescriptor` for each phase."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from agentmux.core.codec.frozen import dataclass, replace
from agentmux.core.definitions.definition import (
    Expect,
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
    PhaseDone,
    PlanDone,
    PmDone,
    ReviewDone,
    SummaryDone,
)
from agentmux.core.journal.state import SessionState
from agentmux.core.names.phase import Phase
from agentmux.core.pipeline import kind_checks
from agentmux.core.pipeline.artifacts import (
    OUTPUT,
    PLAN_FILE,
    PM_DONE,
    RESULTS,
    done_marker,
    needs_design,
)
from agentmux.core.pipeline.kind_checks import Check, is_under_way
from agentmux.core.pipeline.verify_commands import check_commands


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
        decisive: The artifacts that decide the phase, if it has a single seat.
        signal: The kind of the event by which an agent says that it is done; empty for a check.
        check: Decides by the artifacts whether the phase is complete.
        archives: The paths to move to history when a session enters the phase: what earlier
            attempts at it, and at the phases that build on it, have left.
        on_fail: The fix that follows where a check or review fails; None: the walk goes on.
        next: The phase that follows; `transitions` in ``fold`` knows the exceptions.
        when: When a session goes through the phase, by the definition.
        run: The names of the commands that a check runs; empty for all.
        expect: What a check expects of them.
        takes_part: Whether a session goes through the phase; None if that is not known yet.
    """

    phase: str
    kind: Kind
    folder: str
    roles: tuple[str, ...]
    prompt: Mapping[str, str]
    leaves: tuple[str, ...]
    decisive: tuple[str, ...]
    signal: str
    check: Check
    archives: tuple[str, ...]
    on_fail: str | None
    next: str
    when: When
    run: tuple[str, ...]
    expect: Expect
    takes_part: Callable[[SessionState], bool | None]

    @property
    def startup_role(self) -> str:
        """The role that starts the phase: the first one of ``roles``; empty for a check."""
        return next(iter(self.roles), "")


_SIGNALS: Final[Mapping[Kind, str]] = {
    Kind.DOCUMENT: PhaseDone.kind,
    Kind.CHECK: "",
    Kind.PLAN: PlanDone.kind,
    Kind.WORK: CodeDone.kind,
    Kind.REVIEW: ReviewDone.kind,
    Kind.FIX: CodeDone.kind,
    Kind.COMPLETE: SummaryDone.kind,
}

_OF_DOCUMENTS: Final[Mapping[str, str]] = {
    Phase.PRODUCT_MANAGEMENT: PmDone.kind,
    Phase.ARCHITECTING: ArchitectureDone.kind,
    Phase.DESIGNING: DesignDone.kind,
}
"""The documents of ``feature`` have signals with names of their own, in whatever pipeline."""


def described(pipeline: PipelineDefinition, sender: str = "") -> tuple[PhaseDescriptor, ...]:
    """Return what the program knows of each phase of a pipeline, in the order of the definition.

    Args:
        pipeline: A pipeline that `check_definition` has accepted.
        sender: The check or review that asked for the last fix; empty for none.
    """
    return tuple(_described(pipeline, each, sender) for each in pipeline.phases)


def _described(
    pipeline: PipelineDefinition, phase: PhaseDefinition, sender: str
) -> PhaseDescriptor:
    return PhaseDescriptor(
        phase=phase.phase,
        kind=phase.kind,
        folder=phase.folder,
        roles=phase.roles,
        prompt={role: phase.prompt or role for role in phase.roles},
        leaves=_leaves(phase),
        decisive=_decisive(phase),
        signal=_signal(phase),
        check=_check(pipeline, phase),
        archives=_archives(pipeline, phase, sender),
        on_fail=phase.on_fail or None,
        next=_next(pipeline, phase, sender),
        when=phase.when,
        run=phase.run,
        expect=phase.expect,
        takes_part=_takes_part(pipeline, phase),
    )


def _signal(phase: PhaseDefinition) -> str:
    """Return the signal of a phase: that of its document if `feature` has the same one."""
    same = next((each for each in FEATURE.phases if each.phase == phase.phase), None)
    known = _OF_DOCUMENTS.get(phase.phase, "")
    if known and same == replace(phase, prompt="", when=same.when if same else phase.when):
        return known
    return _SIGNALS[phase.kind]


def _check(pipeline: PipelineDefinition, phase: PhaseDefinition) -> Check:
    match phase.kind:
        case Kind.DOCUMENT:
            is_pm = _signal(phase) == PmDone.kind
            found = kind_checks.product_management if is_pm else kind_checks.document(phase)
            return _optional(phase, found)
        case Kind.PLAN:
            return kind_checks.plan(phase)
        case Kind.WORK:
            planned = any(each.kind is Kind.PLAN for each in pipeline.phases)
            return kind_checks.work(phase, _fixed_by(pipeline, phase), planned=planned)
        case Kind.CHECK:
            return _optional(phase, kind_checks.check(phase, _fixes(pipeline, phase)))
        case Kind.REVIEW:
            return _optional(phase, kind_checks.review(phase, _fixes(pipeline, phase)))
        case Kind.FIX:
            return kind_checks.fix(phase, _senders(pipeline, phase))
        case Kind.COMPLETE:
            return kind_checks.completing


def _optional(phase: PhaseDefinition, check: Check) -> Check:
    """Return the check of a phase through which not every session goes."""
    if phase.kind is Kind.CHECK:
        return kind_checks.optional(
            check, lambda state, _: bool(check_commands(state, phase.run)), "not needed"
        )
    match phase.when:
        case When.ALWAYS:
            return check
        case When.REQUESTED:
            return kind_checks.optional(
                check, lambda state, _: state.product_manager, "not requested"
            )
        case When.NEEDS_DESIGN:
            return kind_checks.optional(check, needs_design, "no design needed")


def _fixes(pipeline: PipelineDefinition, phase: PhaseDefinition) -> Mapping[str, str]:
    """Return the markers of the fixes after which a check or a review looks again.

    They are by the name of the check or review that asks for the fix.
    """
    walk, found = [each.phase for each in pipeline.walk], dict[str, str]()
    for sender in (each for each in pipeline.walk if each.on_fail):
        again = walk.index(first_after_fix(pipeline, sender.phase))
        if again <= walk.index(phase.phase) <= walk.index(sender.phase):
            found[sender.phase] = done_marker(1, _named(pipeline, sender.on_fail).folder)
    return found


def _fixed_by(pipeline: PipelineDefinition, work: PhaseDefinition) -> frozenset[str]:
    """Return the checks and reviews whose fixes mend this work, or clear its first marker."""
    behind = _behind(pipeline, work)
    later = next((at for at, each in enumerate(behind) if each.kind is Kind.WORK), len(behind))
    sharing = {each.phase for each in pipeline.phases if each.folder == work.folder}
    return frozenset(
        each.phase
        for at, each in enumerate(behind)
        if each.on_fail and (at < later or each.on_fail in sharing)
    )


def _senders(pipeline: PipelineDefinition, fix: PhaseDefinition) -> Mapping[str, str]:
    """Return the folder of each check and review that a fix follows, by the phase's name."""
    return {each.phase: each.folder for each in pipeline.walk if each.on_fail == fix.phase}


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


def _decisive(phase: PhaseDefinition) -> tuple[str, ...]:
    match phase.kind:
        case Kind.PLAN:
            return (f"{phase.folder}/{PLAN_FILE}",)
        case Kind.FIX:
            return (done_marker(1, phase.folder),)
        case Kind.DOCUMENT if _signal(phase) == PmDone.kind:
            return (PM_DONE,)
        case Kind.DOCUMENT:
            return tuple(f"{phase.folder}/{each.file}" for each in phase.leaves)
        case _:
            return ()


def _archives(pipeline: PipelineDefinition, phase: PhaseDefinition, sender: str) -> tuple[str, ...]:
    """Return what is moved to history on entering a phase: its own files and all later ones.

    Checks and reviews keep the rest of their folders, where the fix request is. A fix clears its
    own marker, and the results that the walk will ask for again.
    """
    match phase.kind:
        case Kind.FIX:
            again = _named(pipeline, _next(pipeline, phase, sender))
            return (f"{phase.folder}/done_1", *_archives(pipeline, again, sender))
        case Kind.CHECK | Kind.REVIEW:
            found = (_found(each) for each in (phase, *_behind(pipeline, phase)))
            return tuple(dict.fromkeys(path for paths in found for path in paths))
        case _:
            return _folders((phase, *_behind(pipeline, phase)))


def _found(phase: PhaseDefinition) -> tuple[str, ...]:
    """Return the paths at which a phase behind a fix leaves what does not count after the next."""
    match phase.kind:
        case Kind.CHECK:
            return (f"{phase.folder}/{RESULTS}", f"{phase.folder}/{OUTPUT}")
        case Kind.REVIEW:
            names = (name for role in phase.roles for name in review_files(role, alone=True))
            all_ = dict.fromkeys((*names, "review.md", RESULTS))
            return tuple(f"{phase.folder}/{name}" for name in all_)
        case _:
            return (phase.folder,)


def _folders(phases: tuple[PhaseDefinition, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(each.folder for each in phases))


def _behind(pipeline: PipelineDefinition, phase: PhaseDefinition) -> tuple[PhaseDefinition, ...]:
    walk = pipeline.walk
    return walk[walk.index(phase) + 1 :]


def _named(pipeline: PipelineDefinition, name: str) -> PhaseDefinition:
    return next(each for each in pipeline.phases if each.phase == name)


def _next(pipeline: PipelineDefinition, phase: PhaseDefinition, sender: str) -> str:
    if phase.kind is Kind.FIX:
        senders = [each.phase for each in pipeline.walk if each.on_fail == phase.phase]
        return first_after_fix(pipeline, sender if sender in senders else senders[-1])
    behind = _behind(pipeline, phase)
    return behind[0].phase if behind else Phase.DONE.value


def _takes_part(
    pipeline: PipelineDefinition, phase: PhaseDefinition
) -> Callable[[SessionState], bool | None]:
    if phase.kind is Kind.FIX:
        senders = _senders(pipeline, phase)
        return lambda state: is_under_way(state, senders)
    if phase.kind is Kind.CHECK:
        return lambda state: bool(check_commands(state, phase.run))
    match phase.when:
        case When.ALWAYS:
            return lambda _: True
        case When.REQUESTED:
            return lambda state: state.product_manager
        case When.NEEDS_DESIGN:
            return lambda state: state.needs_design
