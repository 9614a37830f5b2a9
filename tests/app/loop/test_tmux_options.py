from typing import Any

import pytest

from agentmux.app.loop.tmux_options import TmuxOptions, session_options, waits
from agentmux.core.journal.state import SessionState
from agentmux.core.names.phase import Phase
from agentmux.ports.display import SeatStatus
from agentmux.ports.terminal import StatusOption, TerminalError


def state(phase: str, **values: Any) -> SessionState:
    return SessionState(phase=Phase(phase), **values)


def seen(status: str, *, until: str = "") -> SeatStatus:
    return SeatStatus(status=status, source="screen", since="", until=until)


def shown(made: SessionState, *statuses: str, problem: str | None = None) -> tuple[str, str]:
    seats = {f"coder-{place}": seen(each) for place, each in enumerate(statuses)}
    made_of = session_options(made, seats, problem)
    return made_of[StatusOption.STATUS], made_of[StatusOption.NEEDS_YOU]


@pytest.mark.parametrize(
    ("statuses", "says"),
    [
        ((), ("running", "")),
        (("busy", "idle", "unknown"), ("running", "")),
        (("busy", "waiting_for_user"), ("waiting for you", "1")),
        (("usage_limit", "stalled", "stopped"), ("waiting for you", "1")),
        (("usage_limit", "stalled"), ("stalled", "1")),
        (("usage_limit",), ("usage limit", "1")),
        (("finished",), ("waiting for you", "1")),
    ],
)
def test_the_status_is_the_most_urgent_thing(
    statuses: tuple[str, ...], says: tuple[str, str]
) -> None:
    assert shown(state("implementing"), *statuses) == says


def test_a_problem_and_the_end_are_shown() -> None:
    assert shown(state("implementing"), "busy", problem="tmux is gone") == ("stalled", "1")
    assert shown(state("failed"), "busy") == ("failed", "1")
    assert shown(state("done")) == ("done", "")
    assert shown(state("completing", summary_submitted=True)) == ("waiting for you", "1")


def test_a_parked_agent_does_not_wait_for_the_user() -> None:
    assert waits(seen("usage_limit"))
    assert not waits(seen("usage_limit", until="2026-11-23T20:00:00+00:00"))


def test_the_feature_is_one_short_line() -> None:
    options = session_options(state("fixing", feature="a\x1b[31m  b\tc " + "d" * 500), {}, None)
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
