"""Plans the checks of a new session on its base, and tells what will be verified; only reads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from agentmux.app.commands.begin.start_workplace import worktree_root
from agentmux.core.codec.frozen import replace
from agentmux.core.definitions.definition import Expect, Kind
from agentmux.core.journal.results import BaseChecks
from agentmux.core.pipeline.checks.setup import recorded_steps
from agentmux.errors import AgentmuxError

if TYPE_CHECKING:
    from agentmux.app.world import World
    from agentmux.core.journal.state import SessionState

_NO_CHECK: Final = "nothing will be verified: the pipeline has no check"
_NOTHING: Final = "nothing will be verified; to find the tests and try them: agentmux init --checks"


def verify_notes(world: World, state: SessionState) -> tuple[str, ...]:
    """Return one note: which commands will check the result of a new session, or that none will.

    Empty if the result is a report and no command checks it.
    """
    names = ", ".join(str(each.get("name")) for each in state.verify)
    if names:
        return (f"the result will be verified by: {names}",)
    if state.is_report:
        return ()
    return (_NO_CHECK if world.settings.verify else _NOTHING,)


def with_base(world: World, state: SessionState, name: str) -> SessionState:
    """Return a copy of ``state`` with a plan to check the session's base, too; only reads.

    The base is the commit from which the session begins. The plan (``base_checks``) is None if
    there is no commit to run them on, no required command, or no check that expects its commands to
    pass. If no worktree can be made for them, the plan says why, and counts as finished.

    Args:
        world: The project, with the settings that are trusted.
        state: The first state of the session.
        name: The name of the session's directory.
    """
    return replace(state, base_checks=_base(world, state, name))


def _base(world: World, state: SessionState, name: str) -> BaseChecks | None:
    commit = state.base.commit if state.base is not None else state.options.base
    if commit is None or not _has_required(state):
        return None
    steps = recorded_steps(world.settings.git.setup)
    try:
        room = world.git.worktrees.root_facts(worktree_root(world))
        hindered = room.inside is not None or not room.is_writable
    except AgentmuxError as error:
        return BaseChecks(path="", commit=commit, finished=True, because=error.message)
    if hindered:
        because = f"no worktree can be made in {room.root}"
        return BaseChecks(path="", commit=commit, finished=True, because=because)
    return BaseChecks(path=str(room.root / f"{name}-base"), commit=commit, steps=steps)


def _has_required(state: SessionState) -> bool:
    phases = state.pipeline.phases
    checks = any(each.kind is Kind.CHECK and each.expect is Expect.PASS for each in phases)
    return checks and any(each.get("required") is True for each in state.verify)
