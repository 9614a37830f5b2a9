"""`agentmux demo`: the command alone; what it plays is loaded when it is called."""

from __future__ import annotations

from typing import Annotated

import typer


def demo(
    *,
    keep: Annotated[
        bool, typer.Option("--keep", help="Leave the project for a look; says where it lies.")
    ] = False,
) -> int:
    """Watch a feature of the offline agent go through a crash and a resume.

    Everything happens in a temporary folder with a tmux server of its own, and is taken away
    afterwards. No account, no network; nothing of yours is touched. Exit code 0 says that every
    promise was checked and held.
    """
    from agentmux.demo.play import run  # noqa: PLC0415 (no other command needs it)

    return run(keep=keep)
