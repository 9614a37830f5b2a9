"""Repositories nested in a work tree that git does not list, and that contain unpublished work.

Git lists a repository in an untracked folder (`Git.list_nested`) and a submodule. It does not list
one in an ignored folder, nor one whose files it tracks itself.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from agentmux.adapters.git.program import GitProgram
from agentmux.adapters.git.session_objects import QUIET
from agentmux.adapters.git.work_tree import WorkTree, is_bare, linked_git_dir
from agentmux.errors import AgentmuxError

_GIT: Final = ".git"


def repositories_with_work(git: GitProgram, tree: WorkTree) -> tuple[str, ...]:
    """Return the repositories nested in ``tree`` with changes, stashes, or unpublished commits.

    A commit is unpublished if none of the repository's remotes has it. A repository that git cannot
    read is returned, too. Each path is relative to the top of ``tree`` and ends in ``/``.
    Submodules of ``tree`` itself are left out: see `agentmux.adapters.git.lost_work.submodules`.
    """
    return tuple(
        f"{folder.relative_to(tree.top)}/"
        for folder in _repositories(tree)
        if _has_work(git.at(folder), folder)
    )


def _repositories(tree: WorkTree) -> Iterator[Path]:
    modules = tree.git_dir / "modules"
    for name, folders, files in os.walk(tree.top):
        folder = Path(name)
        if folder != tree.top and _GIT in (*folders, *files):
            link = linked_git_dir(folder / _GIT)
            if link is None or not link.resolve().is_relative_to(modules.resolve()):
                yield folder
        elif is_bare(folder):
            yield folder
            folders.clear()
        folders[:] = sorted(each for each in folders if each != _GIT)


def _has_work(git: GitProgram, folder: Path) -> bool:
    """Whether a repository has work that would be lost; also True if git cannot read it."""
    try:
        top = git.top_level()
        if top is None:
            return git.is_bare() and _has_own_commits(git)
        if not top.samefile(folder):
            return False  # git does not take the folder for a repository
        shown = git.must_read("list changes", *QUIET, "status", "--porcelain").out
        return bool(shown or git.must_read("list stashes", "stash", "list").out) or (
            _has_own_commits(git)
        )
    except (AgentmuxError, OSError):
        return True


def _has_own_commits(git: GitProgram) -> bool:
    ours = ("HEAD",) if git.commit("HEAD") is not None else ()
    # In a clone, tags came from the remote; without remotes, tags are the user's own work.
    is_clone = bool(git.must_read("list branches", "for-each-ref", "refs/remotes").out)
    known = ("--not", "--remotes", "--tags") if is_clone else ("--tags",)
    words = ("rev-list", "-1", *ours, "--branches", *known)
    return bool(git.must_read("list the commits", *words).out)
