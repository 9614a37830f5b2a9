"""The seat that the offline agent plays, read from its environment."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class OwnSeat(NamedTuple):
    """The agent's seat and launch, as AgentMux gives them in the environment.

    Outside a session, texts are empty and numbers have their defaults.
    """

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
    """Return the seat that the ``AGENTMUX_*`` variables in ``env`` describe.

    A missing or invalid number becomes its default: 1 (cycle), 0 (iteration) or None (sub-plan).
    """
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
