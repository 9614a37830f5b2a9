"""The command ``agentmux demo``; the package `agentmux.demo` is imported only when it runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from agentmux.cli.commands.fleet.place import require_extra

if TYPE_CHECKING:
    from agentmux.cli.invocation import Invocation


def demo(
    ctx: typer.Context,
    *,
    auto: Annotated[
        bool,
        typer.Option("--auto", help="Decide by itself, and prove that nothing was lost."),
    ] = False,
    keep: Annotated[
        bool, typer.Option("--keep", help="Keep the project afterwards, and say where it is.")
    ] = False,
    fleet: Annotated[
        bool,
        typer.Option("--fleet", help="A backlog on two workers instead, one of which is killed."),
    ] = False,
) -> int:
    """Watch the offline agent carry out a feature, through a crash and a resume.

    In a terminal you see its agents at work, resume it and decide on it in the desk. With --auto,
    or without a terminal, the demo decides by itself; exit code 0 then means that every check
    passed: nothing was lost, and nothing was done twice.

    It runs in a temporary folder with its own tmux server and deletes both afterwards. It needs no
    account and no network, and changes nothing of yours.
    """
    invocation: Invocation = ctx.obj
    if fleet:
        require_extra()
        from agentmux.demo.fleet.play import run as run_fleet

        return run_fleet(keep=keep)
    if invocation.interactive and invocation.on_screen and not auto:
        from agentmux.demo.tour import run as run_tour

        return run_tour(keep=keep)
    from agentmux.demo.play import run

    return run(keep=keep)
