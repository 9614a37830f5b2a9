"""Points in time in the files of a session: ISO 8601."""

from __future__ import annotations

from datetime import UTC, datetime


def time_of(text: object) -> datetime | None:
    """Return the time, with its zone (UTC where none is given); None for anything else."""
    try:
        found = datetime.fromisoformat(str(text))
    except ValueError:
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)
