"""A resume asks once, for all that it does; and what it does where nobody is asked."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from agentmux.app.commands.resume.orchestrator_request import (
    OrchestratorRequest,
    decode_request,
)
from agentmux.app.commands.resume.resume_consent import (
    ResumeCommand,
    ResumeQuestion,
    ResumeTools,
    Survivors,
    resume_with_consent,
)
from agentmux.app.session.search.lookup import entry_at
from agentmux.core.config.settings import Policy
from agentmux.core.conversation.launch_policy import EVERY, ORDINARY, LaunchPolicy
from agentmux.errors import BlockedError, DeclinedError
from tests.app.driver import SimTerminal, _starter
from tests.app.staging import Stage
from tests.fakes.conversation import Conversation

QUESTION = "These agents outlived their tmux server: coder-1 (process 7, demo). End them?"
STEP = "these agents outlived their tmux server, and are ended: coder-1 (process 7, demo)"
CHOSEN = LaunchPolicy(shell=("coder-1",), agreed={})


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    made = Stage(tmp_path, "demo", cache=tmp_path / "cache")
    made.launch()
    return made


@dataclass
class Resumes:
    """Resumes of one session, with a person who can be asked, and an answer to the question."""

    stage: Stage
    agrees: bool = True
    outlived: bool = False
    policy: Policy | None = None
    asked: list[ResumeQuestion] = field(default_factory=list)
    ended: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)

    def ask(self, question: ResumeQuestion) -> LaunchPolicy:
        self.asked.append(question)
        if not self.agrees:
            raise DeclinedError
        return CHOSEN

    def __call__(
        self, *, is_there: bool = True, has_agreed: bool = False, **said: Any
    ) -> LaunchPolicy:
        """Resume the session; return how the orchestrator is told to open the panes."""
        requests: list[OrchestratorRequest] = []

        def argv(_: Path, request: OrchestratorRequest) -> tuple[str, ...]:
            requests.append(decode_request(request.encode()))
            return ("true",)

        alive = Survivors(
            words="coder-1 (process 7, demo)", end=lambda: self.ended.append("coder-1")
        )
        tools = ResumeTools(
            ask=self.ask,
            starter=replace(_starter(), argv=argv),
            wait_end=lambda pid: pytest.fail(f"nobody waits for {pid}"),
            survivors=lambda _, path: alive if self.outlived and path == self.stage.path else None,
        )
        world, terminal = self.stage.world(), SimTerminal()
        resume = replace(world.settings.resume, policy=self.policy)
        world = replace(
            world,
            settings=replace(world.settings, resume=resume),
            terminal=lambda _: terminal,
        )
        talk = Conversation(agrees=self.agrees)
        person = talk.person(is_there=is_there, has_agreed=has_agreed)
        try:
            command = ResumeCommand(**said)
            resume_with_consent(world, person, tools, entry_at(world, self.stage.path), command)
        finally:
            self.lines += talk.lines
        return requests[0].panes


def test_a_person_is_asked_once_and_gets_what_they_chose(stage: Stage) -> None:
    resume = Resumes(stage, outlived=True)
    assert resume(phase="planning") == CHOSEN
    (question,) = resume.asked
    assert [each.work.seat for each in question.plan.panes]
    assert [each.words for each in question.steps] == [
        "it goes back from implementing to planning",
        STEP,
    ]
    assert resume.ended == ["coder-1"]
    assert not [line for line in resume.lines if line.endswith("?")]
    assert any(line.startswith("warning: --phase goes back") for line in resume.lines)


def test_a_no_does_nothing(stage: Stage) -> None:
    resume = Resumes(stage, agrees=False, outlived=True)
    with pytest.raises(DeclinedError):
        resume()
    assert (len(resume.asked), resume.ended) == (1, [])


def test_what_was_agreed_to_before_is_not_asked_again(stage: Stage) -> None:
    resume = Resumes(stage)
    resume()
    plan = resume.asked[0].plan
    shown = LaunchPolicy(agreed={each.work.seat: each.digest for each in plan.panes})
    assert resume(panes=shown) == shown
    assert len(resume.asked) == 1

    changed = replace(shown, agreed={**(shown.agreed or {}), "coder-1": "another"})
    resume(panes=changed)
    assert resume.asked[1].panes == changed
    assert resume(panes=changed, is_there=False) == changed  # that pane comes up stopped


def test_what_nobody_was_shown_is_asked_though_the_plan_was_agreed_to(stage: Stage) -> None:
    resume = Resumes(stage, outlived=True)
    plan = LaunchPolicy(agreed={})
    resume(panes=plan)
    assert [each.words for each in resume.asked[0].steps] == [STEP]


@pytest.mark.parametrize(
    ("policy", "is_there", "has_agreed", "stopped", "asked"),
    [
        (None, True, False, (), 1),
        (None, False, False, (), 0),
        (None, True, True, (), 0),
        (Policy.CONFIRM, True, False, (EVERY,), 0),
        (Policy.CONFIRM, False, False, (EVERY,), 0),
        (Policy.CONFIRM, True, True, (), 0),
        (Policy.AUTO, True, False, (), 0),
        (Policy.NEVER, True, False, (), 0),
    ],
)
def test_the_policy_decides_where_a_person_is_asked(
    stage: Stage,
    policy: Policy | None,
    is_there: bool,
    has_agreed: bool,
    stopped: tuple[str, ...],
    asked: int,
) -> None:
    resume = Resumes(stage, policy=policy)
    panes = resume(is_there=is_there, has_agreed=has_agreed)
    assert (panes.stopped, len(resume.asked)) == (stopped, asked)
    assert panes == CHOSEN if asked else panes.agreed is None


def test_without_the_question_each_step_is_asked(stage: Stage) -> None:
    resume = Resumes(stage, policy=Policy.AUTO, outlived=True)
    assert resume() == ORDINARY
    assert (resume.lines[-1], resume.ended) == (QUESTION, ["coder-1"])
    resume = Resumes(stage, policy=Policy.AUTO, outlived=True, agrees=False)
    with pytest.raises(DeclinedError):
        resume(phase="planning")
    *warnings, question = resume.lines
    assert (question, resume.ended) == ("Go back from implementing to planning?", [])
    assert any(each.startswith("warning: --phase goes back") for each in warnings)


def test_where_nobody_can_be_asked_nothing_is_ended(stage: Stage) -> None:
    resume = Resumes(stage, outlived=True)
    with pytest.raises(BlockedError, match="outlived their tmux server"):
        resume(is_there=False)
    assert (resume.asked, resume.ended) == ([], [])
