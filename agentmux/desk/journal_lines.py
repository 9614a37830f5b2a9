"""The events of a session as lines of the desk, the newest first. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Final

from agentmux.core.codec.records import to_fields
from agentmux.core.codec.times import time_of
from agentmux.core.journal.events import Event
from agentmux.core.journal.signal_messages import words_for
from agentmux.core.names.status_labels import clock_label
from agentmux.core.terminal.text_width import clean
from agentmux.desk.styled import BOLD, DIM, PLAIN, Line

_LONGEST: Final = 60


def journal_lines(events: Sequence[Event], now: datetime) -> Iterator[Line]:
    """Yield a line for each event: when, by whom, what, and its short values."""
    for event in reversed(events):
        at = time_of(event.at)
        when = clock_label(at, now.astimezone()) if at is not None else "-"
        what = words_for(event.fact) or event.fact.kind.replace("_", " ")
        yield (
            (f"{when:>13}  ", DIM),
            (f"{clean(event.seat):<14} ", BOLD),
            (what, PLAIN),
            (f"  {_values(event)}", DIM),
        )


def _values(event: Event) -> str:
    """Return the values of an event that are short enough for a line."""
    fields = to_fields(event.fact)
    short = ((n, each) for n, each in fields.items() if isinstance(each, str | int) and each != "")
    return ", ".join(f"{n}={clean(str(e))}" for n, e in short if len(str(e)) <= _LONGEST)
