"""Draws a picture as the monitor's lines, which consist of styled segments. Pure.

Every line has a rank. If the pane has too few rows, the lines with the highest ranks are left out
first. The current phase, and the lines that ask the user to act, have the lowest ranks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from enum import IntEnum
from pathlib import PurePosixPath
from typing import Final

from agentmux.app.views.session.result_lines import ResultStyle, result_lines
from agentmux.app.views.session.timeline import (
    CURRENT,
    DONE,
    FAILED,
    LATER,
    PhaseLine,
    phase_lines,
    phase_mark,
    shown_phases,
)
from agentmux.core.agents.screens import question_in
from agentmux.core.codec.times import time_of
from agentmux.core.decisions.limits import is_parked
from agentmux.core.decisions.seat_needs import list_restartable_seats
from agentmux.core.definitions.definition import Kind
from agentmux.core.fold.acceptance import takes_approval
from agentmux.core.journal.state import Seat, SessionState
from agentmux.core.names import statuses
from agentmux.core.names.conversations import needs_reason, started_again, which_conversation
from agentmux.core.names.phase import ENDS, SETUP, Phase
from agentmux.core.names.status_labels import (
    Colour,
    age,
    clock_label,
    parked_label,
    status_colour,
    status_label,
)
from agentmux.core.names.statuses import DELAYED
from agentmux.core.pipeline.delivery import failure
from agentmux.core.pipeline.registry import kind_of, working_phase
from agentmux.core.pipeline.results import capped_phases
from agentmux.core.terminal.keys.monitor_keys import DETACH
from agentmux.core.terminal.text.text_width import NARROW, clean, cut, spread, width, wrap
from agentmux.monitor.reading import draw_reading
from agentmux.monitor.segments import WIDEST, MonitorLine, Segment, SegmentStyle, plain
from agentmux.ports.tmux.display import MonitorContent, MonitorMessage, SeatStatus

ATTENTION: Final = "!"
"""The sign before a line that asks the user to act."""

_NEWEST: Final = 3
_TEXT_LINES: Final = 4
_PROBLEM_LINES: Final = 7
_QUESTION_LINES: Final = 8
_WHERE: Final = re.compile(r" \([^()]*\)")
"""A remark in brackets in the text on how to leave; it says where the keys lead."""
_RESULT_ROWS: Final = 6
"""The fewest free rows in which a result is shown."""
_RESULT_STYLES: Final = {
    ResultStyle.TEXT: SegmentStyle.PLAIN,
    ResultStyle.HEADING: SegmentStyle.HEADER,
    ResultStyle.MORE: SegmentStyle.DIM,
}


class _Rank(IntEnum):
    CURRENT = 0
    PROBLEM = 1
    TURN = 2
    SEAT = 3
    FEATURE = 4
    BOTTOM = 5
    MORE = 6
    DETAIL = 7
    PHASE = 8
    HEADING = 9
    MESSAGES = 10
    MESSAGE = 11
    WHY = 12
    SPACE = 13
    PLACE = 14
    OLDER = 15


_Ranked = tuple[int, MonitorLine]
_SPACE: Final[_Ranked] = (_Rank.SPACE, ())


def render(picture: MonitorContent, cols: int, rows: int) -> tuple[str, ...]:
    """Return the monitor's lines as plain text: ``rows`` lines of at most ``cols`` cells."""
    return tuple(plain(line) for line in draw(picture, cols, rows))


def draw(
    picture: MonitorContent, cols: int, rows: int, *, ended: bool = False
) -> tuple[MonitorLine, ...]:
    """Return the lines that the monitor draws: ``rows`` lines of at most ``cols`` cells.

    Args:
        picture: The picture to draw.
        cols: Columns of the terminal; less than 1 counts as 1.
        rows: Rows of the terminal; less than 1 counts as 1.
        ended: Whether the orchestrator has ended; the last lines then say how to resume the
            session.
    """
    cols, rows = max(cols, 1), max(rows, 1)
    shown = () if ended else draw_reading(picture, cols, rows) or _deciding(picture, cols, rows)
    if shown:
        return shown
    cols = min(cols, WIDEST)
    sections = (
        _header(picture, cols),
        _phases(picture, cols),
        _list_failures(picture, cols) if ended else _turns(picture, cols),
        _seats(picture, cols),
        _held(picture, cols),
        _problem(picture, cols),
        _messages(picture, rows, cols),
        _place(picture, cols),
    )
    return _fit(_join_sections(sections), list(_bottom(picture, cols, ended=ended)), rows)


def _join_sections(sections: Iterable[Iterable[_Ranked]]) -> list[_Ranked]:
    body: list[_Ranked] = []
    for section in sections:
        lines = list(section)
        body += [_SPACE, *lines] if body and lines else lines
    return body


def _deciding(picture: MonitorContent, cols: int, rows: int) -> tuple[MonitorLine, ...]:
    """Return the lines that ask the user to decide: the result, and the keys below it.

    Empty if there is no result to show, an agent waits for the user, or the rows do not suffice.
    """
    if picture.result is None or picture.state.seats.keys() & _askers_of(picture):
        return ()
    cols = min(cols, WIDEST)
    head = (_header(picture, cols), _phase_line(picture.state, cols), _problem(picture, cols))
    above = _join_sections(head)
    below = [*_turns(picture, cols), *_bottom(picture, cols, ended=False)]
    room = rows - len(above) - len(below) - 2
    if room < _RESULT_ROWS:
        return ()
    writes = picture.draft is not None
    drawn = result_lines(picture.result, cols, room, writes=writes)
    result = [(_Rank.DETAIL, (Segment(e.text, _RESULT_STYLES[e.style]),)) for e in drawn]
    return _fit([*above, _SPACE, *result], below, rows)


def _fit(body: Sequence[_Ranked], bottom: Sequence[_Ranked], rows: int) -> tuple[MonitorLine, ...]:
    lines = [*body, *bottom]
    ranked = sorted(range(len(lines)), key=lambda place: (lines[place][0], place))
    chosen = ranked[:rows]
    if lines[chosen[-1]][0] == _Rank.MESSAGES:
        chosen.pop()  # a heading without a message says nothing
    kept = sorted(chosen)
    above = [lines[place][1] for place in kept if place < len(body)]
    below = [lines[place][1] for place in kept if place >= len(body)]
    return (*above, *[()] * (rows - len(kept)), *below)


def _text(
    text: str,
    cols: int,
    style: SegmentStyle = SegmentStyle.PLAIN,
    *,
    ranks: tuple[int, int],
    lines: int = _TEXT_LINES,
    indent: str = "",
) -> Iterator[_Ranked]:
    """Yield the lines of a wrapped text, each with its rank.

    If the pane has too few rows, the lines with the highest rank are left out first.

    Args:
        text: The text.
        cols: Columns of the terminal.
        style: The style of all lines.
        ranks: The rank of the first line, and the rank of all others.
        lines: The highest number of lines; the rest of the text is cut.
        indent: Put before each line, unless the terminal is narrow.
    """
    indent = indent if cols > NARROW else ""
    for number, line in enumerate(wrap(clean(text), cols - len(indent), lines)):
        yield ranks[min(number, 1)], (Segment(indent + line, style),)


def _heading(text: str, cols: int) -> _Ranked:
    return _Rank.HEADING, (Segment(cut(text, cols), SegmentStyle.HEADER),)


# -- the feature ---------------------------------------------------------------------------------


def _header(picture: MonitorContent, cols: int) -> Iterator[_Ranked]:
    state = picture.state
    feature = (_Rank.FEATURE, _Rank.HEADING)
    yield from _text(state.subject, cols, SegmentStyle.HEADER, ranks=feature, lines=2)
    heading = (_Rank.HEADING, _Rank.WHY)
    if state.cycle > 1:
        yield from _text(f"cycle {state.cycle}", cols, ranks=heading, lines=1)
    if state.interruption is not None and state.phase != Phase.FAILED:
        ago = _age(state.interruption.at, picture.now)
        interruption = f"interrupted{f' {ago} ago' if ago else ''}: {state.interruption.cause}"
        yield from _text(interruption, cols, SegmentStyle.DIM, ranks=heading, lines=2)


def _name(state: SessionState) -> str:
    """Return the name of the session, as commands take it."""
    return PurePosixPath(state.feature_dir).name or state.session_name


def _choose_name(picture: MonitorContent) -> str:
    """Return the name of the session for commands to type."""
    return picture.name or _name(picture.state)


def _fit_command(command: str, picture: MonitorContent, cols: int) -> str:
    """Return a command for this session; without the name if that would be broken.

    Such a command asks which session is meant.
    """
    fits = width(command) + 2 <= cols
    return command if fits else command.replace(f" {_choose_name(picture)}", "", 1)


def _place(picture: MonitorContent, cols: int) -> Iterator[_Ranked]:
    """Yield the session's name, branch and worktree, which are left out before all else."""
    state = picture.state
    branch = state.branch if state.worktree else None  # of the checkout, a person knows it
    for place in filter(None, (_name(state), branch, state.worktree)):
        if width(place) <= cols:
            yield _Rank.PLACE, (Segment(clean(place), SegmentStyle.DIM),)


# -- the phases ----------------------------------------------------------------------------------


def _phase_line(state: SessionState, cols: int) -> Iterator[_Ranked]:
    """Yield all phases in one line, for a pane that has more important things to show.

    If the line is too long, only the current phase is shown.
    """
    here = working_phase(state)
    shown = [f"{phase_mark(state, each, here)} {each.replace('_', ' ')}"
             for each in shown_phases(state, here)]  # fmt: skip
    whole = "  ".join(shown)
    if width(whole) > cols:
        whole = f"{phase_mark(state, here, here)} {here.replace('_', ' ')}"
    yield _Rank.CURRENT, (Segment(cut(whole, cols), SegmentStyle.HEADER),)


def _phases(picture: MonitorContent, cols: int) -> Iterator[_Ranked]:
    for each in phase_lines(picture.state, picture.spent_s):
        if each.phase in ENDS:
            style = SegmentStyle.GOOD if each.mark == DONE else SegmentStyle.BAD
            yield _Rank.CURRENT, (Segment(cut(f" {each.mark} {each.name}", cols), style),)
        else:
            yield _phase(each, cols)


def _phase(here: PhaseLine, cols: int) -> _Ranked:
    style, rank = _PHASE_STYLES[here.mark]
    says = "failed" if here.mark == FAILED and here.is_here else clean(here.says)
    name = f" {here.mark} {here.name}"
    took = age(here.spent_s, least="m") if here.spent_s >= _MINUTE else ""
    both = "  ".join(filter(None, (says, took)))
    says = both if width(name) + 1 + width(both) <= cols else says  # the time is left out first
    left, right = spread(name, says, cols, least=cols // 2)
    return rank, (Segment(left, style), Segment(right, SegmentStyle.DIM))


_MINUTE: Final = 60.0
_PHASE_STYLES: Final = {
    LATER: (SegmentStyle.PLAIN, _Rank.PHASE),
    DONE: (SegmentStyle.DIM, _Rank.PHASE),
    CURRENT: (SegmentStyle.HEADER, _Rank.CURRENT),
    FAILED: (SegmentStyle.BAD, _Rank.CURRENT),
}


# -- who is at work ------------------------------------------------------------------------------


def _status(name: str, picture: MonitorContent) -> SeatStatus:
    """Return the last observed status of the seat ``name``, or else its status in the journal."""
    seat = picture.state.seats[name]
    journal = SeatStatus(status=seat.status, source="journal", since=seat.since)
    return picture.statuses.get(name, journal)


def _seats(picture: MonitorContent, cols: int) -> Iterator[_Ranked]:
    seats = picture.state.seats
    if seats:
        says = "Agents" if picture.state.phase == Phase.FAILED else "At work"
        yield _heading(says if len(seats) == 1 else f"{says} ({len(seats)})", cols)
    for number, (name, seat) in enumerate(seats.items(), start=1):
        yield from _seat(picture, number, name, seat, cols)


def _seat(
    picture: MonitorContent, number: int, name: str, seat: Seat, cols: int
) -> Iterator[_Ranked]:
    status = _status(name, picture)
    attention = _turn(status) is not None
    mark = ATTENTION if attention else " "
    place = f"{number} " if number <= _NUMBERED else ""  # the key that goes there
    called = f"{mark} {place}{clean(name)}"
    says = clean(_says(status, picture.now, since=True))
    if width(called) + 1 + width(says) > cols:
        says = clean(_says(status, picture.now, since=False))
    is_short = width(called) <= cols * 2 // 3  # it stays whole, since commands take the name
    left, right = spread(called, says, cols, least=cols if is_short else cols // 4)
    style = SegmentStyle.ATTENTION if attention else SegmentStyle.PLAIN
    status_style = _COLOURED.get(status_colour(status.status), SegmentStyle.PLAIN)
    yield _Rank.SEAT, (Segment(left, style), Segment(right, status_style))
    why = (_Rank.WHY, _Rank.WHY)
    about = _about(picture, name, seat)
    detail = (_Rank.DETAIL, _Rank.WHY)
    yield from _text(about, cols, SegmentStyle.DIM, ranks=detail, lines=2, indent="    ")
    if status.resets and not status.until:
        yield from _text(f"resets {status.resets}", cols, ranks=why, lines=1, indent="    ")
    if status.trouble:
        yield from _text(
            status.trouble, cols, SegmentStyle.PROBLEM, ranks=why, lines=2, indent="    "
        )
    if status.unsent:
        no_prompt = f"its prompt has not arrived: {status.unsent}"
        yield from _text(no_prompt, cols, SegmentStyle.PROBLEM, ranks=why, lines=2, indent="    ")
    if needs_reason(seat.mode, seat.reason):
        yield from _text(seat.reason, cols, SegmentStyle.DIM, ranks=why, lines=2, indent="    ")
    # The last line of an ended agent could be a question, which nobody can answer any more.
    is_told = seat.status in _ENDED or _question_of(picture, name)
    last = "" if is_told else picture.last_lines.get(name, "")
    yield from _text(last, cols, ranks=why, lines=1, indent=_LAST_LINE)


_NUMBERED: Final = 9
_ENDED: Final = statuses.ENDED_STATUSES | {statuses.CRASHED, statuses.REJECTED}
# A status that needs the user has no colour here, because the sign `ATTENTION` marks it.
_COLOURED: Final = {
    Colour.RED: SegmentStyle.BAD,
    Colour.GREEN: SegmentStyle.GOOD,
    Colour.DIM: SegmentStyle.DIM,
}
_LAST_LINE: Final = "    > "


def _says(status: SeatStatus, now: datetime, *, since: bool) -> str:
    """Return what an agent is doing, in words; with the time since then, if ``since`` is true."""
    until = time_of(status.until) if status.until else None
    if until is not None:
        return parked_label(until, now)
    says = status_label(status.status)
    return f"{says} {_age(status.since, now)}" if since else says


def _held(picture: MonitorContent, cols: int) -> Iterator[_Ranked]:
    """Yield a line for each parked seat, whose agent is started when its usage limit ends."""
    state = picture.state
    held = [name for name in state.parked if name not in state.seats and is_parked(state, name)]
    if held:
        yield _heading("Waiting", cols)
    for name in held:
        waits = SeatStatus(
            status=statuses.LIMIT, source="journal", since="", until=state.parked[name].until
        )
        left, right = spread(
            f"  {clean(name)}", _says(waits, picture.now, since=True), cols, least=cols // 4
        )
        yield _Rank.SEAT, (Segment(left), Segment(right))


def _about(picture: MonitorContent, name: str, seat: Seat) -> str:
    """Return a line about a seat: its agent and model, for how long, and how it was started."""
    known = picture.state.agents.get(name, {})
    parts = (
        " ".join(filter(None, (str(known.get("agent") or ""), str(known.get("model") or "")))),
        f"for {since}" if (since := _age(seat.since, picture.now)) else "",
        which_conversation(seat.mode) if known.get("agent") else "",
        started_again(seat.attempt),
    )
    return ", ".join(filter(None, parts))


def _age(since: str, now: datetime) -> str:
    """Return the time since a moment, as ``5m``, ``3h``, ``2d`` or ``<1m``.

    Seconds are not shown, because the picture would have to be drawn again every second.

    Args:
        since: The moment, as in the journal; if it is not a time, the result is empty.
        now: The current time.
    """
    began = time_of(since)
    if began is None:
        return ""
    return age((now - began).total_seconds(), least="m")


# -- what waits for the user ---------------------------------------------------------------------

_WRITE: Final = "What should change? Enter twice sends, Esc cancels"
_CURSOR: Final = "▏"
_GO: Final = "o goes there"
_AGAIN: Final = "press r to start it again"
# For each status: what is shown about the seat, and what the user can do.
_TURNS: Final[Mapping[str, tuple[str, str]]] = {
    statuses.WAITING: ("asks you something", "x goes there"),
    statuses.STALLED: ("has gone quiet", _GO),
    statuses.STOPPED: (
        "waits for your choice in its pane",
        f"{_GO}, where the choices are; R resumes all that wait",
    ),
    statuses.SHELL: ("has a shell for you in its pane", _GO),
    statuses.SCREEN: ("has neither an agent nor a shell", _GO),
    statuses.FINISHED: ("ended without handing in its work", _AGAIN),
    statuses.ENDED_BY_USER: ("was ended by you", _AGAIN),
    statuses.BROKEN: ("could not run", "press r to run it again, w to go on without it"),
}


_UNSENT: Final = f"{_GO}; p types the prompt now, whatever its screen shows"


def _turns(picture: MonitorContent, cols: int) -> Iterator[_Ranked]:
    turns = [*_failure(picture, cols), *_decision(picture.state), *_askers(picture)]
    if turns or picture.question or picture.note or picture.draft is not None:
        yield _heading("Your turn", cols)
    if picture.draft is not None:
        yield from _writing(picture, cols)
    if picture.note:
        yield from _text(picture.note, cols, ranks=(_Rank.TURN, _Rank.MORE), lines=2)
    if picture.question:
        ranks = (_Rank.TURN, _Rank.MORE)
        question = f"{ATTENTION} {picture.question}"
        yield from _text(question, cols, SegmentStyle.ATTENTION, ranks=ranks, lines=_QUESTION_LINES)
    if picture.draft is not None:
        return
    for what, *hints in turns:
        first = (_Rank.TURN, _Rank.MORE)
        whole = f"{ATTENTION} {what}"
        yield from _text(whole, cols, SegmentStyle.ATTENTION, ranks=first, lines=_QUESTION_LINES)
        for hint in hints:
            yield from _text(hint, cols, ranks=(_Rank.MORE, _Rank.MORE), indent="  ")


def _list_failures(picture: MonitorContent, cols: int) -> Iterator[_Ranked]:
    """Yield the lines about failures, without keys, which no longer work."""
    for what, *_ in _failure(picture, cols):
        first = (_Rank.TURN, _Rank.MORE)
        yield from _text(f"{ATTENTION} {what}", cols, SegmentStyle.ATTENTION, ranks=first)


def _writing(picture: MonitorContent, cols: int) -> Iterator[_Ranked]:
    """Yield the lines of the field in which the user writes what to change.

    First comes an instruction, then the text so far; if that is long, only its end.
    """
    ranks, draft = (_Rank.TURN, _Rank.MORE), picture.draft or ""
    yield from _text(f"{ATTENTION} {_WRITE}", cols, SegmentStyle.ATTENTION, ranks=ranks)
    *before, last = wrap(f"> {clean(draft)}{_CURSOR}", cols, len(draft) + 1)[-_TEXT_LINES:]
    for line in before:
        yield _Rank.MORE, (Segment(line),)
    yield _Rank.TURN, (Segment(last),)
    more = (_Rank.MORE, _Rank.MORE)
    yield from _text(picture.begins, cols, SegmentStyle.DIM, ranks=more, lines=2, indent="  ")


def _failure(picture: MonitorContent, cols: int) -> Iterator[tuple[str, ...]]:
    state, session = picture.state, _choose_name(picture)
    if state.phase != Phase.FAILED:
        return
    interruption = state.interruption
    what = f"failed: {interruption.cause}" if interruption is not None else "failed"
    seat = interruption.seat if interruption is not None else ""
    again = ("press r to start it again",) if seat in list_restartable_seats(state) else ()
    mended = seat == SETUP
    mend = ("if git.setup is wrong, fix it in the configuration",) * mended
    way = f"{'or ' * bool(again)}stop it, then resume it, in a shell:"
    stop = _fit_command(f"agentmux stop {session}", picture, cols)
    end = f"agentmux resume {session}{' --repin' * mended}"
    yield what, *_quote(picture, seat), *again, *mend, way, stop, _fit_command(end, picture, cols)


def _decision(state: SessionState) -> Iterator[tuple[str, ...]]:
    if state.commit is not None and state.commit.status == DELAYED:
        yield (f"the commit waits: {state.commit.reason}",)
    if kind_of(state) is not Kind.COMPLETE or not takes_approval(state):
        return
    if failure(state):
        yield (failure(state),)
    stays = capped_phases(state)
    capped = f" ({' and '.join(stays)} did not pass)" if stays else ""
    what = "read the summary and decide" if state.summary_submitted else "decide"
    none = "" if state.summary_submitted else ": there will be no summary"
    yield f"{what}{capped}{none}", _DECIDE


_DECIDE: Final = "a approve (shows it first), c ask for changes, d the diff, s the whole summary"


def _askers_of(picture: MonitorContent) -> frozenset[str]:
    """Return the seats that wait for the user."""
    pairs = ((name, _status(name, picture)) for name in picture.state.seats)
    return frozenset(name for name, each in pairs if _turn(each) is not None)


def _askers(picture: MonitorContent) -> Iterator[tuple[str, ...]]:
    for name in picture.state.seats:
        status = _status(name, picture)
        turn = _turn(status)
        if turn is not None:
            quoted = _quote(picture, name) if status.status in _ENDED else ()
            asked = _question_of(picture, name)
            what = f"asks: {asked}" if asked else f"{turn[0]}{_more(status)}"
            yield (f"{name} {what}", *quoted, turn[1])


def _question_of(picture: MonitorContent, seat: str) -> str:
    """Return the question that an agent asks its user; empty if it asks none, or it is unknown."""
    return question_in(_status(seat, picture).status, picture.last_lines.get(seat, ""))


def _quote(picture: MonitorContent, seat: str) -> tuple[str, ...]:
    """Return the last line of an ended agent's screen, which often says why it has ended."""
    last = picture.last_lines.get(seat, "")
    return (f"its last line: {last}",) if last else ()


def _turn(status: SeatStatus) -> tuple[str, str] | None:
    """Return the texts about a seat that waits for the user, as in `_TURNS`; else None."""
    unsent = ("has not got its prompt", _UNSENT) if status.unsent else None
    return _TURNS.get(status.status, unsent)


def _more(status: SeatStatus) -> str:
    """Return a stalled agent's last message about a problem with its service, else empty."""
    return f" ({status.trouble})" if status.trouble and status.status == statuses.STALLED else ""


# -- what happened -------------------------------------------------------------------------------


def _problem(picture: MonitorContent, cols: int) -> Iterator[_Ranked]:
    problem = f"problem: {picture.problem}" if picture.problem is not None else ""
    left = f"warning: {picture.left_branch}" if picture.left_branch else ""
    for message in filter(None, (problem, left)):
        ranks = (_Rank.PROBLEM, _Rank.MORE)
        yield from _text(message, cols, SegmentStyle.PROBLEM, ranks=ranks, lines=_PROBLEM_LINES)


def _messages(picture: MonitorContent, rows: int, cols: int) -> Iterator[_Ranked]:
    messages = picture.messages[-rows:]
    if messages:
        yield _Rank.MESSAGES, _heading("Messages", cols)[1]
    for place, message in enumerate(messages):
        text = f"{_clock(message, picture.now)}{message.text}"
        age = len(messages) - 1 - place
        rank = _Rank.MESSAGE if age < _NEWEST else _Rank.OLDER + age
        yield from _text(text, cols, ranks=(rank, rank), lines=3)


def _clock(message: MonitorMessage, now: datetime) -> str:
    """Return the time of a message, such as ``10:27 ``, with its day unless that is today."""
    if message.at is None:
        return ""
    return f"{clock_label(message.at, now)} "


def _bottom(picture: MonitorContent, cols: int, *, ended: bool) -> Iterator[_Ranked]:
    ranks = (_Rank.BOTTOM, _Rank.BOTTOM)
    if ended and picture.state.phase != Phase.DONE:
        way = f". {picture.leave}; then type:" if picture.leave else "; in a shell:"
        yield from _text(
            f"the orchestrator has ended{way}", cols, SegmentStyle.ATTENTION, ranks=ranks
        )
        reattach = f"agentmux resume --reattach {_choose_name(picture)}"
        again = _fit_command(reattach, picture, cols)
        yield from _text(again, cols, ranks=ranks, indent="  ")
    elif not ended:
        is_done = picture.state.phase == Phase.DONE
        keys = "any key closes, " if is_done else "? all keys, "
        writes = picture.draft is not None  # a question mark is a part of the text then
        foot = f"{'' if writes else keys}{picture.leave or DETACH}"
        if len(foot) > cols:
            foot = _WHERE.sub("", foot)
        yield from _text(foot, cols, SegmentStyle.DIM, ranks=ranks, lines=1)
