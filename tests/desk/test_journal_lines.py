"""The events of a session as lines of the desk."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agentmux.core.journal.events import (
    AgentLaunched,
    ArchitectureDone,
    ChangesRequested,
    Event,
    Fact,
)
from agentmux.core.terminal.text.text_width import width
from agentmux.desk.session.journal_lines import journal_lines, whole_lines
from agentmux.desk.styled import plain
from tests.desk.builders import NOW


def event(fact: Fact, seat: str = "orchestrator", at: str = "2026-01-02T10:15:00.000Z") -> Event:
    return Event(id="e1", at=at, seat=seat, launch="l1", cycle=1, fact=fact)


def lines(*events: Event) -> list[str]:
    return [plain(each) for each in journal_lines(events, NOW)]


def test_the_newest_event_comes_first() -> None:
    launched = AgentLaunched(role="architect", record={}, mode="fresh", reason="first start")
    done = event(ArchitectureDone(), "architect", "2026-01-02T11:15:00.000Z")
    first, second = lines(event(launched, "architect"), done)
    assert "architect" in first
    assert "agent launched" in second
    assert "mode=fresh" in second


def test_an_event_without_a_time_is_shown() -> None:
    assert lines(event(ArchitectureDone(), at=""))[0].split()[0] == "-"


def test_long_values_are_left_out() -> None:
    (short,) = lines(event(ChangesRequested(text="use orjson")))
    (long,) = lines(event(ChangesRequested(text="x" * 61)))
    assert "text=use orjson" in short
    assert "text=" not in long
    whole = whole_lines([event(ChangesRequested(text="x" * 61))], NOW)
    assert f"text={'x' * 61}" in plain(next(whole))


def test_columns_are_as_wide_as_their_longest_text() -> None:
    events = [event(ArchitectureDone(), seat) for seat in ("architect", "qa")]
    second, first = lines(*events)
    assert first.index("handed in") == second.index("handed in") == width("10:15  architect  ")


@given(seat=st.text(), text=st.text())
def test_no_control_character_of_an_agent_is_in_a_line(seat: str, text: str) -> None:
    (line,) = lines(event(ChangesRequested(text=text), seat))
    assert line.isprintable()
