"""The offline agent's user interface on a terminal: transcript, busy sign, input field and dialogs.

The transcript scrolls like any program's output. The block below it is redrawn at each change. To
do so, only the rows of the block have to be counted, not those of the transcript.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import termios
import time
import tty
import unicodedata
from collections import deque
from collections.abc import Sequence
from typing import Final

from agentmux.demo_agent.conversation.composer import InputBox
from agentmux.demo_agent.conversation.keys import KeyDecoder, KeyPress, Pasted, Typed
from agentmux.demo_agent.errors import QuitError, TurnCancelledError

PLACEHOLDER: Final = 'Try "explain this folder"'
"""The text in an empty input field."""
AGAIN_S: Final = 2.0
"""The number of seconds within which a second Ctrl-C or Ctrl-D ends the program."""
LOST_TERMINAL: Final = 1
"""The exit code if the terminal is lost."""
GLYPH: Final = "\u276f"
"""The sign before the draft (column 0) and before the selected choice of a dialog (column 1)."""

_PASTE_ON: Final = "\x1b[?2004h"
_PASTE_OFF: Final = "\x1b[?2004l"
_SCROLLBACK: Final = 200


class TerminalInterface:
    """The user interface on a terminal, which is in raw mode until `close` is called."""

    def __init__(self, fd: int, *, survive_hangup: bool = False) -> None:
        """Set the terminal to raw mode.

        Args:
            fd: The file descriptor of the terminal.
            survive_hangup: Whether to go on without a user if the terminal is lost, rather than
                quit.
        """
        self._fd, self._survive = fd, survive_hangup
        self._saved = termios.tcgetattr(fd)
        # TCSANOW keeps the keys that were typed before the program was ready.
        tty.setraw(fd, termios.TCSANOW)
        self._keys, self._composer = KeyDecoder(), InputBox()
        self._inbox: deque[str] = deque()
        self._pending: deque[KeyPress | Typed | Pasted] = deque()
        self._transcript: deque[str] = deque(maxlen=_SCROLLBACK)
        self._row, self._note, self._lost = 0, "", False
        self._busy_since: float | None = None
        self._last_key: tuple[KeyPress, float] | None = None
        self._write(_PASTE_ON)
        self._watch_size()

    def say(self, text: str) -> None:
        """Show ``text`` in the transcript, without control characters."""
        lines = ["".join(filter(str.isprintable, line)) for line in text.split("\n")]
        self._transcript.extend(lines)
        self._draw(self._block(), above="".join(f"{line}\r\n" for line in lines))

    def busy(self, on: bool) -> None:
        """Show (``on``) or hide the sign that the agent is working."""
        self._busy_since = time.monotonic() if on else None
        self._draw(self._block())

    def work(self, seconds: float) -> None:
        """Wait for ``seconds``, as if the agent were thinking.

        The user can type meanwhile; Enter queues the text as a prompt.

        Raises:
            TurnCancelledError: The user pressed Esc or Ctrl-C.
            QuitError: The user ended the program, or the terminal is lost.
        """
        end = time.monotonic() + seconds
        while True:
            left = end - time.monotonic()
            self._take_keys(max(0.0, min(left, 1.0)))
            if left <= 0:
                return
            self._draw(self._block())

    def next_prompt(self) -> str:
        """Return the next queued prompt; wait until the user enters one if none is queued.

        Raises:
            QuitError: The user ended the program, or the terminal is lost.
        """
        while not self._inbox:
            self._take_keys(None)
        return self._inbox.popleft()

    def choose(self, head: Sequence[str], choices: Sequence[str], selected: int) -> int:
        """Show a dialog and wait for the user's choice: arrows or digits select, Enter confirms.

        Args:
            head: The lines above the choices.
            choices: The choices.
            selected: The index of the choice that is selected at first.

        Returns:
            The index of the user's choice; -1 if the user pressed Esc or Ctrl-C.

        Raises:
            QuitError: The terminal is lost.
        """
        while True:
            rows = _dialog(head, choices, selected)
            self._draw(([row[: self._width() - 1] for row in rows], (0, 0)))
            for key in self._read(None):
                if key is KeyPress.ENTER:
                    self._draw(self._block())
                    return selected
                if key in {KeyPress.ESCAPE, KeyPress.CTRL_C}:
                    return -1
                selected = _move_selection(selected, len(choices), key)

    def close(self) -> None:
        """Restore the terminal's mode, without clearing the screen."""
        if self._lost:
            return
        rows = len(self._block()[0]) - self._row - 1
        self._write(f"\x1b[{rows}B\r\n{_PASTE_OFF}" if rows > 0 else f"\r\n{_PASTE_OFF}")
        with contextlib.suppress(termios.error):
            termios.tcsetattr(self._fd, termios.TCSANOW, self._saved)

    # keys

    def _take_keys(self, timeout: float | None) -> None:
        for key in self._read(timeout):
            self._press(key)
        self._draw(self._block())

    def _read(self, timeout: float | None) -> list[KeyPress | Typed | Pasted]:
        watched = [self._wake] if self._lost else [self._wake, self._fd]
        ready, _, _ = select.select(watched, (), (), timeout)
        if self._wake in ready:
            os.read(self._wake, 512)
            self._redraw()
        if self._fd not in ready:
            return []
        try:
            data = os.read(self._fd, 65536)
        except OSError:
            data = b""
        if not data:
            self._hung_up()
        return list(self._keys.feed(data))

    def _hung_up(self) -> None:
        self._lost = True
        if not self._survive:
            raise QuitError(LOST_TERMINAL)

    def _press(self, key: KeyPress | Typed | Pasted) -> None:
        self._note = ""
        match key:
            case Typed(text):
                self._composer.type(text)
            case Pasted(text):
                self._composer.paste(text)
            case KeyPress.ENTER:
                self._submit()
            case KeyPress.BACKSPACE:
                self._composer.rub_out()
            case KeyPress.CTRL_U:
                self._composer.clear()
            case KeyPress.CTRL_C | KeyPress.CTRL_D | KeyPress.ESCAPE:
                self._stop(key)
            case _:
                pass

    def _submit(self) -> None:
        text = self._composer.take()
        if text.strip():
            self._inbox.append(text)

    def _stop(self, key: KeyPress) -> None:
        """Handle Esc, Ctrl-C or Ctrl-D.

        Ctrl-C also empties the draft. Ctrl-D counts only while the draft is empty.

        Raises:
            TurnCancelledError: Esc or Ctrl-C was pressed during a turn.
            QuitError: Ctrl-C or Ctrl-D was pressed for the second time within `AGAIN_S`.
        """
        now = time.monotonic()
        if key is not KeyPress.ESCAPE and (key is KeyPress.CTRL_C or not self._composer.shown_text):
            if self._last_key and self._last_key[0] is key and now - self._last_key[1] < AGAIN_S:
                raise QuitError(130 if key is KeyPress.CTRL_C else 0)
            self._last_key = key, now
            self._note = f"Press Ctrl-{'C' if key is KeyPress.CTRL_C else 'D'} again to exit"
        if key is KeyPress.CTRL_C:
            self._composer.clear()
        if self._busy_since is not None and key is not KeyPress.CTRL_D:
            raise TurnCancelledError

    # drawing

    def _block(self) -> tuple[list[str], tuple[int, int]]:
        """Return the rows below the transcript, and the cursor's row and column in them."""
        width, rows = self._width(), [""]
        if self._busy_since is not None:
            spent = int(time.monotonic() - self._busy_since)
            rows += [f"✻ Working… ({spent}s · esc to interrupt)", ""]
        rows += [f"  (queued) {text.splitlines()[0]}"[: width - 1] for text in self._inbox]
        draft = self._composer.shown_text
        typed = _wrap_text(draft, width - 3)[-max(1, self._height() - 8) :]
        top = [*rows, "─" * (width - 1)]
        body = [(f"{GLYPH} " if at == 0 else "  ") + row for at, row in enumerate(typed)]
        column = _cells(body[-1])
        if not draft:
            body[0] += f"\x1b[2m{PLACEHOLDER[: max(0, width - 3)]}\x1b[22m"
        low = ["─" * (width - 1), f"  {self._note or '? for help'}"[: width - 1]]
        return [*top, *body, *low], (len(top) + len(body) - 1, column)

    def _draw(self, block: tuple[list[str], tuple[int, int]], above: str = "") -> None:
        rows, (row, column) = block
        up = f"\x1b[{self._row}A" if self._row else ""
        back = len(rows) - 1 - row
        move = f"\r\x1b[{back}A" if back else "\r"
        right = f"\x1b[{column}C" if column else ""
        self._write(
            f"\x1b[?25l\r{up}\x1b[J{above}" + "\r\n".join(rows) + move + right + "\x1b[?25h"
        )
        self._row = row

    def _redraw(self) -> None:
        """Draw the whole screen again, because a change of the terminal's size moved the rows."""
        self._row = 0
        fitting = max(0, self._height() - len(self._block()[0]))
        lines = list(self._transcript)[-fitting:] if fitting else []
        self._write("\x1b[H\x1b[2J")
        self._draw(self._block(), above="".join(f"{line}\r\n" for line in lines))

    def _width(self) -> int:
        try:
            return max(20, os.get_terminal_size(self._fd).columns or 80)
        except OSError:
            return 80

    def _height(self) -> int:
        try:
            return max(6, os.get_terminal_size(self._fd).lines or 24)
        except OSError:
            return 24

    def _write(self, text: str) -> None:
        """Write all of ``text`` to the terminal; ignore errors, which the next read detects."""
        data = text.encode("utf-8", "replace")
        with contextlib.suppress(OSError):
            while data and not self._lost:
                data = data[os.write(self._fd, data) :]

    def _watch_size(self) -> None:
        self._wake, waker = os.pipe()
        os.set_blocking(waker, False)
        signal.set_wakeup_fd(waker, warn_on_full_buffer=False)
        signal.signal(signal.SIGWINCH, _ignore_signal)


def _ignore_signal(_signum: int, _frame: object) -> None:
    """Do nothing: Python has written to a pipe at the signal, which wakes the main loop."""


def _dialog(head: Sequence[str], choices: Sequence[str], selected: int) -> list[str]:
    rows = [
        f" {GLYPH if at == selected else ' '} {at + 1}. {text}" for at, text in enumerate(choices)
    ]
    return ["", *(f" {line}" for line in head), "", *rows, "", " Enter to confirm · Esc to cancel"]


def _move_selection(selected: int, count: int, key: KeyPress | Typed | Pasted) -> int:
    if key is KeyPress.UP:
        return max(0, selected - 1)
    if key is KeyPress.DOWN:
        return min(count - 1, selected + 1)
    if isinstance(key, Typed) and key.text.isascii() and key.text.isdigit():
        number = int(key.text)
        return number - 1 if 1 <= number <= count else selected
    return selected


def _wrap_text(text: str, width: int) -> list[str]:
    rows, row, used = [], "", 0
    for char in text:
        cells = _cells(char)
        if used + cells > width:
            rows.append(row)
            row, used = "", 0
        row += char
        used += cells
    return [*rows, row]


def _cells(text: str) -> int:
    """Return how many columns ``text`` takes on the screen; wide characters take two."""
    if text.isascii():
        return len(text)
    wide = sum(unicodedata.east_asian_width(char) in "WF" for char in text)
    return len(text) + wide - sum(unicodedata.combining(char) != 0 for char in text)
