"""Stop a session: the orchestrator is asked; without an answer it is done from here."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

from agentmux.app.world import World
from agentmux.core.frozen import dataclass
from agentmux.errors import AgentmuxError

ANSWER_WAIT_S: Final = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Stopped:
    """How a session was stopped: by its orchestrator, or from here."""

    by: str


def stop(
    world: World,
    path: Path,
    tmux: Callable[[], tuple[str | None, str]],
    *,
    ask: Callable[[Path], bool],
    wait_gone: Callable[[int, int, float], bool],
) -> Stopped:
    """Stop the session at ``path``; its agents end, its tmux session is killed last.

    Args:
        world: The outside world.
        path: The session's directory.
        tmux: Returns the id of the live tmux session (None when there is none) and its socket.
        ask: Asks the orchestrator to stop; says whether one was there.
        wait_gone: Waits for a process (pid, start time) to end, for so many seconds.

    Raises:
        AgentmuxError: It is not running.
    """
    runtime = world.folders.runtime(path)
    pid, started = _number(runtime, "orchestrator_pid"), _number(runtime, "orchestrator_started")
    if ask(path) and pid and wait_gone(pid, started, ANSWER_WAIT_S):
        return Stopped(by="orchestrator")
    session, socket = tmux()
    if session is None:
        raise AgentmuxError(
            f"session {path.name} is not running", hints=(f"agentmux resume {path.name}",)
        )
    world.terminal(socket or None).kill_session(session)
    return Stopped(by="stop")


def _number(fields: object, name: str) -> int:
    value = fields.get(name) if isinstance(fields, dict) else None
    return value if isinstance(value, int) else 0
