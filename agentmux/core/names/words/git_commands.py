"""The git commands that our messages tell users to run, and that may write files.

By default, git overwrites files that it ignores. The commands here refuse to do so, and leave
submodules alone, in which git would overwrite such files all the same.
"""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Final

FOR_MERGE: Final = "put aside for a merge"
FOR_REVIEW: Final = "put aside for a review"
FOR_TRIAL: Final = "put aside for a trial"
IN_TRIAL: Final = "changed in a trial"
"""The messages of stashes that users create by following our hints."""


def put_aside(
    paths: Sequence[str] | None,
    *,
    top: str,
    why: str,
    leave_out: Collection[str] = (),
    to_stage: Collection[str] = (),
    flags: Mapping[str, str] = MappingProxyType({}),
) -> str:
    """Return the shell commands that stash these files; the user runs them.

    They also stash new files and, with ``paths``, those that git ignores.

    Args:
        paths: The files, relative to ``top``; None for all changes outside ``.agentmux``.
        top: The top-level directory of the work tree.
        why: The message of the stash.
        leave_out: Folders to leave as they are if ``paths`` is None.
        to_stage: Those that git cannot stash before they are staged, such as intent-to-add files;
            without ``paths``, ignored files, too.
        flags: Those whose changes git was told not to show, with the letter that
            ``git ls-files -v`` shows. Their flags are taken away.
    """
    place, message = shlex.quote(top), shlex.quote(why)
    commands = []
    for flag, hidden in by_flag(flags):
        commands.append(f"git -C {place} update-index --no-{flag} -- {_quote_all(hidden)}")
    if to_stage:
        add = f"git -C {place}{_literal_option(to_stage)} add --force --sparse --all"
        commands.append(f"{add} -- {_quote_all(to_stage)}")
    if paths is None:
        without = (shlex.quote(f":(top,exclude,literal){path}") for path in leave_out)
        commands.append(
            f"git -C {place} stash push --include-untracked --message {message}"
            " -- :/ ':(top,exclude,glob)**/.agentmux' ':(top,exclude,glob)**/.agentmux/**'"
        )
        commands[-1] = " ".join((commands[-1], *without))
    else:
        stash = f"git -C {place}{_literal_option(paths)} stash push --all --message {message}"
        commands.append(f"{stash} -- {_quote_all(paths)}")
    return " && ".join(commands)


def after_put_back(
    *,
    top: str,
    to_unstage: Collection[str] = (),
    to_write: Collection[str] = (),
    flags: Mapping[str, str] = MappingProxyType({}),
) -> str:
    """Return the shell commands that follow when a stash of `put_aside` was restored.

    Each begins with `` && ``; empty if none is needed.

    Args:
        top: The top-level directory of the work tree.
        to_unstage: New and changed files of a sparse checkout that `put_aside` staged. Git restores
            those that are outside of its definition in the index alone, so they are written, too.
        to_write: Those that the user had staged: they are written, too, and stay staged.
        flags: The files whose flags `put_aside` took away; they are set again.
    """
    place, commands = shlex.quote(top), []
    if to_unstage or to_write:
        write = "checkout-index --ignore-skip-worktree-bits --quiet"
        commands.append(f"git -C {place} {write} -- {_quote_all((*to_unstage, *to_write))}")
    if to_unstage:
        named = _quote_all(to_unstage)
        commands.append(f"git -C {place}{_literal_option(to_unstage)} reset --quiet -- {named}")
    for flag, hidden in by_flag(flags):
        commands.append(f"git -C {place} update-index --{flag} -- {_quote_all(hidden)}")
    return "".join(f" && {each}" for each in commands)


def apply_stash(commit: str, *, top: str, to: str, has_new_files: bool) -> str:
    """Return the shell commands that make the changes of a stash in another work tree.

    The user runs them. Either all changes are made there, or none. The stash stays.

    Args:
        commit: The commit of the stash.
        top: The top-level directory of the work tree in which it was made.
        to: The top-level directory of the other work tree.
        has_new_files: Whether the stash has untracked files.
    """
    look = f"git -C {shlex.quote(top)} diff-tree -p --binary"
    changes = f"{look} '{commit}^' {commit}"  # in quotes, because some shells expand a ^
    if has_new_files:
        changes = f"({changes} && {look} --root '{commit}^3')"
    return f"{changes} | git -C {shlex.quote(to)} apply --whitespace=nowarn"


def by_flag(flags: Mapping[str, str]) -> Iterator[tuple[str, list[str]]]:
    """Yield each option of ``git update-index`` that sets a flag, with the files that have it.

    ``flags`` has the letter of each file in ``git ls-files -v``; a file may have both flags.
    """
    assumed = [path for path, letter in flags.items() if letter.islower()]
    skipped = [path for path, letter in flags.items() if letter in "Ss"]
    pairs = (("assume-unchanged", assumed), ("skip-worktree", skipped))
    return ((flag, paths) for flag, paths in pairs if paths)


def _literal_option(paths: Collection[str]) -> str:
    return " --literal-pathspecs" if any(set(path) & set("*?[\\:") for path in paths) else ""


def _quote_all(paths: Collection[str]) -> str:
    return " ".join(map(shlex.quote, paths))


def switch(to: str, *, git: str = "git", option: str = "") -> str:
    """Return the git command that checks out a branch or a commit; the user runs it.

    It fails rather than overwrite a file that git ignores.

    Args:
        to: The branch; a commit or a new branch with the right ``option``.
        git: The words with which a git command for the work tree begins, such as ``git -C PATH``.
        option: ``--detach`` for a commit, ``-c`` for a new branch; empty for an existing branch.
    """
    words = f"{option} {shlex.quote(to)}".lstrip()
    return f"{git} switch --no-recurse-submodules --no-overwrite-ignore {words}"


def merge(what: str, *, git: str = "git", is_related: bool = True) -> str:
    """Return the shell commands that merge a branch or a commit; the user runs them.

    They merge into the checked-out branch. They check out ``what`` first and then go back, because
    that fails if an ignored file is in the way; ``git merge --no-overwrite-ignore`` protects
    ignored files only in a fast-forward.

    Args:
        what: The branch or the commit.
        git: The words with which a git command for the work tree begins, such as ``git -C PATH``.
        is_related: Whether ``what`` and the checked-out branch have a common ancestor.
    """
    other = "" if is_related else "--allow-unrelated-histories "
    return f"{_look(what, git)} && {git} merge --no-edit {other}{shlex.quote(what)}"


def rebase(onto: str, *, since: str, git: str = "git") -> str:
    """Return the shell commands that rebase the checked-out branch; the user runs them.

    Args:
        onto: The branch to rebase onto.
        since: The commit before the first one to rebase.
        git: The words with which a git command for the work tree begins, such as ``git -C PATH``.
    """
    return f"{_look(onto, git)} && {git} rebase --onto {shlex.quote(onto)} {since}"


def _look(at: str, git: str) -> str:
    """Return the commands that fail if ``at`` contains a file that exists here and is ignored."""
    # No hooks: with one that fails, git has switched all the same, but would not go back.
    git = f"{git} -c core.hooksPath=/dev/null"
    # `git switch -` does not go back to a HEAD that was detached.
    back = f"{git} checkout --no-recurse-submodules --no-overwrite-ignore -"
    return f"{switch(at, git=git, option='--detach')} && {back}"
