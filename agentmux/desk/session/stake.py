"""Reads what is at stake for a session: what the overview shows first, below its status."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

from agentmux.adapters.disk.files import read_limited
from agentmux.app.views.session_words import failed_commands, outcome_lines
from agentmux.core.codec.frozen import dataclass
from agentmux.core.names import statuses
from agentmux.core.names.status_labels import Colour, SessionStatus
from agentmux.core.terminal.text.text_width import printable
from agentmux.desk.styled import BOLD, Line, line
from agentmux.errors import AgentmuxError, data_error_from

if TYPE_CHECKING:
    from pathlib import Path

    from agentmux.app.session.search.lookup import SessionEntry
    from agentmux.app.views.session.last_screens import LastScreen
    from agentmux.app.views.session.session_view import SeatView, SessionView
    from agentmux.app.world import Site
    from agentmux.desk.list.listing import DeskRow
    from agentmux.desk.list.reading import SessionReader
    from agentmux.desk.session.live_screens import LiveScreens
    from agentmux.ports.tmux.display import ResultView

_KEPT_S: Final = 60.0
"""For how many seconds what git has said, or the plan of a resume, is used again.

It is read again at once if the session changes. The commands look again in any case.
"""

_ASKING: Final = (statuses.WAITING, statuses.STOPPED)
_ORDER: Final = (
    *(statuses.BUSY, statuses.CHECKING, statuses.SETTING_UP, statuses.STALLED, statuses.STARTING),
    *(statuses.LAUNCHED, statuses.UNKNOWN, statuses.IDLE, statuses.LIMIT, statuses.PARKED),
)
"""The other statuses of seats, those that come first whose screen tells most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stake:
    """What the overview of a session shows first; all attributes are empty if there is nothing.

    Attributes:
        lines: Lines about the outcome of a session, or the plan of a resume.
        output: The end of the output of what failed.
        screen: The screen of the agent that asks, that failed, or that worked last.
        is_live: Whether ``screen`` was captured just now.
        result: The result that the user has to decide on.
    """

    lines: tuple[Line, ...] = ()
    output: tuple[str, ...] = ()
    screen: LastScreen | None = None
    is_live: bool = False
    result: ResultView | None = None


class StakeReader:
    """Reads what the overview of a session shows first (`Stake`): what its user should see.

    The methods wait for files, git and tmux.
    """

    def __init__(self, reader: SessionReader, live: LiveScreens) -> None:
        self._reader = reader
        self._live = live
        self._kept: tuple[tuple[Path, int], float, Stake] | None = None

    def stake(self, row: DeskRow, site: Site, entry: SessionEntry, view: SessionView) -> Stake:
        """Return what the overview of a session shows first, as the attributes of `Stake` say.

        That is a result to decide on, the outcome, the plan of a resume, the output of what failed,
        or a screen. What cannot be read is replaced by the reason; for a session that cannot be
        read at all, or was moved, it is empty. It waits for files, git and tmux. What is read of an
        unchanged session may be up to a minute old, except for screens and output.

        Args:
            row: The session's row in the list.
            site: The session's project.
            entry: The session.
            view: What is known about the session.
        """
        if entry.problem is not None or entry.is_moved:
            return Stake()
        if row.decision:
            return self._keep(row, partial(self._result, row))
        if row.is_done and view.status == SessionStatus.DONE:
            return self._keep(row, partial(self._outcome, row, view))
        if row.can_be_resumed and view.status != SessionStatus.FAILED:
            return self._keep(row, partial(self._plan, row, site, entry))
        return self._work(row, site, entry, view)

    def _keep(self, row: DeskRow, read: Callable[[], Stake]) -> Stake:
        """Return what ``read`` returns, or what was returned for this row a short time ago."""
        key, now_s = (row.path, row.seen_ns), time.monotonic()
        if self._kept is not None and self._kept[0] == key and now_s < self._kept[1]:
            return self._kept[2]
        try:
            stake = read()
        except (AgentmuxError, OSError) as error:
            known = data_error_from(error) if isinstance(error, OSError) else error
            return Stake(lines=(line(known.message, Colour.RED.value),))
        self._kept = key, now_s + _KEPT_S, stake
        return stake

    def _result(self, row: DeskRow) -> Stake:
        from agentmux.app.delivery.approval.result_view import deliverable_view

        world, state = self._reader.place_row(row)
        return Stake(result=deliverable_view(world, world.files(row.path), state))

    def _outcome(self, row: DeskRow, view: SessionView) -> Stake:
        from agentmux.app.delivery.steps.outcome import describe_ways_to_get
        from agentmux.app.delivery.steps.summary import summary_lines

        world = self._reader.world(row.project)
        files = world.files(row.path)
        first, *ways = outcome_lines(view, partial(describe_ways_to_get, lambda: world, row.path))
        summary = tuple(map(line, summary_lines(files, files.load().current)))
        return Stake(lines=(line(first, BOLD), *map(line, ways), (), *summary))

    def _plan(self, row: DeskRow, site: Site, entry: SessionEntry) -> Stake:
        from agentmux.app.views.explanation import explanation

        _, *plan = explanation(self._reader.world(row.project), site, entry, explain=False)
        words = (each.removeprefix(entry.name).lstrip(": ") for each in plan[:1])
        return Stake(lines=(*map(line, words), *map(line, plan[1:])))

    def _work(self, row: DeskRow, site: Site, entry: SessionEntry, view: SessionView) -> Stake:
        """Return the end of what failed; else the screen of an agent."""
        seats = self._live.seats(site, entry) if row.live else ()
        held = entry.fields.get("agents")
        seat = seat_at_stake(view, seats or (tuple(held) if isinstance(held, dict) else ()))
        output = tuple(failed_output(view)) if _has_failed(view, seat) else ()
        if output or seat is None:
            return Stake(output=output)
        return self._screen(row, site, entry, seat)

    def _screen(self, row: DeskRow, site: Site, entry: SessionEntry, seat: str) -> Stake:
        from agentmux.app.views.session.last_screens import readable_screens

        kept = readable_screens(row.path, (seat,), read_limited)
        last = kept[0] if kept else blank_screen(entry, seat)
        now = self._live.screen(row.path, last, site.now()) if row.live else None
        return Stake(screen=now or last, is_live=now is not None)


def seat_at_stake(view: SessionView, shown: Sequence[str]) -> str | None:
    """Return the seat whose screen the user needs to see first.

    It is the seat that made the session fail, else one that asks the user, else one for which the
    session waits, else the one that worked last. None if there are no screens.

    Args:
        view: The session.
        shown: The seats that have a screen, in the order in which they began.
    """
    failed = (view.interruption or {}).get("seat") if view.status == SessionStatus.FAILED else None
    if failed in shown:
        return str(failed)
    seats = sorted((each for each in view.seats if each.seat in shown), key=_urgency)
    return seats[0].seat if seats else next(reversed(shown), None)


def _urgency(seat: SeatView) -> tuple[int, float]:
    """Return the sort key of a seat; of two in the same status, the one that changed last wins."""
    age_s = seat.age_s if seat.age_s is not None else float("inf")
    if seat.status in _ASKING:
        return 0, age_s
    if seat.holds_up or seat.unsent:
        return 1, age_s
    return 2 + (_ORDER.index(seat.status) if seat.status in _ORDER else len(_ORDER)), age_s


def _has_failed(view: SessionView, seat: str | None) -> bool:
    """Whether the session failed, or waits because the command of a check could not run."""
    broken = any(each.seat == seat and each.status == statuses.BROKEN for each in view.seats)
    return broken or view.status == SessionStatus.FAILED


def failed_output(view: SessionView) -> Iterator[str]:
    """Yield the lines of the output of the checks that failed.

    A line with the name of the check and a colon comes before its output. Checks without output are
    left out.
    """
    for check, output in failed_commands(view).items():
        if output.strip():
            yield f"{check}:"
            yield from (printable(each) for each in output.splitlines())


def blank_screen(entry: SessionEntry, seat: str) -> LastScreen:
    """Return an empty screen for a seat that has no saved one; it has the name of the agent."""
    from agentmux.app.views.plain_fields import mapping, text
    from agentmux.app.views.session.last_screens import no_screen

    return no_screen(seat, text(mapping(mapping(entry.fields, "agents"), seat), "agent"))
