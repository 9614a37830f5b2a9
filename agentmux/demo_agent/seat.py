"""The agent's seat in a session, from its environment."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class OwnSeat(NamedTuple):
    """The pane's identity; every field is empty outside a session."""

    session_dir: str
    session_id: str
    launch: str
    role: str
    seat: str
    cycle: int
    iteration: int
    subplan: int | None
    topic: str


def seat_from(env: Mapping[str, str]) -> OwnSeat:
    """Read the ``AGENTMUX_*`` variables; missing or invalid numbers become 1, 0 or None."""
    role = env.get("AGENTMUX_ROLE", "")
    return OwnSeat(
        session_dir=env.get("AGENTMUX_SESSION_DIR", ""),
        session_id=env.get("AGENTMUX_SESSION_ID", ""),
        launch=env.get("AGENTMUX_LAUNCH_ID", ""),
        role=role,
        seat=env.get("AGENTMUX_SEAT", "") or role,
        cycle=_number(env.get("AGENTMUX_CYCLE", "")) or 1,
        iteration=_number(env.get("AGENTMUX_ITERATION", "")) or 0,
        subplan=_number(env.get("AGENTMUX_SUBPLAN", "")),
        topic=env.get("AGENTMUX_TOPIC", ""),
    )


def _number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() else None
