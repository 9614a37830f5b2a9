"""Asks a question that a person answers with yes or no."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from agentmux.cli import render

if TYPE_CHECKING:
    from collections.abc import Callable

_ANSWERS: Final = {"y": True, "yes": True, "n": False, "no": False}


def ask_yes(
    ask: Callable[[str], str], question: str, *, usual: bool = True, before: str = ""
) -> bool:
    """Ask until a person types yes, no or an empty line; return True for yes.

    Args:
        ask: Shows a text and returns the line that the person then typed.
        question: The question, in one line.
        usual: The result for an empty line.
        before: A text to show above the question, once; ends with a line break, unless empty.
    """
    prompt = f"{question} {'[Y/n]' if usual else '[y/N]'}: "
    while True:
        typed = ask(f"{before}{prompt}").lower()
        before = ""
        if not typed:
            return usual
        if typed in _ANSWERS:
            return _ANSWERS[typed]
        render.note(f"`{typed}` is neither yes nor no")
