"""What the program does in a phase, by the phase's kind, as a `PhaseDescriptor` for each phase."""

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
    """One phase.

    Attributes:
        phase: The name of the phase.
        kind: What is done in it.
        folder: The folder of the phase's artifacts.
        roles: The roles that work in the phase; the first one starts it (the start-up role).
        prompt: The name of the prompt template, by role.
        outputs: The artifacts that the agents leave, relative to ``folder``.
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
"""Pieces of work for agents: the role of each, and the index of a coder's sub-plan."""


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
    """What the program does in the phases of a kind; all tables are collected from these.

    Attributes:
        signal: The signal by which its agents hand in; empty if it has none.
        check: Returns the check of a phase through which a session goes.
        makes: Whether something is made in it, so that a new cycle can begin there.
        takes_part: Returns `PhaseDescriptor.takes_part`; by default as the definition says.
        seats: Returns what its agents have to do now; by default one seat of its role has all.
        outputs: Returns what its agents leave; by default the ``leaves`` of the definition.
        handed_on: Returns which files a phase of another kind reads; by default what is left.
        decisive: Returns `PhaseDescriptor.decisive`.
        results: Returns the paths that do not count after a fix; by default the whole folder.
        decides: The fields of the state that its outcome sets, as they are before.
    """

    signal: str
    check: Callable[[PipelineDefinition, PhaseDefinition], Check]
    makes: bool = True
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
"""The documents of ``feature`` have signals with names of their own, in whatever pipeline."""


def describe_phases(pipeline: PipelineDefinition, sender: str = "") -> tuple[PhaseDescriptor, ...]:
    """Return what the program knows of each phase of a pipeline, in the order of the definition.

    Args:
        pipeline: A pipeline that `check_definition` has accepted.
        sender: The check or review that asked for the last fix; empty for none.
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
    """Return the signal of a phase: that of its document if `feature` has the same one."""
    same = next((each for each in FEATURE.phases if each.phase == phase.phase), None)
    known = _OF_DOCUMENTS.get(phase.phase, "")
    if known and same == replace(phase, prompt="", when=same.when if same else phase.when):
        return known
    return KINDS[phase.kind].signal


def _check(pipeline: PipelineDefinition, phase: PhaseDefinition) -> Check:
    """Return the check of a phase; it is complete, too, where a session does not go through."""
    kind = KINDS[phase.kind]
    check = kind.check(pipeline, phase)
    if kind.takes_part is not _when or phase.when is When.ALWAYS:
        return check
    if phase.when is When.REQUESTED:
        return optional(check, lambda state, _: state.product_manager, "not requested")
    return optional(check, needs_design, "no design needed")


def _archives(pipeline: PipelineDefinition, phase: PhaseDefinition, sender: str) -> tuple[str, ...]:
    """Return what is moved to history on entering a phase: its own files and all later ones.

    Checks and reviews keep the rest of their folders, where the fix request is. A fix clears its
    own marker, and the results that the walk will ask for again.
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
    """Return the markers of the fixes after which a check or a review looks again.

    They are by the name of the check or review that asks for the fix.
    """
    walk, markers = [each.phase for each in pipeline.walk], dict[str, str]()
    for sender in (each for each in pipeline.walk if each.on_fail):
        again = walk.index(first_after_fix(pipeline, sender.phase))
        if again <= walk.index(phase.phase) <= walk.index(sender.phase):
            markers[sender.phase] = done_marker(1, _find_phase(pipeline, sender.on_fail).folder)
    return markers


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
    """Return who writes the summary: the first nominated reviewer, else the first role."""
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
        makes=False,
        takes_part=lambda _, phase: lambda state: bool(check_commands(state, phase.run)),
        seats=lambda *_: (),
        results=lambda phase: (f"{phase.folder}/{RESULTS}", f"{phase.folder}/{OUTPUT}"),
    ),
    Kind.REVIEW: KindDescription(
        signal=ReviewDone.kind,
        check=lambda pipeline, phase: phase_completion.review(phase, _fixes(pipeline, phase)),
        makes=False,
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
        makes=False,
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
