"""The events of a session as lines of the desk, the newest first. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from agentmux.core.codec.records import to_fields
from agentmux.core.codec.times import time_of
from agentmux.core.journal.events import Event
from agentmux.core.journal.signal_messages import words_for
from agentmux.core.names.status_labels import clock_label
from agentmux.core.terminal.text_width import clean, width
from agentmux.desk.styled import BOLD, DIM, PLAIN, Line, fill

_LONGEST: Final = 60
_SEAT_COLS: Final = 16


def journal_lines(events: Sequence[Event], now: datetime) -> Iterator[Line]:
    """Yield a line for each event: when, by whom, what, and its short values."""
    for each, head in _heads(events, now):
        short = {n: v for n, v in _values(each).items() if len(str(v)) <= _LONGEST}
        yield (*head, (_named(short), DIM))


def whole_lines(events: Sequence[Event], now: datetime) -> Iterator[Line]:
    """Yield the same lines with every value, however long it is."""
    for each, head in _heads(events, now):
        yield (*head, (_named(_values(each)), DIM))


def _heads(events: Sequence[Event], now: datetime) -> Iterator[tuple[Event, Line]]:
    """Yield the events with the beginning of their lines; the columns are as wide as needed."""
    newest = tuple(reversed(events))
    times = tuple(_when(each, now) for each in newest)
    seats = tuple(clean(each.seat) for each in newest)
    time_cols = max(map(width, times), default=0)
    seat_cols = min(max(map(width, seats), default=0), _SEAT_COLS)
    for each, when, seat in zip(newest, times, seats, strict=True):
        what = words_for(each.fact) or each.fact.kind.replace("_", " ")
        yield (
            each,
            (
                (f"{when:>{time_cols}}  ", DIM),
                (f"{fill(seat, seat_cols)}  ", BOLD),
                (clean(what), PLAIN),
            ),
        )


def _when(event: Event, now: datetime) -> str:
    at = time_of(event.at)
    return clock_label(at, now.astimezone()) if at is not None else "-"


def _values(event: Event) -> Mapping[str, Any]:
    """Return the values of an event that are a text or a number, and not empty."""
    fields = to_fields(event.fact)
    return {n: v for n, v in fields.items() if isinstance(v, str | int) and v not in ("", False)}


def _named(values: Mapping[str, Any]) -> str:
    said = ", ".join(f"{name}={clean(str(each))}" for name, each in values.items())
    return f"  {said}" if said else ""
