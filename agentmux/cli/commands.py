"""The commands by name. Each one parses, calls one operation and renders what that returned.

A new command is a function in the module of its theme and a line in the table below.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Annotated, Any, Final

import typer

from agentmux.cli import (
    agents,
    deciding,
    demo,
    housekeeping,
    looking,
    render,
    resuming,
    show,
    starting,
)
from agentmux.cli.wiring import version

app: Final = typer.Typer(
    name="agentmux",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)

_HELP: Final = """Run a feature through a pipeline of coding agents in tmux, and resume it

The global options may stand anywhere on the command line.
"""

_COMMANDS: Final[dict[str, Callable[..., Any]]] = {
    "list": looking.list_,
    "status": looking.status,
    "show": show.show,
    "logs": looking.logs,
    "attach": looking.attach,
    "wait": looking.wait,
    "start": starting.start_feature,
    "resume": resuming.resume_session,
    "stop": resuming.stop_session,
    "restart": resuming.restart_seat,
    "approve": deciding.approve,
    "request-changes": deciding.request_changes,
    "remove": housekeeping.remove,
    "init": housekeeping.init,
    "demo": demo.demo,
    "version": housekeeping.show_version,
}


@app.callback(invoke_without_command=True, help=_HELP)
def options(
    ctx: typer.Context,
    project: Annotated[  # noqa: ARG001 (taken by `face_of`, shown in the help)
        str | None,
        typer.Option("--project", metavar="DIR", help="The project, instead of where you are."),
    ] = None,
    config: Annotated[  # noqa: ARG001
        str | None,
        typer.Option("--config", metavar="FILE", help="A configuration over that of the project."),
    ] = None,
    verbose: Annotated[  # noqa: ARG001
        bool, typer.Option("--verbose", "-v", help="Show the log, and where bugs come from.")
    ] = False,
    show_version: Annotated[bool, typer.Option("--version", help="Show the version.")] = False,
) -> None:
    """Show the help where no command is given."""
    if show_version:
        render.out(version())
        raise typer.Exit
    if ctx.invoked_subcommand is None:
        render.out(ctx.get_help())


def _help(function: Callable[..., Any]) -> str:
    """Return the docstring as a help text: there the first line has no full stop."""
    first, *rest = inspect.cleandoc(function.__doc__ or "").split("\n")
    return "\n".join([first.removesuffix("."), *rest])


for _name, _function in _COMMANDS.items():
    app.command(_name, help=_help(_function))(_function)

app.add_typer(agents.app, name="agents", help=_help(agents.agents))
