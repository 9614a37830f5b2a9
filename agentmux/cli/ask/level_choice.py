"""Asks how much an agent may do without asking: nothing, edits, or everything."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Final

from agentmux.cli import render
from agentmux.cli.ask.numbered_choice import ask_one
from agentmux.core.codec.frozen import dataclass
from agentmux.core.terminal.text.text_width import wrap

if TYPE_CHECKING:
    from collections.abc import Callable

    from agentmux.core.agents.spec import AgentSpec

ASK: Final = "ask"
EDITS: Final = "edits"
EVERYTHING: Final = "everything"
"""The names of the levels, from the lowest to the highest."""

_INDENT: Final = " " * 7


@dataclass(frozen=True, slots=True, kw_only=True)
class PermissionLevel:
    """A level of permission: how much an agent may do without asking.

    Attributes:
        name: The word that a person types to choose the level.
        says: What the level means, in one sentence.
        args: The ``permission_args`` for the configuration; empty if the agent decides by its own
            rules when to ask.
    """

    name: str
    says: str
    args: tuple[str, ...] = ()


def levels_of(spec: AgentSpec) -> tuple[PermissionLevel, ...]:
    """Return the levels that can be chosen for an agent; the first is `ASK`, the lowest."""
    levels = [PermissionLevel(name=ASK, says="asks before it acts, and waits until you answer")]
    if spec.edit_args:
        says = "edits files, hands in its work; asks before it goes further"
        levels.append(PermissionLevel(name=EDITS, says=says, args=spec.edit_args))
    if spec.unattended_args:
        says = "runs any command, with your rights, and never asks"
        levels.append(PermissionLevel(name=EVERYTHING, says=says, args=spec.unattended_args))
    return tuple(levels)


def ask_level(spec: AgentSpec, ask: Callable[[str], str]) -> PermissionLevel | None:
    """Ask a person how much the agent may do without asking; writes nothing.

    Args:
        spec: The agent.
        ask: Shows a text and returns the line that the person then typed.

    Returns:
        The level. None if nothing was asked, because the agent has one level only, or because the
        configuration sets its ``permission_args`` already.
    """
    levels = levels_of(spec)
    if spec.permission_args or len(levels) == 1:
        return None
    text = "\n".join(
        [
            f"How much may {spec.name} do without asking you?",
            *menu_lines(levels, cols=render.columns()),
            "",
        ]
    )
    return ask_one(ask, text, {each.name: each for each in levels}, ASK)


def menu_lines(levels: tuple[PermissionLevel, ...], *, cols: int | None) -> list[str]:
    """Return the lines of the menu: each level, followed by the arguments that it sets.

    Args:
        levels: The levels.
        cols: The width of the terminal, to which the arguments are wrapped; None does not wrap.
    """
    rows = [(f"  {number}", each.name, each.says) for number, each in enumerate(levels, start=1)]
    lines = []
    for line, each in zip(render.table(rows), levels, strict=True):
        lines += [line, *(_arguments(each.args, cols) if each.args else ())]
    return lines


def _arguments(args: tuple[str, ...], cols: int | None) -> list[str]:
    text = f"with {shlex.join(args)}"
    broken = wrap(text, cols - len(_INDENT), len(text)) if cols else (text,)
    return [_INDENT + line for line in broken]
