"""The monitor's screen on a pseudo-terminal, in a tmux pane, and without a terminal."""

from __future__ import annotations

import fcntl
import io
import os
import pty
import re
import select
import struct
import sys
import termios
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TextIO

import pytest

from agentmux.core.terminal.keys.keys import Key, Pressed
from agentmux.monitor.screen import PlainDisplay, TerminalDisplay
from agentmux.monitor.view import render
from agentmux.ports.tmux.display import Display, MonitorMessage
from tests.fakes.bench import Bench as TmuxTerminal
from tests.monitor.pictures import picture, seat, seen

SHOWN = picture(
    problem="no space left",
    seats={"coder-1": seat()},
    statuses={"coder-1": seen("waiting_for_user")},
)
OTHER = replace(SHOWN, messages=(MonitorMessage("something happened"),))

_ROW = re.compile(r"\x1b\[(\d+);1H\x1b\[K")
_STYLE = re.compile(r"\x1b\[[0-9;]*m|\x1b\[\?\d+[hl]|\a")


class Pty:
    """A pseudo-terminal; the test is its screen and its keyboard."""

    def __init__(self, cols: int, rows: int) -> None:
        self.master, self.slave = pty.openpty()
        self.stream: TextIO = os.fdopen(self.slave, "w", closefd=False)
        self.resize(cols, rows)

    def resize(self, cols: int, rows: int) -> None:
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, cols, 0, 0))

    def written(self) -> str:
        """Return the output that was not read yet."""
        data = b""
        while select.select([self.master], [], [], 0.05)[0]:
            data += os.read(self.master, 65536)
        return data.decode()

    def rows(self) -> tuple[str, ...]:
        """Return the rows of the last picture; each one must be placed by its number."""
        _, *parts = _ROW.split(self.written())
        texts = [_STYLE.sub("", text) for text in parts[1::2]]
        placed = dict(zip(map(int, parts[::2]), texts, strict=True))
        return tuple(placed[row] for row in sorted(placed))

    def hang_up(self) -> None:
        if self.master >= 0:
            os.close(self.master)
            self.master = -1


@pytest.fixture
def screen() -> Iterator[Pty]:
    made = Pty(44, 30)
    yield made
    made.hang_up()
    os.close(made.slave)


@pytest.fixture
def display(screen: Pty) -> Iterator[TerminalDisplay]:
    made = TerminalDisplay(screen.stream, colour=True, keyboard=screen.slave)
    yield made
    made.close()


# -- painting --------------------------------------------------------------------------------------


def test_a_picture_fills_the_terminal(screen: Pty, display: TerminalDisplay) -> None:
    display.show(SHOWN)
    assert screen.rows() == render(SHOWN, 44, 30)


def test_the_bell_rings_until_the_terminal_is_given_back(
    screen: Pty, display: TerminalDisplay
) -> None:
    display.show(SHOWN)
    assert "\a" not in screen.written()
    display.ring()
    assert screen.written() == "\a"
    display.close()
    display.ring()
    assert "\a" not in screen.written()


def test_the_same_picture_is_painted_once(screen: Pty, display: TerminalDisplay) -> None:
    display.show(SHOWN)
    assert screen.written()
    display.show(SHOWN)
    assert screen.written() == ""
    display.show(OTHER)
    assert screen.rows() == render(OTHER, 44, 30)


def test_the_next_show_takes_the_new_size(screen: Pty, display: TerminalDisplay) -> None:
    display.show(SHOWN)
    screen.written()
    screen.resize(20, 10)
    display.show(SHOWN)
    assert screen.rows() == render(SHOWN, 20, 10)


def test_resized_paints_the_last_picture_again(screen: Pty, display: TerminalDisplay) -> None:
    display.handle_resize()
    assert screen.written() == ""
    display.show(SHOWN)
    screen.written()
    screen.resize(60, 12)
    display.handle_resize()
    assert screen.rows() == render(SHOWN, 60, 12)


def test_no_picture_is_wider_than_the_pane_while_the_terminal_has_an_older_size(
    screen: Pty, display: TerminalDisplay
) -> None:
    screen.resize(200, 50)
    display.limit_size(44, 49)  # tmux tells the terminal later
    display.show(SHOWN)
    assert screen.rows() == render(SHOWN, 44, 49)
    screen.resize(120, 40)
    display.handle_resize()
    assert screen.rows() == render(SHOWN, 120, 40)


def test_a_terminal_without_a_size_is_80x24(screen: Pty, display: TerminalDisplay) -> None:
    screen.resize(0, 0)
    display.show(SHOWN)
    assert screen.rows() == render(SHOWN, 80, 24)


def test_the_last_picture_stays_and_says_how_to_go_on(screen: Pty) -> None:
    display = TerminalDisplay(screen.stream, colour=True, keyboard=screen.slave)
    display.show(SHOWN)
    assert "\x1b[?25l" in screen.written()  # the cursor is hidden
    display.close()
    last = screen.written()
    assert "agentmux resume" in _STYLE.sub("", last)
    assert last.endswith("\x1b[?25h")
    assert not re.search(r"\x1b\[\?(47|1047|1049)", last)  # the alternate screen
    display.close()
    display.show(OTHER)
    display.handle_resize()
    assert screen.written() == ""


@pytest.mark.parametrize("colour", [True, False])
def test_colour_is_a_choice(screen: Pty, colour: bool) -> None:
    display = TerminalDisplay(screen.stream, colour=colour, keyboard=screen.slave)
    display.show(SHOWN)
    coloured = re.search(r"\x1b\[[0-9;]*3[0-7]m", screen.written())
    assert (coloured is not None) is colour
    display.close()


# -- keys ------------------------------------------------------------------------------------------


def test_keys_come_one_by_one_without_an_echo(screen: Pty, display: TerminalDisplay) -> None:
    assert display.fileno() == screen.slave
    assert display.keys() == ()
    os.write(screen.master, "aä".encode())
    assert select.select([screen.slave], [], [], 5)[0]
    assert display.keys() == ("a", "ä")
    assert display.keys() == ()
    assert screen.written() == ""


@pytest.mark.parametrize("control", [b"\x13", b"\x03", b"\x1a", b"\x1c"])
def test_no_key_stops_the_orchestrator(
    screen: Pty, display: TerminalDisplay, control: bytes
) -> None:
    os.write(screen.master, control)
    assert select.select([screen.slave], [], [], 5)[0]
    assert display.keys() == ((Key.INTERRUPT,) if control == b"\x03" else ())
    display.show(SHOWN)
    assert screen.rows() == render(SHOWN, 44, 30)


@pytest.mark.parametrize(
    ("sent", "keys"),
    [
        (b"\x1b", (Key.ESCAPE,)),
        (b"\x1b[", ()),
        (b"\x1b[Aa", (Key.UP, "a")),
        (b"\x1b[200~one\rtwo\x1b[201~\r", (Key.PASTE, *"one two", Key.ENTER)),
    ],
)
def test_an_escape_is_told_from_what_begins_with_one(
    screen: Pty, display: TerminalDisplay, sent: bytes, keys: tuple[Pressed, ...]
) -> None:
    os.write(screen.master, sent)
    assert select.select([screen.slave], [], [], 5)[0]
    assert display.keys() == keys
    assert display.keys() == ()


def test_close_leaves_the_terminal_as_it_was(screen: Pty) -> None:
    before = termios.tcgetattr(screen.slave)
    display = TerminalDisplay(screen.stream, colour=True, keyboard=screen.slave)
    assert termios.tcgetattr(screen.slave) != before
    display.close()
    assert termios.tcgetattr(screen.slave) == before
    assert display.fileno() is None
    assert display.keys() == ()


def test_there_are_no_keys_without_a_terminal(screen: Pty) -> None:
    reading, writing = os.pipe()
    display = TerminalDisplay(screen.stream, colour=True, keyboard=reading)
    os.write(writing, b"a")
    assert display.fileno() is None
    assert display.keys() == ()
    display.close()
    assert os.read(reading, 1) == b"a"
    os.close(reading)
    os.close(writing)


# -- a terminal that fails -------------------------------------------------------------------------


def test_a_terminal_that_is_gone_is_survived(screen: Pty, display: TerminalDisplay) -> None:
    display.show(SHOWN)
    screen.hang_up()
    display.show(OTHER)
    assert display.keys() == ()
    assert display.fileno() is None  # or the event loop would always see it as readable
    display.handle_resize()
    display.close()


def test_a_terminal_that_takes_nothing_does_not_block(
    screen: Pty, display: TerminalDisplay
) -> None:
    screen.resize(200, 60)
    shown = replace(SHOWN, messages=(MonitorMessage("y" * 600),) * 20)
    for number in range(200):  # a picture has more than 10 kB, of which a pty buffers a few
        display.show(replace(shown, problem=f"number {number}"))
        if not select.select([], [screen.slave], [], 0)[1]:
            break
    else:
        pytest.fail("the terminal never became full")
    display.show(shown)  # would block forever if the write blocked
    assert os.get_blocking(screen.slave)  # the terminal is unchanged for other programs
    screen.written()
    display.show(shown)
    assert screen.rows() == render(shown, 200, 60)


# -- in tmux ---------------------------------------------------------------------------------------

_PROGRAM = """\
import sys
from agentmux.monitor.screen import TerminalDisplay
from tests.monitor.test_screen import SHOWN
display = TerminalDisplay(sys.stdout, colour=True)
display.show(SHOWN)
sys.stdin.read()
"""


@pytest.mark.parametrize(("cols", "rows"), [(44, 60), (44, 24), (20, 12)])
def test_a_pane_shows_it(
    tmux: TmuxTerminal, wait_until: Callable[..., None], cols: int, rows: int
) -> None:
    root = Path(__file__).parent.parent.parent
    program = [sys.executable, "-c", _PROGRAM]
    made = tmux.create_session(name="m", uuid="u", cwd=root, size=(cols, rows), argv=program)

    def seen_now() -> tuple[list[str], list[str]]:
        """Return the pane's rows and the expected ones; a border may take one of the rows."""
        screen = tmux.capture([made.pane], colours=False)[made.pane]
        assert (screen.cols, rows - screen.rows) in {(cols, 0), (cols, 1)}
        expected = [line.rstrip() for line in render(SHOWN, screen.cols, screen.rows)]
        return [line.rstrip() for line in screen.text.split("\n")], expected

    def shows() -> bool:
        found, expected = seen_now()
        return found == expected

    wait_until(shows, what=seen_now)


# -- without a terminal ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("told", "lines"),
    [
        ([()], []),
        ([("a", "b")], ["a", "b"]),
        ([("a",), ("a", "b"), ("a", "b")], ["a", "b"]),
        ([("a",), ("a", "a")], ["a", "a"]),
        ([("a", "b", "c"), ("b", "c", "d")], ["a", "b", "c", "d"]),
        ([("a", "b"), ("c", "d")], ["a", "b", "c", "d"]),
        ([("one\ntwo\x1b[2J",)], ["one two [2J"]),
    ],
)
def test_each_message_is_printed_once(told: list[tuple[str, ...]], lines: list[str]) -> None:
    stream = io.StringIO()
    display = PlainDisplay(stream)
    for messages in told:
        display.show(picture(messages=messages))
    assert stream.getvalue().splitlines() == lines


def test_a_stream_that_knows_no_such_letters_gets_others() -> None:
    data = io.BytesIO()
    stream = io.TextIOWrapper(data, "ascii")
    PlainDisplay(stream).show(picture(messages=("↻ native",)))
    assert data.getvalue() == b"? native\n"


def test_a_stream_that_is_closed_is_survived() -> None:
    stream = io.StringIO()
    display = PlainDisplay(stream)
    stream.close()
    display.show(picture(messages=("a",)))
    display.handle_resize()
    display.close()
    assert (display.fileno(), display.keys()) == (None, ())


def test_both_are_displays(display: TerminalDisplay) -> None:
    shown: tuple[Display, ...] = (display, PlainDisplay(io.StringIO()))
    for each in shown:
        each.show(SHOWN)
