"""Submodules: where their work trees are, and which of them contain unpublished work."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from agentmux.adapters.git.program import GitProgram, decode_output
from agentmux.adapters.git.work_tree import work_tree

# A submodule's commits are in the git directory of the worktree, so they are deleted with it.
_HAS_WORK: Final = (
    'test -z "$(git status --porcelain; git stash list;'
    ' git rev-list -1 HEAD --branches --not --remotes --tags)" || echo "$displaypath/"'
)


def correct_listed_top(git: GitProgram, listed: Path) -> Path:
    """Return the top directory of a work tree that ``git worktree list`` reports as ``listed``.

    Git reports the main work tree by its git directory if that is elsewhere: in a submodule, or
    after ``git init --separate-git-dir``. For a bare repository, ``listed`` is returned. ``git``
    runs in any work tree of the repository.
    """
    if (listed / ".git").exists() or not (listed / "HEAD").exists():
        return listed
    own = git.must_read("find the git directory", "rev-parse", "--absolute-git-dir")
    if Path(_line(own.out)) == listed:
        return git.top_level() or listed
    # If the configuration names no work tree, git prints the directory that it runs in.
    named = git.read(f"--git-dir={listed}", "rev-parse", "--show-toplevel", cwd=listed)
    return Path(_line(named.out)) if named.status == 0 else listed


def superproject(git: GitProgram) -> Path | None:
    """Return the top of the superproject: the work tree that has this repository as a submodule.

    None if this repository is no submodule.
    """
    words = ("rev-parse", "--show-superproject-working-tree")
    top = _line(git.must_read("find the superproject", *words).out)
    return Path(top) if top else None


def modules_with_work(git: GitProgram, git_dir: Path) -> tuple[str, ...]:
    """Return the submodules with changes, stashes, or commits that none of their remotes has.

    Each path is relative to the top of the worktree and ends in ``/``. Nested submodules are
    included.

    Args:
        git: Runs git at the top of the worktree.
        git_dir: The git directory of the worktree.
    """
    if not (git_dir / "modules").is_dir():
        return ()  # no submodule was initialised in this worktree
    words = ("submodule", "--quiet", "foreach", "--quiet", "--recursive", _HAS_WORK)
    return tuple(decode_output(git.must_read("look into submodules", *words).out).splitlines())


def absent_modules_with_work(git: GitProgram, git_dir: Path) -> Iterator[Path]:
    """Yield the git directories of submodules that are not checked out and have work, sorted.

    Git keeps such a directory after ``git submodule deinit`` and ``git rm``, and if the worktree's
    folder is missing. Work means stashes, and commits that none of the submodule's remotes has. If
    git cannot tell, as in a damaged repository, there may be work, and the directory is yielded.

    Args:
        git: Runs git anywhere in the repository.
        git_dir: The git directory of the worktree that has the submodules.
    """
    words = ("rev-list", "-1", "HEAD", "--all", "--not", "--remotes", "--tags", "--")
    for head in sorted((git_dir / "modules").rglob("HEAD")):
        module = head.parent
        if (module / "objects").is_dir() and not _is_checked_out(git, module):
            # `--work-tree=.`, because the work tree in the submodule's configuration is missing.
            reply = git.read("--git-dir=.", "--work-tree=.", *words, cwd=module)
            if reply.out or reply.status != 0:
                yield module


def _is_checked_out(git: GitProgram, module: Path) -> bool:
    words = ("--git-dir=.", "--work-tree=.", "config", "core.worktree")
    reply = git.read(*words, cwd=module)
    tree = work_tree(module / _line(reply.out)) if reply.status == 0 else None
    return tree is not None and os.path.realpath(tree.git_dir) == os.path.realpath(module)


def _line(out: bytes) -> str:
    return decode_output(out).removesuffix("\n")
