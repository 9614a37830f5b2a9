"""A terminal on file descriptors: its mode, its size, and bytes from it and to it.

It needs the standard library alone: the program in a stopped pane runs without any other. A signal
during a read or write is handled, and then the read or write continues.
"""

from __future__ import annotations

import contextlib
import os
import select
import termios
import tty
from typing import Final, TypeAlias

FALLBACK_SIZE: Final = (80, 24)
"""Columns and rows where the terminal does not tell its size."""

_READ_BYTES: Final = 4096

Mode: TypeAlias = "list[int | list[bytes | int]]"
"""The settings of a terminal, as `termios.tcgetattr` returns them."""


def size(fd: int) -> tuple[int, int]:
    """Return columns and rows as they are now."""
    try:
        cols, rows = os.get_terminal_size(fd)
    except OSError:
        return FALLBACK_SIZE
    return (cols, rows) if cols and rows else FALLBACK_SIZE


def read(fd: int) -> bytes:
    """Return up to 4096 bytes that are waiting; none if the terminal is gone.

    A terminal that is gone stays readable for ever.
    """
    try:
        return os.read(fd, _READ_BYTES)
    except OSError:
        return b""


def read_within(fd: int, wait_s: float) -> bytes | None:
    """Return what `read` returns within ``wait_s`` seconds; None if nothing comes."""
    try:
        if not select.select([fd], [], [], wait_s)[0]:
            return None
    except OSError:
        return b""
    return read(fd)


def write(fd: int, text: str) -> None:
    """Write all of the text; wait while the terminal accepts none.

    Raises:
        OSError: The terminal is gone.
    """
    data = text.encode("utf-8", "replace")
    while data:
        data = data[os.write(fd, data) :]


def write_within(fd: int, text: str, patience_s: float) -> bool:
    """Write to a descriptor that never blocks; return whether all was written.

    Give up if nothing is accepted for ``patience_s`` seconds, or if the terminal is gone.
    """
    data = text.encode("utf-8", "replace")
    try:
        while data:
            if not select.select([], [fd], [], patience_s)[1]:
                return False
            with contextlib.suppress(BlockingIOError):
                data = data[os.write(fd, data) :]
    except OSError:
        return False
    return True


def own_description(fd: int) -> int:
    """Open the terminal of ``fd`` once more, so that only writes to the new descriptor never block.

    If it cannot be opened, return a duplicate of ``fd``.
    """
    flags = os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        return os.open(os.ttyname(fd), flags)
    except OSError:
        return os.dup(fd)


def mode(fd: int) -> Mode:
    """Return the mode, to be restored later.

    Raises:
        termios.error: It is not a terminal, or it is gone.
    """
    return termios.tcgetattr(fd)


def make_raw(fd: int, *, drops_typed: bool) -> None:
    """Deliver each key at once, without echo or signals, and show output unchanged.

    Args:
        drops_typed: Whether keys that were typed before are lost.

    Raises:
        termios.error: It is not a terminal, or it is gone.
    """
    tty.setraw(fd, termios.TCSAFLUSH if drops_typed else termios.TCSADRAIN)


def keys_only(fd: int) -> Mode | None:
    """Deliver each key at once, as `make_raw` does, but write line ends as before.

    Ctrl-S and Ctrl-C are ordinary keys: one would stop the drawing, the other end the program.

    Returns:
        The mode to be restored; None where it could not be changed.
    """
    try:
        before = termios.tcgetattr(fd)
        iflag, oflag, cflag, lflag, ispeed, ospeed, chars = termios.tcgetattr(fd)
        chars[termios.VMIN], chars[termios.VTIME] = 1, 0
        iflag &= ~(termios.IXON | termios.IXOFF)
        lflag &= ~(termios.ICANON | termios.ECHO | termios.ISIG)
        changed = [iflag, oflag, cflag, lflag, ispeed, ospeed, chars]
        termios.tcsetattr(fd, termios.TCSANOW, changed)
    except (OSError, termios.error):
        return None
    return before


def restore(fd: int, mode: Mode, *, drops_typed: bool = False, waits: bool = True) -> None:
    """Restore the terminal's former mode; a terminal that is gone is no error.

    Args:
        drops_typed: Whether keys that nobody has read are lost.
        waits: Whether to wait until all output is shown, which may take long if it hangs.
    """
    when = termios.TCSADRAIN if waits else termios.TCSANOW
    with contextlib.suppress(OSError, termios.error):
        termios.tcsetattr(fd, termios.TCSAFLUSH if drops_typed else when, mode)
