"""Reading the points in time (ISO 8601) in the files of a session."""

from __future__ import annotations

from datetime import UTC, datetime


def time_of(text: object) -> datetime | None:
    """Return the time that an ISO 8601 text means; None for anything else.

    The result always has a time zone: that of the text, else UTC.
    """
    try:
        time = datetime.fromisoformat(str(text))
    except ValueError:
        return None
    return time if time.tzinfo else time.replace(tzinfo=UTC)
