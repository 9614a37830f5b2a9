"""The descriptions of the signals that hand in a document, such as ``submit plan``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from agentmux.core.codec.frozen import replace
from agentmux.core.codec.shape import as_code, replace_invisible
from agentmux.core.definitions.definition import Kind, Leaf, PhaseDefinition
from agentmux.core.documents.plan import check_plan, subplan_file, tasks_file
from agentmux.core.documents.plan_pages import plan_md, subplan_md, tasks_md
from agentmux.core.documents.review import DEFAULT_NOMINATIONS, check_nominations
from agentmux.core.fold.implied_file import Implied
from agentmux.core.fold.signals.description import (
    Argument,
    Contents,
    FactAndProblems,
    HandedFile,
    SignalDescription,
    SubmissionContext,
    folder_of,
    working_folder,
)
from agentmux.core.fold.transitions import go_on, plan_values, without_seat
from agentmux.core.journal.events import (
    ArchitectureDone,
    DesignDone,
    Event,
    PhaseDone,
    PlanDone,
    PmDone,
    SummaryDone,
)
from agentmux.core.journal.state import SessionState
from agentmux.core.names import layout
from agentmux.core.pipeline.artifacts import ARCHITECTURE, PLAN_FILE, PM_DONE
from agentmux.core.pipeline.registry import pipeline_of, working_phase


def _go_on(state: SessionState, _event: Event, _fact: object) -> SessionState:
    return go_on(state)


def _text(path: str) -> tuple[HandedFile, ...]:
    return (HandedFile((path,)),)


# -- the documents of `feature` ------------------------------------------------------------------


def _architecture_done(state: SessionState, _: Event, fact: ArchitectureDone) -> SessionState:
    return replace(go_on(state), reviewer_nominations=fact.reviewers or DEFAULT_NOMINATIONS)


def _architecture(_: SubmissionContext, contents: Contents) -> FactAndProblems:
    (head,) = contents.values
    if not isinstance(head, Mapping):
        return ArchitectureDone(sha256=contents.sha256), ()
    nominated, problems = check_nominations(head.get("reviewers"))
    return ArchitectureDone(sha256=contents.sha256, reviewers=nominated), problems


def _plan_done(state: SessionState, _: Event, fact: PlanDone) -> SessionState:
    plan, _problems = check_plan(fact.plan)
    if plan is None:
        return state
    return go_on(replace(state, **plan_values(plan.execution)))


def _plan_file(handed: SubmissionContext) -> tuple[HandedFile, ...]:
    folder = folder_of(handed.state(), Kind.PLAN, layout.PLANNING)
    return (HandedFile((f"{folder}/plan.yaml",), is_yaml=True),)


def _plan(_: SubmissionContext, contents: Contents) -> FactAndProblems:
    (value,) = contents.values
    problems = () if contents.problems else check_plan(value)[1]
    plan = value if isinstance(value, dict) and not (contents.problems or problems) else {}
    return PlanDone(sha256=contents.sha256, plan=plan), problems


def _plan_files(before: SessionState, _: Event, fact: PlanDone) -> tuple[Implied, ...]:
    plan, _problems = check_plan(fact.plan)
    if plan is None:
        return ()
    folder = working_folder(before)
    texts = [Implied(path=f"{folder}/plan.md", text=plan_md(plan))]
    for each in plan.subplans:
        texts += [
            Implied(path=f"{folder}/{subplan_file(each.index)}", text=subplan_md(plan, each.index)),
            Implied(path=f"{folder}/{tasks_file(each.index)}", text=tasks_md(plan, each.index)),
        ]
    # Last, because this file alone says that planning is complete.
    return (*texts, Implied(path=f"{folder}/{PLAN_FILE}", fields=plan.execution.to_fields()))


# -- any other document --------------------------------------------------------------------------


def _judge_phase(state: SessionState, _: Event, fact: PhaseDone) -> str:
    here = working_phase(state)
    return "" if fact.phase == here else f"the session is in {here}, not in {fact.phase}"


def _documents(state: SessionState) -> Mapping[str, PhaseDefinition]:
    """Return the phases whose documents are handed in by ``submit phase``, by name."""
    pipeline = pipeline_of(state)
    phases = state.pipeline.phases
    return {each.phase: each for each in phases if pipeline[each.phase].signal == PhaseDone.kind}


def _leaves(handed: SubmissionContext) -> tuple[HandedFile, ...]:
    """Return all files of the submitted phase; none if the phase is not handed in this way."""
    state = handed.state()
    phase = _documents(state).get(handed.submission.phase)
    if phase is None:
        return ()
    return tuple(_leaf(state, f"{phase.folder}/{each.file}", each) for each in phase.leaves)


def _leaf(state: SessionState, path: str, leaf: Leaf) -> HandedFile:
    schema = (state.pipeline_files[leaf.schema], leaf.schema) if leaf.schema else None
    is_yaml = leaf.file.endswith(".yaml")
    return HandedFile((path,), is_yaml=is_yaml, schema=schema, named=True)


def _phase(handed: SubmissionContext, contents: Contents) -> FactAndProblems:
    name, documents = handed.submission.phase, _documents(handed.state())
    if name in documents:
        return PhaseDone(phase=name, sha256=contents.sha256), ()
    known = ", ".join(f"`{each}`" for each in documents) or "none"
    problem = f"no phase {as_code(name)} is handed in by this command; it is for: {known}"
    return PhaseDone(phase=replace_invisible(name[:60])), (problem,)


# -- the summary ---------------------------------------------------------------------------------


def _summary_done(state: SessionState, event: Event, _: SummaryDone) -> SessionState:
    return replace(without_seat(state, event.seat), summary_submitted=True)


def _summary_file(handed: SubmissionContext) -> tuple[HandedFile, ...]:
    return _text(f"{folder_of(handed.state(), Kind.COMPLETE, layout.COMPLETION)}/summary.md")


DOCUMENTS: Final = (
    SignalDescription(
        fact=PmDone,
        words=lambda _: "handed in the requirements",
        step=_go_on,
        files=lambda *_: (Implied(path=PM_DONE, text=""),),
        command="submit pm-done",
        says="hand in requirements.md of the product manager",
        reads=lambda _: _text(f"{layout.PRODUCT_MANAGEMENT}/requirements.md"),
        made=lambda _, contents: (PmDone(sha256=contents.sha256), ()),
    ),
    SignalDescription(
        fact=ArchitectureDone,
        words=lambda _: "handed in the architecture",
        step=_architecture_done,
        command="submit architecture",
        says="hand in architecture.md of the architect",
        reads=lambda _: (HandedFile((ARCHITECTURE,), has_front_matter=True),),
        made=_architecture,
    ),
    SignalDescription(
        fact=PlanDone,
        words=lambda _: "handed in the plan",
        step=_plan_done,
        files=_plan_files,
        command="submit plan",
        says="hand in plan.yaml of the planner",
        reads=_plan_file,
        made=_plan,
    ),
    SignalDescription(
        fact=DesignDone,
        words=lambda _: "handed in the design",
        step=_go_on,
        command="submit design",
        says="hand in design.md of the designer",
        reads=lambda _: _text(f"{layout.DESIGN}/design.md"),
        made=lambda _, contents: (DesignDone(sha256=contents.sha256), ()),
    ),
    SignalDescription(
        fact=PhaseDone,
        words=lambda _: "",
        why_ignored=_judge_phase,
        step=_go_on,
        command="submit phase",
        says="hand in all files of a phase that has no signal of its own",
        arguments=(Argument("phase", "NAME", "the name of the phase", is_required=True),),
        reads=_leaves,
        made=_phase,
        about="phase",
    ),
    SignalDescription(
        fact=SummaryDone,
        words=lambda _: "handed in the summary",
        step=_summary_done,
        command="submit summary",
        says="hand in summary.md of the completed work",
        reads=_summary_file,
        made=lambda _, contents: (SummaryDone(sha256=contents.sha256), ()),
    ),
)
