"""The summary of a project: its unfinished sessions by what they need, and how many are done."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from agentmux.app.result import SessionProblem
from agentmux.app.session.search.lookup import list_sessions
from agentmux.app.views.status import look
from agentmux.core.codec.frozen import dataclass
from agentmux.core.names.status_labels import StatusGroup
from agentmux.errors import ExitCode

if TYPE_CHECKING:
    from agentmux.app.views.session.session_view import SessionView
    from agentmux.app.world import Site


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectSummary:
    """The unfinished sessions of a project, grouped by what they need.

    Attributes:
        sessions: The unfinished sessions by group, the one that changed last first; groups without
            sessions are missing.
        names: The names of all sessions of the project, the one that changed last first.
        done: How many sessions are done, or were moved elsewhere.
        problems: What could not be read, and which tmux servers or locks could not be asked.
        exit_code: The exit code for the worst problem; OK if there are none.
    """

    sessions: Mapping[StatusGroup, tuple[SessionView, ...]]
    names: tuple[str, ...]
    done: int
    problems: tuple[SessionProblem, ...]
    exit_code: ExitCode


def summarize_project(site: Site) -> ProjectSummary:
    """Return the summary of the project; looks more closely only at sessions that are not done."""
    entries = list_sessions(site)
    open_ = tuple(entry for entry in entries if not entry.is_done)
    result = look(site, open_)
    groups = {
        group: tuple(each for each in result.data if each.group is group) for group in StatusGroup
    }
    return ProjectSummary(
        sessions={group: held for group, held in groups.items() if held},
        names=tuple(entry.name for entry in entries),
        done=len(entries) - len(open_),
        problems=result.problems,
        exit_code=result.exit_code,
    )
