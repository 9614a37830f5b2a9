"""How a seat's pane comes up."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agentmux.core.agents.spec import ProbeResult, PromptBy
from agentmux.core.launch.facts import LaunchFacts
from agentmux.core.launch.plan import LaunchPlan, plan_launch
from agentmux.core.launch.texts import INSTRUCTIONS
from agentmux.core.names.conversations import NO_EARLIER, YOU_CHOSE
from tests.core.agent_specs import LEARN, SPEC
from tests.core.launches import AROUND, FACTS, LAUNCH, NEW, OLD, PLAYER, STATE, again

GONE = replace(PLAYER, probe=ProbeResult(installed=False))
PERSON = replace(PLAYER, spec=replace(SPEC, prompt=PromptBy.SHOWN))
NO_SHELL = replace(AROUND, has_shell=False)
READ = f"Read the file /p/s/launches/{LAUNCH}/%s and do what it says."


def planned(facts: LaunchFacts) -> LaunchPlan:
    return plan_launch(STATE, facts)


def test_the_first_start_begins_a_conversation_with_our_id() -> None:
    plan = planned(FACTS)
    assert (plan.mode, plan.why, plan.session_ref) == ("fresh", NO_EARLIER, NEW)
    assert plan.argv[-3:] == ("--session-id", NEW, READ % "prompt.md")
    assert plan.prompt == plan.full_prompt == "Do it in `/p`.\n"


def test_a_fit_conversation_comes_back_with_the_short_message() -> None:
    plan = planned(again())
    assert (plan.mode, plan.session_ref) == ("native", OLD)
    assert plan.argv == ("robot", "--resume", OLD, READ % "prompt.md")
    assert plan.env == {"HOME_OF_ROBOT": "/h"}
    assert plan.prompt.startswith("Go on; ")
    assert plan.full_prompt.startswith("Do it again")


@pytest.mark.parametrize(
    ("facts", "mode", "why"),
    [
        (replace(FACTS, player=PERSON), "shell", "you play this role"),
        (replace(FACTS, player=GONE), "shell", "no program `robot`"),
        (
            replace(FACTS, player=GONE, session_facts=NO_SHELL),
            "screen",
            "no program `robot`, and no shell `/bin/sh`",
        ),
        (
            replace(FACTS, history=replace(FACTS.history, never_ran=True)),
            "shell",
            "its fresh start failed",
        ),
    ],
)
def test_without_an_agent_there_is_a_shell_or_the_last_screen(
    facts: LaunchFacts, mode: str, why: str
) -> None:
    plan = planned(facts)
    assert (plan.mode, plan.why, plan.session_ref) == (mode, why, None)
    assert plan.argv == (("/bin/sh",) if mode == "shell" else ())
    assert plan.lacks_program == ("no program" in why)


def test_the_other_choices_of_a_native_launch_have_the_full_prompt() -> None:
    plan = planned(again())
    fresh, shell = plan.as_fresh(), plan.as_shell()
    assert (fresh.mode, fresh.why, fresh.session_ref) == ("fresh", YOU_CHOSE, NEW)
    assert fresh.argv[-3:] == ("--session-id", NEW, READ % INSTRUCTIONS)
    assert (shell.mode, shell.session_ref, shell.argv) == ("shell", None, ("/bin/sh",))
    for each in (fresh, shell):
        assert (each.prompt, each.prompt_file) == (plan.full_prompt, INSTRUCTIONS)


def test_a_fresh_launch_is_its_own_fresh_choice() -> None:
    plan = planned(FACTS)
    assert plan.as_fresh() is plan
    assert plan.as_shell().prompt_file == "prompt.md"


def test_an_id_that_the_agent_has_yet_to_tell_is_unknown() -> None:
    learner = replace(PLAYER, strategy=LEARN)
    plan = planned(replace(FACTS, player=learner, new_conversation=None))
    assert (plan.mode, plan.session_ref) == ("fresh", None)
