"""The fold: ``state' = apply(state, event)``, pure and deterministic.

An event contains everything that is needed to apply it. A signal that does not count moves the
cursor and changes nothing else. `implied` derives the files that an event adds;
`decisions/next_actions` decides what the orchestrator does next.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from agentmux.core.codec.frozen import replace
from agentmux.core.codec.records import Json, from_fields, to_fields
from agentmux.core.definitions.definition import Kind, definition_from
from agentmux.core.fold.acceptance import Answer, is_judged, judge
from agentmux.core.fold.parts import inputs, moving, parking
from agentmux.core.fold.parts.checks import (
    base_checked,
    base_done,
    base_made,
    base_step_ended,
    check_done,
    check_skipped,
    checks_began,
)
from agentmux.core.fold.parts.seats import seat_of, with_conversation, with_reached, with_seat
from agentmux.core.fold.repinned import with_pipeline
from agentmux.core.fold.signals.description import FoldStep
from agentmux.core.fold.signals.table import JUDGED
from agentmux.core.fold.transitions import (
    decide_review,
    ensure_subplan,
    enter,
    forget,
    go_on,
    known_phase,
    reenter_phase,
    reopen_from,
    schedule,
    with_verdicts_found,
    without_seat,
)
from agentmux.core.journal.events import (
    AgentExited,
    AgentLaunched,
    AgentNudged,
    AgentParked,
    AgentStalled,
    AgentWoken,
    ArtifactsArchived,
    BaseChecked,
    BaseDone,
    BaseMade,
    CheckDone,
    CheckpointTaken,
    ChecksBegan,
    CheckSkipped,
    CommitDelayed,
    CommitFailed,
    CommitMade,
    CommitStarted,
    ConversationLearned,
    Event,
    Fact,
    InputEnded,
    InputStarted,
    JournalCreated,
    LaunchChosen,
    LimitsLifted,
    PhaseSettled,
    PromptReached,
    Repinned,
    ResearchTold,
    Resumed,
    RewindStarted,
    Rewound,
    SeatAnswered,
    SeatRestarted,
    SeatTold,
    SessionArrived,
    SessionFailed,
    SessionImported,
    SessionInterrupted,
    SessionMoved,
    SessionReattached,
    SessionReturned,
    SessionStarted,
    SetupDone,
    StepDone,
    StepFailed,
    StepStarted,
    WorktreeMade,
    WorktreeMoved,
)
from agentmux.core.journal.state import (
    Commit,
    Interruption,
    Rewind,
    Seat,
    SessionState,
    Setup,
    TreeCheckpoint,
    decode,
)
from agentmux.core.names.phase import BASE, CHECK, COMMANDS, SETUP, Phase
from agentmux.core.names.statuses import (
    CAPPED,
    COMMITTING,
    CRASHED,
    DELAYED,
    FINISHED,
    LAUNCHED,
    PASSED,
    REJECTED,
    STOPPED,
)
from agentmux.core.pipeline import delivery
from agentmux.core.pipeline.check_phase import with_command_rerun
from agentmux.core.pipeline.checks.setup import repin_setup
from agentmux.core.pipeline.delivery import COMMIT, open_step
from agentmux.core.pipeline.on_disk import StateFromDisk
from agentmux.core.pipeline.registry import kind_of, pipeline_of, working_phase
from agentmux.core.pipeline.results import result_of
from agentmux.core.pipeline.work import find_work
from agentmux.errors import AgentmuxError

_AT_ANY_TIME: Final = (CheckpointTaken, SeatTold, SeatAnswered, InputStarted, InputEnded)
_OF_A_RESUME: Final = (SessionInterrupted, SessionReattached, WorktreeMade, WorktreeMoved)


def fold(state: SessionState, events: Iterable[tuple[Event, int]]) -> SessionState:
    """Return ``state`` after these events, applied in order by `advance`.

    Args:
        state: The state before the events.
        events: Each event with the offset in the journal at which its line ends, in bytes.
    """
    for event, offset in events:
        state = advance(state, event, offset)
    return state


def advance(state: SessionState, event: Event, offset: int) -> SessionState:
    """Return ``state`` after one event, with ``applied_offset`` set to ``offset``.

    ``offset`` is the place in the journal, in bytes, at which the event's line ends. If applying
    the event raises an unexpected error, the returned state is ``failed``, and the cause names the
    event. So an event that cannot be applied never blocks the session.

    Raises:
        FieldError: The event's payload does not have the form that this version writes.
    """
    try:
        after, noted = _apply_event(state, event)
    except AgentmuxError:
        raise
    except Exception as error:  # noqa: BLE001 (no error may block the session)
        after, noted = _fail_on_error(state, event, error), {}
    return replace(
        after,
        **noted,
        revision=state.revision + 1,
        applied_offset=offset,
        last_event_id=event.id,
        updated_at=event.at,
        updated_by=event.seat,
    )


def _fail_on_error(state: SessionState, event: Event, error: Exception) -> SessionState:
    message = f"{type(error).__name__}: {error}"
    cause = f"event {event.id} (`{event.fact.kind}`) could not be handled: {message}"
    return replace(
        _apply_failure(state, event, SessionFailed(cause=cause)), last_event=event.fact.kind
    )


def apply(state: SessionState, event: Event) -> SessionState:
    """Return the state after ``event``, with the ``applied_offset`` of ``state``.

    A signal that does not count returns ``state`` itself. Unlike in `advance`, every error is
    raised.
    """
    after, noted = _apply_event(state, event)
    return replace(after, **noted) if noted else after


def _apply_event(state: SessionState, event: Event) -> tuple[SessionState, dict[str, Any]]:
    """Return the state after ``event``, and by name the fields that record the event itself.

    The caller sets these fields together with its own, because copying a state is slow.
    """
    step = _STEPS[type(event.fact)]
    if not is_judged(event):
        after = parking.prune_parked(step(state, event, event.fact))
        return after, {"last_event": _last_event(state, event)}
    if judge(state, event).answer is not Answer.ACCEPTED:
        return state, {}
    after = parking.prune_parked(_apply_signal(state, event, step))
    return after, {"last_event": event.fact.kind, "signals": (*state.signals, event.id)}


def has_counted(before: SessionState, after: SessionState) -> bool:
    """Whether the event between the two states was a signal or user decision that counted.

    ``before`` and ``after`` are the states directly before and after one event.
    """
    return after.signals != before.signals


def _last_event(state: SessionState, event: Event) -> str:
    """Return the new ``last_event`` of the state: usually the kind of ``event``.

    The old value stays in two cases: ``event`` is a checkpoint or an input, which can come at any
    time; or the last event was ``resumed``, and ``event`` says that the orchestrator has ended or
    was replaced, or that the session's worktree was made or moved.
    """
    if isinstance(event.fact, _AT_ANY_TIME):
        return state.last_event
    if isinstance(event.fact, _OF_A_RESUME) and state.last_event == Resumed.kind:
        return Resumed.kind
    return event.fact.kind


def _apply_signal(state: SessionState, event: Event, step: FoldStep) -> SessionState:
    """Return ``state`` after an accepted signal; ``step`` applies this kind of signal.

    In a failed session the signal counts for the phase that failed. If it completes that phase, or
    approves the result, the session is no longer failed, and crashed seats may be launched again.
    """
    working = replace(_heard(state, event), phase=working_phase(state))
    after = _handed_in(step(working, event, event.fact), event)
    if state.phase != Phase.FAILED:
        return after
    if after.phase == working.phase and after.approval == working.approval:
        return replace(after, phase=Phase.FAILED)
    left = {name: seat for name, seat in after.seats.items() if seat.status != CRASHED}
    return replace(after, interruption=None, seats=left)


def _handed_in(after: SessionState, event: Event) -> SessionState:
    """Return the state in which the seat's resume record is ``handed_in``, if its work has ended.

    The work has ended if the signal has removed the seat from the state. A record of version 0.1.0
    has no such field and stays unchanged.
    """
    record = after.agents.get(event.seat, {})
    if event.seat in after.seats or "handed_in" not in record:
        return after
    return replace(after, agents={**after.agents, event.seat: {**record, "handed_in": True}})


def _heard(state: SessionState, event: Event) -> SessionState:
    """Return the state in which the signal's seat is ``heard`` and ``reached`` (see `Seat`)."""
    reached = parking.unpark_on_signal(with_reached(state, event), event)
    seat = seat_of(reached, event)
    return reached if seat is None else with_seat(reached, event.seat, replace(seat, heard=True))


# -- facts ---------------------------------------------------------------------------------------


def _journal_created(state: SessionState, event: Event, fact: JournalCreated) -> SessionState:
    return replace(state, journal_id=fact.journal_id)


def _began(
    state: SessionState, event: Event, fact: SessionStarted | SessionImported
) -> SessionState:
    began = decode(fact.state, where=f"`{fact.kind}` event")
    return replace(began, journal_id=state.journal_id)


def _apply_launch(state: SessionState, event: Event, fact: AgentLaunched) -> SessionState:
    if not _is_wanted(state, event, fact.phase):
        return state
    seat = Seat(
        launch=event.launch,
        role=fact.role,
        phase=state.phase,
        mode=fact.mode,
        reason=fact.reason,
        since=event.at,
        subplan=fact.subplan,
        topic=fact.topic,
        attempt=fact.attempt,
        status=STOPPED if fact.stopped else LAUNCHED,
        prompt_bytes=fact.prompt_bytes,
        fresh_prompt_bytes=fact.fresh_prompt_bytes,
    )
    seated = parking.note_launch(with_seat(state, event.seat, seat), event)
    if fact.role in COMMANDS:
        return seated
    return replace(seated, agents={**state.agents, event.seat: fact.record})


def _is_wanted(state: SessionState, event: Event, phase: str) -> bool:
    """Whether the work that a launch was decided for still has to be done.

    It does not if events before that of the launch have handed in the work or ended its phase.
    Research continues after its phase, but not after its cycle.

    Args:
        state: The state before the event.
        event: The event of the launch.
        phase: The phase whose work needed the launch. Older journals leave it empty; then the
            result is True.
    """
    if not phase:
        return True
    here = working_phase(state)
    works = find_work(replace(state, phase=here)) if event.cycle == state.cycle else ()
    return any(w.seat == event.seat and (w.topic or phase == here) for w in works)


def _chosen(state: SessionState, event: Event, fact: LaunchChosen) -> SessionState:
    seat = seat_of(state, event)
    if seat is None or seat.status != STOPPED:
        return state
    going = replace(
        seat,
        status=LAUNCHED,
        mode=fact.mode,
        reason=fact.reason,
        since=event.at,
        prompt_bytes=fact.prompt_bytes,
    )
    record = fact.record or state.agents.get(event.seat, {})
    return replace(with_seat(state, event.seat, going), agents={**state.agents, event.seat: record})


def _apply_exit(state: SessionState, event: Event, fact: AgentExited) -> SessionState:
    seat = seat_of(state, event)
    if seat is None:
        return state
    if event.seat == BASE:
        return base_step_ended(without_seat(state, BASE), seat, fact.cause)
    if seat.role == SETUP and fact.cause == FINISHED:
        return _step_done(without_seat(state, event.seat))
    gone = replace(seat, status=fact.cause, exit_status=fact.status, exit_signal=fact.signal)
    if seat.status == STOPPED:  # no agent ran: the pane only showed the last screen
        gone = replace(gone, mode="screen")
    after = with_seat(state, event.seat, gone)
    if fact.cause != REJECTED:
        return after
    record = {**state.agents.get(event.seat, {}), "rejected": True}
    return replace(after, agents={**state.agents, event.seat: record})


def _step_done(state: SessionState) -> SessionState:
    setup = state.setup
    return state if setup is None else replace(state, setup=replace(setup, done=setup.done + 1))


def _mark_nudged(state: SessionState, event: Event, fact: AgentNudged) -> SessionState:
    seat = seat_of(state, event)
    return state if seat is None else with_seat(state, event.seat, replace(seat, nudged=True))


def _mark_stalled(state: SessionState, event: Event, fact: AgentStalled) -> SessionState:
    seat = seat_of(state, event)
    return state if seat is None else with_seat(state, event.seat, replace(seat, stalled=True))


def _learned_fact(state: SessionState, event: Event, fact: ConversationLearned) -> SessionState:
    return with_conversation(state, event, fact.conversation)


def _mark_told(state: SessionState, event: Event, fact: ResearchTold) -> SessionState:
    key = f"{fact.research}-{fact.topic}"
    known = state.research.get(key)
    if known is None:
        return state
    told = replace(known, told=tuple(dict.fromkeys((*known.told, event.seat))))
    return replace(state, research={**state.research, key: told})


def _settle_phase(state: SessionState, event: Event, fact: PhaseSettled) -> SessionState:
    if state.phase != fact.phase:
        return state
    disk = from_fields(StateFromDisk, fact.found, where="`phase_settled` event")
    known = replace(state, **disk.values())
    if kind_of(state) is not Kind.REVIEW:
        return go_on(known)
    reviewed = with_verdicts_found(known, disk.results, state.phase, "`phase_settled` event")
    is_open = result_of(reviewed, state.phase).outcome not in {PASSED, CAPPED}
    return decide_review(reviewed) if is_open else go_on(reviewed)


def _apply_resume(state: SessionState, event: Event, fact: Resumed) -> SessionState:
    phase, pipeline = known_phase(state, fact.phase), pipeline_of(state)
    disk = from_fields(StateFromDisk, fact.found, where="`resumed` event")
    known = replace(
        state,
        **disk.values(),
        cycle=fact.cycle,
        tmux_socket=fact.tmux_socket or state.tmux_socket,
        interruption=None,
        seats={},
    )
    if pipeline.nominates_from(phase):
        # Nobody is nominated yet; a default kept here would override the front matter to come.
        known = replace(known, reviewer_nominations=())
    known = with_verdicts_found(reopen_from(known, phase), disk.results, phase, "`resumed` event")
    if fact.override:
        return enter(known, phase)
    last = pipeline.last
    if phase != last:  # the approved result no longer exists
        known = forget(known, last)
    here = replace(known, phase=phase)
    # The resume may have skipped the phase that failed, because its artifacts were complete.
    if kind_of(here) is Kind.WORK:
        single = state.implementation_single_coder or state.options.single_coder
        return schedule(ensure_subplan(replace(here, implementation_single_coder=single)))
    return here


def _apply_reattach(state: SessionState, event: Event, fact: SessionReattached) -> SessionState:
    return state if state.phase == Phase.FAILED else replace(state, interruption=None)


def _restart_seat(state: SessionState, event: Event, fact: SeatRestarted) -> SessionState:
    unparked = parking.unpark(without_seat(state, event.seat), event.seat)
    going = replace(unparked, phase=working_phase(state))
    seat = state.seats.get(event.seat)
    if seat is not None and seat.role == CHECK:
        going = with_command_rerun(going, going.phase, seat.topic)
    record = state.agents.get(event.seat)
    if record is None:
        return replace(going, interruption=None)
    marked = {**record, "restart": {None: "", True: "fresh", False: "resume"}[fact.fresh]}
    return replace(going, interruption=None, agents={**going.agents, event.seat: marked})


def _apply_archiving(state: SessionState, event: Event, fact: ArtifactsArchived) -> SessionState:
    moved = len(state.pending_archive) if fact.moved is None else fact.moved
    return replace(state, pending_archive=state.pending_archive[moved:])


def _worktree_made(state: SessionState, event: Event, fact: WorktreeMade) -> SessionState:
    new_state = replace(state, worktree_made=True)
    if state.setup is None:
        return new_state
    return replace(new_state, setup=Setup(steps=state.setup.steps, before=fact.dirty))


def _setup_done(state: SessionState, event: Event, fact: SetupDone) -> SessionState:
    setup = state.setup
    if setup is None:
        return state
    dirty = tuple(dict.fromkeys((*state.options.dirty, *fact.changed)))
    return replace(
        state,
        setup=replace(setup, finished=True),
        options=replace(state.options, dirty=dirty),
    )


def _apply_repin(state: SessionState, event: Event, fact: Repinned) -> SessionState:
    # The last step belonged to the old setup.
    known = without_seat(state, SETUP)
    new_state = replace(known, setup=repin_setup(state.setup, fact.setup, fact.dirty))
    if not fact.pipeline:
        return new_state
    pipeline = definition_from(fact.pipeline, f"`{fact.kind}` event")
    return with_pipeline(new_state, pipeline, fact.pipeline_files, fact.verify)


def _checkpoint_taken(state: SessionState, event: Event, fact: CheckpointTaken) -> SessionState:
    fields = {**to_fields(fact), "at": event.at}
    checkpoint = from_fields(TreeCheckpoint, fields, where="`checkpoint_taken` event")
    return replace(state, tree_checkpoints=(*state.tree_checkpoints, checkpoint))


def _rewind_started(state: SessionState, event: Event, fact: RewindStarted) -> SessionState:
    begun = from_fields(Rewind, to_fields(fact), where="`rewind_started` event")
    return replace(state, rewind=begun)


def _apply_rewind(state: SessionState, event: Event, fact: Rewound) -> SessionState:
    agents = {
        seat: _with_mark(record, fact.number) if seat in fact.stale else record
        for seat, record in state.agents.items()
    }
    return reenter_phase(
        replace(state, rewind=None, seats={}, agents=agents), fact.phase, fact.subplans
    )


def _with_mark(record: Json, number: int) -> Json:
    """Return the resume record with the number of the checkpoint that the files were reset to."""
    previous = record.get("previous")
    if not isinstance(previous, Mapping):
        return {**record, "rewound": number}
    return {**record, "rewound": number, "previous": {**previous, "rewound": number}}


def _commit_started(state: SessionState, event: Event, fact: CommitStarted) -> SessionState:
    begun = replace(state, commit=Commit(status=COMMITTING, approval=fact.approval))
    return delivery.step_begun(begun, COMMIT)


def _commit_made(state: SessionState, event: Event, fact: CommitMade) -> SessionState:
    status = "made" if fact.commit else "none"
    commit = Commit(status=status, approval=state.approval or "", commit=fact.commit)
    after = replace(state, commit=commit)
    if fact.commit is None:
        return enter(delivery.step_done(after, COMMIT), Phase.DONE)  # there is nothing to deliver
    return _end_if_delivered(delivery.step_done(after, COMMIT, {"commit": fact.commit}))


def _end_if_delivered(state: SessionState) -> SessionState:
    """Return the state after a delivery step; its phase is ``done`` if no step is left."""
    return state if open_step(state) is not None else enter(state, Phase.DONE)


def _commit_delayed(state: SessionState, event: Event, fact: CommitDelayed) -> SessionState:
    delayed = Commit(status=DELAYED, approval=state.approval or "", reason=fact.reason)
    return replace(state, commit=delayed)


def _commit_failed(state: SessionState, event: Event, fact: CommitFailed) -> SessionState:
    approval, record = state.approval or "", fact.record
    failed = Commit(status="failed", approval=approval, reason=fact.reason, record=record)
    after = replace(state, commit=failed, approval=None)
    return delivery.step_failed(after, COMMIT, fact.reason)


def _delivery_step_started(state: SessionState, event: Event, fact: StepStarted) -> SessionState:
    ours = fact.approval == state.approval
    return delivery.step_begun(state, fact.step, fact.record) if ours else state


def _delivery_step_done(state: SessionState, event: Event, fact: StepDone) -> SessionState:
    if fact.approval != state.approval:
        return state
    return _end_if_delivered(delivery.step_done(state, fact.step, fact.record))


def _delivery_step_failed(state: SessionState, event: Event, fact: StepFailed) -> SessionState:
    if fact.approval != state.approval:
        return state
    failed = replace(state, approval=None)
    return delivery.step_failed(failed, fact.step, fact.reason, fact.record)


def _apply_interrupt(state: SessionState, event: Event, fact: SessionInterrupted) -> SessionState:
    if state.phase not in pipeline_of(state):
        return state
    left = parking.unpark_on_stop(state, fact.cause)
    return replace(left, interruption=_interruption(state, event, fact.cause))


def _apply_failure(state: SessionState, event: Event, fact: SessionFailed) -> SessionState:
    if state.phase not in pipeline_of(state) or not _is_wanted(state, event, fact.phase):
        return state
    interruption = _interruption(state, event, fact.cause)
    return replace(state, phase=Phase.FAILED, interruption=interruption)


def _interruption(state: SessionState, event: Event, cause: str) -> Interruption:
    return Interruption(cause=cause, seat=event.seat, phase=state.phase, at=event.at)


_STEPS: Final[Mapping[type[Fact], FoldStep]] = {
    **{each.fact: each.step for each in JUDGED.values()},
    JournalCreated: _journal_created,
    SessionStarted: _began,
    SessionImported: _began,
    SessionMoved: moving.apply_move,
    SessionReturned: moving.apply_return,
    SessionArrived: moving.apply_arrival,
    AgentLaunched: _apply_launch,
    LaunchChosen: _chosen,
    PromptReached: with_reached,
    AgentExited: _apply_exit,
    AgentNudged: _mark_nudged,
    AgentStalled: _mark_stalled,
    AgentParked: parking.park,
    AgentWoken: parking.wake,
    LimitsLifted: parking.lift,
    ConversationLearned: _learned_fact,
    ResearchTold: _mark_told,
    SeatTold: inputs.add_input,
    SeatAnswered: inputs.add_input,
    InputStarted: inputs.start_input,
    InputEnded: inputs.remove_input,
    PhaseSettled: _settle_phase,
    Resumed: _apply_resume,
    SessionReattached: _apply_reattach,
    SeatRestarted: _restart_seat,
    ArtifactsArchived: _apply_archiving,
    WorktreeMade: _worktree_made,
    WorktreeMoved: moving.worktree_moved,
    SetupDone: _setup_done,
    ChecksBegan: checks_began,
    CheckDone: check_done,
    CheckSkipped: check_skipped,
    BaseMade: base_made,
    BaseChecked: base_checked,
    BaseDone: base_done,
    Repinned: _apply_repin,
    CheckpointTaken: _checkpoint_taken,
    RewindStarted: _rewind_started,
    Rewound: _apply_rewind,
    CommitStarted: _commit_started,
    CommitMade: _commit_made,
    CommitDelayed: _commit_delayed,
    CommitFailed: _commit_failed,
    StepStarted: _delivery_step_started,
    StepDone: _delivery_step_done,
    StepFailed: _delivery_step_failed,
    SessionInterrupted: _apply_interrupt,
    SessionFailed: _apply_failure,
}
