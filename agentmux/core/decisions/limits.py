"""Which seats wait for the end of a usage limit, until when, and when they are woken; pure.

A seat is *parked* while it waits for the end of its agent's usage limit, and *woken* when the agent
is told to go on or is launched again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Final, TypeAlias

from agentmux.core.codec.times import time_of
from agentmux.core.journal.state import Parked, SessionState

SETTLE_S: Final = 120.0
"""Seconds after which the next seat of an account is woken, even if the previous one is idle."""

_AGAIN_S: Final = 60.0
"""Seconds until the next try if the agent shows a time that has just passed.

Agents show full minutes, so the limit may end some seconds later.
"""

_JUST_S: Final = 600.0
"""For how many seconds a time has *just* passed; an older time on the screen is ignored."""

_LONG_AGO: Final = datetime.min.replace(tzinfo=UTC)
_Account: TypeAlias = tuple[str, str]


def parked_until(reset: datetime | None, *, now: datetime, retry_s: float) -> datetime:
    """Return when to wake an agent that shows a usage limit; always after ``now``.

    It is ``reset`` if that is in the future, and at most a minute after ``now`` if ``reset`` has
    passed by up to ten minutes. Otherwise it is ``retry_s`` seconds after ``now``.

    Args:
        reset: The end of the limit according to the agent; None if the agent does not say.
        now: The current time, with its time zone.
        retry_s: How many seconds to wait if the end is not known or long past; more than 0.
    """
    if reset is not None and reset > now:
        return reset
    if reset is not None and (now - reset).total_seconds() <= _JUST_S:
        return now + timedelta(seconds=min(_AGAIN_S, retry_s))
    return now + timedelta(seconds=retry_s)


def is_new_reset(parked: Parked, said: str, reset: datetime | None, *, now: datetime) -> bool:
    """Whether a parked agent now shows a different, future end of its limit.

    The same time in another form does not count: claude rewrites its text when a limit ends.

    Args:
        parked: The parked seat.
        said: The end of the limit as the agent's screen shows it now; empty if it shows none.
        reset: The time that ``said`` means; None if it is not a time.
        now: The current time, with its time zone.
    """
    if said in {"", parked.said} or reset is None:
        return False
    return reset > now and reset != time_of(parked.until)


def is_parked(state: SessionState, seat: str) -> bool:
    """Whether the seat named ``seat`` waits for the end of a usage limit and was not woken yet."""
    parked = state.parked.get(seat)
    return parked is not None and not parked.woken


def to_wake(parked: Mapping[str, Parked], *, now: datetime) -> tuple[str, ...]:
    """Return the names of the seats to wake now, at most one per account; empty if none is due.

    Those whose limit ends first come first. Seats with the same agent and the same config home
    share an account. After a seat was woken, no other seat of its account is woken until the first
    one works, or until `SETTLE_S` has passed: the first seat finds out whether the limit is over.

    Args:
        parked: The seats at a usage limit, by name, as in `SessionState.parked`.
        now: The current time, with its time zone.
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
    """Return the time from which `to_wake` returns a seat; None if no seat waits.

    ``parked`` maps the names of the seats at a usage limit to what is known of them. The time may
    be in the past.
    """
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
    """Return when the next seat may be woken, for each account with a seat that was just woken."""
    times: dict[_Account, datetime] = {}
    for each in parked.values():
        woken = time_of(each.woken) if each.woken and not each.settled else None
        if woken is not None:
            free = woken + timedelta(seconds=SETTLE_S)
            times[_account(each)] = max(free, times.get(_account(each), free))
    return times


def _until(parked: Parked) -> datetime:
    return time_of(parked.until) or _LONG_AGO  # an unreadable time counts as past


def _account(parked: Parked) -> _Account:
    return parked.agent, parked.home
