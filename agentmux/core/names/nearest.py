"""What a mistyped name probably means: one rule for commands, agents, roles, sessions and keys."""

from __future__ import annotations

from collections.abc import Iterable, Mapping


def nearest(word: str, known: Iterable[str]) -> tuple[str, ...]:
    """Return the name that was probably meant; nothing where none is close.

    Several where the word is how all of them begin (``reviewer`` of ``reviewer_logic``, …).
    """
    names = tuple(known)
    begun = tuple(each for each in names if each.startswith((f"{word}_", f"{word}-")))
    if word and begun:
        return begun
    from difflib import get_close_matches  # noqa: PLC0415 (only paid for when there is a mistake)

    folded = {each.casefold(): each for each in reversed(names)}
    return tuple(folded[each] for each in get_close_matches(word.casefold(), folded, n=1))


def meant(word: str, known: Iterable[str]) -> tuple[str, ...]:
    """Return the hint that asks for the nearest name; none where nothing is close."""
    close = [f"`{each}`" for each in nearest(word, known)]
    if not close:
        return ()
    *most, last = close
    words = f"{', '.join(most)} or {last}" if most else last
    return (f"did you mean {words}?",)


def nearest_of(word: str, spellings: Mapping[str, Iterable[str]]) -> tuple[str, ...]:
    """Return the names that go by something close to ``word``, by each name's spellings."""
    every = {each for own in spellings.values() for each in own}
    close = frozenset(nearest(word, sorted(every)))
    return tuple(name for name, own in spellings.items() if close.intersection(own))
