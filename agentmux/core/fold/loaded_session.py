"""A session as it was read from its files. Importing this module is fast."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentmux.core.codec.frozen import dataclass

if TYPE_CHECKING:  # a signal does not need these
    from agentmux.core.fold.implied_file import Implied
    from agentmux.core.journal.events import Event
    from agentmux.core.journal.state import SessionState


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedSession:
    """A session as it was read from its files, before anything was changed.

    Attributes:
        state: The last state that was written; see ``source``.
        known: Whether a phase could be read; if not, ``state.phase`` means nothing.
        source: One word for what ``state`` was read from: ``state.json``, ``backup`` (a copy of
            ``state.json``), ``journal`` (it was rebuilt from all events) or ``none`` (there was no
            file to read).
        tail: The events that ``state`` does not contain yet, each with the offset in the journal at
            which its line ends, in bytes.
        needs_import: Whether an older version made the session; then it must be imported before any
            event is appended.
        older: Whether its files come from a version that records no pipeline. ``state`` is already
            converted; the files are converted at the next save.
        implied_files: If the state was rebuilt, the files that had to be written because of its
            last events and that may be missing, as `rebuild` returns them.
        warnings: What the user should know about the files, one sentence each.
    """

    state: SessionState
    known: bool
    source: str
    tail: tuple[tuple[Event, int], ...]
    needs_import: bool = False
    older: bool = False
    implied_files: tuple[Implied, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def current(self) -> SessionState:
        """The session's current state: ``state`` after the events of ``tail``.

        It is computed each time.
        """
        from agentmux.core.fold.apply import fold

        return fold(self.state, self.tail)
