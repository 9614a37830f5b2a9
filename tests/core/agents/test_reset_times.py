"""When a usage limit ends, in the words of agents."""

from datetime import UTC, datetime, timedelta, timezone, tzinfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentmux.core.agents.reset_times import reset_time

NOW = datetime(2026, 11, 23, 12, 0, tzinfo=UTC)
HERE = timezone(timedelta(hours=1))
"""The machine's zone: there it is 1pm."""


def zones(name: str) -> tzinfo | None:
    return {"": HERE, "UTC": UTC, "America/Lima": timezone(timedelta(hours=-5))}.get(name)


def at(day: int, hour: int, minute: int = 0, *, month: int = 11, year: int = 2026) -> datetime:
    return datetime(year, month, day, hour, minute, tzinfo=UTC)


@pytest.mark.parametrize(
    ("words", "means"),
    [
        ("Nov 26, 7:46pm (UTC)", at(26, 19, 46)),
        ("Nov 26, 7:46pm", at(26, 18, 46)),
        ("Nov 26, 7pm (America/Lima)", at(27, 0)),
        ("Nov 26, 7pm (Atlantis/City)", at(26, 18)),
        ("Nov 26th, 2026 7:46 PM", at(26, 18, 46)),
        ("Dec 1st, 2026 12:05 AM", at(30, 23, 5)),
        ("Jan 2, 3am", at(2, 2, month=1, year=2027)),
        ("November 26 at 7:46pm", at(26, 18, 46)),
        ("5pm", at(23, 16)),
        ("5pm (UTC)", at(23, 17)),
        ("13:10", at(23, 12, 10)),
        ("12:40pm", at(23, 11, 40)),  # it has just passed
        ("11am", at(24, 10)),
        ("12am", at(23, 23)),
        ("2026-11-23T12:10:05Z", datetime(2026, 11, 23, 12, 10, 5, tzinfo=UTC)),
        ("3 hours 5 minutes", at(23, 15, 5)),
        ("2 days 1 hour", at(25, 13)),
        ("45m", at(23, 12, 45)),
    ],
)
def test_the_words_of_agents_are_times(words: str, means: datetime) -> None:
    assert reset_time(words, now=NOW, zones=zones) == means


@pytest.mark.parametrize(
    "words",
    ["", "soon", "later", "5", "25:00", "13pm", "0am", "Feb 30, 5pm", "Foo 3, 5pm",
     "Nov 26", "2026-99-99T00:00", "5pm tomorrow", "999999 days 999999 days 999999 days"],
)  # fmt: skip
def test_other_words_are_no_time(words: str) -> None:
    assert reset_time(words, now=NOW, zones=zones) is None


def test_a_day_that_only_some_years_have_is_the_nearest_one() -> None:
    assert reset_time("Feb 29, 5pm (UTC)", now=NOW, zones=zones) is None
    leap = datetime(2027, 12, 1, tzinfo=UTC)
    found = reset_time("Feb 29, 5pm (UTC)", now=leap, zones=zones)
    assert found == at(29, 17, month=2, year=2028)


@given(st.text(max_size=40))
def test_any_text_is_a_time_or_none(words: str) -> None:
    found = reset_time(words, now=NOW, zones=zones)
    assert found is None or found.tzinfo is UTC


@given(st.integers(0, 60 * 24 - 1))
def test_a_time_without_a_day_is_soon(minutes: int) -> None:
    words = f"{minutes // 60:02}:{minutes % 60:02}"
    found = reset_time(words, now=NOW, zones=zones)
    assert found is not None
    assert -timedelta(hours=1) <= found - NOW < timedelta(hours=23)
