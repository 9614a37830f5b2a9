"""What is known of unfinished sessions outside of their directories."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:  # `agentmux list` must start fast
    from agentmux.core.decisions.session_trace import SessionTrace


class SessionTraces(Protocol):
    """The traces of this user's unfinished sessions on this machine, in all projects."""

    def keep(self, trace: SessionTrace) -> None:
        """Write the trace of a session in place of the old one.

        Raises:
            DataError: It cannot be written.
        """

    def missing(self) -> tuple[SessionTrace, ...]:
        """Return the traces of the sessions whose directories are gone, by path.

        A trace that cannot be read is left out.
        """

    def forget(self, session: str, path: Path) -> None:
        """Remove the trace of the session with this uuid in this directory; there may be none."""
