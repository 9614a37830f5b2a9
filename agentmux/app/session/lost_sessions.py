"""The sessions of a project whose directories somebody deleted, and what is left of them."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from agentmux.core.names import layout
from agentmux.errors import NotFoundError

if TYPE_CHECKING:
    from agentmux.app.world import Site
    from agentmux.core.decisions.session_trace import SessionTrace


class LostSessionError(NotFoundError):
    """The directory of the session was deleted.

    Attributes:
        trace: What is known of it.
    """

    def __init__(self, trace: SessionTrace) -> None:
        self.trace = trace
        super().__init__(what_ended(trace), hints=tuple(what_is_left(trace)))


def lost_sessions(site: Site) -> tuple[SessionTrace, ...]:
    """Return the unfinished sessions of the project whose directories were deleted."""
    return site.traces.missing(site.project / layout.SESSIONS_DIR)


def require_not_lost(site: Site, name: str) -> None:
    """Check that ``name`` is not that of a session whose directory was deleted.

    Raises:
        LostSessionError: It is its name, its slug, its path, or the beginning of a name or slug.
    """
    for trace in lost_sessions(site) if name else ():
        own = Path(trace.path).name
        if name == trace.path or own.startswith(name) or layout.slug_of(own).startswith(name):
            raise LostSessionError(trace)


def require_none_lost(site: Site) -> None:
    """Check that the directory of no session of the project was deleted.

    Raises:
        LostSessionError: That of one was; it tells of the newest.
    """
    for trace in reversed(lost_sessions(site)):
        raise LostSessionError(trace)


def what_ended(trace: SessionTrace) -> str:
    """Return the sentence that says that the session is gone."""
    name = Path(trace.path).name
    phase = f" in phase {trace.phase}" if trace.phase else ""
    return f"session {name} ended{phase}, because its directory {trace.path} was deleted"


def what_is_left(trace: SessionTrace) -> Iterator[str]:
    """Yield what is left of a session, each with a command, then how to go on."""
    if trace.worktree and Path(trace.worktree).is_dir():
        branch = f", on branch {trace.branch}" if trace.branch else ""
        yield f"its worktree is left{branch}: git -C {shlex.quote(trace.worktree)} status"
    elif trace.worktree and trace.branch:
        yield f"its branch may be left: git log {shlex.quote(trace.branch)} --"
    elif not trace.worktree:
        yield "what it changed in the checkout is left: git status"
    for line in trace.conversations:
        seat, _, command = line.partition("\t")
        yield f"the conversation of {seat} is left: {command}"
    yield f"begin again: agentmux start {shlex.quote(trace.feature or '…')}"
    yield f"do not name it any more: agentmux remove {Path(trace.path).name}"
