"""What is done in a check: its commands begin, and end. As data; pure."""

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
    """Find out which files the commands of a check run on; what ran on others does not count."""

    phase: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordCheck:
    """Record what the command of a check has shown.

    Attributes:
        outcome: As in `results.CheckResult`; the other attributes are those of its exit record.
    """

    seat: str
    launch: str
    name: str
    outcome: str
    status: int | None = None
    signal: int | None = None
    timed_out: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class MakeBase:
    """Make the worktree in which the required commands run on the base."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EndBase:
    """Remove that worktree, and record why the commands could not run there; empty if they did."""

    because: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordBase:
    """Record what a command has shown on the base; the attributes are as in `RecordCheck`."""

    seat: str
    launch: str
    name: str
    outcome: str
    status: int | None = None
    signal: int | None = None
    timed_out: bool = False


def for_the_base(state: SessionState) -> tuple[MakeBase | EndBase, ...]:
    """Return what is to be done about the base, beside its commands."""
    base = state.base_checks
    if base is None or base.finished or is_setting_up(state):
        return ()
    if base.because or (base.made and is_base_checked(state)):
        return (EndBase(because=base.because),)
    return () if base.made else (MakeBase(),)


def beginning(state: SessionState, tree: str | None) -> BeginChecks | None:
    """Return the action that begins the check in which the session is; None if it has begun.

    Args:
        state: The session's.
        tree: The id of the files; None if this process has not looked yet.
    """
    if kind_of(state) is not Kind.CHECK or is_setting_up(state) or is_base_open(state):
        return None
    if tree is not None and not is_stale(state, tree):
        return None
    return BeginChecks(phase=state.phase)


def is_stale(state: SessionState, tree: str) -> bool:
    """Whether the check has to begin anew on the files ``tree``.

    It has to if it has not begun, if it was begun on other files, if its commands ended while the
    session had failed, or if the session was resumed since a command could not run: then that
    command is tried again.
    """
    result = result_of(state, state.phase)
    if result is None or not result.tree or tree not in trees_of(result):
        return True
    if verdict_of(state, state.phase):
        return True
    return any(check_seat(n) not in state.seats for n in waiting_for_user(state, state.phase))
