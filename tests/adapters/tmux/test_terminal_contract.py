"""The contract of a terminal, tested on real tmux and on the fake."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from agentmux.adapters.system.processes.processes import is_alive, start_time
from agentmux.errors import BlockedError
from agentmux.ports.tmux.terminal import (
    CreatedSession,
    HiddenServerError,
    NewPane,
    Server,
    Target,
    TerminalError,
    TerminalGoneError,
)
from tests.conftest import WaitUntil
from tests.fakes.bench import Flat

SLEEP = ("sleep", "1000")


def sh(script: str) -> tuple[str, ...]:
    return ("/bin/sh", "-c", script)


def create(terminal: Flat, cwd: Path, name: str = "agentmux-a") -> CreatedSession:
    return terminal.create_session(name=name, uuid=f"u-{name}", cwd=cwd, size=(220, 60), argv=SLEEP)


def new(number: int, argv: tuple[str, ...] = SLEEP) -> NewPane:
    # Ids of digits only are the difficult ones, because tmux takes them for indices.
    return NewPane(seat=f"coder-{number}", launch=f"{number:012}", label=f"c {number}", argv=argv)


def test_without_a_server_there_is_nothing(terminal: Flat) -> None:
    assert terminal.server().pid == 0
    assert terminal.sessions() == ()
    check_gone(terminal, Target(server=terminal.server(), session="$0", uuid="u"))


def check_gone(terminal: Flat, target: Target) -> None:
    """Check which calls do nothing and which raise once our session is gone."""
    own = terminal.own(target)
    assert own.capture(["%0"]) == {}
    own.close_panes(["%0"])
    own.kill()
    for call in (own.panes, own.count_clients, lambda: own.open_panes([new(1)]),
                 lambda: own.arrange(["%0"]), lambda: own.paste("%0", "x"),
                 lambda: own.press_enter("%0"), lambda: own.go_to("%0"),
                 lambda: own.set_options({"@x": "1"}, {}),
                 lambda: own.reopen_monitor(cwd=Path("/"), argv=SLEEP)):  # fmt: skip
        with pytest.raises(TerminalGoneError):
            call()


@pytest.mark.parametrize("differs", ["session", "uuid"])
def test_another_session_of_our_server_is_left_alone(
    terminal: Flat, tmp_path: Path, differs: str
) -> None:
    made = create(terminal, tmp_path)
    (pane,) = terminal.open_panes(made.session.id, [new(1)]).values()
    before = terminal.panes(made.session.id)
    other = {"session": "$4711"} if differs == "session" else {"uuid": "4711"}
    check_gone(terminal, replace(made.target, **other))  # type: ignore[arg-type]  # text only
    assert terminal.own(made.target).panes() == before
    assert {each.id for each in before} == {made.pane, pane}


@pytest.mark.parametrize("lives", [True, False], ids=["ours lives", "ours is gone"])
def test_another_server_at_our_socket_is_left_alone(
    terminal: Flat, tmp_path: Path, *, lives: bool
) -> None:
    """Ids are unique only within a server: in the other one, ``$0`` and ``%0`` are not ours."""
    made = create(terminal, tmp_path)
    with subprocess.Popen(["sleep", "1000"]) as process:
        if not lives:
            process.kill()
            process.wait()
        old = Server(socket=terminal.socket, pid=process.pid, started=start_time(process.pid))
        target = replace(made.target, server=old)
        if lives:
            own = terminal.own(target)
            for call in (own.panes, own.kill, lambda: own.open_panes([new(1)]),
                         lambda: own.close_panes([made.pane]), lambda: own.capture([made.pane]),
                         lambda: own.press_enter(made.pane)):  # fmt: skip
                with pytest.raises(HiddenServerError, match=f"server {process.pid} runs without"):
                    call()
        else:
            check_gone(terminal, target)
        process.kill()
    assert [each.id for each in terminal.own(made.target).panes()] == [made.pane]


def test_a_session_is_found_by_its_uuid(terminal: Flat, tmp_path: Path) -> None:
    made = create(terminal, tmp_path)
    create(terminal, tmp_path, name="agentmux-ab")

    assert made.session in terminal.sessions()
    assert [session.uuid for session in terminal.sessions()] == ["u-agentmux-a", "u-agentmux-ab"]
    assert made.server == terminal.server()
    assert is_alive(made.server.pid, made.server.started)


def test_a_taken_name_is_refused_and_nothing_changes(terminal: Flat, tmp_path: Path) -> None:
    made = create(terminal, tmp_path)

    with pytest.raises(BlockedError) as raised:
        terminal.create_session(
            name="agentmux-a", uuid="other", cwd=tmp_path, size=(80, 24), argv=SLEEP
        )

    assert raised.value.reason == "name_taken"
    assert terminal.sessions() == (made.session,)


def test_the_monitor_runs_in_the_directory(
    terminal: Flat, tmp_path: Path, wait_until: WaitUntil
) -> None:
    folder = tmp_path / "a dir #(touch pwned)"
    folder.mkdir()
    made = terminal.create_session(
        name="agentmux-a", uuid="u", cwd=folder, size=(220, 60), argv=sh("pwd; exec sleep 1000")
    )
    wait_until(lambda: str(folder) in terminal.capture([made.pane])[made.pane].text)


def test_panes_open_with_their_marks_and_out_of_sight(terminal: Flat, tmp_path: Path) -> None:
    session = create(terminal, tmp_path).session.id

    opened = terminal.open_panes(session, [new(1), new(2)])

    panes = {pane.id: pane for pane in terminal.panes(session)}
    assert [(panes[opened[new(n).launch]].seat) for n in (1, 2)] == ["coder-1", "coder-2"]
    assert {panes[pane].launch for pane in opened.values()} == set(opened)
    assert not any(panes[pane].visible or panes[pane].dead for pane in opened.values())
    assert len(panes) == 3
    monitor = next(pane for pane in panes.values() if not pane.launch)
    assert (monitor.seat, monitor.visible) == ("", True)
    assert all(is_alive(pane.pid) for pane in panes.values())


def test_a_program_that_ends_at_once_keeps_its_pane(
    terminal: Flat, tmp_path: Path, wait_until: WaitUntil
) -> None:
    session = create(terminal, tmp_path).session.id
    opened = terminal.open_panes(session, [new(1, sh("echo last words; exit 3"))])
    pane = opened[new(1).launch]

    wait_until(lambda: [one.dead for one in terminal.panes(session) if one.id == pane] == [True])

    # tmux may reap a program before it has read what that printed last.
    wait_until(lambda: "last words" in terminal.capture([pane])[pane].text)


def test_arranging_shows_some_and_parks_the_others(terminal: Flat, tmp_path: Path) -> None:
    session = create(terminal, tmp_path).session.id
    first, second, third = terminal.open_panes(session, [new(1), new(2), new(3)]).values()

    def visible() -> set[str]:
        return {pane.id for pane in terminal.panes(session) if pane.visible and pane.launch}

    terminal.arrange(session, [first, second])
    assert visible() == {first, second}
    terminal.arrange(session, [second, third, "%4711"])
    assert visible() == {second, third}
    terminal.arrange(session, [])
    assert visible() == set()
    windows = [pane.window for pane in terminal.panes(session)]
    assert len(set(windows)) == 4


def test_capture_keeps_every_row_and_leaves_out_the_gone(
    terminal: Flat, tmp_path: Path, wait_until: WaitUntil
) -> None:
    session = create(terminal, tmp_path).session.id
    script = r"printf 'one\n\n\033[31mred\033[0m'; exec sleep 1000"
    (pane,) = terminal.open_panes(session, [new(1, sh(script))]).values()
    wait_until(lambda: "red" in terminal.capture([pane])[pane].text)

    screens = terminal.capture(["%4711", pane])

    assert list(screens) == [pane]
    screen = screens[pane]
    assert screen.text.split("\n") == ["one", "", "red", *[""] * 57]
    assert "\x1b[31mred" in screen.ansi
    assert (screen.cols, screen.rows, screen.cursor_row, screen.cursor_col) == (220, 60, 2, 3)
    plain = terminal.capture([pane], colours=False)[pane]
    assert plain.ansi == plain.text == screen.text


def test_a_screen_keeps_the_blank_at_which_a_program_waits(
    terminal: Flat, tmp_path: Path, wait_until: WaitUntil
) -> None:
    session = create(terminal, tmp_path).session.id
    (pane,) = terminal.open_panes(session, [new(1, sh("printf 'old  \\n> '; exec cat"))]).values()
    wait_until(lambda: ">" in terminal.capture([pane])[pane].text)
    for colours in (True, False):
        screen = terminal.capture([pane], colours=colours)[pane]
        assert screen.text.split("\n")[:3] == screen.ansi.split("\n")[:3] == ["old", "> ", ""]


def test_a_paste_is_typed_and_enter_is_a_thing_of_its_own(
    terminal: Flat, tmp_path: Path, wait_until: WaitUntil
) -> None:
    session = create(terminal, tmp_path).session.id
    script = 'IFS= read -r line; echo "got <$line>"; exec sleep 1000'
    (pane,) = terminal.open_panes(session, [new(1, sh(script))]).values()

    terminal.paste(pane, "a; b #(c) 'd';")
    wait_until(lambda: "'d';" in terminal.capture([pane])[pane].text)
    assert "got" not in terminal.capture([pane])[pane].text
    terminal.press_enter(pane)
    wait_until(lambda: "got <a; b #(c) 'd';>" in terminal.capture([pane])[pane].text)


def test_keys_are_pressed_by_name(terminal: Flat, tmp_path: Path, wait_until: WaitUntil) -> None:
    session = create(terminal, tmp_path).session.id
    script = 'IFS= read -r line; echo "got <$line>"; exec sleep 1000'
    (pane,) = terminal.open_panes(session, [new(1, sh(script))]).values()

    terminal.press_keys(pane, ["r", "-", "R", "Enter"])
    wait_until(lambda: "got <r-R>" in terminal.capture([pane])[pane].text)


def test_a_paste_is_bracketed_and_keeps_its_newlines(
    terminal: Flat, tmp_path: Path, wait_until: WaitUntil
) -> None:
    session = create(terminal, tmp_path).session.id
    program = (
        "import os, tty; tty.setraw(0); os.write(1, b'\\x1b[?2004hready'); got = b''\n"
        "while got.count(b'201~') < 2: got += os.read(0, 99)\n"
        "os.write(1, repr(got).encode()); os.read(0, 1)"
    )
    (pane,) = terminal.open_panes(session, [new(1, (sys.executable, "-c", program))]).values()
    wait_until(lambda: "ready" in terminal.capture([pane])[pane].text)

    terminal.paste(pane, "a\nb\n")  # tmux 3.7 and later filter pasted text
    terminal.paste(pane, r"\n \033 ^[ %1 ~")

    def shown() -> str:
        return terminal.capture([pane])[pane].text

    wait_until(lambda: r"\x1b[200~a\nb\n\x1b[201~" in shown(), what=shown)
    assert r"\x1b[200~\\n \\033 ^[ %1 ~\x1b[201~" in shown()


def test_typing_into_a_pane_that_is_gone_is_an_error(terminal: Flat, tmp_path: Path) -> None:
    create(terminal, tmp_path)
    with pytest.raises(TerminalError):
        terminal.paste("%4711", "x")
    with pytest.raises(TerminalError):
        terminal.press_enter("%4711")


def test_labels_may_hold_anything_and_name_the_gone(terminal: Flat, tmp_path: Path) -> None:
    made = create(terminal, tmp_path)
    terminal.label({"%4711": "x", made.pane: "a; #(touch pwned) \n;"})
    assert terminal.sessions() == (made.session,)


def test_closed_panes_and_sessions_take_their_programs_along(
    terminal: Flat, tmp_path: Path, wait_until: WaitUntil
) -> None:
    made = create(terminal, tmp_path)
    other = create(terminal, tmp_path, name="agentmux-ab")
    opened = terminal.open_panes(made.session.id, [new(1), new(2)])
    pids = {pane.id: pane.pid for pane in terminal.panes(made.session.id)}
    first, second = opened.values()

    terminal.close_panes([first, "%4711"])
    wait_until(lambda: not is_alive(pids[first]))
    assert {pane.id for pane in terminal.panes(made.session.id)} == {made.pane, second}
    terminal.kill_session(made.session.id)
    wait_until(lambda: not any(is_alive(pid) for pid in pids.values()))
    with pytest.raises(TerminalGoneError):
        terminal.own(made.target).panes()
    assert terminal.sessions() == (other.session,)


def test_a_pane_is_found_by_its_launch(terminal: Flat, tmp_path: Path) -> None:
    made = create(terminal, tmp_path)
    own = terminal.own(made.target)
    (pane,) = own.open_panes([new(1)]).values()
    assert own.find_pane(new(1).launch) == pane
    assert own.find_pane(new(2).launch) == ""


def test_the_server_goes_with_its_last_session(
    terminal: Flat, tmp_path: Path, wait_until: WaitUntil
) -> None:
    made = create(terminal, tmp_path)
    terminal.kill_session(made.session.id)
    wait_until(lambda: not is_alive(made.server.pid, made.server.started))
    assert terminal.server().pid == 0
    again = create(terminal, tmp_path)
    assert terminal.sessions() == (again.session,)


def test_a_monitor_can_be_opened_again(
    terminal: Flat, tmp_path: Path, wait_until: WaitUntil
) -> None:
    made = create(terminal, tmp_path)
    session = made.session.id
    (pane,) = terminal.open_panes(session, [new(1)]).values()
    agent = next(one.pid for one in terminal.panes(session) if one.id == pane)

    again = terminal.reopen_monitor(session, cwd=tmp_path, argv=sh("echo back; exec sleep 1000"))
    wait_until(lambda: "back" in terminal.capture([again])[again].text)
    assert again == made.pane
    terminal.close_panes([again])
    another = terminal.reopen_monitor(session, cwd=tmp_path, argv=SLEEP)

    panes = {one.id: one for one in terminal.panes(session)}
    assert set(panes) == {pane, another}
    assert panes[another].visible
    assert [one.id for one in panes.values() if one.is_monitor] == [another]
    assert (panes[pane].pid, panes[pane].visible) == (agent, False)
