"""The files that an event implies, such as ``plan.md`` for an accepted plan.

They are written before the state that contains the event. Writing them again changes nothing, so a
replay of the journal after a crash leads to the same files.
"""

from __future__ import annotations

from collections.abc import Iterable

from agentmux.core.codec.frozen import replace
from agentmux.core.definitions.definition import Kind
from agentmux.core.documents.plan import check_execution_plan
from agentmux.core.documents.review import requested_fix_md
from agentmux.core.fold.apply import has_counted
from agentmux.core.fold.implied_file import Implied
from agentmux.core.fold.implied_results import of_results
from agentmux.core.fold.signals.table import JUDGED
from agentmux.core.journal.events import (
    ChangesRequested,
    Event,
    Repinned,
)
from agentmux.core.journal.state import SessionState
from agentmux.core.names import layout
from agentmux.core.pipeline.artifacts import (
    PLAN_FILE,
    RESULTS,
    Artifacts,
    fix_request,
    kept_fix_request,
)
from agentmux.core.pipeline.registry import kind_of


def derive_files(before: SessionState, event: Event, after: SessionState) -> tuple[Implied, ...]:
    """Return the files to write because of ``event``; none for a signal that does not count.

    It writes none of them.

    Args:
        before: The state before the event.
        event: The event.
        after: The state after the event.
    """
    signal = JUDGED.get(event.fact.kind)
    if signal is not None and not has_counted(before, after):
        return ()  # a signal that does not count, or could not be handled
    return (
        *(signal.files(before, event, event.fact) if signal is not None else ()),
        *_of_repin(event),
        *_of_request(event, after),
        *of_results(before, event, after),
        *_of_fixing(after),
    )


def _of_repin(event: Event) -> tuple[Implied, ...]:
    patterns = event.fact.copied if isinstance(event.fact, Repinned) else None
    return () if patterns is None else (Implied(path=layout.COPIED, text=patterns),)


def _of_request(event: Event, after: SessionState) -> tuple[Implied, ...]:
    """Return the fix request, with the user's words, if the user's request begins with a fix."""
    if not isinstance(event.fact, ChangesRequested) or kind_of(after) is not Kind.FIX:
        return ()
    text = requested_fix_md(event.fact.text)
    kept = Implied(path=kept_fix_request(after), text=text)
    return (kept, Implied(path=fix_request(after), text=text))


def _of_fixing(after: SessionState) -> tuple[Implied, ...]:
    if kind_of(after) is not Kind.FIX:
        return ()
    return (Implied(path=fix_request(after), copy_of=kept_fix_request(after)),)


def overlay(artifacts: Artifacts, added: Iterable[Implied], state: SessionState) -> Artifacts:
    """Return the artifacts as they will be once ``added`` has been written; writes nothing.

    Args:
        artifacts: The artifacts before.
        added: The files that will be written. Files in the ``pending_archive`` of ``state`` are
            left out, because they are about to be moved to the history.
        state: The state after the events that imply ``added``.
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
