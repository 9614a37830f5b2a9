"""A session as its files have it, as a value that is cheap to import."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentmux.core.codec.frozen import dataclass

if TYPE_CHECKING:  # a signal needs none of what these import
    from agentmux.core.fold.implied import Implied
    from agentmux.core.journal.events import Event
    from agentmux.core.journal.state import SessionState


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedSession:
    """A session as its files have it, before anything is done about it.

    Attributes:
        state: The last committed state.
        known: False where no phase could be read: then the one in ``state`` is made up.
        source: ``state.json``, ``backup``, ``journal`` or ``none``.
        tail: Events behind the cursor, each with the offset behind its line.
        foreign: An older session, to be imported before anything is appended.
        open: Files that the events behind a rebuilt state imply, and that are not there.
        warnings: For people, one sentence each.
    """

    state: SessionState
    known: bool
    source: str
    tail: tuple[tuple[Event, int], ...]
    foreign: bool = False
    open: tuple[Implied, ...] = ()
    warnings: tuple[str, ...] = ()
