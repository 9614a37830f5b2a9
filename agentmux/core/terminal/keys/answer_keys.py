"""Parses the keys that answer an agent's question, as users type them on the command line."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from typing import Final

from agentmux.core.names.words.nearest import is_mistyped, suggest_name
from agentmux.errors import UsageError

TEXT: Final = "text:"
"""The prefix of a key that stands for a text, which is typed literally."""

TEXT_MAX: Final = 1000

NAMES: Final = (
    *("Enter", "Up", "Down", "Left", "Right", "Escape", "Tab", "BTab", "Space", "BSpace"),
    *("PageUp", "PageDown", "Home", "End"),
)
"""The accepted names of keys, which are tmux's. ``C-a`` to ``C-z`` are accepted, too."""

_SPELLINGS: Final = {
    **{each.casefold(): each for each in NAMES},
    "esc": "Escape",
    "return": "Enter",
    "backspace": "BSpace",
    "s-tab": "BTab",
}
_MOVES: Final = frozenset(
    ("Up", "Down", "Left", "Right", "Tab", "BTab", "PageUp", "PageDown", "Home", "End")
)
_CONTROL: Final = re.compile(r"[Cc]-([a-z])")
_NO_KEY: Final = re.compile(r"[CcMmSs]-.+")
_HINT: Final = f"keys: {', '.join(NAMES)}, C-a to C-z; for a text: --literal"


def read_keys(words: Iterable[str], *, literal: bool = False) -> tuple[str, ...]:
    """Return the keys that the user has typed as words of a command line, in order.

    Each word gives one key of the result. The name of a key, in upper or lower case, becomes the
    name that tmux uses, such as ``Enter``; any other word becomes a text, with `TEXT` before it,
    such as ``text:yes``.

    Args:
        words: The words; at least one.
        literal: Whether all words are texts, even if they are names of keys.

    Raises:
        UsageError: There is no word; or a word looks like a mistyped name, is empty or too long, or
            contains characters that cannot be typed.
    """
    keys = tuple(_text(word) if literal else _key(word) for word in words)
    if not keys:
        raise UsageError("which keys answer it?", hints=(_HINT,))
    return keys


def only_moves(keys: Collection[str]) -> bool:
    """Whether the keys, at least one, move a mark or a cursor, and can answer nothing."""
    return bool(keys) and _MOVES.issuperset(keys)


def is_key(word: str) -> bool:
    """Whether a word is the name of a key, in upper or lower case, or a single character."""
    return len(word) == 1 or word.casefold() in _SPELLINGS or bool(_CONTROL.fullmatch(word))


def shown_keys(keys: Iterable[str]) -> str:
    """Return keys in one line for the user, with texts in backquotes: ``Down `yes` Enter``.

    ``keys`` are as `read_keys` returns them.
    """
    return " ".join(f"`{key.removeprefix(TEXT)}`" if key.startswith(TEXT) else key for key in keys)


def _key(word: str) -> str:
    if word.casefold() in _SPELLINGS:
        return _SPELLINGS[word.casefold()]
    control = _CONTROL.fullmatch(word)
    if control is not None:
        return f"C-{control[1]}"
    if _NO_KEY.fullmatch(word) or (len(word) > 2 and is_mistyped(word.casefold(), _SPELLINGS)):
        raise UsageError(
            f"`{word}` is not the name of a key", hints=(*suggest_name(word, NAMES), _HINT)
        )
    return _text(word)


def _text(word: str) -> str:
    if not word:
        raise UsageError("a key must not be empty", hints=(_HINT,))
    if not word.isprintable():
        raise UsageError(f"{word!r} has characters that cannot be typed", hints=(_HINT,))
    if len(word) > TEXT_MAX:
        raise UsageError(f"a text among the keys is longer than {TEXT_MAX} characters")
    return f"{TEXT}{word}"
