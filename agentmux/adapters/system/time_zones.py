"""Finds time zones by name, and the machine's own."""

from __future__ import annotations

from collections.abc import Callable
from datetime import tzinfo
from pathlib import Path
from typing import Final
from zoneinfo import ZoneInfo

_LOCAL: Final = Path("/etc/localtime")


def zones(own: str, *, local: Path = _LOCAL) -> Callable[[str], tzinfo | None]:
    """Return a function that finds a time zone by its name, or returns None if it is unknown.

    The empty name means the machine's own zone: ``own`` (the value of ``TZ``), else the zone in the
    file ``local``, else UTC.
    """

    def find(name: str) -> tzinfo | None:
        return (
            _load_zone(name)
            if name
            else _load_zone(own.lstrip(":")) or _of(local) or _load_zone("UTC")
        )

    return find


def _load_zone(name: str) -> tzinfo | None:
    try:
        return ZoneInfo(name) if name else None
    except (ValueError, OSError, KeyError):  # KeyError: no such zone
        return None


def _of(path: Path) -> tzinfo | None:
    try:
        with path.open("rb") as file:
            return ZoneInfo.from_file(file)
    except (ValueError, OSError):
        return None
