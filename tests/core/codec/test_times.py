"""Reading points in time from text."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from agentmux.core.codec.times import time_of


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("2026-01-02T03:04:05.678Z", datetime(2026, 1, 2, 3, 4, 5, 678_000, tzinfo=UTC)),
        ("2026-01-02T03:04:05", datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)),
        (
            "2026-01-02T03:04:05+02:00",
            datetime(2026, 1, 2, 3, 4, 5, tzinfo=timezone(timedelta(hours=2))),
        ),
        ("", None),
        ("yesterday", None),
        (None, None),
        (7, None),
    ],
)
def test_a_time_has_its_zone_or_utc(text: object, found: datetime | None) -> None:
    assert time_of(text) == found
