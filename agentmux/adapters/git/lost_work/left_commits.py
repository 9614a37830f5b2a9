"""The commits that were made in a work tree and that its HEAD then left behind.

The reflog of HEAD shows them: whoever switches away from a detached HEAD, or from a branch of their
own, leaves an entry there. Amended and rebased commits do not count: they were replaced. Commits
that a reset took away count if it undid them, that is, if one of their files is as it was before
them. So do those before a root commit: the branch was deleted while it was checked out.

A session's worktree may have been made again; the reflogs of its earlier folders count, too.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Final

from agentmux.adapters.git.program import LOG, GitProgram, decode_output, split
from agentmux.adapters.git.work_tree import ASIDE, marker_of
from agentmux.ports.git.repository import LeftCommits

_MOVES: Final = ("checkout:", "reset:", "clone:", "branch:", "rebase", "worktree")
"""The prefixes of reflog entries that create no commit, or that only replace commits."""
_FORWARD: Final = "fast-forward"
_SWITCH: Final = "checkout:"
_RESET: Final = "reset:"
_ROOT: Final = "commit (initial):"
_GIT_DIR: Final = "GIT_DIR"


def left_commits(
    git: GitProgram, *, since: str, known: Collection[str] = (), also: Collection[str] = ()
) -> tuple[LeftCommits, ...]:
    """Return the commits made in this work tree that are not in HEAD's history: one entry per tip.

    A tip is a commit on which a line of work ended. It is left out if HEAD has its changes under
    other hashes (as after a cherry-pick), or if the files of the work tree already contain them.

    Args:
        git: Runs git in the work tree, or is from `without_folder`: the index counts then instead
            of the files.
        since: The commit on which the work began.
        known: Branches and commits whose history counts as HEAD's.
        also: Commits that HEAD was at here, according to a record other than the reflog; some may
            no longer exist.
    """
    there = [each for each in known if git.commit(each) is not None]
    left = dict(_find_left_heads(git))
    undone = {each for each, by in left.items() if by != _SWITCH} - {*also}
    heads = {*left, *(each for each in also if git.commit(each) is not None)}
    ends = [
        each
        for each in sorted(heads)
        if not _has(git, each) and (each not in undone or _is_undone(git, each, since))
    ]
    commits = (_look(git, each, since, there) for each in _independent(git, ends))
    return tuple(each for each in commits if each is not None)


def without_folder(git: GitProgram, git_dir: Path) -> GitProgram:
    """Return a program for `left_commits`, for a worktree of which only ``git_dir`` is at hand."""
    return git.at(git_dir).with_variables({_GIT_DIR: str(git_dir)})


def _find_left_heads(git: GitProgram) -> Iterator[tuple[str, str]]:
    """Yield the commits made here that HEAD left, each with how: `_RESET`, or later `_SWITCH`.

    A branch that was set by ``git update-ref`` counts as reset; its entry has no subject.
    """
    moves = [move for each in _git_dirs(git) for move in _list_moves(git, each)]
    for kind, prefixes in ((_RESET, (_RESET, _ROOT)), (_SWITCH, (_SWITCH,))):
        for each, subject in moves:
            if subject.startswith(prefixes) or (kind == _RESET and not subject):
                yield each, kind


def _git_dirs(git: GitProgram) -> Iterator[Path]:
    """Yield the git directory of the work tree, and those of its earlier folders."""
    own = Path(git.must_read("find the work tree", "rev-parse", "--absolute-git-dir").text)
    yield own
    marker = marker_of(own)
    for each in sorted(own.parent.iterdir()) if marker is not None else ():
        other = marker_of(each)
        if marker and other and other.session == f"{marker.session}{ASIDE}":
            yield each


def _list_moves(git: GitProgram, git_dir: Path) -> list[tuple[str, str]]:
    """Return each commit that was made in a work tree and left, with what came next there."""
    log = _read_log(git, git_dir)
    commits = {
        commit
        for commit, _, subject in log
        if subject and not subject.startswith(_MOVES) and not subject.lower().endswith(_FORWARD)
    }
    return [(each, subject) for (each, _, _), (_, _, subject) in pairwise(log) if each in commits]


def end_before_root(git: GitProgram) -> str | None:
    """Return the last commit before HEAD's history began anew here, with a root commit.

    None if the reflog shows none, as in a branch that was never deleted while it was checked out.
    """
    for (before, _, _), (_, _, subject) in pairwise(_read_log(git)):
        if subject.startswith(_ROOT) and git.read("merge-base", "HEAD", before).status == 1:
            return before
    return None


def _read_log(git: GitProgram, git_dir: Path | None = None) -> list[tuple[str, str, str]]:
    """Return the reflog of HEAD, oldest first: each commit, a space, and what led to it."""
    words = ("log", "--walk-reflogs", "--no-show-signature", "--format=%H %gs", "HEAD", "--")
    lines = decode_output(git.read(*words, cwd=git_dir).out).splitlines()
    return [each.partition(" ") for each in lines][::-1]


def _has(git: GitProgram, commit: str, tip: str = "HEAD") -> bool:
    return git.read("merge-base", "--is-ancestor", commit, tip).status == 0


def _independent(git: GitProgram, ends: list[str]) -> list[str]:
    """Return the commits that are not in the history of any other one in ``ends``."""
    if len(ends) < 2:
        return ends
    reply = git.must_read("compare commits", "merge-base", "--independent", *ends)
    return decode_output(reply.out).split()


def _look(git: GitProgram, end: str, since: str, known: list[str]) -> LeftCommits | None:
    """Return the commits that only ``end`` leads to.

    None if other commits of HEAD, or the files of the work tree, have their changes.
    """
    others = [f"^{each}" for each in ("HEAD", *known)]
    subjects = decode_output(git.must_read("list the commits", *LOG, end, *others).out).splitlines()
    if not subjects or _is_picked(git, end, others) or _is_held(git, end, since):
        return None
    related = git.read("merge-base", "HEAD", end).status == 0
    return LeftCommits(commit=end, subjects=tuple(subjects), is_related=related)


def _is_picked(git: GitProgram, end: str, others: list[str]) -> bool:
    """Whether HEAD has, for each commit that only ``end`` leads to, one with the same changes."""
    words = ("rev-list", "--cherry-pick", "--right-only", f"HEAD...{end}", *others[1:])
    reply = git.must_read("compare commits", *words)
    return not reply.out.strip()


def _is_held(git: GitProgram, end: str, since: str) -> bool:
    """Whether the work tree has, as in ``end``, each file that changed from the fork to ``end``."""
    return not _list_changed(git, _find_fork(git, end, since), end) & _list_differing(git, end)


def _is_undone(git: GitProgram, end: str, since: str) -> bool:
    """Whether the work tree has, as at the fork, a file that changed from there to ``end``.

    The others were written again, were moved, or are still there, perhaps untracked by now.
    """
    began = _find_fork(git, end, since)
    added = _list_changed(git, began, end, "--diff-filter=A")
    stays = {each for each in added if os.path.lexists(git.root() / each)}
    as_before = _list_changed(git, began, end) - _list_differing(git, began) - stays
    return bool(as_before & _list_differing(git, end, "--find-renames"))


def _find_fork(git: GitProgram, end: str, since: str) -> str:
    fork = git.read("merge-base", "HEAD", end)
    return decode_output(fork.out).split()[0] if fork.status == 0 else since


def _list_changed(git: GitProgram, began: str, end: str, *more: str) -> set[str]:
    words = ("diff-tree", "-r", "-z", "--no-renames", "--name-only", *more)
    return set(split(git.must_read("compare commits", *words, began, end).out))


def _list_differing(git: GitProgram, commit: str, renames: str = "--no-renames") -> set[str]:
    """Return the files that differ between the commit and the work tree.

    With ``--find-renames``, a file that was moved has its new name only.
    """
    place = ("--cached",) if _GIT_DIR in git.environment else ()
    words = ("diff", *place, "--no-ext-diff", renames, "--name-only", "-z", commit, "--")
    return set(split(git.must_read("compare the work tree", *words).out))
