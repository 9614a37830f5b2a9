"""Reads from the environment which seat the offline agent plays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class OwnSeat(NamedTuple):
    """The agent's seat and launch, as AgentMux describes them in the environment.

    Outside of a session, all texts are empty and the numbers have their defaults.

    Attributes:
        session_dir: The session's directory.
        session_id: The session's id.
        launch: The id of the launch.
        role: The role.
        seat: The seat; the same as the role if none is given.
        cycle: The cycle, from 1.
        iteration: The iteration, from 0.
        subplan: The number of the sub-plan; None if the seat has none.
        topic: The topic of a researcher; empty for other roles.
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
    """Return the seat that the ``AGENTMUX_*`` variables in the environment ``env`` describe.

    Missing texts are empty; the seat is then the role. The default of a missing or invalid number
    is 1 for the cycle, 0 for the iteration, and None for the sub-plan.
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
