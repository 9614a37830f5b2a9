"""Decodes the bytes of a terminal into keys. Pure: the caller reads the bytes."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum, auto
from typing import Final, NamedTuple


class KeyPress(Enum):
    """A key that types no character: Enter, Backspace, Escape, up, down, or Ctrl with C, D or U."""

    ENTER = auto()
    BACKSPACE = auto()
    ESCAPE = auto()
    UP = auto()
    DOWN = auto()
    CTRL_C = auto()
    CTRL_D = auto()
    CTRL_U = auto()


class Typed(NamedTuple):
    """Typed text: one or more printable characters."""

    text: str


class Pasted(NamedTuple):
    """Pasted text (bracketed paste), with a newline between lines."""

    text: str


_PASTE_START: Final = b"\x1b[200~"
_PASTE_END: Final = b"\x1b[201~"
_SEQUENCES: Final = {
    b"\x1b[A": KeyPress.UP,
    b"\x1bOA": KeyPress.UP,
    b"\x1b[B": KeyPress.DOWN,
    b"\x1bOB": KeyPress.DOWN,
}
_CONTROLS: Final = {
    0x03: KeyPress.CTRL_C,
    0x04: KeyPress.CTRL_D,
    0x08: KeyPress.BACKSPACE,
    0x0D: KeyPress.ENTER,
    0x0A: KeyPress.ENTER,
    0x15: KeyPress.CTRL_U,
    0x7F: KeyPress.BACKSPACE,
}


class KeyDecoder:
    """Decodes bytes into keys; keeps the bytes of an incomplete key for the next call."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, data: bytes) -> Iterator[KeyPress | Typed | Pasted]:
        """Yield the keys in ``data``, in order, starting with bytes kept from earlier calls.

        Nothing is yielded for keys that the program does not know. ``data`` is taken when the
        iterator is read, so read it to its end.
        """
        self._rest += data
        while self._rest:
            key, used = self._next(self._rest)
            if not used:
                return
            self._rest = self._rest[used:]
            if key is not None:
                yield key

    def _next(self, data: bytes) -> tuple[KeyPress | Typed | Pasted | None, int]:
        if data[0] == 0x1B:
            return self._escape(data)
        if data[0] < 0x20 or data[0] == 0x7F:
            return _CONTROLS.get(data[0]), 1
        end = next((at for at, byte in enumerate(data) if byte < 0x20 or byte == 0x7F), len(data))
        complete = _complete_utf8(data[:end]) if end == len(data) else end
        text = data[:complete].decode("utf-8", "replace")
        return (Typed(text) if text else None), complete

    def _escape(self, data: bytes) -> tuple[KeyPress | Typed | Pasted | None, int]:
        if data.startswith(_PASTE_START):
            end = data.find(_PASTE_END)
            if end < 0:
                return None, 0
            text = data[len(_PASTE_START) : end].decode("utf-8", "replace")
            return Pasted(text.replace("\r\n", "\n").replace("\r", "\n")), end + len(_PASTE_END)
        if data[1:2] not in {b"[", b"O"}:
            return KeyPress.ESCAPE, 1
        for at in range(2, len(data)):
            if 0x40 <= data[at] <= 0x7E:
                return _SEQUENCES.get(data[: at + 1]), at + 1
        return None, 0


def _complete_utf8(data: bytes) -> int:
    """Return how many bytes of ``data`` are complete characters; the rest is an incomplete one."""
    for back in range(1, min(4, len(data)) + 1):
        byte = data[-back]
        if byte & 0xC0 == 0xC0:
            need = 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
            return len(data) if back >= need else len(data) - back
        if byte < 0x80:
            break
    return len(data)
