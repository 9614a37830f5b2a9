"""When a usage limit ends: the agents' words for it, as a time."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Final, TypeAlias

from agentmux.core.codec.times import time_of

Zones: TypeAlias = Callable[[str], "tzinfo | None"]
"""Returns the time zone of a name, such as ``Europe/Berlin``; of an empty name the machine's own.

None for an unknown name.
"""

_PASSED: Final = timedelta(hours=1)
"""A time of the day that has passed by less than this is meant as it is, not as tomorrow's."""

_MONTHS: Final = [
    "jan",
    "feb",
    "mar",
    "apr",
    "may",
    "jun",
    "jul",
    "aug",
    "sep",
    "oct",
    "nov",
    "dec",
]
_UNITS: Final = {"d": 86_400, "h": 3_600, "m": 60, "s": 1}
_MOMENT: Final = re.compile(
    r"(?:(?P<month>[a-z]{3,9})\.?\s+(?P<day>\d{1,2})(?:st|nd|rd|th)?,?\s+"
    r"(?:(?P<year>\d{4}),?\s+)?(?:at\s+)?)?"
    r"(?P<hour>\d{1,2})(?::(?P<minute>\d\d))?\s*(?P<half>[ap]m)?"
    r"(?:\s*\((?P<zone>[\w/+-]{1,40})\))?",
    re.IGNORECASE,
)
_PART: Final = re.compile(
    r"(\d{1,6})\s*(d|h|m|s)(?:ays?|(?:ou)?rs?|in(?:ute)?s?|ec(?:ond)?s?)?\b,?\s*", re.IGNORECASE
)


def reset_time(words: str, *, now: datetime, zones: Zones) -> datetime | None:
    """Return the time (UTC) that an agent's words for the end of its limit mean; None for no time.

    A day without a year is the nearest one; a time without a day is the next one, or one that has
    just passed.

    Args:
        words: As on the screen: ``Nov 26, 7:46pm (UTC)``, ``Nov 26th, 2026 7:46 PM``, ``5pm``,
            ``12:10``, ``3 hours 5 minutes`` or ISO 8601.
        now: The current time, aware.
        zones: Finds the zone that the words name; a time without a zone is the machine's own.

    Source: tests/real/screens (claude 2.1.330, codex 0.169.0).
    """
    text = words.strip().rstrip(".")
    if re.match(r"\d{4}-\d\d-\d\dT", text):
        exact = time_of(text)
        return None if exact is None else exact.astimezone(UTC)
    try:
        match = _MOMENT.fullmatch(text)
        return _after(text, now) if match is None else _moment(match, now, zones)
    except (ValueError, OverflowError):  # such as February 30th
        return None


def _after(said: str, now: datetime) -> datetime | None:
    if not said or _PART.sub("", said):
        return None
    parts = _PART.findall(said)
    return now.astimezone(UTC) + timedelta(
        seconds=sum(int(count) * _UNITS[unit.lower()] for count, unit in parts)
    )


def _moment(found: re.Match[str], now: datetime, zones: Zones) -> datetime | None:
    if found["half"] is None and found["minute"] is None:
        return None  # a bare number is no time
    here = zones(found["zone"] or "") or zones("") or UTC
    today = now.astimezone(here)
    clock = today.replace(
        hour=_hour(int(found["hour"]), found["half"]),
        minute=int(found["minute"] or 0),
        second=0,
        microsecond=0,
        fold=0,
    )
    if found["month"] is None:
        is_over = now - clock > _PASSED
        moment = clock + timedelta(days=1) if is_over else clock
    else:
        moment = _on_day(clock, found, today)
    return moment.astimezone(UTC)


def _hour(hour: int, half: str | None) -> int:
    """Return the hour from 0 to 23; raise `ValueError` for an hour that no clock shows."""
    if half is None:
        return hour
    if not 1 <= hour <= 12:
        raise ValueError(hour)
    return hour % 12 + (12 if half.lower() == "pm" else 0)


def _on_day(clock: datetime, found: re.Match[str], today: datetime) -> datetime:
    month = _MONTHS.index(found["month"][:3].lower()) + 1
    if found["year"] is not None:
        return clock.replace(year=int(found["year"]), month=month, day=int(found["day"]))
    years = (today.year - 1, today.year, today.year + 1)
    days = (_in_year(clock, year, month, int(found["day"])) for year in years)
    near = [each for each in days if each is not None]
    return min(near, key=lambda each: abs(each - today))  # of none: ValueError


def _in_year(clock: datetime, year: int, month: int, day: int) -> datetime | None:
    try:
        return clock.replace(year=year, month=month, day=day)
    except ValueError:
        return None
