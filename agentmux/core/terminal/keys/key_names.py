"""The names of keys as the table of keys has them, and as users write them in a configuration."""

from __future__ import annotations

import string
from itertools import chain
from typing import Final

_LABELS: Final = {
    "down": "\u2193", "up": "\u2191", "left": "\u2190", "right": "\u2192",
    "pagedown": "PgDn", "pageup": "PgUp", "delete": "Del", "insert": "Ins", "escape": "Esc",
}  # fmt: skip
_MOVES: Final = ("up", "down", "left", "right", "home", "end", "tab")
_OTHERS: Final = ("enter", "space", "pageup", "pagedown", "insert", "delete", "backspace")
_SAME: Final = "him"
"""The letters that are other keys together with Ctrl: Backspace, Tab and Enter."""

KEY_NAMES: Final = tuple(
    chain(
        _MOVES,
        _OTHERS,
        (f"f{number}" for number in range(1, 13)),
        (f"shift+{each}" for each in _MOVES),
        (f"ctrl+{each}" for each in string.ascii_lowercase if each not in _SAME),
    )
)
"""The names of the keys that are no characters and that a user may choose."""


def show_key(key: str) -> str:
    """Return the label of a key in the help, such as ``PgDn``, ``Ctrl-P``, ``Enter`` or ``a``.

    ``key`` is a character or a name in `KEY_NAMES`, such as ``pagedown`` or ``ctrl+p``; any other
    name is only capitalized.
    """
    head, plus, last = key.rpartition("+")
    if plus and last:
        return f"{head.capitalize()}-{show_key(last).capitalize()}"
    return _LABELS.get(key, key if len(key) == 1 else key.capitalize())


_SPELLINGS: Final = {word: each for each in KEY_NAMES for word in (each, show_key(each).casefold())}


def parse_key(word: str) -> str:
    """Return the name of the key that a user has written; empty if there is no such key.

    ``word`` may be a name in `KEY_NAMES`, such as ``pagedown``, or its label (`show_key`), in upper
    or lower case. A single printable character other than a space is returned unchanged.
    """
    is_character = len(word) == 1 and word.isprintable() and word != " "
    return _SPELLINGS.get(word.casefold(), word if is_character else "")
