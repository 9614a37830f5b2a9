"""Stops a session: asks its orchestrator to stop; if that fails, ends everything itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from agentmux.app.session.snapshot import save_snapshot, snapshot
from agentmux.app.session.workplace.own_worktree import has_lost_worktree, with_workplace
from agentmux.app.session.workplace.unfinished_rewind import save_tree
from agentmux.app.session.writer import Session
from agentmux.app.world import World
from agentmux.core.codec.frozen import dataclass
from agentmux.core.decisions.tree_checkpoints import STOP, UNSAVED
from agentmux.core.journal.events import SessionInterrupted
from agentmux.core.names.end_causes import STOPPED_BY_USER
from agentmux.core.names.phase import Phase
from agentmux.errors import AgentmuxError, NotFoundError, data_error_from
from agentmux.ports.processes import LOCK_WAIT_S
from agentmux.ports.tmux.terminal import (
    OwnSession,
    Screen,
    ScreensUnreadableError,
    TerminalUnreachableError,
)

if TYPE_CHECKING:
    from agentmux.ports.session.session_files import SessionFiles

ANSWER_WAIT_S: Final = 10.0
_END_S: Final = 5.0
_SAVE_S: Final = 30.0
"""How long the last checkpoint may take, in seconds, while the user waits for the command."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stopped:
    """How a session was stopped.

    Attributes:
        by: Who stopped it: ``orchestrator``, or ``stop`` for the command itself.
        stays: What could not be ended, in words; empty if everything ended.
        unsaved: The sentence that the last work-tree checkpoint could not be taken, and why; empty
            if it was taken, or none was due.
    """

    by: str
    stays: str = ""
    unsaved: str = ""


def stop(
    world: World,
    path: Path,
    tmux: Callable[[], OwnSession],
    *,
    ask: Callable[[Path], bool],
    wait_gone: Callable[[int, int, float], bool],
) -> Stopped:
    """Stop the session at ``path``: keep its last screens, end its agents, kill its tmux session.

    Args:
        world: The outside world.
        path: The session's directory.
        tmux: Returns access to the live tmux session; raises `NotFoundError` if the session has
            none.
        ask: Takes the session's directory. Asks the orchestrator to stop; returns whether one was
            running.
        wait_gone: Takes a pid, a start time (0 if unknown) and a number of seconds. Waits at most
            that long for the end of the process; returns whether it ended.

    Raises:
        NotFoundError: The session does not run.
        AgentmuxError: Its tmux server does not answer, so nobody can tell.
    """
    pid, started = _orchestrator(world, path)
    # A child of a killed orchestrator may still hold the pipe through which `ask` asks.
    alive = pid < 1 or not wait_gone(pid, started, 0)
    asked = alive and ask(path)
    ended = asked and pid > 0 and wait_gone(pid, started, ANSWER_WAIT_S)
    noted = world.folders.runtime(path) if ended else {}
    if stays := _what_stays(noted):
        return Stopped(by="orchestrator", stays=stays)
    problem = str(noted.get("problem") or "")
    unsaved = problem if problem.startswith(UNSAVED) else ""
    try:
        own = tmux()  # exists also if an orchestrator failed at its end
    except AgentmuxError as error:
        if ended:  # usually with its tmux server, which may be ending right now
            return Stopped(by="orchestrator", unsaved=unsaved)
        # An orchestrator that released the lock only waits for something like a commit hook.
        if isinstance(error, NotFoundError) and asked and not world.locks.session(path).is_held():
            return Stopped(by="orchestrator")
        if asked and isinstance(error, TerminalUnreachableError):
            raise TerminalUnreachableError(
                f"{error.message}; the session is being stopped, which waits for tmux",
                hints=error.hints,
            ) from error
        raise
    # Recording fails in a session that is unreadable, or locked by a hung process.
    with suppress(AgentmuxError):
        unsaved = _end_agents(world, world.files(path), own, wait_gone)
    own.kill()
    return Stopped(by="stop", unsaved=unsaved)


def _end_agents(
    world: World,
    files: SessionFiles,
    own: OwnSession,
    wait_gone: Callable[[int, int, float], bool],
) -> str:
    """Do what an orchestrator does when it stops; return the sentence for `Stopped.unsaved`.

    Save screens, end agents, record the cause, save the work tree.
    """
    session = Session(files, now=world.now, new_id=world.new_id)
    panes = [pane for pane in own.panes() if pane.launch]
    screens: Mapping[str, Screen] = {}
    with suppress(ScreensUnreadableError):  # the agents are ended all the same
        screens = own.capture([pane.id for pane in panes])
    for pane in panes:
        text = snapshot(session, pane, screens[pane.id]) if pane.id in screens else None
        if text is not None:
            save_snapshot(files, pane.seat, text)
    own.close_panes([pane.id for pane in panes])
    for pane in panes:  # their wrappers write the exit records
        wait_gone(pane.pid, 0, _END_S)
    lock = world.locks.session(files.path)
    try:
        lock.acquire(LOCK_WAIT_S, {"command": "stop"})
        session.catch_up()
        session.record(SessionInterrupted(cause=STOPPED_BY_USER))
        try:
            _save_tree(world, session)
        except (AgentmuxError, OSError) as error:  # the session is stopped all the same
            reason = data_error_from(error) if isinstance(error, OSError) else error
            return f"{UNSAVED}: {reason}"
    finally:
        lock.release()
    return ""


def _save_tree(world: World, session: Session) -> None:
    """Take the last work-tree checkpoint, as an orchestrator does when it stops."""
    state, home = session.state, session.files.path
    is_on = world.settings.git.checkpoints and state.phase != Phase.DONE
    if not is_on or has_lost_worktree(state):
        return
    inside = with_workplace(world, state)
    if inside.repository.top_level() is None:
        return
    store = inside.git.checkpoints(inside.tree, home.resolve(), state.session_id)
    save_tree(session, store, STOP, limit_s=_SAVE_S)


def _orchestrator(world: World, path: Path) -> tuple[int, int]:
    """Return pid and start time of the orchestrator; 0 and 0 if unknown.

    The note of the lock's holder comes first: an orchestrator that has just begun has the lock, but
    the runtime note is still its predecessor's.
    """
    processes = (
        (_number(note, "orchestrator_pid"), _number(note, "orchestrator_started"))
        for note in (world.locks.session(path).holder(), world.folders.runtime(path))
    )
    return next((each for each in processes if each[0] > 0), (0, 0))


def _what_stays(runtime: object) -> str:
    """Return the orchestrator's note about a tmux server that it could not reach; empty if none.

    ``runtime`` has the fields of the runtime note.
    """
    if not isinstance(runtime, dict) or runtime.get("server_pid") != 0:
        return ""
    return str(runtime.get("problem") or "")


def _number(fields: object, name: str) -> int:
    value = fields.get(name) if isinstance(fields, dict) else None
    return value if isinstance(value, int) else 0
