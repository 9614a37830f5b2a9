"""The commits that were made in a work tree, and that its HEAD has left for another branch.

The log of HEAD has them: whoever switches away from a detached HEAD, or from a branch of their own,
leaves an entry. A commit that was amended, rebased or reset was not left, but replaced.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import pairwise
from typing import Final

from agentmux.adapters.git.program import LOG, GitProgram, decode_output, split
from agentmux.ports.git.repository import LeftCommits

_MOVES: Final = ("checkout:", "reset:", "clone:", "branch:", "rebase", "worktree")
"""How an entry in the log of HEAD begins that makes no commit, or only replaces some."""
_FORWARD: Final = "fast-forward"


def left_commits(
    git: GitProgram, *, since: str, known: Collection[str] = (), also: Collection[str] = ()
) -> tuple[LeftCommits, ...]:
    """Return the ends of what was made in this work tree and is not in the history of HEAD.

    What the files of the work tree, or other commits of HEAD, have as well is not returned.

    Args:
        git: It runs in the work tree.
        since: The commit on which the work began.
        known: Branches and commits whose history counts as HEAD's.
        also: Commits that were HEAD here, by another record than the log; some may be gone.
    """
    there = [each for each in known if git.commit(each) is not None]
    heads = {*_find_left_heads(git), *(each for each in also if git.commit(each) is not None)}
    ends = [each for each in sorted(heads) if not _has(git, each)]
    commits = (_look(git, each, since, there) for each in _independent(git, ends))
    return tuple(each for each in commits if each is not None)


def _find_left_heads(git: GitProgram) -> Iterator[str]:
    """Yield the commits made here from which HEAD went to another branch or commit."""
    reply = git.read(
        "log", "--walk-reflogs", "--no-show-signature", "--format=%H %gs", "HEAD", "--"
    )
    log = [each.partition(" ") for each in decode_output(reply.out).splitlines()][::-1]
    commits = {
        commit
        for commit, _, subject in log
        if subject and not subject.startswith(_MOVES) and not subject.lower().endswith(_FORWARD)
    }
    for (commit, _, _), (_, _, subject) in pairwise(log):
        if subject.startswith("checkout:") and commit in commits:
            yield commit


def _has(git: GitProgram, commit: str, tip: str = "HEAD") -> bool:
    return git.read("merge-base", "--is-ancestor", commit, tip).status == 0


def _independent(git: GitProgram, ends: list[str]) -> list[str]:
    """Return those of the commits that are in the history of no other one."""
    if len(ends) < 2:
        return ends
    reply = git.must_read("compare commits", "merge-base", "--independent", *ends)
    return decode_output(reply.out).split()


def _look(git: GitProgram, end: str, since: str, known: list[str]) -> LeftCommits | None:
    """Return what only the commit ``end`` has; None if that is nowhere else only by its hash."""
    others = [f"^{each}" for each in ("HEAD", *known)]
    subjects = decode_output(git.must_read("list the commits", *LOG, end, *others).out).splitlines()
    if not subjects or _is_picked(git, end, others) or _is_held(git, end, since):
        return None
    related = git.read("merge-base", "HEAD", end).status == 0
    return LeftCommits(commit=end, subjects=tuple(subjects), is_related=related)


def _is_picked(git: GitProgram, end: str, others: list[str]) -> bool:
    """Whether HEAD has a commit with the same changes for each of them."""
    words = ("rev-list", "--cherry-pick", "--right-only", f"HEAD...{end}", *others[1:])
    reply = git.must_read("compare commits", *words)
    return not reply.out.strip()


def _is_held(git: GitProgram, end: str, since: str) -> bool:
    """Whether the work tree has each file as ``end`` has it, of those that changed until then."""
    fork = git.read("merge-base", "HEAD", end)
    began = decode_output(fork.out).split()[0] if fork.status == 0 else since
    names = ("-r", "-z", "--no-renames", "--name-only")
    changed = split(git.must_read("compare commits", "diff-tree", *names, began, end).out)
    here = ("diff", "--no-ext-diff", "--no-renames", "--name-only", "-z", end, "--")
    return not set(changed) & set(split(git.must_read("compare the work tree", *here).out))
