"""What a user sees in tmux when a session calls: the bell, a message, the line of all sessions."""

import re
import sys
from pathlib import Path
from typing import Final

import pytest

from agentmux.adapters.tmux.announcement import announce
from agentmux.ports.tmux.terminal import StatusOption
from tests.adapters.tmux.test_ways_back import Place
from tests.conftest import WaitUntil
from tests.fakes.bench import Bench as TmuxTerminal

ODD: Final = "login: 50% #[fg=red] #{pid} #(touch x) $(touch y) %H; wants your decision"
SHOWN: Final = ODD.replace("#[", "# [")
GUIDE: Final = Path(__file__).parents[3] / "docs/how-to/inside-tmux.md"


@pytest.fixture
def place(tmux: TmuxTerminal, wait_until: WaitUntil, tmp_path: Path) -> Place:
    return Place(tmux, wait_until, tmp_path)


class Outside:
    """Another tmux server, in whose only pane a client of ours is attached."""

    def __init__(self, place: Place, socket: Path, name: str) -> None:
        self._server = TmuxTerminal(str(socket), config_file="/dev/null", timeout_s=10)
        inner = ("env", "-u", "TMUX", "tmux", "-S", place.tmux.socket, "attach", "-t", f"={name}")
        done = self._server.run("new-session", "-d", "-x", "120", "-y", "24", *inner)
        assert done.returncode == 0, done.stderr

    def screen(self) -> str:
        return self._server.run("capture-pane", "-p").stdout

    def close(self) -> None:
        self._server.run("kill-server")


@pytest.mark.parametrize("by", ["session", "test"])
def test_a_client_in_any_session_sees_the_message_with_nothing_expanded(
    place: Place, short_dir: Path, wait_until: WaitUntil, by: str
) -> None:
    place.make("mine")
    place.make_ours()
    outside = Outside(place, short_dir / "out", "mine")
    try:
        wait_until(lambda: place.shown() == ["mine"], 10, outside.screen)
        if by == "session":
            place.tmux.tell_clients(place.ours, ODD)
        else:
            assert announce(place.tmux.socket, ODD) == 1
        wait_until(lambda: SHOWN in outside.screen(), 10, outside.screen)
        # tmux before 3.6 draws no pane while a message stands: it must not stand for long.
        place.tmux.run("respawn-pane", "-k", "-t", "=mine:", "echo drawn; sleep 60")
        wait_until(lambda: "drawn" in outside.screen(), 5, outside.screen)
    finally:
        outside.close()


def test_a_client_that_shows_the_monitor_needs_no_message(
    place: Place, short_dir: Path, wait_until: WaitUntil
) -> None:
    place.make("mine")
    place.make_ours()
    elsewhere, here = (Outside(place, short_dir / each, each) for each in ("mine", "ours"))
    drawn: list[str] = []

    def is_drawn() -> bool:
        drawn.append(here.screen())
        return "drawn" in drawn[-1]

    try:
        wait_until(lambda: sorted(place.shown()) == ["mine", "ours"], 30, here.screen)
        place.tmux.tell_clients(place.ours, ODD)
        wait_until(lambda: SHOWN in elsewhere.screen(), 30, elsewhere.screen)
        place.tmux.run("respawn-pane", "-k", "-t", "=ours:", "echo drawn; sleep 60")
        wait_until(is_drawn, 30, here.screen)
        assert not any("login: 50%" in each for each in drawn)
        place.tell("new-window", "-t", "=ours:", "sleep 60")
        place.tmux.tell_clients(place.ours, ODD)
        wait_until(lambda: SHOWN in here.screen(), 30, here.screen)
    finally:
        elsewhere.close()
        here.close()


def test_without_a_server_nobody_is_told(short_dir: Path) -> None:
    assert announce(str(short_dir / "none"), ODD) == 0


RING: Final = """
import sys
from agentmux.monitor.screen import TerminalDisplay
display = TerminalDisplay(sys.stdout, colour=True)
display.ring()
input()
"""


def test_the_bell_of_the_monitor_marks_its_window(place: Place, wait_until: WaitUntil) -> None:
    """tmux marks a window that nobody looks at; the user is in another one of the same session."""
    place.make("mine")
    flags = ("display-message", "-p", "-t", "mine:0", "#{window_bell_flag}")
    place.tell("new-window", "-t", "mine:")
    with place.attach("mine"):
        assert place.tmux.run(*flags).stdout.strip() == "0"
        place.tell("respawn-pane", "-k", "-t", "mine:0", sys.executable, "-c", RING)
        wait_until(lambda: place.tmux.run(*flags).stdout.strip() == "1", 10)


def test_the_documented_line_names_who_needs_the_user(place: Place) -> None:
    found = re.search(r"^set -g status-right '(.*)%H:%M'$", GUIDE.read_text(), re.MULTILINE)
    assert found is not None
    place.make("mine")
    place.make_ours()

    def line() -> str:
        return place.tmux.run("display-message", "-p", "-t", "mine:", found[1]).stdout.strip()

    assert line() == ""
    place.tmux.set_options(place.ours, {StatusOption.NEEDS_YOU: "decision"}, {})
    assert line() == "ours"
    place.tmux.set_options(place.ours, {StatusOption.NEEDS_YOU: ""}, {})
    assert line() == ""
