"""Builds the views of the seats of one session."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from agentmux.app.session.search.lookup import Liveness, SessionEntry
from agentmux.app.views.plain_fields import NOTHING, age_of, mapping, number, text
from agentmux.app.views.session.session_view import SeatView
from agentmux.core.codec.times import time_of
from agentmux.core.names.status_labels import SessionStatus, parked_label, status_label
from agentmux.core.names.statuses import (
    CRASHED,
    IDLE,
    LAUNCHED,
    LIMIT,
    PARKED,
    STALLED,
    STOPPED,
    UNKNOWN,
)

if TYPE_CHECKING:
    from agentmux.core.codec.records import Json


def seat_views(
    entry: SessionEntry, liveness: Liveness, noted: Json, now: datetime
) -> Iterator[SeatView]:
    """Yield a view of each seat, then of seats that will get an agent when a usage limit ends.

    Args:
        entry: The session.
        liveness: Whether the session's tmux session and orchestrator run.
        noted: The runtime note of the orchestrator (`RuntimeNote`), of which ``panes`` and
            ``statuses`` are read; empty if none runs.
        now: The current time.
    """
    records, statuses = mapping(entry.fields, "agents"), mapping(noted, "statuses")
    panes, seats = mapping(noted, "panes"), mapping(entry.fields, "seats")
    parked = mapping(entry.fields, "parked")
    for name in seats:
        seat = mapping(seats, name)
        current = mapping(panes, name).get("launch") in (None, seat.get("launch"))
        seen = mapping(statuses, name) if current else NOTHING
        status, source, since = _doing(
            *(seat, seen), live=liveness.live, watched=not liveness.is_left_alone
        )
        until = _parked_until(entry, name)
        shown = status
        if until is not None and status in _AT_LIMIT:
            status = PARKED
        told = seen if shown == text(seen, "status") else NOTHING
        yield SeatView(
            seat=name,
            role=text(seat, "role"),
            agent=text(mapping(records, name), "agent"),
            mode=text(seat, "mode"),
            reason=text(seat, "reason"),
            status=status,
            source=source,
            age_s=age_of(since, now),
            attempt=number(seat, "attempt", 1),
            prompt_bytes=number(seat, "prompt_bytes", 0),
            fresh_prompt_bytes=number(seat, "fresh_prompt_bytes", 0),
            resets=text(told, "resets") or None,
            trouble=text(told, "trouble") or None,
            unsent=text(told, "unsent") or None,
            asks=text(told, "asks"),
            parked_until=text(mapping(parked, name), "until") if until is not None else None,
            label=_seat_label(status, until, now),
            model=text(mapping(records, name), "model"),
        )
    held = (name for name in parked if name not in seats) if liveness.locked else ()
    for name in held:
        until = _parked_until(entry, name)
        if until is not None:
            yield _waiting(name, mapping(parked, name), until, now)


_AT_LIMIT: Final = frozenset({LIMIT, LAUNCHED, IDLE, UNKNOWN, CRASHED})
"""The statuses that `PARKED` replaces in the view of a parked seat."""


def _parked_until(entry: SessionEntry, name: str) -> datetime | None:
    """Return when a parked seat will be woken; None if the seat is not parked."""
    parked = mapping(mapping(entry.fields, "parked"), name)
    return None if text(parked, "woken") else time_of(text(parked, "until"))


def _waiting(name: str, parked: Mapping[str, Any], until: datetime, now: datetime) -> SeatView:
    return SeatView(
        seat=name,
        role="",
        agent=text(parked, "agent"),
        mode="-",
        reason="",
        status=PARKED,
        source="journal",
        age_s=None,
        attempt=1,
        prompt_bytes=0,
        fresh_prompt_bytes=0,
        parked_until=text(parked, "until"),
        label=_seat_label(PARKED, until, now),
    )


def _seat_label(status: str, until: datetime | None, now: datetime) -> str:
    if until is None or status not in {PARKED, STOPPED}:
        return status_label(status)
    parked = parked_label(until, now.astimezone())
    return parked if status == PARKED else f"{status_label(status)}, {parked}"


def session_label(status: SessionStatus, seats: Iterable[SeatView]) -> str:
    """Return the words for a session's status.

    For a session that waits for usage limits, they say when the first of ``seats`` is woken.
    """
    parked = [seat for seat in seats if seat.parked_until and seat.status == PARKED]
    if status is not SessionStatus.PARKED or not parked:
        return status_label(status)
    return min(parked, key=lambda seat: seat.parked_until or "").label


def _doing(
    seat: Mapping[str, Any], seen: Mapping[str, Any], *, live: bool | None, watched: bool
) -> tuple[str, str, str]:
    """Return the `SeatView.status` and `SeatView.source` of a seat, and when the status began.

    The time is empty if unknown.

    Args:
        seat: The seat's fields in the state.
        seen: What the orchestrator noted about the seat; may be empty. It counts only in a live
            session, and only while the state says that the seat is launched.
        live: Whether the session is live; None if that is unknown.
        watched: Whether an orchestrator may be watching the seat's screen.
    """
    recorded = text(seat, "status")
    if recorded != LAUNCHED:
        return recorded, "journal", ""
    if not live:
        return UNKNOWN if live is None else STOPPED, "journal", ""
    if text(seen, "status"):
        return text(seen, "status"), text(seen, "source"), text(seen, "since")
    if not watched:
        return UNKNOWN, "journal", ""
    status = STALLED if seat.get("stalled") else recorded
    return status, "journal", text(seat, "since")
