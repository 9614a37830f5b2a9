"""The actions of a check phase, as data, and when they are due; pure."""

from __future__ import annotations

from agentmux.core.codec.frozen import dataclass
from agentmux.core.definitions.definition import Kind
from agentmux.core.journal.state import SessionState
from agentmux.core.pipeline.check_phase import (
    check_seat,
    result_of,
    trees_of,
    verdict_of,
    waiting_for_user,
)
from agentmux.core.pipeline.checks.base_run import is_base_checked, is_base_open
from agentmux.core.pipeline.registry import kind_of
from agentmux.core.pipeline.work import is_setting_up


@dataclass(frozen=True, slots=True, kw_only=True)
class BeginChecks:
    """The action to begin a check: record the id of the files that its commands examine.

    Results of commands that ran on other files do not count. ``phase`` is the name of the check.
    """

    phase: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EndedCommand:
    """What an action records of a check command that has ended.

    Attributes:
        seat: The seat of the command.
        launch: The id of the command's launch.
        name: The name of the command.
        outcome: ``passed``, ``failed`` or ``broken`` (it could not run, or was ended).
        status: The exit status; None if there is none.
        signal: The number of the Unix signal that ended the command, or None.
        timed_out: Whether the command was ended because it took too long.
    """

    seat: str
    launch: str
    name: str
    outcome: str
    status: int | None = None
    signal: int | None = None
    timed_out: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordCheck(EndedCommand):
    """The action to record the result of a command of a check."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MakeBase:
    """The action to create a worktree for checks at the session's base, the commit it began on.

    The required commands of the checks run there, to find out which of them failed before the
    session changed anything.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class EndBase:
    """The action to remove the worktree at the session's base, and record the end of its commands.

    The base is the commit that the session began on; `MakeBase` is the action that makes the
    worktree. ``because`` says why the commands could not run there; empty if they did.
    """

    because: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordBase(EndedCommand):
    """The action to record the result of a check command that ran on the session's base.

    The base is the commit that the session began on; the command ran in the worktree of `MakeBase`.
    """


def for_the_base(state: SessionState) -> tuple[MakeBase | EndBase, ...]:
    """Return the action that is due for the worktree of `MakeBase`; empty if none is.

    In that worktree, the required commands run on the commit that the session began on. They are
    launched separately, like other work. The result has at most one element.
    """
    base = state.base_checks
    if base is None or base.finished or is_setting_up(state):
        return ()
    if base.because or (base.made and is_base_checked(state)):
        return (EndBase(because=base.because),)
    return () if base.made else (MakeBase(),)


def beginning(state: SessionState, tree: str | None) -> BeginChecks | None:
    """Return the action that begins the session's current check.

    None if the check has begun on the current files, if the session is not in a check, or while the
    session's setup or the commands in the worktree of `MakeBase` are running.

    Args:
        state: The state of the session.
        tree: The id of the current files (a git tree); None if this process has not determined it
            yet. Then the action is returned, because performing it determines the id.
    """
    if kind_of(state) is not Kind.CHECK or is_setting_up(state) or is_base_open(state):
        return None
    if tree is not None and not is_stale(state, tree):
        return None
    return BeginChecks(phase=state.phase)


def is_stale(state: SessionState, tree: str) -> bool:
    """Whether the session's current check has to begin, or begin again, on the current files.

    It has to if it has not begun, if it began on other files, if its commands ended while the
    session had failed, or if the session was resumed after a command could not run: then that
    command is tried again. The session's phase must be a check. ``tree`` is the id of the current
    files (a git tree).
    """
    result = result_of(state, state.phase)
    if result is None or not result.tree or tree not in trees_of(result):
        return True
    if verdict_of(state, state.phase):
        return True
    return any(check_seat(n) not in state.seats for n in waiting_for_user(state, state.phase))
