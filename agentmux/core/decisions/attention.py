"""What a session wants of a person now: its status, and what to notify them of; pure.

A notice holds as long as its reason does. The caller sends a notice when it begins to hold, and
remembers its key until it does not hold any more.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Final

from agentmux.core.codec.frozen import dataclass
from agentmux.core.decisions.limits import is_parked
from agentmux.core.definitions.definition import Kind
from agentmux.core.journal.state import Seat, SessionState
from agentmux.core.names.occasion import Occasion
from agentmux.core.names.phase import RESEARCHERS, Phase
from agentmux.core.names.status_labels import STATUS_TABLE, SessionStatus, StatusGroup, most_urgent
from agentmux.core.names.statuses import (
    BROKEN,
    CRASHED,
    DELAYED,
    IDLE,
    LAUNCHED,
    LEFT,
    LIMIT,
    PERSON_MODES,
    SETTING_UP,
    STALLED,
    STARTING,
    STOPPED,
    UNKNOWN,
    WAITING,
)
from agentmux.core.pipeline.registry import working_kind

TROUBLE: Final = "stalled"
"""The key of the notice that a problem stops the session, whichever it is."""

_UNCLEAR: Final = frozenset({"", UNKNOWN, STARTING})
_RESTING: Final = frozenset({"", UNKNOWN, IDLE, LAUNCHED})


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """A reason to notify a person.

    Attributes:
        key: Names the reason within its session. It stays the same while the reason holds, also
            if another orchestrator drives the session.
        seat: The seat that it is about; empty if it is about the session.
    """

    key: str
    on: Occasion
    seat: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attention:
    """What a session wants of a person.

    Attributes:
        status: The status of the session, as ``list`` shows it.
        notices: The reasons to notify a person that hold now.
        unclear: The keys of notices of which nobody can say now whether they hold, because the
            screen of their seat has not been read.
    """

    status: SessionStatus
    notices: tuple[Notice, ...]
    unclear: frozenset[str] = frozenset()

    @property
    def needs_you(self) -> str:
        """The most urgent `Occasion` for which it waits for a person; empty for none."""
        row = STATUS_TABLE[self.status]
        return row.occasion or "" if row.group is StatusGroup.NEEDS_YOU else ""


def attention(
    state: SessionState,
    statuses: Mapping[str, str],
    *,
    troubled: bool,
    unsent: Collection[str] = (),
) -> Attention:
    """Return what a session with an orchestrator wants of a person.

    Args:
        state: The session.
        statuses: What each seat's screen shows, as `ports.display.SeatStatus.status`.
        troubled: Whether a problem is shown that has not been solved.
        unsent: The seats whose prompts have not arrived.
    """
    if state.phase in {Phase.DONE, Phase.FAILED}:
        return _report_end(state)
    # An agent without its prompt waits for the user, like one that asks something.
    asks = {**statuses, **dict.fromkeys(unsent, WAITING)}
    notices = tuple(_notices(state, asks, troubled=troubled))
    # Two statuses mean PARKED: the seats say which.
    wanted = {each.on for each in notices} - {Occasion.PARKED}
    seen = {status for status, row in STATUS_TABLE.items() if row.occasion in wanted}
    return Attention(
        status=most_urgent(seen.union(_of_seats(state, statuses))),
        notices=notices,
        unclear=frozenset(_unclear(state, statuses)),
    )


def _of_seats(state: SessionState, statuses: Mapping[str, str]) -> Iterator[SessionStatus]:
    """Yield what the seats make the session while it waits for nobody."""
    for name in dict.fromkeys((*state.parked, *state.seats)):
        shown = statuses.get(name, "")
        if _is_at_limit(state, name, shown):
            yield SessionStatus.PARKED if is_parked(state, name) else SessionStatus.LIMIT
        elif shown == SETTING_UP and name in state.seats and state.seats[name].status == LAUNCHED:
            yield SessionStatus.SETTING_UP


def _report_end(state: SessionState) -> Attention:
    if state.phase == Phase.DONE:
        notice = Notice(key="done", on=Occasion.DONE)
        return Attention(status=SessionStatus.DONE, notices=(notice,))
    at = state.interruption.at if state.interruption is not None else ""
    notice = Notice(key=f"failed:{at}", on=Occasion.FAILED)
    return Attention(status=SessionStatus.FAILED, notices=(notice,))


def _notices(
    state: SessionState, statuses: Mapping[str, str], *, troubled: bool
) -> Iterator[Notice]:
    if _wants_decision(state):
        yield Notice(key=f"decision:{state.cycle}:{state.phase}", on=Occasion.DECISION)
    for name, seat in state.seats.items():
        on = _occasion(seat, statuses.get(name, ""))
        if on is not None:
            yield Notice(key=_key(on, name, seat), on=on, seat=name)
    if troubled:
        yield Notice(key=TROUBLE, on=Occasion.STALLED)
    if state.commit is not None and state.commit.status == DELAYED:
        yield Notice(key=f"stalled:commit:{state.commit.approval}", on=Occasion.STALLED)
    for name in dict.fromkeys((*state.parked, *state.seats)):
        if _is_at_limit(state, name, statuses.get(name, "")):
            yield Notice(key=f"{Occasion.PARKED}:{name}", on=Occasion.PARKED, seat=name)


def _key(on: Occasion, name: str, seat: Seat) -> str:
    return f"{on}:{name}:{seat.launch}"


def _occasion(seat: Seat, shown: str) -> Occasion | None:
    """Return what one seat wants of a person, other than the end of a usage limit."""
    left = seat.status in LEFT and seat.role not in RESEARCHERS
    if left or seat.status in {BROKEN, STOPPED}:
        return Occasion.QUESTION
    if seat.status != LAUNCHED:
        return None
    if shown == WAITING or seat.mode in PERSON_MODES:
        return Occasion.QUESTION
    if shown == STALLED or (seat.stalled and not shown):
        return Occasion.STALLED
    return None


def _is_at_limit(state: SessionState, name: str, shown: str) -> bool:
    seat = state.seats.get(name)
    if seat is None:
        return is_parked(state, name)
    if seat.status != LAUNCHED:
        return seat.status == CRASHED and is_parked(state, name)
    return shown == LIMIT or (is_parked(state, name) and shown in _RESTING)


def _wants_decision(state: SessionState) -> bool:
    """Whether the user has to decide: the summary is there, or its writer has left without it."""
    if working_kind(state) is not Kind.COMPLETE or state.approval is not None:
        return False
    writers = [seat for seat in state.seats.values() if not seat.topic]
    left = bool(writers) and all(seat.status in LEFT for seat in writers)
    return state.summary_submitted or left


def _unclear(state: SessionState, statuses: Mapping[str, str]) -> Iterator[str]:
    for name, seat in state.seats.items():
        if seat.status == LAUNCHED and statuses.get(name, "") in _UNCLEAR:
            yield from (_key(on, name, seat) for on in (Occasion.QUESTION, Occasion.STALLED))
    # A parked agent may look busy for a moment.
    yield from (f"{Occasion.PARKED}:{name}" for name in state.parked if is_parked(state, name))
