"""The label and colour in which users see each status. Programs read the status itself."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from typing import Final, NamedTuple

from agentmux.core.names import statuses
from agentmux.core.names.occasion import Occasion
from agentmux.core.names.words.counts import abbreviate_names, format_count

NATIVE_MARK: Final = "↻"
"""The sign for a resumed conversation, and for an agent that can resume conversations."""

OUTPUT_LINES: Final = 3
"""How many lines of the output of a failed command are shown to who decides."""


class SessionStatus(StrEnum):
    """The status of a session, which users see beside its phase.

    The members' values are listed here; `status_label` returns the words that users see.
    ``starting``: ``start`` or ``resume`` is running, and there is no orchestrator yet.
    ``setting_up``: the setup of the worktree runs. ``running``: none of the other statuses applies.
    ``waiting_for_user``: an agent, or a pane, asks the user something. ``decision``: the user has
    to approve or request changes. ``usage_limit``: an agent has reached its limit, and the end of
    the limit is unknown. ``parked``: the same, with a known end. ``interrupted``: the orchestrator,
    the tmux session or the machine ended without the user asking for it. ``moved``: the session was
    exported, and continues where its file is imported. ``unknown``: the session's tmux server does
    not answer. ``unreadable``: the session's state cannot be read. ``stalled``: an agent stays
    idle, or a problem stops the session. ``stopped``: the user stopped the session. ``failed``: the
    session has failed. ``done``: the session is done.
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
    """The heading under which a user interface lists a session; each member's value is its text.

    User interfaces show the groups in this order, the most urgent first: ``needs you`` (also
    sessions that failed or cannot be read), ``running``, ``interrupted`` (also sessions that the
    user stopped), ``waiting for a limit``, and ``done`` (also sessions that were exported).
    """

    NEEDS_YOU = "needs you"
    RUNNING = "running"
    INTERRUPTED = "interrupted"
    PARKED = "waiting for a limit"
    DONE = "done"


class Safety(StrEnum):
    """Whether a session can be resumed without loss; users see the value.

    ``safe to resume``: no conversation is lost. ``needs a choice``: a seat that had a conversation
    would begin a new one. ``cannot resume``: something prevents a resume now; the reason is
    shown beside it.
    """

    SAFE = "safe to resume"
    CHOICE = "needs a choice"
    BLOCKED = "cannot resume"

    @property
    def mark(self) -> str:
        """One word instead of the value, for narrow lists: ``safe``, ``choice`` or ``blocked``."""
        return self.name.lower()


class Colour(StrEnum):
    """The colour of a status; always shown together with its label.

    Green means done, yellow that the user may act, red that something is wrong, dim that the
    session rests. ``NONE``, an empty text, stands for a status without a colour.
    """

    NONE = ""
    GREEN = "green"
    YELLOW = "yellow"
    RED = "red"
    DIM = "dim"


GROUP_HELP: Final[Mapping[StatusGroup, str]] = {
    StatusGroup.NEEDS_YOU: "an agent asks you something, a result waits for your decision, or"
    " something went wrong",
    StatusGroup.RUNNING: "its agents work; you need not do anything",
    StatusGroup.INTERRUPTED: "nothing works on it; it can be resumed where it stopped",
    StatusGroup.PARKED: "its agents have reached a usage limit, and go on when that ends",
    StatusGroup.DONE: "it is finished, or goes on elsewhere",
}
"""What the heading of each group means, for people."""


class StatusRow(NamedTuple):
    """How a user interface shows a status of a session, and how the user is notified of it.

    Attributes:
        label: The words that users see.
        group: The heading under which the session is listed.
        colour: The colour of the label.
        occasion: The occasion of the notification; None if the user is not notified.
        mark: One word instead of the label, for narrow lists of live sessions that need the user;
            empty for statuses that are not shown there.
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
    statuses.FAILED: StatusRow(
        "failed", StatusGroup.NEEDS_YOU, Colour.RED, Occasion.FAILED, "failed"
    ),
    statuses.LIMIT: StatusRow("usage limit", StatusGroup.PARKED, Colour.YELLOW, Occasion.PARKED),
    statuses.PARKED: StatusRow("limit", StatusGroup.PARKED, Colour.YELLOW, Occasion.PARKED),
    statuses.STOPPED: StatusRow("stopped", StatusGroup.INTERRUPTED, Colour.DIM),
    statuses.INTERRUPTED: StatusRow("interrupted", StatusGroup.INTERRUPTED, Colour.YELLOW),
    statuses.DONE: StatusRow("done", StatusGroup.DONE, Colour.GREEN, Occasion.DONE),
    statuses.MOVED: StatusRow("moved", StatusGroup.DONE, Colour.DIM),
    statuses.UNKNOWN: StatusRow("unknown", StatusGroup.NEEDS_YOU, Colour.RED),
    statuses.UNREADABLE: StatusRow("unreadable", StatusGroup.NEEDS_YOU, Colour.RED),
}
"""How each status of a session is shown, by status; every user interface uses this table."""

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
    """Return the warning that the commit leaves out ``path``, which is a git repository itself.

    The function only makes the text: it does not look at the repository.
    """
    return f"`{path}` is a git repository of its own: the commit leaves it out"


def left_behind_label(subjects: Sequence[str]) -> str:
    """Return the warning that the result lacks commits made in the worktree on other branches.

    The function only makes the text. ``subjects`` has the subject of each such commit.
    """
    commits = format_count(len(subjects), "commit that was", "commits that were")
    named = abbreviate_names(subjects)
    return f"without {commits} made in the worktree, on another branch or none: {named}"


def brought_back_label(subjects: Sequence[str], base: str) -> str:
    """Return the warning that a merge brings back commits that were removed from the base.

    The function only makes the text.

    Args:
        subjects: The subject of each such commit.
        base: The name of the base branch.
    """
    commits = format_count(len(subjects), "commit")
    return (
        f"the merge brings back {commits} that {base} had when the session began, and has no more:"
        f" {abbreviate_names(subjects)}"
    )


def mend_setup(session: str, *, stop: bool = True) -> str:
    """Return the advice on how to fix a setup step that fails because of its configuration.

    The function only makes the text: it fixes nothing.

    Args:
        session: The session's name in the commands.
        stop: Whether the session is live, so that the advice begins with stopping it.
    """
    first = f"agentmux stop {session} && " if stop else ""
    return f"fix git.setup in the configuration: {first}agentmux resume {session} --repin"


_MONTHS: Final = (
    *("Jan", "Feb", "Mar", "Apr", "May", "Jun"),
    *("Jul", "Aug", "Sep", "Oct", "Nov", "Dec"),
)


def clock_label(at: datetime, now: datetime) -> str:
    """Return a time such as ``10:27``, or ``Nov 3, 10:27`` if it is not on the day of ``now``.

    It is shown in the time zone of ``now``; both times need a time zone.
    """
    there = at.astimezone(now.tzinfo)
    day = "" if there.date() == now.date() else f"{_MONTHS[there.month - 1]} {there.day}, "
    return f"{day}{there:%H:%M}"


def parked_label(until: datetime, now: datetime) -> str:
    """Return the label of an agent that waits for the end of its usage limit.

    An example is ``limit until 10:27``.

    Args:
        until: When the limit ends.
        now: The current time; its time zone is used, as in `clock_label`.
    """
    return f"limit until {clock_label(until, now)}"


def most_urgent(seen: Collection[str]) -> SessionStatus:
    """Return the status of a session with an orchestrator: the most urgent one in ``seen``.

    Args:
        seen: The values of `SessionStatus` that apply to the session and to its seats now. If none
            of them is ``decision``, ``waiting_for_user``, ``stalled``, ``usage_limit``, ``parked``
            or ``setting_up``, the result is ``running``.
    """
    return next((status for status in _URGENT if status in seen), SessionStatus.RUNNING)


def status_label(status: str) -> str:
    """Return the words that users see for a status of a session or a seat.

    ``status`` is a value of `SessionStatus` or `Seat.status`. An unknown one is returned with
    blanks in place of underscores.
    """
    row = STATUS_TABLE.get(status)
    if row is not None:
        return row.label
    return _SEAT_LABELS.get(status, status.replace("_", " "))


def status_mark(status: str) -> str:
    """Return the mark of a session's status, such as ``decide``; empty if it has none.

    The mark is one word for narrow lists; see `StatusRow`. ``status`` is a value of
    `SessionStatus`; any other has no mark.
    """
    row = STATUS_TABLE.get(status)
    return row.mark if row is not None else ""


def status_colour(status: str) -> Colour:
    """Return the colour of a status of a session or a seat; `Colour.NONE` if it has none.

    ``status`` is a value of `SessionStatus` or `Seat.status`.
    """
    row = STATUS_TABLE.get(status)
    return row.colour if row is not None else _SEAT_COLOURS.get(status, Colour.NONE)


def status_group(status: str) -> StatusGroup:
    """Return the heading for a session's status; an unknown status counts as needing the user.

    ``status`` is a value of `SessionStatus`.
    """
    row = STATUS_TABLE.get(status)
    return row.group if row is not None else StatusGroup.NEEDS_YOU


_UNITS: Final = ((86_400, "d"), (3_600, "h"), (60, "m"))


def age(seconds: float | None, *, least: str = "s") -> str:
    """Return a duration in its largest unit, rounded down: ``42s``, ``5m``, ``3h``, ``2d``.

    Args:
        seconds: The duration; less than 0 counts as 0. None, for unknown, returns ``-``.
        least: The smallest unit to show: ``s``, or ``m`` to show ``<1m`` for less than a minute.
    """
    if seconds is None:
        return "-"
    for size, unit in _UNITS:
        if seconds >= size:
            return f"{int(seconds // size)}{unit}"
    return f"{max(int(seconds), 0)}s" if least == "s" else "<1m"
