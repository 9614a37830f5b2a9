"""Launches as they are planned and written, with a real agent registry and real files."""

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agentmux.app.gating import unheard
from agentmux.app.launching import Launcher, PreparedLaunch
from agentmux.app.session import Session
from agentmux.app.sessions import sessions_dir
from agentmux.app.world import World
from agentmux.cli import wiring
from agentmux.core.artifacts import Artifacts
from agentmux.core.decide import Work
from agentmux.core.events import AgentExited, LaunchChosen, PromptReached
from agentmux.core.state import Options
from tests.app.on_disk import OnDisk

ARCHITECT = Work(seat="architect", role="architect")
NAME = "20260101-101500-add-auth"


@pytest.fixture
def world(tmp_path: Path) -> World:
    (tmp_path / "project").mkdir()
    return wiring.world(tmp_path / "project", environ=os.environ)


@pytest.fixture
def disk(world: World) -> OnDisk:
    return OnDisk(sessions_dir(world.project) / NAME, options=Options(agents={"*": "demo"}))


class Desk:
    """Prepares launches of the architect, and tells the session of each."""

    def __init__(self, world: World, disk: OnDisk) -> None:
        self.world = world
        self.session = Session(disk.files, now=world.now, new_id=world.new_id)

    def prepare(self, *, stopped: bool = False) -> PreparedLaunch:
        launcher = Launcher(self.world, self.session)
        made = launcher.prepare(ARCHITECT, 1, Artifacts(), stopped=stopped)
        self.session.record(made.fact, seat="architect", launch=made.plan.launch)
        return made

    def reached(self) -> "Desk":
        """Let the architect be launched once, and reached."""
        launch = self.prepare().plan.launch
        self.session.record(PromptReached(evidence="e"), seat="architect", launch=launch)
        return self

    def file(self, made: PreparedLaunch) -> dict[str, Any]:
        folder = self.session.files.path / "launches" / made.plan.launch
        found: dict[str, Any] = json.loads((folder / "launch.json").read_text())
        return found


@pytest.fixture
def desk(world: World, disk: OnDisk) -> Desk:
    return Desk(world, disk)


def without(world: World, *, agent: bool = False, shell: bool = False) -> World:
    """The same world without a program."""
    programs = world.programs
    if not agent:
        gone = replace(programs.probe(world.spec("demo")), installed=False)
        programs = replace(programs, probe=lambda _: gone)
    if not shell:
        programs = replace(programs, shell="/no/such/shell")
    return replace(world, programs=programs)


def test_a_stopped_pane_offers_native_fresh_and_shell(desk: Desk) -> None:
    made = desk.reached().prepare(stopped=True)
    assert (made.fact.mode, made.fact.stopped) == ("native", True)
    assert made.pane.label == "architect · demo · stopped"
    gate = desk.file(made)["gate"]
    folder = desk.session.files.path
    assert gate["snapshot"] == str(folder / "snapshots" / "architect.json")
    assert gate["wake"] == str(folder / "wake.fifo")
    resume, fresh, shell = (gate["choices"][name] for name in ("resume", "fresh", "shell"))
    assert [each["key"] for each in (resume, fresh, shell)] == ["r", "f", "s"]

    own = made.fact.record["session_ref"]
    assert own in resume["argv"]
    assert "--resume" in resume["argv"]
    assert resume["argv"][-1].endswith("/prompt.md and do what it says.")
    assert resume["fact"]["record"] == {}
    other = fresh["fact"]["record"]["session_ref"]
    assert other != own
    assert other in fresh["argv"]
    assert fresh["argv"][-1].endswith("/instructions.md and do what it says.")
    assert fresh["fact"]["prompt"] == "instructions.md"
    assert fresh["claim"] != resume["claim"]
    assert fresh["fact"]["prompt_bytes"] == made.fact.fresh_prompt_bytes
    assert shell["argv"] == [desk.world.programs.shell]
    assert shell["claim"] is None
    assert shell["notice"][1].endswith("/instructions.md")
    assert shell["notice"][2] == "when it is done: agentmux submit architecture"

    launch = folder / "launches" / made.plan.launch
    full = (launch / "instructions.md").read_text()
    assert len(full.encode()) == made.fact.fresh_prompt_bytes
    assert (launch / "prompt.md").read_text() != full


def test_where_resuming_is_a_fresh_start_both_are_one_conversation(desk: Desk) -> None:
    desk.prepare()
    made = desk.prepare(stopped=True)
    assert (made.fact.mode, made.fact.stopped) == ("fresh", True)
    choices = desk.file(made)["gate"]["choices"]
    assert choices["resume"]["argv"] == choices["fresh"]["argv"]
    assert choices["fresh"]["fact"]["record"] == {}
    assert choices["resume"]["says"] == "a fresh start"
    assert desk.file(made)["gate"]["says"] == made.fact.reason


def test_what_a_user_chose_unheard_is_found(desk: Desk) -> None:
    made = desk.reached().prepare(stopped=True)
    files = desk.session.files
    folder = files.path / "launches" / made.plan.launch
    assert list(unheard(desk.session.state, files)) == []
    (folder / "stopped").touch()
    chosen = desk.file(made)["gate"]["choices"]["fresh"]["fact"]
    (folder / "choice.json").write_text(json.dumps({**chosen, "at": "now"}))
    ((seat, launch, fact),) = unheard(desk.session.state, files)
    assert (seat, launch, fact.mode) == ("architect", made.plan.launch, "fresh")
    desk.session.record(fact, seat=seat, launch=launch)
    assert list(unheard(desk.session.state, files)) == []


@pytest.mark.parametrize("text", ["{", "[]", "7", '"mode"', '{"choice": "fresh"}'])
def test_a_choice_that_cannot_be_read_is_none(desk: Desk, text: str) -> None:
    made = desk.reached().prepare(stopped=True)
    folder = desk.session.files.path / "launches" / made.plan.launch
    (folder / "stopped").touch()
    (folder / "choice.json").write_text(text)
    record = desk.session.files.launch_record(made.plan.launch)
    assert (record.started, record.choice) == (True, None)


def test_the_first_launch_of_a_seat_says_nothing_and_the_next_one_why(desk: Desk) -> None:
    assert desk.file(desk.prepare())["notice"] == []
    again = desk.prepare()
    (said,) = desk.file(again)["notice"]
    assert said == f"a fresh start: {again.fact.reason}"
    assert desk.file(desk.reached().prepare())["notice"] == []


def test_without_its_program_a_seat_gets_a_shell_and_keeps_its_record(
    world: World, disk: OnDisk
) -> None:
    kept = Desk(world, disk).reached().session.state.agents["architect"]
    desk = Desk(without(world, shell=True), disk)
    made = desk.prepare(stopped=True)
    assert (made.fact.mode, made.fact.stopped) == ("shell", False)
    assert made.fact.reason == "no program `agentmux-demo-agent`"
    assert made.fact.record == kept
    found = desk.file(made)
    assert found["argv"] == [world.programs.shell]
    assert "gate" not in found
    assert "no program" in found["notice"][0]
    assert found["env"]["AGENTMUX_LAUNCH_ID"] == made.plan.launch


def test_without_a_shell_too_its_last_screen_is_held(world: World, disk: OnDisk) -> None:
    desk = Desk(without(world), disk)
    made = desk.prepare(stopped=True)
    assert (made.fact.mode, made.fact.stopped) == ("screen", False)
    gate = desk.file(made)["gate"]
    assert gate["choices"] == {}
    assert gate["says"] == "no program `agentmux-demo-agent`, and no shell `/no/such/shell`"
    assert made.fact.record["agent"] == "demo"


@pytest.mark.parametrize(
    ("status", "mode"), [(127, "shell"), (126, "shell"), (1, "fresh"), (None, "fresh")]
)
def test_a_fresh_start_that_could_not_even_begin_leads_to_a_shell(
    desk: Desk, status: int | None, mode: str
) -> None:
    launch = desk.prepare().plan.launch
    fact = AgentExited(cause="crashed", status=status)
    desk.session.record(fact, seat="architect", launch=launch)
    assert desk.prepare().fact.mode == mode


def test_nothing_of_a_choice_is_unknown_to_the_journal(desk: Desk) -> None:
    made = desk.reached().prepare(stopped=True)
    for name, each in desk.file(made)["gate"]["choices"].items():
        fact = LaunchChosen(**each["fact"])
        assert (fact.choice, fact.mode in {"native", "fresh", "shell"}) == (name, True)
