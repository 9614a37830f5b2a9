"""A unit for systemd that runs the worker of a user."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence


def unit(program: Sequence[str], *, slots: int, name: str, environ: Mapping[str, str]) -> str:
    """Return the unit, for ``~/.config/systemd/user/agentmux-fleet.service``.

    Only the worker is ended with it: the sessions live on in tmux.
    """
    words = [*program, "fleet", "worker", "--slots", str(slots)]
    words += ["--name", name] if name else []
    path = environ.get("PATH", "").replace("%", "%%")
    return "\n".join(
        (
            "# loginctl enable-linger lets it run while you are logged out",
            "[Unit]",
            "Description=AgentMux: the worker of the fleet on this host",
            "Wants=network-online.target",
            "After=network-online.target",
            "",
            "[Service]",
            f'Environment="PATH={path}"',
            f"ExecStart={shlex.join(words).replace('%', '%%')}",
            "KillMode=process",
            "Restart=on-failure",
            "RestartSec=5",
            "RestartPreventExitStatus=3 5 7",
            "",
            "[Install]",
            "WantedBy=default.target",
        )
    )
