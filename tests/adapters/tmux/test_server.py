"""Behaviour that depends on real tmux, with and without a hostile configuration."""

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from itertools import groupby
from pathlib import Path

import libtmux
import pytest

from agentmux.adapters.system.processes.processes import is_alive
from agentmux.adapters.tmux import commands
from agentmux.adapters.tmux.server import MINIMUM_VERSION, socket_path, version
from agentmux.core.terminal.text.captured_screen import paint, plain
from agentmux.errors import MissingError
from agentmux.ports.tmux.terminal import (
    CreatedSession,
    LeaveKeys,
    NewPane,
    Pane,
    ScreensUnreadableError,
    StatusOption,
    TerminalError,
    TerminalGoneError,
    TerminalUnreachableError,
)
from tests.conftest import WaitUntil, end_server
from tests.fakes.bench import Bench as TmuxTerminal

SLEEP = ("sleep", "1000")
NUMBER = tuple(map(int, re.findall(r"\d+", version())[:2]))
"""The version of tmux; empty for one without a number, which counts as the oldest here."""


def create(
    terminal: TmuxTerminal,
    cwd: Path,
    *,
    size: tuple[int, int] = (220, 60),
    argv: tuple[str, ...] = SLEEP,
    name: str = "agentmux-a",
) -> CreatedSession:
    return terminal.create_session(name=name, uuid="u", cwd=cwd, size=size, argv=argv)


def new(number: int, argv: tuple[str, ...] = SLEEP) -> NewPane:
    return NewPane(seat=f"coder-{number}", launch=f"{number:012}", label=f"c {number}", argv=argv)


def ask(terminal: TmuxTerminal, target: str, fmt: str) -> str:
    return terminal.run("display-message", "-p", "-t", target, fmt).stdout.rstrip("\n")


def look(terminal: TmuxTerminal, session: str) -> dict[str, Pane]:
    return {pane.id: pane for pane in terminal.panes(session)}


@pytest.fixture
def attach(tmux_under: TmuxTerminal, wait_until: WaitUntil) -> Iterator[object]:
    """Attach a client of the given size; it runs in a pane of another tmux server."""
    outer = TmuxTerminal(tmux_under.socket + "o", config_file="/dev/null")

    def clients() -> list[str]:
        return tmux_under.run("list-clients", "-F", "#{client_name}").stdout.split()

    def attached(session: str, columns: int, rows: int) -> None:
        before = clients()
        words = ["tmux", "-u", "-S", tmux_under.socket, "attach", "-t", session]
        outer.create_session(
            name="agentmux-client",
            uuid="o",
            cwd=Path("/"),
            size=(columns, rows + 1),  # its status line takes one
            argv=["env", "-u", "TMUX", *words],
        )
        wait_until(lambda: len(clients()) > len(before))

    yield attached
    outer.run("kill-server")


def test_words_reach_the_program_as_they_are(
    tmux_under: TmuxTerminal, tmp_path: Path, wait_until: WaitUntil
) -> None:
    words = ["ends;", "\\;", ";", "a\\\\;", "x;;", "{;", "#(touch pwned)", "$(touch pwned)", "a\nb"]
    words += ["", "{", "~", "%if", "#{pane_id}", "'", '"', "ü", "display-message"]
    program = f"import sys; open({str(tmp_path / 'words')!r}, 'w').write(repr(sys.argv[1:]))"
    session = create(tmux_under, tmp_path).session.id

    tmux_under.open_panes(session, [new(1, (sys.executable, "-c", program, *words))])

    wait_until(lambda: (tmp_path / "words").exists() and (tmp_path / "words").read_text())
    assert (tmp_path / "words").read_text() == repr(words)


def test_a_session_that_is_gone_before_it_is_marked_is_made_again(
    short_dir: Path, tmp_path: Path, wait_until: WaitUntil
) -> None:
    """Between a new session and its options a hook of the user may run, and a client leave."""
    config = tmp_path / "tmux.conf"
    terminal = TmuxTerminal(str(short_dir / "s"), config_file=str(config), timeout_s=10)
    config.write_text("")
    terminal.create_session(name="first", uuid="v", cwd=tmp_path, size=(80, 24), argv=SLEEP)
    began, go = tmp_path / "began", tmp_path / "go"
    hook = f"touch {began}; until [ -e {go} ]; do sleep 0.05; done"
    terminal.run("set-option", "-g", "destroy-unattached", "on")
    terminal.run("set-hook", "-g", "after-new-session", f"run-shell '{hook}'")

    def leave() -> None:
        wait_until(began.exists)
        wait_until(lambda: "agentmux-a" not in terminal.run("list-sessions").stdout)
        go.touch()

    leaving = threading.Thread(target=leave)
    leaving.start()
    made = create(terminal, tmp_path)
    leaving.join()
    assert {each.name for each in terminal.sessions()} == {"first", "agentmux-a"}
    assert ask(terminal, made.pane, "#{pane_dead}") == "0"
    end_server(terminal)


@pytest.mark.parametrize("others", [False, True])
def test_what_a_hook_of_the_user_sets_on_new_sessions_does_not_hold_for_ours(
    short_dir: Path, tmp_path: Path, others: bool
) -> None:
    """tmux runs the hook after all commands of the call that made the session."""
    config = tmp_path / "tmux.conf"
    terminal = TmuxTerminal(str(short_dir / "s"), config_file=str(config), timeout_s=10)
    config.write_text("")
    if others:
        terminal.create_session(name="first", uuid="v", cwd=tmp_path, size=(80, 24), argv=SLEEP)
    sets = ("destroy-unattached on", "-w synchronize-panes on", "-p remain-on-exit off")
    hook = " ; ".join(f"set-option {each}" for each in sets)
    line = f"set-hook -g session-created '{hook}'\n"
    config.write_text(line)
    if others:
        terminal.run("source-file", str(config))
    made = create(terminal, tmp_path)
    assert made.session in terminal.sessions()
    options = "#{destroy-unattached} #{synchronize-panes} #{remain-on-exit}"
    # In 3.5a the first option has names for its values, in 3.3a numbers.
    assert ask(terminal, made.pane, options) in {"0 0 on", "off 0 on"}
    end_server(terminal)


@pytest.mark.parametrize("others", [False, True])
@pytest.mark.parametrize("hook", ["session-created", "after-new-session"])
def test_a_hook_of_the_user_that_ends_new_sessions_is_named(
    short_dir: Path, tmp_path: Path, hook: str, others: bool
) -> None:
    config = tmp_path / "tmux.conf"
    terminal = TmuxTerminal(str(short_dir / "s"), config_file=str(config), timeout_s=10)
    config.write_text("")
    if others:
        terminal.create_session(name="first", uuid="v", cwd=tmp_path, size=(80, 24), argv=SLEEP)
    config.write_text(f"set-hook -g {hook} kill-session\n")
    if others:
        terminal.run("source-file", str(config))
    with pytest.raises(TerminalError, match=rf"hook {hook}\[0\] ends new sessions: `kill-sess"):
        create(terminal, tmp_path)
    assert {each.name for each in terminal.sessions()} == ({"first"} if others else set())
    end_server(terminal)


def test_a_hook_of_the_user_may_rename_a_new_session(short_dir: Path, tmp_path: Path) -> None:
    config = tmp_path / "tmux.conf"
    config.write_text("set-hook -g session-created 'rename-session mine'\n")
    terminal = TmuxTerminal(str(short_dir / "s"), config_file=str(config), timeout_s=10)
    made = create(terminal, tmp_path)
    assert [(each.id, each.uuid, each.name) for each in terminal.sessions()] == [
        (made.session.id, "u", "mine")
    ]
    end_server(terminal)


def test_mistakes_in_the_users_configuration_do_not_cover_the_monitor(
    short_dir: Path, tmp_path: Path, wait_until: WaitUntil
) -> None:
    """tmux shows them over the first pane of the first session, which takes its keys away.

    3.3a does so at once, and a warning names them; 3.5a when the first client attaches.
    """
    config = tmp_path / "tmux.conf"
    config.write_text("set -g no-such-option red\nbind-nope x y\n")
    terminal = TmuxTerminal(str(short_dir / "s"), config_file=str(config), timeout_s=10)
    made = create(terminal, tmp_path)
    assert ask(terminal, made.pane, "#{pane_mode}") == ""
    if NUMBER < (3, 4):
        (warning,) = made.warnings
        assert warning.endswith(f"tmux -L mistakes -f {config} new-session")
    outer = TmuxTerminal(str(short_dir / "o"), config_file="/dev/null", timeout_s=10)
    words = (
        "tmux",
        "-u",
        "-S",
        terminal.socket,
        *commands.show_session_command(made.target, "attach-session"),
    )
    argv = ("env", "-u", "TMUX", *words)
    outer.create_session(name="client", uuid="o", cwd=tmp_path, size=(80, 25), argv=argv)
    wait_until(lambda: terminal.run("list-clients").stdout)
    assert ask(terminal, made.pane, "#{pane_mode}") == ""
    end_server(outer)
    assert create(terminal, tmp_path, name="agentmux-b").warnings == ()
    end_server(terminal)


def test_output_of_the_users_hooks_does_not_cover_what_is_attached_to(
    tmux_under: TmuxTerminal, tmp_path: Path, attach: Callable[[str, int, int], None]
) -> None:
    made = create(tmux_under, tmp_path)
    tmux_under.run("run-shell", "-t", made.pane, "echo text of a hook")
    assert ask(tmux_under, made.pane, "#{pane_mode}") == commands.VIEW
    attach(made.session.id, 120, 40)
    client = tmux_under.run("list-clients", "-F", "#{client_name}").stdout.strip()
    tmux_under.run(*commands.show_session_command(made.target, f"switch-client -c {client}"))
    assert ask(tmux_under, made.pane, "#{pane_mode}") == ""


@pytest.mark.long
def test_no_text_of_ours_runs_a_command(
    tmux_under: TmuxTerminal, tmp_path: Path, wait_until: WaitUntil, attach: object
) -> None:
    assert callable(attach)
    bad = "x #(touch pwned) $(touch pwned);"
    folder = tmp_path / bad
    folder.mkdir()
    made = create(tmux_under, folder)
    attach(made.session.id, 120, 40)
    for number in range(25):
        found = tmux_under.create_session(
            name=f"n{number} {bad}",
            uuid=bad,
            cwd=folder,
            size=(80, 24),
            argv=("sh", "-c", "pwd; cat"),
        )
        launch = NewPane(seat=bad, launch=f"{number:012}", label=bad, argv=SLEEP)
        opened = tmux_under.open_panes(made.session.id, [launch])
        tmux_under.arrange(made.session.id, list(opened.values()))
        tmux_under.label({found.pane: bad, made.pane: bad, **dict.fromkeys(opened.values(), bad)})
        tmux_under.arrange(made.session.id, [])
        assert found.session.uuid == bad
        assert found.session in tmux_under.sessions()
        assert ask(tmux_under, found.pane, "#{pane_current_path}") == str(folder)
    # Formats run their commands asynchronously: wait for a later one that does run.
    ran = tmp_path / "ran"
    wait_until(
        lambda: (tmux_under.run("display-message", "-p", f"#(touch {ran})"), ran.exists())[1]
    )
    assert not [path for path in tmp_path.rglob("*") if path.name == "pwned"]
    assert not Path("pwned").exists()
    assert not (Path.home() / "pwned").exists()


def test_a_name_that_begins_another_is_not_taken_for_it(
    tmux_under: TmuxTerminal, tmp_path: Path
) -> None:
    longer = tmux_under.create_session(
        name="agentmux-billing", uuid="long", cwd=tmp_path, size=(80, 24), argv=SLEEP
    )
    shorter = tmux_under.create_session(
        name="agentmux-bill", uuid="short", cwd=tmp_path, size=(80, 24), argv=SLEEP
    )
    tmux_under.kill_session(shorter.session.id)
    tmux_under.kill_session(shorter.session.id)
    tmux_under.kill_session("=agentmux-bill")
    assert tmux_under.sessions() == (longer.session,)


def test_marks_fall_on_new_panes_and_the_focus_stays(
    tmux_under: TmuxTerminal, tmp_path: Path, wait_until: WaitUntil
) -> None:
    other = tmux_under.create_session(
        name="other", uuid="o", cwd=tmp_path, size=(80, 24), argv=SLEEP
    )
    session = create(tmux_under, tmp_path).session.id
    # Launch ids of digits only, some equal to window indices, and programs that end at once.
    numbers = range(50)
    opened: dict[str, str] = {}
    for number in numbers:
        opened |= tmux_under.open_panes(session, [new(number, ("/bin/false", "x"))])

    panes = look(tmux_under, session)
    assert [panes[opened[f"{n:012}"]].seat for n in numbers] == [f"coder-{n}" for n in numbers]
    assert [panes[opened[f"{n:012}"]].launch for n in numbers] == [f"{n:012}" for n in numbers]
    wait_until(lambda: sum(pane.dead for pane in tmux_under.panes(session)) == 50)
    active = tmux_under.run("list-windows", "-t", session, "-f", "#{window_active}", "-F", "#W")
    assert active.stdout == "agentmux\n"
    assert {pane.launch for pane in tmux_under.panes(other.session.id)} == {""}


def test_many_panes_open_in_few_calls(tmux_under: TmuxTerminal, tmp_path: Path) -> None:
    session = create(tmux_under, tmp_path).session.id
    panes = [new(number, (*SLEEP[:1], *("1" for _ in range(40)), "1000")) for number in range(60)]
    groups = [commands.open_pane(session, pane) for pane in panes]
    calls = list(commands.batches(groups))
    assert 1 < len(calls) < 10
    assert all(sum(len(word) + 1 for word in call) <= 12_000 for call in calls)

    opened = tmux_under.open_panes(session, panes)

    assert {pane.launch: pane.id for pane in tmux_under.panes(session) if pane.launch} == opened
    assert len(opened) == 60


def test_the_monitor_keeps_its_columns_fewer_where_there_are_few(
    tmux_under: TmuxTerminal, tmp_path: Path, wait_until: WaitUntil, attach: object
) -> None:
    assert callable(attach)
    made = create(tmux_under, tmp_path)
    opened = list(tmux_under.open_panes(made.session.id, [new(n) for n in range(5)]).values())
    tmux_under.arrange(made.session.id, opened[:4])
    assert ask(tmux_under, made.pane, "#{pane_width}") == "64"
    assert [ask(tmux_under, pane, "#{pane_width}") for pane in opened] == ["155"] * 4 + ["220"]

    tmux_under.run("resize-window", "-t", made.pane, "-x", "159", "-y", "40")
    tmux_under.arrange(made.session.id, opened[:4])
    assert ask(tmux_under, made.pane, "#{pane_width}") == "44"
    tmux_under.run("set-option", "-w", "-t", made.pane, "window-size", "latest")

    attach(made.session.id, 100, 30)

    wait_until(lambda: ask(tmux_under, made.pane, "#{window_width}") == "100")
    wait_until(
        lambda: ask(tmux_under, made.pane, "#{pane_width}") == "30",
        what=lambda: ask(tmux_under, made.pane, "#{window_layout}"),
    )
    tmux_under.arrange(made.session.id, [opened[4], opened[0]])
    assert ask(tmux_under, made.pane, "#{pane_width} #{pane_left}") == "30 0"


SIZES = """
import os, signal, sys

def note(*_):
    size = os.get_terminal_size()
    with open(sys.argv[1], "a") as file:
        print(size.columns, size.lines, file=file)

signal.signal(signal.SIGWINCH, note)
note()
while True:
    signal.pause()
"""


@pytest.mark.parametrize("closed", ["before", "after"])
def test_while_one_pane_follows_another_the_monitor_keeps_its_width(
    tmux_under: TmuxTerminal, tmp_path: Path, wait_until: WaitUntil, closed: str
) -> None:
    seen = tmp_path / "sizes"
    made = create(tmux_under, tmp_path, argv=(sys.executable, "-c", SIZES, str(seen)))
    session = made.session.id
    wait_until(lambda: seen.exists() and seen.read_text().endswith("\n"))

    def sizes() -> list[str]:
        return seen.read_text().splitlines()

    shown: list[str] = []
    for step, count in enumerate((1, 1, 2, 2, 1, 3, 1)):
        if closed == "before":
            tmux_under.close_panes(shown, vacate=shown)
            assert ask(tmux_under, made.pane, "#{pane_width}") == ("64" if shown else "220")
        panes = [new(10 * step + n) for n in range(count)]
        opened = list(tmux_under.open_panes(session, panes).values())
        if closed == "after":
            tmux_under.close_panes(shown, vacate=shown)
        size = tmux_under.arrange(session, opened).size
        assert size is not None
        assert ask(tmux_under, made.pane, "#{pane_width} #{pane_height}") == "{} {}".format(*size)
        found = look(tmux_under, session)
        assert [pane for pane in found if found[pane].visible][1:] == opened
        assert len(found) == 1 + len(opened)
        shown = opened
        # tmux passes on a new size only after a while, so wait for each one.
        rows = 50 + step
        tmux_under.run("resize-window", "-t", made.pane, "-x", "220", "-y", f"{rows}")
        wait_until(lambda: sizes()[-1].endswith(f" {rows - 1}"), what=seen.read_text)  # noqa: B023
    assert [width for width, _ in groupby(sizes(), lambda size: size.split()[0])] == ["220", "64"]


def test_a_place_that_nobody_takes_goes_with_the_next_arrangement(
    tmux_under: TmuxTerminal, tmp_path: Path, wait_until: WaitUntil
) -> None:
    made = create(tmux_under, tmp_path)
    session = made.session.id
    first, second = tmux_under.open_panes(session, [new(1), new(2)]).values()
    tmux_under.arrange(session, [first, second])
    tmux_under.close_panes([first, second, "%4711"], vacate=[first, "%4711"])
    panes = look(tmux_under, session)
    assert panes.keys() == {made.pane, first}
    assert (panes[first].launch, panes[first].visible) == ("", True)
    tmux_under.arrange(session, [])
    assert look(tmux_under, session).keys() == {made.pane}
    assert ask(tmux_under, made.pane, "#{pane_width}") == "220"


def test_a_parked_pane_keeps_the_full_size(tmux_under: TmuxTerminal, tmp_path: Path) -> None:
    made = create(tmux_under, tmp_path)
    (pane,) = tmux_under.open_panes(made.session.id, [new(1)]).values()
    for _ in range(3):
        tmux_under.arrange(made.session.id, [pane])
        tmux_under.arrange(made.session.id, [])
        assert ask(tmux_under, pane, "#{pane_width}x#{pane_height} #W") == "220x60 coder-1"


def test_without_room_the_last_panes_stay_parked(tmux_under: TmuxTerminal, tmp_path: Path) -> None:
    made = create(tmux_under, tmp_path, size=(80, 24))
    opened = list(tmux_under.open_panes(made.session.id, [new(n) for n in range(30)]).values())
    tmux_under.arrange(made.session.id, opened)
    panes = look(tmux_under, made.session.id)
    shown = [pane for pane in opened if panes[pane].visible]
    assert 4 <= len(shown) < 30
    assert shown == opened[: len(shown)]


def test_every_client_goes_to_a_pane_wherever_it_is(
    tmux_under: TmuxTerminal, tmp_path: Path
) -> None:
    made = create(tmux_under, tmp_path)
    session = made.session.id
    other = create(tmux_under, tmp_path, name="agentmux-b")
    beside, parked = tmux_under.open_panes(session, [new(1), new(2)]).values()
    tmux_under.arrange(session, [beside])
    linked = look(tmux_under, session)[parked].window
    tmux_under.run("link-window", "-d", "-s", linked, "-t", f"{other.session.id}:")
    for pane in (beside, parked, made.pane, beside):
        assert tmux_under.go_to(session, pane)
        assert ask(tmux_under, f"{session}:", "#{pane_id}") == pane
    tmux_under.run("resize-pane", "-Z", "-t", beside)
    assert tmux_under.go_to(session, made.pane)
    assert ask(tmux_under, f"{session}:", "#{pane_id} #{window_zoomed_flag}") == f"{made.pane} 0"
    assert not tmux_under.go_to(session, other.pane)
    assert not tmux_under.go_to(session, "%4711")
    assert ask(tmux_under, f"{session}:", "#{pane_id}") == made.pane
    assert ask(tmux_under, f"{other.session.id}:", "#{pane_id}") == other.pane


def test_options_are_set_on_the_session_and_its_panes_alone(
    tmux_under: TmuxTerminal, tmp_path: Path
) -> None:
    made = create(tmux_under, tmp_path)
    other = create(tmux_under, tmp_path, name="agentmux-b")
    odd = "50% #{pid} #(touch x) é;\n"
    tmux_under.set_options(made.session.id, {"@a": odd, "@b": "x\x1by;"}, {
        made.pane: {"@c": "1"}, "%4711": {"@c": "1"}, other.pane: {}})  # fmt: skip
    assert ask(tmux_under, made.pane, "#{@a}|#{@b}|#{@c}") == f"{odd.strip()}|xy;|1"
    assert ask(tmux_under, other.pane, "#{@a}|#{@b}|#{@c}") == "||"
    assert "@a" not in tmux_under.run("show-options", "-g").stdout


def test_the_status_line_and_the_borders_show_what_the_session_is_at(
    tmux_under: TmuxTerminal, tmp_path: Path
) -> None:
    made = create(tmux_under, tmp_path)
    session = made.session.id
    (pane,) = tmux_under.open_panes(session, [new(1)]).values()
    tmux_under.arrange(session, [pane])
    assert "agentmux" in ask(tmux_under, session, "#{E:status-left}")
    shown: dict[str, str] = {
        StatusOption.FEATURE: "50% #[fg=red]off #(touch x) for everybody, at once",
        StatusOption.PHASE: "planning",
        StatusOption.STATUS: "waiting for you",
        StatusOption.NEEDS_YOU: "decision",
    }
    tmux_under.set_options(session, shown, {pane: {StatusOption.WAITS: "1"}})
    left = ask(tmux_under, session, "#{E:status-left}")
    styles = re.findall(r"#\[.*?\]", left)
    assert "#[bg=yellow]" in styles
    assert "#[fg=red]" not in styles
    text = re.sub(r"#\[.*?\]", "", left)
    assert text.startswith(" 50% # [fg=red]off")
    assert text.endswith("planning · waiting for you | ")
    assert "monitor" not in text
    keys: dict[str, str] = {StatusOption.LEFT: "C-b Left", StatusOption.WINDOW: "C-b l"}
    tmux_under.set_options(session, {**keys, StatusOption.STATUS: "planning"}, {})
    tmux_under.go_to(session, pane)
    left = ask(tmux_under, session, "#{E:status-left}")
    assert "C-b Left goes to the monitor |" in left
    assert left.endswith(" planning | ")
    tmux_under.arrange(session, [])
    tmux_under.go_to(session, pane)
    assert "C-b l goes to the monitor |" in ask(tmux_under, session, "#{E:status-left}")
    tmux_under.arrange(session, [pane])
    border = "#{E:pane-border-format}|#{E:pane-border-style}|#{E:pane-active-border-style}"
    assert "waits for you: c 1" in ask(tmux_under, pane, border)
    assert ask(tmux_under, pane, border).endswith("|fg=yellow|fg=yellow")
    assert ask(tmux_under, made.pane, border) == " agentmux |default|fg=green"
    tmux_under.close_panes([pane], vacate=[pane])
    assert "waits" not in ask(tmux_under, pane, border)
    for scope in ("-g", "-gw", "-s"):
        assert "agentmux" not in tmux_under.run("show-options", scope).stdout


def test_the_keys_that_leave_are_those_that_the_user_has_bound(
    tmux_under: TmuxTerminal, tmp_path: Path
) -> None:
    own = tmux_under.of(create(tmux_under, tmp_path).session.id)
    prefix = ask(tmux_under, "", "#{prefix}")
    usual = LeaveKeys(
        detach=f"{prefix} d", back=f"{prefix} L", left=f"{prefix} Left", window=f"{prefix} l"
    )
    assert own.leave_keys() == usual
    for words in (
        ("unbind-key", "d"),
        ("bind-key", "-r", '"', "detach-client"),
        ("bind-key", "D", "detach-client", "-P"),  # would end the shell, too
        ("unbind-key", "L"),
        ("bind-key", "-n", "M-\\", "switch-client", "-l"),
        ("bind-key", "h", "select-pane", "-L"),
        ("unbind-key", "Left"),
    ):
        assert not tmux_under.run(*words).returncode
    bound = LeaveKeys(detach=f'{prefix} "', back="M-\\", left=f"{prefix} h", window=f"{prefix} l")
    assert own.leave_keys() == bound
    tmux_under.run("set-option", "-g", "prefix", "None")
    assert own.leave_keys() == LeaveKeys(detach="", back="M-\\")
    tmux_under.run("set-option", "-g", "prefix2", "C-Space")
    assert own.leave_keys().detach == 'C-Space "'
    tmux_under.run("unbind-key", "-a", "-T", "prefix")
    assert own.leave_keys().detach == ""


def test_a_tiny_terminal_is_no_failure(tmux_under: TmuxTerminal, tmp_path: Path) -> None:
    made = create(tmux_under, tmp_path, size=(20, 3))
    opened = tmux_under.open_panes(made.session.id, [new(1), new(2)])
    tmux_under.arrange(made.session.id, list(opened.values()))
    assert len(look(tmux_under, made.session.id)) == 3


@pytest.mark.parametrize(
    ("columns", "key", "border"),
    [
        (220, "", "! orchestrator killed; the agents go on"),
        (80, "", "! killed; the agents go on"),
        (220, "C-b d", "! orchestrator killed; C-b d leaves"),
        (80, "C-b d", "! killed; C-b d leaves"),
    ],
)
def test_a_monitor_that_was_killed_says_what_to_type(
    tmux_under: TmuxTerminal,
    tmp_path: Path,
    wait_until: WaitUntil,
    attach: object,
    columns: int,
    key: str,
    border: str,
) -> None:
    """The whole command is there, in a monitor of any width, and nothing that it said before."""
    assert callable(attach)
    turn = (sys.executable, "-c", "print('Your turn'); import time; time.sleep(1e6)")
    made = create(tmux_under, tmp_path, size=(columns, 24), argv=turn)
    opened = tmux_under.open_panes(made.session.id, [new(1)])
    tmux_under.arrange(made.session.id, list(opened.values()))
    tmux_under.run("set-option", "-t", made.session.id, StatusOption.DETACH, key)
    attach(made.session.id, columns, 24)
    outer = TmuxTerminal(tmux_under.socket + "o", config_file="/dev/null")

    def seen() -> str:
        return outer.run("capture-pane", "-p", "-t", "=agentmux-client:").stdout

    # The hostile configuration shows the output of a hook over the pane.
    tmux_under.run("send-keys", "-X", "-t", made.pane, "cancel")
    wait_until(lambda: "─ agentmux ─" in seen() and "Your turn" in seen(), what=seen)
    os.kill(int(ask(tmux_under, made.pane, "#{pane_pid}")), signal.SIGKILL)

    def died() -> bool:
        tmux_under.run("run-shell", "-b", "true")  # tmux misses some ends until the next one
        return "\n  agentmux resume --reattach " in seen()

    wait_until(died, what=seen)
    wait_until(lambda: f"─{border}─" in seen(), what=seen)
    assert "Your turn" not in seen()
    tmux_under.reopen_monitor(made.session.id, cwd=tmp_path, argv=SLEEP)
    wait_until(lambda: "─ agentmux ─" in seen(), what=seen)


@pytest.mark.parametrize("gone", ["killed", "closed"])
def test_the_status_line_of_a_session_without_its_monitor_says_what_to_type(
    tmux_under: TmuxTerminal, tmp_path: Path, wait_until: WaitUntil, gone: str
) -> None:
    made = create(tmux_under, tmp_path)
    session = made.session.id
    (pane,) = tmux_under.open_panes(session, [new(1)]).values()

    def left(status: str) -> str:
        values: dict[str, str] = {StatusOption.PHASE: "fixing", StatusOption.NEEDS_YOU: "1"}
        tmux_under.set_options(session, {**values, StatusOption.STATUS: status}, {})
        tmux_under.go_to(session, pane)
        return ask(tmux_under, session, "#{E:status-left}")

    assert left("waiting for you").endswith(" fixing · waiting for you | ")
    if gone == "killed":
        os.kill(int(ask(tmux_under, made.pane, "#{pane_pid}")), signal.SIGKILL)

        def died() -> bool:
            tmux_under.run("run-shell", "-b", "true")  # tmux misses some ends until the next one
            shown = tmux_under.run("capture-pane", "-p", "-t", made.pane).stdout
            return "agentmux resume --reattach" in shown

        # The program that shows this is still alive for a second.
        wait_until(died)
    else:
        tmux_under.run("kill-pane", "-t", made.pane)
    for status in ("waiting for you", "interrupted", "fixing"):
        said = left(status)
        assert said.endswith(" fixing · interrupted: agentmux resume --reattach | ")
        assert "yellow" not in said
    for status in ("failed", "done"):  # neither has anything to reattach to
        assert left(status).endswith(f" fixing · {status} | ")
        assert "yellow" in left(status)
    tmux_under.reopen_monitor(session, cwd=tmp_path, argv=SLEEP)
    assert left("running").endswith(" fixing · running | ")


def test_a_zoomed_pane_is_left_alone(tmux_under: TmuxTerminal, tmp_path: Path) -> None:
    made = create(tmux_under, tmp_path)
    first, second = tmux_under.open_panes(made.session.id, [new(1), new(2)]).values()
    tmux_under.arrange(made.session.id, [first])
    tmux_under.run("resize-pane", "-Z", "-t", first)

    assert tmux_under.arrange(made.session.id, [second]).later

    assert ask(tmux_under, first, "#{window_zoomed_flag}") == "1"
    assert not look(tmux_under, made.session.id)[second].visible


def test_a_zoomed_pane_that_is_emptied_does_not_hide_the_monitor(
    tmux_under: TmuxTerminal, tmp_path: Path
) -> None:
    made = create(tmux_under, tmp_path)
    first, second = tmux_under.open_panes(made.session.id, [new(1), new(2)]).values()
    tmux_under.arrange(made.session.id, [first, second])
    tmux_under.go_to(made.session.id, first)
    tmux_under.run("resize-pane", "-Z", "-t", first)

    tmux_under.close_panes([second], vacate=[second])
    assert ask(tmux_under, first, "#{window_zoomed_flag}") == "1"
    tmux_under.close_panes([first, "%4711"], vacate=[first, "%4711"])
    assert ask(tmux_under, made.pane, "#{window_zoomed_flag}") == "0"

    tmux_under.arrange(made.session.id, [])
    assert ask(tmux_under, made.pane, "#{window_panes}") == "1"


def focus(terminal: TmuxTerminal, session: str) -> str:
    """Return the pane into which a client of the session types."""
    return ask(terminal, f"{session}:", "#{pane_id}")


def with_three_panes(
    terminal: TmuxTerminal, folder: Path
) -> tuple[CreatedSession, tuple[str, str, str]]:
    """Make a session with three panes that are not beside the monitor yet."""
    made = create(terminal, folder)
    one, two, three = terminal.open_panes(made.session.id, [new(1), new(2), new(3)]).values()
    return made, (one, two, three)


@pytest.mark.parametrize("vacated", [True, False])
def test_the_focus_goes_to_the_monitor_when_its_pane_is_closed(
    tmux_under: TmuxTerminal, tmp_path: Path, vacated: bool
) -> None:
    """The next Enter of the user must not answer the question of another agent."""
    made, (first, second, third) = with_three_panes(tmux_under, tmp_path)
    session = made.session.id
    tmux_under.arrange(session, [first, second])
    for pane in (second, first):  # tmux would go back to the one before
        tmux_under.go_to(session, pane)

    tmux_under.close_panes([first], vacate=[first] if vacated else [])
    assert focus(tmux_under, session) == made.pane
    tmux_under.arrange(session, [second, third])
    assert focus(tmux_under, session) == made.pane

    tmux_under.go_to(session, second)
    tmux_under.arrange(session, [third])  # parks it
    assert focus(tmux_under, session) == made.pane
    tmux_under.go_to(session, third)
    tmux_under.arrange(session, [second])  # swaps them
    assert focus(tmux_under, session) == made.pane


def test_the_focus_goes_to_the_monitor_when_a_parked_pane_is_closed(
    tmux_under: TmuxTerminal, tmp_path: Path
) -> None:
    made, (first, second, third) = with_three_panes(tmux_under, tmp_path)
    session = made.session.id
    tmux_under.arrange(session, [first])
    for pane in (first, third, second):
        tmux_under.go_to(session, pane)
    tmux_under.close_panes([second])
    assert focus(tmux_under, session) == made.pane


def test_the_focus_goes_with_a_parked_pane_that_is_moved_beside_the_monitor(
    tmux_under: TmuxTerminal, tmp_path: Path
) -> None:
    made, (first, second, third) = with_three_panes(tmux_under, tmp_path)
    session = made.session.id
    tmux_under.arrange(session, [first])
    tmux_under.go_to(session, second)
    tmux_under.arrange(session, [second])  # in the place of another one
    assert focus(tmux_under, session) == second
    tmux_under.go_to(session, third)
    tmux_under.arrange(session, [second, third])  # below it
    assert focus(tmux_under, session) == third


def test_a_user_who_is_elsewhere_keeps_the_focus(tmux_under: TmuxTerminal, tmp_path: Path) -> None:
    made = create(tmux_under, tmp_path)
    session = made.session.id
    opened = tmux_under.open_panes(session, [new(number) for number in range(1, 5)])
    first, second, third, fourth = opened.values()
    tmux_under.arrange(session, [first, second, third])
    tmux_under.go_to(session, second)
    tmux_under.close_panes([first, fourth], vacate=[first])  # beside the monitor, and parked
    tmux_under.arrange(session, [second, third])
    assert focus(tmux_under, session) == second

    # The name of the command has another meaning in the hostile configuration.
    window = ("neww", "-P", "-F", "#{pane_id}", "-t", f"{session}:", "--", *SLEEP)
    theirs = tmux_under.run(*window).stdout.strip()
    tmux_under.close_panes([second], vacate=[second])
    tmux_under.arrange(session, [third])
    assert focus(tmux_under, session) == theirs
    assert ask(tmux_under, made.pane, "#{pane_active}") == "1"


def test_panes_of_the_user_stay_where_they_are(tmux_under: TmuxTerminal, tmp_path: Path) -> None:
    made = create(tmux_under, tmp_path)
    split = tmux_under.run("split-window", "-P", "-F", "#{pane_id}", "-t", made.pane, "--", *SLEEP)
    theirs = split.stdout.strip()
    (pane,) = tmux_under.open_panes(made.session.id, [new(1)]).values()
    tmux_under.arrange(made.session.id, [pane, theirs])
    tmux_under.arrange(made.session.id, [])
    panes = look(tmux_under, made.session.id)
    assert (panes[theirs].visible, panes[theirs].launch) == (True, "")
    assert not panes[pane].visible


def test_a_monitor_that_was_moved_comes_back_to_the_left(
    tmux_under: TmuxTerminal, tmp_path: Path
) -> None:
    made = create(tmux_under, tmp_path)
    (pane,) = tmux_under.open_panes(made.session.id, [new(1)]).values()
    tmux_under.arrange(made.session.id, [pane])
    tmux_under.run("swap-pane", "-s", made.pane, "-t", pane)
    tmux_under.arrange(made.session.id, [pane])
    assert ask(tmux_under, made.pane, "#{pane_left} #{pane_width}") == "0 64"


def test_a_capture_survives_every_kind_of_output(
    tmux_under: TmuxTerminal, tmp_path: Path, wait_until: WaitUntil
) -> None:
    session = create(tmux_under, tmp_path).session.id
    script = (
        r"printf '\033)0a\016qx\017b\036c\037 \033[31mr\n\033[32mü日\033[0m  \033[7m  \033[0m\n%%1'"
    )
    opened = tmux_under.open_panes(
        session, [new(1, ("sh", "-c", script + "; exec sleep 100")), new(2)]
    )
    first, second = opened.values()
    wait_until(lambda: "%1" in tmux_under.capture([first])[first].text)

    screens = tmux_under.capture([second, "%4711", first])

    assert set(screens) == {first, second}
    assert len(screens[second].text.split("\n")) == 60
    rows = screens[first].text.split("\n")
    assert rows[:3] == ["a─│bc r", "ü日", "%1"]
    assert not any(row.endswith(" ") for row in rows)
    assert "\x0e" not in screens[first].ansi
    assert re.search(r"日.*\x1b\[7m  (\x1b|$)", screens[first].ansi, re.MULTILINE)


def test_blanks_end_a_row_where_they_show_or_where_the_cursor_waits(
    tmux_under: TmuxTerminal, tmp_path: Path, wait_until: WaitUntil
) -> None:
    """Rows are read the same from tmux 3.3a, and from 3.5a, which fills them up with blanks."""
    session = create(tmux_under, tmp_path).session.id
    script = (
        r"printf '> old \nx\033[44m \033[K\033[m\n\033[4m  \033[m  y  \n\n漢> '; exec sleep 100"
    )
    (pane,) = tmux_under.open_panes(session, [new(1, ("sh", "-c", script))]).values()
    wait_until(lambda: "漢" in tmux_under.capture([pane])[pane].text)

    for colours in (True, False):
        screen = tmux_under.capture([pane], colours=colours)[pane]
        assert screen.text.split("\n")[:6] == ["> old", "x", "    y", "", "漢> ", ""]
    assert [row.rstrip() for row in plain(tmux_under.capture([pane])[pane].ansi, 80, 60)][:3] == [
        "> old", "x", "    y",
    ]  # fmt: skip
    blue = paint(tmux_under.capture([pane])[pane].ansi, 80, 60, dim=False)[1]
    assert re.search(r";44m +\x1b\[0m$", blue)


def test_a_tab_is_read_as_the_blanks_that_it_shows(
    tmux_under: TmuxTerminal, tmp_path: Path, wait_until: WaitUntil
) -> None:
    """Since 3.6, tmux captures the tab that a program wrote, not blanks."""
    session = create(tmux_under, tmp_path).session.id
    script = r"printf 'a\tb\n\t\tc\n12345678\t|\n漢\033[31m\tx\033[m\ty\n'; exec cat"
    (pane,) = tmux_under.open_panes(session, [new(1, ("sh", "-c", script))]).values()
    wait_until(lambda: "漢" in tmux_under.capture([pane])[pane].text)
    for colours in (True, False):
        rows = tmux_under.capture([pane], colours=colours)[pane].text.split("\n")
        assert rows[:2] == ["a       b", " " * 16 + "c"]
        assert rows[2:4] == ["12345678        |", "漢      x       y"]


def test_sizes_of_windows_are_told_apart(tmux_under: TmuxTerminal, tmp_path: Path) -> None:
    made = create(tmux_under, tmp_path)
    (pane,) = tmux_under.open_panes(made.session.id, [new(1)]).values()
    tmux_under.arrange(made.session.id, [pane])
    screens = tmux_under.capture([made.pane, pane])
    assert [(one.cols, one.rows) for one in screens.values()] == [(64, 59), (155, 59)]


def test_fifty_screens_fit(tmux_under: TmuxTerminal, tmp_path: Path) -> None:
    session = create(tmux_under, tmp_path).session.id
    opened = tmux_under.open_panes(session, [new(number) for number in range(50)])
    assert set(tmux_under.capture(list(opened.values()))) == set(opened.values())


def test_more_panes_than_one_call_takes_are_asked_for(
    tmux_under: TmuxTerminal, tmp_path: Path
) -> None:
    """tmux 3.8 refuses calls of more than 1000 arguments; every version those over 16 kB."""
    made = create(tmux_under, tmp_path)
    (pane,) = tmux_under.open_panes(made.session.id, [new(1)]).values()
    gone = [f"%{number}" for number in range(1000, 1600)]
    assert set(tmux_under.capture([made.pane, *gone, pane])) == {made.pane, pane}
    tmux_under.label({**dict.fromkeys(gone, "x"), pane: "last"})
    assert ask(tmux_under, pane, "#{@agentmux_label}") == "last"
    tmux_under.close_panes([*gone, pane])
    assert set(look(tmux_under, made.session.id)) == {made.pane}


@pytest.fixture
def answers_like(
    tmux: TmuxTerminal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[str], None]:
    """Return a function that puts a script before tmux on PATH.

    In the script, ``"$tmux" "$@"`` runs the real tmux.
    """

    def put(script: str) -> None:
        folder = tmp_path / "front"
        folder.mkdir(exist_ok=True)
        (folder / "tmux").write_text(f"#!/bin/sh\ntmux={shutil.which('tmux')}\n{script}\n")
        (folder / "tmux").chmod(0o700)
        monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")

    return put


def test_a_tmux_that_takes_less_in_one_call_gets_more_calls(
    tmux: TmuxTerminal, tmp_path: Path, answers_like: Callable[[str], None]
) -> None:
    made = create(tmux, tmp_path)
    (pane,) = tmux.open_panes(made.session.id, [new(1)]).values()
    answers_like('[ $# -le 60 ] || { echo "command too long" >&2; exit 1; }; exec "$tmux" "$@"')
    gone = [f"%{number}" for number in range(1000, 1100)]
    assert set(tmux.capture([made.pane, *gone, pane])) == {made.pane, pane}


@pytest.mark.parametrize("mangled", ["tr -d 0-9a-f", "head -n 5", "tail -n +2", "tr '%' _"])
def test_screens_that_cannot_be_read_are_said_and_are_no_empty_ones(
    tmux: TmuxTerminal, tmp_path: Path, answers_like: Callable[[str], None], mangled: str
) -> None:
    made = create(tmux, tmp_path)
    (pane,) = tmux.open_panes(made.session.id, [new(1)]).values()
    answers_like(f'"$tmux" "$@" | {mangled}')
    with pytest.raises(ScreensUnreadableError, match="cannot be parsed"):
        tmux.capture([made.pane, pane])


def test_no_program_can_know_what_stands_before_a_screen(
    tmux: TmuxTerminal, tmp_path: Path, answers_like: Callable[[str], None]
) -> None:
    made = create(tmux, tmp_path)
    answers_like(f'printf "%s\\n" "$*" >> {tmp_path}/asked; exec "$tmux" "$@"')
    for _ in range(3):
        tmux.capture([made.pane])
    assert len(set(re.findall("[0-9a-f]{32}", (tmp_path / "asked").read_text()))) == 3


def test_typing_leaves_copy_mode(
    tmux_under: TmuxTerminal, tmp_path: Path, wait_until: WaitUntil
) -> None:
    session = create(tmux_under, tmp_path).session.id
    argv = ("sh", "-c", "read x; echo got $x; exec sleep 100")
    (pane,) = tmux_under.open_panes(session, [new(1, argv)]).values()
    tmux_under.run("copy-mode", "-t", pane)
    tmux_under.paste(pane, "hello")
    assert ask(tmux_under, pane, "#{pane_in_mode}") == "0"
    tmux_under.run("copy-mode", "-t", pane)
    tmux_under.press_enter(pane)
    wait_until(lambda: "got hello" in tmux_under.capture([pane])[pane].text)


def test_what_is_typed_reaches_one_pane(
    tmux_under: TmuxTerminal, tmp_path: Path, wait_until: WaitUntil
) -> None:
    session = create(tmux_under, tmp_path).session.id
    opened = tmux_under.open_panes(
        session, [new(n, ("sh", "-c", f"exec cat > {tmp_path}/{n}")) for n in (1, 2)]
    )
    tmux_under.arrange(session, list(opened.values()))
    for number, pane in enumerate(opened.values(), 1):
        tmux_under.paste(pane, "typed")
        tmux_under.press_enter(pane)
        read = tmp_path / str(number)
        wait_until(lambda read=read: read.exists() and read.read_text().endswith("typed\n"))
        assert read.read_text() == "typed\n"


def test_no_paste_buffer_is_left(tmux_under: TmuxTerminal, tmp_path: Path) -> None:
    made = create(tmux_under, tmp_path)
    tmux_under.paste(made.pane, "x" * 300_000)
    with pytest.raises(TerminalError):
        tmux_under.paste("%4711", "y")
    assert tmux_under.run("list-buffers").stdout == ""


def test_a_typed_text_arrives_as_it_is_and_keys_by_their_names(
    tmux_under: TmuxTerminal, tmp_path: Path, wait_until: WaitUntil
) -> None:
    made, out = create(tmux_under, tmp_path), tmp_path / "typed"
    script = "stty raw -echo; printf ready; exec cat -u >" + str(out)
    shown = new(1, ("sh", "-c", script))
    (pane,) = tmux_under.open_panes(made.session.id, [shown]).values()
    wait_until(lambda: "ready" in tmux_under.capture([pane])[pane].text)
    for text in ("Enter", "-l", "C-c ü;", ";", "#{pane_id}"):
        tmux_under.type_text(pane, text)
    tmux_under.press_keys(pane, ["Enter"])
    tmux_under.press_keys(pane, ["C-c", "Up"])
    wait_until(lambda: out.read_bytes().endswith(b"A"))
    assert out.read_bytes() == "Enter-lC-c ü;;#{pane_id}\r\x03\x1b[A".encode()


def test_nothing_is_typed_where_no_pane_is_named(
    tmux: TmuxTerminal, tmp_path: Path, wait_until: WaitUntil
) -> None:
    """tmux takes an empty target for the present pane, which may be in a session of the user."""
    create(tmux, tmp_path)
    tmux.run("new-session", "-d", "-s", "user", "sh", "-c", "printf ready; exec cat")
    wait_until(lambda: "ready" in tmux.run("capture-pane", "-p", "-t", "user:").stdout)
    for act in (
        lambda: tmux.press_keys("", ["r"]),
        lambda: tmux.type_text("", "r"),
        lambda: tmux.paste("", "r"),
        lambda: tmux.press_enter(""),
    ):
        with pytest.raises(TerminalError):
            act()
    assert tmux.run("capture-pane", "-p", "-t", "user:").stdout.strip() == "ready"


def test_a_stopped_server_is_unknown_and_not_gone(short_dir: Path, tmp_path: Path) -> None:
    terminal = TmuxTerminal(str(short_dir / "s"), config_file="/dev/null", timeout_s=0.3)
    made = create(terminal, tmp_path)
    os.kill(made.server.pid, signal.SIGSTOP)
    try:
        for act in (
            terminal.server,
            terminal.sessions,
            lambda: terminal.panes("$0"),
            lambda: terminal.capture(["%0"]),
            lambda: terminal.close_panes(["%0"]),
            lambda: terminal.kill_session("$9"),
            lambda: terminal.arrange("$0", []),
        ):
            with pytest.raises(TerminalUnreachableError) as raised:
                act()
            assert raised.value.hints
    finally:
        os.kill(made.server.pid, signal.SIGCONT)
        terminal.run("kill-server")


def test_a_session_that_takes_its_time_is_waited_for(short_dir: Path, tmp_path: Path) -> None:
    """If it counted as failed, tmux would still create it later."""
    terminal = TmuxTerminal(str(short_dir / "s"), config_file="/dev/null", timeout_s=1)
    server = create(terminal, tmp_path).server.pid
    os.kill(server, signal.SIGSTOP)
    go_on = threading.Timer(1.5, os.kill, (server, signal.SIGCONT))
    go_on.start()
    try:
        made = terminal.create_session(
            name="late", uuid="late", cwd=tmp_path, size=(80, 24), argv=["cat"]
        )
        assert made.session in terminal.sessions()
    finally:
        go_on.join()
        terminal.run("kill-server")


def test_a_server_that_is_going_takes_no_new_session_along(
    tmux_under: TmuxTerminal, tmp_path: Path
) -> None:
    for number in range(10):
        made = create(tmux_under, tmp_path)
        assert [session.uuid for session in tmux_under.sessions()] == ["u"], number
        tmux_under.run("kill-server")
        assert made.session.id == "$0"


def test_a_server_that_ends_while_it_is_asked_is_no_server(tmux_under: TmuxTerminal) -> None:
    """A child of a killed server holds the socket until it has begun its own program."""
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(tmux_under.socket)
        listener.listen()

        def end() -> None:
            called, _ = listener.accept()
            listener.close()
            called.close()

        ending = threading.Thread(target=end)
        ending.start()
        assert tmux_under.server().pid == 0
        ending.join()


def test_a_dead_servers_socket_is_no_server(
    tmux_under: TmuxTerminal, tmp_path: Path, wait_until: WaitUntil
) -> None:
    made = create(tmux_under, tmp_path)
    os.kill(made.server.pid, signal.SIGKILL)
    wait_until(lambda: not is_alive(made.server.pid))
    assert Path(tmux_under.socket).exists()
    assert tmux_under.server().pid == 0
    with pytest.raises(TerminalGoneError):
        tmux_under.own(made.target).open_panes([new(1)])
    assert create(tmux_under, tmp_path).server.pid != made.server.pid


def test_a_socket_of_somebody_else_is_unreachable(
    tmp_path: Path, short_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (short_dir / "bin").mkdir()
    fake = short_dir / "bin" / "tmux"
    fake.write_text("#!/bin/sh\necho 'error connecting to /x (Permission denied)' >&2; exit 1\n")
    fake.chmod(0o700)
    monkeypatch.setenv("PATH", f"{fake.parent}:/bin:/usr/bin")
    terminal = TmuxTerminal("/x")
    with pytest.raises(TerminalUnreachableError, match="Permission denied"):
        terminal.sessions()


def test_a_server_of_another_version_is_unreachable_and_the_way_out_is_said(
    tmux: TmuxTerminal, tmp_path: Path, short_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    create(tmux, tmp_path)
    (short_dir / "bin").mkdir()
    fake = short_dir / "bin" / "tmux"
    # the message of client.c, when tmux was upgraded but the old server still runs
    fake.write_text(
        "#!/bin/sh\necho 'protocol version mismatch (client 8, server 7)' >&2; exit 1\n"
    )
    fake.chmod(0o700)
    with monkeypatch.context() as upgraded:
        upgraded.setenv("PATH", f"{fake.parent}:/bin:/usr/bin")
        with pytest.raises(TerminalUnreachableError, match="protocol version mismatch") as raised:
            TmuxTerminal(tmux.socket).sessions()
        with pytest.raises(TerminalUnreachableError) as unknown:
            TmuxTerminal(str(short_dir / "none")).sessions()
    assert unknown.value.hints == ("tmux was upgraded: end the sessions there with the old one",)
    if sys.platform == "linux":
        (hint,) = raised.value.hints
        listing = subprocess.check_output(hint.partition("as in: ")[2], shell=True, text=True)
        assert "agentmux-a:" in listing


def test_a_refusal_has_the_words_of_tmux(tmux_under: TmuxTerminal, tmp_path: Path) -> None:
    own = tmux_under.own(create(tmux_under, tmp_path).target)
    with pytest.raises(TerminalError, match="can't find"):
        own.press_enter("%77")


def test_a_server_that_ends_when_nobody_looks_is_named(short_dir: Path, tmp_path: Path) -> None:
    config = tmp_path / "tmux.conf"
    config.write_text("set -s exit-unattached on\n")
    terminal = TmuxTerminal(str(short_dir / "s"), config_file=str(config), timeout_s=10)
    with pytest.raises(TerminalError) as raised:
        create(terminal, tmp_path)
    assert "exit-unattached" in raised.value.hints[0]


def test_a_hook_whose_shell_command_fails_does_not_fail_the_call(
    tmux: TmuxTerminal, tmp_path: Path
) -> None:
    tmux.run("new-session", "-d", "-s", "mine", "cat")
    tmux.run("set-hook", "-g", "after-new-session", "run-shell 'exit 3'")
    made = create(tmux, tmp_path)
    assert made.session.id in {each.id for each in tmux.sessions()}


def test_an_answer_with_the_output_of_a_hook_is_unreadable_and_no_bug(
    tmux: TmuxTerminal, tmp_path: Path
) -> None:
    own = tmux.own(create(tmux, tmp_path).target)
    tmux.run("set-hook", "-g", "after-display-message", "display-message -p mine")
    for look in (tmux.server, tmux.listing):
        with pytest.raises(ScreensUnreadableError, match="cannot be parsed") as raised:
            look()
        assert any("show-hooks" in hint for hint in raised.value.hints)
    tmux.run("set-hook", "-g", "after-list-clients", "display-message -p mine")
    own.kill()
    assert tmux.run("has-session").returncode == 1


def test_an_unsafe_socket_folder_is_refused(tmp_path: Path, short_dir: Path) -> None:
    (short_dir / "open").mkdir()
    (short_dir / "open").chmod(0o777)
    with pytest.raises(TerminalError, match="unsafe permissions"):
        create(TmuxTerminal(str(short_dir / "open" / "s")), tmp_path)


def test_a_long_socket_path_is_refused(tmp_path: Path, short_dir: Path) -> None:
    with pytest.raises(TerminalError, match="longer than 107 bytes"):
        create(TmuxTerminal(str(short_dir / ("x" * 100))), tmp_path)


def test_sockets_are_where_tmux_has_them(short_dir: Path, tmp_path: Path) -> None:
    terminal = TmuxTerminal(name="named", tmux_tmpdir=str(short_dir), config_file="/dev/null")
    create(terminal, tmp_path)
    env = {"PATH": os.environ["PATH"], "TMUX_TMPDIR": str(short_dir)}
    words = ["tmux", "-L", "named", "display-message", "-p", "#{socket_path}"]
    theirs = subprocess.run(words, env=env, capture_output=True, text=True, check=True).stdout
    terminal.run("kill-server")
    assert terminal.socket == theirs.strip()
    assert socket_path(tmux_tmpdir="/no/such/dir") == f"/tmp/tmux-{os.getuid()}/default"
    assert (short_dir / f"tmux-{os.getuid()}").stat().st_mode & 0o777 == 0o700


def test_no_session_of_another_agentmux_is_handed_on(
    tmux_under: TmuxTerminal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wait_until: WaitUntil
) -> None:
    monkeypatch.setenv("AGENTMUX_SESSION_ID", "theirs")
    argv = ("sh", "-c", 'echo "id <$AGENTMUX_SESSION_ID>"; exec sleep 1000')
    made = tmux_under.create_session(
        name="agentmux-a", uuid="u", cwd=tmp_path, size=(80, 24), argv=argv
    )
    wait_until(lambda: "id <>" in tmux_under.capture([made.pane])[made.pane].text)


def test_tmux_missing_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(MissingError, match="tmux is not installed") as raised:
        TmuxTerminal("/nowhere").sessions()
    assert "apt install tmux" in raised.value.hints[0]
    with pytest.raises(MissingError):
        version()


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("tmux 3.3a", (3, 3)),
        ("tmux next-3.6", (3, 6)),
        ("tmux 3.2-rc4", (3, 2)),
        ("tmux 10.11", (10, 11)),
        ("tmux master", None),
        ("", None),
    ],
)
def test_versions_are_read_leniently(text: str, found: tuple[int, int] | None) -> None:
    assert commands.parse_version(text) == found


@pytest.mark.parametrize(("text", "fine"), [("tmux 3.1c", False), ("tmux 3.2", True)])
def test_an_old_tmux_is_refused(
    short_dir: Path, monkeypatch: pytest.MonkeyPatch, text: str, fine: bool
) -> None:
    fake = short_dir / "tmux"
    fake.write_text(f"#!/bin/sh\necho '{text}'\n")
    fake.chmod(0o700)
    monkeypatch.setenv("PATH", f"{short_dir}:/bin:/usr/bin")
    if fine:
        assert version() == text
    else:
        with pytest.raises(MissingError, match=r"too old: 3\.2 or newer"):
            version()
    assert MINIMUM_VERSION == (3, 2)


def test_the_users_own_server_is_out_of_reach_of_tests() -> None:
    done = subprocess.run(
        ["tmux", "new-session", "-d"], capture_output=True, text=True, check=False
    )
    assert done.returncode != 0
    assert "TMUX" not in os.environ
    assert not [
        name for name in os.environ if name.startswith("AGENTMUX_") and name != "AGENTMUX_TEST_ID"
    ]
    assert Path.home() != Path("/root")
    assert str(Path.home()) in os.environ["XDG_STATE_HOME"]


def test_libtmux_sees_what_was_made(tmux: TmuxTerminal, tmp_path: Path) -> None:
    made = create(tmux, tmp_path)
    server = libtmux.Server(socket_path=tmux.socket)
    (session,) = server.sessions
    assert (session.session_id, session.session_name) == (made.session.id, "agentmux-a")
    assert session.show_option("@agentmux_id") == "u"


def test_panes_are_marked_where_a_hook_gives_windows_another_name(
    tmux_under: TmuxTerminal, tmp_path: Path
) -> None:
    session = create(tmux_under, tmp_path).session.id
    tmux_under.run("set-hook", "-g", "after-new-window", "rename-window mine")
    opened = tmux_under.open_panes(session, [new(number) for number in range(3)])
    assert len(opened) == 3
    assert {pane.launch: pane.id for pane in tmux_under.panes(session) if pane.launch} == opened
    kept = tmux_under.run("list-panes", "-s", "-t", session, "-F", "#{remain-on-exit} #W").stdout
    assert sorted(kept.split("\n")) == ["", "on agentmux", *(f"on coder-{n}" for n in range(3))]
