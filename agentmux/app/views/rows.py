"""The row of a session, and the words by which it is found; every list shows these."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentmux.app.views.session_words import doubt, label, where
from agentmux.core.codec.frozen import dataclass
from agentmux.core.names.status_labels import SessionStatus, StatusGroup, age, status_mark

if TYPE_CHECKING:
    from agentmux.app.session.search.lookup import SessionEntry
    from agentmux.app.views.session.session_view import SessionView


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionRow:
    """What a list shows of a session.

    Attributes:
        short: The shortest name that commands take; its whole name where that is not known.
        group: What it needs; the heading below which it stands.
        phase: Its phase, with cycle and iteration after the first ones; ``-`` where unknown.
        label: Its status in words; for a decision also what did not pass.
        doubt: What did not pass of what is to be decided on: ``check``, ``review``, else empty.
        ago: How long ago it changed, in words.
        branch: The branch that its result goes on; empty for none.
        is_apart: Whether it works in a worktree of its own, not in the project's checkout.
        title: The first line of its feature.
    """

    session: str
    short: str
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
        """One word or two instead of the label, for a narrow list; empty where none is needed."""
        return f"\u2717 {self.doubt}" if self.doubt else status_mark(self.status)


def session_row(view: SessionView, short: str = "") -> SessionRow:
    """Return the row of a session.

    Args:
        view: The session.
        short: The shortest name that commands take; empty where that is not known.
    """
    return SessionRow(
        session=view.session,
        short=short or view.session,
        group=view.group,
        phase=where(view),
        status=view.status,
        label=label(view),
        ago=f"{age(view.age_s)} ago",
        branch=view.branch or "",
        is_apart=bool(view.worktree),
        title=view.title,
        doubt=doubt(view),
    )


def search_words(entry: SessionEntry, project: str) -> str:
    """Return the text in which a search for a session looks, besides its status.

    That are its slug, its title, its project and its phase; not the time in its name.
    """
    return f"{entry.slug} {entry.title} {project} {entry.phase or SessionStatus.UNREADABLE}"
