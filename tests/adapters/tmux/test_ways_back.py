"""Which session a real client shows after its session has ended."""

import os
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from agentmux.ports.tmux.terminal import StatusOption
from tests.conftest import WaitUntil
from tests.e2e.conftest import Client
from tests.fakes.bench import Bench as TmuxTerminal

SLEEP = ("sleep", "600")


class Place:
    """A tmux server with the user's sessions, one of ours, and clients that switch sessions."""

    def __init__(self, tmux: TmuxTerminal, wait_until: WaitUntil, folder: Path) -> None:
        self.tmux, self._wait_until = tmux, wait_until
        env = {**os.environ, "TERM": "xterm-256color"}
        self._project: Any = SimpleNamespace(path=folder, env=env)

    def make(self, name: str) -> None:
        done = self.tmux.run("new-session", "-d", "-s", name, "-x", "80", "-y", "24", *SLEEP)
        assert done.returncode == 0, done.stderr

    def make_ours(self) -> None:
        made = self.tmux.create_session(
            name="ours", uuid="u", cwd=Path("/"), size=(80, 24), argv=SLEEP
        )
        self.ours = made.session.id

    def attach(self, name: str) -> Client:
        count = len(self.shown())
        client = Client(self._project, "tmux", "-S", self.tmux.socket, "attach", "-t", f"={name}")
        self._wait_until(lambda: len(self.shown()) > count, 10, lambda: client.said)
        return client

    def until(self, met: Callable[[], bool], client: Client) -> None:
        self._wait_until(met, 10, lambda: client.said)

    def shown(self) -> list[str]:
        """Return the name of the session that each client shows."""
        return self.tmux.run("list-clients", "-F", "#{client_session}").stdout.split()

    def clients(self) -> list[str]:
        return self.tmux.run("list-clients", "-F", "#{client_name}").stdout.split()

    def tell(self, *words: str) -> None:
        done = self.tmux.run(*words)
        assert done.returncode == 0, done.stderr

    def older(self) -> None:
        """Wait until tmux's clock, which counts seconds, gives new sessions a later time."""
        now = int(time.time())
        self._wait_until(lambda: int(time.time()) > now)


@pytest.fixture
def place(tmux: TmuxTerminal, wait_until: WaitUntil, tmp_path: Path) -> Place:
    return Place(tmux, wait_until, tmp_path)


def test_a_client_goes_back_to_the_session_that_it_came_from(place: Place) -> None:
    for name in ("another", "mine"):
        place.make(name)
    place.make_ours()
    with place.attach("mine") as client:
        place.tell("switch-client", "-t", place.ours)
        assert place.shown() == ["ours"]
        place.tmux.kill_session(place.ours, "-x 50% #[fg=red] #{pid} #(touch x); done")
        assert place.shown() == ["mine"]
        assert client.process.poll() is None
        place.until(lambda: "-x 50% # [fg=red] #{pid} #(touch x); done" in client.said, client)
    assert "ours" not in [each.name for each in place.tmux.sessions()]


def test_a_client_whose_session_is_gone_goes_to_another_one(place: Place) -> None:
    for name in ("another", "mine"):
        place.make(name)
    with place.attach("mine") as client:
        place.older()
        place.make_ours()
        place.tell("switch-client", "-t", place.ours)
        place.tell("kill-session", "-t", "=mine")
        place.tmux.kill_session(place.ours)
        assert place.shown() == ["another"]
        assert client.process.poll() is None


def test_a_client_that_came_from_a_shell_goes_back_there(place: Place) -> None:
    place.make("mine")
    place.make_ours()
    with place.attach("mine"), place.attach("ours") as client:
        place.tmux.kill_session(place.ours)
        assert client.process.wait(60) == 0
        assert place.shown() == ["mine"]


def test_where_there_is_no_other_session_a_client_ends(place: Place) -> None:
    place.make("mine")
    with place.attach("mine") as client:
        place.older()
        place.make_ours()
        place.tell("switch-client", "-t", place.ours)
        place.tell("kill-session", "-t", "=mine")
        place.tmux.kill_session(place.ours)
        assert client.process.wait(60) == 0


def test_who_looks_is_known_with_where_they_came_from(place: Place) -> None:
    place.make("mine")
    place.make_ours()
    own = place.tmux.of(place.ours)
    assert own.clients() == ()
    with place.attach("mine"), place.attach("ours"):
        place.tell("switch-client", "-c", place.clients()[0], "-t", place.ours)
        assert sorted(each.came_from for each in own.clients()) == ["", "mine"]
        assert {each.name for each in own.clients()} == set(place.clients())
        assert own.count_clients() == 2


def test_a_client_whose_session_is_gone_goes_to_one_of_the_users(
    place: Place,
) -> None:
    for name in ("another", "mine", "seen-last"):
        place.make(name)
    place.make_ours()
    place.tmux.create_session(name="aaa", uuid="v", cwd=Path("/"), size=(80, 24), argv=SLEEP)
    own = place.tmux.of(place.ours)
    with place.attach("seen-last"):
        place.older()
    with place.attach("mine") as client:  # younger than the session of ours
        place.tell("switch-client", "-t", place.ours)
        guests = " ".join(each.guest for each in own.clients())
        assert guests
        own.set_options({StatusOption.GUESTS: guests}, {})
        place.tell("kill-session", "-t", "=mine")
        assert " ".join(each.guest for each in own.clients()) == guests
        place.tmux.kill_session(place.ours, "done")
        assert place.shown() == ["seen-last"]
        assert client.process.poll() is None


def test_a_client_that_nothing_is_left_for_shows_the_last_words_in_its_terminal(
    place: Place,
) -> None:
    place.make("mine")
    with place.attach("mine") as client:
        place.older()
        place.make_ours()
        place.tell("switch-client", "-t", place.ours)
        place.tell("kill-session", "-t", "=mine")
        place.tmux.kill_session(place.ours, "session it's 'done'; $(touch x) %s #{pid} \\n")
        told = client.ended(0).rpartition("\x1b[?1049l")[2]
        assert "session it's 'done'; $(touch x) %s #{pid} \\n" in told
