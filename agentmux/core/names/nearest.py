"""The name that a mistyped one probably means: a command, agent, role, session or key."""

from __future__ import annotations

from collections.abc import Iterable, Mapping


def nearest(word: str, known: Iterable[str]) -> tuple[str, ...]:
    """Return the names that were probably meant: at most one, or all that begin with the word.

    For ``reviewer`` these are ``reviewer_logic``, ``reviewer_quality`` and ``reviewer_expert``.
    """
    names = tuple(known)
    begun = tuple(each for each in names if each.startswith((f"{word}_", f"{word}-")))
    if word and begun:
        return begun
    from difflib import get_close_matches  # noqa: PLC0415 (slow to import, only needed after a mistake)

    folded = {each.casefold(): each for each in reversed(names)}
    return tuple(folded[each] for each in get_close_matches(word.casefold(), folded, n=1))


def meant(word: str, known: Iterable[str]) -> tuple[str, ...]:
    """Return the hint ``did you mean …?``; empty where no known name is close."""
    close = [f"`{each}`" for each in nearest(word, known)]
    if not close:
        return ()
    *most, last = close
    words = f"{', '.join(most)} or {last}" if most else last
    return (f"did you mean {words}?",)


def suggestion(word: str, known: Iterable[str]) -> str:
    """Return ``; did you mean …?`` for the end of a message; empty where no known name is close."""
    return "".join(f"; {hint}" for hint in meant(word, known))


def nearest_of(word: str, spellings: Mapping[str, Iterable[str]]) -> tuple[str, ...]:
    """Return the names of which a spelling is close to ``word``."""
    every = {each for own in spellings.values() for each in own}
    close = frozenset(nearest(word, sorted(every)))
    return tuple(name for name, own in spellings.items() if close.intersection(own))
