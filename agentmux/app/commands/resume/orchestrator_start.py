"""Starts an orchestrator in the tmux session of its session, and waits until it is ready."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Final

from agentmux.app.commands.resume.orchestrator_request import (
    OrchestratorReport,
    OrchestratorRequest,
    decode_report,
)
from agentmux.app.world import World
from agentmux.core.codec.frozen import dataclass, replace
from agentmux.core.journal.state import SessionState
from agentmux.errors import AgentmuxError, ExitCode
from agentmux.ports.processes import LOCK_WAIT_S, StartReportPipe
from agentmux.ports.tmux.terminal import (
    OwnSession,
    Pane,
    Screen,
    ScreensUnreadableError,
    Target,
    TerminalGoneError,
)

# An orchestrator is ready in half a second; a machine under load may take many times that.
READY_WAIT_S: Final = 30.0
# If it first makes a worktree, that may take git minutes in a large repository.
WORKTREE_WAIT_S: Final = 600.0
_LAST_WORDS: Final = 15


class OrchestratorFailedError(AgentmuxError):
    """The orchestrator could not start; its exit code becomes that of the command."""

    def __init__(self, message: str, *, exit_code: int, hints: tuple[str, ...] = ()) -> None:
        self.exit_code = ExitCode(exit_code)
        super().__init__(message, hints=hints)


@dataclass(frozen=True, slots=True, kw_only=True)
class OrchestratorStart:
    """How an orchestrator is started.

    Attributes:
        argv: Returns the command line of an orchestrator, given the session's directory and the
            request.
        pipe: Creates the pipe, in the given session's directory, in which the orchestrator reports
            that it is ready, or why it is not.
    """

    argv: Callable[[Path, OrchestratorRequest], tuple[str, ...]]
    pipe: Callable[[Path], StartReportPipe]


@dataclass(frozen=True, slots=True, kw_only=True)
class StartedSession:
    """A session whose orchestrator has just been started.

    Attributes:
        name: The name of the session.
        path: The session's directory.
        target: Its tmux session.
        tmux_name: The name of its tmux session.
        phase: The phase in which it works.
        warnings: What the user should know, one sentence each.
        branch: Its branch; None if HEAD is detached, or outside of git.
        worktree: The top of its own worktree; None if it works in the checkout.
        sets_up: Whether the worktree is prepared first, before the work of ``phase``.
        notes: What the user should know about the workplace, one sentence each.
        told: The warnings that the user was shown before the start.
        cost: What its pipeline costs at least, in words; empty for a session that was resumed.
    """

    name: str
    path: Path
    target: Target
    tmux_name: str
    phase: str
    warnings: tuple[str, ...]
    branch: str | None = None
    worktree: str | None = None
    sets_up: bool = False
    notes: tuple[str, ...] = ()
    told: tuple[str, ...] = ()
    cost: str = ""

    @property
    def news(self) -> tuple[str, ...]:
        """The warnings that the user was not shown before the start."""
        return tuple(each for each in self.warnings if each not in self.told)


def hand_over(
    world: World,
    starter: OrchestratorStart,
    path: Path,
    state: SessionState,
    request: OrchestratorRequest,
    *,
    pipe: StartReportPipe | None = None,
) -> StartedSession:
    """Create the tmux session, run the orchestrator in it, and wait until it is ready.

    If anything fails after the tmux session was created, the tmux session is killed again.

    Args:
        world: The outside world.
        starter: How an orchestrator is started.
        path: The session's directory.
        state: The session's state; it has the name of the tmux session, and the uuid that marks it.
        request: What the orchestrator is asked to do; its ``ready`` is ignored, because the path of
            the pipe is passed instead.
        pipe: The pipe for the orchestrator's report, if it exists already; None creates one. This
            function always closes it.

    Raises:
        BlockedError: The tmux name is taken.
        OrchestratorFailedError: The orchestrator could not start.
    """
    terminal = world.terminal(None)
    pipe = pipe or starter.pipe(path)
    try:
        created = terminal.create_session(
            name=state.session_name,
            uuid=state.session_id,
            path=str(path.resolve()),
            cwd=world.project,
            size=world.settings.tmux.size,
            argv=starter.argv(path, replace(request, ready=str(pipe.path))),
        )
        own = terminal.own(created.target)
        with ExitStack() as cleanup:
            cleanup.callback(own.kill)
            wait_s = WORKTREE_WAIT_S if state.worktree else READY_WAIT_S
            report = _ready(own, pipe, wait_s)
            cleanup.pop_all()
    finally:
        pipe.close()
    return StartedSession(
        name=path.name,
        path=path,
        target=created.target,
        tmux_name=created.session.name,
        phase=report.phase,
        sets_up=report.sets_up,
        warnings=(*created.warnings, *report.warnings),
        branch=state.branch,
        worktree=state.worktree,
    )


def reattach(
    world: World, starter: OrchestratorStart, path: Path, state: SessionState, own: OwnSession
) -> StartedSession:
    """Start a new orchestrator in the tmux session ``own``, for the agents that still run there.

    Waits until it is ready, and then returns the session.

    Args:
        world: The outside world.
        starter: How an orchestrator is started.
        path: The session's directory.
        state: The session's state.
        own: The session's tmux session.

    Raises:
        BlockedError: Another orchestrator runs the session, or another command is starting one.
        OrchestratorFailedError: The orchestrator could not start.
    """
    pipe = starter.pipe(path)
    request = OrchestratorRequest(mode="reattach", ready=str(pipe.path))
    lock = world.locks.session(path)
    try:
        # The process in the monitor's pane is ended; as we hold the lock, it is no orchestrator.
        lock.acquire(LOCK_WAIT_S, {"command": "resume --reattach"})
        try:
            own.reopen_monitor(cwd=world.project, argv=starter.argv(path, request))
        finally:
            lock.release()
        report = _ready(own, pipe, WORKTREE_WAIT_S if state.worktree else READY_WAIT_S)
    finally:
        pipe.close()
    return StartedSession(
        name=path.name,
        path=path,
        target=own.target,
        tmux_name=state.session_name,
        phase=report.phase,
        sets_up=report.sets_up,
        warnings=report.warnings,
        branch=state.branch,
        worktree=state.worktree,
    )


def _ready(own: OwnSession, pipe: StartReportPipe, wait_s: float) -> OrchestratorReport:
    """Wait for the report; raise the error of an orchestrator that could not start."""
    report = _report(own, pipe, wait_s)
    if not report.ok:
        raise OrchestratorFailedError(
            report.message, exit_code=report.exit_code, hints=report.hints
        )
    return report


def _report(own: OwnSession, pipe: StartReportPipe, wait_s: float) -> OrchestratorReport:
    panes = [pane for pane in _panes(own) if pane.is_monitor]
    data = pipe.wait(wait_s, panes[0].pid) if panes else None
    if data is not None:
        return decode_report(data)
    screens: Mapping[str, Screen] = {}
    with suppress(ScreensUnreadableError):
        screens = own.capture([pane.id for pane in panes], colours=False)
    words = [line.rstrip() for each in screens.values() for line in each.text.splitlines()]
    last_lines = "\n".join([line for line in words if line][-_LAST_WORDS:])
    return OrchestratorReport(
        ok=False,
        exit_code=ExitCode.FAILED,
        message=f"the orchestrator ended before it was ready\n{last_lines}".rstrip(),
    )


def _panes(own: OwnSession) -> tuple[Pane, ...]:
    try:
        return own.panes()
    except TerminalGoneError:
        return ()
