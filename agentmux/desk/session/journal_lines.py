"""Turns the events of a session into lines of the desk, the newest first. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Final

from agentmux.app.views.session.journal_rows import EventRow, journal_rows
from agentmux.core.terminal.text.text_width import width
from agentmux.desk.styled import BOLD, DIM, PLAIN, Line, fill

if TYPE_CHECKING:
    from agentmux.core.journal.events import Event

_SEAT_COLS: Final = 16


def journal_lines(events: Sequence[Event], now: datetime) -> Iterator[Line]:
    """Yield a line for each event: its time, seat, kind, and values, with long values shortened.

    Args:
        events: The events, oldest first, as the journal has them. The lines come newest first.
        now: The current time; the time of an event of another day is shown with its date.
    """
    for each, head in _heads(events, now):
        yield (*head, _dim(each.short))


def whole_lines(events: Sequence[Event], now: datetime) -> Iterator[Line]:
    """Yield the same lines as `journal_lines`, newest first, with all values in full.

    ``events`` are the events, oldest first; ``now`` is the current time.
    """
    for each, head in _heads(events, now):
        yield (*head, _dim(each.whole))


def _heads(events: Sequence[Event], now: datetime) -> Iterator[tuple[EventRow, Line]]:
    """Yield the events, each with the beginning of its line, in columns as wide as needed."""
    rows = tuple(journal_rows(events, now))
    time_cols = max((width(each.when) for each in rows), default=0)
    seat_cols = min(max((width(each.seat) for each in rows), default=0), _SEAT_COLS)
    for each in rows:
        yield (
            each,
            (
                (f"{each.when:>{time_cols}}  ", DIM),
                (f"{fill(each.seat, seat_cols)}  ", BOLD),
                (each.what, PLAIN),
            ),
        )


def _dim(values: str) -> tuple[str, str]:
    return (f"  {values}" if values else "", DIM)
