"""Prints results as text or JSON; no other module of the commands writes to stdout."""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final

from agentmux.app.result import OperationResult, envelope
from agentmux.core.names.phase import SETUP
from agentmux.core.names.status_labels import (
    NATIVE_MARK,
    Colour,
    SessionStatus,
    age,
    mend_setup,
    status_colour,
)
from agentmux.core.names.statuses import BROKEN, FAILED, KEEP
from agentmux.core.pipeline.delivery import kept_commands
from agentmux.core.terminal.text_width import clean, cut, width
from agentmux.errors import AgentmuxError, DataError, RefusedError, of_system

if TYPE_CHECKING:
    from agentmux.app.result import Problem
    from agentmux.app.views.session_view import SeatView, SessionView

_CODES: Final[Mapping[Colour, str]] = {
    Colour.GREEN: "32",
    Colour.YELLOW: "33",
    Colour.RED: "31",
    Colour.DIM: "2",
}
"""The number of each colour in a terminal's escape sequences (SGR)."""
_NATIVE: Final = f"{NATIVE_MARK} "


def out(text: str) -> None:
    """Write a line to stdout."""
    with _answering():
        sys.stdout.write(f"{printable(text)}\n")


def screen(rows: Iterable[str]) -> None:
    """Write lines of a saved screen to stdout, unchanged.

    Args:
        rows: Lines from `captured_screen`, which contain only text and colour sequences.
    """
    with _answering():
        sys.stdout.write("".join(f"{row}\n" for row in rows))


def flush() -> None:
    """Flush stdout."""
    with _answering():
        sys.stdout.flush()


@contextmanager
def _answering() -> Iterator[None]:
    """Raise a `DataError` if a write to stdout fails in the block.

    A closed pipe raises `BrokenPipeError` as usual.
    """
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise DataError(f"cannot write the answer: {of_system(error).message}") from None


def note(text: str) -> None:
    """Write a line to stderr, for people; a failed write is ignored."""
    with suppress(OSError):
        sys.stderr.write(f"{printable(text)}\n")


def failure(message: str, hints: Iterable[str] = ()) -> None:
    """Write an error to stderr, with one line for each hint."""
    note(f"error: {message}")
    for hint in hints:
        note(f"hint: {hint}")


def error(found: AgentmuxError) -> int:
    """Write an error to stderr with its hints and, if a submission was refused, the broken rules.

    Returns:
        The exit code of the error.
    """
    failure(found.message, found.hints)
    for problem in found.problems if isinstance(found, RefusedError) else ():
        note(f"- {problem}")
    return found.exit_code


def as_json(answer: Mapping[str, object]) -> None:
    """Write one JSON object to stdout, in ASCII, which every terminal and pipe can carry.

    The object is indented on a terminal only, because indenting doubles the time of a long list.
    """
    indent = 2 if sys.stdout.isatty() else None
    with _answering():
        sys.stdout.write(json.dumps(answer, indent=indent) + "\n")


def sessions_json(result: OperationResult[tuple[SessionView, ...]]) -> None:
    """Write the JSON answer of ``list --json`` and ``status --json``."""
    as_json(envelope((view.as_json() for view in result.data), result.problems))


def show_problems(problems: Sequence[Problem]) -> None:
    """Write problems to stderr: for each one the name of its session, its message and its hints."""
    for problem in problems:
        name = f"{problem.session}: " if problem.session else ""
        failure(f"{name}{problem.message}", problem.hints)


def printable(text: str) -> str:
    """Return ``text`` with ``�`` for each control character, so that no escape sequence works.

    Newlines, tabs and the colours that `paint` adds stay.
    """
    if text.isascii() and text.isprintable():
        return text
    kept = "".join(char if char.isprintable() or char in "\n\t\x1b" else "�" for char in text)
    return _only_colours(kept)


def _only_colours(text: str) -> str:
    """Replace every escape character in ``text`` unless it begins a colour that `paint` adds."""
    first, *rest = text.split("\x1b")
    made = [first]
    for part in rest:
        code, mark, after = part.partition("m")
        known = mark and code in {"[0", *(f"[{each}" for each in _CODES.values())}
        made.append(f"\x1b{code}m{after}" if known else f"�{part}")
    return "".join(made)


def paint(word: str, *, colours: bool, shown: str = "") -> str:
    """Return a text in the colour of a status.

    Args:
        word: The status.
        colours: Whether to colour; otherwise the text is returned as it is.
        shown: The text; empty: ``word`` itself.
    """
    code = _CODES.get(status_colour(word))
    text = shown or word
    return f"\x1b[{code}m{text}\x1b[0m" if colours and code else text


def size(count: int) -> str:
    """Return a number of bytes in a readable unit: ``212 B``, ``9.1 kB``."""
    return f"{count} B" if count < 1000 else f"{count / 1000:.1f} kB"


def _prompt(sent: int, fresh: int) -> str:
    """Return the size of a prompt; if a fresh start would have sent another size, return both.

    Args:
        sent: Bytes of the prompt that was sent; 0 if none was, as for a setup.
        fresh: Bytes of the prompt that a fresh start sends.
    """
    if sent == fresh:
        return size(sent) if sent else "-"
    return f"{size(sent)} instead of {size(fresh)}"


def where(view: SessionView) -> str:
    """Return the session's phase as text: ``fixing, cycle 2, iteration 1``.

    Cycle 1 and iteration 0, which are the first ones, are not named.
    """
    phase = view.phase or "-"
    cycle = f", cycle {view.cycle}" if view.cycle > 1 else ""
    iteration = f", iteration {view.review_iteration}" if view.review_iteration else ""
    return f"{phase}{cycle}{iteration}"


def _no_remote(_: str) -> None:
    """Return that a branch could be pushed nowhere."""


def standing(view: SessionView, remote: Callable[[str], str | None] = _no_remote) -> list[str]:
    """Return a session's state and what to do next, as lines to print after a detach from tmux.

    Args:
        view: The session.
        remote: As for `status_lines`.
    """
    name = view.session
    if view.status == SessionStatus.DONE:
        made = f"commit {view.commit[:12]}" if view.commit else "nothing was committed"
        if view.commit and _goes_on(view):
            made += f", {_goes_on(view)}"
        elif _is_kept(view):
            made += f" on branch {view.branch}; get it with: {_how_to_get(view, remote)}"
        return [f"session {name} is done: {made}"]
    step = next_step(view)
    return [
        f"session {name} is {view.label}, in phase {where(view)}",
        f"next: {step}" if step else f"watch it: agentmux attach {name}",
    ]


def _is_kept(view: SessionView) -> bool:
    """Return whether the session is done and its result is on its own branch, but nowhere else."""
    done = view.status == SessionStatus.DONE and bool(view.commit)
    return done and bool(view.worktree) and not _goes_on(view)


def _how_to_get(view: SessionView, remote: Callable[[str], str | None]) -> str:
    base, branch = (view.base or {}).get("branch"), view.branch or ""
    return kept_commands(branch, base if isinstance(base, str) else None, remote(branch))


def _goes_on(view: SessionView) -> str:
    """Return where the result of a session that is done was delivered to; empty if it was kept."""
    steps = _steps(view)
    said = [f"merged into {steps['merge'].get('base')}"] if "merge" in steps else []
    if "push" in steps:
        said.append(f"pushed to {steps['push'].get('remote')}")
    if "request" in steps:
        said.append(str(steps["request"].get("url")))
    return ", ".join(said)


def _steps(view: SessionView) -> Mapping[str, Mapping[str, Any]]:
    """Return the steps of a delivery by name, each with its status and what was recorded."""
    steps: Any = (view.as_json()["delivery"] or {}).get("steps")  # type: ignore[attr-defined]  # JSON
    return steps if isinstance(steps, dict) else {}


def table(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the rows as lines of aligned columns, with two spaces between columns.

    Args:
        rows: The cells of each row; all rows have the same number of cells.
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]


def columns() -> int | None:
    """Return the width of the terminal at stdout; None if stdout is not a terminal."""
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns or None
    except OSError:
        return None


def session_list(
    views: Sequence[SessionView], titles: Iterable[str], *, cols: int | None, colours: bool
) -> list[str]:
    """Return the lines of ``agentmux list``; with branches, if a session has its own worktree.

    Args:
        views: The sessions.
        titles: The title of each session, in the same order; cut to fit if ``cols`` is known.
        cols: Width of the terminal; None if unknown.
        colours: Whether to colour the statuses.
    """
    rows: list[tuple[str, ...]] = [("SESSION", "PHASE", "STATUS", "UPDATED")]
    words = [view.label for view in views]
    rows += [
        (view.session, where(view), word, f"{age(view.age_s)} ago")
        for view, word in zip(views, words, strict=True)
    ]
    if any(view.worktree for view in views):
        branches = ["BRANCH", *(clean(view.branch or "-") for view in views)]
        rows = [(*row, branch) for row, branch in zip(rows, branches, strict=True)]
    heads = table(rows if cols is None else _fitted(rows, cols))
    edge = max(map(width, heads)) + 2
    lines = []
    for head, title in zip(heads, ["FEATURE", *map(clean, titles)], strict=True):
        shown = title if cols is None else cut(title, cols - edge)
        lines.append(f"{head}{' ' * (edge - width(head))}{shown}".rstrip())
    for index, (view, word) in enumerate(zip(views, words, strict=True), start=1):
        painted = f"  {paint(view.status, colours=colours, shown=word)}  "
        lines[index] = painted.join(lines[index].rsplit(f"  {word}  ", 1))
    return lines


_BRANCH: Final = 4
_CUT: Final = ((_BRANCH, 10), (1, 12))
"""The columns of a list that may be cut, in this order, and the cells that stay of each.

First the branch, which looks like the session's name; then the phase. Names stay whole, since
commands take them.
"""


_TITLE: Final = 14
"""The cells for the beginning of the feature, with the space before it."""


def _fitted(rows: Sequence[tuple[str, ...]], cols: int) -> list[tuple[str, ...]]:
    """Return the rows of a list, with columns cut so that they fit into ``cols`` cells, if so."""
    found = list(rows)
    for column, least in _CUT:
        over = max(map(width, table(found))) + _TITLE - cols
        if over > 0 and column < len(found[0]):
            size = max(width(row[column]) for row in found)
            cells = max(size - over, least)
            kept = [_kept(row[column], cells, column) for row in found]
            found = [
                (*row[:column], cell, *row[column + 1 :])
                for row, cell in zip(found, kept, strict=True)
            ]
    return found


def _kept(text: str, cells: int, column: int) -> str:
    """Return what stays of a cell: of a branch its end, since the beginnings are the same."""
    return cut(text[::-1], cells)[::-1] if column == _BRANCH else cut(text, cells)


def status_lines(
    view: SessionView, remote: Callable[[str], str | None] = _no_remote, *, colours: bool
) -> list[str]:
    """Return what ``agentmux status`` prints for one session, as lines.

    Args:
        view: The session.
        remote: Returns the remote to which a branch would be pushed, for people; None for none.
            Called only if the result is on a branch of its own and nowhere else.
        colours: Whether to colour the status.
    """
    state = paint(view.status, colours=colours, shown=view.label)
    lines = [
        view.session,
        f"  feature       {view.feature or '-'}",
        f"  phase         {where(view)}",
        *((f"  pipeline      {view.pipeline}",) if view.is_other_pipeline else ()),
        f"  status        {state}, updated {age(view.age_s)} ago",
        f"  tmux          {_tmux(view)}",
        f"  orchestrator  {_orchestrator(view)}",
    ]
    lines += _places(view)
    if view.interruption:
        lines.append(f"  interruption  {_interruption(view.interruption)}")
    lines += [f"  check         {each}" for each in _checks(view)]
    if view.commit:
        lines.append(f"  commit        {view.commit}")
    if view.delivery:
        said = [f"{name} {step.get('status')}" for name, step in _steps(view).items()]
        then = str(view.delivery.get("then"))
        lines.append(f"  delivery      {', '.join(said) or f'{then}, not begun'}")
    if _is_kept(view):
        lines.append(f"  get it with   {_how_to_get(view, remote)}")
    if view.decision and not any(seat.holds_up for seat in view.seats):
        lines.append(f"  summary       {view.path}/{view.summary}")
    lines += [f"  problem       {problem}" for problem in view.problems]
    lines += [f"  warning       {warning}" for warning in view.warnings]
    if view.seats:
        lines += ["", *(f"  {line}" for line in _seat_table(view.seats)), ""]
        lines += [
            f"  {seat.seat} is {seat.mode}: {seat.reason}" for seat in view.seats if seat.reason
        ]
    step = next_step(view)
    return [*lines, "", f"  next: {step}"] if step else lines


def _checks(view: SessionView) -> Iterator[str]:
    """Yield what the commands of the checks have shown, one line each."""
    for phase in view.as_json()["checks"]:  # type: ignore[attr-defined]  # JSON
        for command in phase["commands"]:
            yield f"{phase['phase']}, {command['says']}"


def _places(view: SessionView) -> Iterator[str]:
    """Yield where the session's issue is, where it works, and where its result goes."""
    if view.issue:
        yield f"  issue         #{view.issue.get('number')} {view.issue.get('url')}"
    if view.worktree:
        yield f"  branch        {view.branch or 'none'}{_began(view)}"
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


def _orchestrator(view: SessionView) -> str:
    return f"process {view.orchestrator}" if view.orchestrator else "-"


def _interruption(fields: Mapping[str, Any]) -> str:
    cause, seat = str(fields.get("cause") or "-"), str(fields.get("seat") or "")
    named = seat in cause or seat == "orchestrator"
    phase = f", in phase {fields['phase']}" if fields.get("phase") else ""
    return f"{cause}{'' if named else f', at {seat}'}{phase}"


def _seat_table(seats: Sequence[SeatView]) -> list[str]:
    rows = [("SEAT", "AGENT", "STATUS", "SINCE", "MODE", "ATTEMPT", "PROMPT SIZE")]
    rows += [
        (
            seat.seat,
            seat.agent or "-",
            f"{seat.label}{_resets(seat)}",
            age(seat.age_s),
            f"{_NATIVE if seat.mode == 'native' else ''}{seat.mode}",
            str(seat.attempt),
            _prompt(seat.prompt_bytes, seat.fresh_prompt_bytes),
        )
        for seat in seats
    ]
    return table(rows)


def _resets(seat: SeatView) -> str:
    return f", resets {seat.resets}" if seat.resets and not seat.parked_until else ""


def next_step(view: SessionView) -> str:
    """Return the command that the user most likely needs next; empty if nothing is to be done."""
    name = view.session
    if view.outdated:
        return f"agentmux stop {name}, then agentmux resume {name}"
    if view.decision:
        changes = f'agentmux request-changes "…" --session {name}'
        return f"agentmux approve {name}{_again(view)}, or {changes}"
    seat = _to_restart(view)
    if seat:
        return _restart(view, seat)
    if view.status in _LOOK_AT:
        return _look(view)
    if view.copy_of is not None:
        return f"agentmux status {shlex.quote(view.copy_of)}"
    if view.status == SessionStatus.INTERRUPTED and view.has_lost_orchestrator:
        return f"agentmux resume {name} --reattach"
    if (
        view.status in {SessionStatus.INTERRUPTED, SessionStatus.STOPPED, SessionStatus.FAILED}
        and not view.live
    ):
        mended = view.status == SessionStatus.FAILED and _failed_seat(view) == SETUP
        return f"agentmux resume {name}{f'; or {mend_setup(name, stop=False)}' * mended}"
    return (
        f"agentmux stop {name}, then agentmux resume {name}"
        if view.status == SessionStatus.FAILED
        else ""
    )


_LOOK_AT: Final = frozenset(
    {SessionStatus.WAITING, SessionStatus.STALLED, SessionStatus.LIMIT, SessionStatus.PARKED}
)
"""The statuses of sessions of which a person should look at a pane, or wait."""


def _restart(view: SessionView, seat: str) -> str:
    again = f"agentmux restart {view.session} --role {seat}"
    if any(each.seat == seat and each.status == BROKEN for each in view.seats):
        return f"{again}; or, to go on without it: {again} --skip"
    return f"{again}; or {mend_setup(view.session)}" if seat == SETUP else again


def _look(view: SessionView) -> str:
    if view.status == SessionStatus.PARKED:
        return f"wait; or, to go on at once, agentmux unpark {view.session}"
    return f"agentmux attach {view.session}"


def _again(view: SessionView) -> str:
    """Return the flag that tries a failed delivery again; empty if none has failed."""
    delivery = view.delivery or {}
    steps = delivery.get("steps")
    found = steps.values() if isinstance(steps, dict) else ()
    failed = any(isinstance(each, dict) and each.get("status") == FAILED for each in found)
    return f" --{delivery.get('then')}" if failed and delivery.get("then") != KEEP else ""


def _to_restart(view: SessionView) -> str:
    """Return a seat of a live session that the user can restart; empty if there is none.

    That is a seat whose agent has left although the session waits for its work, or the seat that
    made the session fail.
    """
    lost = _failed_seat(view)
    seats = view.seats if view.orchestrator is not None else ()
    return next((seat.seat for seat in seats if seat.holds_up or seat.seat == lost), "")


def _failed_seat(view: SessionView) -> str | None:
    """Return the seat that made the session fail; None where none did."""
    seat = (view.interruption or {}).get("seat") if view.status == SessionStatus.FAILED else None
    return str(seat) if seat else None


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
    said = {name: fields.pop(name, "") for name in ("at", "level", "message")}
    for name in ("logger", "session"):
        fields.pop(name, None)
    trace = fields.pop("exception", "")
    rest = "".join(f"  {name}={value}" for name, value in fields.items())
    time = str(said["at"])[11:19] or "--:--:--"
    line = f"{time} {said['level']!s:<7} {said['message']}{rest}"
    return f"{line}\n{trace}" if trace else line


def resume_plan(fields: Mapping[str, Any], *, explain: bool, readable: bool = True) -> list[str]:
    """Return what ``agentmux resume --dry-run`` prints for one session, as lines.

    Args:
        fields: The session's part of the JSON answer; its ``phase`` is None if there is no plan.
        explain: Add the evidence for each phase, and each pane's command, directory and variables.
        readable: Whether the session could be read; chooses the reason given for having no plan.
    """
    if fields.get("phase") is None:
        why = "cannot be resumed like this" if readable else "cannot be read"
        return [f"{fields['session']}: {why}"]
    verb = "is" if fields["phase"] == SessionStatus.DONE else "resumes in"
    lines = [f"{fields['session']} {verb} {fields['phase']} ({fields['because']})"]
    if explain:
        marks = {True: "complete", False: "not complete"}
        lines += [
            f"  {each['phase']}: {marks[each['complete']]} ({each['because']})"
            for each in fields["evidence"]
        ]
    if fields["unapplied_events"]:
        lines.append(f"  events in the journal still to apply: {fields['unapplied_events']}")
    if fields["blocked"]:
        lines.append(f"  blocked: {fields['blocked']['message']}")
        lines += [f"    {hint}" for hint in fields["blocked"]["hints"]]
    said = {"setup": "first the setup of its worktree runs", "checks": "the check runs"}
    lines += [f"  {text}: {', '.join(fields[name])}" for name, text in said.items() if fields[name]]
    for pane in fields["panes"]:
        mark = _NATIVE if pane["mode"] == "native" else ""
        bytes_ = _prompt(pane["prompt_bytes"], pane["fresh_prompt_bytes"])
        lines.append(
            f"  {pane['seat']}: {mark}{pane['mode']}, prompt of {bytes_}: {pane['reason']}"
        )
        if explain:
            lines.append(f"    runs: {shlex.join(pane['argv'])}")
            lines.append(f"      in: {pane['cwd']}")
            lines += [f"    with: {name}={text}" for name, text in pane["env"].items()]
    lines += [f"  warning: {each}" for each in fields["warnings"]]
    return lines
