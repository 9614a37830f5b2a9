"""The label and colour of each status, for people; programs read the status itself."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Final

from agentmux.core.names import statuses

NATIVE_MARK: Final = "↻"
"""The sign for a conversation that comes back, and for an agent that can resume conversations."""


class SessionStatus(StrEnum):
    """The status of a session, which people see beside its phase.

    ``starting``: the command ``start`` or ``resume`` is at work, and there is no orchestrator yet.
    ``interrupted``: the orchestrator, the tmux session or the machine ended, but the user did not
    ask for it. ``unknown``: the session's tmux server does not answer.
    """

    STARTING = statuses.STARTING
    RUNNING = statuses.RUNNING
    WAITING = statuses.WAITING
    STALLED = statuses.STALLED
    LIMIT = statuses.LIMIT
    STOPPED = statuses.STOPPED
    INTERRUPTED = statuses.INTERRUPTED
    FAILED = statuses.FAILED
    DONE = statuses.DONE
    UNKNOWN = statuses.UNKNOWN
    UNREADABLE = statuses.UNREADABLE


_LABELS: Final[Mapping[str, str]] = {
    statuses.WAITING: "waiting for you",
    statuses.ENDED_BY_USER: "ended by you",
    statuses.BROKEN: "could not run",
}
_COLOURS: Final[Mapping[str, str]] = {
    statuses.RUNNING: "green",
    statuses.WAITING: "yellow",
    statuses.STALLED: "yellow",
    statuses.LIMIT: "yellow",
    statuses.FAILED: "red",
    statuses.UNREADABLE: "red",
    statuses.UNKNOWN: "red",
    statuses.INTERRUPTED: "magenta",
}


def left_out_label(path: str) -> str:
    """Return the warning that the commit leaves out ``path``, a git repository of its own."""
    return f"`{path}` is a git repository of its own: the commit leaves it out"


def mend_setup(session: str, *, stop: bool = True) -> str:
    """Return what to do, in words, if a step of the setup fails as it is configured.

    Args:
        session: A name of the session for the commands.
        stop: Whether the session is live, and has to be stopped first.
    """
    first = f"agentmux stop {session}, then " if stop else ""
    return f"mend git.setup in the configuration: {first}agentmux resume {session} --repin"


_MONTHS: Final = (
    *("Jan", "Feb", "Mar", "Apr", "May", "Jun"),
    *("Jul", "Aug", "Sep", "Oct", "Nov", "Dec"),
)


def parked_label(until: datetime, now: datetime) -> str:
    """Return the words for an agent that is left alone until its usage limit ends.

    ``until`` is shown in the zone of ``now``, with its day if that is not today.
    """
    there = until.astimezone(now.tzinfo)
    day = "" if there.date() == now.date() else f"{_MONTHS[there.month - 1]} {there.day}, "
    return f"parked until {day}{there:%H:%M}"


def status_label(status: str) -> str:
    """Return the words that people see for a status of a session or a seat."""
    return _LABELS.get(status, status.replace("_", " "))


def status_colour(status: str) -> str:
    """Return the colour of a session's status; empty if the status has none.

    The colours are ``green``, ``yellow``, ``red`` and ``magenta``.
    """
    return _COLOURS.get(status, "")
