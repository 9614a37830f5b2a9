"""Runs the program in the user's own ``notify`` setting of codex.

Codex runs one such program at the end of each turn. In agents that AgentMux launches, that program
is ours, which therefore runs the user's. Nothing else in codex's configuration is used.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

RUNS: Final = "AGENTMUX_NOTIFY_RUNS"
"""The variable that is set for the user's program: if that calls ``agentmux hook``, the program is
not run again."""


def run_own_notify(report: str, environ: Mapping[str, str]) -> None:
    """Start the program in the user's ``notify`` setting of codex; do not wait for its end.

    It gets ``report`` as its last argument, as from codex. Nothing happens if the setting is
    missing or cannot be read, or if the program cannot be run. Nothing happens either if
    ``environ`` has the variable `RUNS`: then this process was itself started by that program.

    Args:
        report: The report from codex, as JSON.
        environ: The environment of codex. ``CODEX_HOME`` in it names the folder of its
            configuration, by default ``~/.codex``.
    """
    argv = () if RUNS in environ else _own_notify(environ)
    with suppress(OSError):
        if argv:
            ours = {**environ, RUNS: "1"}
            # Python ignores this signal, and a program would inherit that.
            os.posix_spawnp(argv[0], (*argv, report), ours, setsigdef=(signal.SIGPIPE,))


def _own_notify(environ: Mapping[str, str]) -> tuple[str, ...]:
    import tomllib

    home = environ.get("CODEX_HOME") or Path(environ.get("HOME", ""), ".codex")
    try:
        setting = tomllib.loads(Path(home, "config.toml").read_text(encoding="utf-8")).get("notify")
    except (OSError, ValueError):
        return ()
    words = setting if isinstance(setting, list) else []
    return tuple(words) if all(isinstance(word, str) and word for word in words) else ()
