"""A question with a list of answers, of which a person types the number or the name."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from agentmux.cli import render

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

T = TypeVar("T")


def ask_one(ask: Callable[[str], str], text: str, answers: Mapping[str, T], usual: str) -> T:
    """Ask until a person types one of the answers: its number, from 1, or its name.

    Args:
        ask: Shows a text and returns the line that a person then typed.
        text: The question and the list, which are shown once.
        answers: By name, in the order of the list.
        usual: The name of the answer that an empty line means.
    """
    numbered = {str(number): each for number, each in enumerate(answers.values(), start=1)}
    while True:
        typed = ask(f"{text}Number or name [{usual}]: ").lower()
        text = ""
        chosen = {**numbered, **answers}.get(typed or usual)
        if chosen is not None:
            return chosen
        render.note(f"`{typed}` is not in the list")
