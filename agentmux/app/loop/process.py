"""The life of an orchestrator process: take the lock, probe, report, drive, release.

It runs in a window of the tmux session that `start` or `resume` created for it. This module reports
that the orchestrator is ready. Earlier errors are raised, and the caller reports them.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Final

from agentmux.app.commands.resume.orchestrator_request import (
    OrchestratorReport,
    OrchestratorRequest,
    Rebuild,
    SessionDoneError,
)
from agentmux.app.launch.stopped_pane import unrecorded_choices
from agentmux.app.loop.dependencies import LoopDependencies, SessionGoneError
from agentmux.app.loop.orchestrator import Orchestrator
from agentmux.app.loop.panes.watcher import Watcher
from agentmux.app.session.check_record import adopt_checks
from agentmux.app.session.configuration.first_texts import first_texts
from agentmux.app.session.implied_state import settled_state
from agentmux.app.session.search.moved import require_here
from agentmux.app.session.workplace.clean_protection import protect_from_clean
from agentmux.app.session.workplace.own_worktree import (
    locate_worktree,
    make_worktree,
    relocation,
    with_workplace,
    without_checkpoints,
)
from agentmux.app.session.workplace.setup_recovery import adopt_step
from agentmux.app.session.workplace.unfinished_rewind import finish_rewind
from agentmux.app.session.writer import Session, resumed_values
from agentmux.app.world import World
from agentmux.core.codec.records import Json
from agentmux.core.decisions.inference import chosen_phase
from agentmux.core.fold.signals.table import signal_message
from agentmux.core.journal.events import Event, Fact, Resumed, SessionReattached
from agentmux.core.names.phase import Phase
from agentmux.core.pipeline.work import is_setting_up
from agentmux.errors import ExitCode
from agentmux.ports.session.session_files import SessionFiles
from agentmux.ports.tmux.terminal import HiddenServerError, TerminalError

logger = logging.getLogger(__name__)

# The command that created the tmux session may still hold the lock for a moment.
_LOCK_WAIT_S: Final = 5.0


async def drive(
    world: World,
    files: SessionFiles,
    request: OrchestratorRequest,
    tools: LoopDependencies,
    *,
    identity: Json,
    report: Callable[[OrchestratorReport], None],
) -> ExitCode:
    """Drive the session at ``files``; return when this process has to stop.

    Args:
        world: The outside world.
        files: The session's directory.
        request: What the command that started this process asks for.
        tools: The parts of the outside world that only the loop needs.
        identity: Fields that describe this process, such as ``orchestrator_pid``, ``version`` and
            ``socket``; they are written into the session's lock and runtime note.
        report: Called once, when the orchestrator is ready; tells the waiting command.

    Returns:
        OK if the session is done, else FAILED.

    Raises:
        AgentmuxError: The orchestrator could not start or continue; the caller reports that.
    """
    tools.lock.acquire(_LOCK_WAIT_S, identity)
    session = Session(files, now=world.now, new_id=world.new_id)
    lost = _end_lost_work(session, tools)
    world, facts, told = _take_place(world, session, request)
    tree = world.locks.tree(world.tree)
    tree.acquire(_LOCK_WAIT_S, identity)
    stays = True
    try:
        begin(world, session, request, tools.terminal.target.server.socket)
        _require_own(tools, session)
        for fact in facts:
            session.record(fact)
        watcher = Watcher(world, session, tools, identity=identity)
        orchestrator = Orchestrator(world, session, tools, watcher, request.panes)
        _announce(session, orchestrator)
        entered, _ = settled_state(world, session.state, session.artifacts())
        report(
            OrchestratorReport(
                ok=True,
                phase=entered.phase,
                sets_up=is_setting_up(entered),
                warnings=(*lost, *session.warnings, *told),
            )
        )
        await orchestrator.run()
        stays = not orchestrator.kills_session
    finally:
        # The lock's note tells other projects about agents that stay without an orchestrator.
        tree.release(keep_note=stays)
    logger.info("orchestrator ended: %s", orchestrator.cause)
    if orchestrator.kills_session:
        _note_what_stays(tools, watcher)
    tools.lock.release()
    if orchestrator.kills_session:
        from agentmux.app.delivery.steps.outcome import last_words

        with suppress(HiddenServerError):
            tools.terminal.kill(last_words(session.state, orchestrator.name, orchestrator.cause))
    return ExitCode.OK if orchestrator.cause == "done" else ExitCode.FAILED


def _end_lost_work(session: Session, tools: LoopDependencies) -> tuple[str, ...]:
    """End programs that a killed orchestrator left running, because they could act at any time.

    Return warnings that name them.
    """
    ended = tools.end_lost_work(session.initial_load.state.session_id, session.files.path)
    if not ended:
        return ()
    logger.warning("ended what the orchestrator before had left at work: %s", ended)
    return (f"ended what the orchestrator before, which was killed, had left at work: {ended}",)


def _take_place(
    world: World, session: Session, request: OrchestratorRequest
) -> tuple[World, tuple[Fact, ...], tuple[str, ...]]:
    """Protect the session's directory from ``git clean``, and make its worktree if it has one.

    Return the world of the session's workplace, facts to record, and warnings.
    """
    home = session.files.path
    known = session.initial_load.current
    require_here(known, home.name)
    protect_from_clean(world, home)
    state = locate_worktree(world, known, home)
    given = without_checkpoints(state) if request.rebuild == Rebuild.BRANCH_ALONE else state
    leaves = request.rebuild != Rebuild.CAREFUL
    worktree_fact, told = make_worktree(world, given, home, leaves_folder=leaves)
    facts = (relocation(known, state), worktree_fact)
    return with_workplace(world, state), tuple(each for each in facts if each is not None), told


def _announce(session: Session, orchestrator: Orchestrator) -> None:
    """Have signals and warnings shown at the monitor; earlier warnings are shown at once."""

    def warn(warning: str) -> None:
        orchestrator.say(f"warning: {warning}")

    def notice(event: Event) -> None:
        message = signal_message(event)
        if message:
            orchestrator.say(message)

    session.tell, session.notice = warn, notice
    for warning in session.warnings:
        warn(warning)


def _note_what_stays(tools: LoopDependencies, watcher: Watcher) -> None:
    """Leave the user a note if the tmux session cannot be killed because its socket is missing.

    The agents have ended by then; the tmux session stays on that server, empty.
    """
    try:
        tools.terminal.count_clients()
    except HiddenServerError as error:
        stays = "an empty tmux session of AgentMux stays there"
        text = "; ".join((error.message, stays, *error.hints))
        watcher.runtime.leave_behind(text)
    except TerminalError:
        return


def _require_own(tools: LoopDependencies, session: Session) -> None:
    """Check that the tmux session of this process has the session's uuid.

    Raises:
        SessionGoneError: It has another one.
    """
    uuid = session.state.session_id
    if tools.terminal.target.uuid != uuid:
        raise SessionGoneError(f"the tmux session does not carry the id {uuid}")


def begin(world: World, session: Session, request: OrchestratorRequest, socket: str) -> None:
    """Bring the session's state up to date, before the loop starts; launch nothing.

    Applies the journal's pending events, and finishes an interrupted rewind. For a resume, decides
    in which phase the session resumes, and records that; for a reattach, records the reattach.

    Args:
        world: The world of the session's workplace.
        session: The session.
        request: What the command that started this process asks for.
        socket: The path of the tmux server's socket, which a resume records.

    Raises:
        SessionDoneError: The session to resume is done.
    """
    session.take_over(
        session_id=request.session_id,
        session_name=request.session_name,
        texts=partial(first_texts, world, session.files.path),
    )
    finish_rewind(world, session)
    if request.mode == "reattach":
        session.record(SessionReattached())
    if request.mode == "resume":
        adopt_checks(world, session)
    while request.mode == "resume" and not _is_resumed(session, request, socket):
        pass  # a signal or a decision came meanwhile


def _is_resumed(session: Session, request: OrchestratorRequest, socket: str) -> bool:
    """Record the phase in which the session resumes; return False if new events came first.

    Then call this again. If a pending event has just ended the session, there is nothing to record,
    and this returns True.
    """
    for seat, launch, choice in tuple(unrecorded_choices(session.state, session.files)):
        session.record(choice, seat=seat, launch=launch)
    adopt_step(session)
    inference = session.infer()
    if inference.phase == Phase.DONE:
        if session.initial_load.state.phase == Phase.DONE:
            raise SessionDoneError(session.files.path.name)
        return True  # an event that was not applied yet has just ended the session
    phase: str = inference.phase
    if request.phase is not None:
        phase = chosen_phase(request.phase, session.state, inference)
    state = session.state
    return session.record_next(
        Resumed(
            phase=phase,
            cycle=state.cycle,
            found=resumed_values(state, session.artifacts(), phase),
            override=request.phase is not None and phase != inference.phase,
            tmux_socket=socket,
        )
    )
