"""A stopped pane in real tmux: what it shows, and that each choice runs in the same pane."""

import fcntl
import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agentmux.adapters.pane.gate import GateLine, overlay
from agentmux.adapters.system.processes.processes import is_alive
from agentmux.core.terminal.text.captured_screen import plain
from agentmux.ports.tmux.terminal import NewPane
from tests.conftest import WRAPPER, WaitUntil
from tests.fakes.bench import Bench as TmuxTerminal

LAUNCH = "0123456789ab"
SEES = "printf '%s-ready\\n' {}; cat > {}; exit 3"


class Stopped:
    """One launch whose pane is stopped from the start."""

    def __init__(self, folder: Path, terminal: TmuxTerminal, session: str) -> None:
        self.folder = folder
        self.terminal = terminal
        self.session = session
        opened = terminal.open_panes(
            session,
            [
                NewPane(
                    seat="coder",
                    launch=LAUNCH,
                    label="coder",
                    argv=(sys.executable, "-IS", str(WRAPPER), str(folder)),
                )
            ],
        )
        self.pane = opened[LAUNCH]

    def screen(self) -> str:
        return self.terminal.capture([self.pane])[self.pane].text

    def ansi(self) -> str:
        return self.terminal.capture([self.pane])[self.pane].ansi

    def ask(self, what: str) -> str:
        done = self.terminal.run("display-message", "-p", "-t", self.pane, what)
        return done.stdout.strip()

    def keys(self, *keys: str) -> None:
        self.terminal.run("send-keys", "-t", self.pane, *keys)

    def pid(self) -> int:
        return int(self.ask("#{pane_pid}"))

    def left(self, name: str) -> Any:
        return json.loads((self.folder / name).read_text())


Stop = Callable[..., Stopped]


def choice(folder: Path, key: str, title: str, name: str) -> dict[str, object]:
    said = f"printf '%s\\n' {name}-runs; cat > {folder}/typed; exit 3"
    return {
        "key": key,
        "title": title,
        "says": f"says {name}",
        "argv": ["/bin/sh", "-c", said],
        "fact": {"mode": name, "reason": f"{name} was chosen", "prompt": f"{name}.md"},
    }


@pytest.fixture
def stop(tmux: TmuxTerminal, tmp_path: Path) -> Stop:
    made = tmux.create_session(
        name="agentmux-g", uuid="u", cwd=tmp_path, size=(120, 40), argv=("sleep", "1000")
    )

    def stopped(snapshot: object = None, **fields: Any) -> Stopped:
        folder = tmp_path / "launch"
        folder.mkdir()
        path = folder / "snapshot.json"
        if snapshot is not None:
            text = snapshot if isinstance(snapshot, str) else json.dumps(snapshot)
            path.write_text(text)
        gate = {
            "title": "coder · demo · stopped",
            "says": "every check passed",
            "snapshot": str(path),
            "wake": str(folder / "wake.fifo"),
            "choices": {
                "resume": choice(folder, "r", "Resume", "resume"),
                "fresh": choice(folder, "f", "Restart fresh", "fresh"),
                "shell": choice(folder, "s", "Shell", "shell"),
            },
        }
        launch = {"cwd": "/", "grace_s": 0.3, "gate": {**gate, **fields}}
        (folder / "launch.json").write_text(json.dumps(launch))
        return Stopped(folder, tmux, made.session.id)

    return stopped


def screen_of(text: str, cols: int = 120, rows: int = 40) -> dict[str, object]:
    return {"ansi": text, "cols": cols, "rows": rows, "cursor_row": 0, "cursor_col": 0}


def test_the_last_screen_is_painted_dim_behind_the_choices(
    stop: Stop, wait_until: WaitUntil
) -> None:
    last = "\x1b[1;31mred across\nlines 世界 ┌─┐\x1b[0m\n" + "\n".join(
        f"row {n}" for n in range(38)
    )
    pane = stop(screen_of(last))
    wait_until(lambda: "Restart fresh" in pane.screen())

    shown = pane.screen()
    for words in ("coder · demo · stopped", "every check passed", "says resume", "says shell"):
        assert words in shown
    assert shown.startswith("red across")
    assert "lines 世界 ┌─┐" in shown
    assert "row 37" in shown
    # tmux returns the same styles in its own order.
    first, second = pane.ansi().split("\n")[:2]
    assert first.startswith("\x1b[2m\x1b[31mred across")
    assert "lines 世界" in second
    assert "\x1b[1m" not in pane.ansi()
    assert pane.ask("#{alternate_on}") == "1"
    assert not (pane.folder / "started").exists()


@pytest.mark.parametrize(
    ("keys", "name"),
    [
        (["r"], "resume"),
        (["Enter"], "resume"),
        (["f"], "fresh"),
        (["Down", "Enter"], "fresh"),
        (["S"], "shell"),
        (["Up", "Enter"], "shell"),
        (["x", "Escape", "j", "k", "j", "j", "Enter"], "shell"),
        (["PPage", "j", "F5", "Enter"], "fresh"),
    ],
)
def test_each_choice_runs_in_that_very_pane(
    stop: Stop, wait_until: WaitUntil, keys: list[str], name: str
) -> None:
    pane = stop(screen_of("behind\n" * 39))
    wait_until(lambda: "Restart fresh" in pane.screen())
    before = pane.pid()
    pane.keys(*keys)  # in one call, so that they are read at once
    wait_until(lambda: f"{name}-runs" in pane.screen(), what=pane.screen)

    assert pane.pid() == before
    assert pane.screen().startswith(f"{name}-runs")
    assert "behind" not in pane.screen()
    assert pane.ask("#{alternate_on} #{history_size} #{wrap_flag} #{cursor_flag}") == "0 0 1 1"
    chosen = pane.left("choice.json")
    assert (chosen["choice"], chosen["mode"], chosen["prompt"]) == (name, name, f"{name}.md")

    pane.keys("C-d")
    wait_until((pane.folder / "exit.json").exists)
    assert (pane.left("exit.json")["status"], pane.left("exit.json")["hup"]) == (3, False)


def test_keys_typed_ahead_do_not_reach_the_agent(stop: Stop, wait_until: WaitUntil) -> None:
    pane = stop()
    wait_until(lambda: "Restart fresh" in pane.screen())
    assert "no last screen was kept" in pane.screen()
    pane.terminal.run("send-keys", "-t", pane.pane, "-l", "rm -rf x\r")
    wait_until(lambda: "resume-runs" in pane.screen())
    pane.keys("after", "Enter", "C-d")
    wait_until((pane.folder / "exit.json").exists)
    assert (pane.folder / "typed").read_text() == "after\n"


def test_the_orchestrator_is_woken_when_the_choice_is_there(
    stop: Stop, wait_until: WaitUntil, tmp_path: Path
) -> None:
    os.mkfifo(tmp_path / "wake")
    reads = os.open(tmp_path / "wake", os.O_RDWR | os.O_NONBLOCK)
    pane = stop(wake=str(tmp_path / "wake"))
    wait_until(lambda: "Restart fresh" in pane.screen())
    pane.keys("f")
    wait_until((pane.folder / "started").exists)
    assert os.read(reads, 9) == b"w\n"
    os.close(reads)
    assert pane.left("choice.json")["choice"] == "fresh"


@pytest.mark.parametrize("snapshot", [None, "{", '{"ansi": 7}', "[]", '{"ansi": "x", "cols": "9"}'])
def test_a_missing_or_corrupt_snapshot_leaves_the_pane_empty(
    stop: Stop, wait_until: WaitUntil, snapshot: str | None
) -> None:
    pane = stop(snapshot)
    wait_until(lambda: "no last screen was kept" in pane.screen())
    pane.keys("f")
    wait_until(lambda: "fresh-runs" in pane.screen())


def test_closing_a_stopped_pane_leaves_a_record(stop: Stop, wait_until: WaitUntil) -> None:
    pane = stop()
    wait_until(lambda: "Restart fresh" in pane.screen())
    wrapper = pane.pid()
    pane.terminal.close_panes([pane.pane])
    wait_until((pane.folder / "exit.json").exists)
    record = pane.left("exit.json")
    assert (record["status"], record["signal"], record["hup"]) == (None, signal.SIGHUP, True)
    assert record["started_at"] is None
    assert not (pane.folder / "choice.json").exists()
    wait_until(lambda: not is_alive(wrapper))


def test_term_ends_a_stopped_pane(stop: Stop, wait_until: WaitUntil) -> None:
    pane = stop()
    wait_until(lambda: "Restart fresh" in pane.screen())
    os.kill(pane.pid(), signal.SIGTERM)
    wait_until((pane.folder / "exit.json").exists)
    assert (pane.left("exit.json")["signal"], pane.left("exit.json")["hup"]) == (15, False)
    wait_until(lambda: "nothing was chosen" in pane.screen())
    assert pane.ask("#{alternate_on}") == "0"


def test_a_long_reason_is_wrapped_and_cut_and_the_choices_stay(
    stop: Stop, wait_until: WaitUntil
) -> None:
    pane = stop(says="世界 because\tof \x1b[2J everything " * 20)
    wait_until(lambda: "Restart fresh" in pane.screen())
    said = [line for line in pane.screen().splitlines() if "世界" in line]
    assert len(said) == 4
    assert said[-1].rstrip(" │").endswith("…")
    assert "because of [2J everything" in pane.screen()
    assert "says shell" in pane.screen()


def test_it_is_painted_again_when_the_pane_changes_its_size(
    stop: Stop, wait_until: WaitUntil
) -> None:
    pane = stop(screen_of("\n".join(f"row {n}" for n in range(40))))
    wait_until(lambda: "Restart fresh" in pane.screen())
    window = pane.ask("#{window_id}")
    pane.terminal.run("resize-window", "-t", window, "-x", "60", "-y", "12")
    wait_until(lambda: pane.screen().startswith("row 28"), what=pane.screen)
    assert "row 39" in pane.screen()
    assert "Resume" in pane.screen()
    pane.keys("r")
    wait_until(lambda: "resume-runs" in pane.screen())


def test_a_choice_that_cannot_be_kept_is_not_made(stop: Stop, wait_until: WaitUntil) -> None:
    pane = stop()
    wait_until(lambda: "Restart fresh" in pane.screen())
    (pane.folder / "choice.json").mkdir()
    pane.keys("r")
    wait_until(lambda: "cannot write choice.json" in pane.screen())
    (pane.folder / "choice.json").rmdir()
    pane.keys("r")
    wait_until(lambda: "resume-runs" in pane.screen())


def test_without_choices_it_shows_and_waits_for_its_end(stop: Stop, wait_until: WaitUntil) -> None:
    pane = stop(screen_of("the last\nscreen"), says="no shell is here", choices={})
    wait_until(lambda: "no shell is here" in pane.screen())
    assert pane.screen().startswith("the last\nscreen")
    pane.keys("r", "q", "Enter")
    pane.terminal.close_panes([pane.pane])
    wait_until((pane.folder / "exit.json").exists)
    assert pane.left("exit.json")["hup"] is True


def test_a_held_claim_refuses_the_choice(stop: Stop, wait_until: WaitUntil, tmp_path: Path) -> None:
    pane = stop(
        choices={
            "resume": {**choice(tmp_path, "r", "Resume", "resume"), "claim": str(tmp_path / "c")}
        }
    )
    wait_until(lambda: "Resume" in pane.screen())
    with (tmp_path / "c").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        pane.keys("r")
        wait_until((pane.folder / "exit.json").exists)
    assert pane.left("exit.json")["claim_taken"] is True


def test_notices_stand_above_the_program(stop: Stop, wait_until: WaitUntil, tmp_path: Path) -> None:
    noted = {**choice(tmp_path, "r", "Resume", "resume"), "notice": ["why\x1b[31m", "how to go on"]}
    pane = stop(choices={"resume": noted})
    wait_until(lambda: "Resume" in pane.screen())
    pane.keys("r")
    wait_until(lambda: "resume-runs" in pane.screen())
    assert pane.screen().split("\n")[:3] == ["[why?[31m]", "[how to go on]", "resume-runs"]


@pytest.mark.parametrize("cols", [1, 5, 23, 24, 40, 220])
@pytest.mark.parametrize("rows", [1, 2, 5, 6, 12, 60])
def test_the_menu_fits_every_pane_and_keeps_its_choices(cols: int, rows: int) -> None:
    lines = [
        GateLine("coder · demo", 1),
        GateLine("", 5),
        GateLine("why " * 30, 3),
        GateLine("> r Resume", 0, True),
    ]
    drawn = overlay(lines, cols, rows)
    assert 1 <= len(drawn) <= rows
    places = [tuple(map(int, each[2 : each.index("H")].split(";"))) for each in drawn]
    assert all(1 <= row <= rows for row, _ in places)
    for each, (_, left) in zip(drawn, places, strict=True):
        text = plain(each[each.index("H") + 1 :], 1000, 1)[0]
        assert left - 1 + len(text) <= cols
    assert any("\x1b[7m" in each for each in drawn)
