"""The setup of a worktree: its steps one after the other, then the agents."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from agentmux.core.config.commands import SetupStep
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
from agentmux.core.fold.implied_file import Implied
from agentmux.core.journal.events import AgentExited, Repinned, SetupDone, WorktreeMade
from agentmux.core.journal.state import Options, decode, encode
from agentmux.core.names import layout
from agentmux.core.pipeline.artifacts import Artifacts
from agentmux.core.pipeline.checks.setup import (
    names_ahead,
    new_setup,
    recorded_step,
    recorded_steps,
)
from agentmux.core.pipeline.work import agents_work, find_work, is_setting_up
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
    assert find_work(session.state) == ()
    assert actions(session) == (FinishSetup(),)
    session.tell(SetupDone(changed=("made",)))
    assert not is_setting_up(session.state)
    assert [each.seat for each in find_work(session.state)] == ["architect"]
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


# -- a repin -------------------------------------------------------------------------------------

MENDED = (STEPS[0], SetupStep(name="database", run=("./make-db", "--new")))


def repin(session: Session, *steps: SetupStep, **fields: Any) -> None:
    session.tell(Repinned(setup=recorded_steps(steps), dirty=("of-agents",), **fields))


def test_what_ran_before_a_repin_is_no_step_after_it(session: Session) -> None:
    id_ = session.launch("setup", mode="setup", topic="install", phase="architecting")
    repin(session, SetupStep(name="install", run=("npm", "install")))
    session.tell(AgentExited(cause="finished", status=0), "setup", id_)
    assert session.state.setup is not None
    assert session.state.setup.done == 0


def test_a_failed_setup_goes_on_with_the_step_that_was_mended(session: Session) -> None:
    run(session)
    run(session, "crashed", 1)
    repin(session, *MENDED)
    session.state = replace(session.state, seats={})
    assert run(session) == "database"
    assert recorded_step(session.state, "database").run == ("./make-db", "--new")
    assert session.state.setup is not None
    assert session.state.setup.before == ("before",)
    assert actions(session) == (FinishSetup(),)


@pytest.mark.parametrize(
    ("new", "runs"),
    [
        (STEPS, []),
        (STEPS[:1], []),
        (MENDED, ["database"]),
        ((*STEPS, SetupStep(name="more", run=("more",))), ["more"]),
        (STEPS[1:], ["database"]),
    ],
)
def test_a_setup_that_was_done_runs_only_from_the_first_step_that_differs(
    session: Session, new: tuple[SetupStep, ...], runs: list[str]
) -> None:
    run(session)
    run(session)
    session.tell(SetupDone())
    repin(session, *new)
    assert [run(session) for _ in runs] == runs
    assert actions(session)[:1] == ((FinishSetup(),) if runs else (actions(session)[0],))
    assert is_setting_up(session.state) is bool(runs)
    assert session.state.setup is not None
    assert session.state.setup.before == (("of-agents",) if runs else ("before",))


def test_the_steps_ahead_are_foretold(session: Session) -> None:
    assert names_ahead(session.state.setup, anew=False) == ("install", "database")
    run(session)
    assert names_ahead(session.state.setup, anew=False) == ("database",)
    assert names_ahead(session.state.setup, anew=True) == ("install", "database")
    run(session)
    session.tell(SetupDone())
    assert names_ahead(session.state.setup, anew=False) == ()
    assert names_ahead(session.state.setup, anew=True) == ("install", "database")
    assert names_ahead(None, anew=True) == ()


def test_a_setup_can_come_and_go_later() -> None:
    session = Session(worktree="/w")
    repin(session)
    assert session.state.setup is None
    repin(session, *STEPS)
    run(session)
    repin(session)  # what the step made is still no part of the result
    assert actions(session) == (FinishSetup(),)


def test_new_patterns_are_a_file_of_the_session(session: Session) -> None:
    repin(session, *STEPS)
    assert not session.files
    repin(session, *STEPS, copied=".env\n")
    assert session.files == (Implied(path=layout.COPIED, text=".env\n"),)
