"""The files and events that a launch makes before its pane."""

import fcntl
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from agentmux.app.launch.launcher import PreparedLaunch
from agentmux.core.agents.environment import agent_launch
from agentmux.core.conversation.launch_policy import EVERY, LaunchPolicy
from agentmux.core.conversation.resume_record import decode_record
from agentmux.core.pipeline.work import Work
from tests.app.staging import Stage

STOPPED = LaunchPolicy(stopped=(EVERY,))
BOTH = ("coder-1", "coder-2")


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def stage(tmp_path: Path, cache: Path, request: pytest.FixtureRequest) -> Stage:
    return Stage(tmp_path, getattr(request, "param", "demo"), cache=cache)


def launch_file(stage: Stage, launch: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(
        (stage.path / "launches" / launch / "launch.json").read_text()
    )
    return found


def test_everything_is_written_before_the_pane_is_made(stage: Stage) -> None:
    for seat, made in stage.launch(reached=False).items():
        folder = stage.path / "launches" / made.plan.launch
        fields = launch_file(stage, made.plan.launch)
        assert (folder / "launch.json").stat().st_mode & 0o777 == 0o600
        assert fields["argv"] == list(made.plan.argv)
        assert fields["cwd"] == str(stage.project)
        assert (folder / "prompt.md").read_text() == made.plan.full_prompt
        assert made.pane.argv[-1] == str(folder)
        assert not (folder / "started").exists()
        env = fields["env"]
        assert env["AGENTMUX_SEAT"] == seat
        assert env["AGENTMUX_SUBPLAN"] == seat[-1]
        assert env["AGENTMUX_LAUNCH_ID"] == made.plan.launch
        record = decode_record(stage.disk.state.agents[seat])
        assert record is not None
        assert (record.reached, record.launch) == (0, made.plan.launch)
        assert record.session_ref is not None
        assert record.session_ref in record.resume_argv
        assert record.launch_argv == made.plan.argv


@pytest.mark.parametrize(("agent", "mode"), [("demo", "fresh"), ("shell", "shell")])
def test_a_pane_says_whether_an_agent_or_a_person_plays_in_it(
    stage: Stage, agent: str, mode: str
) -> None:
    stage.config(f"roles: {{coder: {{agent: {agent}}}}}")
    for made in stage.launch(reached=False).values():
        env = launch_file(stage, made.plan.launch)["env"]
        assert env["AGENTMUX_MODE"] == mode
        assert agent_launch(env) == (made.plan.launch if agent == "demo" else "")


def test_an_agent_does_not_learn_that_it_runs_inside_another(stage: Stage) -> None:
    world = stage.world({"CLAUDECODE": "1", "CODEX_THREAD_ID": "x"})
    for made in stage.launch(reached=False, world=world).values():
        unset = launch_file(stage, made.plan.launch)["unset"]
        assert {"CLAUDECODE", "CODEX_THREAD_ID"} <= set(unset)


def test_the_folder_that_an_agent_leaves_its_work_in_is_there(stage: Stage) -> None:
    stage.launch(reached=False)
    assert (stage.path / "06_implementation").stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize(
    ("stage", "words"),
    [("demo", ()), ("demo-learn", ("agentmux-demo-agent", "--learn", "--continue"))],
    indirect=["stage"],
)
def test_until_its_id_is_known_the_latest_conversation_is_resumed(
    stage: Stage, words: tuple[str, ...]
) -> None:
    stage.launch(reached=False)
    record = decode_record(stage.disk.state.agents["coder-1"])
    assert record is not None
    assert record.latest_argv == words


def test_each_launch_claims_its_conversation(stage: Stage) -> None:
    claims = {made.plan.launch: made.plan.session_ref for made in stage.launch().values()}
    paths = {launch_file(stage, launch)["claim"] for launch in claims}
    assert len(paths) == 2
    again = {launch_file(stage, made.plan.launch)["claim"] for made in stage.launch().values()}
    assert again == paths  # the same conversations, native


@pytest.mark.parametrize(
    ("stage", "claimed"),
    [
        ("demo-none", False),
        ("demo-checkpoint", False),
        ("demo-continue", True),
        ("demo-learn", True),
    ],
    indirect=["stage"],
)
def test_a_launch_without_an_id_stands_for_its_conversation(stage: Stage, claimed: bool) -> None:
    """Its claim tells others that an agent which may own the latest conversation still runs."""
    for made in stage.launch().values():
        assert bool(launch_file(stage, made.plan.launch)["claim"]) == claimed


PROGRAM = "agentmux-demo-agent"
"""The program of every demo agent in the registry."""


def noted(stage: Stage) -> tuple[str, ...]:
    world = stage.world()
    return world.agents.claims.latest(PROGRAM, str(stage.home), str(world.project))


@pytest.mark.parametrize("stage", ["demo-continue"], indirect=True)
def test_who_runs_side_by_side_is_noted_together(stage: Stage) -> None:
    first = tuple(made.plan.launch for made in stage.launch().values())
    assert noted(stage) == first
    # Both have been resumed, so the earlier launches do not run any more.
    second = tuple(made.plan.launch for made in stage.launch_resumed().values())
    assert noted(stage) == second


@pytest.mark.parametrize("stage", ["demo-continue"], indirect=True)
@pytest.mark.parametrize("alive", [True, False])
def test_another_sessions_agent_counts_while_it_lives(stage: Stage, alive: bool) -> None:
    world = stage.world()
    home, cwd = str(stage.home), str(world.project)
    world.agents.claims.note_latest(PROGRAM, home, cwd, ("theirs",))
    claim = world.agents.claims.path(PROGRAM, home, "theirs")
    with claim.open("w") as file:
        if alive:
            fcntl.flock(file, fcntl.LOCK_EX)
        launches = tuple(made.plan.launch for made in stage.launch().values())
        assert noted(stage) == (("theirs", *launches) if alive else launches)


@pytest.mark.parametrize("stage", ["demo-hook"], indirect=True)
def test_who_has_an_id_may_own_the_latest_conversation_too(stage: Stage) -> None:
    plans = [made.plan for made in stage.launch().values()]
    assert set(noted(stage)) == {word for plan in plans for word in (plan.launch, plan.session_ref)}


@pytest.mark.parametrize("stage", ["demo-checkpoint"], indirect=True)
def test_who_has_a_place_of_its_own_never_does(stage: Stage) -> None:
    stage.launch()
    assert noted(stage) == ()


def test_another_name_of_the_program_claims_the_same(stage: Stage) -> None:
    first = stage.launch()
    stage.config("agents: {c2: {like: demo}}\nroles: {coder: {agent: c2}}")
    world = stage.world()
    player = stage.panes(world)["coder-1"].player
    assert player.name == "c2"
    for made in first.values():
        ref = str(made.plan.session_ref)
        claim = world.agents.claims.path(player.program, player.home, ref)
        assert launch_file(stage, made.plan.launch)["claim"] == str(claim)


def test_a_native_launch_keeps_the_full_instructions_within_reach(stage: Stage) -> None:
    stage.launch()
    for made in stage.launch().values():
        assert made.plan.mode == "native"
        folder = stage.path / "launches" / made.plan.launch
        assert (folder / "instructions.md").read_text() == made.plan.full_prompt
        message = (folder / "prompt.md").read_text()
        assert str(folder / "instructions.md") in message
        assert "agentmux submit done --subplan" in message
        assert made.fact.prompt_bytes == len(message.encode())
        assert made.fact.fresh_prompt_bytes == len(made.plan.full_prompt.encode())


def test_a_fresh_start_of_begun_work_warns_of_what_may_lie_there(stage: Stage) -> None:
    first = stage.launch()
    second = stage.launch(fresh=frozenset({"coder-2"}))
    assert second["coder-1"].plan.mode == "native"
    plain, again = first["coder-2"].plan.full_prompt, second["coder-2"].plan.prompt
    assert second["coder-2"].fact.reason == "a fresh start was asked for"
    assert len(again) > len(plain)
    (notice,) = launch_file(stage, second["coder-2"].plan.launch)["notice"]
    assert "a fresh start was asked for" in notice
    assert launch_file(stage, second["coder-1"].plan.launch)["notice"] == []


def test_a_pane_that_waits_offers_only_what_differs(stage: Stage) -> None:
    def offers(made: Mapping[str, PreparedLaunch]) -> list[dict[str, tuple[str, str]]]:
        return [
            {
                name: (each["title"], each["says"])
                for name, each in launch_file(stage, one.plan.launch)["gate"]["choices"].items()
            }
            for one in made.values()
        ]

    begins = "begins a new conversation"
    for found in offers(stage.launch(policy=STOPPED, reached=False)):
        assert found == {
            "fresh": ("Start", begins),
            "shell": ("Shell", "you play the role"),
        }
    stage.launch()
    for found in offers(stage.launch(policy=STOPPED)):
        assert found["resume"] == ("Resume", "its conversation comes back")
        assert found["fresh"] == ("Restart fresh", begins)


def test_a_seat_is_launched_as_its_user_chose(stage: Stage) -> None:
    stage.launch()
    before = stage.disk.state.agents["coder-2"]
    made = stage.launch(policy=LaunchPolicy(stopped=("coder-1",), shell=("coder-2",)))
    assert [made[seat].fact.stopped for seat in BOTH] == [True, False]
    assert (made["coder-2"].fact.mode, made["coder-2"].fact.reason) == ("shell", "you chose it")
    (notice, *_) = launch_file(stage, made["coder-2"].plan.launch)["notice"]
    assert notice == "coder-2: a shell, you chose it"
    after = stage.disk.state.agents["coder-2"]
    assert (after["session_ref"], after["reached"]) == (before["session_ref"], before["reached"])


def test_a_launch_that_nobody_agreed_to_waits(stage: Stage) -> None:
    stage.launch()
    agreed = {seat: made.plan.digest for seat, made in stage.launch().items()}
    made = stage.launch(policy=LaunchPolicy(agreed={**agreed, "coder-2": "another"}))
    assert [made[seat].fact.stopped for seat in BOTH] == [False, True]
    gate = launch_file(stage, made["coder-2"].plan.launch)["gate"]
    assert gate["says"] == "not what you agreed to; now its conversation comes back"
    assert not any(each.fact.stopped for each in stage.launch(policy=LaunchPolicy()).values())


def test_the_record_follows_from_native_to_native(stage: Stage) -> None:
    stage.launch()
    first = {seat: decode_record(stage.disk.state.agents[seat]) for seat in BOTH}
    for count in (2, 3):
        stage.launch()
        for seat in BOTH:
            before, now = first[seat], decode_record(stage.disk.state.agents[seat])
            assert before is not None
            assert now is not None
            assert now.reached == count
            assert now.resume_argv == before.resume_argv
            assert now.session_ref == before.session_ref


@pytest.mark.parametrize("stage", ["demo-paste"], indirect=True)
def test_who_takes_no_prompt_in_argv_gets_none(stage: Stage) -> None:
    for made in (*stage.launch().values(), *stage.launch().values()):
        assert not [word for word in made.plan.argv if "prompt.md" in word]
        assert (stage.path / "launches" / made.plan.launch / "prompt.md").exists()


def test_planning_a_launch_is_the_same_as_preparing_it(stage: Stage) -> None:
    stage.launch()
    planned = stage.panes()
    for seat, made in stage.launch().items():
        plan = planned[seat]
        assert (made.plan.mode, made.plan.why) == (plan.mode, plan.why)
        assert made.fact.prompt_bytes == len(plan.prompt.encode())
        assert made.fact.fresh_prompt_bytes == len(plan.full_prompt.encode())
        assert made.plan.work == Work(seat=seat, role="coder", subplan=int(seat[-1]))


VARIABLE = "agents: {told: {like: demo, hooks: {flag: HOOKS, format: variable, unless: %s}}}\n"


@pytest.mark.parametrize("taken", ["", "by the user", "by the machine"])
def test_a_variable_tells_the_agent_of_our_hook_where_it_is_free(stage: Stage, taken: str) -> None:
    defaults = stage.project / "defaults.json"
    if taken == "by the machine":
        defaults.write_text("{}")
    stage.config(VARIABLE % defaults + "roles: {coder: {agent: told}}")
    world = stage.world({"HOOKS": "/theirs"} if taken == "by the user" else {})
    for made in stage.launch(reached=False, world=world).values():
        hooks = stage.path / "launches" / made.plan.launch / "hooks.json"
        env = launch_file(stage, made.plan.launch)["env"]
        assert env.get("HOOKS") == (None if taken else str(hooks))
        assert "hook" in json.loads(hooks.read_text())["hooks"]["Stop"][0]["hooks"][0]["command"]
        assert "HOOKS" not in str(stage.disk.state.agents[made.pane.seat]["env"])
