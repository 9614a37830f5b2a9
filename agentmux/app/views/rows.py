"""The row that lists show for a session, and the text that a search for sessions looks in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentmux.app.views.session_words import failed_judgement, label, where
from agentmux.core.codec.frozen import dataclass
from agentmux.core.names.status_labels import SessionStatus, StatusGroup, age, status_mark

if TYPE_CHECKING:
    from agentmux.app.session.search.lookup import SessionEntry
    from agentmux.app.views.session.session_view import SessionView


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionRow:
    """What every list shows of a session.

    Attributes:
        session: The session's name.
        group: What the session needs: the heading under which lists show it.
        phase: The phase, with cycle and iteration unless they are the first; ``-`` if unknown.
        status: The session's status.
        label: The status in words; if a decision is needed, it names what did not pass.
        ago: How long ago the session changed, in words.
        branch: The branch that gets the session's result; empty if there is none.
        is_apart: Whether the session works in a worktree of its own, not in the project's checkout.
        title: The first line of the feature request.
        doubt: What did not pass, if the user has to decide now: ``check`` or ``review``; else
            empty.
    """

    session: str
    group: StatusGroup
    phase: str
    status: SessionStatus
    label: str
    ago: str
    branch: str
    is_apart: bool
    title: str
    doubt: str = ""

    @property
    def mark(self) -> str:
        """One or two words that replace the label in narrow lists; empty if none are needed."""
        return f"\u2717 {self.doubt}" if self.doubt else status_mark(self.status)

    @property
    def phase_beside_label(self) -> str:
        """The phase without the part that repeats the label; for ``done``, such as ``cycle 2``."""
        return "" if self.phase == self.label else self.phase.removeprefix(f"{self.label}, ")


def session_row(view: SessionView) -> SessionRow:
    """Return the row for a session."""
    return SessionRow(
        session=view.session,
        group=view.group,
        phase=where(view),
        status=view.status,
        label=label(view),
        ago=f"{age(view.age_s)} ago",
        branch=view.branch or "",
        is_apart=bool(view.worktree),
        title=view.title,
        doubt=failed_judgement(view),
    )


def search_words(entry: SessionEntry, project: str) -> str:
    """Return the text that a search for the session looks in: slug, title, project and phase.

    It has neither the status nor the time in the session's name. ``project`` is the name of the
    project's directory.
    """
    return f"{entry.slug} {entry.title} {project} {entry.phase or SessionStatus.UNREADABLE}"
