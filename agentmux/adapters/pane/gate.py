"""The menu of a stopped pane, shown over the agent's last screen, which is dimmed.

A stopped pane is one whose agent starts only after the user has chosen. The program in every
agent's pane (`wrapper`) imports this module only for a stopped pane. It imports nothing but the
standard library and agentmux, because that program runs under ``python -IS``. The choices come from
the launch file; see docs/reference/session-files.md.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import termios
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from agentmux.adapters.system import terminal
from agentmux.core.terminal.keys.keys import Key, Keys, Pressed
from agentmux.core.terminal.text import sequences, text_width
from agentmux.core.terminal.text.captured_screen import SNAPSHOT_MAX, paint, snapshot_screen
from agentmux.core.terminal.text.text_width import cell_width, clean

_ENTER: Final = sequences.ALTERNATE_ON + sequences.CURSOR_OFF + sequences.WRAP_OFF
# The screen and the history are empty afterwards.
_LEAVE: Final = (
    sequences.PLAIN + sequences.CURSOR_ON + sequences.WRAP_ON + sequences.ALTERNATE_OFF
) + (sequences.HOME + sequences.ERASE + sequences.ERASE_HISTORY)

_ENDED_BY: Final = (signal.SIGHUP, signal.SIGTERM)
_STEPS: Final[Mapping[Pressed, int]] = {Key.UP: -1, "k": -1, Key.DOWN: 1, "j": 1}
_WIDEST: Final = 76
_WHY_LINES: Final = 4
_HELP: Final = "a letter, or arrows and Enter"


class GateLine(NamedTuple):
    """One line of the menu that a pane shows if its agent starts only after the user's choice.

    Attributes:
        text: The line, without control characters.
        rank: If the screen is too small, the lines with the highest rank are left out first.
        chosen: Whether the line is the choice that Enter would make.
    """

    text: str
    rank: int
    chosen: bool = False


class GateClosedError(Exception):
    """The signal HUP or TERM came before the user chose in the menu; ``number`` is its number."""

    def __init__(self, number: int) -> None:
        self.number = number
        super().__init__(number)


def hold(gate: Mapping[str, Any], commit: Callable[[str], str]) -> str:
    """Show a menu in this process's terminal until the user has chosen; return the choice's name.

    Afterwards the terminal has its former mode and an empty screen; keys typed before are dropped.

    Args:
        gate: The menu, as the field ``gate`` of ``launch.json`` has it: ``title``; ``says``, why
            the pane waits; ``snapshot``, the path of the seat's last screen, which is shown behind
            the menu; and ``choices``, which maps the name of a choice to its ``key`` (one letter),
            ``title`` and ``says``. If ``choices`` is empty, nothing can be chosen: the screen is
            shown until HUP or TERM comes.
        commit: Called with the name of the choice, to record it. It returns an empty text, or why
            that failed: that is then shown, and the user can choose again.

    Raises:
        GateClosedError: HUP or TERM came before the user chose.
    """
    return _Gate(gate, commit).run()


class _Gate:
    def __init__(self, gate: Mapping[str, Any], commit: Callable[[str], str]) -> None:
        self._gate = gate
        self._commit = commit
        self._names = list(gate["choices"])
        self._at = 0
        self._problem = ""
        self._screen = _last_screen(str(gate.get("snapshot") or ""))
        self._signals = -1
        self._keys = Keys()

    def run(self) -> str:
        self._signals = _hear()
        try:
            before = terminal.mode(0)
            terminal.make_raw(0, drops_typed=True)
        except termios.error:
            raise GateClosedError(signal.SIGHUP) from None
        try:
            _write(_ENTER)
            return self._wait()
        finally:
            _write(_LEAVE)
            terminal.restore(0, before, drops_typed=True)
            self._hand_signals_back()

    def _wait(self) -> str:
        self._paint()
        while True:
            ready = select.select([0, self._signals], [], [])[0]
            if self._signals in ready:
                self._on_signals(os.read(self._signals, 64))
            for key in self._keys.feed(_read() if 0 in ready else b""):
                name = self._on_key(key)
                if name:
                    return name

    def _on_signals(self, numbers: bytes) -> None:
        for number in numbers:
            if number in _ENDED_BY:
                raise GateClosedError(number)
        self._paint()

    def _hand_signals_back(self) -> None:
        """Block HUP and TERM; send those that came while the menu was shown to this process again.

        They stay blocked: the caller installs its own handlers and unblocks the signals.
        """
        signal.pthread_sigmask(signal.SIG_BLOCK, _ENDED_BY)
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGWINCH, signal.SIG_DFL)
        if select.select([self._signals], [], [], 0)[0]:
            for number in set(os.read(self._signals, 64)) & set(_ENDED_BY):
                os.kill(os.getpid(), number)
        os.close(self._signals)

    def _on_key(self, key: Pressed) -> str:
        """Return the name of the choice that the key makes; empty if it makes none."""
        if not self._names:
            return ""
        if key is Key.ENTER:
            return self._choose(self._names[self._at])
        if key in _STEPS:
            self._at = (self._at + _STEPS[key]) % len(self._names)
            self._paint()
            return ""
        letter = key.lower() if isinstance(key, str) else ""
        names = [name for name in self._names if self._gate["choices"][name]["key"] == letter]
        return self._choose(names[0]) if names else ""

    def _choose(self, name: str) -> str:
        self._at = self._names.index(name)
        self._problem = self._commit(name)
        if not self._problem:
            return name
        self._paint()
        return ""

    def _paint(self) -> None:
        cols, rows = terminal.size(1)
        behind = paint(self._screen, cols, rows)
        menu = overlay(self._lines(min(cols, _WIDEST) - 4), cols, rows)
        painted = [sequences.move(number) + row for number, row in enumerate(behind, start=1)]
        empty = sequences.PLAIN + sequences.HOME + sequences.ERASE
        _write(empty + "".join(painted) + "".join(menu))

    def _lines(self, width: int) -> list[GateLine]:
        gate, choices = self._gate, self._gate["choices"]
        longest = max((len(choices[name]["title"]) for name in self._names), default=0)
        lines = [GateLine(clean(str(gate["title"])), 1), GateLine("", 5)]
        lines += [GateLine(each, 3) for each in _wrap_text(clean(str(gate["says"])), width)]
        lines += [GateLine("no last screen was kept", 4)] if not self._screen else []
        lines += [GateLine("", 5)] if self._names else []
        for place, name in enumerate(self._names):
            each, mark = choices[name], "\u203a" if place == self._at else " "
            words = f"{mark} {each['key']} {each['title']:<{longest}} {clean(str(each['says']))}"
            lines.append(GateLine(words.rstrip(), 0, place == self._at))
        lines += [GateLine("", 5), GateLine(_HELP, 4)] if self._names else []
        return lines + ([GateLine(f"problem: {clean(self._problem)}", 0)] if self._problem else [])


# -- the menu ------------------------------------------------------------------------------------


def overlay(lines: Sequence[GateLine], cols: int, rows: int) -> list[str]:
    """Return the text that draws the menu in the middle of the screen, one string per row.

    Each string begins with the sequence that moves the cursor to the row. The menu has a frame if
    there is room for one.

    Args:
        lines: The lines of the menu; those of the highest rank are left out if there are too many.
        cols: The columns of the screen.
        rows: The rows of the screen.
    """
    framed = cols >= 24 and rows >= 6
    room = max(rows - 2 if framed else rows, 1)
    ranked = sorted(range(len(lines)), key=lambda place: (lines[place].rank, place))
    kept = [lines[place] for place in sorted(ranked[:room])]
    longest = max((_width(line.text) for line in kept), default=0)
    inner = max(min(longest, min(cols, _WIDEST) - (4 if framed else 0)), 1)
    top = (rows - len(kept) - (2 if framed else 0)) // 2 + 1
    left = (cols - inner - (4 if framed else 0)) // 2 + 1
    drawn = [_draw_line(line, inner, framed=framed) for line in kept]
    if framed:
        drawn = [f"┌{'─' * (inner + 2)}┐", *drawn, f"└{'─' * (inner + 2)}┘"]
    placed = enumerate(drawn, start=max(top, 1))
    plain, left = sequences.PLAIN, max(left, 1)
    return [f"{sequences.move(row, left)}{plain}{text}{plain}" for row, text in placed]


def _draw_line(line: GateLine, width: int, *, framed: bool) -> str:
    text = text_width.cut(line.text, width, cells=cell_width)
    padded = text + " " * (width - _width(text))
    body = f"\x1b[7m{padded}\x1b[27m" if line.chosen else padded
    return f"│ {body} │" if framed else body


def _width(text: str) -> int:
    return text_width.width(text, cells=cell_width)


def _wrap_text(text: str, width: int) -> tuple[str, ...]:
    return text_width.wrap(text, width, _WHY_LINES, indent="", cells=cell_width)


# -- the terminal --------------------------------------------------------------------------------


def _last_screen(path: str) -> str:
    """Return the screen in the snapshot at ``path``; empty if it cannot be read."""
    try:
        # A pipe must not block, and a link is not followed.
        flags = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC
        with open(os.open(path, flags), "rb") as file:  # noqa: PTH123 (a descriptor)
            data = file.read(SNAPSHOT_MAX + 1) or b""
        return (snapshot_screen(json.loads(data)) or "") if len(data) <= SNAPSHOT_MAX else ""
    except (OSError, ValueError, RecursionError):
        return ""


def _hear() -> int:
    """Make HUP, TERM and WINCH arrive as bytes, one byte per signal.

    Return the descriptor to read from.
    """
    reads, writes = os.pipe()
    os.set_blocking(writes, False)
    signal.set_wakeup_fd(writes, warn_on_full_buffer=False)
    for number in (*_ENDED_BY, signal.SIGWINCH):
        signal.signal(number, _heard)
    return reads


def _heard(_number: int, _frame: object) -> None:
    """Do nothing: Python needs a handler to write the signal's number to the wake-up descriptor."""


def _read() -> bytes:
    data = terminal.read(0)
    if not data:
        raise GateClosedError(signal.SIGHUP)
    return data


def _write(text: str) -> None:
    with contextlib.suppress(OSError):  # the terminal is gone: SIGHUP follows
        terminal.write(1, text)
