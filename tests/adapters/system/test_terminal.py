"""A real pseudo-terminal: its mode, its size, and the data that passes through it."""

import contextlib
import fcntl
import os
import pty
import struct
import termios
import time
from collections.abc import Iterator

import pytest

from agentmux.adapters.system import terminal

Pair = tuple[int, int]


@pytest.fixture
def ends() -> Iterator[Pair]:
    """The two ends of a pseudo-terminal: the person's and the program's."""
    person, program = pty.openpty()
    yield person, program
    for fd in (person, program):
        with contextlib.suppress(OSError):
            os.close(fd)


@pytest.mark.parametrize(
    ("rows", "cols", "found"), [(10, 40, (40, 10)), (0, 0, (80, 24)), (0, 40, (80, 24))]
)
def test_a_size_that_is_not_told_is_the_usual_one(
    ends: Pair, rows: int, cols: int, found: tuple[int, int]
) -> None:
    fcntl.ioctl(ends[1], termios.TIOCSWINSZ, struct.pack("HHHH", rows, cols, 0, 0))
    assert terminal.size(ends[1]) == found


def test_what_is_no_terminal_has_the_usual_size_and_no_mode() -> None:
    reads, writes = os.pipe()
    assert terminal.size(reads) == terminal.FALLBACK_SIZE
    assert terminal.keys_only(reads) is None
    with pytest.raises(termios.error):
        terminal.mode(reads)
    os.close(reads)
    os.close(writes)


@pytest.mark.parametrize("keeps_line_ends", [True, False])
def test_keys_come_at_once_and_the_mode_comes_back(ends: Pair, keeps_line_ends: bool) -> None:
    person, program = ends
    before = terminal.mode(program)
    if keeps_line_ends:
        assert terminal.keys_only(program) == before
    else:
        terminal.make_raw(program, drops_typed=False)
    os.write(person, b"a\x03\x13")
    assert terminal.read_within(program, 5) == b"a\x03\x13"
    assert terminal.read_within(program, 0) is None
    terminal.write(program, "x\n")
    assert os.read(person, 99) == (b"x\r\n" if keeps_line_ends else b"x\n")
    terminal.restore(program, before)
    assert terminal.mode(program) == before


def test_keys_typed_before_stay_where_they_are_wanted(ends: Pair) -> None:
    person, program = ends
    os.write(person, b"early\n")
    terminal.make_raw(program, drops_typed=False)
    assert terminal.read_within(program, 5) == b"early\n"


def test_a_terminal_that_is_gone_gives_nothing_and_takes_nothing(ends: Pair) -> None:
    person, program = ends
    before = terminal.mode(program)
    os.close(person)
    assert terminal.read(program) == b""
    assert terminal.read_within(program, 5) == b""
    assert not terminal.write_within(program, "x", 5)
    with pytest.raises(OSError, match="Input/output"):
        terminal.write(program, "x")
    terminal.restore(program, before)


def test_a_terminal_that_takes_nothing_is_given_up(ends: Pair) -> None:
    own = terminal.own_description(ends[1])
    began = time.monotonic()
    assert not terminal.write_within(own, "x" * 1_000_000, 0.05)
    assert time.monotonic() - began < 30
    assert os.get_blocking(ends[1])
    os.close(own)
