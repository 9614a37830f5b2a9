"""The user's own panes and windows in a tmux session of ours outlive its end."""

from pathlib import Path

import pytest

from agentmux.adapters.system.processes.processes import is_alive
from agentmux.ports.tmux.terminal import CreatedSession, NewPane, TerminalGoneError
from tests.adapters.tmux.test_ways_back import Place, place
from tests.conftest import WaitUntil
from tests.fakes.bench import Bench as TmuxTerminal

__all__ = ["place"]

SLEEP = ("sleep", "600")
NAME = "agentmux-a"
LEFT = f"yours-{NAME}"


def make(tmux: TmuxTerminal) -> CreatedSession:
    made = tmux.create_session(name=NAME, uuid="u", cwd=Path("/"), size=(80, 24), argv=SLEEP)
    agent = NewPane(seat="coder-1", launch="000000000001", label="c", argv=SLEEP)
    tmux.open_panes(made.session.id, [agent])
    return made


def add(tmux: TmuxTerminal, *words: str) -> tuple[str, int]:
    """Open a pane as its user does; return its id and the pid of its program."""
    done = tmux.run(words[0], "-d", "-P", "-F", "#{pane_id} #{pane_pid}", *words[1:], *SLEEP)
    assert done.returncode == 0, done.stderr
    pane, pid = done.stdout.split()
    return pane, int(pid)


def names(tmux: TmuxTerminal) -> list[str]:
    return [each.name for each in tmux.sessions()]


def panes(tmux: TmuxTerminal) -> list[str]:
    return tmux.run("list-panes", "-a", "-F", "#{pane_id}").stdout.split()


def test_the_users_panes_and_windows_stay_alone(tmux: TmuxTerminal, wait_until: WaitUntil) -> None:
    made = make(tmux)
    agents = [each.pid for each in tmux.panes(made.session.id)]
    split = add(tmux, "split-window", "-t", made.pane)
    window = add(tmux, "new-window", "-t", f"{made.session.id}:")

    assert tmux.own(made.target).kill() == LEFT

    wait_until(lambda: not any(map(is_alive, agents)))
    assert sorted(panes(tmux)) == sorted([split[0], window[0]])
    assert is_alive(split[1])
    assert is_alive(window[1])
    (left,) = tmux.sessions()
    assert (left.name, left.uuid, left.path) == (LEFT, "", "")
    with pytest.raises(TerminalGoneError):
        tmux.own(made.target).panes()


def test_nothing_of_ours_is_left_on_what_stays(tmux: TmuxTerminal) -> None:
    made = make(tmux)
    tmux.set_options(made.session.id, {"@agentmux_feature": "f", "@agentmux_guests": "g"}, {})
    pane, _ = add(tmux, "split-window", "-t", made.pane)
    tmux.run("set-option", "-t", made.session.id, "@mine", "1")
    tmux.own(made.target).kill()
    for flags in ("", "-w", "-p"):
        options = tmux.run("show-options", *flags.split(), "-t", pane).stdout
        assert "agentmux" not in options
        assert "status-left" not in options
        assert "pane-border" not in options
        assert "window-size" not in options
    assert tmux.run("show-hooks", "-w", "-t", pane).stdout.strip() in {"", "window-resized"}
    assert "@mine" in tmux.run("show-options", "-t", pane).stdout
    # Else a user's `destroy-unattached on` would end it at once.
    assert "destroy-unattached off" in tmux.run("show-options", "-t", pane).stdout


def test_a_window_that_is_the_users_alone_keeps_its_options(tmux: TmuxTerminal) -> None:
    made = make(tmux)
    pane, _ = add(tmux, "new-window", "-t", f"{made.session.id}:")
    tmux.run("set-option", "-w", "-t", pane, "allow-rename", "off")
    tmux.own(made.target).kill()
    assert "allow-rename off" in tmux.run("show-options", "-w", "-t", pane).stdout


def test_a_name_that_is_taken_gets_a_number(tmux: TmuxTerminal) -> None:
    for number in ("", "2-", "3-"):
        made = make(tmux)
        add(tmux, "split-window", "-t", made.pane)
        assert tmux.own(made.target).kill() == f"yours-{number}{NAME}"
    assert len(names(tmux)) == 3


def test_an_end_that_was_interrupted_is_done_again(tmux: TmuxTerminal) -> None:
    made = make(tmux)
    pane, _ = add(tmux, "split-window", "-t", made.pane)
    tmux.run("rename-session", "-t", made.session.id, LEFT)
    assert tmux.own(made.target).kill() == LEFT
    assert panes(tmux) == [pane]


def test_without_panes_of_the_user_it_ends(tmux: TmuxTerminal, wait_until: WaitUntil) -> None:
    made = make(tmux)
    # A pane whose agent has left, and a vacant one, are ours.
    agent = next(each.id for each in tmux.panes(made.session.id) if each.seat)
    tmux.last().close_panes([agent], vacate=[agent])
    assert tmux.own(made.target).kill() == ""
    wait_until(lambda: not is_alive(made.server.pid))


def test_a_client_stays_with_the_users_panes_and_is_told(place: Place, tmux: TmuxTerminal) -> None:
    place.make("mine")
    made = make(tmux)
    add(tmux, "split-window", "-t", made.pane)
    with place.attach("mine") as client:
        place.tell("switch-client", "-t", made.session.id)
        assert tmux.own(made.target).kill("it is done") == LEFT
        assert place.shown() == [LEFT]
        place.until(
            lambda: (
                f"it is done; your own panes stay in tmux session {LEFT}"
                in " ".join(client.said.split())
            ),
            client,
        )
