"""A session as it was read from its files; cheap to import."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentmux.core.codec.frozen import dataclass

if TYPE_CHECKING:  # a signal does not need these
    from agentmux.core.fold.implied_file import Implied
    from agentmux.core.journal.events import Event
    from agentmux.core.journal.state import SessionState


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedSession:
    """A session as it was read from its files, before anything was done about it.

    Attributes:
        state: The last state that was written; see ``source``.
        known: False if no phase could be read, so that ``state.phase`` means nothing.
        source: What ``state`` was read from: ``state.json``, its ``backup``, the ``journal`` (from
            which it was rebuilt) or ``none``.
        tail: The events that ``state`` does not contain yet, each with the offset in the journal at
            which its line ends.
        foreign: Whether an older version made the session; then it must be imported before any
            event is appended.
        older: Whether its files are of a version that records no pipeline. The state is in the
            present form all the same; the files are once it is saved.
        open: If the state was rebuilt: the files that follow from its events and may be missing.
        warnings: What a person should know of the files, one sentence each.
    """

    state: SessionState
    known: bool
    source: str
    tail: tuple[tuple[Event, int], ...]
    foreign: bool = False
    older: bool = False
    open: tuple[Implied, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def current(self) -> SessionState:
        """The state with the events of ``tail``: what the session is now."""
        from agentmux.core.fold.apply import fold

        return fold(self.state, self.tail)
