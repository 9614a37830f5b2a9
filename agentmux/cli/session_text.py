"""Turns sessions, as views or plans, into the lines that commands print."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from agentmux.app.views.session_words import (
    check_lines,
    is_kept,
    label,
    moved_lines,
    next_step,
    no_way,
    step_labels,
    where,
)
from agentmux.cli import render
from agentmux.core.names.conversations import (
    conversation,
    how_it_began,
    needs_reason,
    started_again,
)
from agentmux.core.names.status_labels import (
    age,
    status_colour,
)
from agentmux.core.terminal.text.text_width import clean, cut, width

if TYPE_CHECKING:
    from agentmux.app.views.rows import SessionRow
    from agentmux.app.views.session.session_view import SeatView, SessionView


def session_list(listed: Sequence[SessionRow], *, cols: int | None, colours: bool) -> list[str]:
    """Return the lines of ``agentmux list``; with branches, if a session has its own worktree.

    Args:
        listed: The sessions.
        cols: Width of the terminal, into which titles are cut to fit; None if unknown.
        colours: Whether to colour the statuses.
    """
    rows: list[tuple[str, ...]] = [("SESSION", "PHASE", "STATUS", "UPDATED")]
    rows += [(each.session, each.phase, each.label, each.ago) for each in listed]
    if cols is not None and _over(rows, cols) > 0:
        names = ["SESSION", *(each.short for each in listed)]
        rows = [(name, *rest) for name, (_, *rest) in zip(names, rows, strict=True)]
    if any(each.is_apart for each in listed):
        branches = ["BRANCH", *(clean(each.branch or "-") for each in listed)]
        rows = [(*row, branch) for row, branch in zip(rows, branches, strict=True)]
    heads = render.table(rows if cols is None else _fit_rows(rows, cols))
    edge = max(map(width, heads)) + 2
    lines = []
    titles = ["FEATURE", *(clean(each.title) for each in listed)]
    for head, title in zip(heads, titles, strict=True):
        shown = title if cols is None else cut(title, cols - edge)
        lines.append(f"{head}{' ' * (edge - width(head))}{shown}".rstrip())
    for index, each in enumerate(listed, start=1):
        painted = f"  {render.paint(each.status, colours=colours, shown=each.label)}  "
        lines[index] = painted.join(lines[index].rsplit(f"  {each.label}  ", 1))
    return lines


_BRANCH: Final = 4
_CUT: Final = ((_BRANCH, 10), (1, 12))
"""The columns of a list that may be cut, in this order, and the cells that stay of each.

First the branch, which looks like the session's name; then the phase. Names are not cut, since
commands take them, but they are the shortest ones that commands take where the others do not fit.
"""


_TITLE: Final = 14
"""The cells for the beginning of the feature, with the space before it."""


def _fit_rows(rows: Sequence[tuple[str, ...]], cols: int) -> list[tuple[str, ...]]:
    """Return the rows of a list, with columns cut so that they fit into ``cols`` cells, if so."""
    table = list(rows)
    for column, least in _CUT:
        over = _over(table, cols)
        if over > 0 and column < len(table[0]):
            size = max(width(row[column]) for row in table)
            cells = max(size - over, least)
            kept = [_cut_cell(row[column], cells, column) for row in table]
            table = [
                (*row[:column], cell, *row[column + 1 :])
                for row, cell in zip(table, kept, strict=True)
            ]
    return table


def _over(rows: Sequence[tuple[str, ...]], cols: int) -> int:
    """Return by how many cells the rows and the beginnings of titles are too wide."""
    return max(map(width, render.table(rows))) + _TITLE - cols


def _cut_cell(text: str, cells: int, column: int) -> str:
    """Return what stays of a cell: of a branch its end, since the beginnings are the same."""
    return cut(text[::-1], cells)[::-1] if column == _BRANCH else cut(text, cells)


def status_lines(
    view: SessionView, ways: Callable[[], tuple[str, ...]] = no_way, *, colours: bool
) -> list[str]:
    """Return what ``agentmux status`` prints for one session, as lines.

    Args:
        view: The session.
        ways: Returns how to take a kept result further, after what to know before. Called only if
            the result is on a branch of its own and nowhere else.
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
    lines += [f"  check         {each}" for each in check_lines(view)]
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
    step = next_step(view)
    return [*lines, "", f"  next: {step}"] if step else lines


def _places(view: SessionView) -> Iterator[str]:
    """Yield where the session's issue is, where it works, and where its result goes."""
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
    """Return what the session's own branch began on, in words; empty where unknown."""
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
    """Turn one line of ``orchestrator.log``, which is JSON, into text for people.

    A line that is not JSON is returned unchanged.
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
