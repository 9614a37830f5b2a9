"""The program ``agentmux``, also run as ``python -m agentmux``.

It imports only what the given command needs.
"""

from __future__ import annotations

import gc
import os
import sys
from typing import TYPE_CHECKING, Final, NoReturn

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

INTERRUPTED: Final = 130
"""Equals `errors.ExitCode.INTERRUPTED`, which is not imported, to start faster."""

_COLLECT_AFTER: Final = 500_000
"""How many new objects trigger the garbage collector. We create many objects and hardly any cycles;
with Python's default of 700, ``list`` with many sessions takes a tenth longer."""

_LASTING: Final = frozenset({"_orchestrate", "mcp", "web"})
_COLLECT_LASTING: Final = 50_000
"""How many new objects trigger the garbage collector in commands that run for hours, in which even
a few cycles add up."""

# Each face is imported when it is chosen: imports are most of what a short command costs.
# ruff: noqa: PLC0415


def main() -> NoReturn:
    """Run the command line of this process, and end the process with its exit code.

    The process ends without the interpreter's clean-up, which would take up to a third of the time
    of a short command. Everything that a command writes has reached the disk or was flushed.
    """
    gc.set_threshold(collect_after(sys.argv[1:]))
    _open_streams()
    try:
        code = dispatch(sys.argv[1:], os.environ)  # noqa: TID251 (read here, and passed down)
    except KeyboardInterrupt:
        code = INTERRUPTED
    finally:
        _flush_streams()
    os._exit(code)


def collect_after(argv: Sequence[str]) -> int:
    """Return how many new objects trigger the garbage collector in the command ``argv``.

    Global options such as ``--project PATH`` may come before the name of the command.
    """
    lasts = not _LASTING.isdisjoint(argv)
    return _COLLECT_LASTING if lasts else _COLLECT_AFTER


def _open_streams() -> None:
    """Open the null device for each standard stream that was closed when the program began."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: PTH123, SIM115 (stays open)


def _flush_streams() -> None:
    """Flush stdout and stderr; ignore errors, so that the exit code stays."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        except ValueError:  # it was closed, and so flushed, before
            pass


def dispatch(argv: Sequence[str], environ: Mapping[str, str]) -> int:
    """Run the part of the program that handles a command line; return the exit code.

    Args:
        argv: The command line, without the program's name.
        environ: Environment of the process.
    """
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
        case ["_complete"]:
            from agentmux.cli.fast.completion import main as run_completion

            return run_completion(argv[1:], environ)
        case ["mcp"] if len(argv) == 1:
            from agentmux.mcp.server import main as run_mcp

            return run_mcp(environ)
        case _:
            from agentmux.cli.main import main as run_cli

            return run_cli(argv, environ)


if __name__ == "__main__":
    main()
