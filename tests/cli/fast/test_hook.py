"""The hooks of agents, which report their conversation, their prompt and their turn."""

import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from agentmux.cli.fast.hook import main
from agentmux.core.names.turn import Turn
from tests.app.on_disk import OnDisk
from tests.conftest import WaitUntil

LAUNCH = "launch-architect"


class Agent:
    """An architect whose hooks call ``agentmux hook``."""

    def __init__(self, path: Path) -> None:
        self.disk = OnDisk(path, feature="f")
        self.environ = self.disk.launch("architect", record={"session_ref": "c-1"})
        (path / "launches" / LAUNCH).mkdir(parents=True)
        self.ours = f"Read the file {path}/launches/{LAUNCH}/prompt.md and do what it says."

    def hook(self, event: str, **fields: Any) -> None:
        said = {"hook_event_name": event, "session_id": "c-1", **fields}
        assert main((), io.BytesIO(json.dumps(said).encode()), self.environ) == 0

    def notify(self, *messages: str, thread: str = "c-1") -> None:
        said = {"type": "agent-turn-complete", "thread-id": thread, "input-messages": messages}
        assert main([json.dumps(said)], io.BytesIO(), self.environ) == 0

    def turn(self) -> Turn:
        return self.disk.files.turn(LAUNCH)


@pytest.fixture
def agent(tmp_path: Path) -> Agent:
    return Agent(tmp_path / "s")


@pytest.mark.parametrize(
    ("begins", "ends"), [("UserPromptSubmit", "Stop"), ("BeforeAgent", "AfterAgent")]
)
def test_a_turn_that_we_began_is_known_to_end(agent: Agent, begins: str, ends: str) -> None:
    assert agent.turn() is Turn.UNKNOWN
    agent.hook(begins, prompt=agent.ours)
    assert agent.turn() is Turn.BEGUN
    agent.hook(begins, prompt="")
    assert agent.turn() is Turn.BEGUN, "a step of the same turn"
    agent.hook(ends)
    assert agent.turn() is Turn.ENDED
    agent.hook(ends)
    assert agent.turn() is Turn.ENDED
    assert agent.disk.kinds[-1] == "prompt_reached", "a turn is no line of the journal"
    assert agent.disk.kinds.count("prompt_reached") == 1


def test_a_turn_that_its_user_began_stays_theirs(agent: Agent) -> None:
    agent.hook("UserPromptSubmit", prompt="what do you think?")
    agent.hook("Stop")
    assert agent.turn() is Turn.OF_USER
    agent.hook("UserPromptSubmit", prompt=agent.ours)
    agent.hook("Stop")
    assert agent.turn() is Turn.ENDED


@pytest.mark.parametrize("field", ["background_tasks", "session_crons"])
def test_a_turn_that_goes_on_in_the_background_has_not_ended(agent: Agent, field: str) -> None:
    agent.hook("UserPromptSubmit", prompt=agent.ours)
    agent.hook("Stop", **{field: [{"id": "b1"}]})
    assert agent.turn() is Turn.BEGUN
    agent.hook("Stop", **{field: []})
    assert agent.turn() is Turn.ENDED


def test_a_notification_tells_the_same(agent: Agent) -> None:
    agent.notify("talk", agent.ours)
    assert agent.turn() is Turn.ENDED
    agent.notify(agent.ours, "and what about this?")
    assert agent.turn() is Turn.OF_USER
    agent.notify(agent.ours)
    assert agent.turn() is Turn.ENDED


@pytest.mark.parametrize("thread", ["c-2", ""])
def test_a_notification_of_another_thread_counts_for_nothing(agent: Agent, thread: str) -> None:
    agent.notify(agent.ours, thread=thread)
    assert agent.turn() is Turn.UNKNOWN


@pytest.mark.parametrize("launch", ["gone", "../x", "..", "", "a/b"])
def test_a_launch_that_has_no_folder_leaves_nothing(agent: Agent, launch: str) -> None:
    before = sorted(agent.disk.path.rglob("*"))
    agent.environ["AGENTMUX_LAUNCH_ID"] = launch
    agent.hook("Stop")
    assert sorted(agent.disk.path.rglob("*")) == before


@pytest.mark.parametrize("said", [b"", b"{", b"[]", b'{"hook_event_name": 1}', b"\xff"])
def test_a_hook_never_fails(agent: Agent, said: bytes, capfd: pytest.CaptureFixture[str]) -> None:
    assert main((), io.BytesIO(said), agent.environ) == 0
    assert main([said.decode(errors="replace")], io.BytesIO(), {}) == 0
    assert agent.turn() is Turn.UNKNOWN
    assert capfd.readouterr() == ("", "")


def test_what_else_lies_there_tells_nothing(agent: Agent) -> None:
    place = agent.disk.path / "launches" / LAUNCH / "turn"
    place.write_text("over and out\n")
    assert agent.turn() is Turn.UNKNOWN


class Notified:
    """A home of codex, and a program for its ``notify`` that writes what it is told to a file."""

    def __init__(self, path: Path, name: str = ".codex") -> None:
        self.home = path / name
        self.home.mkdir(parents=True)
        self.told = path / "told"
        self.environ = {"HOME": str(path)}
        self.argv = ["sh", "-c", f'printf "%s\\n" "$*" >> {self.told}', "own", "a b"]

    def set(self, text: str) -> None:
        (self.home / "config.toml").write_text(text)

    def hook(self, report: str, **env: str) -> None:
        """Run ``agentmux hook`` as codex does, and see that it says nothing and does not fail."""
        argv = (sys.executable, "-m", "agentmux", "hook", report)
        environ = {**os.environ, **env, **self.environ}
        done = subprocess.run(argv, env=environ, capture_output=True, check=True, timeout=60)
        assert (done.stdout, done.stderr) == (b"", b"")

    def lines(self) -> list[str]:
        return self.told.read_text().splitlines() if self.told.exists() else []


REPORT = json.dumps({"type": "agent-turn-complete", "thread-id": "c-1"})


@pytest.fixture
def notified(tmp_path: Path) -> Notified:
    return Notified(tmp_path)


def test_the_users_own_notify_of_codex_runs_as_well(
    agent: Agent, notified: Notified, wait_until: WaitUntil
) -> None:
    notified.set(f"model = 'm'\nnotify = {json.dumps(notified.argv)}\n[tui]\nx = 1\n")
    said = json.loads(REPORT) | {"input-messages": [agent.ours]}
    notified.hook(json.dumps(said), **agent.environ)
    wait_until(lambda: notified.lines() == [f"a b {json.dumps(said)}"])
    assert agent.turn() is Turn.ENDED


def test_the_users_notify_is_that_of_the_agents_home(
    tmp_path: Path, notified: Notified, wait_until: WaitUntil
) -> None:
    other = Notified(tmp_path / "other", "codex-home")
    for each in (notified, other):
        each.set(f"notify = {json.dumps(each.argv)}")
    notified.hook(REPORT, CODEX_HOME=str(other.home))
    wait_until(lambda: other.lines() == [f"a b {REPORT}"])
    assert notified.lines() == []


def test_a_users_notify_that_calls_our_hook_ends(notified: Notified, wait_until: WaitUntil) -> None:
    ours = f'"{sys.executable}" -m agentmux hook "$1"; echo "$1" >> {notified.told}'
    notified.set(f"notify = {json.dumps(['sh', '-c', ours, 'own'])}")
    notified.hook(REPORT)
    wait_until(lambda: notified.lines() == [REPORT])


@pytest.mark.parametrize(
    "text", ["", "notify = 1", "notify = []", "notify = [1]", 'notify = ["gone-0"]', "[", "é = 1"]
)
def test_a_notify_that_cannot_be_run_is_none(notified: Notified, text: str) -> None:
    notified.set(text)
    notified.hook(REPORT)
    (notified.home / "config.toml").unlink()
    notified.hook(REPORT)
