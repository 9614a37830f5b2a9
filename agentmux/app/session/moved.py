"""A session that was exported: it goes on where its file is imported, and not here."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from agentmux.errors import BlockedError

if TYPE_CHECKING:
    from agentmux.core.journal.state import SessionState


def require_here(state: SessionState, name: str) -> None:
    """Check that the session was not moved away.

    Args:
        state: Its state, with every event of the journal.
        name: The session's, for the message.

    Raises:
        BlockedError: It was; the reason is ``moved``.
    """
    moved = state.moved
    if moved is None:
        return
    raise BlockedError(
        f"session {name} was moved to {moved.to} on {moved.at[:10]}, and goes on where that file"
        " is imported",
        reason="moved",
        hints=(
            f"if it was imported nowhere, bring it back: agentmux import {shlex.quote(moved.to)}",
            f"else remove what is left here: agentmux remove {name}",
        ),
    )
