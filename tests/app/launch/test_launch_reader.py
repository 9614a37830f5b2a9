"""Which agent plays a seat: by the flags of the start, the configuration and the programs."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agentmux.app.launch.launch_reader import LaunchReader
from agentmux.core.agents.runtime import Runtime, decode_runtime
from agentmux.core.agents.spec import StrategyKind
from agentmux.core.journal.state import Options
from agentmux.core.launch.facts import SeatPlayer
from agentmux.core.pipeline.work import Work
from tests.app.programs import AnsweringPrograms
from tests.app.staging import Stage

CODER = Work(seat="coder-1", role="coder", subplan=1)
PLANNER = Work(seat="planner", role="planner")


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def stage(tmp_path: Path, cache: Path) -> Stage:
    return Stage(tmp_path, "demo", cache=cache)


def player_of(
    stage: Stage, work: Work, options: Options | None = None, **changed: Any
) -> SeatPlayer:
    world = stage.world(**changed)
    files = world.files(stage.path)
    state = files.load().state
    state = replace(state, options=options or state.options)
    return LaunchReader(world, files, state, frozenset(), {}).player(work)


@pytest.mark.parametrize(
    ("options", "agent", "model", "args"),
    [
        (Options(), "demo-hook", "small", ("--verbose",)),
        (Options(agents={"*": "demo"}), "demo", None, ()),
        (Options(agents={"*": "demo", "coder": "demo-paste"}), "demo-paste", None, ()),
        (Options(agents={"*": "demo"}, models={"coder": "large"}), "demo", "large", ()),
        (Options(agents={"coder": "demo-hook"}), "demo-hook", "small", ("--verbose",)),
        (Options(models={"coder": "large"}), "demo-hook", "large", ("--verbose",)),
        (Options(agents={"planner": "demo"}), "demo-hook", "small", ("--verbose",)),
    ],
)
def test_flags_win_over_the_configuration(
    stage: Stage, options: Options, agent: str, model: str | None, args: tuple[str, ...]
) -> None:
    stage.config("roles: {coder: {agent: demo-hook, model: small, args: [--verbose]}}")
    player = player_of(stage, CODER, options)
    assert (player.name, player.model, player.args) == (agent, model, args)


def test_the_defaults_of_the_configuration_play_the_rest(stage: Stage) -> None:
    stage.config("defaults: {agent: demo-none, model: m}")
    player = player_of(stage, PLANNER)
    assert (player.name, player.model, player.strategy.kind) == (
        "demo-none", "m", StrategyKind.NONE,
    )  # fmt: skip


def test_a_command_as_typed_plays_too(stage: Stage) -> None:
    player = player_of(stage, PLANNER, Options(agents={"*": "cat -n"}))
    assert player.spec.command == ("cat", "-n")
    assert player.strategy.kind is StrategyKind.NONE
    assert player.is_installed


def test_a_program_that_is_not_there(stage: Stage) -> None:
    player = player_of(stage, PLANNER, Options(agents={"*": "no-such-agent"}))
    assert (player.is_installed, player.runtime) == (False, "")


def test_the_strategy_is_the_first_that_the_program_shows(stage: Stage) -> None:
    stage.config("roles: {coder: {agent: demo-learn}}")
    probe = stage.world().agents.programs.probe

    def shows(**strategies: bool) -> StrategyKind:
        world = stage.world()
        programs = AnsweringPrograms(
            world.agents.programs, probe=lambda spec: replace(probe(spec), strategies=strategies)
        )
        agents = replace(world.agents, programs=programs)
        return player_of(stage, CODER, agents=agents).strategy.kind

    assert shows(learn=True, **{"continue": True}) is StrategyKind.LEARN
    assert shows(learn=False, **{"continue": True}) is StrategyKind.CONTINUE
    assert shows(learn=False, **{"continue": False}) is StrategyKind.NONE


def test_a_home_of_its_own_decides_where_the_conversation_lies(stage: Stage) -> None:
    shared = player_of(stage, CODER)
    assert (shared.home, dict(shared.env)) == (str(stage.home), {})
    stage.config("roles: {coder: {agent: demo-home}}")
    own = player_of(stage, CODER)
    assert own.home == str(stage.path / "checkpoints" / "coder-1")
    assert own.env == {"AGENTMUX_DEMO_HOME": own.home}


def test_the_program_is_known_by_what_lies_there(stage: Stage) -> None:
    player = player_of(stage, CODER)
    found = Path(str(player.probe.path))
    facts = found.stat()
    file = f"{found.resolve()}:{facts.st_size}:{facts.st_mtime_ns}"
    assert decode_runtime(player.runtime, "") == Runtime(name="agentmux-demo-agent", file=file)
