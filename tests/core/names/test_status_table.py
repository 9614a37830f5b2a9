"""The one table of the statuses of sessions."""

import pytest

from agentmux.core.names import statuses
from agentmux.core.names.occasion import Occasion
from agentmux.core.names.status_labels import (
    STATUS_TABLE,
    Colour,
    SessionStatus,
    StatusGroup,
    age,
    status_colour,
    status_group,
    status_label,
)


def test_every_status_of_a_session_is_in_the_table() -> None:
    assert set(STATUS_TABLE) == set(SessionStatus)


def test_what_needs_its_user_is_yellow_or_red_and_nothing_else_is_red() -> None:
    for row in STATUS_TABLE.values():
        if row.group is StatusGroup.NEEDS_YOU:
            assert row.colour in {Colour.YELLOW, Colour.RED}
        else:
            assert row.colour is not Colour.RED


def test_each_status_has_words_of_its_own() -> None:
    labels = [row.label for row in STATUS_TABLE.values()]
    assert len(set(labels)) == len(labels)


@pytest.mark.parametrize(
    ("status", "label", "colour", "group"),
    [
        ("decision", "yours to decide", "yellow", "needs you"),
        ("unknown", "unknown", "red", "needs you"),
        ("stopped", "stopped", "dim", "interrupted"),
        ("done", "done", "green", "done"),
        (statuses.BROKEN, "could not run", "yellow", "needs you"),
        ("of_a_newer_version", "of a newer version", "", "needs you"),
    ],
)
def test_what_is_shown(status: str, label: str, colour: str, group: str) -> None:
    shown = (status_label(status), status_colour(status), status_group(status))
    assert shown == (label, colour, group)


@pytest.mark.parametrize(
    ("seconds", "least", "said"),
    [
        (None, "s", "-"),
        (-3, "s", "0s"),
        (59.9, "s", "59s"),
        (59.9, "m", "<1m"),
        (60, "m", "1m"),
        (7200, "s", "2h"),
        (172_800, "m", "2d"),
    ],
)
def test_an_age_is_told_in_its_largest_unit(seconds: float | None, least: str, said: str) -> None:
    assert age(seconds, least=least) == said


def test_each_occasion_of_a_status_is_one_that_people_are_notified_of() -> None:
    assert {row.occasion for row in STATUS_TABLE.values()} == {None, *Occasion}
