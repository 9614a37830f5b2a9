"""The files that follow from an event, such as ``plan.md`` from an accepted plan.

They are written before the state that contains the event. Writing them again changes nothing, so
that a replay of the journal after a crash leads to the same files.
"""

from __future__ import annotations

from collections.abc import Iterable

from agentmux.core.codec.frozen import replace
from agentmux.core.codec.records import Json
from agentmux.core.codec.shape import writable
from agentmux.core.definitions.definition import Kind
from agentmux.core.documents.plan import check_execution_plan, check_plan, subplan_file, tasks_file
from agentmux.core.documents.plan_pages import plan_md, subplan_md, tasks_md
from agentmux.core.documents.review import wish_md
from agentmux.core.fold.acceptance import is_judged
from agentmux.core.fold.apply import counted, research_kind
from agentmux.core.fold.implied_file import Implied
from agentmux.core.fold.implied_results import of_results
from agentmux.core.journal.events import (
    Approved,
    ChangesRequested,
    CodeDone,
    CodeResearchDispatched,
    Event,
    PlanDone,
    PmDone,
    Repinned,
    ResearchDone,
    WebResearchDispatched,
)
from agentmux.core.journal.state import SessionState
from agentmux.core.names import layout
from agentmux.core.pipeline.artifacts import (
    PLAN_FILE,
    PM_DONE,
    RESULTS,
    Artifacts,
    change_request_path,
    done_marker,
    fix_request,
    kept_fix_request,
)
from agentmux.core.pipeline.registry import kind_of, pipeline_of, working_phase


def implied(before: SessionState, event: Event, after: SessionState) -> tuple[Implied, ...]:
    """Return the files that ``event`` adds to the session; none for a signal that does not count.

    The event has led from the state ``before`` to the state ``after``.
    """
    if is_judged(event) and not counted(before, after):
        return ()  # a signal that does not count, or could not be handled
    return (
        *_of_event(before, event),
        *_of_repin(event),
        *_of_wish(event, after),
        *of_results(before, event, after),
        *_of_fixing(after),
    )


def _of_event(before: SessionState, event: Event) -> tuple[Implied, ...]:
    match event.fact:
        case PmDone():
            return (Implied(path=PM_DONE, text=""),)
        case PlanDone(plan=plan):
            return _of_plan(plan, pipeline_of(before)[working_phase(before)].folder)
        case CodeDone(subplan_index=index):
            here = pipeline_of(before)[working_phase(before)]
            number = 1 if here.kind is Kind.FIX else index or 1
            return (Implied(path=done_marker(number, here.folder), text=""),)
        case CodeResearchDispatched() | WebResearchDispatched():
            return _of_research(before, event.fact)
        case ResearchDone(research=kind, topic=topic):
            return (Implied(path=f"{layout.research(kind, topic)}/done", text=""),)
        case Approved():
            approval: Json = {"event": event.id, "at": event.at, "by": event.seat}
            folder = pipeline_of(before)[working_phase(before)].folder
            return (Implied(path=f"{folder}/approval.json", fields=approval),)
        case ChangesRequested(text=text):
            return (Implied(path=change_request_path(before), text=text),)
        case _:
            return ()


def _of_repin(event: Event) -> tuple[Implied, ...]:
    patterns = event.fact.copied if isinstance(event.fact, Repinned) else None
    return () if patterns is None else (Implied(path=layout.COPIED, text=patterns),)


def _of_plan(value: Json, folder: str) -> tuple[Implied, ...]:
    plan, _ = check_plan(value)
    if plan is None:
        return ()
    texts = [Implied(path=f"{folder}/plan.md", text=plan_md(plan))]
    for each in plan.subplans:
        texts += [
            Implied(path=f"{folder}/{subplan_file(each.index)}", text=subplan_md(plan, each.index)),
            Implied(path=f"{folder}/{tasks_file(each.index)}", text=tasks_md(plan, each.index)),
        ]
    # Last, because this file alone says that planning is complete.
    return (
        *texts,
        Implied(path=f"{folder}/{PLAN_FILE}", fields=plan.execution.to_fields()),
    )


def _of_research(
    before: SessionState, fact: CodeResearchDispatched | WebResearchDispatched
) -> tuple[Implied, ...]:
    kind = research_kind(fact)
    if fact.topic in before.tasks(kind):
        return ()
    path = f"{layout.research(kind, fact.topic)}/request.md"
    # A question that was accepted earlier may contain bytes that are not text.
    return (Implied(path=path, text=f"# {fact.topic}\n\n{writable(fact.question)}\n"),)


def _of_wish(event: Event, after: SessionState) -> tuple[Implied, ...]:
    """Return the fix request of a cycle that begins in fixing: it is the user's wish."""
    if not isinstance(event.fact, ChangesRequested) or kind_of(after) is not Kind.FIX:
        return ()
    text = wish_md(event.fact.text)
    kept = Implied(path=kept_fix_request(after), text=text)
    return (kept, Implied(path=fix_request(after), text=text))


def _of_fixing(after: SessionState) -> tuple[Implied, ...]:
    if kind_of(after) is not Kind.FIX:
        return ()
    return (Implied(path=fix_request(after), copy_of=kept_fix_request(after)),)


def overlay(artifacts: Artifacts, added: Iterable[Implied], state: SessionState) -> Artifacts:
    """Return the artifacts as they will be once ``added`` has been written.

    ``state`` is the state after the events that ``added`` follows from. Files in its
    ``pending_archive`` are left out, since they are about to be moved away.
    """
    gone = {path for each in state.pending_archive for path in each.paths}
    sizes, plan = dict(artifacts.sizes), artifacts.execution_plan
    results = dict(artifacts.results)
    for each in added:
        if each.path in gone or each.path.partition("/")[0] in gone or each.copy_of is not None:
            continue
        sizes[each.path] = len((each.text or "").encode()) if each.fields is None else 1
        if each.path.endswith(f"/{PLAN_FILE}"):
            plan, _ = check_execution_plan(each.fields)
        if each.path.endswith(f"/{RESULTS}") and each.fields is not None:
            results[each.path] = str(each.fields.get("outcome", ""))
    return replace(artifacts, sizes=sizes, execution_plan=plan, results=results)
