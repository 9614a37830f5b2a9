"""The line at the foot of the monitor that tells how to leave the session, with the actual keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from agentmux.ports.tmux.terminal import Client, LeaveKeys, OwnSession, StatusOption


def leave_line(clients: Sequence[Client], keys: LeaveKeys, session: str) -> str:
    """Return how to leave the session, in one short line.

    A client that showed another tmux session before goes back to it; one started from a shell
    detaches.

    Args:
        clients: The clients that show the session.
        keys: The keys of their tmux server.
        session: The name of the tmux session, for a command if no key is bound.
    """
    homes = {client.came_from for client in clients if client.came_from}
    ways = []
    if homes and keys.back:
        home = f" ({min(homes)})" if len(homes) == 1 else ""
        ways.append(f"{keys.back} goes back{home}")
    if not ways or not all(client.came_from for client in clients):
        ways.append(f"{keys.detach} detaches" if keys.detach else f"tmux detach -s {session}")
    return ", ".join(ways)


class DetachHint:
    """Knows how the clients of a session can leave it.

    Attributes:
        line: How to leave the session, as a line for the user; empty until the first `look`.
        options: The values of the tmux options about leaving, by `StatusOption`: ``LEFT`` and
            ``WINDOW`` are keys from an agent's pane to the monitor, ``BACK`` and ``DETACH`` are
            keys that leave the session, and ``GUESTS`` are the clients that stay in tmux when the
            session ends. Empty until the first `look`; the caller sets them in tmux.
    """

    def __init__(self, terminal: OwnSession, session: str) -> None:
        """Take the tmux session and its name, ``session``."""
        self._terminal = terminal
        self._session = session
        self._clients: tuple[Client, ...] | None = None
        self.line = ""
        self.options: Mapping[str, str] = {}

    def look(self) -> None:
        """Look which clients are attached; if that has changed, update ``line`` and ``options``.

        Nothing is set in tmux.

        Raises:
            TerminalError: tmux fails; see `OwnSession.clients`.
        """
        clients = self._terminal.clients()
        if clients != self._clients:
            keys = self._terminal.leave_keys()
            self.line = leave_line(clients, keys, self._session)
            guests = " ".join(client.guest for client in clients if client.guest)
            self.options = {
                StatusOption.LEFT: keys.left,
                StatusOption.WINDOW: keys.window,
                StatusOption.BACK: keys.back,
                StatusOption.DETACH: keys.detach,
                StatusOption.GUESTS: guests,
            }
            self._clients = clients
