"""Decodes the bytes that a terminal sends into keys. Pure."""

from __future__ import annotations

import codecs
import re
from collections.abc import Mapping
from enum import Enum
from typing import Final


class Key(Enum):
    """A key that does not type a character, by its name in `key_table`, or the start of a paste."""

    UP = "up"
    DOWN = "down"
    PAGE_UP = "pageup"
    PAGE_DOWN = "pagedown"
    HOME = "home"
    END = "end"
    ENTER = "enter"
    ESCAPE = "escape"
    TAB = "tab"
    BACKSPACE = "backspace"
    CLEAR = "ctrl+u"
    CTRL_F = "ctrl+f"
    INTERRUPT = "ctrl+c"
    PASTE = "paste"
    """The start of a paste; the keys of the pasted text follow, with spaces for its line ends."""


Pressed = Key | str
"""A pressed key: a `Key`, or one printable character."""

# xterm's sequences, with those of the keypad mode and of the Linux console.
_SEQUENCES: Final[Mapping[str, Key]] = {
    "[A": Key.UP,
    "OA": Key.UP,
    "[B": Key.DOWN,
    "OB": Key.DOWN,
    "[5~": Key.PAGE_UP,
    "[6~": Key.PAGE_DOWN,
    "[H": Key.HOME,
    "OH": Key.HOME,
    "[1~": Key.HOME,
    "[F": Key.END,
    "OF": Key.END,
    "[4~": Key.END,
}
_CONTROLS: Final[Mapping[str, Key]] = {
    "\r": Key.ENTER,
    "\n": Key.ENTER,
    "\t": Key.TAB,
    "\x7f": Key.BACKSPACE,
    "\x08": Key.BACKSPACE,
    "\x03": Key.INTERRUPT,
    "\x06": Key.CTRL_F,
    "\x0e": Key.DOWN,
    "\x10": Key.UP,
    "\x15": Key.CLEAR,
}
_ESCAPE: Final = "\x1b"
_SEQUENCE: Final = re.compile(r"\x1b(\[[0-?]*[ -/]*[@-~]|O[ -~])")
_UNFINISHED: Final = re.compile(r"\x1b(\[[0-?]*[ -/]*|O)?")
_PASTE: Final = ("[200~", "[201~")


class Keys:
    """A decoder that turns the bytes from a terminal into keys.

    The bytes of a key may arrive in several pieces. If `waiting` is true and no more bytes follow,
    call `flush`.
    """

    def __init__(self) -> None:
        self._decode = codecs.getincrementaldecoder("utf-8")("ignore").decode
        self._rest = ""
        self._pasting = False

    @property
    def waiting(self) -> bool:
        """Whether an escape has arrived that may be the Escape key or the start of another key."""
        return bool(self._rest)

    def feed(self, data: bytes) -> tuple[Pressed, ...]:
        """Return the keys that ``data``, the next bytes from the terminal, has completed.

        Empty if it completes none. Bytes that mean no known key are dropped.
        """
        text = self._rest + self._decode(data)
        self._rest = ""
        keys: list[Pressed] = []
        while text:
            if text[0] == _ESCAPE and _UNFINISHED.fullmatch(text):
                self._rest = text
                break
            key, text = self._next(text)
            if key is not None:
                keys.append(key)
        return tuple(keys)

    def flush(self) -> tuple[Pressed, ...]:
        """End an unfinished key: return the Escape key if only an escape has arrived, else no key.

        Call it when no more bytes follow. The bytes of the unfinished key are dropped.
        """
        alone, self._rest = self._rest == _ESCAPE, ""
        return (Key.ESCAPE,) if alone else ()

    def _next(self, text: str) -> tuple[Pressed | None, str]:
        sequence = _SEQUENCE.match(text)
        if sequence is not None:
            return self._read_sequence(sequence[1]), text[sequence.end() :]
        char, rest = text[0], text[1:]
        if char == _ESCAPE:  # Escape, then another key
            return Key.ESCAPE, rest
        if self._pasting:  # a line end in a paste is not Enter
            return (char if char.isprintable() else " "), rest
        return _CONTROLS.get(char, char if char.isprintable() else None), rest

    def _read_sequence(self, sequence: str) -> Key | None:
        if sequence in _PASTE:
            self._pasting = sequence == _PASTE[0]
            return Key.PASTE if self._pasting else None
        return _SEQUENCES.get(sequence)
