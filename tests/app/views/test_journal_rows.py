"""The events of a session as rows."""

from __future__ import annotations

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from agentmux.app.views.session.journal_rows import journal_rows
from agentmux.core.journal.events import (
    AgentExited,
    ArchitectureDone,
    ChangesRequested,
    Event,
    Fact,
)

NOW = datetime(2026, 1, 2, 12, tzinfo=UTC)


def event(fact: Fact, seat: str = "orchestrator") -> Event:
    return Event(id="e1", at="2026-01-02T10:15:00.000Z", seat=seat, launch="l1", cycle=1, fact=fact)


def test_the_newest_event_comes_first_with_its_words_and_values() -> None:
    asked = ChangesRequested(text="use orjson", phase="fixing")
    first, second = journal_rows([event(ArchitectureDone(), "architect"), event(asked)], NOW)
    assert (first.what, first.short) == ("asked for changes", "text=use orjson, phase=fixing")
    assert (second.seat, second.what) == ("architect", "handed in the architecture")


def test_a_long_value_is_one_of_all_only() -> None:
    (row,) = journal_rows([event(ChangesRequested(text="x" * 61))], NOW)
    assert row.short == ""
    assert row.whole == f"text={'x' * 61}"


def test_a_number_is_shown_even_if_it_is_0() -> None:
    (row,) = journal_rows([event(AgentExited(cause="finished", status=0))], NOW)
    assert row.short == "cause=finished, status=0"


@given(seat=st.text(), text=st.text())
def test_no_control_character_of_an_agent_is_in_a_row(seat: str, text: str) -> None:
    (row,) = journal_rows([event(ChangesRequested(text=text), seat)], NOW)
    assert all(each.isprintable() for each in (row.when, row.seat, row.what, row.short, row.whole))
