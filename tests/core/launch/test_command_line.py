"""How the program of an agent is called at a launch."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agentmux.core.agents.spec import SESSION_ID, AddDir, HookFormat, Hooks, Mcp
from agentmux.core.config.settings import ResumeSettings
from agentmux.core.launch.command_line import agent_command
from tests.core.agent_specs import CONTINUE, LEARN, SPEC
from tests.core.launches import AROUND, FACTS, LAUNCH, NEW, OLD, PLAYER, again

STANDING = ("robot", "--quiet", "--model", "large", "--allow", "--mine")
FOLDER = f"/p/s/launches/{LAUNCH}"


def test_a_new_conversation_is_begun_and_brought_back_by_the_same_id() -> None:
    made = agent_command(FACTS)
    assert made.begin == (*STANDING, "--session-id", NEW)
    assert made.resume == (*STANDING, "--resume", NEW)
    assert (made.latest, made.configured_resume, made.files, made.env) == ((), None, {}, {})


def test_until_its_id_is_learned_the_latest_conversation_is_brought_back() -> None:
    learner = replace(PLAYER, strategy=LEARN, spec=replace(SPEC, strategies=(LEARN, CONTINUE)))
    made = agent_command(replace(FACTS, player=learner, new_conversation=None))
    assert made.resume == ("robot", "resume", SESSION_ID, *STANDING[1:])
    assert made.latest == (*STANDING, "--continue")


def test_who_cannot_play_begins_nothing() -> None:
    gone = replace(PLAYER, probe=replace(PLAYER.probe, installed=False))
    made = agent_command(replace(FACTS, player=gone, new_conversation=None))
    assert (made.begin, made.resume) == ((), (*STANDING, "--resume", SESSION_ID))


@pytest.mark.parametrize(
    ("program", "agent"), [("robot", "robot"), ("other", "robot"), ("robot", "x")]
)
def test_the_setting_says_how_the_conversation_of_before_comes_back(
    program: str, agent: str
) -> None:
    around = replace(AROUND, resume=ResumeSettings(commands={program: ("--resume", SESSION_ID)}))
    facts = again(session_facts=around, player=replace(PLAYER, name=agent))
    expected = (*STANDING, "--resume", OLD) if (program, agent) == ("robot", "robot") else None
    assert agent_command(facts).configured_resume == expected


def test_files_and_variable_are_those_that_the_agent_is_told_of() -> None:
    spec = replace(
        SPEC,
        mcp=Mcp(args=("--mcp", "{mcp_file}")),
        hooks=Hooks(flag="ROBOT_HOOKS", format=HookFormat.VARIABLE),
    )
    facts = replace(FACTS, player=replace(PLAYER, spec=spec))
    made = agent_command(facts)
    assert made.begin[5:7] == ("--mcp", f"{FOLDER}/mcp.json")
    assert set(made.files) == {"mcp.json", "hooks.json"}
    assert made.env == {"ROBOT_HOOKS": f"{FOLDER}/hooks.json"}
    assert agent_command(replace(facts, has_own_hooks=True)).env == {}


@pytest.mark.parametrize("is_inside", [True, False])
def test_the_session_is_named_where_the_agent_works_outside_of_it(is_inside: bool) -> None:
    player = replace(PLAYER, spec=replace(SPEC, add_dir=AddDir(args=("--add", "{dir}"))))
    around = replace(AROUND, is_inside=is_inside)
    begin = agent_command(replace(FACTS, session_facts=around, player=player)).begin
    assert (begin[5:7] == ("--add", "/p/s")) == (not is_inside)
