"""Finds sessions whose directories were deleted, and describes what is left of them.

If the whole project is gone, too (a removed worktree or folder), its sessions are reported in the
other projects of the same repository.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Sequence
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
        trace: The record of the session that is kept outside of its directory.
    """

    def __init__(self, trace: SessionTrace) -> None:
        self.trace = trace
        super().__init__(what_ended(trace), hints=tuple(what_is_left(trace)))


def lost_sessions(site: Site) -> tuple[SessionTrace, ...]:
    """Return the unfinished sessions of the project whose directories were deleted, sorted by path.

    If another project in the same repository was deleted as a whole, its sessions are included.
    """
    folder, missing = site.project / layout.SESSIONS_DIR, site.traces.missing()
    away = [each for each in missing if each.repository and _is_gone(_project(each))]
    beside = _beside(site, away) if away else ()
    return tuple(each for each in missing if Path(each.path).parent == folder or each in beside)


def homeless_sessions(site: Site) -> tuple[SessionTrace, ...]:
    """Return the unfinished sessions of deleted projects whose repository is gone, too.

    Those of deleted projects that were in no repository are included. No project is left that could
    report these sessions.
    """
    return tuple(
        each
        for each in site.traces.missing()
        if _is_gone(_project(each)) and not (each.repository and Path(each.repository).exists())
    )


def _beside(site: Site, away: Sequence[SessionTrace]) -> tuple[SessionTrace, ...]:
    """Return those sessions that were in the project's repository, or in a submodule of it."""
    shared = site.repositories.around(site.project)
    if shared is None:
        return ()
    return tuple(
        each
        for each in away
        if Path(each.repository).is_relative_to(shared) and not _is_elsewhere(site, each)
    )


def _is_elsewhere(site: Site, trace: SessionTrace) -> bool:
    """Whether the session's directory still exists because it was moved with its worktree."""
    parts = Path(trace.path).parts
    return any(
        top.joinpath(*parts[start:]).is_dir()
        for top in site.repositories.tops_of(Path(trace.repository))
        for start in range(-len(Path(layout.SESSIONS_DIR).parts) - 1, -len(parts), -1)
    )


def _project(trace: SessionTrace) -> Path:
    """Return the directory of the project that the session was in."""
    return Path(trace.path.removesuffix(f"/{layout.SESSIONS_DIR}/{Path(trace.path).name}"))


def _is_gone(project: Path) -> bool:
    """Whether a directory does not exist or is empty, as that of a submodule not checked out."""
    try:
        return not os.listdir(project)
    except OSError as error:
        return isinstance(error, FileNotFoundError | NotADirectoryError)


def require_not_lost(site: Site, name: str) -> None:
    """Check that ``name`` does not stand for a session whose directory was deleted.

    Raises:
        LostSessionError: It is the name, slug or path of such a session, or the beginning of its
            name or slug.
    """
    for trace in site.traces.missing() if name.startswith("/") else ():
        if name == trace.path:
            raise LostSessionError(trace)
    for trace in lost_sessions(site) if name else ():
        own = Path(trace.path).name
        if own.startswith(name) or layout.slug_of(own).startswith(name):
            raise LostSessionError(trace)


def require_none_lost(site: Site) -> None:
    """Check that no session of the project has lost its directory.

    Raises:
        LostSessionError: A session has; of several, the error is about the last one by path.
    """
    for trace in reversed(lost_sessions(site)):
        raise LostSessionError(trace)


def lost_lines(site: Site) -> Iterator[str]:
    """Yield lines that name the project's deleted sessions, and commands that show what is left."""
    for trace in lost_sessions(site):
        yield what_ended(trace)
        yield f"what is left of it: agentmux status {Path(trace.path).name}"


def what_ended(trace: SessionTrace) -> str:
    """Return the sentence that the session of ``trace`` ended because its directory is gone."""
    path, project = Path(trace.path), _project(trace)
    phase = f" in phase {trace.phase}" if trace.phase else ""
    why = f"is gone with {project}" if _is_gone(project) else "was deleted"
    return f"session {path.name} ended{phase}, because its directory {path} {why}"


def what_is_left(trace: SessionTrace) -> Iterator[str]:
    """Yield a line for each thing that a deleted session has left, then lines on how to go on.

    ``trace`` is the record of the session that is kept outside of its directory.
    A session can leave its worktree or branch, changes in the checkout, and conversations. Each
    line ends with the command that shows or uses it.
    """
    project = _project(trace)
    if trace.worktree and Path(trace.worktree).is_dir():
        branch = f", on branch {trace.branch}" if trace.branch else ""
        yield f"its worktree is left{branch}: git -C {shlex.quote(trace.worktree)} status"
    elif trace.branch and (trace.worktree or _is_gone(project)):
        yield f"its branch may be left: git log {shlex.quote(trace.branch)} --"
    elif not trace.worktree and not _is_gone(project):
        yield "what it changed in the checkout is left: git status"
    for line in trace.conversations:
        seat, _, command = line.partition("\t")
        _, place, _, *argv = shlex.split(command)
        if Path(place).is_dir():
            yield f"the conversation of {seat} is left: {command}"
        else:
            yield f"the conversation of {seat} is left, though {place} is gone: {shlex.join(argv)}"
    if _is_gone(project):
        moved = f"agentmux --project PATH resume {Path(trace.path).name}"
        yield f"if {project} was only moved, go on there: {moved}"
    yield f"begin again: agentmux start {shlex.quote(trace.feature or '…')}"
    yield f"do not name it any more: agentmux remove {Path(trace.path).name}"
