"""Usage limits that the orchestrator waits out, in real tmux with real agents."""

import asyncio
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agentmux.adapters.wake.pipe import STOP, poke
from agentmux.app.commands.resume.orchestrator_request import OrchestratorRequest
from agentmux.app.commands.resume.orchestrator_start import OrchestratorStart
from agentmux.app.commands.resume.resume import plan_resume, resume
from agentmux.app.commands.talk.unpark import unpark
from agentmux.app.session.writer import stamp
from agentmux.core.codec.times import time_of
from agentmux.core.config.settings import StallSettings
from agentmux.core.names.phase import Phase
from tests.app.driver import _ReadyAtOnce
from tests.app.invariants import check_journal
from tests.app.loop.test_orchestrator import Stage, agents  # noqa: F401 (a fixture)
from tests.fakes.bench import Bench as TmuxTerminal

SILENT = {"planner": {"silent": True}}


@pytest.fixture
def stage(tmp_path: Path, agents: None, tmux: TmuxTerminal) -> Stage:  # noqa: F811 (a fixture)
    return Stage(tmp_path, tmux, interval_s=0.1)


def events(stage: Stage, *kinds: str) -> list[Any]:
    """Return the events of these kinds, without those of agents seen at work after a waking."""
    found = [each for each, _ in stage.events() if each.fact.kind in kinds]
    return [each for each in found if getattr(each.fact, "how", "") != "busy"]


def play(stage: Stage, until: Callable[[], object]) -> None:
    async def drive() -> None:
        async with stage.driven():
            await stage.until(until)

    asyncio.run(drive())


@pytest.mark.rare("tests/core decides who is told to go on")
@pytest.mark.long
def test_coders_at_their_limit_are_told_to_go_on_one_after_the_other(stage: Stage) -> None:
    stage.scenario({"coder": {"limit": 1.5}, "reviewer_logic": {"silent": True}})
    play(stage, lambda: stage.state().phase == Phase.REVIEWING)

    ours = events(stage, "agent_parked", "agent_woken", "submit_done")
    for seat in ("coder-1", "coder-2"):
        mine = [each for each in ours if each.seat == seat]
        assert [each.fact.kind for each in mine] == ["agent_parked", "agent_woken", "submit_done"]
        assert time_of(mine[1].at) >= time_of(mine[0].fact.until)  # type: ignore[operator]
        assert mine[1].fact.how == "told"
    first, second = [each.seat for each in ours if each.fact.kind == "agent_woken"]
    assert {first, second} == {"coder-1", "coder-2"}
    assert events(stage, "agent_nudged", "agent_stalled") == []
    told = [text for text in stage.typed if "usage limit should be over" in text]
    assert len(told) == 2
    assert stage.state().parked == {}
    check_journal(stage.path)


def test_who_is_still_at_its_limit_is_parked_again_and_the_user_ends_it(stage: Stage) -> None:
    stage.scenario({"architect": {"limit": True}})

    async def drive() -> None:
        async with stage.driven():
            for count in (1, 2):
                await stage.until(lambda: len(events(stage, "agent_parked")) == count)  # noqa: B023
                files = stage.world.files(stage.path)
                done = unpark(stage.world, files, poke=lambda: poke(stage.path))
                assert (done.seats, done.live) == (("architect",), True)
                await stage.until(lambda: len(events(stage, "agent_woken")) == count)  # noqa: B023

    asyncio.run(drive())
    assert {each.fact.how for each in events(stage, "agent_woken")} == {"told"}
    said = {each.fact.said for each in events(stage, "agent_parked")}
    assert said == {"5pm"}


def test_a_later_limit_is_recognised_though_the_agent_could_not_be_told(
    tmp_path: Path,
    agents: None,  # noqa: F811 (a fixture)
    tmux: TmuxTerminal,
) -> None:
    """The user types while it is woken: it is told nothing, and reminded when the draft is gone."""
    stall = StallSettings(nudge_after_s=1.0)
    stage = Stage(tmp_path, tmux, interval_s=0.1, stall=stall)
    stage.scenario({"architect": {"limit": True}})

    async def drive() -> None:
        async with stage.driven():
            await stage.until(lambda: events(stage, "agent_parked"))
            pane = stage.pane("architect").id
            stage.terminal.paste(pane, "hm")
            unpark(stage.world, stage.world.files(stage.path), poke=lambda: poke(stage.path))
            await stage.until(lambda: "could not be told to go on" in stage.messages())
            assert len(events(stage, "agent_parked")) == 1
            keys = ("send-keys", "-t", pane, "-N", "2", "BSpace")
            subprocess.run(["tmux", "-S", tmux.socket, *keys], check=True)
            await stage.until(lambda: len(events(stage, "agent_parked")) == 2)
            await stage.until(lambda: events(stage, "agent_nudged"))  # it may be recorded later

    asyncio.run(drive())
    kinds = ("agent_parked", "agent_woken", "agent_nudged")
    found = [each.fact.kind for each in events(stage, *kinds)]
    assert sorted(found) == ["agent_nudged", "agent_parked", "agent_parked", "agent_woken"]


@pytest.mark.long
@pytest.mark.parametrize("passed", [False, True], ids=["before", "after"])
def test_a_resume_after_a_reboot_waits_for_the_end_of_the_limit(stage: Stage, passed: bool) -> None:
    """The machine went down at night; it is started again before the limit ends, or after."""
    limited = {"attempts": [{"when": {"launch": 1}, "limit": 1.8}]}
    stage.scenario({"architect": limited, "planner": {"silent": True}})

    async def evening() -> None:
        async with stage.driven():
            await stage.until(lambda: events(stage, "agent_parked"))
            stage.terminal.kill_session(stage.terminal.sessions()[0].id)

    async def morning() -> None:
        if passed:
            (parked,) = stage.state().parked.values()
            await stage.until(lambda: stamp(stage.world.now()) > parked.until)
        resumed(stage)
        async with stage.driven("resume"):
            await stage.until(lambda: stage.state().phase == Phase.PLANNING)

    asyncio.run(evening())
    stage.world = replace(stage.world, machine=replace(stage.world.machine, boot="another boot"))
    asyncio.run(morning())
    kinds = ("agent_launched", "agent_parked", "resumed", "agent_woken")
    mine = [each for each in events(stage, *kinds) if each.seat != "planner"]
    assert [each.fact.kind for each in mine] == [*kinds, "agent_launched"]
    _, parked, _, woken, _ = mine
    assert woken.fact.how == "launch"
    assert woken.at >= parked.fact.until
    assert stage.state().parked == {}
    check_journal(stage.path)


def resumed(stage: Stage) -> None:
    """Resume the session on a new tmux session."""
    argv = (sys.executable, "-c", "import time; time.sleep(1e6)")
    starter = OrchestratorStart(argv=lambda *_: argv, pipe=lambda _: _ReadyAtOnce())
    plan = plan_resume(stage.world, stage.world.files(stage.path))
    request = OrchestratorRequest(mode="resume")
    stage.target = resume(stage.world, starter, plan, request).target


def test_a_stop_by_the_user_ends_the_waiting(stage: Stage) -> None:
    stage.scenario({"architect": {"limit": True}})

    async def drive() -> None:
        async with stage.driven() as driving:
            await stage.until(lambda: events(stage, "agent_parked"))
            poke(stage.path, STOP)
            await driving

    asyncio.run(drive())
    assert stage.state().parked == {}
