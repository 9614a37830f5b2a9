"""A session as it was read from its files; cheap to import."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentmux.core.codec.frozen import dataclass

if TYPE_CHECKING:  # a signal does not need these
    from agentmux.core.fold.implied import Implied
    from agentmux.core.journal.events import Event
    from agentmux.core.journal.state import SessionState


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedSession:
    """A session as it was read from its files, before anything was done about it.

    Attributes:
        state: The last committed state.
        known: False where no phase could be read, so that ``state.phase`` means nothing.
        source: ``state.json``, ``backup``, ``journal`` or ``none``.
        tail: The events after the cursor, each with the journal offset after its line.
        foreign: It is an older session, and must be imported before anything is appended.
        open: Files that follow from the events of a rebuilt state and are missing.
        warnings: For people, one sentence each.
    """

    state: SessionState
    known: bool
    source: str
    tail: tuple[tuple[Event, int], ...]
    foreign: bool = False
    open: tuple[Implied, ...] = ()
    warnings: tuple[str, ...] = ()
