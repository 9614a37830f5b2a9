"""Protects a project's sessions folder from ``git clean -fdx``.

Git spares an untracked folder that is itself a repository, so the sessions folder gets an empty
repository. Git would then list that folder as a new file, and ``git add -A`` would fail, unless the
surrounding repository ignores the folder in its ``info/exclude``. (A ``.gitignore`` in the inner
repository does not count, and one above it would itself be cleaned.) So that line is always
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
"""The line in ``info/exclude`` that ignores every sessions folder.

It begins with ``**/`` because linked worktrees share the file, and projects can lie in subfolders.
"""

_WHY: Final = "# The sessions of AgentMux: without this line `git add -A` fails"


def protect_from_clean(git: GitProgram, sessions: Path) -> bool:
    """Make ``git clean -fdx`` spare a project's sessions folder; safe to repeat.

    It adds a line to the repository's file ``info/exclude``, and puts an empty repository into the
    folder, because ``git clean`` spares nested repositories. What is there already is not written
    again. If git does not ignore the folder even so, that empty repository is removed.

    Args:
        git: Runs git in the project.
        sessions: The sessions folder; it must exist.

    Returns:
        Whether the folder is protected. False outside a repository, if the user's own ignore rules
        or tracked files prevent it, or if we may not write there.
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

    Also None if ``sessions`` is not a project's sessions folder, or if a link leads to it from the
    work tree: ``git clean`` would remove only the link.
    """
    project = sessions.parent.parent
    tree = work_tree(project)
    if tree is None or sessions != project / layout.SESSIONS_DIR:
        return None
    if not sessions.resolve().is_relative_to(tree.top.resolve()):
        return None
    return shared_git_dir(tree.git_dir) / "info" / "exclude"


def _has_line(exclude: Path) -> bool:
    """Return whether the file contains `PATTERN`; the file may be a link."""
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
    """Return whether git ignores the folder and tracks nothing in it.

    The user's ``.gitignore`` takes precedence over ``info/exclude``.
    """
    project = sessions.parent.parent
    if git.read("check-ignore", "-q", "--", layout.SESSIONS_DIR, cwd=project).status != 0:
        return False
    tracked = git.read("ls-files", "-z", "--", layout.SESSIONS_DIR, cwd=project)
    return tracked.status == 0 and not tracked.out
