"""The state of a session as it is now: what is recorded, with the lines that were not applied."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentmux.core.fold.apply import fold

if TYPE_CHECKING:
    from agentmux.core.journal.state import SessionState
    from agentmux.ports.session_files import SignalFiles


def current_state(files: SignalFiles) -> SessionState:
    """Return the state of a session; it only reads.

    Raises:
        DataError: As from `SignalFiles.load`.
    """
    loaded = files.load()
    return fold(loaded.state, loaded.tail)
