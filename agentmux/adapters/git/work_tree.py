"""Finds the work tree, repository or branch at a directory by reading files; starts no git."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from agentmux.core.codec.frozen import dataclass

MARKER: Final = "agentmux-session"
"""The name of the file that marks a session's worktree, in the worktree's git directory.

It holds the session's directory and uuid, one per line.
"""

ASIDE: Final = " set aside"
"""What follows the uuid in the marker of a worktree whose folder was missing, and made again."""

_REBASING: Final = ("rebase-merge", "rebase-apply")
_LINK_MAX: Final = 1 << 14
GITDIR: Final = "gitdir: "
"""The prefix of the one line in the ``.git`` file of a linked worktree or submodule."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkTree:
    """A git work tree.

    Attributes:
        top: Its top directory.
        git_dir: Its own git directory; for a linked worktree, the one below ``worktrees/``.
    """

    top: Path
    git_dir: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class WorktreeMarker:
    """The content of the marker file (`MARKER`) of a session's worktree.

    Attributes:
        home: The session's directory.
        session: The session's uuid.
    """

    home: Path
    session: str


def marker_of(git_dir: Path) -> WorktreeMarker | None:
    """Return what the marker file in a worktree's git directory says: whose worktree it is.

    None if there is no valid marker file, as in a worktree of the user's own.
    """
    try:
        text = (git_dir / MARKER).read_bytes().decode("utf-8", "surrogateescape")
    except OSError:
        return None
    home, _, session = text.removesuffix("\n").rpartition("\n")
    return WorktreeMarker(home=Path(home), session=session) if home and session else None


def is_half_made(top: Path) -> bool:
    """Return whether ``top`` is a linked worktree without a valid marker file (`MARKER`).

    The making of a session's worktree was killed then, or is under way: the marker comes last.
    False if the worktree's git directory is gone.
    """
    git_dir = linked_git_dir(top / ".git")
    return git_dir is not None and git_dir.is_dir() and marker_of(git_dir) is None


def work_tree(folder: Path) -> WorkTree | None:
    """Return the work tree that contains ``folder`` (an absolute path); None if none does.

    Like git, it skips a ``.git`` that is not a repository.
    """
    for top in (folder, *folder.parents):
        git_dir = _git_dir(top / ".git")
        if git_dir is not None:
            return WorkTree(top=top, git_dir=git_dir)
    return None


def shared_git_dir(git_dir: Path) -> Path:
    """Return the git directory that all worktrees of a repository share.

    Args:
        git_dir: The git directory of any of its worktrees. It is returned itself if it is that of
            the main worktree (or cannot be read). Otherwise the result may contain ``..``.
    """
    try:
        with (git_dir / "commondir").open("rb") as file:
            data = file.read(_LINK_MAX)
    except OSError:
        return git_dir
    return git_dir / os.fsdecode(data.rstrip(b"\n"))


def repository_around(folder: Path) -> Path | None:
    """Return the shared git directory of the repository around ``folder``, with links resolved.

    ``folder`` may itself be a bare repository. None if no repository contains it.
    """
    tree = work_tree(folder)
    git_dir = tree.git_dir if tree is not None else folder if is_bare(folder) else None
    return None if git_dir is None else Path(os.path.realpath(shared_git_dir(git_dir)))


def worktree_tops(shared: Path) -> Iterator[Path]:
    """Yield the top directory, which may not exist, of each registered worktree of a repository.

    The first is the parent of ``shared``: the main worktree, unless the repository is bare.

    Args:
        shared: The git directory that the worktrees share.
    """
    yield shared.parent
    try:
        names = os.listdir(shared / "worktrees")
    except OSError:
        return
    for name in names:
        git_dir = shared / "worktrees" / name
        with suppress(OSError), (git_dir / "gitdir").open("rb") as file:
            link = os.fsdecode(file.read(_LINK_MAX).rstrip(b"\n"))
            yield Path(os.path.normpath(git_dir / link)).parent


def is_top(folder: Path) -> bool:
    """Return whether ``folder`` is the top level of a git work tree, or looks like one.

    A file ``.git`` counts even if the directory that it names is gone, as after a move: git stops
    there, too. A directory ``.git`` that is not a repository does not count. It raises nothing.
    """
    path = f"{folder}/.git"
    return os.path.isfile(path) or os.path.lexists(f"{path}/HEAD")  # noqa: PTH113 (raises nothing)


def is_bare(folder: Path) -> bool:
    """Return whether ``folder`` is itself a git directory, as a bare repository is; never raise."""
    parts = ("objects", "refs")
    return os.path.isfile(folder / "HEAD") and all(os.path.isdir(folder / each) for each in parts)  # noqa: PTH112, PTH113 (a `Path` may raise)


def linked_git_dir(link: Path) -> Path | None:
    """Return the git directory that the file ``link`` names as ``gitdir: PATH``.

    The directory need not exist, and its path may contain ``..``. None if ``link`` is not such a
    file or cannot be read.
    """
    try:
        if not link.is_file() or link.stat().st_size > _LINK_MAX:
            return None
        text = link.read_bytes().decode("utf-8", "surrogateescape")
    except OSError:
        return None
    if not text.startswith(GITDIR):
        return None
    return link.parent / text.removeprefix(GITDIR).rstrip("\n")


def _git_dir(path: Path) -> Path | None:
    """Return the git directory that ``path`` is, or that the file ``path`` names.

    None if neither.
    """
    try:
        git_dir = linked_git_dir(path) if path.is_file() else path
        return git_dir if git_dir is not None and os.path.lexists(git_dir / "HEAD") else None
    except OSError:
        return None


def is_branch_gone(folder: Path, name: str) -> bool:
    """Return whether the repository that contains ``folder`` has no branch ``name``.

    ``name`` is the short name, such as ``main``. False outside a repository, and if the repository
    does not keep its refs in files (reftable).
    """
    shared = repository_around(folder)
    if shared is None or os.path.lexists(shared / "reftable"):
        return False
    ref = os.fsencode(f"refs/heads/{name}")
    path = os.fsencode(shared) + b"/" + ref
    if os.path.lexists(path) and not os.path.isdir(path):  # noqa: PTH112 (of bytes)
        return False
    try:
        with (shared / "packed-refs").open("rb") as file:
            return all(line.rstrip(b"\n").partition(b" ")[2] != ref for line in file)
    except FileNotFoundError:
        return True
    except OSError:
        return False


def last_commit_at(folder: Path) -> str | None:
    """Return the id of the last commit at which HEAD was in the work tree around ``folder``.

    It is known from the reflog, so that the branch of HEAD may be gone. None if nothing is known.
    """
    tree = work_tree(folder)
    return last_commit_in(tree.git_dir) if tree is not None else None


def last_commit_in(git_dir: Path) -> str | None:
    """Return the id of the last commit of HEAD, from its reflog; None if there is none.

    ``git_dir`` is the git directory of a work tree. That a branch was deleted leaves an entry
    without a new commit; the old one counts then.
    """
    try:
        *_, last = (git_dir / "logs" / "HEAD").read_text(errors="replace").splitlines()
    except (OSError, ValueError):
        return None
    old, new, *_ = (*last.split(" "), "", "")
    return next((each for each in (new, old) if each.strip("0")), None)


def branch_at(folder: Path) -> str | None:
    """Return the short name of the branch that is checked out in the work tree around ``folder``.

    An empty text if HEAD is detached. None outside a work tree, during a rebase, if HEAD cannot be
    read, and if the repository does not keep its refs in files (reftable). The branch may have no
    commit yet.
    """
    tree = work_tree(folder)
    if tree is None or any(os.path.lexists(tree.git_dir / each) for each in _REBASING):
        return None
    try:
        text = (tree.git_dir / "HEAD").read_bytes().decode("utf-8", "surrogateescape").strip()
    except OSError:
        return None
    if not text.startswith("ref: "):
        return ""
    ref = text.removeprefix("ref: ")
    named = ref.startswith("refs/heads/") and ref != "refs/heads/.invalid"
    return ref.removeprefix("refs/heads/") if named else None
