"""The worktree in which the required commands of the checks run on a session's base."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from agentmux.app.session.workplace import inner
from agentmux.core.definitions.definition import Expect, Kind
from agentmux.core.journal.results import BaseChecks
from agentmux.core.pipeline.setup import recorded_steps
from agentmux.errors import AgentmuxError
from agentmux.ports.worktrees import WorktreeSpec

if TYPE_CHECKING:
    from collections.abc import Mapping

    from agentmux.app.world import World
    from agentmux.core.journal.state import SessionState

_PORTS: Final = 25
"""The ports of the base are the upper half of those of the session."""


def planned_base(world: World, state: SessionState, name: str) -> BaseChecks | None:
    """Return the run on the base of a session that is about to begin; None where there is none.

    There is none without a commit to run it on, without a required command, or without a check that
    expects its commands to pass. Only reads.

    Args:
        world: The project, with the settings that are allowed.
        state: The first state of the session.
        name: The name of the session's directory.
    """
    commit = state.base.commit if state.base is not None else state.options.base
    if commit is None or not _has_required(state):
        return None
    steps = recorded_steps(world.settings.git.setup)
    try:
        room = world.worktrees.room(world.settings.git.root)
        hindered = room.inside is not None or not room.is_writable
    except AgentmuxError as error:
        return BaseChecks(path="", commit=commit, finished=True, because=error.message)
    if hindered:
        because = f"no worktree can be made in {room.root}"
        return BaseChecks(path="", commit=commit, finished=True, because=because)
    return BaseChecks(path=str(room.root / f"{name}-base"), commit=commit, steps=steps)


def _has_required(state: SessionState) -> bool:
    phases = state.pipeline.phases if state.pipeline is not None else ()
    checks = any(each.kind is Kind.CHECK and each.expect is Expect.PASS for each in phases)
    return checks and any(each.get("required") is True for each in state.verify)


def base_spec(world: World, state: SessionState, home: Path) -> WorktreeSpec | None:
    """Return the worktree for the base of the session at ``home``; None where it has none."""
    base = state.base_checks
    if base is None or base.finished or not base.path:
        return None
    return WorktreeSpec(
        path=Path(base.path),
        branch="",
        commit=base.commit,
        session=f"{state.session_id}-base",
        home=home.resolve(),
        inner=inner(world),
    )


def base_place(state: SessionState) -> Mapping[str, str]:
    """Return the variables that tell a program where it works on the base."""
    base = state.base_checks
    if base is None:
        return {}
    port = {"AGENTMUX_PORT_BASE": str(state.port_base + _PORTS)} if state.port_base else {}
    return {"AGENTMUX_WORKTREE": base.path, **port}
