"""The descriptions of the user's decisions: approving, and requesting changes."""

from __future__ import annotations

from typing import Final

from agentmux.core.codec.frozen import replace
from agentmux.core.codec.records import Json
from agentmux.core.definitions.definition import Kind
from agentmux.core.fold.implied_file import Implied
from agentmux.core.fold.signals.description import JudgedDescription, working_folder
from agentmux.core.fold.transitions import enter, enter_fix
from agentmux.core.journal.events import Approved, ChangesRequested, Event
from agentmux.core.journal.state import SessionState
from agentmux.core.names.phase import Phase
from agentmux.core.names.statuses import LAUNCHED, STOPPED
from agentmux.core.pipeline import delivery
from agentmux.core.pipeline.artifacts import change_request_path
from agentmux.core.pipeline.registry import beginnings, pipeline_of, working_phase

# -- approval ------------------------------------------------------------------------------------


def is_summary_coming(state: SessionState) -> bool:
    """Whether a summary is still expected: its writer was not launched yet, or still works."""
    if state.summary_submitted:
        return False
    here = working_phase(state)
    writers = [s for s in state.seats.values() if s.phase == here and not s.topic]
    return not writers or any(seat.status in {LAUNCHED, STOPPED} for seat in writers)


def _judge_approval(state: SessionState, _event: Event, _fact: Approved) -> str:
    return "the summary is still being written" if is_summary_coming(state) else ""


def _apply_approval(state: SessionState, event: Event, fact: Approved) -> SessionState:
    options = state.options
    # The session no longer waits for a summary, even if the commit fails.
    approved = replace(
        state,
        options=replace(options, base=fact.on_top) if fact.on_top else options,
        approval=event.id,
        approved_tree=fact.tree,
        approved_back=fact.brings_back,
        summary_submitted=True,
        seats={},
    )
    if not state.commits:
        return enter(approved, Phase.DONE)
    return delivery.open_delivery(approved, fact.then)


def _approval_file(before: SessionState, event: Event, _: Approved) -> tuple[Implied, ...]:
    approval: Json = {"event": event.id, "at": event.at, "by": event.seat}
    return (Implied(path=f"{working_folder(before)}/approval.json", fields=approval),)


# -- changes -------------------------------------------------------------------------------------


def _judge_changes(state: SessionState, _: Event, fact: ChangesRequested) -> str:
    begins = not fact.phase or fact.phase in beginnings(state)
    return "" if begins else f"no cycle can begin in `{fact.phase}`"


def _changes_requested(state: SessionState, _: Event, fact: ChangesRequested) -> SessionState:
    request = change_request_path(state)
    pipeline = pipeline_of(state)
    target = fact.phase if fact.phase in pipeline else pipeline.default_beginning(state)
    if pipeline[target].kind is Kind.FIX:
        began = enter_fix(state, target)
    else:
        began = replace(enter(state, target), cycle=state.cycle + 1, fix=None)
    # Signals count only in their launch's cycle, so research under way is launched again.
    return replace(began, change_request=request, seats={})


def _change_file(before: SessionState, _: Event, fact: ChangesRequested) -> tuple[Implied, ...]:
    return (Implied(path=change_request_path(before), text=fact.text),)


DECISIONS: Final = (
    JudgedDescription(
        fact=Approved,
        words=lambda _: "approved",
        why_ignored=_judge_approval,
        step=_apply_approval,
        files=_approval_file,
    ),
    JudgedDescription(
        fact=ChangesRequested,
        words=lambda _: "asked for changes",
        why_ignored=_judge_changes,
        step=_changes_requested,
        files=_change_file,
    ),
)
