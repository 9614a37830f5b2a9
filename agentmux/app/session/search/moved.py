"""Refuses sessions that were exported: they continue where the file is imported, not here."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from agentmux.errors import BlockedError

if TYPE_CHECKING:
    from agentmux.core.journal.state import SessionState


def require_here(state: SessionState, name: str) -> None:
    """Check that the session was not moved away.

    Args:
        state: The session's state, with every event of the journal applied.
        name: The session's name, for the message.

    Raises:
        BlockedError: The session was moved; the error's reason is ``moved``.
    """
    moved = state.moved
    if moved is None:
        return
    raise BlockedError(
        where_it_went(name, moved.to, moved.at), reason="moved", hints=how_to_go_on(name, moved.to)
    )


def where_it_went(name: str, to: str, at: str) -> str:
    """Return the sentence that a session was moved to the file ``to``, on the day of ``at``.

    ``name`` is the session's name, and ``at`` a time in ISO 8601.
    """
    return f"session {name} was moved to {to} on {at[:10]}, and goes on where that file is imported"


def how_to_go_on(name: str, to: str) -> tuple[str, ...]:
    """Return hints how to go on with a session, by its name, that was moved to the file ``to``."""
    return (
        f"if it was imported nowhere, bring it back: agentmux import {shlex.quote(to)}",
        f"else remove what is left here: agentmux remove {name}",
    )
