"""The keys with which a person answers an agent's question, as typed on the command line."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from agentmux.core.names.words.nearest import is_mistyped, suggest_name
from agentmux.errors import UsageError

TEXT: Final = "text:"
"""The beginning of a key that stands for a text, which is typed as it is."""

TEXT_MAX: Final = 1000

NAMES: Final = (
    *("Enter", "Up", "Down", "Left", "Right", "Escape", "Tab", "BTab", "Space", "BSpace"),
    *("PageUp", "PageDown", "Home", "End"),
)
"""The names of keys that are accepted; they are tmux's. ``C-a`` to ``C-z`` are accepted, too."""

_SPELLINGS: Final = {
    **{each.casefold(): each for each in NAMES},
    "esc": "Escape",
    "return": "Enter",
    "backspace": "BSpace",
    "s-tab": "BTab",
}
_CONTROL: Final = re.compile(r"[Cc]-([a-z])")
_NO_KEY: Final = re.compile(r"[CcMmSs]-.+")
_HINT: Final = f"keys: {', '.join(NAMES)}, C-a to C-z; for a text: --literal"


def read_keys(words: Iterable[str], *, literal: bool = False) -> tuple[str, ...]:
    """Return the keys that a person has typed as words of a command line.

    A key is one of tmux's names, or `TEXT` with the text behind it. A word is the name of a key in
    any case; another one is a text, unless it looks like a mistyped name.

    Args:
        words: At least one.
        literal: No word is the name of a key.

    Raises:
        UsageError: There is no word, or one that is neither a key nor a text.
    """
    keys = tuple(_text(word) if literal else _key(word) for word in words)
    if not keys:
        raise UsageError("which keys answer it?", hints=(_HINT,))
    return keys


def is_key(word: str) -> bool:
    """Whether a word is the name of a key, or one character."""
    return len(word) == 1 or word.casefold() in _SPELLINGS or bool(_CONTROL.fullmatch(word))


def shown_keys(keys: Iterable[str]) -> str:
    """Return keys in words, for people."""
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
