"""Checks run at the same time, and one that hangs or fails is a finding."""

from __future__ import annotations

from collections.abc import Iterator
from threading import Barrier, Event

import pytest

from agentmux.app.doctor.examination import examine
from agentmux.app.doctor.finding import DoctorFinding, Level, fine
from agentmux.errors import ConfigError


def test_a_check_that_hangs_is_a_problem_and_holds_nothing_up() -> None:
    never = Event()

    def hangs() -> Iterator[DoctorFinding]:
        yield fine("hangs", "begun")
        never.wait()

    found = examine({"hangs": hangs, "other": lambda: [fine("other", "good")]}, limit_s=0.3)
    never.set()
    assert [(each.check, each.level, each.text) for each in found] == [
        ("hangs", Level.PROBLEM, "no answer within 0.3 s"),
        ("other", Level.OK, "good"),
    ]


def test_checks_run_at_the_same_time() -> None:
    both = Barrier(2, timeout=60)

    def meets() -> Iterator[DoctorFinding]:
        both.wait()
        yield fine("meets", "met")

    found = examine({"one": meets, "two": meets}, limit_s=60)
    assert [each.text for each in found] == ["met", "met"]


def test_an_error_is_a_finding_with_its_first_hint_after_what_was_found_before() -> None:
    def fails() -> Iterator[DoctorFinding]:
        yield fine("fails", "so far")
        raise ConfigError("config.yaml:3: unknown key", hints=("did you mean `agent`?", "or not"))

    before, error = examine({"fails": fails}, limit_s=60)
    assert before.text == "so far"
    assert (error.level, error.text) == (Level.PROBLEM, "config.yaml:3: unknown key")
    assert error.mend == "did you mean `agent`?"


def test_a_bug_is_not_hidden() -> None:
    nothing: dict[str, str] = {}

    def broken() -> Iterator[DoctorFinding]:
        yield fine("broken", nothing["a bug"])

    with pytest.raises(KeyError):
        examine({"broken": broken}, limit_s=60)
