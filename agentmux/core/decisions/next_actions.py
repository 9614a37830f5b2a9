"""Decide the next actions of a session, as data: ``next_actions(state, facts)``.

Pure; never raises. The orchestrator performs the actions, records what happened, and calls
`next_actions` again. If there is no action, the session waits for a signal, for the end of an
agent, or for the user.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, TypeAlias

from agentmux.core.checks.verdict import outcome_of
from agentmux.core.codec.frozen import dataclass, field
from agentmux.core.decisions.check_actions import (
    BeginChecks,
    EndBase,
    MakeBase,
    RecordBase,
    RecordCheck,
    beginning,
    for_the_base,
)
from agentmux.core.decisions.drafts import without_drafts
from agentmux.core.decisions.inference import is_decided
from agentmux.core.decisions.limits import is_parked
from agentmux.core.definitions.definition import Kind
from agentmux.core.fold.parts.parking import BUSY, LAUNCH, TOLD
from agentmux.core.journal.events import LaunchChosen
from agentmux.core.journal.state import AGENT_MODES, NATIVE, Seat, SessionState
from agentmux.core.names.phase import BASE, CHECK, COMMANDS, SETUP, ResearchKind
from agentmux.core.names.statuses import (
    CLAIM_TAKEN,
    COMMITTING,
    CRASHED,
    DELAYED,
    ENDED_BY_USER,
    FINISHED,
    LAUNCHED,
    REJECTED,
    RESEARCHED,
    STOPPED,
    TIMED_OUT,
)
from agentmux.core.pipeline.artifacts import Artifacts
from agentmux.core.pipeline.delivery import COMMIT, failure, open_step
from agentmux.core.pipeline.on_disk import StateFromDisk, state_from_disk
from agentmux.core.pipeline.registry import kind_of, pipeline_of
from agentmux.core.pipeline.verified import is_proven
from agentmux.core.pipeline.work import Work, find_work, is_setting_up

MAX_ATTEMPTS: Final = 2
"""The session fails if the launch with this attempt number crashes; it counts from 1.

A relaunch after a rejected conversation does not count as another attempt.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exit:
    """The exit record of a launch: how its agent ended, as the wrapper around the agent wrote it.

    Attributes:
        status: The exit status; None if a Unix signal ended the agent.
        signal: The number of the Unix signal that ended the agent, or None.
        hup: Whether SIGHUP ended the agent, as when its pane is closed.
        claim_taken: Whether the agent did not start because another pane uses its conversation.
        timed_out: Whether the wrapper ended the program because it took too long.
    """

    status: int | None = None
    signal: int | None = None
    hup: bool = False
    claim_taken: bool = False
    timed_out: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchFact:
    """What was observed of one launch.

    Attributes:
        pane: The tmux id of the launch's pane; None if there is no such pane.
        alive: Whether the pane's program runs.
        started: Whether the wrapper (the program that runs the agent) has ever run in the pane.
        exit: The exit record of the launch; None if there is none.
        early: Whether the launch began so recently that a failure may mean a rejected conversation.
        refuses: Whether the screen ends with the message that the agent does not know its
            conversation.
        choice: What the user chose in a pane that waits for a choice before it starts an agent;
            None if nothing is chosen yet, or if the pane does not wait.
    """

    pane: str | None = None
    alive: bool = False
    started: bool = False
    exit: Exit | None = None
    early: bool = False
    refuses: bool = False
    choice: LaunchChosen | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What was just observed of a session.

    Attributes:
        artifacts: The artifacts on disk.
        launches: What was observed of each launch, by the launch's id.
        tree: The id of the current files, on which a check runs; None if this process has not
            determined it yet.
        to_wake: The names of the parked seats (those at a usage limit) to wake now, as
            `limits.to_wake` returns them.
        busy: The names of the seats whose agents were seen at work.
    """

    artifacts: Artifacts
    launches: Mapping[str, LaunchFact] = field(default_factory=dict)
    tree: str | None = None
    to_wake: tuple[str, ...] = ()
    busy: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishArchive:
    """The action to move the files in the state's ``pending_archive`` to the session's history.

    The panes of launches that are no longer current are ended first, because their agents could
    still write these files.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class EndPanes:
    """The action to end the panes of launches that have ended or are no longer current.

    ``launches`` are the ids of the launches.
    """

    launches: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Settle:
    """The action to record the outcome of ``phase`` that a resume has found on disk.

    No agent is launched for it. ``found`` is what the artifacts on disk say.
    """

    phase: str
    found: StateFromDisk


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """The action to launch an agent or command for ``work``.

    ``attempt`` is 1, and higher after crashes.
    """

    work: Work
    attempt: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenPane:
    """The action to open the pane of a launch that the journal records but that has no pane yet.

    ``seat`` is the name of the launch's seat, ``launch`` the id of the launch.
    """

    seat: str
    launch: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordExit:
    """The action to record that the program of a launch has ended.

    If an agent that rejected its conversation is still running, it is ended first.

    Attributes:
        seat: The name of the launch's seat.
        launch: The id of the launch.
        cause: How the program ended, such as ``finished``, ``crashed`` or ``rejected``: a value of
            `events.AgentExited.cause`.
        status: The exit status; None if there is none.
        signal: The number of the Unix signal that ended the program, or None.
    """

    seat: str
    launch: str
    cause: str
    status: int | None = None
    signal: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordChoice:
    """The action to record what the user chose in a pane that has not started an agent yet.

    ``seat`` is the name of the pane's seat, ``launch`` the id of the launch that the pane is for.
    """

    seat: str
    launch: str
    choice: LaunchChosen


@dataclass(frozen=True, slots=True, kw_only=True)
class Fail:
    """The action to record that the session has failed because of ``seat``.

    After that, only the user can make the session go on. ``seat`` is the name of a seat, ``cause``
    the reason, for people.
    """

    seat: str
    cause: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Tell:
    """The action to tell an agent that the research it requested on ``topic`` is done.

    ``seat`` and ``launch`` are the name of the agent's seat and the id of its launch. ``research``
    is the kind of the research: ``code`` (in the code base) or ``web`` (on the web).
    """

    seat: str
    launch: str
    research: ResearchKind
    topic: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SendInput:
    """The action to send a message or keys from the user to an agent.

    ``input`` is the id of the message or keys in the state.
    """

    input: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Wake:
    """The action to record that a seat's usage limit should be over, and to make its agent go on.

    ``seat`` is the name of the seat, ``launch`` the id of the launch that reached the limit, or of
    a later one. ``how`` says what follows: ``told`` (the agent is told once to go on), ``launch``
    (no agent runs, and one is launched) or ``busy`` (the agent works already).
    """

    seat: str
    launch: str
    how: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishSetup:
    """The action to record that all setup steps have succeeded, and what they have changed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ApproveByItself:
    """The action to approve the session's result without the user, as the configuration says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MakeCommit:
    """The action to commit the approved result.

    If a commit whose message contains the id ``approval`` exists already, that commit is recorded
    instead. ``started`` says whether an earlier attempt to commit was begun.
    """

    approval: str
    started: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class TakeStep:
    """The action to perform ``step`` of the delivery after the commit.

    ``step`` is ``merge``, ``push`` or ``request`` (to open a pull request).

    A step that was performed already, before a crash, is only recorded. ``approval`` is the id of
    the approval.
    """

    step: str
    approval: str


Action: TypeAlias = (
    FinishArchive
    | EndPanes
    | Settle
    | Launch
    | OpenPane
    | RecordExit
    | RecordChoice
    | Fail
    | Tell
    | SendInput
    | Wake
    | FinishSetup
    | BeginChecks
    | RecordCheck
    | MakeBase
    | RecordBase
    | EndBase
    | ApproveByItself
    | MakeCommit
    | TakeStep
)


def next_actions(state: SessionState, facts: Facts) -> tuple[Action, ...]:
    """Return the actions to perform now, in this order; empty if the session has to wait.

    It performs none of them.
    """
    if state.pending_archive:
        return (FinishArchive(),)
    if state.phase not in pipeline_of(state):
        # In a failed session, agents that still run go on and are told about their research.
        return (
            *_exits(state, facts),
            *_wakings(state, facts),
            *_tellings(state, facts),
            *_inputs(state),
        )
    settled = settlement(state, facts.artifacts)
    if settled is not None:
        return (settled,)
    begins = beginning(state, facts.tree)
    if begins is not None:
        return (begins,)
    return (
        *_exits(state, facts),
        *_wakings(state, facts),
        *_launches(state, facts),
        *_finished_setup(state),
        *for_the_base(state),
        *_strays(state, facts),
        *_tellings(state, facts),
        *_inputs(state),
        *_closing(state),
    )


def settlement(state: SessionState, artifacts: Artifacts) -> Settle | None:
    """Return the action that records the outcome of the current phase after a resume.

    None if the artifacts do not show an outcome, or if the last event is not a resume: at any other
    time an artifact counts as unfinished until its signal (the agent's message that its work is
    complete) arrives. ``artifacts`` are those on disk, including drafts.
    """
    if state.last_event != "resumed" or state.phase not in pipeline_of(state):
        return None
    counting = without_drafts(state, artifacts)
    if not is_decided(state, counting, state.phase):
        return None
    return Settle(phase=state.phase, found=state_from_disk(state, counting))


# The statuses of seats whose launch must have a pane.
_HELD: Final = frozenset({LAUNCHED, STOPPED})


_Recording: TypeAlias = RecordExit | RecordChoice | RecordCheck | RecordBase


def _exits(state: SessionState, facts: Facts) -> Iterator[_Recording]:
    for name, seat in state.seats.items():
        fact = facts.launches.get(seat.launch, LaunchFact())
        gone = not fact.alive and (fact.exit is not None or fact.started or fact.pane is not None)
        if seat.status == STOPPED and fact.choice is not None:
            yield RecordChoice(seat=name, launch=seat.launch, choice=fact.choice)
        elif seat.status in _HELD and gone and is_command(name, seat):
            yield check_exit(name, seat, fact.exit)
        elif seat.status in _HELD and (gone or (fact.alive and is_rejected(seat, fact))):
            yield _exit_of(name, seat, fact)


def is_command(name: str, seat: Seat) -> bool:
    """Whether a seat belongs to a command of a check, also of one that runs on the base commit.

    ``name`` is the seat's name. The seat that prepares the worktree of the base does not count.
    """
    return seat.role == CHECK or (seat.role == BASE and name != BASE)


def check_exit(name: str, seat: Seat, record: Exit | None) -> RecordExit | RecordCheck | RecordBase:
    """Return the action that records the end of a command of a check.

    If the command did not finish (it has no exit record, or its pane was closed), the action
    records a crash, after which the command runs again, but only once.

    Args:
        name: The name of the command's seat.
        seat: The command's seat.
        record: The command's exit record; None if there is none.

    Returns:
        `RecordExit` for the crash of a first attempt. Any other end, also the crash of a second
        attempt, is the command's result: `RecordBase` for a command on the base, else
        `RecordCheck`.
    """
    if (record is None or record.hup) and seat.attempt < MAX_ATTEMPTS:
        return RecordExit(seat=name, launch=seat.launch, cause=CRASHED)
    end = record or Exit()
    kind = RecordBase if seat.role == BASE else RecordCheck
    return kind(
        seat=name,
        launch=seat.launch,
        name=seat.topic,
        outcome=outcome_of(end.status, end.signal, stopped=end.timed_out or end.hup),
        status=end.status,
        signal=end.signal,
        timed_out=end.timed_out,
    )


def _exit_of(name: str, seat: Seat, fact: LaunchFact) -> RecordExit:
    record = fact.exit or Exit()
    return RecordExit(
        seat=name,
        launch=seat.launch,
        cause=_cause(seat, fact),
        status=record.status,
        signal=record.signal,
    )


def _cause(seat: Seat, fact: LaunchFact) -> str:
    record = fact.exit
    if seat.role in COMMANDS:
        return cause_of_step(record or Exit())
    if seat.status == STOPPED or seat.mode not in AGENT_MODES:
        return ENDED_BY_USER  # no agent ran that could have crashed
    if record is None:
        return REJECTED if fact.alive else CRASHED
    if record.claim_taken:
        return CLAIM_TAKEN
    if record.hup:
        return ENDED_BY_USER
    if is_rejected(seat, fact):
        return REJECTED
    return FINISHED if record.status == 0 else CRASHED


def cause_of_step(record: Exit) -> str:
    """Return how a setup step ended, as a value of `events.AgentExited.cause`.

    It is ``finished`` (exit status 0), ``timed_out``, ``ended_by_user`` or ``crashed``.
    """
    if record.timed_out:
        return TIMED_OUT
    if record.hup:
        return ENDED_BY_USER
    return FINISHED if record.status == 0 else CRASHED


def is_rejected(seat: Seat, fact: LaunchFact) -> bool:
    """Whether a resumed agent has rejected its conversation.

    An agent has rejected it if it exits with an error soon after its start, or if its screen ends
    with the message that it does not know the conversation, before any prompt has arrived (later,
    the conversation may contain such words). An agent whose signal was accepted in this launch has
    not rejected it.
    """
    if seat.status != LAUNCHED or seat.mode != NATIVE or seat.heard:
        return False
    says_so = fact.refuses and not seat.reached
    end = fact.exit
    if end is None:
        return fact.alive and fact.early and says_so
    if end.signal is not None or end.status is None:
        return False
    # Some agents take longer to fail; with the message on the screen, that counts, too.
    return (fact.early or says_so) if end.status else (fact.early and says_so)


def _launches(state: SessionState, facts: Facts) -> Iterator[Action]:
    for work in find_work(state):
        seat = state.seats.get(work.seat)
        if (seat is None or seat.status not in _HELD) and is_parked(state, work.seat):
            continue  # it is launched after the end of its usage limit
        if seat is None:
            yield Launch(work=work)
        elif seat.status in _HELD:
            fact = facts.launches.get(seat.launch, LaunchFact())
            if fact == LaunchFact():
                yield OpenPane(seat=work.seat, launch=seat.launch)
        else:
            fact = facts.launches.get(seat.launch, LaunchFact())
            yield from _after_exit(work, seat, alive=fact.alive)


def _after_exit(work: Work, seat: Seat, *, alive: bool) -> Iterator[Action]:
    if alive:  # a seat never has two agents
        yield EndPanes(launches=(seat.launch,))
    elif work.role == SETUP:
        yield Fail(seat=work.seat, cause=f"the setup `{work.topic}` {_failure(seat)}")
    elif seat.status in {REJECTED, CLAIM_TAKEN}:
        yield Launch(work=work, attempt=seat.attempt)
    elif seat.status == CRASHED and seat.attempt < MAX_ATTEMPTS:
        yield Launch(work=work, attempt=seat.attempt + 1)
    elif seat.status == CRASHED:
        yield Fail(seat=work.seat, cause=f"{work.seat} was lost twice ({_how(seat)})")


def _failure(seat: Seat) -> str:
    if seat.status == TIMED_OUT:
        return "took too long, and was ended"
    return "was ended by its user" if seat.status == ENDED_BY_USER else f"failed ({_how(seat)})"


def _finished_setup(state: SessionState) -> Iterator[FinishSetup]:
    setup = state.setup
    if setup is not None and is_setting_up(state) and setup.done >= len(setup.steps):
        yield FinishSetup()


def _how(seat: Seat) -> str:
    if seat.exit_signal is not None:
        return f"signal {seat.exit_signal}"
    return "no exit record" if seat.exit_status is None else f"exit {seat.exit_status}"


def _strays(state: SessionState, facts: Facts) -> Iterator[EndPanes]:
    held = {seat.launch for seat in state.seats.values()}
    strays = tuple(
        launch
        for launch, fact in facts.launches.items()
        if launch not in held and fact.pane is not None
    )
    if strays:
        yield EndPanes(launches=strays)


def _wakings(state: SessionState, facts: Facts) -> Iterator[Wake]:
    for name in facts.to_wake:
        if not is_parked(state, name):
            continue
        seat = state.seats.get(name)
        launch = state.parked[name].launch
        yield Wake(seat=name, launch=launch, how=_waking(name, seat, facts))


def _waking(name: str, seat: Seat | None, facts: Facts) -> str:
    if seat is None or seat.status != LAUNCHED:
        return LAUNCH
    if not facts.launches.get(seat.launch, LaunchFact()).alive:
        return LAUNCH
    return BUSY if name in facts.busy else TOLD


def _tellings(state: SessionState, facts: Facts) -> Iterator[Tell]:
    for kind in ResearchKind:
        for topic, status in state.tasks(kind).items():
            asked = state.research.get(f"{kind}-{topic}")
            if status != RESEARCHED or asked is None:
                continue
            for owner in asked.owners:
                seat = state.seats.get(owner)
                if owner in asked.told or seat is None or not _hears(seat):
                    continue
                if is_parked(state, owner):  # it is told as soon as it is woken
                    continue
                if facts.launches.get(seat.launch, LaunchFact()).alive:
                    yield Tell(seat=owner, launch=seat.launch, research=kind, topic=topic)


def _inputs(state: SessionState) -> Iterator[SendInput]:
    """Yield the oldest input of each seat; the next one has to wait until that one is done."""
    oldest: dict[str, str] = {}
    for each in state.inputs:
        oldest.setdefault(each.seat, each.id)
    yield from (SendInput(input=name) for name in oldest.values())


def _hears(seat: Seat) -> bool:
    """Whether the seat has an agent that can receive a message."""
    return seat.status == LAUNCHED and seat.mode in AGENT_MODES


def _closing(state: SessionState) -> Iterator[Action]:
    if kind_of(state) is not Kind.COMPLETE:
        return
    step = open_step(state)
    if state.approval is not None and step not in {None, COMMIT}:
        yield TakeStep(step=step or "", approval=state.approval)
    elif state.approval is not None:
        started = state.commit is not None and state.commit.status in {COMMITTING, DELAYED}
        yield MakeCommit(approval=state.approval, started=started)
    elif _approves_by_itself(state):
        yield ApproveByItself()


def _approves_by_itself(state: SessionState) -> bool:
    unhindered = failure(state) == ""
    wanted_alone = state.summary_submitted and not state.options.require_approval
    return wanted_alone and unhindered and is_proven(state)
