"""What a person is told about where the next cycle begins."""

from __future__ import annotations

from agentmux.core.definitions.definition import Kind
from agentmux.core.journal.state import SessionState
from agentmux.core.pipeline.beginnings import elsewhere_words, in_order

PHASES = {"architecting": Kind.DOCUMENT, "planning": Kind.PLAN, "fixing": Kind.FIX}


def test_who_has_a_small_wish_is_told_where_it_belongs() -> None:
    said = elsewhere_words("architecting", PHASES)
    assert said == "elsewhere, such as fixing for a small wish"


def test_no_other_phase_is_named_where_there_is_no_better_one() -> None:
    assert elsewhere_words("fixing", PHASES) == "elsewhere"
    assert elsewhere_words("planning", {"planning": Kind.PLAN, "work": Kind.WORK}) == "elsewhere"
    assert elsewhere_words("planning", {"planning": Kind.PLAN}) == ""


def test_the_phase_for_a_small_wish_comes_second() -> None:
    found = in_order(SessionState(phase="completing"))
    assert found == ("architecting", "fixing", "planning", "implementing")
