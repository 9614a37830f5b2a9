"""The search of all lists of sessions; pure."""

from __future__ import annotations


def matches(sought: str, text: str) -> bool:
    """Return whether a text has each word that is sought, in any order; case does not matter.

    A word is found as it stands, or with letters left out of one word of the text after its first:
    ``adauth`` finds ``add-auth``.
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
