"""The commands of git that our messages tell a person to type, and that may write files.

Git's own default is to overwrite a file that it ignores. Each command here refuses instead.
"""

from __future__ import annotations

import shlex
from collections.abc import Collection
from typing import Final

FOR_MERGE: Final = "put aside for a merge"
FOR_REVIEW: Final = "put aside for a review"
FOR_TRIAL: Final = "put aside for a trial"
"""The messages of stashes that our hints make."""


def put_aside(paths: Collection[str], *, top: str, why: str) -> str:
    """Return the command that puts files aside, also new ones and those that git ignores.

    Args:
        paths: The files, relative to ``top``.
        top: The work tree.
        why: The message of the stash.
    """
    literal = " --literal-pathspecs" if any(set(path) & set("*?[\\:") for path in paths) else ""
    named = " ".join(map(shlex.quote, paths))
    place, message = shlex.quote(top), shlex.quote(why)
    return f"git -C {place}{literal} stash push --all --message {message} -- {named}"


def switch(to: str, *, git: str = "git", option: str = "") -> str:
    """Return the command that checks a branch or a commit out.

    Args:
        to: The branch, or what the option takes.
        git: How a git command for that work tree begins.
        option: ``--detach`` for a commit, ``-c`` for a new branch.
    """
    words = f"{option} {shlex.quote(to)}".lstrip()
    return f"{git} switch --no-overwrite-ignore {words}"


def merge(what: str, *, git: str = "git", is_related: bool = True) -> str:
    """Return the commands that merge a branch or a commit into what is checked out.

    `git merge --no-overwrite-ignore` protects ignored files from a fast-forward alone. A look at
    ``what``, which has every file that the merge can bring, refuses where one is in the way.

    Args:
        what: The branch or the commit.
        git: How a git command for that work tree begins.
        is_related: Whether both have a common ancestor.
    """
    other = "" if is_related else "--allow-unrelated-histories "
    return f"{_look(what, git)} && {git} merge --no-edit {other}{shlex.quote(what)}"


def rebase(onto: str, *, since: str, git: str = "git") -> str:
    """Return the commands that put the commits after ``since`` on those of a branch instead."""
    return f"{_look(onto, git)} && {git} rebase --onto {shlex.quote(onto)} {since}"


def _look(at: str, git: str) -> str:
    """Return the commands that refuse if a file of a branch or commit is ignored and there."""
    # `git switch -` does not go back to a HEAD that was detached.
    return f"{switch(at, git=git, option='--detach')} && {git} checkout --no-overwrite-ignore -"
