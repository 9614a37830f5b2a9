"""``agentmux`` without a command: prints a summary of the project's sessions and next commands."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from agentmux.app.result import envelope
from agentmux.app.session.search.further_up import listed_further_up
from agentmux.app.session.search.lost_sessions import lost_lines
from agentmux.app.views.project_summary import ProjectSummary, summarize_project
from agentmux.app.views.rows import session_row
from agentmux.app.views.session_words import next_lines, next_step
from agentmux.cli import render, session_text
from agentmux.core.names import layout
from agentmux.core.names.status_labels import StatusGroup

if TYPE_CHECKING:
    from pathlib import Path

    from agentmux.app.views.session.session_view import SessionView
    from agentmux.cli.invocation import Invocation

_TITLES: Final = {
    StatusGroup.NEEDS_YOU: "Needs you",
    StatusGroup.RUNNING: "Running",
    StatusGroup.PARKED: "Waiting for a usage limit",
    StatusGroup.INTERRUPTED: "Interrupted",
    StatusGroup.DONE: "Done",
}
_COUNTED: Final = {
    StatusGroup.NEEDS_YOU: "{count} need{s} you",
    StatusGroup.RUNNING: "{count} running",
    StatusGroup.PARKED: "{count} waiting for a limit",
    StatusGroup.INTERRUPTED: "{count} interrupted",
    StatusGroup.DONE: "{count} done",
}
_SHOWN: Final = 5
"""How many sessions of a group are shown; ``agentmux list`` has them all."""

_INDENT: Final = "  "


def run(invocation: Invocation, *, json: bool) -> int:
    """Print a summary of the project's sessions, and return the exit code.

    Args:
        invocation: The global options.
        json: Whether to print JSON.
    """
    site = invocation.site()
    summary = summarize_project(site)
    if json:
        render.as_json(_answer(summary, site.project))
        return summary.exit_code
    cols = render.columns()
    for line in lines(summary, site.project, cols=cols, colours=invocation.colours):
        render.out(line)
    for text in (*listed_further_up(site), *lost_lines(site)):
        render.note(text)
    render.show_problems(summary.problems)
    return summary.exit_code


def lines(
    found: ProjectSummary, project: Path, *, cols: int | None, colours: bool
) -> Iterator[str]:
    """Yield the lines of the summary as text.

    Args:
        found: The project's sessions by status group, and their counts.
        project: The project's directory.
        cols: Width of the terminal, to which the lines of sessions are cut; None cuts nothing.
        colours: Whether to colour the statuses.
    """
    if not found.sessions:
        yield from _nothing_open(found, project)
        return
    yield f"{project.name}: {_counts(found)}"
    rows = iter(_rows(found, cols=cols, colours=colours))
    for group, held in found.sessions.items():
        yield ""
        yield f"{_TITLES[group]}:"
        for view in held[:_SHOWN]:
            yield f"{_INDENT}{next(rows)}"
            for line in next_lines(view) or [next_command(view)]:
                yield f"{_INDENT * 3}{line}"
        if len(held) > _SHOWN:
            yield f"{_INDENT}and {len(held) - _SHOWN} more: agentmux list"
        if group is StatusGroup.INTERRUPTED and len(held) > 1:
            yield f"{_INDENT}all of them: agentmux resume --all"


def next_command(view: SessionView) -> str:
    """Return, in words, the command that the user most likely needs next for a session.

    It may also be a choice of commands, such as ``agentmux approve NAME; or …``.
    """
    look = "attach" if view.live else "status"
    return next_step(view) or f"agentmux {look} {view.session}"


def _rows(found: ProjectSummary, *, cols: int | None, colours: bool) -> list[str]:
    """Return the row of each session that is shown, as ``agentmux list`` has it."""
    shown = [session_row(view) for held in found.sessions.values() for view in held[:_SHOWN]]
    width = None if cols is None else max(cols - len(_INDENT), 1)
    return session_text.session_list(shown, found.names, cols=width, colours=colours)[1:]


def _counts(found: ProjectSummary) -> str:
    counts = {group: len(held) for group, held in found.sessions.items()}
    if found.done:
        counts[StatusGroup.DONE] = found.done
    words = (
        _COUNTED[group].format(count=count, s="s" if count == 1 else "")
        for group, count in counts.items()
    )
    return ", ".join(words)


def _nothing_open(found: ProjectSummary, project: Path) -> Iterator[str]:
    """Yield lines that explain how to start a session, if none is unfinished."""
    if found.done:
        many = f"all {found.done} sessions are" if found.done > 1 else "the only session is"
        yield f"{project.name}: {many} done"
        yield ""
        yield '  agentmux start "…"   start the next feature'
        yield "  agentmux list        see the sessions"
        return
    yield f"no sessions in {project}"
    yield ""
    if not (project / layout.PROJECT_CONFIG).is_file():
        yield "  agentmux init        choose the agents for this project"
    yield '  agentmux start "…"   start a feature: say in a sentence or two what to build'
    yield "  agentmux demo        watch a feature first, without an account"
    yield "  agentmux help        all commands"


def _answer(found: ProjectSummary, project: Path) -> dict[str, object]:
    sessions = [
        {**view.as_json(), "group": group.name.lower(), "next": next_command(view)}
        for group, held in found.sessions.items()
        for view in held
    ]
    answer = envelope(sessions, found.problems)
    return {**answer, "project": str(project), "done": found.done}
