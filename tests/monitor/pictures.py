"""Pictures of one session in different situations, for the monitor's tests."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from agentmux.core.journal.state import Seat
from agentmux.core.names.phase import Phase
from agentmux.ports.tmux.display import MonitorContent, MonitorMessage, SeatStatus
from tests.core.builders import state_of

NOW = datetime(2026, 1, 1, 10, 30, tzinfo=UTC)
SLUG = "add-login"
FOLDER = f".agentmux/.sessions/20260101-101500-{SLUG}"


def seat(role: str = "coder", **changed: Any) -> Seat:
    values: dict[str, Any] = {
        "launch": "l1", "role": role, "phase": "implementing", "mode": "fresh", "reason": "",
        "since": "2026-01-01T10:15:00.000Z", **changed,
    }  # fmt: skip
    return Seat(**values)


def seen(status: str, at: str = "10:27:00", source: str = "screen") -> SeatStatus:
    return SeatStatus(status=status, source=source, since=f"2026-01-01T{at}.000Z")


def picture(
    phase: Phase = Phase.IMPLEMENTING,
    *,
    statuses: Mapping[str, SeatStatus] | None = None,
    problem: str | None = None,
    messages: tuple[str, ...] = (),
    **values: Any,
) -> MonitorContent:
    state = state_of(phase, **{"feature": "Add a login form", "feature_dir": FOLDER, **values})
    return MonitorContent(
        state=state,
        statuses=statuses or {},
        problem=problem,
        messages=tuple(map(MonitorMessage, messages)),
        now=NOW,
        name=SLUG,
    )
