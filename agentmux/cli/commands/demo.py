"""The command ``agentmux demo``; the package `agentmux.demo` is imported only when it runs."""

from __future__ import annotations

from typing import Annotated

import typer

from agentmux.cli.commands.fleet.place import require_extra


def demo(
    *,
    keep: Annotated[
        bool, typer.Option("--keep", help="Keep the project afterwards, and say where it is.")
    ] = False,
    fleet: Annotated[
        bool,
        typer.Option("--fleet", help="A backlog on two workers instead, one of which is killed."),
    ] = False,
) -> int:
    """Watch the offline agent carry out a feature, through a crash and a resume.

    The demo runs in a temporary folder with its own tmux server and deletes both afterwards. It
    needs no account and no network, and changes nothing of yours. Exit code 0 means that every
    check passed: nothing was lost, and nothing was done twice.
    """
    if fleet:
        require_extra()
        from agentmux.demo.fleet.play import run as run_fleet

        return run_fleet(keep=keep)
    from agentmux.demo.play import run

    return run(keep=keep)
