"""Reads the settings of a user's tmux that can disturb AgentMux, for ``agentmux doctor``.

It uses libtmux, which has no time limit: here a person is waiting, and the server was just seen to
answer.
"""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Final

from agentmux.adapters.tmux.commands import in_short
from agentmux.adapters.tmux.server import TmuxTerminal, version
from agentmux.ports.health import TmuxFacts

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import libtmux

ANSWER_S: Final = 2.0
"""Seconds after which a server that does not answer counts as hung."""

_NAMED_KEYS: Final = frozenset({"Enter", "Escape", "Space", "Tab", "BSpace", "Up", "Down"})


def tmux_facts(socket: str) -> TmuxFacts:
    """Return the facts about tmux and the server at the path ``socket``; start no server.

    If none runs there, the facts have pid 0, and no options, hooks and keys.

    Raises:
        MissingError: tmux is not installed, or too old.
        TerminalUnreachableError: The server does not answer in time.
    """
    tmux_version = version(timeout_s=ANSWER_S)
    server = TmuxTerminal(socket, timeout_s=ANSWER_S).server()
    if not server.pid:
        return TmuxFacts(version=tmux_version, socket=socket)
    import libtmux

    tmux_server = libtmux.Server(socket_path=socket)
    options = dict(_options(_ask_tmux(tmux_server, "show-options", "-s")))
    options |= _options(_ask_tmux(tmux_server, "show-options", "-g"))
    return TmuxFacts(
        version=tmux_version,
        socket=socket,
        pid=server.pid,
        options=options,
        hooks=tuple(_hooks(_ask_tmux(tmux_server, "show-hooks", "-g"))),
        plain_keys=tuple(_plain_keys(_ask_tmux(tmux_server, "list-keys", "-T", "root"))),
    )


def _ask_tmux(server: libtmux.Server, *words: str) -> Sequence[str]:
    return server.cmd(*in_short(words)).stdout


def _options(lines: Sequence[str]) -> Iterator[tuple[str, str]]:
    for line in lines:
        name, _, value = line.partition(" ")
        yield name, value.strip('"')


def _hooks(lines: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the name and command of each hook that has a command."""
    for line in lines:
        name, _, command = line.partition(" ")
        if command:
            yield name, command


def _plain_keys(lines: Sequence[str]) -> Iterator[str]:
    """Yield the keys without modifiers in lines such as ``bind-key -T root y kill-server``."""
    for line in lines:
        try:
            words = shlex.split(line)
        except ValueError:
            continue
        words = [word for word in words if word != "-r"]
        key = words[3] if len(words) > 3 else ""
        if len(key.removeprefix("\\")) == 1 or key in _NAMED_KEYS:
            yield key
