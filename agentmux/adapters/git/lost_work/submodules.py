"""Submodules: where their work trees are, and which of them contain unpublished work."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from agentmux.adapters.git.program import GitProgram, decode_output

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


def _line(out: bytes) -> str:
    return decode_output(out).removesuffix("\n")
