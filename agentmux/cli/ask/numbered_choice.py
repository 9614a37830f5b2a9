"""Asks a question with a list of answers; the person types the number or the name of one."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from agentmux.cli import render

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

T = TypeVar("T")


def ask_one(ask: Callable[[str], str], text: str, answers: Mapping[str, T], usual: str) -> T:
    """Ask until a person types the number, from 1, or the name of an answer; return its value.

    Args:
        ask: Shows a text and returns the line that the person then typed.
        text: The question and the list of answers, shown once; ends with a line break.
        answers: The values of the answers by their names (lower case), in the order of the list.
        usual: The name of the answer that an empty line chooses.
    """
    numbered = {str(number): each for number, each in enumerate(answers.values(), start=1)}
    while True:
        typed = ask(f"{text}Number or name [{usual}]: ").lower()
        text = ""
        chosen = {**numbered, **answers}.get(typed or usual)
        if chosen is not None:
            return chosen
        render.note(f"`{typed}` is not in the list")
