"""Traces: short records of unfinished sessions, stored outside of the sessions' directories."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:  # `agentmux list` must start fast
    from agentmux.core.decisions.session_trace import SessionTrace


class SessionTraces(Protocol):
    """The traces of this user's unfinished sessions on this machine, in all projects.

    A trace is a short record outside of the session's directory. It shows that the session is
    missing after its directory was deleted, and how to find the work that is left.
    """

    def keep(self, trace: SessionTrace) -> None:
        """Store the trace of a session; it replaces an earlier one.

        Raises:
            DataError: The trace cannot be written.
        """

    def missing(self) -> tuple[SessionTrace, ...]:
        """Return the traces of sessions whose directories no longer exist, sorted by path.

        Unreadable traces are left out.
        """

    def forget(self, session: str, path: Path) -> None:
        """Delete a session's trace, if there is one and it names this directory.

        Args:
            session: The session's uuid.
            path: The session's directory.

        Raises:
            DataError: The trace cannot be deleted, so a removed session counts as missing.
        """
