"""Writes the systemd unit that runs the worker as a service of the user."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Final

_KEPT: Final = (
    "PATH", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "TMUX_TMPDIR",
)  # fmt: skip
"""The environment variables that say where the worker finds programs, files and sessions."""


def _escape_value(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")


def unit(program: Sequence[str], *, slots: int, name: str, environ: Mapping[str, str]) -> str:
    """Return the text of a systemd unit that runs the worker of this host; write and start nothing.

    It is for ``~/.config/systemd/user/agentmux-fleet.service``. Stopping the unit ends only the
    worker; the sessions keep running in tmux.

    Args:
        program: The command line that runs AgentMux, without arguments.
        slots: How many features the worker runs at once.
        name: The host's name in the fleet; empty for the worker's default.
        environ: The user's environment variables. The unit sets those for the worker that say where
            programs, files and sessions are, such as ``PATH``.
    """
    words = [*program, "fleet", "worker", "--slots", str(slots)]
    words += ["--name", name] if name else []
    kept = [
        f'Environment="{each}={_escape_value(environ[each])}"'
        for each in _KEPT
        if environ.get(each)
    ]
    return "\n".join(
        (
            "# loginctl enable-linger lets it run while you are logged out",
            "[Unit]",
            "Description=AgentMux: the worker of the fleet on this host",
            "Wants=network-online.target",
            "After=network-online.target",
            "",
            "[Service]",
            *kept,
            f"ExecStart={shlex.join(words).replace('%', '%%').replace('$', '$$')}",
            "KillMode=process",
            "Restart=on-failure",
            "RestartSec=5",
            "RestartPreventExitStatus=3 5 7",
            "",
            "[Install]",
            "WantedBy=default.target",
        )
    )
