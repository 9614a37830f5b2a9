"""Finds the work tree around a directory by reading files; starts no git."""

from __future__ import annotations

import os
from pathlib import Path

from agentmux.core.codec.frozen import dataclass

_LINK_MAX = 1 << 14
_GITDIR = "gitdir: "


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkTree:
    """A work tree of git.

    Attributes:
        top: Its top directory.
        git_dir: Its own git directory: that of the repository, or of the linked worktree.
    """

    top: Path
    git_dir: Path


def work_tree(folder: Path) -> WorkTree | None:
    """Return the work tree that contains ``folder`` (absolute); None outside of any.

    A ``.git`` that is not a repository is passed over, as git does.
    """
    for top in (folder, *folder.parents):
        git_dir = _git_dir(top / ".git")
        if git_dir is not None:
            return WorkTree(top=top, git_dir=git_dir)
    return None


def _git_dir(path: Path) -> Path | None:
    """Return the git directory that ``path`` is, or names as ``gitdir: PATH``."""
    found = path
    try:
        if path.is_file() and path.stat().st_size <= _LINK_MAX:
            text = path.read_bytes().decode("utf-8", "surrogateescape")
            if not text.startswith(_GITDIR):
                return None
            found = path.parent / text.removeprefix(_GITDIR).rstrip("\n")
        return found if os.path.lexists(found / "HEAD") else None
    except OSError:
        return None
