"""The picker's screen: its picture, its keys, and its terminal."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentmux.adapters.disk.files import read_limited
from agentmux.app.session.search.lookup import list_resumable_sessions, live
from agentmux.app.views.outlook import Outlook, SeatOutlook, outlook
from agentmux.app.views.rows import SessionRow
from agentmux.app.views.session.last_screens import LastScreen, readable_screens
from agentmux.cli.picker.screen import SessionExaminer, select_session
from agentmux.cli.picker.view import (
    KnownSession,
    LineStyle,
    PickerScene,
    cut,
    draw,
    shown_names,
    shows_plan,
)
from agentmux.core.journal.state import Base
from agentmux.core.names.conversations import SeatChoice, seat_choices
from agentmux.core.names.status_labels import SessionStatus, status_group, status_label
from agentmux.core.terminal.keys.keys import Key
from agentmux.core.terminal.keys.picker import Choice, begin, offer, press
from agentmux.core.terminal.text.text_width import width
from agentmux.errors import ExitCode, NotFoundError
from agentmux.wiring import build
from tests.app.driver import git, make_project
from tests.app.on_disk import OnDisk
from tests.cli.picker.picker_lab import AT, make_session
from tests.conftest import end_server, trust
from tests.fakes.bench import Bench as TmuxTerminal

WaitUntil = Callable[..., None]
LAB = Path(__file__).with_name("picker_lab.py")
ROOT = Path(__file__).parent.parent.parent.parent

# -- the picture ---------------------------------------------------------------------------------

SEATS = (
    SeatOutlook(
        seat="coder-1",
        agent="claude",
        mode="native",
        reason="every check passed",
        digests={each: f"d-{each}" for each in seat_choices("native")},
    ),
    SeatOutlook(
        seat="coder-2",
        agent="codex",
        mode="fresh",
        reason="no conversation was recorded",
        digests=dict.fromkeys(seat_choices("fresh"), "d2"),
    ),
)


def last_screen(seat: str, ansi: str, *, captured_at: str = "") -> LastScreen:
    return LastScreen(
        seat=seat,
        agent="claude",
        ansi=ansi,
        cols=80,
        rows=24,
        captured_at=captured_at,
        exit_status=None,
    )


AUTH = Outlook(
    name="20260101-100000-add-auth",
    phase="implementing",
    because="done_2 is missing",
    seats=SEATS,
    screens=(
        last_screen("coder-1", "first\nlast 漢字", captured_at=AT.isoformat()),
        last_screen("coder-2", "second seat"),
    ),
)
LIVE = Outlook(
    name="20260101-090000-live-one",
    phase="planning",
    because="running",
    kind="live",
    seats=(SeatOutlook(seat="planner", agent="claude", mode="busy", reason=""),),
)
HELD = replace(
    LIVE,
    refused="session live-one is in use by process 7",
    kind="locked",
    hints=("see it: agentmux status live-one",),
)
NAMES = (AUTH.name, LIVE.name, "20260101-080000-漢字漢字漢字漢字漢字漢字漢字漢字漢字")


def scene(*, outlooks: tuple[Outlook, ...] = (AUTH, LIVE), **changes: object) -> PickerScene:
    picker = begin([Choice(name=name, words=name) for name in NAMES])
    seats = {each.name: tuple(tuple(seat.digests) for seat in each.seats) for each in outlooks}
    picker = offer(picker, seats)
    return PickerScene(
        picker=replace(picker, **changes),  # type: ignore[arg-type]
        known={
            name: KnownSession(
                name=name, phase="failed", updated=AT, title="Log people in" * (name == AUTH.name)
            )
            for name in NAMES
        },
        outlooks={each.name: each for each in outlooks},
        now=AT + timedelta(hours=3),
    )


def row(status: str) -> SessionRow:
    return SessionRow(
        session=LIVE.name,
        group=status_group(status),
        phase="planning",
        status=SessionStatus(status),
        label=status_label(status),
        ago="3h ago",
        branch="",
        is_apart=False,
        title="",
    )


def text(shown: PickerScene, cols: int = 80, rows: int = 24) -> str:
    return "\n".join(line.text for line in draw(shown, cols, rows))


def test_the_whole_screen_of_a_session_with_two_seats() -> None:
    lines = text(scene()).splitlines()
    assert lines[0].split() == ["Resume", "which", "session?", "3", "of", "3"]
    assert lines[1].split() == [">", AUTH.name, "implementing", "choice", "↻", "1/2", "3h"]
    assert lines[2].split() == [LIVE.name, "planning", "live", "3h"]
    assert lines[4].startswith(f"── {AUTH.name} ─")
    assert lines[5] == "Log people in"
    assert lines[6] == "implementing: done_2 is missing"
    assert lines[7] == "1 ↻ coder-1  claude: its conversation comes back (1: new, shell, stopped)"
    assert lines[8] == "2   coder-2  codex: begins a new conversation (2: shell, stopped): no"
    assert lines[9].strip() == "conversation was recorded"
    assert lines[10] == "last screen of coder-1, 3h ago (Tab: 1 more)"
    assert lines[11:13] == ["│ first", "│ last 漢字"]
    assert "Enter resume" in lines[-1]
    assert len(lines) == 24


def test_the_selected_line_is_told_by_more_than_its_look() -> None:
    lines = draw(scene(), 80, 24)
    assert [(line.look, line.text[0]) for line in lines[1:3]] == [
        (LineStyle.REVERSE, ">"),
        (LineStyle.PLAIN, " "),
    ]


def test_fresh_shows_what_it_does_to_every_seat() -> None:
    shown = text(scene(fresh=True))
    assert "new conversations · " in shown
    assert "1 ↻" not in shown
    assert "coder-1  claude: begins a new conversation (1: shell, stopped, ↻ continued)" in shown
    asked = text(scene(fresh=True, asks=True)).splitlines()[0]
    assert asked.endswith("  new conversations")
    assert "f as planned" in shown


def test_what_was_chosen_for_a_seat_is_shown() -> None:
    chosen = {(AUTH.name, 0): SeatChoice.SHELL, (AUTH.name, 1): SeatChoice.STOPPED}
    lines = text(scene(chosen=chosen)).splitlines()
    assert lines[1].split()[-2] == "shell"
    assert lines[7:10] == [
        "1   coder-1  claude: a shell for you instead of its agent (1: stopped, ↻",
        "             continued, new): you chose it",
        "2   coder-2  codex: stays stopped until you choose in its pane (2: new, shell)",
    ]


def test_the_question_shows_the_whole_plan_and_no_search() -> None:
    told = ("the old branch is checked out", "your recorded approval is withdrawn")
    known = replace(AUTH, warnings=told)
    shown = replace(scene(outlooks=(known, LIVE), asks=True), steps=("it goes back to planning",))
    lines = text(shown).splitlines()
    assert lines[0].rstrip() == "Resume all 3 sessions?"
    steps = ["! it goes back to planning", *(f"! {each}" for each in told)]
    assert lines[10:13] == steps
    assert "search" not in lines[-1]
    alone = replace(shown, picker=begin([Choice(name=AUTH.name, words="")], asks=True))
    assert text(alone).splitlines()[0].rstrip() == "Resume this session?"


def test_a_plan_is_shown_only_if_all_of_it_fits() -> None:
    seats = tuple(replace(SEATS[0], seat=f"coder-{number}") for number in range(1, 12))
    many = replace(AUTH, seats=seats)
    assert shows_plan(scene(), 80, 24)
    assert shows_plan(scene(outlooks=(many, LIVE)), 80, 24)
    assert "and 1 more" not in text(scene(outlooks=(many, LIVE)))
    assert not shows_plan(scene(outlooks=(many, LIVE)), 80, 16)
    assert "more seats" in text(scene(outlooks=(many, LIVE)), 80, 16)
    assert not shows_plan(scene(at=LIVE.name), 80, 24)  # live: nothing is resumed
    assert not shows_plan(scene(outlooks=()), 80, 24)  # not examined yet


@pytest.mark.parametrize("fresh", [False, True])
def test_a_seat_without_an_agent_shows_what_comes_in_its_place(fresh: bool) -> None:
    seats = tuple(
        SeatOutlook(seat=f"coder-{number}", agent="claude", mode=mode, reason="no program `claude`")
        for number, mode in enumerate(("shell", "screen"), 1)
    )

    def shown(*chosen: SeatOutlook) -> list[str]:
        one = replace(AUTH, seats=chosen)
        return text(scene(outlooks=(one, LIVE), fresh=fresh)).splitlines()

    lines = shown(*seats)
    assert lines[7:9] == [
        "1   coder-1  claude: a shell for you instead of its agent: no program `claude`",
        "2   coder-2  claude: only its last screen: no program `claude`",
    ]
    assert lines[1].split()[-2] == "shell"
    assert shown(seats[1])[1].split()[-2] == "agent"
    mixed = shown(SEATS[1], seats[1])
    assert mixed[1].split()[-2] == ("new" if fresh else "choice")


def test_a_session_that_cannot_be_chosen_says_why_and_what_to_do() -> None:
    lines = text(scene(outlooks=(AUTH, HELD), at=LIVE.name)).splitlines()
    assert lines[5].startswith("not now: session live-one is in use by process 7")
    assert "  see it: agentmux status live-one" in lines


def test_a_live_session_shows_how_it_is_and_can_be_attached_to() -> None:
    lines = text(scene(at=LIVE.name)).splitlines()
    assert lines[5] == "planning: running"
    assert lines[6] == "  planner  claude: busy"
    assert "Enter attach" in lines[-1]
    gone = replace(LIVE, hints=("agentmux resume --reattach live-one",))
    shown = text(scene(outlooks=(AUTH, gone), at=LIVE.name))
    assert "  agentmux resume --reattach live-one" in shown


def test_who_waits_for_its_user_is_marked_in_the_list() -> None:
    marks = {"waiting_for_user": "! waits", "decision": "! decide", "stalled": "! stalled"}
    marks |= {"failed": "! failed", "running": "running", "parked": "limit"}
    for status, mark in marks.items():
        shown = replace(scene(), rows={LIVE.name: row(status)})
        assert text(shown).splitlines()[2].split()[2:-1] == mark.split()
    wide = replace(scene(), rows={LIVE.name: row("waiting_for_user")})
    assert text(wide, 100).splitlines()[2].split()[2:-1] == ["!", "waiting", "for", "you"]
    doubted = replace(row("decision"), label="decide: check failed", doubt="check")
    for cols, mark in ((119, "! \u2717 check "), (120, "! decide: check failed ")):
        assert mark in text(replace(scene(), rows={LIVE.name: doubted}), cols).splitlines()[2]


@pytest.mark.parametrize(("cols", "shown"), [(80, "limit 12:40"), (100, "limit until 12:40")])
def test_a_limit_is_shown_with_its_end(cols: int, shown: str) -> None:
    parked = replace(row("parked"), label="limit until 12:40")
    assert f" {shown} " in text(replace(scene(), rows={LIVE.name: parked}), cols).splitlines()[2]


def test_a_failed_session_at_rest_shows_what_comes_back() -> None:
    rows = {AUTH.name: row("failed")}
    assert "\u21bb 1/2" in text(replace(scene(), rows=rows)).splitlines()[1]


def test_where_one_is_to_be_attached_to_nothing_is_said_of_resuming() -> None:
    lines = text(scene(at=LIVE.name, attaches=True)).splitlines()
    assert lines[0].startswith("Attach to which session?")
    assert "Enter attach" in lines[-1]
    assert "fresh" not in lines[-1]
    small = text(scene(at=LIVE.name, attaches=True), 40, 10).splitlines()
    assert small[0].startswith("Attach ")
    assert small[-1] == "↑↓ Enter · Esc leave"


def test_a_session_that_was_not_looked_at_shows_its_state() -> None:
    shown = text(scene(outlooks=()))
    assert "failed; examining…" in shown


def test_tab_shows_the_next_screen_and_comes_round() -> None:
    assert "│ second seat" in text(scene(screen=1))
    assert "│ first" in text(scene(screen=2))


def test_a_small_terminal_keeps_the_list_the_phase_and_the_keys() -> None:
    lines = text(scene(), 40, 10).splitlines()
    assert lines[1].startswith("> 20260101")
    assert "implementing: done_2 is missing" in lines
    assert any(line.startswith("1 ↻ coder-1") for line in lines)
    assert lines[-1] == "↑↓ Enter · f new · Esc leave"


def test_many_seats_are_counted_where_they_do_not_fit() -> None:
    seats = tuple(replace(SEATS[0], seat=f"coder-{n}") for n in range(20))
    shown = text(scene(outlooks=(replace(AUTH, seats=seats),)))
    assert re.search(r"and \d+ more seats", shown)
    assert shown.splitlines()[-1].endswith("Esc leave")


@given(
    cols=st.integers(1, 200),
    rows=st.integers(1, 80),
    at=st.sampled_from([*NAMES, ""]),
    keys=st.lists(st.one_of(st.sampled_from(list(Key)), st.characters()), max_size=8),
)
def test_it_never_leaves_the_terminal(cols: int, rows: int, at: str, keys: list[str]) -> None:
    shown = scene(at=at)
    for key in keys:
        shown = replace(shown, picker=press(shown.picker, key))
    lines = draw(shown, cols, rows)
    assert len(lines) == rows
    assert all(width(line.text) <= cols for line in lines)
    assert all(line.text.isprintable() for line in lines)


@pytest.mark.parametrize("cols", [30, 60, 80])
def test_what_was_typed_last_is_shown_however_long_it_is(cols: int) -> None:
    shown = scene()
    for key in ("/", *"one two three " * 8, *"the end"):
        shown = replace(shown, picker=press(shown.picker, key))
    header = text(shown, cols).splitlines()[0]
    assert "the end▏" in header
    assert header.endswith(" 0 of 3")


def test_the_selected_one_is_always_in_the_window() -> None:
    names = [f"s{n:03}" for n in range(300)]
    state = begin([Choice(name=name, words=name) for name in names])
    for _ in names:
        assert state.at in shown_names(state, 10)
        state = press(state, Key.DOWN)


@pytest.mark.parametrize(
    ("given_text", "cols", "shown"),
    [
        ("abc", 3, "abc"),
        ("abcd", 3, "ab…"),
        ("漢字漢", 4, "漢…"),
        ("a\tb\x1b", 9, "a b "),
        ("ab", 0, ""),
    ],
)
def test_text_is_cut_by_cells(given_text: str, cols: int, shown: str) -> None:
    assert cut(given_text, cols) == shown


# -- data of sessions ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ansi", "lines"),
    [
        ("\x1b[1;32mgo\x1b[0m\n\n", ("go",)),
        ("\x1b]0;title\x07a\x1b]8;;http://x\x1b\\b", ("ab",)),
        ("a\tb\r\n\x1b(Bc\x1b7\x00", ("a       b", "c")),
        ("\x9b31mx", ("31mx",)),
        ("\x1b]0;never ended", ("",)),
        ("\x0elqk\x0f", ("┌─┐",)),
        ("", ()),
    ],
)
def test_a_screen_is_shown_without_what_a_terminal_obeys(ansi: str, lines: tuple[str, ...]) -> None:
    found = last_screen("coder-1", ansi).text()
    assert found == tuple(line for line in lines if line) or found == lines
    assert all(line.isprintable() for line in found)


@pytest.fixture
def project(tmp_path: Path, short_dir: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    # The picker looks for a tmux server there, and finds none.
    monkeypatch.setenv("TMUX_TMPDIR", str(short_dir))
    folder = tmp_path / "project"
    (folder / ".agentmux").mkdir(parents=True)
    (folder / ".agentmux/config.yaml").write_text("defaults: {agent: demo}\n")
    trust(folder)
    return folder


def test_damaged_screens_are_as_none(tmp_path: Path) -> None:
    (tmp_path / "snapshots").mkdir()
    good = '{"ansi": "x", "cols": 80, "rows": 24}'
    contents = {"a": "{", "b": "[]", "c": '{"ansi": 1, "cols": 80, "rows": 24}', "d": good}
    for name, content in contents.items():
        (tmp_path / f"snapshots/{name}.json").write_text(content)
    found = readable_screens(tmp_path, ["a", "b", "c", "d", "gone"], read_limited)
    assert [(each.seat, each.text(), each.captured_at) for each in found] == [("d", ("x",), "")]


def test_the_outlook_of_a_session_on_disk(project: Path) -> None:
    make_session(project, "20260101-100000-add-auth")
    world = build.world(project, environ=os.environ)
    (entry,) = list_resumable_sessions(world)
    found = outlook(world, entry, live(world, [entry])[entry.path], read_limited)
    assert (found.phase, found.refused, found.kind) == ("architecting", "", "")
    assert "architecture.md is missing" in found.because
    assert [(each.seat, each.mode) for each in found.seats] == [("architect", "fresh")]
    assert found.screens[0].text()[0] == "Welcome to the robot"


def test_the_outlook_of_one_that_cannot_be_read_says_so(project: Path) -> None:
    path = make_session(project, "20260101-100000-add-auth")
    for name in ("state.json", "state.json.bak", "tool_events.jsonl"):
        (path / name).unlink(missing_ok=True)
    (path / "state.json").write_text('{"schema_version": 99, "phase": "x"}')
    world = build.world(project, environ=os.environ)
    (entry,) = list_resumable_sessions(world)
    found = outlook(world, entry, live(world, [entry])[entry.path], read_limited)
    assert (found.phase, found.kind) == (None, "unreadable")
    assert "newer" in found.refused


def test_the_outlook_of_one_whose_worktree_cannot_be_made_says_so(
    project: Path, tmp_path: Path
) -> None:
    made = make_project(tmp_path / "p")
    (made / ".agentmux").mkdir()
    (made / ".agentmux/config.yaml").write_text("defaults: {agent: demo}\n")
    trust(made)
    place = tmp_path / "p-worktrees" / "x"
    place.mkdir(parents=True)
    (place / "mine.txt").touch()
    base = Base(commit=git(made, "rev-parse", "HEAD").strip(), branch="main")
    OnDisk(
        made / ".agentmux/.sessions/20260101-100000-x",
        worktree=str(place), branch="agentmux/x", base=base, worktree_made=True,
    )  # fmt: skip
    world = build.world(made, environ=os.environ)
    (entry,) = list_resumable_sessions(world)
    found = outlook(world, entry, live(world, [entry])[entry.path], read_limited)
    assert (found.phase, found.kind) == ("architecting", "worktree_taken")
    assert found.refused == f"something else is at {place}, the place of this session's worktree"
    assert found.hints == (f"move it away: mv {place} {place}.old",)


def test_the_wanted_ones_are_looked_at_first_and_the_bell_rings() -> None:
    seen: list[str] = []

    def look(name: str) -> Outlook:
        seen.append(name)
        return Outlook(name=name)

    looker = SessionExaminer(look)
    looker.want(["b", "a"])
    while len(looker.read_outlooks()) < 2:
        assert select.select([looker.wake_read_fd], [], [], 10)[0]
        os.read(looker.wake_read_fd, 100)
    looker.want(["a", "b"])
    looker.close()
    assert seen == ["b", "a"]


def test_a_bug_in_a_look_is_raised_where_it_is_seen() -> None:
    def look(name: str) -> Outlook:
        raise ZeroDivisionError

    looker = SessionExaminer(look)
    looker.want(["a"])
    assert select.select([looker.wake_read_fd], [], [], 10)[0]
    with pytest.raises(ZeroDivisionError):
        looker.read_outlooks()
    looker.close()


# -- choosing without a picker -------------------------------------------------------------------


def test_one_session_is_taken_after_it_was_shown(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make_session(project, "20260101-100000-add-auth")
    world = build.world(project, environ=os.environ)
    picked = select_session(world, list_resumable_sessions(world), interactive=True)
    assert picked is not None
    assert picked.entry.name == "20260101-100000-add-auth"
    assert "add-auth: architecting" in capsys.readouterr().err


def test_several_without_a_terminal_are_listed(project: Path) -> None:
    for name in ("20260101-100000-add-auth", "20260101-110000-fix"):
        make_session(project, name)
    world = build.world(project, environ=os.environ)
    with pytest.raises(NotFoundError) as caught:
        select_session(world, list_resumable_sessions(world), interactive=False)
    assert caught.value.exit_code is ExitCode.NOT_FOUND
    name = "20260101-110000-fix"
    assert caught.value.hints[0] == f"agentmux resume {name}  # architecting: {name}"


# -- on a terminal -------------------------------------------------------------------------------


@pytest.fixture
def sessions(project: Path) -> Path:
    for number, name in enumerate(("add-auth", "fix-login", "rewrite-cache")):
        make_session(project, f"20260101-10000{number}-{name}")
    return project


class Pane:
    """The picker in a pane of real tmux."""

    def __init__(self, tmux: TmuxTerminal, project: Path, cols: int, rows: int) -> None:
        self._socket = tmux.socket
        # The shell keeps running, to show the terminal after the picker.
        line = (
            f"{sys.executable} {LAB} {project}; echo code $?; stty -a | grep -o '.icanon'; read x"
        )
        self.run("new-session", "-d", "-x", str(cols), "-y", str(rows), "sh", "-c", line)

    def run(self, *argv: str) -> str:
        command = ["tmux", "-S", self._socket, "-f", "/dev/null", *argv]
        env = {**os.environ, "PYTHONPATH": str(ROOT), "LC_ALL": "C.UTF-8"}
        done = subprocess.run(
            command, env=env, capture_output=True, text=True, check=True, timeout=20
        )
        return done.stdout

    def press(self, *keys: str) -> None:
        self.run("send-keys", *keys)

    def shown(self) -> str:
        return self.run("capture-pane", "-p")


def test_real_keys_in_a_real_terminal(
    tmux: TmuxTerminal, sessions: Path, wait_until: WaitUntil
) -> None:
    pane = Pane(tmux, sessions, 80, 24)
    wait_until(lambda: "last screen of architect" in pane.shown(), what=pane.shown)
    assert "> rewrite-cache" in pane.shown()
    assert "│ 漢字 wide" in pane.shown()
    pane.press("Down")
    wait_until(lambda: "> fix-login" in pane.shown(), what=pane.shown)
    pane.run("resize-window", "-x", "40", "-y", "10")
    wait_until(lambda: "Enter · f new · Esc leave" in pane.shown(), what=pane.shown)
    assert "> fix-login" in pane.shown()
    pane.press("f", "/", "auth")
    wait_until(lambda: "/auth▏" in pane.shown() and "new · " in pane.shown(), what=pane.shown)
    pane.press("Enter")
    wait_until(lambda: "code 0" in pane.shown() and "icanon" in pane.shown(), what=pane.shown)
    assert "('20260101-100000-add-auth', True)" in pane.shown().replace("\n", "")
    assert "-icanon" not in pane.shown()
    assert "Esc leave" not in pane.shown()


@pytest.fixture
def live_ones(sessions: Path) -> Iterator[TmuxTerminal]:
    """Start the tmux sessions of two of the three sessions; return their tmux server."""
    server = TmuxTerminal(tmux_tmpdir=os.environ["TMUX_TMPDIR"], config_file="/dev/null")
    for name in ("20260101-100001-fix-login", "20260101-100002-rewrite-cache"):
        state = json.loads((sessions / f".agentmux/.sessions/{name}/state.json").read_text())
        server.create_session(
            name=f"agentmux-{name}", uuid=state["session_id"], cwd=sessions, size=(80, 24),
            argv=("sh", "-c", f"echo this is {name[16:]}; exec sleep 100"),
        )  # fmt: skip
    yield server
    end_server(server)


@pytest.mark.usefixtures("live_ones")
def test_a_live_session_can_be_chosen(
    tmux: TmuxTerminal, sessions: Path, wait_until: WaitUntil
) -> None:
    pane = Pane(tmux, sessions, 80, 24)
    wait_until(lambda: "architecting: interrupted" in pane.shown(), what=pane.shown)
    assert "resume --reattach 20260101-100002-rewrite-cache" in pane.shown()
    row = next(each for each in pane.shown().splitlines() if each.startswith("> "))
    assert re.search(r" interrupted +\d+", row)
    assert "Enter reattach" in pane.shown()
    pane.press("Enter")
    wait_until(lambda: "code 0" in pane.shown(), what=pane.shown)
    assert "('20260101-100002-rewrite-cache', False)" in pane.shown().replace("\n", "")


@pytest.mark.usefixtures("live_ones")
def test_a_live_session_that_was_chosen_is_attached_to(sessions: Path) -> None:
    words = ("-m", "agentmux", "--project", str(sessions), "attach")
    with on_pty(sessions, *words) as (process, fd, before):
        read_until(fd, b"Enter attach")
        os.write(fd, b"/fix-l\r")
        read_until(fd, b"this is fix-login")
        process.kill()
        process.wait()
        termios.tcsetattr(fd, termios.TCSANOW, before)  # type: ignore[arg-type]


@pytest.mark.usefixtures("live_ones")
def test_several_live_ones_are_listed_where_there_is_no_terminal(sessions: Path) -> None:
    argv = [sys.executable, "-m", "agentmux", "--project", str(sessions), "attach"]
    done = subprocess.run(
        argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    assert done.returncode == ExitCode.NOT_FOUND
    hints = [line for line in done.stderr.splitlines() if line.startswith("hint: ")]
    assert [" ".join(hint.split()[1:6]) for hint in hints] == [
        f"agentmux --project {sessions} attach {name}" for name in ("rewrite-cache", "fix-login")
    ]


def test_the_time_in_a_name_is_not_looked_for(project: Path) -> None:
    for name in ("add-auth", "add-2fa", "fix-login"):
        make_session(project, f"20260101-100000-{name}", feature=name)
    with on_pty(project) as (process, fd, _):
        read_until(fd, b"last screen of")
        os.write(fd, b"/2")
        read_until(fd, header("2", "1 of 3"))
        os.write(fd, b"\r")
        read_until(fd, b"('20260101-100000-add-2fa', False)")
        assert process.wait(60) == 0


@pytest.mark.usefixtures("live_ones")
@pytest.mark.parametrize(
    ("typed", "found"), [("stopped", "0 of 3"), ("interr", "3 of 3"), ("project", "3 of 3")]
)
def test_a_session_is_found_by_status_and_project(sessions: Path, typed: str, found: str) -> None:
    with on_pty(sessions) as (process, fd, _):
        read_until(fd, b"Enter reattach")
        os.write(fd, typed.encode())
        read_until(fd, header(typed, found))
        os.write(fd, b"\x03")
        read_until(fd, LEFT)
        process.wait(60)


def header(typed: str, found: str) -> bytes:
    left = f"Resume which session?  /{typed}\u258f"
    return f"{left:<{80 - len(found)}}{found}".encode()


@contextmanager
def on_pty(
    project: Path, *words: str
) -> Iterator[tuple[subprocess.Popen[bytes], int, list[object]]]:
    argv = [sys.executable, *(words or (str(LAB), str(project)))]
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    before = termios.tcgetattr(theirs)
    env = {**os.environ, "PYTHONPATH": str(ROOT), "TERM": "xterm"}
    process = subprocess.Popen(
        argv,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env=env,
    )
    try:
        yield process, ours, before
        assert termios.tcgetattr(theirs) == before
    finally:
        process.kill()
        process.wait()
        os.close(ours)
        os.close(theirs)


def read_until(fd: int, wanted: bytes) -> bytes:
    seen = b""
    while wanted not in seen:
        assert select.select([fd], [], [], 20)[0], f"{wanted!r} never came after {seen!r}"
        seen += os.read(fd, 65536)
    return seen


LEFT = b"\x1b[?25h\x1b[?1049l"


@pytest.mark.parametrize(
    ("end", "code"),
    [
        (lambda process, fd: os.write(fd, b"\x03"), 1),  # KeyboardInterrupt in picker_lab
        (lambda process, fd: process.send_signal(signal.SIGINT), 1),
        (lambda process, fd: process.send_signal(signal.SIGTERM), -signal.SIGTERM),
        (lambda process, fd: process.send_signal(signal.SIGHUP), -signal.SIGHUP),
        (lambda process, fd: os.write(fd, b"\x1b"), 0),
        (lambda process, fd: os.write(fd, b"\r"), 0),
    ],
    ids=["ctrl-c", "int", "term", "hup", "esc", "enter"],
)
def test_the_terminal_is_as_it_was_whatever_ends_the_picker(
    end: Callable[[subprocess.Popen[bytes], int], object], code: int, sessions: Path
) -> None:
    with on_pty(sessions) as (process, fd, _):
        seen = read_until(fd, b"last screen of")
        assert b"\x1b[?1049h" in seen
        end(process, fd)
        read_until(fd, LEFT)
        process.wait(60)
    # An interrupted Python may end with 1 or with SIGINT.
    assert process.returncode in {code, -signal.SIGINT if code == 1 else code}


def test_what_is_pasted_is_text(sessions: Path) -> None:
    with on_pty(sessions) as (process, fd, _):
        read_until(fd, b"last screen of")
        os.write(fd, b"\x1b[200~fix\n\x1b[201~")
        read_until(fd, b"/fix")
        os.write(fd, b"\r")
        read_until(fd, b"('20260101-100001-fix-login', False)")
        assert process.wait(60) == 0


def test_a_session_is_found_by_its_feature(sessions: Path) -> None:
    make_session(sessions, "20260101-090000-x", feature="Greet People\nand more")
    with on_pty(sessions) as (process, fd, _):
        read_until(fd, b"last screen of")
        os.write(fd, b"/people")
        read_until(fd, b"Greet People")
        os.write(fd, b"\r")
        read_until(fd, b"('20260101-090000-x', False)")
        assert process.wait(60) == 0


def test_the_command_asks_and_leaves_everything_when_nothing_is_wanted(sessions: Path) -> None:
    before = sorted(sessions.rglob("*"))
    with on_pty(sessions, "-m", "agentmux", "--project", str(sessions), "resume") as (
        process,
        fd,
        _,
    ):
        read_until(fd, b"last screen of")
        os.write(fd, b"\x1b")
        read_until(fd, LEFT)
        assert process.wait(60) == ExitCode.INTERRUPTED
    assert sorted(sessions.rglob("*")) == before


def test_the_place_of_a_worktree_is_shown_below_the_plan() -> None:
    shown = scene()
    place = "agentmux/x in /w/x"
    known = {name: replace(each, place=place) for name, each in shown.known.items()}
    lines = text(replace(shown, known=known)).splitlines()
    assert lines[5:7] == ["Log people in", "implementing: done_2 is missing"]
    assert lines[10] == place


def test_a_request_is_shown_beside_a_name_that_does_not_say_it() -> None:
    shown = scene(outlooks=())
    for name, title in (("log-people-in", "Log people in"), ("auth", "Log people in")):
        known = {**shown.known, AUTH.name: replace(shown.known[AUTH.name], name=name, title=title)}
        row = text(replace(shown, known=known), cols=120).splitlines()[1]
        assert ("Log people in" in row) is (name == "auth")


def test_names_that_would_look_the_same_keep_what_differs() -> None:
    shown = scene(outlooks=())
    ends = ("one", "two", "three")
    known = {
        key: replace(each, name=f"{'a-very-long-name-' * 4}{end}")
        for (key, each), end in zip(shown.known.items(), ends, strict=True)
    }
    rows = text(replace(shown, known=known), cols=60).splitlines()[1:4]
    assert all(f"\u2026{end} " in row for end, row in zip(ends, rows, strict=True))
