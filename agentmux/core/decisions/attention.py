"""The status of a session, and the reasons to notify a person of it; pure.

A notice is current as long as its reason exists. The caller sends a notice when it first appears,
and remembers its key until the notice disappears, so that it is sent only once.
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
    ENDED_STATUSES,
    IDLE,
    LAUNCHED,
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
"""The key of the notice that a problem has stalled the session; the same for all problems."""

_UNCLEAR: Final = frozenset({"", UNKNOWN, STARTING})
_RESTING: Final = frozenset({"", UNKNOWN, IDLE, LAUNCHED})


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """A reason to notify a person.

    Attributes:
        key: Identifies the reason within its session. It stays the same while the reason exists,
            even if another orchestrator takes over the session.
        on: The kind of reason, by which the user has chosen where to be notified.
        seat: The seat that the notice is about; empty if it is about the whole session.
    """

    key: str
    on: Occasion
    seat: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attention:
    """The status of a session, and the reasons to notify a person of it.

    Attributes:
        status: The status of the session, as ``list`` shows it.
        notices: The current reasons to notify a person.
        unclear: The keys of notices that may or may not be current, because the screen of their
            seat has not been read yet.
    """

    status: SessionStatus
    notices: tuple[Notice, ...]
    unclear: frozenset[str] = frozenset()

    @property
    def needs_you(self) -> str:
        """The `Occasion` for which the session waits for a person; empty if it does not wait."""
        row = STATUS_TABLE[self.status]
        return row.occasion or "" if row.group is StatusGroup.NEEDS_YOU else ""


def session_attention(
    state: SessionState,
    statuses: Mapping[str, str],
    *,
    troubled: bool,
    unsent: Collection[str] = (),
) -> Attention:
    """Return the status and the notices of a session that has an orchestrator.

    Args:
        state: The state of the session.
        statuses: What each seat's agent is doing, by the seat's name: ``starting``, ``busy``,
            ``idle``, ``waiting_for_user``, ``usage_limit``, ``stalled``, ``unknown`` or another
            value of `ports.tmux.display.SeatStatus.status`. A seat is missing while this is not
            known.
        troubled: Whether the session has a problem that is not solved.
        unsent: The names of the seats whose prompts have not arrived; they count as waiting for the
            user.
    """
    if state.phase in {Phase.DONE, Phase.FAILED}:
        return _report_end(state)
    # An agent without its prompt waits for the user, like one that asks something.
    asks = {**statuses, **dict.fromkeys(unsent, WAITING)}
    notices = tuple(_notices(state, asks, troubled=troubled))
    # Two statuses have the occasion PARKED; `_of_seats` finds out which one applies.
    wanted = {each.on for each in notices} - {Occasion.PARKED}
    seen = {status for status, row in STATUS_TABLE.items() if row.occasion in wanted}
    return Attention(
        status=most_urgent(seen.union(_of_seats(state, statuses))),
        notices=notices,
        unclear=frozenset(_unclear(state, statuses)),
    )


def _of_seats(state: SessionState, statuses: Mapping[str, str]) -> Iterator[SessionStatus]:
    """Yield the statuses that the seats give to the session while it does not wait for a person."""
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
    """Return the occasion on which one seat needs a person; None if it does not.

    Usage limits are ignored here.
    """
    left = seat.status in ENDED_STATUSES and seat.role not in RESEARCHERS
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
    """Whether the user has to decide on the result.

    The summary was submitted, or the agent that was to write it has ended without it.
    """
    if working_kind(state) is not Kind.COMPLETE or state.approval is not None:
        return False
    writers = [seat for seat in state.seats.values() if not seat.topic]
    left = bool(writers) and all(seat.status in ENDED_STATUSES for seat in writers)
    return state.summary_submitted or left


def _unclear(state: SessionState, statuses: Mapping[str, str]) -> Iterator[str]:
    for name, seat in state.seats.items():
        if seat.status == LAUNCHED and statuses.get(name, "") in _UNCLEAR:
            yield from (_key(on, name, seat) for on in (Occasion.QUESTION, Occasion.STALLED))
    # A parked agent may look busy for a moment.
    yield from (f"{Occasion.PARKED}:{name}" for name in state.parked if is_parked(state, name))
