"""``agentmux`` and ``python -m agentmux``: what runs all day is told apart before typer loads."""

from __future__ import annotations

import gc
import os
import sys
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

INTERRUPTED: Final = 130
"""`errors.ExitCode.INTERRUPTED`."""

_COLLECT_AFTER: Final = 50_000
"""New objects between two searches for cycles: we make many objects and hardly a cycle, and the
usual 700 cost a look at many sessions a tenth of its time."""

# Each face is imported when it is chosen: imports are most of what a short command costs.
# ruff: noqa: PLC0415


def main() -> int:
    """Run the command line of this process; returns the exit code."""
    gc.set_threshold(_COLLECT_AFTER)
    try:
        return dispatch(sys.argv[1:], os.environ)  # noqa: TID251 (read here, and passed down)
    except KeyboardInterrupt:
        return INTERRUPTED


def dispatch(argv: Sequence[str], environ: Mapping[str, str]) -> int:
    """Hand ``argv`` (without the program's name) to the face that it is for."""
    match argv[:1]:
        case ["submit" | "research"]:
            from agentmux.cli.submit import main as run_submit

            return run_submit(argv, environ)
        case ["hook"]:
            from agentmux.cli.hook import main as run_hook

            return run_hook(sys.stdin.buffer, environ)
        case ["_orchestrate"]:
            from agentmux.cli.orchestrate import main as run_orchestrator

            return run_orchestrator(argv[1:], environ)
        case ["mcp"] if len(argv) == 1:
            from agentmux.mcp.server import main as run_mcp

            return run_mcp(environ)
        case _:
            from agentmux.cli.main import main as run_cli

            return run_cli(argv, environ)


if __name__ == "__main__":
    sys.exit(main())
