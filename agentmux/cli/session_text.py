"""Formats sessions as the lines of text that `list`, `status` and `logs` print."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from agentmux.app.views.session_words import (
    check_lines,
    failed_commands,
    is_kept,
    label,
    moved_lines,
    next_lines,
    step_labels,
    ways_not_looked_up,
    where,
)
from agentmux.cli import render
from agentmux.core.names import layout
from agentmux.core.names.conversations import (
    conversation,
    how_it_began,
    needs_reason,
    started_again,
)
from agentmux.core.names.status_labels import (
    OUTPUT_LINES,
    age,
    status_colour,
)
from agentmux.core.terminal.text.text_width import clean, cut, cut_apart, cut_start, width

if TYPE_CHECKING:
    from agentmux.app.views.rows import SessionRow
    from agentmux.app.views.session.session_view import SeatView, SessionView


def session_list(
    listed: Sequence[SessionRow], names: Collection[str], *, cols: int | None, colours: bool
) -> list[str]:
    """Return the lines of ``agentmux list``: a heading, and one line for each session.

    There is a column of branches if at least one session has its own worktree, unless the
    beginnings of the features need the room. Features that would look alike are cut where they
    differ.

    Args:
        listed: The sessions.
        names: The names of all sessions of the project; a session is shown by a short name that
            means none of the others.
        cols: Width of the terminal, to which the lines are cut; None cuts nothing.
        colours: Whether to colour the statuses.
    """
    short = layout.short_names(names)
    rows: list[tuple[str, ...]] = [("SESSION", "PHASE", "STATUS", "UPDATED")]
    rows += [
        (short.get(each.session, each.session), each.phase_beside_label, each.label, each.ago)
        for each in listed
    ]
    if any(each.is_apart for each in listed):
        branches = ["BRANCH", *(clean(each.branch or "-") for each in listed)]
        rows = [(*row, branch) for row, branch in zip(rows, branches, strict=True)]
    titles = ["FEATURE", *(clean(each.title) for each in listed)]
    if cols is not None:
        room = min(max(map(width, titles)), cols * _TITLE_SHARE)
        rows = _fit_rows(rows, int(cols - room) - 2, lambda cells: _begin(listed, names, cells))
    heads = render.table(rows)
    edge = max(map(width, heads)) + 2
    shown = titles if cols is None else cut_apart(titles, cols - edge)
    pairs = zip(heads, shown, strict=True)
    lines = [f"{head}{' ' * (edge - width(head))}{title}".rstrip() for head, title in pairs]
    for index, each in enumerate(listed, start=1):
        painted = f"  {render.paint(each.status, colours=colours, shown=each.label)}  "
        lines[index] = painted.join(lines[index].rsplit(f"  {each.label}  ", 1))
    return lines


_NAME, _PHASE, _BRANCH = 0, 1, 4
_CUT: Final = ((_BRANCH, 10), (_NAME, 14), (_PHASE, 12))
"""The columns that may be cut, in this order, each with its least width in cells.

The branch is cut first, because it resembles the session's name. A name is cut to a beginning that
commands take. If that is not enough, the column of branches is left out.
"""

_TITLE_SHARE: Final = 3 / 8
"""The share of the terminal that the beginning of the feature gets, unless all are shorter."""


def _fit_rows(
    rows: Sequence[tuple[str, ...]], cols: int, names: Callable[[int], Sequence[str]]
) -> list[tuple[str, ...]]:
    """Return the rows with columns cut so that they fit into ``cols`` cells, as far as possible.

    The last column, of branches, is left out if they do not fit with it.

    Args:
        rows: The rows.
        cols: The cells.
        names: Returns the cells of the first column, each with at most so many characters.
    """
    table = list(rows)
    for column, least in _CUT:
        over = max(map(width, render.table(table))) - cols
        if over > 0 and column < len(table[0]):
            size = max(width(row[column]) for row in table)
            cells = max(size - over, least)
            kept = (
                names(cells)
                if column == _NAME
                else [_cut_cell(row[column], cells, column) for row in table]
            )
            table = [
                (*row[:column], cell, *row[column + 1 :])
                for row, cell in zip(table, kept, strict=True)
            ]
    if len(table[0]) > _BRANCH and max(map(width, render.table(table))) > cols:
        return _fit_rows([row[:_BRANCH] for row in rows], cols, names)
    return table


def _begin(listed: Sequence[SessionRow], names: Collection[str], cells: int) -> Sequence[str]:
    """Return the heading and the cells of the column of names, in at most ``cells`` characters."""
    short = layout.beginnings(names, cells)
    return ("SESSION", *(short.get(each.session, each.session) for each in listed))


def _cut_cell(text: str, cells: int, column: int) -> str:
    """Return a cell cut to ``cells`` cells; of a branch, the end is kept.

    The beginnings of all branches are the same.
    """
    return cut_start(text, cells) if column == _BRANCH else cut(text, cells)


def status_lines(
    view: SessionView, ways: Callable[[], tuple[str, ...]] = ways_not_looked_up, *, colours: bool
) -> list[str]:
    """Return the lines that ``agentmux status`` prints for one session.

    Args:
        view: The session.
        ways: A function that returns warnings about a kept result and, last, the command to get it.
            It is called only if the result is on a branch of its own and was not delivered
            elsewhere. Without it, the line for the command says that nothing was looked for.
        colours: Whether to colour the statuses of the session and of its seats.
    """
    state = render.paint(view.status, colours=colours, shown=label(view))
    process = f"process {view.orchestrator}" if view.orchestrator else "-"
    lines = [
        view.session,
        f"  feature       {view.feature or '-'}",
        f"  phase         {where(view)}",
        *((f"  pipeline      {view.pipeline}",) if view.is_other_pipeline else ()),
        f"  status        {state}, updated {age(view.age_s)} ago",
        f"  tmux          {_tmux(view)}",
        f"  orchestrator  {process}",
    ]
    lines += _places(view)
    lines += [f"  moved         {each}" for each in moved_lines(view)]
    if view.interruption and not view.moved:
        lines.append(f"  interruption  {_interruption(view.interruption)}")
    outputs = failed_commands(view) if view.decision else {}
    for each in check_lines(view):
        lines.append(f"  check         {each}")
        output = outputs.get(each, "").splitlines()[-OUTPUT_LINES:]
        lines += [f"{' ' * 16}{line}" for line in output]
    lines += [f"  question      {e.seat} asks: {e.asks}" for e in view.seats if e.asks]
    if view.commit:
        lines.append(f"  commit        {view.commit}")
    if view.delivery:
        delivery = ", ".join(step_labels(view)) or f"{view.delivery.get('then')}, not begun"
        lines.append(f"  delivery      {delivery}")
    if is_kept(view):
        *before, way = ways()
        lines += [*(f"  warning       {each}" for each in before), f"  get it with   {way}"]
    if view.decision and not any(seat.holds_up for seat in view.seats):
        lines.append(f"  summary       {view.path}/{view.summary}")
    lines += [f"  problem       {problem}" for problem in view.problems]
    lines += [f"  warning       {warning}" for warning in view.warnings]
    if view.seats:
        lines += ["", *(f"  {line}" for line in _seat_table(view.seats, colours=colours))]
        told = [
            f"  {each.seat} {how_it_began(each.mode, each.reason)}"
            for each in view.seats
            if needs_reason(each.mode, each.reason)
        ]
        lines += ["", *told] if told else []
    steps = "\n        ".join(next_lines(view))
    return [*lines, "", *f"  next: {steps}".split("\n")] if steps else lines


def _places(view: SessionView) -> Iterator[str]:
    """Yield the lines about the session's issue, branch, worktree and request."""
    if view.issue:
        yield f"  issue         #{view.issue.get('number')} {view.issue.get('url')}"
    if view.worktree:
        gone = " (gone)" if view.branch_gone else ""
        yield f"  branch        {view.branch or 'none'}{gone}{_began(view)}"
        yield f"  worktree      {view.worktree}"
    elif view.branch:
        yield f"  branch        {view.branch}"
    if view.request:
        yield f"  request       #{view.request.get('number')} {view.request.get('url')}"


def _began(view: SessionView) -> str:
    """Return the commit from which the session's branch was created, in words; empty if unknown."""
    base = view.base or {}
    commit, branch = str(base.get("commit") or "")[:12], base.get("branch")
    if not commit:
        return ""
    return f", from {branch} at {commit}" if branch else f", from {commit}"


def _tmux(view: SessionView) -> str:
    if view.live is None:
        return f"unknown: {view.because}"
    if not view.live:
        return f"not live ({view.because})"
    return view.because.removeprefix("tmux session ")  # the label says that already


def _interruption(fields: Mapping[str, Any]) -> str:
    cause, seat = str(fields.get("cause") or "-"), str(fields.get("seat") or "")
    named = seat in cause or seat == "orchestrator"
    phase = f", in phase {fields['phase']}" if fields.get("phase") else ""
    return f"{cause}{'' if named else f', at {seat}'}{phase}"


def _seat_table(seats: Sequence[SeatView], *, colours: bool) -> list[str]:
    rows = [("SEAT", "AGENT", "STATUS", "FOR", "CONVERSATION")]
    rows += [
        (
            seat.seat,
            f"{seat.agent or '-'} {seat.model}".rstrip(),
            f"{seat.label}{_resets(seat)}",
            age(seat.age_s),
            _conversation(seat),
        )
        for seat in seats
    ]
    painted = {(row, 2): status_colour(seat.status) for row, seat in enumerate(seats, start=1)}
    return render.table(rows, painted if colours else None)


def _conversation(seat: SeatView) -> str:
    which = conversation(seat.mode) if seat.agent else "-"
    return ", ".join(filter(None, (which, started_again(seat.attempt))))


def _resets(seat: SeatView) -> str:
    return f", resets {seat.resets}" if seat.resets and not seat.parked_until else ""


def log_line(raw: str) -> str:
    """Return a line of ``orchestrator.log``, which is JSON, as text for people.

    A traceback follows in further lines. A line that is not a JSON object is returned unchanged.
    """
    try:
        fields = json.loads(raw)
    except (ValueError, RecursionError):
        return raw
    if not isinstance(fields, dict):
        return raw
    head = {name: fields.pop(name, "") for name in ("at", "level", "message")}
    for name in ("logger", "session"):
        fields.pop(name, None)
    trace = fields.pop("exception", "")
    rest = "".join(f"  {name}={value}" for name, value in fields.items())
    time = str(head["at"])[11:19] or "--:--:--"
    line = f"{time} {head['level']!s:<7} {head['message']}{rest}"
    return f"{line}\n{trace}" if trace else line
