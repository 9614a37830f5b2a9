"""Parse the times (ISO 8601) in the files of a session."""

from __future__ import annotations

from datetime import UTC, datetime


def time_of(text: object) -> datetime | None:
    """Return the time that ``text`` contains in ISO 8601; None if it is anything else.

    The result always has a time zone; it is UTC if ``text`` has none.
    """
    try:
        time = datetime.fromisoformat(str(text))
    except ValueError:
        return None
    return time if time.tzinfo else time.replace(tzinfo=UTC)
