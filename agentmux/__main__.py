"""The program ``agentmux``, also run as ``python -m agentmux``.

It imports only what the given command needs.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Final, NoReturn

from agentmux.adapters.system.python.garbage import collect_often, collect_rarely
from agentmux.adapters.system.python.import_path import put_own_first

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

INTERRUPTED: Final = 130
"""Equals `errors.ExitCode.INTERRUPTED`, which is not imported, to start faster."""

_UMASK: Final = "AGENTMUX_UMASK"
"""Equals `core.agents.environment.UMASK`, which is not imported either."""

# Each face is imported when it is chosen: imports are most of what a short command costs.


def main() -> NoReturn:
    """Run the command line of this process, and end the process with its exit code.

    The process ends without the interpreter's clean-up, which would take up to a third of the time
    of a short command. Everything that a command writes has reached the disk or was flushed.
    """
    collect_rarely()
    environ = os.environ  # noqa: TID251 (read here, and passed down)
    environ.pop(_UMASK, None)  # for the agents of the session in whose pane we may be
    put_own_first(sys.path, environ.get("PYTHONPATH", ""))
    _open_streams()
    try:
        code = dispatch(sys.argv[1:], environ)
    except KeyboardInterrupt:
        code = INTERRUPTED
    except ImportError:
        replaced = _report_other_project()
        if replaced is None:
            raise
        code = replaced
    finally:
        _flush_streams()
        scratch = sys.modules.get("agentmux.adapters.disk.scratch")
        if scratch is not None:  # else nobody has made such a folder
            scratch.delete_scratch_folders()
    os._exit(code)


def _report_other_project() -> int | None:
    """Say whose files are among ours, and return the exit code; return None if all are ours."""
    from agentmux.adapters.system.python.distributions import require_own_package
    from agentmux.cli import render
    from agentmux.errors import AgentmuxError

    try:
        require_own_package()
    except AgentmuxError as error:
        return render.error(error)
    return None


def _open_streams() -> None:
    """Open the null device for each standard stream that was closed when the program began."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115 (stays open)


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

            collect_often()
            return run_orchestrator(argv[1:], environ)
        case ["_complete"]:
            from agentmux.cli.fast.completion import main as run_completion

            return run_completion(argv[1:], environ)
        case ["mcp"] if len(argv) == 1:
            from agentmux.mcp.server import main as run_mcp

            collect_often()
            return run_mcp(environ)
        case _:
            from agentmux.cli.main import main as run_cli

            return run_cli(argv, environ)


if __name__ == "__main__":
    main()
