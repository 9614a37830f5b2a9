"""The lines about a session: its problems and next steps, its phases, its seats. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

from agentmux.app.views.session.timeline import (
    CURRENT,
    DONE,
    FAILED,
    LATER,
    phase_lines,
    phase_seconds,
)
from agentmux.app.views.session_words import (
    also_where,
    check_lines,
    failed_commands,
    label,
    next_step,
)
from agentmux.core.codec.frozen import dataclass, field, replace
from agentmux.core.names.conversations import CHOOSE, needs_reason, which_conversation
from agentmux.core.names.phase import ENDS
from agentmux.core.names.status_labels import (
    Colour,
    Safety,
    SessionStatus,
    StatusGroup,
    age,
    status_colour,
)
from agentmux.core.names.statuses import WAITING
from agentmux.core.names.words.listing import join_names
from agentmux.core.terminal.keys.key_commands import KeyCommand
from agentmux.core.terminal.keys.key_table import KEYS, KeyTable
from agentmux.core.terminal.text.text_width import width
from agentmux.desk.styled import BOLD, DIM, PLAIN, Line, cut, fill, line
from agentmux.errors import AgentmuxError

if TYPE_CHECKING:
    from agentmux.app.views.session.session_view import SessionView
    from agentmux.core.journal.state import SessionState
    from agentmux.desk.list.listing import DeskRow
    from agentmux.ports.session.session_files import SessionFiles

_MARKS: Final = {
    DONE: Colour.GREEN.value,
    CURRENT: BOLD,
    LATER: DIM,
    FAILED: Colour.RED.value,
}


_COMMANDS: Final = re.compile(r"agentmux ([a-z-]+)")

_TITLE_MAX: Final = 90
"""The most columns of the title, which is whole in the tab *why*."""

OUTPUT_LINES: Final = 30
"""How many of the last lines of a failed command's output are shown."""

LOST: Final = "its agents live, but its orchestrator is gone: nobody drives them"
"""The message about a session whose agents live, but that has no running orchestrator."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OverviewFacts:
    """The data that the overview of a session shows.

    Attributes:
        view: All that is known about the session without its journal.
        title: One line that says what the session is about; empty if unknown.
        project: The project's folder.
        row: The session's row in the list, which knows what a resume would do.
        now: The current time.
        state: The session's state; None if it cannot be read or was not read yet.
        spent_s: The seconds that the session has spent in each phase so far, by phase.
        keys: The keys of the desk.
    """

    view: SessionView
    title: str
    project: Path
    row: DeskRow
    now: datetime
    state: SessionState | None = None
    spent_s: Mapping[str, float] = field(default_factory=dict)
    keys: KeyTable = KEYS

    def without_warning(self) -> OverviewFacts:
        """Return the facts without the reason why a resume needs a choice or cannot be done."""
        return replace(self, row=replace(self.row, warned=""))

    def with_journal(self, files: SessionFiles) -> OverviewFacts:
        """Return the facts with ``state`` and ``spent_s`` set; unchanged if they cannot be read."""
        try:
            state = files.load().current
            runs = self.view.orchestrator is not None
            spent_s = phase_seconds(files, state, runs=runs, now=self.now)
        except AgentmuxError:
            return self
        return replace(self, state=state, spent_s=spent_s)


def head_lines(facts: OverviewFacts) -> Iterator[Line]:
    """Yield the first lines of the overview of a session.

    They say what the session is about, what it needs, and with which keys the user can do that.
    """
    view = facts.view
    yield line(cut(facts.title or view.session, _TITLE_MAX), BOLD)
    yield (
        (label(view), f"{BOLD} {status_colour(view.status).value}".rstrip()),
        (also_where(view), PLAIN),
        (f", in {facts.project.name}", DIM),
    )
    yield from _needs(facts)


def more_lines(facts: OverviewFacts) -> Iterator[Line]:
    """Yield the other lines of the overview, which follow those of `head_lines`.

    They are the next command, if no key runs it, then the phases, the seats and the checks.
    """
    step = next_step(facts.view)
    blocked = facts.row.safety is Safety.BLOCKED
    if step and not blocked and not _is_offered(facts.row, step):
        yield ()
        yield line(f"next: {step}", DIM)
    yield from _section("Phases", _phases(facts))
    yield from _section("Seats", _seats(facts.view))
    yield from _section("Checks", _checks(facts.view))


def place_lines(view: SessionView, project: Path) -> Iterator[Line]:
    """Yield the lines about where the session is: its name, its folders, its branch."""
    yield from _section("Where", _places(view, project))


def _section(title: str, lines: Iterator[Line]) -> Iterator[Line]:
    held = list(lines)
    if held:
        yield ()
        yield line(title, BOLD)
        yield from held


def _needs(facts: OverviewFacts) -> Iterator[Line]:
    """Yield lines about problems, and the keys for the next step."""
    view, row = facts.view, facts.row
    yield from _troubles(view)
    if row.is_lost:
        yield line(LOST, Colour.YELLOW.value)
    cause = str((view.interruption or {}).get("cause") or "")
    if cause and row.can_be_resumed:
        yield line(f"interrupted: {cause}", DIM)
    if row.safety is not None:
        yield line(f"{row.safety}{f': {row.warned}' if row.warned else ''}")
    asking = [each.seat for each in view.seats if each.status == WAITING]
    if len(asking) > 1:  # the screen below is that of one of them
        yield line(f"{join_names(asking)} ask you something", Colour.YELLOW.value)
    keys = ", ".join(
        f"{facts.keys.line_of(command).label}: {words}" for command, words in _keys(row)
    )
    if keys:
        yield line(keys, Colour.YELLOW.value)


def _troubles(view: SessionView) -> Iterator[Line]:
    """Yield the failed checks, the problems and the warnings, in this order."""
    for check in failed_commands(view):
        yield line(f"{FAILED} {check}", Colour.RED.value)
    for problem in view.problems:
        yield line(f"! {problem}", Colour.RED.value)
    for warning in view.warnings:
        yield line(f"! {warning}", Colour.YELLOW.value)


def _is_offered(row: DeskRow, step: str) -> bool:
    """Whether the offered keys can run all commands that the next step names."""
    keys = {KEYS.line_of(command).runs for command in offer_commands(row)}
    return ";" not in step and keys.issuperset(_COMMANDS.findall(step))


def _keys(row: DeskRow) -> Iterator[tuple[KeyCommand, str]]:
    """Yield the commands that the session most likely needs next, each with the text to show."""
    for command in offer_commands(row):
        chooses = command is KeyCommand.RESUME and row.safety is Safety.CHOICE
        yield command, f"{command_words(row, command)}{f'; there {CHOOSE}' * chooses}"


def command_words(row: DeskRow, command: KeyCommand) -> str:
    """Return the text to show for a command on a session, usually the command's name.

    A resume is called ``reattach`` if the session's agents still live.
    """
    return "reattach" if row.is_lost and command is KeyCommand.RESUME else command.value


def offer_commands(row: DeskRow) -> tuple[KeyCommand, ...]:
    """Return the commands that the user most likely needs for a session, the most urgent first."""
    status = row.row.status
    fits = {
        KeyCommand.APPROVE: row.decision,
        KeyCommand.CHANGES: row.decision,
        KeyCommand.DIFF: row.decision,
        KeyCommand.SUMMARY: row.decision,
        KeyCommand.ANSWER: row.asks,
        KeyCommand.RESTART: bool(row.live) and (row.holds or status == SessionStatus.FAILED),
        KeyCommand.TELL: bool(row.live) and status == SessionStatus.STALLED,
        KeyCommand.UNPARK: row.row.group is StatusGroup.PARKED,
        KeyCommand.ATTACH: bool(row.live) and not row.is_lost,
        KeyCommand.RESUME: row.is_lost
        or (row.can_be_resumed and not row.decision and row.safety is not Safety.BLOCKED),
    }
    return tuple(command for command, does in fits.items() if does)


def _phases(facts: OverviewFacts) -> Iterator[Line]:
    if facts.state is None:
        return
    runs = facts.view.orchestrator is not None
    phases = tuple(phase_lines(facts.state, facts.spent_s, runs=runs))
    cols = max((width(each.name) for each in phases), default=0)
    for each in phases:
        style = _MARKS[each.mark]
        if each.phase in ENDS:
            yield line(f"  {each.mark} {each.name}", style)
            continue
        took = age(each.spent_s, least="m") if each.spent_s >= 1 else ""
        yield (
            (f"  {each.mark} {fill(each.name, cols)}", style),
            (f" {took:>4}", DIM),
            (f"  {each.says}", PLAIN),
        )


def _seats(view: SessionView) -> Iterator[Line]:
    for seat in view.seats:
        agent = f"{seat.agent or '-'} {seat.model}".rstrip()
        since = age(seat.age_s, least="m") if seat.age_s is not None else ""
        about = which_conversation(seat.mode) if seat.agent else ""
        yield (
            (f"  {seat.seat:<18} ", PLAIN),
            (seat.label, status_colour(seat.status).value),
            (f" {since}", DIM),
            (f"  {agent}  {about}", DIM),
        )
        if needs_reason(seat.mode, seat.reason):
            yield line(f"    {seat.reason}", DIM)


def _checks(view: SessionView) -> Iterator[Line]:
    """Yield a line for each check command, and below a failed one the end of its output."""
    failed = failed_commands(view)
    for check in check_lines(view):
        yield line(f"  {check}", Colour.RED.value if check in failed else PLAIN)
        for each in failed.get(check, "").splitlines()[-OUTPUT_LINES:]:
            yield line(f"    {each}", DIM)


def _places(view: SessionView, project: Path) -> Iterator[Line]:
    fields = {
        "session": view.session,
        "feature": view.feature,
        "project": str(project),
        "branch": view.branch,
        "worktree": view.worktree,
        "commit": view.commit,
        "tmux": view.because,
        "issue": (view.issue or {}).get("url"),
        "request": (view.request or {}).get("url"),
    }
    for name, text in fields.items():
        if text:
            yield ((f"  {name:<10}", DIM), (str(text), PLAIN))
