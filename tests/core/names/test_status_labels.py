"""The words for the statuses of sessions and seats."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from agentmux.core.names.status_labels import parked_label

NOW = datetime(2026, 11, 23, 23, 30, tzinfo=timezone(timedelta(hours=1)))


@pytest.mark.parametrize(
    ("until", "words"),
    [
        (datetime(2026, 11, 23, 22, 45, tzinfo=UTC), "limit until 23:45"),
        (datetime(2026, 11, 23, 23, 5, tzinfo=UTC), "limit until Nov 24, 00:05"),
        (datetime(2027, 1, 2, 8, 0, tzinfo=UTC), "limit until Jan 2, 09:00"),
    ],
)
def test_the_end_of_a_limit_is_told_by_the_clock_of_who_looks(until: datetime, words: str) -> None:
    assert parked_label(until, NOW) == words
