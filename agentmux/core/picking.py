"""Picking one session from a list by keys: what a key does, without a terminal; pure.

A terminal's bytes become keys (`Keys`), and each key makes a new `Picker` of the one before.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from enum import Enum
from typing import Final

from agentmux.core.frozen import dataclass


class Key(Enum):
    """A key that is no character."""

    UP = "up"
    DOWN = "down"
    PAGE_UP = "page up"
    PAGE_DOWN = "page down"
    HOME = "home"
    END = "end"
    ENTER = "enter"
    ESCAPE = "escape"
    TAB = "tab"
    BACKSPACE = "backspace"
    CLEAR = "clear"
    FRESH = "fresh"
    SEARCH = "search"
    INTERRUPT = "interrupt"


Pressed = Key | str
"""A key, or one printable character."""

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
    "\x06": Key.FRESH,
    "\x0e": Key.DOWN,
    "\x10": Key.UP,
    "\x15": Key.CLEAR,
}
_ESCAPE: Final = "\x1b"
_SEQUENCE: Final = re.compile(r"\x1b(\[[0-?]*[ -/]*[@-~]|O[ -~])")
_UNFINISHED: Final = re.compile(r"\x1b(\[[0-?]*[ -/]*|O)?")
_PASTE: Final = ("[200~", "[201~")


class Keys:
    """Makes keys of what a terminal sends, however it is cut into pieces."""

    def __init__(self) -> None:
        self._decode = codecs.getincrementaldecoder("utf-8")("ignore").decode
        self._rest = ""
        self._pasting = False

    @property
    def waiting(self) -> bool:
        """Whether an escape stands alone: either the key, or more is still to come."""
        return bool(self._rest)

    def feed(self, data: bytes) -> tuple[Pressed, ...]:
        """Return the keys that are complete with these bytes."""
        text = self._rest + self._decode(data)
        self._rest = ""
        found: list[Pressed] = []
        while text:
            if text[0] == _ESCAPE and _UNFINISHED.fullmatch(text):
                self._rest = text
                break
            key, text = self._next(text)
            if key is not None:
                found.append(key)
        return tuple(found)

    def flush(self) -> tuple[Pressed, ...]:
        """Return the key that a lone escape was, since nothing followed it in time."""
        alone, self._rest = self._rest == _ESCAPE, ""
        return (Key.ESCAPE,) if alone else ()

    def _next(self, text: str) -> tuple[Pressed | None, str]:
        sequence = _SEQUENCE.match(text)
        if sequence is not None:
            return self._known(sequence[1]), text[sequence.end() :]
        char, rest = text[0], text[1:]
        if char == _ESCAPE:  # with another key: taken for both
            return Key.ESCAPE, rest
        if self._pasting:  # a line end in there is no Enter
            return (char if char.isprintable() else " "), rest
        return _CONTROLS.get(char, char if char.isprintable() else None), rest

    def _known(self, sequence: str) -> Key | None:
        if sequence in _PASTE:
            self._pasting = sequence == _PASTE[0]
            return Key.SEARCH if self._pasting else None
        return _SEQUENCES.get(sequence)


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """One line of the list.

    Attributes:
        words: What typing looks for, in lower case.
        refused: Why it cannot be taken; empty when it can.
    """

    name: str
    words: str
    refused: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Picker:
    """What a person has done so far.

    Attributes:
        choices: All of them, in their order.
        sought: What was typed; every word of it must be in a choice's ``words``.
        typing: A search was begun, so that every letter is text.
        at: The name that is selected; empty where nothing fits.
        fresh: No conversation is to come back.
        screen: Which of the selected one's screens is shown, counted round.
        page: How far a page goes.
        says: Told to the person until the next key.
        taken: The name that was chosen.
        left: Nothing is to be chosen; ``interrupted`` when by Ctrl-C.
    """

    choices: tuple[Choice, ...]
    sought: str = ""
    typing: bool = False
    at: str = ""
    fresh: bool = False
    screen: int = 0
    page: int = 5
    says: str = ""
    taken: str | None = None
    left: bool = False
    interrupted: bool = False

    @property
    def found(self) -> tuple[Choice, ...]:
        """The choices that fit what was typed."""
        words = self.sought.lower().split()
        return tuple(each for each in self.choices if all(word in each.words for word in words))

    @property
    def place(self) -> int:
        """Where the selected one is among those found; 0 where nothing is."""
        names = [each.name for each in self.found]
        return names.index(self.at) if self.at in names else 0

    @property
    def is_over(self) -> bool:
        """Whether the person has decided."""
        return self.left or self.taken is not None


def begin(choices: Sequence[Choice], *, fresh: bool = False) -> Picker:
    """Return a picker at the first choice that can be taken; where none can, at the first."""
    free = (each.name for each in choices if not each.refused)
    return _settled(Picker(choices=tuple(choices), fresh=fresh, at=next(free, "")))


def press(picker: Picker, key: Pressed) -> Picker:
    """Return what ``key`` makes of the picker; one that is over stays as it is."""
    if picker.is_over:
        return picker
    picker = replace(picker, says="")
    if isinstance(key, str):
        return _typed(picker, key)
    return _KEYS[key](picker)


def refuse(picker: Picker, reasons: Mapping[str, str]) -> Picker:
    """Note which of the choices cannot be taken, and why (by name)."""
    choices = tuple(
        replace(each, refused=reasons.get(each.name, each.refused)) for each in picker.choices
    )
    return replace(picker, choices=choices)


def _typed(picker: Picker, char: str) -> Picker:
    if not picker.typing and char in _LETTERS:
        return _KEYS[_LETTERS[char]](picker)
    if char == " " and not picker.sought:
        return picker
    return _settled(replace(picker, sought=picker.sought + char, typing=True))


def _settled(picker: Picker) -> Picker:
    """Select the first one found where the selected one is not among them."""
    found = picker.found
    if any(each.name == picker.at for each in found):
        return picker
    return replace(picker, at=found[0].name if found else "", screen=0)


def _moved(picker: Picker, steps: int) -> Picker:
    found = picker.found
    if not found:
        return picker
    place = min(max(picker.place + steps, 0), len(found) - 1)
    name = found[place].name
    return replace(picker, at=name, screen=picker.screen if name == picker.at else 0)


def _entered(picker: Picker) -> Picker:
    chosen = next((each for each in picker.found if each.name == picker.at), None)
    if chosen is None:
        return replace(picker, says="nothing fits what you typed")
    if chosen.refused:
        return replace(picker, says=chosen.refused)
    return replace(picker, taken=chosen.name)


def _escaped(picker: Picker) -> Picker:
    if picker.typing:
        return _cleared(picker)
    return replace(picker, left=True)


def _cleared(picker: Picker) -> Picker:
    return _settled(replace(picker, sought="", typing=False))


def _shortened(picker: Picker) -> Picker:
    sought = picker.sought[:-1]
    return _settled(replace(picker, sought=sought, typing=bool(sought)))


_KEYS: Final[Mapping[Key, Callable[[Picker], Picker]]] = {
    Key.UP: lambda picker: _moved(picker, -1),
    Key.DOWN: lambda picker: _moved(picker, 1),
    Key.PAGE_UP: lambda picker: _moved(picker, -picker.page),
    Key.PAGE_DOWN: lambda picker: _moved(picker, picker.page),
    Key.HOME: lambda picker: _moved(picker, -len(picker.choices)),
    Key.END: lambda picker: _moved(picker, len(picker.choices)),
    Key.ENTER: _entered,
    Key.ESCAPE: _escaped,
    Key.TAB: lambda picker: replace(picker, screen=picker.screen + 1),
    Key.BACKSPACE: _shortened,
    Key.CLEAR: _cleared,
    Key.FRESH: lambda picker: replace(picker, fresh=not picker.fresh),
    Key.SEARCH: lambda picker: replace(picker, typing=True),
    Key.INTERRUPT: lambda picker: replace(picker, left=True, interrupted=True),
}
_LETTERS: Final[Mapping[str, Key]] = {
    "j": Key.DOWN,
    "k": Key.UP,
    "f": Key.FRESH,
    "/": Key.SEARCH,
}
"""What these are while nothing was typed; after ``/`` they are text like any other."""
