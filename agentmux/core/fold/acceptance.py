"""The rule that decides whether a signal counts.

Both the answer to ``agentmux submit`` and the fold of the journal use it.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from agentmux.core.codec.frozen import dataclass
from agentmux.core.definitions.definition import Kind
from agentmux.core.fold.signals.decisions import is_summary_coming
from agentmux.core.fold.signals.table import DESCRIPTIONS, JUDGED
from agentmux.core.journal.events import Approved, ChangesRequested, Event
from agentmux.core.journal.state import SessionState
from agentmux.core.pipeline.registry import (
    pipeline_of,
    working_kind,
    working_phase,
)


class Answer(StrEnum):
    """The answer to a signal or a user decision.

    *accepted*: it counts. *ignored*: it does not count. *duplicate*: it repeats one that counted.
    """

    ACCEPTED = "accepted"
    IGNORED = "ignored"
    DUPLICATE = "duplicate"


@dataclass(frozen=True, slots=True)
class Judgement:
    """The answer to a signal or a user decision, with the reason for people.

    The reason is empty if the answer is `Answer.ACCEPTED`.
    """

    answer: Answer
    reason: str = ""


REWINDING: Final = "a rewind was interrupted, and is finished first"
"""Why no decision counts while the files of the session are half rewound; a resume ends that."""

_ACCEPTED: Final = Judgement(Answer.ACCEPTED)


def _ignore(reason: str) -> Judgement:
    return Judgement(Answer.IGNORED, reason)


def is_judged(event: Event) -> bool:
    """Whether the event is a signal or a user decision, which counts only if `judge` accepts it.

    All other events always count.
    """
    return event.fact.kind in JUDGED


def judge(state: SessionState, event: Event) -> Judgement:
    """Return whether a signal or a user decision counts, and why not; records and applies nothing.

    Args:
        state: The state before the event.
        event: The signal or decision; `is_judged` must be True for it.
    """
    if event.id in state.signals:
        return Judgement(Answer.DUPLICATE, "this was submitted before, there is nothing left to do")
    if state.moved is not None:
        return _ignore(f"the session was moved to {state.moved.to}")
    if working_phase(state) not in pipeline_of(state):
        return _ignore(f"the session is {state.phase}")
    if isinstance(event.fact, (Approved, ChangesRequested)):
        return _judge_decision(state, event, event.fact)
    return _judge_launch(state, event) or _judge_work(state, event)


def _is_completing(state: SessionState) -> bool:
    return working_kind(state) is Kind.COMPLETE


def takes_decision(state: SessionState) -> bool:
    """Whether a request for changes would count now; for an approval, see `takes_approval`."""
    is_open = state.approval is None and state.moved is None and state.rewind is None
    return _is_completing(state) and is_open


def takes_approval(state: SessionState) -> bool:
    """Whether an approval would count now: the user may decide, and no summary is expected."""
    return takes_decision(state) and not is_summary_coming(state)


def _judge_decision(
    state: SessionState, event: Event, fact: Approved | ChangesRequested
) -> Judgement:
    if event.cycle < state.cycle:
        return _ignore("changes were asked for meanwhile, in another browser or terminal")
    if event.cycle != state.cycle:
        return _ignore(f"it is about cycle {event.cycle}, the session is in cycle {state.cycle}")
    if not _is_completing(state):
        return _ignore(f"the session is in {state.phase}, there is nothing to decide yet")
    if state.rewind is not None:
        return _ignore(REWINDING)
    if fact.of_phase not in {"", working_phase(state)}:
        return _ignore(f"it is about {fact.of_phase}, the session is in {state.phase}")
    if state.approval is not None:
        return _ignore("the result was approved already")
    return _judge_alone(state, event)


def _judge_launch(state: SessionState, event: Event) -> Judgement | None:
    seat = state.seats.get(event.seat)
    if not event.launch:
        return _ignore("it comes from no launch of this session")
    if event.cycle != state.cycle:
        return _ignore(f"it belongs to cycle {event.cycle}, the session is in cycle {state.cycle}")
    if seat is None:
        return _ignore(f"the session has moved on to {state.phase}, `{event.seat}` has no work")
    if seat.launch != event.launch:
        return _ignore(f"`{event.seat}` belongs to launch {seat.launch} now, not {event.launch}")
    return None


def _judge_work(state: SessionState, event: Event) -> Judgement:
    fact, phase = event.fact, working_phase(state)
    signal = DESCRIPTIONS[fact.kind]
    here = pipeline_of(state)[phase]
    if not signal.in_any_phase and fact.kind != here.signal:
        return _ignore(f"{phase} does not expect `{fact.kind}`")
    if not signal.in_any_phase and state.seats[event.seat].role not in here.roles:
        return _ignore(f"`{event.seat}` does not work in {phase}")
    return _judge_alone(state, event)


def _judge_alone(state: SessionState, event: Event) -> Judgement:
    """Return the answer according to the rule of this kind of signal or decision."""
    reason = JUDGED[event.fact.kind].why_ignored(state, event, event.fact)
    return _ignore(reason) if reason else _ACCEPTED
