"""Agents that outlived their tmux server: finds and ends them, so that no seat has two agents."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Final

from agentmux.adapters.system import processes
from agentmux.errors import BlockedError

if TYPE_CHECKING:
    from agentmux.adapters.system.processes import Survivor

_DYING_S: Final = 4.0
"""Seconds to wait for agents to end by themselves after their server is gone: the wrapper's grace
period and a bit more."""


def outlived(sessions: Iterable[tuple[str, Path]]) -> tuple[Survivor, ...]:
    """Return the agents of these sessions that still run; the sessions must not be live.

    It changes nothing. If it finds agents, it waits up to `_DYING_S` for them to end.

    Args:
        sessions: Id and directory of each session. A copy has the same id, but its own agents.
    """
    places = tuple(sessions)
    alive = processes.survivors(*(uuid for uuid, _ in places))
    found = [each for each in alive if _is_of(each, places)]
    left = processes.wait_gone([(each.pid, each.started) for each in found], timeout_s=_DYING_S)
    return tuple(each for each in found if each.pid in left)


def _is_of(survivor: Survivor, places: Iterable[tuple[str, Path]]) -> bool:
    """Whether it belongs to one of these sessions, or its directory is gone (session was moved)."""
    if not Path(survivor.folder or "/nowhere").is_dir():
        return True
    return any(survivor.session == uuid and _same(survivor.folder, path) for uuid, path in places)


def _same(folder: str, path: Path) -> bool:
    """Whether both paths name the same directory."""
    try:
        return path.samefile(folder)
    except OSError:
        return False


def listed(alive: Iterable[Survivor]) -> str:
    """Return the seats and processes of agents, as a text for people."""
    return ", ".join(f"{each.seat or '?'} (process {each.pid}, {each.argv0})" for each in alive)


def agents_alive(session: str, alive: Iterable[Survivor]) -> BlockedError:
    """Return the error for a resume without consent to end the agents that are still alive."""
    return BlockedError(
        f"agents of session {session} outlived their tmux server: {listed(alive)}",
        reason="agents_alive",
        hints=(f"to end them and resume: agentmux resume {session} --yes",),
    )


def end(alive: Iterable[Survivor]) -> None:
    """End these agents; kill those that do not end in time."""
    processes.end([(each.pid, each.started) for each in alive], grace_s=_DYING_S)
