"""Shows a message to every client of a tmux server, with or without AgentMux sessions."""

from __future__ import annotations

from agentmux.adapters.tmux import commands as tmux_commands
from agentmux.adapters.tmux.client import NO_SERVER, SERVER_WENT, TmuxClient


def announce(socket: str, text: str) -> int:
    """Show ``text`` to every client of a tmux server; return how many clients received it.

    The text stands in their status lines for some seconds. The result is 0 if no server runs at
    the path ``socket``.

    Raises:
        AgentmuxError: tmux is missing, does not answer, or refuses.
    """
    client = TmuxClient(socket=socket)
    reply = client.run(*tmux_commands.CLIENTS)
    if reply.says((*NO_SERVER, *SERVER_WENT)):
        return 0
    calls = tmux_commands.messages(client.expect(reply).stdout, text)
    return sum(client.run(*call).returncode == 0 for call in calls)
