from typing import Any

import pytest

from agentmux.app.loop.monitor.tmux_options import TmuxOptions, is_marked, session_options, waits
from agentmux.core.decisions.attention import session_attention
from agentmux.core.journal.state import Interruption, Seat, SessionState
from agentmux.core.names.occasion import Occasion
from agentmux.core.names.phase import Phase
from agentmux.core.names.status_labels import STATUS_TABLE, StatusGroup
from agentmux.ports.tmux.display import SeatStatus
from agentmux.ports.tmux.terminal import StatusOption, TerminalError


def state(phase: str, **values: Any) -> SessionState:
    return SessionState(phase=Phase(phase), **values)


def seen(status: str, *, until: str = "") -> SeatStatus:
    return SeatStatus(status=status, source="screen", since="", until=until)


def shown(made: SessionState, *, troubled: bool = False) -> tuple[str, str]:
    made_of = session_options(made, session_attention(made, {}, troubled=troubled))
    return made_of[StatusOption.STATUS], made_of[StatusOption.NEEDS_YOU]


def test_the_options_say_what_the_session_wants() -> None:
    assert shown(state("implementing")) == ("running", "")
    assert shown(state("implementing"), troubled=True) == ("stalled", "stalled")
    assert shown(state("failed")) == ("failed", "failed")
    assert shown(state("done")) == ("done", "")
    assert shown(state("completing", summary_submitted=True)) == ("yours to decide", "decision")


def test_the_mark_of_a_pane_agrees_with_the_table_of_statuses() -> None:
    """An agent at a usage limit is parked in the table, also if nobody knows until when."""
    for status, row in STATUS_TABLE.items():
        if row.occasion in {Occasion.QUESTION, Occasion.STALLED, Occasion.PARKED}:
            assert waits(seen(status)) == (row.group is StatusGroup.NEEDS_YOU), status
    assert not waits(seen("usage_limit"))
    assert not waits(seen("usage_limit", until="2026-11-23T20:00:00+00:00"))


def test_the_pane_of_an_agent_that_only_the_user_can_start_again_is_marked() -> None:
    def crashed(phase: str) -> SessionState:
        seat = Seat(launch="l", role="coder", phase="implementing", mode="fresh", reason="",
                    since="", status="crashed")  # fmt: skip
        why = Interruption(cause="lost twice", seat="coder-1")
        return state(phase, seats={"coder-1": seat}, interruption=why)

    assert is_marked(crashed("failed"), "coder-1", seen("crashed"))
    assert not is_marked(crashed("failed"), "coder-2", None)
    assert not is_marked(crashed("implementing"), "coder-1", seen("crashed"))
    assert is_marked(crashed("implementing"), "coder-1", seen("waiting_for_user"))


def test_the_feature_is_one_short_line() -> None:
    made = state("fixing", feature="a\x1b[31m  b\tc " + "d" * 500)
    options = session_options(made, session_attention(made, {}, troubled=False))
    assert options[StatusOption.FEATURE].startswith("a [31m b c ddd")
    assert len(options[StatusOption.FEATURE]) == 120
    assert options[StatusOption.PHASE] == "fixing"


class Written:
    def __init__(self) -> None:
        self.calls: list[tuple[dict[str, str], dict[str, dict[str, str]]]] = []
        self.broken = False

    def set_options(self, session: Any, panes: Any) -> None:
        if self.broken:
            raise TerminalError("no")
        self.calls.append((dict(session), {pane: dict(each) for pane, each in panes.items()}))


def test_only_changes_are_written() -> None:
    tmux: Any = Written()
    options = TmuxOptions(tmux)
    options.write({"@a": "1", "@b": "2"}, {"%1": False})  # an orchestrator before may have set it
    options.write({"@a": "1", "@b": "2"}, {"%1": False, "%2": False})
    options.write({"@a": "1", "@b": "3"}, {"%1": False, "%2": True})
    tmux.broken = True
    with pytest.raises(TerminalError):
        options.write({"@a": "1", "@b": "4"}, {"%2": True})
    tmux.broken = False
    options.write({"@a": "1", "@b": "4"}, {"%2": True})
    assert tmux.calls == [
        ({"@a": "1", "@b": "2"}, {"%1": {"@agentmux_waits": ""}}),
        ({"@b": "3"}, {"%2": {"@agentmux_waits": "1"}}),
        ({"@a": "1", "@b": "4"}, {"%2": {"@agentmux_waits": "1"}}),
    ]
