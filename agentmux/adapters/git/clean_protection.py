"""Keeps ``git clean -fdx`` in a checkout from deleting the sessions in it.

Git spares an untracked folder that is a repository of its own, so the folder of the sessions gets
an empty repository. Git would then show that folder as a new file, and ``git add -A`` would fail,
unless the repository around it ignores the folder by its ``info/exclude``: a file ``.gitignore`` in
a repository inside does not count, and one above it is cleaned itself. So that line is always
written first.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Final

from agentmux.adapters.disk import files
from agentmux.adapters.disk.inner_repository import (
    has_repository,
    make_repository,
    remove_repository,
)
from agentmux.adapters.git.program import GitProgram
from agentmux.adapters.git.work_tree import shared_git_dir, work_tree
from agentmux.core.names import layout
from agentmux.errors import AgentmuxError

PATTERN: Final = f"**/{layout.SESSIONS_DIR}/"
"""The line in ``info/exclude``: linked worktrees share that file, and projects lie in folders."""

_WHY: Final = "# The sessions of AgentMux: without this line `git add -A` fails"


def protect_from_clean(git: GitProgram, sessions: Path) -> bool:
    """Have ``git clean -fdx`` spare the folder of a project's sessions; safe to repeat.

    It starts git only where something is missing.

    Args:
        git: Runs git in the project.
        sessions: The folder; it exists.

    Returns:
        Whether the folder is protected. It is not outside of a repository, nor where the user's
        own files keep the repository from ignoring the folder, nor where we may not write.
    """
    exclude = _exclude_file(sessions)
    if exclude is None:
        return False
    had_line = _has_line(exclude)
    if had_line and has_repository(sessions):
        return True
    with suppress(AgentmuxError, OSError):
        if not had_line:
            _add_line(exclude)
        if _is_ignored(git, sessions):
            if not has_repository(sessions):
                make_repository(sessions)
            return True
    remove_repository(sessions)
    return False


def _exclude_file(sessions: Path) -> Path | None:
    """Return the file ``info/exclude`` of the repository that contains the folder, if any.

    None also if the folder is not the one of a project's sessions, or is behind a link that leads
    out of the work tree: git removes the link alone.
    """
    project = sessions.parent.parent
    tree = work_tree(project)
    if tree is None or sessions != project / layout.SESSIONS_DIR:
        return None
    if not sessions.resolve().is_relative_to(tree.top.resolve()):
        return None
    return shared_git_dir(tree.git_dir) / "info" / "exclude"


def _has_line(exclude: Path) -> bool:
    """Return whether the file has our pattern; it may be a link to one of the user's."""
    with suppress(OSError), files.opened_regular(exclude.resolve()) as file:
        return any(line.rstrip(b"\r\n") == PATTERN.encode() for line in file)
    return False


def _add_line(exclude: Path) -> None:
    exclude.parent.mkdir(exist_ok=True)
    with exclude.open("ab+") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - 1))
        ends_in_line = file.read(1) in {b"", b"\n"}
        file.write((b"" if ends_in_line else b"\n") + f"{_WHY}\n{PATTERN}\n".encode())
        file.flush()
        os.fsync(file.fileno())


def _is_ignored(git: GitProgram, sessions: Path) -> bool:
    """Return whether git ignores the folder with all that is in it.

    A ``.gitignore`` of the user's counts more than ``info/exclude``, and what is in git's index is
    not ignored.
    """
    project = sessions.parent.parent
    if git.read("check-ignore", "-q", "--", layout.SESSIONS_DIR, cwd=project).status != 0:
        return False
    tracked = git.read("ls-files", "-z", "--", layout.SESSIONS_DIR, cwd=project)
    return tracked.status == 0 and not tracked.out
