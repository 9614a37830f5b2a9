"""Refuses an agent the commands by which a person decides, such as ``approve``.

This keeps an agent from approving its own work by a command of its own. It is no security
boundary: a process that leaves its parents and clears its environment is not recognised.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentmux.adapters.system.processes import agent_above
from agentmux.errors import BlockedError

if TYPE_CHECKING:
    from agentmux.cli.face import Face


def require_person(face: Face, command: str) -> None:
    """Refuse ``command`` if an agent, or a process that an agent started, runs it.

    Raises:
        BlockedError: An agent runs it; the reason is ``agent``.
    """
    found = agent_above(face.environ)
    if found is None:
        return
    raise BlockedError(
        f"`agentmux {command}` is for a person; it was called by the agent in seat "
        f"{found.seat or '?'} (launch {found.launch}, process {found.pid})",
        reason="agent",
        hints=(f"type it in a terminal of your own: agentmux {command}",),
    )
