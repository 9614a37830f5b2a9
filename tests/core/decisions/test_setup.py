"""The setup of a worktree: its steps one after the other, then the agents."""

from __future__ import annotations

import pytest

from agentmux.core.config.settings import SetupStep
from agentmux.core.decisions.next_actions import (
    Action,
    Exit,
    Facts,
    Fail,
    FinishSetup,
    Launch,
    LaunchFact,
    RecordExit,
    next_actions,
)
from agentmux.core.journal.events import AgentExited, SetupDone, WorktreeMade
from agentmux.core.journal.state import Options, decode, encode
from agentmux.core.pipeline.artifacts import Artifacts
from agentmux.core.pipeline.setup import new_setup, recorded_step
from agentmux.core.pipeline.work import agents_work, is_setting_up, wanted
from agentmux.errors import DataError
from tests.core.builders import Session

STEPS = (
    SetupStep(name="install", run=("npm", "ci"), timeout_s=60),
    SetupStep(name="database", run=("./make-db",)),
)


@pytest.fixture
def session() -> Session:
    made = Session(worktree="/w", setup=new_setup(STEPS), options=Options(dirty=("mine",)))
    made.tell(WorktreeMade(dirty=("before",)))
    return made


def actions(session: Session, **launches: LaunchFact) -> tuple[Action, ...]:
    return next_actions(session.state, Facts(artifacts=Artifacts(), launches=launches))


def run(session: Session, cause: str = "finished", status: int | None = 0) -> str:
    """Run the next step to its end; return its name."""
    (launch,) = (each for each in actions(session) if isinstance(each, Launch))
    name = launch.work.topic
    id_ = session.launch("setup", mode="setup", topic=name, phase="architecting")
    session.tell(AgentExited(cause=cause, status=status), "setup", id_)
    return name


def test_the_steps_come_before_the_agents(session: Session) -> None:
    assert [run(session), run(session)] == ["install", "database"]
    assert wanted(session.state) == ()
    assert actions(session) == (FinishSetup(),)
    session.tell(SetupDone(changed=("made",)))
    assert not is_setting_up(session.state)
    assert [each.seat for each in wanted(session.state)] == ["architect"]
    assert session.state.options.dirty == ("mine", "made")
    assert "setup" not in session.state.agents


@pytest.mark.parametrize(
    ("found", "cause", "words"),
    [
        (Exit(status=0), "finished", ""),
        (Exit(status=3), "crashed", "the setup `install` failed (exit 3)"),
        (Exit(signal=9), "crashed", "the setup `install` failed (signal 9)"),
        (Exit(status=0, timed_out=True), "timed_out", "took too long, and was ended"),
        (Exit(signal=1, hup=True), "ended_by_user", "was ended by its user"),
        (None, "crashed", "the setup `install` failed (no exit record)"),
    ],
)
def test_a_step_that_does_not_succeed_fails_the_session(
    session: Session, found: Exit | None, cause: str, words: str
) -> None:
    launch = session.launch("setup", mode="setup", topic="install", phase="architecting")
    fact = LaunchFact(pane="%1", alive=False, started=True, exit=found)
    (ended,) = (a for a in actions(session, **{launch: fact}) if isinstance(a, RecordExit))
    assert ended.cause == cause
    session.tell(
        AgentExited(cause=ended.cause, status=ended.status, signal=ended.signal), "setup", launch
    )
    failed = [each for each in actions(session) if isinstance(each, Fail)]
    assert [each.seat for each in failed] == ["setup"] * bool(words)
    assert all(words in each.cause for each in failed)


def test_a_worktree_that_is_made_again_is_set_up_again(session: Session) -> None:
    run(session)
    run(session)
    session.tell(SetupDone())
    session.tell(WorktreeMade(again=True, dirty=("of-agents",)))
    assert run(session) == "install"
    assert session.state.setup is not None
    assert session.state.setup.before == ("of-agents",)


def test_agents_are_planned_while_the_setup_is_not_done(session: Session) -> None:
    assert [each.seat for each in agents_work(session.state)] == ["architect"]


def test_the_steps_are_recorded_whole(session: Session) -> None:
    again = decode(encode(session.state), where="test")
    assert again == session.state
    assert recorded_step(again, "install") == STEPS[0]
    assert recorded_step(again, "database").timeout_s == 600
    with pytest.raises(DataError, match="no setup step `other`"):
        recorded_step(again, "other")
    assert new_setup(()) is None
