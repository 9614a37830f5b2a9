"""Commands by which a person decides: refused where an agent is at work.

This guards against an agent that approves its own work, by a command of its own. It is no security
boundary: a process that has left its parents, with a clean environment, cannot be told apart.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentmux.errors import BlockedError

if TYPE_CHECKING:
    from agentmux.cli.face import Face


def require_person(face: Face, command: str) -> None:
    """Refuse ``command`` in or below a process that carries an agent's launch.

    Raises:
        BlockedError: It is called there; the reason is ``agent``.
    """
    from agentmux.adapters.system.processes import agent_above  # noqa: PLC0415 (few commands need it)

    found = agent_above(face.environ)
    if found is None:
        return
    raise BlockedError(
        f"`agentmux {command}` is for a person, and this is called by the agent in seat "
        f"{found.seat or '?'} (launch {found.launch}, process {found.pid})",
        reason="agent",
        hints=(f"type it in a terminal of your own: agentmux {command}",),
    )
