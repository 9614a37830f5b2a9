"""What a status is called where people read it; programs read its own name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

_WORDS: Final[Mapping[str, str]] = {
    "waiting_for_user": "waiting for you",
    "ended_by_user": "ended by you",
}


def status_label(status: str) -> str:
    """Return a status of a session or a seat in words."""
    return _WORDS.get(status, status.replace("_", " "))
