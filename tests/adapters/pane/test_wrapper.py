"""The wrapper in real panes: how agents start and end, and which files it writes."""

import fcntl
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agentmux.adapters.system.processes.processes import is_alive
from agentmux.ports.tmux.terminal import NewPane
from tests.conftest import WRAPPER, WaitUntil
from tests.fakes.bench import Bench as TmuxTerminal


class Launch:
    """One wrapped program in a pane."""

    def __init__(self, folder: Path, terminal: TmuxTerminal, session: str) -> None:
        self.folder = folder
        self.terminal = terminal
        self.session = session
        self.pane = ""

    def screen(self) -> str:
        return self.terminal.capture([self.pane])[self.pane].text

    def wrapper(self) -> int:
        return next(one.pid for one in self.terminal.panes(self.session) if one.id == self.pane)

    def is_dead(self) -> bool:
        return next(one.dead for one in self.terminal.panes(self.session) if one.id == self.pane)

    def record(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.folder / "exit.json").read_text())
        return found

    def has_record(self) -> bool:
        return (self.folder / "exit.json").exists()

    def keys(self, *keys: str) -> None:
        self.terminal.run("send-keys", "-t", self.pane, *keys)


Start = Callable[..., Launch]


def argv(folder: Path) -> tuple[str, ...]:
    return (sys.executable, "-IS", str(WRAPPER), str(folder))


def write(folder: Path, program: list[str], **fields: object) -> Path:
    folder.mkdir(parents=True)
    launch: dict[str, object] = {"argv": program, "cwd": "/", "claim": None, "grace_s": 0.3}
    launch |= {"env": {}, "unset": []}
    (folder / "launch.json").write_text(json.dumps(launch | fields))
    return folder


@pytest.fixture
def start(tmux_under: TmuxTerminal, tmp_path: Path) -> Start:
    made = tmux_under.create_session(
        name="agentmux-w", uuid="u", cwd=tmp_path, size=(220, 60), argv=("sleep", "1000")
    )
    count = iter(range(1000))

    def started(program: list[str] | str, **fields: object) -> Launch:
        number = next(count)
        words = ["/bin/sh", "-c", program] if isinstance(program, str) else program
        folder = write(tmp_path / f"launch {number} #(touch pwned) 'x';", words, **fields)
        launch = Launch(folder, tmux_under, made.session.id)
        opened = tmux_under.open_panes(
            made.session.id,
            [NewPane(seat="coder", launch=f"{number:012}", label="coder", argv=argv(folder))],
        )
        launch.pane = opened[f"{number:012}"]
        return launch

    return started


@pytest.mark.long
def test_every_exit_leaves_its_record(
    tmux_under: TmuxTerminal, tmp_path: Path, wait_until: WaitUntil
) -> None:
    made = tmux_under.create_session(
        name="agentmux-w", uuid="u", cwd=tmp_path, size=(220, 60), argv=("sleep", "1000")
    )
    folders = [
        write(tmp_path / f"launch {number}", ["/bin/sh", "-c", f"exit {number}"])
        for number in range(50)
    ]
    opened = tmux_under.open_panes(
        made.session.id,
        [
            NewPane(seat="coder", launch=f"{number:012}", label="coder", argv=argv(folder))
            for number, folder in enumerate(folders)
        ],
    )
    assert len(opened) == 50

    wait_until(lambda: all((folder / "exit.json").exists() for folder in folders), 30)
    wait_until(lambda: sum(pane.dead for pane in tmux_under.panes(made.session.id)) == 50)

    records = [json.loads((folder / "exit.json").read_text()) for folder in folders]
    assert [record["status"] for record in records] == list(range(50))
    assert {record["signal"] for record in records} == {None}
    shown = tmux_under.capture(list(opened.values()))
    for number, pane in enumerate(opened.values()):
        assert f"[agent exited with {number}]" in shown[pane].text


def test_the_agent_gets_its_directory_environment_and_words(
    start: Start, tmp_path: Path, wait_until: WaitUntil, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "work ü #(touch pwned)"
    folder.mkdir()
    words = ["ends;", ";", "\\;", "$(touch pwned)", "#(touch pwned)", "a\nb", "", "{", "~", "%if"]
    program = (
        "import json, os, sys\n"
        "names = ('NEW', 'HOME', 'GONE', 'GONE_TOO')\n"
        "found = [os.getcwd(), sys.argv[1:], [os.environ.get(n) for n in names]]\n"
        "json.dump(found, open('found', 'w'))"
    )
    launch = start(
        [sys.executable, "-c", program, *words],
        cwd=str(folder),
        env={"NEW": "ü;#", "GONE_X": "1", "PATH": os.environ["PATH"]},
        unset=["HOME", "GONE*"],
    )
    wait_until(launch.has_record)
    assert launch.record()["status"] == 0
    assert (launch.folder / "started").exists()
    assert json.loads((folder / "found").read_text()) == [
        str(folder),
        words,
        ["ü;#", None, None, None],
    ]
    assert not list(tmp_path.rglob("pwned"))


def test_what_the_server_carries_is_unset(
    start: Start, wait_until: WaitUntil, tmp_path: Path
) -> None:
    probe = start("true")
    wait_until(probe.has_record)
    probe.terminal.run("set-environment", "-g", "CLAUDECODE", "1")
    probe.terminal.run("set-environment", "-g", "CLAUDE_CODE_X", "1")
    launch = start("env > env; exit 0", cwd=str(tmp_path), unset=["CLAUDECODE", "CLAUDE_CODE_*"])
    wait_until(launch.has_record)
    assert "CLAUDE" not in (tmp_path / "env").read_text()


def test_a_launch_file_may_be_larger_than_a_tmux_command(
    start: Start, wait_until: WaitUntil
) -> None:
    launch = start(["/bin/sh", "-c", 'exit "${#1}"', "sh", "x" * 100_000])
    wait_until(launch.has_record)
    assert launch.record()["status"] == 100_000 % 256


def test_a_missing_program_is_told(start: Start, wait_until: WaitUntil) -> None:
    launch = start(["no-such-agent"])
    wait_until(launch.is_dead)
    assert launch.record()["status"] == 127
    assert "cannot start no-such-agent: No such file or directory" in launch.screen()


def test_a_program_without_permission_is_told(
    start: Start, wait_until: WaitUntil, tmp_path: Path
) -> None:
    (tmp_path / "plain").write_text("x")
    launch = start([str(tmp_path / "plain")])
    wait_until(launch.is_dead)
    assert launch.record()["status"] == 126


def test_a_missing_directory_is_told(start: Start, wait_until: WaitUntil) -> None:
    launch = start("exit 0", cwd="/no/such/dir")
    wait_until(launch.is_dead)
    assert (launch.record()["status"], launch.record()["started_at"]) == (126, None)
    assert "cannot enter /no/such/dir" in launch.screen()
    assert not (launch.folder / "started").exists()


def test_a_broken_launch_file_is_told(tmp_path: Path) -> None:
    (tmp_path / "launch.json").write_text("{")
    done = subprocess.run(argv(tmp_path), capture_output=True, check=False)
    assert done.returncode == 78
    assert json.loads((tmp_path / "exit.json").read_text())["status"] == 78


def test_a_held_claim_is_refused_and_a_free_one_is_held(
    start: Start, wait_until: WaitUntil, tmp_path: Path
) -> None:
    claim = tmp_path / "claims" / "c"
    first = start("exec sleep 1000", claim=str(claim))
    wait_until((first.folder / "started").exists)

    second = start("exit 0", claim=str(claim))
    wait_until(second.has_record)
    assert (second.record()["status"], second.record()["claim_taken"]) == (75, True)
    assert not (second.folder / "started").exists()

    first.terminal.close_panes([first.pane])
    wait_until(first.has_record)
    third = start("exit 75", claim=str(claim))
    wait_until(third.has_record)
    assert (third.record()["status"], third.record()["claim_taken"]) == (75, False)


def test_a_claim_is_free_though_a_child_of_the_agent_lives_on(
    start: Start, wait_until: WaitUntil, tmp_path: Path
) -> None:
    claim = tmp_path / "c"
    launch = start("setsid sleep 1000 & exit 0", claim=str(claim))
    wait_until(launch.is_dead)
    with claim.open() as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def test_a_claim_that_cannot_be_taken_is_not_said_to_be_held(tmp_path: Path) -> None:
    (tmp_path / "claims").touch()
    folder = write(tmp_path / "launch", ["true"], claim=str(tmp_path / "claims" / "c"))
    subprocess.run(argv(folder), check=False, stdin=subprocess.DEVNULL, capture_output=True)
    record = json.loads((folder / "exit.json").read_text())
    assert (record["status"], record["claim_taken"]) == (126, False)


TRACED = """
import fcntl, os, sys
sys.path.insert(0, os.path.dirname(sys.argv[1]))
import wrapper

folder, claim, steps = sys.argv[2:]
real_fsync, real_rename = os.fsync, os.rename

def note(*words):
    with open(steps, "a") as file:
        print(*words, file=file)

def fsync(fd):
    note("fsync", os.path.basename(os.readlink(f"/proc/self/fd/{fd}")))
    real_fsync(fd)

def rename(source, target):
    with open(claim) as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            note("rename", os.path.basename(target), "while the claim is free")
        except BlockingIOError:
            note("rename", os.path.basename(target), "while the claim is held")
    real_rename(source, target)

os.fsync, os.rename = fsync, rename
wrapper.Wrapper(folder).run()
"""


def test_the_claim_is_free_before_the_record_is_there_and_the_record_is_on_the_disk(
    tmp_path: Path,
) -> None:
    claim, steps = tmp_path / "claim", tmp_path / "steps"
    folder = write(tmp_path / "launch", ["true"], claim=str(claim))
    words = [sys.executable, "-c", TRACED, str(WRAPPER), str(folder), str(claim), str(steps)]
    subprocess.run(
        words, check=True, timeout=60, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL
    )
    assert json.loads((folder / "exit.json").read_text())["status"] == 0
    *_, flushed, renamed, told = steps.read_text().splitlines()
    assert flushed.startswith("fsync exit.json")
    assert renamed == "rename exit.json while the claim is free"
    assert told == "fsync launch"


def test_a_signal_is_recorded_as_one(start: Start, wait_until: WaitUntil) -> None:
    launch = start("kill -9 $$")
    wait_until(launch.is_dead)
    assert (launch.record()["status"], launch.record()["signal"]) == (None, 9)
    assert "[agent ended by SIGKILL]" in launch.screen()


def test_what_is_said_at_the_end_stands_on_a_line_of_its_own(
    start: Start, wait_until: WaitUntil
) -> None:
    """The agent drew a screen: what it wrote there stays, except in this one line."""
    launch = start(r"printf 'first\n\033[41msecond\n%60s\nlast\033[2A\033[5G' end; kill -9 $$")
    wait_until(launch.is_dead)
    rows = [row.rstrip() for row in launch.screen().splitlines()]
    at = rows.index("first")
    assert rows[at : at + 4] == ["first", "second", "[agent ended by SIGKILL]", "last"]


def test_ctrl_c_reaches_the_agent(start: Start, wait_until: WaitUntil) -> None:
    launch = start("echo ready; exec sleep 1000")
    wait_until(lambda: "ready" in launch.screen())
    launch.keys("C-c")
    wait_until(launch.is_dead)
    assert (launch.record()["signal"], launch.record()["hup"]) == (signal.SIGINT, False)


def test_an_agent_that_handles_ctrl_c_goes_on(start: Start, wait_until: WaitUntil) -> None:
    launch = start("trap 'echo handled' INT; echo ready; read x; read x; exit 5")
    wait_until(lambda: "ready" in launch.screen())
    launch.keys("C-c")
    wait_until(lambda: "handled" in launch.screen())
    launch.keys("x", "Enter", "y", "Enter")
    wait_until(launch.is_dead)
    assert launch.record()["status"] == 5


@pytest.mark.parametrize("stop", ["C-z", "STOP"])
def test_a_stopped_agent_is_brought_back(start: Start, wait_until: WaitUntil, stop: str) -> None:
    launch = start("echo ready; read x; exit 6")
    wait_until(lambda: "ready" in launch.screen())
    if stop == "C-z":
        launch.keys("C-z")
    else:
        os.kill(agent_of(launch.wrapper()), signal.SIGSTOP)
    launch.keys("x", "Enter")
    wait_until(launch.is_dead)
    assert launch.record()["status"] == 6


@pytest.mark.parametrize("keeps_place", [False, True])
def test_closing_the_pane_ends_the_agent(
    start: Start, wait_until: WaitUntil, keeps_place: bool
) -> None:
    launch = start("echo ready; exec sleep 1000")
    wait_until(lambda: "ready" in launch.screen())
    agent = agent_of(launch.wrapper())
    launch.terminal.close_panes([launch.pane], vacate=[launch.pane] if keeps_place else [])
    wait_until(launch.has_record)
    wait_until(lambda: not is_alive(agent))
    assert (launch.record()["signal"], launch.record()["hup"]) == (signal.SIGHUP, True)


def test_an_agent_immune_to_hup_is_killed_after_its_grace(
    start: Start, wait_until: WaitUntil
) -> None:
    launch = start("trap '' HUP TERM; (sleep 1000; :) & echo ready; while :; do sleep 1000; done")
    wait_until(lambda: "ready" in launch.screen())
    agent = agent_of(launch.wrapper())
    group = [pid for pid in pids() if group_of(pid) == agent]
    assert len(group) >= 3
    launch.terminal.close_panes([launch.pane])
    wait_until(launch.has_record)
    assert (launch.record()["signal"], launch.record()["hup"]) == (signal.SIGKILL, True)
    wait_until(lambda: not any(is_alive(pid) for pid in group))


def test_a_program_that_takes_longer_than_its_limit_is_ended(
    start: Start, wait_until: WaitUntil
) -> None:
    launch = start("trap 'exit 9' TERM; while :; do sleep 0.02; done", limit_s=0.2, name="step x")
    wait_until(launch.has_record)
    record = launch.record()
    assert (record["status"], record["hup"], record["timed_out"]) == (9, False, True)
    assert "[step x took longer than 0.2 s]" in launch.screen()
    assert "[step x exited with 9]" in launch.screen()


def test_a_program_that_ignores_the_end_of_its_limit_is_killed(
    start: Start, wait_until: WaitUntil
) -> None:
    launch = start("trap '' TERM; while :; do sleep 1000; done", limit_s=0.1)
    wait_until(launch.has_record)
    assert (launch.record()["signal"], launch.record()["timed_out"]) == (signal.SIGKILL, True)


def test_the_last_output_of_a_command_is_kept_and_shown(
    start: Start, wait_until: WaitUntil
) -> None:
    check = "test -t 1 && echo terminal; cat; for n in 1 2 3 4 5 6 7 8; do echo line $n; done >&2"
    launch = start(f"{check}; exit 3", keep_output=14)
    wait_until(launch.has_record)
    assert launch.record()["status"] == 3
    assert (launch.folder / "output").read_text() == "line 7\nline 8\n"
    assert "line 1\nline 2\n" in launch.screen(), "the lines begin at the left"
    assert "terminal" not in launch.screen(), "no pager and no question in a pipe"


def test_what_a_command_leaves_running_is_ended_with_it(
    start: Start, wait_until: WaitUntil
) -> None:
    launch = start("sleep 1000 & echo $! ; exit 0", keep_output=100)
    wait_until(launch.has_record, 10)
    left = int((launch.folder / "output").read_text())
    wait_until(lambda: not is_alive(left))
    assert launch.record()["status"] == 0


def test_a_command_that_takes_too_long_is_ended_with_its_group(
    start: Start, wait_until: WaitUntil
) -> None:
    launch = start("sleep 1000 & echo $!; wait", keep_output=100, limit_s=0.3)
    wait_until(launch.has_record, 10)
    assert launch.record()["timed_out"] is True
    wait_until(lambda: not is_alive(int((launch.folder / "output").read_text())))


def test_term_is_forwarded(start: Start, wait_until: WaitUntil) -> None:
    launch = start("trap 'exit 9' TERM; echo ready; while :; do sleep 0.02; done")
    wait_until(lambda: "ready" in launch.screen())
    os.kill(launch.wrapper(), signal.SIGTERM)
    wait_until(launch.is_dead)
    assert (launch.record()["status"], launch.record()["hup"]) == (9, False)


def test_no_agent_outlives_a_killed_wrapper(start: Start, wait_until: WaitUntil) -> None:
    launch = start("trap '' HUP TERM; echo ready; while :; do sleep 1000; done")
    wait_until(lambda: "ready" in launch.screen())
    wrapper = launch.wrapper()
    agent = agent_of(wrapper)
    os.kill(wrapper, signal.SIGKILL)
    wait_until(lambda: not is_alive(agent))
    assert not launch.has_record()


def test_the_last_screen_stays_whole(start: Start, wait_until: WaitUntil) -> None:
    launch = start(r"printf 'top\nnext'; exit 3")
    wait_until(launch.is_dead)
    assert launch.screen().split("\n")[:3] == ["top", "next", "[agent exited with 3]"]


def test_a_terminal_that_takes_no_output_does_not_keep_the_pane(
    start: Start, wait_until: WaitUntil
) -> None:
    launch = start("echo ready; read x; exit 4")
    wait_until(lambda: "ready" in launch.screen())
    launch.keys("C-s")
    launch.terminal.paste(launch.pane, "x\n")
    wait_until(launch.is_dead)
    assert launch.record()["status"] == 4


def agent_of(wrapper: int) -> int:
    children = Path(f"/proc/{wrapper}/task/{wrapper}/children").read_text().split()
    assert len(children) == 1
    return int(children[0])


def pids() -> list[int]:
    return [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdecimal()]


def group_of(pid: int) -> int:
    try:
        return os.getpgid(pid)
    except ProcessLookupError:
        return 0
