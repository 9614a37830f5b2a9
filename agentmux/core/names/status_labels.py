"""The label and colour of each status, for people; programs read the status itself."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from typing import Final, NamedTuple

from agentmux.core.names import statuses
from agentmux.core.names.occasion import Occasion
from agentmux.core.names.words.counts import format_count, some

NATIVE_MARK: Final = "↻"
"""The sign for a conversation that comes back, and for an agent that can resume conversations."""


class SessionStatus(StrEnum):
    """The status of a session, which people see beside its phase.

    ``starting``: the command ``start`` or ``resume`` is at work, and there is no orchestrator yet.
    ``waiting_for_user``: an agent, or a pane, asks the user something. ``decision``: the user has
    to approve, or to request changes. ``usage_limit``: an agent is at its limit, and nobody knows
    when that ends; ``parked``: it is known. ``interrupted``: the orchestrator, the tmux session or
    the machine ended, but the user did not ask for it. ``moved``: it was exported, and goes on
    where its file is imported. ``unknown``: the session's tmux server does not answer.
    """

    STARTING = statuses.STARTING
    SETTING_UP = statuses.SETTING_UP
    RUNNING = statuses.RUNNING
    WAITING = statuses.WAITING
    DECISION = statuses.DECISION
    STALLED = statuses.STALLED
    LIMIT = statuses.LIMIT
    PARKED = statuses.PARKED
    STOPPED = statuses.STOPPED
    INTERRUPTED = statuses.INTERRUPTED
    FAILED = statuses.FAILED
    DONE = statuses.DONE
    MOVED = statuses.MOVED
    UNKNOWN = statuses.UNKNOWN
    UNREADABLE = statuses.UNREADABLE


class StatusGroup(StrEnum):
    """The heading below which faces list a session, in the order of urgency."""

    NEEDS_YOU = "needs you"
    RUNNING = "running"
    INTERRUPTED = "interrupted"
    PARKED = "parked"
    DONE = "done"


class Safety(StrEnum):
    """What a person should know before a resume; the value is shown.

    ``choice``: some seat would begin a new conversation although it had one. ``unsafe``: the
    session cannot be resumed now, for a reason that is said with it.
    """

    SAFE = "safe to resume"
    CHOICE = "needs a choice"
    UNSAFE = "unsafe"


class Colour(StrEnum):
    """The meaning of a status as a colour: done, yours, broken, at rest. Never shown alone."""

    NONE = ""
    GREEN = "green"
    YELLOW = "yellow"
    RED = "red"
    DIM = "dim"


class StatusRow(NamedTuple):
    """What faces show of a status of a session, and what it notifies as.

    Attributes:
        label: The words for people.
        occasion: What the user is notified of; None where nobody is notified.
        mark: One word instead of the label, for a narrow list of live sessions that need their
            user; empty for all others.
    """

    label: str
    group: StatusGroup
    colour: Colour = Colour.NONE
    occasion: Occasion | None = None
    mark: str = ""


STATUS_TABLE: Final[Mapping[str, StatusRow]] = {
    statuses.STARTING: StatusRow("starting", StatusGroup.RUNNING),
    statuses.SETTING_UP: StatusRow("setting up", StatusGroup.RUNNING),
    statuses.RUNNING: StatusRow("running", StatusGroup.RUNNING),
    statuses.WAITING: StatusRow(
        "waiting for you", StatusGroup.NEEDS_YOU, Colour.YELLOW, Occasion.QUESTION, "waits"
    ),
    statuses.DECISION: StatusRow(
        "yours to decide", StatusGroup.NEEDS_YOU, Colour.YELLOW, Occasion.DECISION, "decide"
    ),
    statuses.STALLED: StatusRow(
        "stalled", StatusGroup.NEEDS_YOU, Colour.RED, Occasion.STALLED, "stalled"
    ),
    statuses.FAILED: StatusRow("failed", StatusGroup.NEEDS_YOU, Colour.RED, Occasion.FAILED),
    statuses.LIMIT: StatusRow("usage limit", StatusGroup.PARKED, Colour.YELLOW, Occasion.PARKED),
    statuses.PARKED: StatusRow("parked", StatusGroup.PARKED, Colour.YELLOW, Occasion.PARKED),
    statuses.STOPPED: StatusRow("stopped", StatusGroup.INTERRUPTED, Colour.DIM),
    statuses.INTERRUPTED: StatusRow("interrupted", StatusGroup.INTERRUPTED, Colour.YELLOW),
    statuses.DONE: StatusRow("done", StatusGroup.DONE, Colour.GREEN, Occasion.DONE),
    statuses.MOVED: StatusRow("moved", StatusGroup.DONE, Colour.DIM),
    statuses.UNKNOWN: StatusRow("unknown", StatusGroup.NEEDS_YOU, Colour.RED),
    statuses.UNREADABLE: StatusRow("unreadable", StatusGroup.NEEDS_YOU, Colour.RED),
}
"""Each status of a session, once for all faces."""

_URGENT: Final = (
    SessionStatus.DECISION,
    SessionStatus.WAITING,
    SessionStatus.STALLED,
    SessionStatus.LIMIT,
    SessionStatus.PARKED,
    SessionStatus.SETTING_UP,
)

_SEAT_LABELS: Final[Mapping[str, str]] = {
    statuses.ENDED_BY_USER: "ended by you",
    statuses.BROKEN: "could not run",
}
_SEAT_COLOURS: Final[Mapping[str, Colour]] = {
    statuses.CRASHED: Colour.RED,
    statuses.BROKEN: Colour.YELLOW,
    statuses.FINISHED: Colour.YELLOW,
    statuses.ENDED_BY_USER: Colour.YELLOW,
}


def left_out_label(path: str) -> str:
    """Return the warning that the commit leaves out ``path``, a git repository of its own."""
    return f"`{path}` is a git repository of its own: the commit leaves it out"


def left_behind_label(subjects: Sequence[str]) -> str:
    """Return the warning that the result has not what was committed in the worktree elsewhere."""
    commits = format_count(len(subjects), "commit that was", "commits that were")
    named = some(subjects)
    return f"without {commits} made in the worktree, on another branch or none: {named}"


def brought_back_label(subjects: Sequence[str], base: str) -> str:
    """Return the warning that a merge brings commits into the base that it has no more."""
    commits = format_count(len(subjects), "commit")
    return (
        f"the merge brings back {commits} that {base} had when the session began, and has no more:"
        f" {some(subjects)}"
    )


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


def clock_label(at: datetime, now: datetime) -> str:
    """Return a time as people read it, such as ``10:27``, with its day if that is not today.

    It is shown in the zone of ``now``.
    """
    there = at.astimezone(now.tzinfo)
    day = "" if there.date() == now.date() else f"{_MONTHS[there.month - 1]} {there.day}, "
    return f"{day}{there:%H:%M}"


def parked_label(until: datetime, now: datetime) -> str:
    """Return the words for an agent that is left alone until its usage limit ends.

    ``until`` is shown as by `clock_label`.
    """
    return f"parked until {clock_label(until, now)}"


def most_urgent(seen: Collection[str]) -> SessionStatus:
    """Return the status of a session with an orchestrator, of all that holds in it now.

    Args:
        seen: Statuses of the session and of its seats. Those that do not decide it are ignored; if
            none decides it, the session is running.
    """
    return next((status for status in _URGENT if status in seen), SessionStatus.RUNNING)


def status_label(status: str) -> str:
    """Return the words that people see for a status of a session or a seat."""
    row = STATUS_TABLE.get(status)
    if row is not None:
        return row.label
    return _SEAT_LABELS.get(status, status.replace("_", " "))


def status_mark(status: str) -> str:
    """Return the mark of a session's status (`StatusRow`); empty for one without."""
    row = STATUS_TABLE.get(status)
    return row.mark if row is not None else ""


def status_colour(status: str) -> Colour:
    """Return the colour of a status of a session or a seat."""
    row = STATUS_TABLE.get(status)
    return row.colour if row is not None else _SEAT_COLOURS.get(status, Colour.NONE)


def status_group(status: str) -> StatusGroup:
    """Return the heading for a session; a status that is not in the table needs its user."""
    row = STATUS_TABLE.get(status)
    return row.group if row is not None else StatusGroup.NEEDS_YOU


_UNITS: Final = ((86_400, "d"), (3_600, "h"), (60, "m"))


def age(seconds: float | None, *, least: str = "s") -> str:
    """Return a duration in its largest unit: ``42s``, ``5m``, ``3h``, ``2d``; ``-`` for None.

    Args:
        seconds: The duration; less than 0 counts as 0.
        least: The smallest unit to show, ``s`` or ``m``; less than a minute is then ``<1m``.
    """
    if seconds is None:
        return "-"
    for size, unit in _UNITS:
        if seconds >= size:
            return f"{int(seconds // size)}{unit}"
    return f"{max(int(seconds), 0)}s" if least == "s" else "<1m"
