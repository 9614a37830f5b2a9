"""The system's facts about processes and mounts: `proc` on Linux, else `psutil_processes`."""

from __future__ import annotations

import sys

if sys.platform == "linux":
    from agentmux.adapters.system.processes.proc import (
        argv,
        environment,
        is_tmux_server,
        mounts,
        own_pids,
        parent,
        state_and_start,
    )
else:
    from agentmux.adapters.system.processes.psutil_processes import (
        argv,
        environment,
        is_tmux_server,
        mounts,
        own_pids,
        parent,
        state_and_start,
    )

__all__ = [
    "argv",
    "environment",
    "is_tmux_server",
    "mounts",
    "own_pids",
    "parent",
    "state_and_start",
]
