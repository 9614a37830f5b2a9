"""Suggests the name that a mistyped name of a command, agent, role, session or key means."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

_MISTYPED: Final = 0.85
"""The similarity (`difflib`) from which a word counts as mistyped.

``coderr`` and ``reviewer_logik`` are above it; ``reviewer_security`` and ``writer`` are below.
"""


def nearest(word: str, known: Iterable[str]) -> tuple[str, ...]:
    """Return the ``known`` names that ``word`` probably means; empty if no name is close.

    These are all names that continue the word after ``_`` or ``-``, as ``reviewer_logic`` and
    ``reviewer_quality`` continue ``reviewer``. If there are none, it is the most similar name.
    """
    names = tuple(known)
    begun = tuple(each for each in names if each.startswith((f"{word}_", f"{word}-")))
    if word and begun:
        return begun
    from difflib import get_close_matches

    folded = {each.casefold(): each for each in reversed(names)}
    return tuple(folded[each] for each in get_close_matches(word.casefold(), folded, n=1))


def is_mistyped(word: str, known: Iterable[str]) -> bool:
    """Whether a word is so similar to a known name that the user probably meant that name.

    True, too, for a word that is itself a known name. `nearest` accepts less similar names.
    """
    from difflib import get_close_matches

    return bool(get_close_matches(word.casefold(), known, n=1, cutoff=_MISTYPED))


def suggest_name(word: str, known: Iterable[str]) -> tuple[str, ...]:
    """Return the hint ``did you mean …?`` for an error's ``hints``: a tuple of one text.

    The tuple is empty if no known name is close. ``word`` is what the user typed. The hint names
    every name that `nearest` returns.
    """
    close = [f"`{each}`" for each in nearest(word, known)]
    if not close:
        return ()
    *most, last = close
    words = f"{', '.join(most)} or {last}" if most else last
    return (f"did you mean {words}?",)


def suggestion(word: str, known: Iterable[str]) -> str:
    """Return the hint of `suggest_name` as one text, for the end of a message.

    It has the form ``; did you mean …?``. Empty if no known name is close.
    """
    return "".join(f"; {hint}" for hint in suggest_name(word, known))


def nearest_of(word: str, spellings: Mapping[str, Iterable[str]]) -> tuple[str, ...]:
    """Return the names that ``word`` probably means, where a name can be written in several ways.

    Empty if no spelling is close; see `nearest`.

    Args:
        word: The word that the user typed.
        spellings: Maps each name to all its spellings.
    """
    every = {each for own in spellings.values() for each in own}
    close = frozenset(nearest(word, sorted(every)))
    return tuple(name for name, own in spellings.items() if close.intersection(own))
