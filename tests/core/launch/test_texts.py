"""The prompts of a launch."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agentmux.core.journal.state import SessionState
from agentmux.core.launch.facts import LaunchFacts
from agentmux.core.launch.texts import launch_prompts
from agentmux.core.names.phase import Phase
from agentmux.core.pipeline.artifacts import Artifacts
from agentmux.core.pipeline.work import Work
from tests.core.launches import FACTS, RECORD, STATE, again

ARCHITECT = Work(seat="architect", role="architect")
PATH = "02_architecting/architecture.md"
RESEARCH = Work(seat="code-researcher-auth", role="code-researcher", topic="auth")


def prompt_of(facts: LaunchFacts, state: SessionState = STATE) -> str:
    return launch_prompts(state, facts).full


@pytest.mark.parametrize(
    ("artifacts", "there"),
    [
        (Artifacts(), False),
        (Artifacts(sizes={PATH: 0}), False),
        (Artifacts(sizes={PATH: 9}), True),
        (Artifacts(problems={PATH: "not valid"}), True),
    ],
)
def test_what_the_seat_has_left_is_a_draft(artifacts: Artifacts, there: bool) -> None:
    state = SessionState(phase=Phase.ARCHITECTING)
    told = prompt_of(replace(FACTS, work=ARCHITECT, artifacts=artifacts), state)
    assert (f"- `/p/s/{PATH}`" in told) == there


def test_an_empty_marker_is_a_draft_too() -> None:
    marker = Artifacts(sizes={"06_implementation/done_2": 0})
    assert "- `/p/s/06_implementation/done_2`" in prompt_of(replace(FACTS, artifacts=marker))


def test_the_researchers_kept_prompt_stays_as_it_is_between_ours() -> None:
    kept = "Look at /p/a.py, and mind the tests.\n"
    told = prompt_of(replace(FACTS, work=RESEARCH, kept_prompt=kept))
    assert told.split("\n\n")[:2] == ["Welcome.", kept.strip()]
    assert told.endswith("agentmux submit research-done --topic auth\n```\n")


def test_an_unchanged_kept_prompt_is_made_anew() -> None:
    facts = replace(FACTS, work=RESEARCH)
    first = prompt_of(facts)
    second = again(work=RESEARCH, kept_prompt=first)
    assert prompt_of(second).startswith("Do it again")


def test_a_kept_prompt_follows_a_project_that_was_moved() -> None:
    facts = again(
        replace(RECORD, cwd="/was/here"), work=RESEARCH, kept_prompt="Look at /was/here/a.py.\n"
    )
    assert "Look at /p/a.py." in prompt_of(facts)
