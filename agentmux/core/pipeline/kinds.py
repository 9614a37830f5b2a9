"""Describes what the program does in each phase, which depends on the phase's kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from agentmux.core.codec.frozen import dataclass, field, replace
from agentmux.core.definitions.definition import (
    LOOKING,
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
from agentmux.core.pipeline.artifacts import (
    OUTPUT,
    PLAN_FILE,
    PM_DONE,
    RESULTS,
    REVIEW_FILE,
    Artifacts,
    done_marker,
    needs_design,
    nominations,
    reviewing,
)
from agentmux.core.pipeline.checks import phase_completion
from agentmux.core.pipeline.checks.phase_completion import Check, is_under_way, optional
from agentmux.core.pipeline.checks.verify_commands import check_commands

TakesPart: TypeAlias = Callable[[SessionState], bool | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class PhaseDescriptor:
    """A phase of a pipeline as the program runs it.

    Attributes:
        phase: The name of the phase.
        kind: The kind of the phase.
        folder: The folder of the phase's artifacts, relative to the session's directory.
        roles: The roles that work in the phase; the first one starts it (the start-up role).
        prompt: The name of the prompt template for each of ``roles``, by role.
        outputs: The artifacts that the agents leave, relative to ``folder``.
        decisive: The artifacts that show that the phase is complete, relative to the session's
            directory; empty for kinds that other things decide: work, check, review and complete.
        signal: The kind of the event with which an agent hands in its work, such as
            ``submit_plan``; empty for a check.
        check: Returns, for a session's state and artifacts, the `Completion`: whether the phase is
            complete, and why.
        archives: The paths to move to the history when a session enters the phase, relative to the
            session's directory: the files of earlier attempts at this phase and at the phases
            after it.
        on_fail: The name of the fix that follows if the check or review fails; None if the next
            phase follows.
        next: The name of the phase that follows, or ``done``; `fold.transitions` implements the
            exceptions.
        when: When a session goes through the phase, from the definition.
        run: The names of the commands that a check runs; empty means all.
        expect: What a check expects: ``pass`` if all its required commands have to pass, ``fail``
            if at least one has to fail.
        takes_part: Returns, for a session's state, whether the session goes through the phase; None
            if that is not known yet.
    """

    phase: str
    kind: Kind
    folder: str
    roles: tuple[str, ...]
    prompt: Mapping[str, str]
    outputs: tuple[str, ...]
    decisive: tuple[str, ...]
    signal: str
    check: Check
    archives: tuple[str, ...]
    on_fail: str | None
    next: str
    when: When
    run: tuple[str, ...]
    expect: Expect
    takes_part: TakesPart

    @property
    def startup_role(self) -> str:
        """The role that starts the phase: the first one of ``roles``; empty for a check."""
        return next(iter(self.roles), "")


Seats: TypeAlias = tuple[tuple[str, int | None], ...]
"""The seats of a phase: the role of each, and the number of a coder's sub-plan or None."""


def _when(_: PipelineDefinition, phase: PhaseDefinition) -> TakesPart:
    match phase.when:
        case When.ALWAYS:
            return lambda _: True
        case When.REQUESTED:
            return lambda state: state.product_manager
        case When.NEEDS_DESIGN:
            return lambda state: state.needs_design


@dataclass(frozen=True, slots=True, kw_only=True)
class KindDescription:
    """What the program does in the phases of one kind.

    ``check``, ``takes_part``, ``outputs``, ``decisive`` and ``results`` make a value for one phase
    of a definition; ``seats`` and ``handed_on`` are called for a phase of a running session.

    Attributes:
        signal: The kind of the event with which agents hand in their work; empty if there is none.
        check: Returns, for a pipeline and one of its phases, the function for
            `PhaseDescriptor.check`; it applies to sessions that go through the phase.
        is_productive: Whether agents produce something in the phase, so that a new cycle can begin
            there.
        takes_part: Returns, for a pipeline and one of its phases, the function for
            `PhaseDescriptor.takes_part`; by default it follows ``when`` of the definition.
        seats: Returns, for a session's state and the phase, the seats that the phase needs now, as
            pairs of a role and the number of a sub-plan (or None); by default one seat of the
            phase's first role.
        outputs: Returns `PhaseDescriptor.outputs`; by default the ``leaves`` of the definition.
        handed_on: Returns, for the phase and the kind of a later phase, the files that the later
            phase reads, relative to this phase's folder; by default all outputs.
        decisive: Returns `PhaseDescriptor.decisive`; by default none.
        results: Returns the paths, relative to the session's directory, that are archived when a
            session enters this phase again, or goes back to a check or review before it; by default
            the whole folder.
        decides: The fields of the state that the phase sets, with their values before it.
    """

    signal: str
    check: Callable[[PipelineDefinition, PhaseDefinition], Check]
    is_productive: bool = True
    takes_part: Callable[[PipelineDefinition, PhaseDefinition], TakesPart] = _when
    seats: Callable[[SessionState, PhaseDescriptor], Seats] = lambda _, here: (
        (here.startup_role, None),
    )
    outputs: Callable[[PhaseDefinition], tuple[str, ...]] = lambda phase: tuple(
        each.file for each in phase.leaves
    )
    handed_on: Callable[[PhaseDescriptor, Kind], tuple[str, ...]] = lambda here, _: here.outputs
    decisive: Callable[[PhaseDefinition], tuple[str, ...]] = lambda _: ()
    results: Callable[[PhaseDefinition], tuple[str, ...]] = lambda phase: (phase.folder,)
    decides: Mapping[str, object] = field(default_factory=dict)


_OF_DOCUMENTS: Final[Mapping[str, str]] = {
    Phase.PRODUCT_MANAGEMENT: PmDone.kind,
    Phase.ARCHITECTING: ArchitectureDone.kind,
    Phase.DESIGNING: DesignDone.kind,
}
"""The signals of the documents of ``feature``; they apply to the same phases in any pipeline."""


def describe_phases(pipeline: PipelineDefinition, sender: str = "") -> tuple[PhaseDescriptor, ...]:
    """Return the descriptors of a pipeline's phases, in the order of the definition.

    Args:
        pipeline: A pipeline that `check_definition` has accepted.
        sender: The name of the check or review that asked for the last fix; empty if none did. It
            decides which phase follows that fix.
    """
    return tuple(_describe_phase(pipeline, each, sender) for each in pipeline.phases)


def _describe_phase(
    pipeline: PipelineDefinition, phase: PhaseDefinition, sender: str
) -> PhaseDescriptor:
    return PhaseDescriptor(
        phase=phase.phase,
        kind=phase.kind,
        folder=phase.folder,
        roles=phase.roles,
        prompt={role: phase.prompt or role for role in phase.roles},
        outputs=KINDS[phase.kind].outputs(phase),
        decisive=KINDS[phase.kind].decisive(phase),
        signal=_signal(phase),
        check=_check(pipeline, phase),
        archives=_archives(pipeline, phase, sender),
        on_fail=phase.on_fail or None,
        next=_next(pipeline, phase, sender),
        when=phase.when,
        run=phase.run,
        expect=phase.expect,
        takes_part=KINDS[phase.kind].takes_part(pipeline, phase),
    )


def _signal(phase: PhaseDefinition) -> str:
    """Return the signal of a phase: a signal of its own if it is a document of `FEATURE`."""
    same = next((each for each in FEATURE.phases if each.phase == phase.phase), None)
    known = _OF_DOCUMENTS.get(phase.phase, "")
    if known and same == replace(phase, prompt="", when=same.when if same else phase.when):
        return known
    return KINDS[phase.kind].signal


def _check(pipeline: PipelineDefinition, phase: PhaseDefinition) -> Check:
    """Return the check of a phase, which is also complete if a session skips the phase."""
    kind = KINDS[phase.kind]
    check = kind.check(pipeline, phase)
    if kind.takes_part is not _when or phase.when is When.ALWAYS:
        return check
    if phase.when is When.REQUESTED:
        return optional(check, lambda state, _: state.product_manager, "not requested")
    return optional(check, needs_design, "no design needed")


def _archives(pipeline: PipelineDefinition, phase: PhaseDefinition, sender: str) -> tuple[str, ...]:
    """Return the paths to archive on entering a phase: its own files, and those of later phases.

    Entering a check or review archives only results, not whole folders, because the folders contain
    the fix request. Entering a fix archives its marker, and the paths of the phase that follows it.
    """
    if phase.kind is Kind.FIX:
        again = _find_phase(pipeline, _next(pipeline, phase, sender))
        return (f"{phase.folder}/done_1", *_archives(pipeline, again, sender))
    cleared = (phase, *_behind(pipeline, phase))
    if phase.kind not in LOOKING:
        return tuple(dict.fromkeys(each.folder for each in cleared))
    paths = (path for each in cleared for path in KINDS[each.kind].results(each))
    return tuple(dict.fromkeys(paths))


def _next(pipeline: PipelineDefinition, phase: PhaseDefinition, sender: str) -> str:
    if phase.kind is Kind.FIX:
        senders = [each.phase for each in pipeline.walk if each.on_fail == phase.phase]
        return first_after_fix(pipeline, sender if sender in senders else senders[-1])
    behind = _behind(pipeline, phase)
    return behind[0].phase if behind else Phase.DONE.value


def _fixes(pipeline: PipelineDefinition, phase: PhaseDefinition) -> Mapping[str, str]:
    """Return the markers of the fixes after which the check or review ``phase`` runs again.

    The keys are the names of the checks and reviews that ask for the fixes.
    """
    walk, markers = [each.phase for each in pipeline.walk], dict[str, str]()
    for sender in (each for each in pipeline.walk if each.on_fail):
        again = walk.index(first_after_fix(pipeline, sender.phase))
        if again <= walk.index(phase.phase) <= walk.index(sender.phase):
            markers[sender.phase] = done_marker(1, _find_phase(pipeline, sender.on_fail).folder)
    return markers


def _fixed_by(pipeline: PipelineDefinition, work: PhaseDefinition) -> frozenset[str]:
    """Return the checks and reviews whose fixes change this work, or archive its first marker."""
    behind = _behind(pipeline, work)
    later = next((at for at, each in enumerate(behind) if each.kind is Kind.WORK), len(behind))
    sharing = {each.phase for each in pipeline.phases if each.folder == work.folder}
    return frozenset(
        each.phase
        for at, each in enumerate(behind)
        if each.on_fail and (at < later or each.on_fail in sharing)
    )


def _senders(pipeline: PipelineDefinition, fix: PhaseDefinition) -> Mapping[str, str]:
    """Return the folder of each check and review that may ask for a fix, by the phase's name."""
    return {each.phase: each.folder for each in pipeline.walk if each.on_fail == fix.phase}


def _behind(pipeline: PipelineDefinition, phase: PhaseDefinition) -> tuple[PhaseDefinition, ...]:
    walk = pipeline.walk
    return walk[walk.index(phase) + 1 :]


def _find_phase(pipeline: PipelineDefinition, name: str) -> PhaseDefinition:
    return next(each for each in pipeline.phases if each.phase == name)


# -- what belongs to each kind -------------------------------------------------------------------


def _check_document(_: PipelineDefinition, phase: PhaseDefinition) -> Check:
    is_pm = _signal(phase) == PmDone.kind
    return phase_completion.product_management if is_pm else phase_completion.document(phase)


def _decisive_document(phase: PhaseDefinition) -> tuple[str, ...]:
    if _signal(phase) == PmDone.kind:
        return (PM_DONE,)
    return tuple(f"{phase.folder}/{each.file}" for each in phase.leaves)


def _check_work(pipeline: PipelineDefinition, phase: PhaseDefinition) -> Check:
    planned = any(each.kind is Kind.PLAN for each in pipeline.phases)
    return phase_completion.work(phase, _fixed_by(pipeline, phase), planned=planned)


def _coders(state: SessionState, here: PhaseDescriptor) -> Seats:
    if state.implementation_single_coder:
        return ((here.startup_role, None),)
    return tuple((here.startup_role, index) for index in state.implementation_active_plan_ids)


def _check_check(pipeline: PipelineDefinition, phase: PhaseDefinition) -> Check:
    check = phase_completion.check(phase, _fixes(pipeline, phase))
    return optional(check, lambda state, _: bool(check_commands(state, phase.run)), "not needed")


def _reviewers(state: SessionState, here: PhaseDescriptor) -> Seats:
    result = state.results.get(here.phase)
    known = result.verdicts if result is not None else {}
    roles = reviewing(nominations(state, Artifacts()), here.roles)
    return tuple((role, None) for role in roles if role not in known)


def _review_results(phase: PhaseDefinition) -> tuple[str, ...]:
    names = (name for role in phase.roles for name in review_files(role, alone=True))
    all_ = dict.fromkeys((*names, "review.md", RESULTS))
    return tuple(f"{phase.folder}/{name}" for name in all_)


def _is_fixing(pipeline: PipelineDefinition, phase: PhaseDefinition) -> TakesPart:
    senders = _senders(pipeline, phase)
    return lambda state: is_under_way(state, senders)


def _writer(state: SessionState, here: PhaseDescriptor) -> Seats:
    """Return the seat that writes the summary; none if the summary was submitted.

    Its role is the first nominated reviewer, or else the first role of the phase.
    """
    nominated = (role for role in state.reviewer_nominations if role in here.roles)
    role = next(nominated, here.startup_role)
    return () if state.summary_submitted else ((role, None),)


KINDS: Final[Mapping[Kind, KindDescription]] = {
    Kind.DOCUMENT: KindDescription(
        signal=PhaseDone.kind, check=_check_document, decisive=_decisive_document
    ),
    Kind.PLAN: KindDescription(
        signal=PlanDone.kind,
        check=lambda _, phase: phase_completion.plan(phase),
        outputs=lambda _: ("plan.yaml",),
        handed_on=lambda _, kind: ("plan.yaml" if kind is Kind.REVIEW else "plan.md",),
        decisive=lambda phase: (f"{phase.folder}/{PLAN_FILE}",),
        decides={
            "needs_design": None,
            "subplan_count": 0,
            "implementation_groups": (),
            "implementation_group_total": 0,
        },
    ),
    Kind.WORK: KindDescription(
        signal=CodeDone.kind,
        check=_check_work,
        seats=_coders,
        decides={
            "completed_subplans": (),
            "implementation_group_index": 0,
            "implementation_group_mode": "",
            "implementation_active_plan_ids": (),
            "implementation_completed_group_ids": (),
        },
    ),
    Kind.CHECK: KindDescription(
        signal="",
        check=_check_check,
        is_productive=False,
        takes_part=lambda _, phase: lambda state: bool(check_commands(state, phase.run)),
        seats=lambda *_: (),
        results=lambda phase: (f"{phase.folder}/{RESULTS}", f"{phase.folder}/{OUTPUT}"),
    ),
    Kind.REVIEW: KindDescription(
        signal=ReviewDone.kind,
        check=lambda pipeline, phase: phase_completion.review(phase, _fixes(pipeline, phase)),
        is_productive=False,
        seats=_reviewers,
        outputs=lambda phase: tuple(map(review_file, phase.roles)),
        handed_on=lambda _, kind: (REVIEW_FILE,) if kind is Kind.COMPLETE else (),
        results=_review_results,
    ),
    Kind.FIX: KindDescription(
        signal=CodeDone.kind,
        check=lambda pipeline, phase: phase_completion.fix(phase, _senders(pipeline, phase)),
        takes_part=_is_fixing,
        decisive=lambda phase: (done_marker(1, phase.folder),),
    ),
    Kind.COMPLETE: KindDescription(
        signal=SummaryDone.kind,
        check=lambda *_: phase_completion.completing,
        is_productive=False,
        seats=_writer,
        outputs=lambda _: ("summary.md",),
        decides={
            "summary_submitted": False,
            "approval": None,
            "commit": None,
            "delivery": None,
            "approved_tree": "",
            "approved_back": (),
        },
    ),
}
