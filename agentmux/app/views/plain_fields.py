"""Reads fields of ``state.json`` undecoded: a value of the wrong type counts as missing."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from agentmux.core.codec.times import time_of

if TYPE_CHECKING:
    from agentmux.core.codec.records import Json

NOTHING: Final[Mapping[str, Any]] = {}


def mapping(fields: Json, name: str) -> Mapping[str, Any]:
    """Return the field ``name``; an empty mapping if it is missing or is no mapping."""
    value = fields.get(name)
    return value if isinstance(value, dict) else NOTHING


def text(fields: Json, name: str) -> str:
    """Return the field ``name``; an empty text if it is missing or is no text."""
    value = fields.get(name)
    return value if isinstance(value, str) else ""


def number(fields: Json, name: str, default: int) -> int:
    """Return the field ``name``; ``default`` if it is missing or is no whole number."""
    value = fields.get(name)
    return value if type(value) is int else default


def age(since: datetime, now: datetime) -> float:
    """Return the seconds from ``since`` to ``now``; 0 if ``since`` is in the future."""
    return max(0.0, round((now - since).total_seconds(), 3))


def age_of(since: str, now: datetime) -> float | None:
    """Return the seconds from the ISO 8601 time ``since`` to ``now``; None if it is not a time."""
    moment = time_of(since)
    return None if moment is None else age(moment, now)


def stamp(moment: datetime) -> str:
    """Return a time as AgentMux writes it: UTC, ISO 8601, with milliseconds and ``Z``."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
