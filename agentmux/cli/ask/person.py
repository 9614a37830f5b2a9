"""Keeps agents from running the commands by which a person decides, such as ``approve``.

An agent thus cannot approve its own work. This is no security boundary: a process that leaves its
parents and clears its environment is not recognised as an agent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentmux.adapters.system.processes.processes import agent_above
from agentmux.errors import BlockedError

if TYPE_CHECKING:
    from agentmux.cli.face import Face


def require_person(face: Face, command: str) -> None:
    """Check that no agent, and no process that an agent started, runs this process.

    Args:
        face: Has the environment of this process.
        command: The command as typed after ``agentmux``, for the message.

    Raises:
        BlockedError: An agent runs the command; the error's reason is ``agent``.
    """
    agent = agent_above(face.environ)
    if agent is None:
        return
    raise BlockedError(
        f"`agentmux {command}` is for a person; it was called by the agent in seat "
        f"{agent.seat or '?'} (launch {agent.launch}, process {agent.pid})",
        reason="agent",
        hints=(f"type it in a terminal of your own: agentmux {command}",),
    )
