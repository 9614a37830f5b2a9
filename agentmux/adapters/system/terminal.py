"""A terminal on file descriptors: its mode, its size, reading bytes and writing text.

It imports only the standard library, because the program in a stopped pane (`adapters.pane.gate`)
has nothing else. After the handler of a Unix signal has run, an interrupted read or write
continues.
"""

from __future__ import annotations

import contextlib
import os
import select
import termios
import tty
from typing import Final, TypeAlias

FALLBACK_SIZE: Final = (80, 24)
"""Columns and rows that are assumed if the terminal does not tell its size."""

_READ_BYTES: Final = 4096

Mode: TypeAlias = "list[int | list[bytes | int]]"
"""The settings of a terminal, as `termios.tcgetattr` returns them."""


def size(fd: int) -> tuple[int, int]:
    """Return the terminal's present columns and rows, or `FALLBACK_SIZE` if they are unknown."""
    try:
        cols, rows = os.get_terminal_size(fd)
    except OSError:
        return FALLBACK_SIZE
    return (cols, rows) if cols and rows else FALLBACK_SIZE


def read(fd: int) -> bytes:
    """Wait for input; return up to 4096 bytes, or ``b""`` if the terminal is gone.

    ``select`` reports a terminal that is gone as readable for ever, so stop reading it then.
    """
    try:
        return os.read(fd, _READ_BYTES)
    except OSError:
        return b""


def read_within(fd: int, wait_s: float) -> bytes | None:
    """Wait at most ``wait_s`` seconds for input; return up to 4096 bytes of it.

    None if there is no input in that time, ``b""`` if the terminal is gone.
    """
    try:
        if not select.select([fd], [], [], wait_s)[0]:
            return None
    except OSError:
        return b""
    return read(fd)


def write(fd: int, text: str) -> None:
    """Write all of the text; wait while the terminal accepts no output.

    Raises:
        OSError: The terminal is gone.
    """
    data = text.encode("utf-8", "replace")
    while data:
        data = data[os.write(fd, data) :]


def write_within(fd: int, text: str, patience_s: float) -> bool:
    """Write text to a non-blocking descriptor; return whether all of it was written.

    It stops if the terminal is gone, or accepts nothing for ``patience_s`` seconds; a part of the
    text may be written then. It does not raise.
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
    """Open the terminal of ``fd`` once more, in non-blocking mode; return the new descriptor.

    Writes to it never block, and writes to ``fd`` still do. If the terminal cannot be opened,
    return a duplicate of ``fd``, which blocks as ``fd`` does. The caller must close the result.
    """
    flags = os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        return os.open(os.ttyname(fd), flags)
    except OSError:
        return os.dup(fd)


def mode(fd: int) -> Mode:
    """Return the terminal's mode, for `restore`.

    Raises:
        termios.error: It is not a terminal, or it is gone.
    """
    return termios.tcgetattr(fd)


def make_raw(fd: int, *, drops_typed: bool) -> None:
    """Make the terminal deliver each key at once, without echo; Ctrl-C and the like send no signal.

    The terminal does not change output either: a newline needs its own carriage return.

    Args:
        drops_typed: Whether to drop keys that were typed before and not read yet.

    Raises:
        termios.error: It is not a terminal, or it is gone.
    """
    tty.setraw(fd, termios.TCSAFLUSH if drops_typed else termios.TCSADRAIN)


def keys_only(fd: int) -> Mode | None:
    """Make the terminal deliver each key at once, without echo; line ends in output still work.

    Ctrl-S and Ctrl-C arrive as ordinary keys, because Ctrl-S would stop the output and Ctrl-C would
    end the program.

    Returns:
        The mode before, for `restore`; None if the mode could not be changed.
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
    """Set the terminal to ``mode`` (from `mode` or `keys_only`).

    A terminal that is gone is no error.

    Args:
        drops_typed: Whether to drop keys that were typed and not read yet.
        waits: Whether to wait until the terminal has shown all output; if the terminal hangs, this
            takes long.
    """
    when = termios.TCSADRAIN if waits else termios.TCSANOW
    with contextlib.suppress(OSError, termios.error):
        termios.tcsetattr(fd, termios.TCSAFLUSH if drops_typed else when, mode)
