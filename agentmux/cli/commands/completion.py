"""``agentmux completion``: prints or installs what makes a shell complete our command lines."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Final

import typer

from agentmux.adapters.disk import files
from agentmux.cli import render
from agentmux.cli.fast.commands import PLACE, SHELLS
from agentmux.wiring import machine


class Shell(StrEnum):
    """A shell that has completion; each member's value is the name of its program."""

    BASH = "bash"
    ZSH = "zsh"
    FISH = "fish"


def completion(
    ctx: typer.Context,
    shell: Annotated[Shell, typer.Argument(help="The shell that you use.")],
    *,
    install: Annotated[
        bool, typer.Option("--install", help="Write the script where the shell looks for it.")
    ] = False,
) -> int:
    """Print the script that completes commands, options and names on Tab.

    The script completes commands, options, sessions, seats, phases, agents and pipelines. With
    --install, the script is written into a folder of yours from which the shell loads it. Your
    .bashrc, .zshrc or config.fish stay as they are. If something is left for you to do, the command
    names it at the end.
    """
    script = Path(PLACE, SHELLS[shell])
    if not install:
        render.out(script.read_text(encoding="utf-8").rstrip("\n"), verbatim=True)
        return 0
    target = _target(shell, ctx.obj.environ)
    files.make_dir(target.parent)
    files.replace(target, script.read_bytes(), mode=0o644)
    render.out(f"written: {target}")
    render.note(_NEXT[shell].format(folder=target.parent))
    return 0


_NEXT: Final = {
    Shell.BASH: "it works in new shells if the package bash-completion is installed and loaded;"
    ' if it does not, add this to ~/.bashrc:\n  eval "$(agentmux completion bash)"',
    Shell.ZSH: "add these lines to ~/.zshrc, unless they are there, and begin a new shell:\n"
    "  fpath=({folder} $fpath)\n  autoload -Uz compinit && compinit",
    Shell.FISH: "it works in new shells",
}


def _target(shell: Shell, environ: dict[str, str]) -> Path:
    """Return the file from which the user's own shell loads the completion."""
    data = machine.data_home(environ)
    if shell is Shell.BASH:
        named = environ.get("BASH_COMPLETION_USER_DIR", "")
        folder = Path(named) if named.startswith("/") else data / "bash-completion"
        return folder / "completions" / "agentmux"
    if shell is Shell.FISH:
        return machine.config_dir(environ).parent / "fish" / "completions" / SHELLS[shell]
    return data / "agentmux" / "zsh" / SHELLS[shell]
