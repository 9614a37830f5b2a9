"""Draws the monitor on the terminal of its pane or, without a terminal, prints it line by line.

It does not use the alternate screen, so that the last picture stays after the process has ended.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from threading import Lock
from typing import Final, TextIO

from agentmux.adapters.system import terminal
from agentmux.core.terminal.keys.console import TextPage
from agentmux.core.terminal.keys.keys import Keys, Pressed
from agentmux.core.terminal.text import sequences
from agentmux.core.terminal.text.text_width import clean
from agentmux.monitor.reading import page_of
from agentmux.monitor.segments import MonitorLine, SegmentStyle
from agentmux.monitor.view import draw
from agentmux.ports.tmux.display import MonitorContent, MonitorMessage

# If the terminal accepts nothing for so long (a server that hangs), the picture is drawn later.
_PATIENCE_S: Final = 0.1
# Bytes that follow an escape within this time belong to the same key.
_ESCAPE_S: Final = 0.03

_BEGIN: Final = sequences.CURSOR_OFF + sequences.WRAP_OFF + sequences.PASTE_MARKED
_END: Final = sequences.PLAIN + sequences.PASTE_PLAIN + sequences.WRAP_ON + sequences.CURSOR_ON
_COLOURED: Final[Mapping[SegmentStyle, str]] = {
    SegmentStyle.PLAIN: "",
    SegmentStyle.HEADER: "1",
    SegmentStyle.DIM: "2",
    SegmentStyle.ATTENTION: "1;33",
    SegmentStyle.PROBLEM: "1;31",
    SegmentStyle.GOOD: "32",
    SegmentStyle.BAD: "31",
    SegmentStyle.PLACE: "36",
}
_UNCOLOURED: Final[Mapping[SegmentStyle, str]] = {
    **_COLOURED,
    SegmentStyle.ATTENTION: "1",
    SegmentStyle.PROBLEM: "1",
    SegmentStyle.GOOD: "",
    SegmentStyle.BAD: "",
    SegmentStyle.PLACE: "2",
}


def style_line(line: MonitorLine, *, colour: bool) -> str:
    """Return the text of a line with the escape sequences of its styles; print nothing.

    Args:
        line: The line.
        colour: Whether colours may be used; otherwise only bold and dim are.
    """
    codes = _COLOURED if colour else _UNCOLOURED
    return "".join(
        f"\x1b[{codes[each.style]}m{each.text}\x1b[0m" if codes[each.style] else each.text
        for each in line
    )


class TerminalDisplay:
    """The monitor's display on a terminal. No method raises.

    It implements `ports.tmux.display.Display`. Several threads may call it; it draws one picture at
    a time.
    """

    def __init__(self, stream: TextIO, *, colour: bool, keyboard: int = 0) -> None:
        """Switch the keyboard to reading single keys without echo, until `close` is called.

        Args:
            stream: The terminal to draw on.
            colour: Whether colours may be used.
            keyboard: File descriptor to read keys from; ignored if it is no terminal.
        """
        self._colour = colour
        self._fd = terminal.own_description(stream.fileno())
        self._keyboard: int | None = keyboard if os.isatty(keyboard) else None
        self._keys = Keys()
        self._saved = None if self._keyboard is None else terminal.keys_only(self._keyboard)
        self._picture: MonitorContent | None = None
        self._painted: object = None
        self._fitting: tuple[int, int] | None = None
        self._drawing = Lock()

    def show(self, picture: MonitorContent) -> None:
        """Draw ``picture`` in the terminal's current size, unless the screen shows that already."""
        with self._drawing:
            self._picture = picture
            self._paint_now(ended=False)

    def ring(self) -> None:
        """Ring the bell; tmux shows it as an alert."""
        with self._drawing:
            if self._fd >= 0:
                self._send(sequences.BELL)

    def page(self) -> TextPage:
        if self._picture is None or self._fd < 0:
            return TextPage()
        return page_of(self._picture, *self._size())

    def handle_resize(self) -> None:
        with self._drawing:
            self._painted, self._fitting = None, None
            self._paint_now(ended=False)

    def limit_size(self, cols: int, rows: int) -> None:
        self._fitting = (cols, rows)

    def _size(self) -> tuple[int, int]:
        """Return the columns and rows to draw in."""
        cols, rows = terminal.size(self._fd)
        most_cols, most_rows = self._fitting or (cols, rows)
        return min(cols, most_cols), min(rows, most_rows)

    def fileno(self) -> int | None:
        return self._keyboard

    def keys(self) -> tuple[Pressed, ...]:
        """Return the keys that were pressed since the last call, without waiting; often empty."""
        pressed = self._keys.feed(self._read(0))
        while self._keys.waiting:  # an escape alone, or the first byte of more
            data = self._read(_ESCAPE_S)
            pressed += self._keys.feed(data) if data else self._keys.flush()
        return pressed

    def _read(self, wait_s: float) -> bytes:
        if self._keyboard is None:
            return b""
        data = terminal.read_within(self._keyboard, wait_s)
        if data == b"":
            self._keyboard = None  # the terminal is gone; it would stay readable for ever
        return data or b""

    def close(self) -> None:
        """Draw the last picture once more, then restore the terminal's modes.

        Unless the session is done, this picture says that the orchestrator has ended, and which
        command resumes the session.
        """
        with self._drawing:  # no other thread draws after this picture
            if self._fd < 0:
                return
            self._paint_now(ended=True)
            self._send(_END)
            if self._keyboard is not None and self._saved is not None:
                terminal.restore(self._keyboard, self._saved, waits=False)
            os.close(self._fd)
            self._fd, self._keyboard = -1, None

    def _paint_now(self, *, ended: bool) -> None:
        if self._picture is None or self._fd < 0:
            return
        cols, rows = self._size()
        lines = draw(self._picture, cols, rows, ended=ended)
        if (cols, rows, lines) == self._painted:
            return
        frame = "".join(
            f"{sequences.move(row)}{sequences.ERASE_LINE}{style_line(line, colour=self._colour)}"
            for row, line in enumerate(lines, start=1)
        )
        # If only a part was written, the next picture is drawn completely.
        arrived = self._send(f"{_BEGIN}{frame}")
        self._painted = (cols, rows, lines) if arrived else None

    def _send(self, text: str) -> bool:
        """Write to the terminal; return False if it did not accept everything in time."""
        return terminal.write_within(self._fd, text, _PATIENCE_S)


class PlainDisplay:
    """The monitor's display on a stream that is no terminal: prints one line for each message.

    It implements `ports.tmux.display.Display`.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._said: tuple[MonitorMessage, ...] = ()

    def show(self, picture: MonitorContent) -> None:
        """Print the messages of ``picture`` that the last picture did not have; never raise."""
        new = _new(self._said, picture.messages)
        self._said = picture.messages
        encoding = self._stream.encoding or "utf-8"
        # A stream that is closed raises ValueError.
        with contextlib.suppress(OSError, ValueError):
            for message in new:
                line = clean(message.text).encode(encoding, "replace").decode(encoding)
                self._stream.write(f"{line}\n")
            if new:
                self._stream.flush()

    def ring(self) -> None:
        """Do nothing: there is no terminal."""

    def page(self) -> TextPage:
        """Return `TextPage()`, a page of one row, because there is no screen."""
        return TextPage()

    def limit_size(self, cols: int, rows: int) -> None:
        """Do nothing: printed lines do not depend on a size."""

    def handle_resize(self) -> None:
        """Do nothing: printed lines do not depend on a size."""

    def fileno(self) -> int | None:
        return None

    def keys(self) -> tuple[Pressed, ...]:
        """Return an empty tuple, because there is no keyboard."""
        return ()

    def close(self) -> None:
        """Do nothing: the stream belongs to the caller."""


def _new(
    before: tuple[MonitorMessage, ...], now: tuple[MonitorMessage, ...]
) -> tuple[MonitorMessage, ...]:
    """Return the messages in ``now`` that are not in ``before``.

    ``now`` may lack old messages at the beginning of ``before``; new ones are at the end.
    """
    kept = min(len(before), len(now))
    while kept and before[-kept:] != now[:kept]:
        kept -= 1
    return now[kept:]
