"""Waits until a session reaches a phase: reads it when its files change, and each half second."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from agentmux.app.session.search.lookup import SessionEntry, entry_at
from agentmux.app.views.status import wants_decision
from agentmux.core.codec.records import Json
from agentmux.core.definitions.definition import Kind
from agentmux.core.names.phase import Phase
from agentmux.core.names.words.nearest import suggest_name
from agentmux.core.pipeline.registry import PIPELINE
from agentmux.errors import AgentmuxError, DataError, NotFoundError, TimedOutError, UsageError

if TYPE_CHECKING:
    from agentmux.app.world import Site

DECISION: Final = "decision"
_LONG_S: Final = 3600.0


class Goal:
    """What to wait for: a phase (or a later one), ``done``, ``failed``, or ``decision``.

    ``decision`` is the moment when the user has to approve or to request changes. A fix phase, such
    as ``fixing``, is reached only while the session is in it: a later phase does not count, because
    most sessions never need a fix.

    Args:
        name: What to wait for.
        fields: The fields of the session's ``state.json``; they include its pipeline.

    Raises:
        UsageError: The name is none of these.
    """

    def __init__(self, name: str, fields: Json) -> None:
        kinds = _kinds(fields)
        self._order = (*kinds, str(Phase.DONE))
        self._exact = {str(Phase.FAILED), *(each for each in kinds if kinds[each] == Kind.FIX)}
        known = (*self._order, str(Phase.FAILED), DECISION)
        if name not in known:
            hints = (*suggest_name(name, known), f"choose one of: {', '.join(known)}")
            raise UsageError(f"cannot wait for `{name}`", hints=hints)
        self.name = name

    def is_met(self, entry: SessionEntry) -> bool:
        """Return whether the session has reached the goal."""
        phase = entry.phase or ""
        if self.name == DECISION:
            return wants_decision(entry.fields)
        if self.name in self._exact or phase == Phase.FAILED:
            return phase == self.name
        order = self._order
        return phase in order and order.index(phase) >= order.index(self.name)

    def require_possible(self, entry: SessionEntry) -> None:
        """Check that the session, which has not reached the goal, can still reach it.

        Raises:
            AgentmuxError: The session has ended, or was moved.
        """
        if entry.is_moved:
            raise AgentmuxError(
                f"session {entry.name} was moved, and does not go on here",
                hints=(f"agentmux status {entry.name}",),
            )
        if entry.phase not in {Phase.DONE, Phase.FAILED}:
            return
        interruption = entry.fields.get("interruption")
        cause = interruption.get("cause", "") if isinstance(interruption, dict) else ""
        why = f": {cause}" if cause else ""
        raise AgentmuxError(
            f"session {entry.name} is {entry.phase}{why}",
            hints=(f"agentmux status {entry.name}", f"agentmux logs {entry.name}"),
        )


def _kinds(fields: Json) -> dict[str, str]:
    """Return the kind of each phase of a session, in the order of its pipeline."""
    pipeline = fields.get("pipeline")
    phases = pipeline.get("phases") if isinstance(pipeline, dict) else None
    if not isinstance(phases, list):
        return {name: each.kind for name, each in PIPELINE.items()}
    entries = (each for each in phases if isinstance(each, dict))
    return {str(each.get("phase")): str(each.get("kind")) for each in entries}


def wait_for(
    site: Site,
    entry: SessionEntry,
    goal: Goal,
    *,
    timeout_s: float | None,
    monotonic: Callable[[], float],
) -> SessionEntry:
    """Wait until the session has reached ``goal``; return the session as it is then.

    Args:
        site: The project.
        entry: The session.
        goal: What to wait for.
        timeout_s: How long to wait, in seconds; None waits for ever, 0 looks once.
        monotonic: Returns the seconds of a clock that never goes back.

    Raises:
        TimedOutError: The session did not reach the goal in time.
        AgentmuxError: The session ended without reaching it.
        NotFoundError: The session was removed.
        DataError: The session cannot be read.
    """
    deadline = None if timeout_s is None else monotonic() + timeout_s
    session = _look(site, entry, goal)
    if session is not None:
        return session
    left = _LONG_S if timeout_s is None else timeout_s
    for _ in site.follow(entry.path, left) if left > 0 else ():
        session = _look(site, entry, goal)
        if session is not None:
            return session
        if deadline is not None and monotonic() >= deadline:
            break
    raise TimedOutError(
        f"session {entry.name} did not reach {goal.name} within {timeout_s:g} s",
        hints=(f"agentmux status {entry.name}",),
    )


def _look(site: Site, entry: SessionEntry, goal: Goal) -> SessionEntry | None:
    if entry.name not in site.folders.names(entry.path.parent):
        raise NotFoundError(f"session {entry.name} was removed", hints=("agentmux list",))
    now = entry_at(site, entry.path)
    if now.problem is not None:
        raise DataError(now.problem.message, hints=now.problem.hints)
    if goal.is_met(now):
        return now
    goal.require_possible(now)
    return None
