"""The search in lists of sessions, for every user interface. Pure."""

from __future__ import annotations


def matches(sought: str, text: str) -> bool:
    """Return whether a text matches each word of a search, in any order; case is ignored.

    A word matches anywhere in the text. It also matches a word of the text that begins with the
    same letter and contains its other letters in order: ``adauth`` matches ``add-auth``.

    Args:
        sought: The words of the search, separated by spaces; empty matches every text.
        text: The text to search in.
    """
    text = text.lower()
    words = text.split()
    return all(
        word in text or any(_shortens(word, each) for each in words)
        for word in sought.lower().split()
    )


def _shortens(short: str, word: str) -> bool:
    if short[:1] != word[:1]:
        return False
    rest = iter(word)
    return all(letter in rest for letter in short)
