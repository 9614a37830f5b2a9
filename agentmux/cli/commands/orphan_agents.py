"""Agents that outlived their tmux server: two must never work on one seat."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Final

from agentmux.adapters.system import processes
from agentmux.errors import BlockedError

if TYPE_CHECKING:
    from agentmux.adapters.system.processes import Survivor

_DYING_S: Final = 4.0
"""How long agents whose server is gone may take to end by themselves: the wrapper's grace, and
some."""


def outlived(sessions: Iterable[tuple[str, Path]]) -> tuple[Survivor, ...]:
    """Return the agents of sessions that are not live, once those that are ending have ended.

    Reads only; waits some seconds where there are any.

    Args:
        sessions: The id of each, and its directory: a copy has the same id, and other agents.
    """
    places = tuple(sessions)
    alive = processes.survivors(*(uuid for uuid, _ in places))
    found = [each for each in alive if _is_of(each, places)]
    left = processes.wait_gone([(each.pid, each.started) for each in found], timeout_s=_DYING_S)
    return tuple(each for each in found if each.pid in left)


def _is_of(survivor: Survivor, places: Iterable[tuple[str, Path]]) -> bool:
    """Whether it works in one of these, or in a directory that is gone: its session was moved."""
    if not Path(survivor.folder or "/nowhere").is_dir():
        return True
    return any(survivor.session == uuid and _same(survivor.folder, path) for uuid, path in places)


def _same(folder: str, path: Path) -> bool:
    """Whether both are one directory, by whatever name."""
    try:
        return path.samefile(folder)
    except OSError:
        return False


def listed(alive: Iterable[Survivor]) -> str:
    """Return who they are, for people."""
    return ", ".join(f"{each.seat or '?'} (process {each.pid}, {each.argv0})" for each in alive)


def agents_alive(session: str, alive: Iterable[Survivor]) -> BlockedError:
    """Return why ``session`` is not resumed where nobody says that they may be ended."""
    return BlockedError(
        f"agents of session {session} outlived their tmux server: {listed(alive)}",
        reason="agents_alive",
        hints=(f"end them and go on: agentmux resume {session} --yes",),
    )


def end(alive: Iterable[Survivor]) -> None:
    """End them, the obstinate ones by force."""
    processes.end([(each.pid, each.started) for each in alive], grace_s=_DYING_S)
