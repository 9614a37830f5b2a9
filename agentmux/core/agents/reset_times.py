"""Parse the time at which a usage limit ends, from the text that an agent shows."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Final, TypeAlias

from agentmux.core.codec.times import time_of

Zones: TypeAlias = Callable[[str], "tzinfo | None"]
"""A function that returns the time zone with a name, such as ``Europe/Berlin``.

It returns the machine's own time zone for an empty name, and None for an unknown name.
"""

_PASSED: Final = timedelta(hours=1)
"""A time of day counts as today's if it is less than this in the past, else as tomorrow's."""

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
    """Return the time, in UTC, at which a usage limit ends; None if ``words`` is not a time.

    A date without a year is the date closest to ``now``. A time without a date is the next such
    time, or today's if that has passed by less than an hour.

    Args:
        words: The text on the agent's screen, such as ``Nov 26, 7:46pm (UTC)``, ``Nov 26th, 2026
            7:46 PM``, ``5pm``, ``12:10``, ``3 hours 5 minutes`` or ISO 8601.
        now: The current time, with its time zone.
        zones: A function that returns the time zone with a name, and None for an unknown name. For
            an empty name it returns the machine's own time zone, which applies if ``words`` name no
            known one.

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
    return min(near, key=lambda each: abs(each - today))  # raises ValueError if empty


def _in_year(clock: datetime, year: int, month: int, day: int) -> datetime | None:
    try:
        return clock.replace(year=year, month=month, day=day)
    except ValueError:
        return None
