"""The rows that lists show for the events of a session."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Final

from agentmux.core.codec.frozen import dataclass
from agentmux.core.codec.records import to_fields
from agentmux.core.codec.times import time_of
from agentmux.core.fold.signals.table import words_for
from agentmux.core.names.status_labels import clock_label
from agentmux.core.terminal.text.text_width import clean

if TYPE_CHECKING:
    from agentmux.core.journal.events import Event

_LONGEST: Final = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class EventRow:
    """What every list shows of an event; no text in it has control characters.

    Attributes:
        when: The time of the event, in the user's time zone; ``-`` if it has none.
        seat: The seat that the event is about or comes from.
        what: What happened, in words.
        values: The fields of the event, by name, each as text. Only texts that are not empty,
            whole numbers and True are included.
    """

    when: str
    seat: str
    what: str
    values: Mapping[str, str]

    @property
    def short(self) -> str:
        """The values of at most 60 characters as ``name=value``, joined by commas."""
        return _join_values({n: each for n, each in self.values.items() if len(each) <= _LONGEST})

    @property
    def whole(self) -> str:
        """All values as ``name=value``, joined by commas."""
        return _join_values(self.values)


def journal_rows(events: Sequence[Event], now: datetime) -> Iterator[EventRow]:
    """Yield the row of each event, newest first; ``events`` are oldest first.

    The date is shown with the time of an event that is not of the same day as ``now``.
    """
    here = now.astimezone()
    for each in reversed(events):
        at = time_of(each.at)
        yield EventRow(
            when=clock_label(at, here) if at is not None else "-",
            seat=clean(each.seat),
            what=clean(words_for(each.fact) or each.fact.kind.replace("_", " ")),
            values={n: clean(str(v)) for n, v in to_fields(each.fact).items() if _is_said(v)},
        )


def _is_said(value: object) -> bool:
    return isinstance(value, str | int) and value is not False and value != ""


def _join_values(values: Mapping[str, str]) -> str:
    return ", ".join(f"{name}={each}" for name, each in values.items())
