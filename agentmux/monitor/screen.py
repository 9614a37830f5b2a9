"""Draws the monitor on the terminal of its pane or, without a terminal, prints it line by line.

It does not use the alternate screen, so that the last picture stays after the process has ended.
"""

from __future__ import annotations

import contextlib
import os
import select
import termios
from collections.abc import Mapping
from typing import Final, TextIO

from agentmux.core.terminal.keys import Keys, Pressed
from agentmux.core.terminal.text_width import clean
from agentmux.monitor.view import MonitorLine, Style, attention, draw
from agentmux.ports.display import Picture

# Columns and rows, if the terminal does not tell its size.
_FALLBACK: Final = (80, 24)
# If the terminal accepts nothing for so long (a server that hangs), the picture is drawn later.
_PATIENCE_S: Final = 0.1
_KEYS_BYTES: Final = 1024
# Bytes that follow an escape within this time belong to the same key.
_ESCAPE_S: Final = 0.03

# Line wrapping is turned off: a line that the terminal counts as wider than we do is cut.
# Bracketed paste is turned on: a line end in pasted text is not an Enter.
_BEGIN: Final = "\x1b[?25l\x1b[?7l\x1b[?2004h"
_END: Final = "\x1b[0m\x1b[?2004l\x1b[?7h\x1b[?25h"
_COLOURED: Final[Mapping[Style, str]] = {
    Style.PLAIN: "",
    Style.HEADER: "1",
    Style.DIM: "2",
    Style.ATTENTION: "1;33",
    Style.PROBLEM: "1;31",
}
_UNCOLOURED: Final[Mapping[Style, str]] = {
    **_COLOURED,
    Style.ATTENTION: "1",
    Style.PROBLEM: "1",
}


def styled(line: MonitorLine, *, colour: bool) -> str:
    """Return a line with SGR sequences; without ``colour`` (``NO_COLOR``) only bold and dim."""
    codes = _COLOURED if colour else _UNCOLOURED
    return "".join(
        f"\x1b[{codes[each.style]}m{each.text}\x1b[0m" if codes[each.style] else each.text
        for each in line
    )


_BELL: Final = b"\a"
"""Sent once for each new thing that waits for the user; tmux shows it as an alert."""


class TerminalDisplay:
    """The monitor on a terminal; implements `ports.display.Display`. No method raises."""

    def __init__(self, stream: TextIO, *, colour: bool, keyboard: int = 0) -> None:
        """Draw on the terminal of ``stream``; read keys if ``keyboard`` is a terminal, too.

        Until `close`, the keyboard gives each key at once and without echo.
        """
        self._colour = colour
        self._fd = _own_description(stream.fileno())
        self._keyboard: int | None = keyboard if os.isatty(keyboard) else None
        self._keys = Keys()
        self._saved = _listen(self._keyboard)
        self._picture: Picture | None = None
        self._painted: object = None
        self._waits: frozenset[str] = frozenset()

    def show(self, picture: Picture) -> None:
        """Draw the picture at the terminal's current size, unless nothing changed."""
        self._picture = picture
        self._paint(ended=False)
        waits = attention(picture)
        if waits - self._waits:
            self._send(_BELL)
        self._waits = waits

    def resized(self) -> None:
        """Draw the last picture again; safe to call from a handler of an event loop."""
        self._painted = None
        if self._picture is not None:
            self._paint(ended=False)

    def fileno(self) -> int | None:
        """Return the descriptor that keys come from; None if there is no terminal (any more)."""
        return self._keyboard

    def keys(self) -> tuple[Pressed, ...]:
        """Return the keys that were pressed since the last call, without waiting."""
        pressed = self._keys.feed(self._read(0))
        while self._keys.waiting:  # an escape alone, or the first byte of more
            data = self._read(_ESCAPE_S)
            pressed += self._keys.feed(data) if data else self._keys.flush()
        return pressed

    def _read(self, wait_s: float) -> bytes:
        if self._keyboard is None:
            return b""
        try:
            if not select.select([self._keyboard], [], [], wait_s)[0]:
                return b""
            data = os.read(self._keyboard, _KEYS_BYTES)
        except OSError:
            data = b""
        if not data:
            # An empty read means that the terminal is gone; it would stay readable for ever.
            self._keyboard = None
        return data

    def close(self) -> None:
        """Draw the last picture with a command to go on, and restore the terminal."""
        if self._fd < 0:
            return
        if self._picture is not None:
            self._paint(ended=True)
        self._send(_END.encode())
        if self._keyboard is not None and self._saved is not None:
            with contextlib.suppress(OSError, termios.error):
                termios.tcsetattr(self._keyboard, termios.TCSANOW, self._saved)
        os.close(self._fd)
        self._fd, self._keyboard = -1, None

    def _paint(self, *, ended: bool) -> None:
        if self._picture is None or self._fd < 0:
            return
        cols, rows = self._size()
        lines = draw(self._picture, cols, rows, ended=ended)
        if (cols, rows, lines) == self._painted:
            return
        frame = "".join(
            f"\x1b[{row};1H\x1b[K{styled(line, colour=self._colour)}"
            for row, line in enumerate(lines, start=1)
        )
        # If only a part was written, the next picture is drawn completely.
        arrived = self._send(f"{_BEGIN}{frame}".encode(errors="replace"))
        self._painted = (cols, rows, lines) if arrived else None

    def _size(self) -> tuple[int, int]:
        try:
            cols, rows = os.get_terminal_size(self._fd)
        except OSError:
            return _FALLBACK
        return (cols, rows) if cols and rows else _FALLBACK

    def _send(self, data: bytes) -> bool:
        """Write to the terminal while it accepts data; return whether all was written."""
        try:
            while data:
                if not select.select([], [self._fd], [], _PATIENCE_S)[1]:
                    return False
                with contextlib.suppress(BlockingIOError):
                    data = data[os.write(self._fd, data) :]
        except OSError:  # EIO: the terminal is gone
            return False
        return True


def _own_description(fd: int) -> int:
    """Open the terminal of ``fd`` again, so that non-blocking mode affects only our own writes."""
    flags = os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        return os.open(os.ttyname(fd), flags)
    except OSError:
        return os.dup(fd)


def _listen(keyboard: int | None) -> list[int | list[bytes | int]] | None:
    """Make the terminal deliver keys one by one; return its settings before, to restore them.

    Ctrl-S and Ctrl-C become ordinary keys: Ctrl-S would stop the drawing and so the orchestrator,
    and Ctrl-C would end it.
    """
    if keyboard is None:
        return None
    try:
        saved = termios.tcgetattr(keyboard)
        iflag, oflag, cflag, lflag, ispeed, ospeed, chars = termios.tcgetattr(keyboard)
        chars[termios.VMIN], chars[termios.VTIME] = 1, 0
        iflag &= ~(termios.IXON | termios.IXOFF)
        lflag &= ~(termios.ICANON | termios.ECHO | termios.ISIG)
        changed = [iflag, oflag, cflag, lflag, ispeed, ospeed, chars]
        termios.tcsetattr(keyboard, termios.TCSANOW, changed)
    except (OSError, termios.error):
        return None
    return saved


class PlainDisplay:
    """The monitor without a terminal: one line per message; implements `ports.display.Display`."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._said: tuple[str, ...] = ()

    def show(self, picture: Picture) -> None:
        """Print the messages that were not in the last picture; never raise."""
        new = _new(self._said, picture.messages)
        self._said = picture.messages
        encoding = self._stream.encoding or "utf-8"
        # A stream that is closed raises ValueError.
        with contextlib.suppress(OSError, ValueError):
            for message in new:
                line = clean(message).encode(encoding, "replace").decode(encoding)
                self._stream.write(f"{line}\n")
            if new:
                self._stream.flush()

    def resized(self) -> None:
        """Do nothing: lines have no size."""

    def fileno(self) -> int | None:
        """Return None: there is no keyboard."""
        return None

    def keys(self) -> tuple[Pressed, ...]:
        """Return no keys."""
        return ()

    def close(self) -> None:
        """Do nothing: the stream is not ours."""


def _new(before: tuple[str, ...], now: tuple[str, ...]) -> tuple[str, ...]:
    """Return the messages that are new; old ones may have been dropped from the beginning."""
    kept = min(len(before), len(now))
    while kept and before[-kept:] != now[:kept]:
        kept -= 1
    return now[kept:]
