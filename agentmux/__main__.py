"""``agentmux`` and ``python -m agentmux``: starts what agents type without loading typer."""

from __future__ import annotations

import gc
import os
import sys
from typing import TYPE_CHECKING, Final, NoReturn

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

INTERRUPTED: Final = 130
"""`errors.ExitCode.INTERRUPTED`."""

_COLLECT_AFTER: Final = 500_000
"""New objects between two runs of the garbage collector. We make many objects and hardly any
cycles; Python's default of 700 costs a tenth of the time of `list` with many sessions."""

_LASTING: Final = frozenset({"_orchestrate", "mcp"})
_COLLECT_LASTING: Final = 50_000
"""The same for what runs for hours: over time, few cycles become many."""

# Each face is imported when it is chosen: imports are most of what a short command costs.
# ruff: noqa: PLC0415


def main() -> NoReturn:
    """Run the command line of this process, and end it with the exit code.

    It ends at once: taking the interpreter down costs up to a third of a short command, and
    all that a command writes is on disk or flushed when it returns.
    """
    lasts = not _LASTING.isdisjoint(sys.argv[1:2])
    gc.set_threshold(_COLLECT_LASTING if lasts else _COLLECT_AFTER)
    _open_streams()
    try:
        code = dispatch(sys.argv[1:], os.environ)  # noqa: TID251 (read here, and passed down)
    except KeyboardInterrupt:
        code = INTERRUPTED
    finally:
        _flush_streams()
    os._exit(code)


def _open_streams() -> None:
    """Replace a standard stream that was closed before the program began by an empty one."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: PTH123, SIM115 (stays open)


def _flush_streams() -> None:
    """Flush stdout and stderr; an error here must not change the exit code."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        except ValueError:  # it was closed, and so flushed, before
            pass


def dispatch(argv: Sequence[str], environ: Mapping[str, str]) -> int:
    """Run the face that ``argv`` (without the program's name) asks for; return its exit code."""
    match argv[:1]:
        case ["submit" | "research"]:
            from agentmux.cli.fast.submit import main as run_submit

            return run_submit(argv, environ)
        case ["hook"]:
            from agentmux.cli.fast.hook import main as run_hook

            return run_hook(argv[1:], sys.stdin.buffer, environ)
        case ["_orchestrate"]:
            from agentmux.cli.fast.orchestrator import main as run_orchestrator

            return run_orchestrator(argv[1:], environ)
        case ["mcp"] if len(argv) == 1:
            from agentmux.mcp.server import main as run_mcp

            return run_mcp(environ)
        case _:
            from agentmux.cli.main import main as run_cli

            return run_cli(argv, environ)


if __name__ == "__main__":
    main()
