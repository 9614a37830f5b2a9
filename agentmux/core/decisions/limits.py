"""Who waits for the end of a usage limit, until when, and in which order they are woken; pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Final, TypeAlias

from agentmux.core.codec.times import time_of
from agentmux.core.journal.state import Parked, SessionState

SETTLE_S: Final = 120.0
"""Seconds after which the next seat is woken although the one before has not shown any work."""

_AGAIN_S: Final = 60.0
"""Seconds until the next try where the time that an agent says has just passed.

Agents show full minutes: the limit may end some seconds later.
"""

_JUST_S: Final = 600.0
"""Seconds for which a time has just passed; after that, what the agent says is not believed."""

_LONG_AGO: Final = datetime.min.replace(tzinfo=UTC)
_Account: TypeAlias = tuple[str, str]


def parked_until(reset: datetime | None, *, now: datetime, retry_s: float) -> datetime:
    """Return when an agent that shows a usage limit is to be woken; always after ``now``.

    Args:
        reset: The end of the limit, as the agent says; None where it does not.
        now: The current time, aware.
        retry_s: The time to wait where the end is not known; more than 0.
    """
    if reset is not None and reset > now:
        return reset
    if reset is not None and (now - reset).total_seconds() <= _JUST_S:
        return now + timedelta(seconds=min(_AGAIN_S, retry_s))
    return now + timedelta(seconds=retry_s)


def says_later(parked: Parked, said: str, reset: datetime | None, *, now: datetime) -> bool:
    """Whether new words of a parked agent mean that its limit ends at another time to come.

    At the end of a limit, claude draws its words anew: with the same time, in another form.

    Args:
        parked: The parked seat.
        said: When the limit ends, in the agent's words now; empty where it does not say.
        reset: What that means; None for nothing.
        now: The current time, aware.
    """
    if said in {"", parked.said} or reset is None:
        return False
    return reset > now and reset != time_of(parked.until)


def is_parked(state: SessionState, seat: str) -> bool:
    """Whether this seat waits for the end of a usage limit."""
    parked = state.parked.get(seat)
    return parked is not None and not parked.woken


def to_wake(parked: Mapping[str, Parked], *, now: datetime) -> tuple[str, ...]:
    """Return the seats to wake now, one of each account, those that wait longest first.

    While a seat of an account was just woken, no other seat of that account is: the first one finds
    out whether the limit is over. It counts as just woken until it works, and for `SETTLE_S` at
    most.

    Args:
        parked: The seats as in `SessionState.parked`.
        now: The current time, aware.
    """
    free_at = _free_at(parked)
    seats: dict[_Account, str] = {}
    for name in _in_order(parked):
        account = _account(parked[name])
        free = free_at.get(account, _LONG_AGO) <= now
        if free and account not in seats and _until(parked[name]) <= now:
            seats[account] = name
    return tuple(seats.values())


def next_wake(parked: Mapping[str, Parked]) -> datetime | None:
    """Return when `to_wake` next has a seat, if nothing else happens; None for never."""
    free_at = _free_at(parked)
    return min(
        (
            max(_until(parked[name]), free_at.get(_account(parked[name]), _LONG_AGO))
            for name in _in_order(parked)
        ),
        default=None,
    )


def _in_order(parked: Mapping[str, Parked]) -> Iterator[str]:
    waiting = (name for name, each in parked.items() if not each.woken)
    return iter(sorted(waiting, key=lambda name: (_until(parked[name]), name)))


def _free_at(parked: Mapping[str, Parked]) -> Mapping[_Account, datetime]:
    """Return, for each account with a seat that was just woken, when the next may be."""
    times: dict[_Account, datetime] = {}
    for each in parked.values():
        woken = time_of(each.woken) if each.woken and not each.settled else None
        if woken is not None:
            free = woken + timedelta(seconds=SETTLE_S)
            times[_account(each)] = max(free, times.get(_account(each), free))
    return times


def _until(parked: Parked) -> datetime:
    return time_of(parked.until) or _LONG_AGO  # a time that nobody can read is over


def _account(parked: Parked) -> _Account:
    return parked.agent, parked.home
