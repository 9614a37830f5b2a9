"""A resume ends agents that outlived their server only with consent, and warns before it asks."""

from dataclasses import replace
from pathlib import Path

import pytest

from agentmux.adapters.pane.claims import ClaimFolder
from agentmux.app.commands.resume.resume_consent import (
    ResumeCommand,
    ResumeTools,
    Survivors,
    resume_with_consent,
)
from agentmux.app.session.search.lookup import entry_at
from agentmux.errors import BlockedError, DeclinedError
from agentmux.overriding import override
from tests.app.driver import SimTerminal, _starter
from tests.app.staging import Stage
from tests.fakes.conversation import Conversation

QUESTION = "These agents outlived their tmux server: coder-1 (process 7, demo). End them?"


class BegunError(Exception):
    """The session would be resumed now."""


class BeginningClaims(ClaimFolder):
    """Claims that a resume asks first once it has consent."""

    @override
    def require_writable(self) -> None:
        raise BegunError


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    made = Stage(tmp_path, "demo", cache=tmp_path / "cache")
    made.launch()
    return made


def resume(
    stage: Stage, talk: Conversation, ended: list[str], *, is_there: bool = True, **said: str
) -> None:
    """Resume a session one of whose agents has outlived its server, until it would begin."""
    survivors = Survivors(words="coder-1 (process 7, demo)", end=lambda: ended.append("coder-1"))
    tools = ResumeTools(
        starter=_starter(),
        wait_end=lambda pid: pytest.fail(f"nobody waits for {pid}"),
        survivors=lambda _, path: survivors if path == stage.path else None,
    )
    world = stage.world()
    claims = BeginningClaims(stage.home / "claims")
    terminal = SimTerminal()
    world = replace(
        world,
        agents=replace(world.agents, claims=claims),
        terminal=lambda _: terminal,
    )
    person = talk.person(is_there=is_there)
    entry = entry_at(world, stage.path)
    resume_with_consent(world, person, tools, entry, ResumeCommand(**said))  # type: ignore[arg-type]


def test_what_outlived_its_server_is_ended_after_a_yes(stage: Stage) -> None:
    talk, ended = Conversation(agrees=True), list[str]()
    with pytest.raises(BegunError):
        resume(stage, talk, ended)
    assert (talk.lines[-1], ended) == (QUESTION, ["coder-1"])


def test_a_no_ends_nothing(stage: Stage) -> None:
    talk, ended = Conversation(agrees=False), list[str]()
    with pytest.raises(DeclinedError):
        resume(stage, talk, ended)
    assert (talk.lines[-2:], ended) == ([QUESTION, "nothing was done"], [])


def test_where_nobody_can_be_asked_nothing_is_ended(stage: Stage) -> None:
    talk, ended = Conversation(agrees=True), list[str]()
    with pytest.raises(BlockedError, match="outlived their tmux server"):
        resume(stage, talk, ended, is_there=False)
    assert (QUESTION in talk.lines, ended) == (False, [])


def test_the_warnings_come_before_the_question_whether_to_go_back(stage: Stage) -> None:
    talk = Conversation(agrees=False)
    with pytest.raises(DeclinedError):
        resume(stage, talk, [], phase="planning")
    *warnings, question, _ = talk.lines
    assert question == "Go back from implementing to planning?"
    assert any(each.startswith("warning: --phase goes back") for each in warnings)
