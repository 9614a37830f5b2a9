"""Where a session works: in the checkout, or in a worktree of its own; and on which branch."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterator, Sequence
from itertools import count
from typing import TYPE_CHECKING, Final

from agentmux.core.codec.frozen import dataclass
from agentmux.core.config.settings import WorktreeMode
from agentmux.core.names.words import git_commands

if TYPE_CHECKING:
    from agentmux.core.journal.state import SessionState


def why_worktree(
    mode: WorktreeMode, *, asked: bool | None, live: str, unfinished: Sequence[str]
) -> str:
    """Return why a session gets a worktree of its own; empty where it works in the checkout.

    Args:
        mode: The setting ``git.worktree``.
        asked: The flag of the start; None where none was given.
        live: The session that is live in the checkout; empty for none.
        unfinished: The other sessions that began in the checkout and are not done, newest first.
    """
    if asked is not None:
        return "you asked for it" if asked else ""
    if mode is WorktreeMode.ALWAYS:
        return "`git.worktree` is `always`"
    if mode is WorktreeMode.NEVER:
        return ""
    if live:
        return f"session {live} is live in the checkout"
    if len(unfinished) > 1:
        return (
            f"{len(unfinished)} unfinished sessions began in the checkout, the newest is "
            f"{unfinished[0]}"
        )
    return f"session {unfinished[0]} began in the checkout and is not done" if unfinished else ""


_USUAL: Final = {
    WorktreeMode.NEVER: "the checkout (`git.worktree` is `never`)",
    WorktreeMode.AUTO: "the checkout, or a worktree if unfinished sessions began there",
    WorktreeMode.ALWAYS: "a worktree of its own (`git.worktree` is `always`)",
}


def workplace_choices(mode: WorktreeMode) -> tuple[tuple[str, str], ...]:
    """Return where a new session can work, each place with what that means.

    The first one is as ``mode`` says, without a flag; the others have the names of start's flags.
    """
    return (
        ("as usual", _USUAL[mode]),
        ("worktree", "of its own, without files that are not committed"),
        ("no-worktree", "the checkout, refused while another session is live there"),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class WorktreeNames:
    """The name of a worktree's directory, and of its branch."""

    folder: str
    branch: str


def free_names(
    slug: str, prefix: str, *, folders: Collection[str], branches: Collection[str]
) -> WorktreeNames:
    """Return the first names, with the same suffix, that are both free.

    Names that differ only in case are the same: some file systems cannot tell them apart.
    """
    taken, known = {each.casefold() for each in folders}, {each.casefold() for each in branches}
    for number in count(1):
        name = slug if number == 1 else f"{slug}-{number}"
        branch = f"{prefix}{name}"
        if name.casefold() not in taken and branch.casefold() not in known:
            return WorktreeNames(folder=name, branch=branch)
    raise AssertionError  # `count` has no end


def free_folder(slug: str, folders: Collection[str]) -> str:
    """Return the first free name of a worktree's directory."""
    return free_names(slug, "", folders=folders, branches=()).folder


PORTS: Final = 50
"""How many ports a session has."""

_FIRST_PORT: Final = 20_000
_SLOTS: Final = 200
"""So the ports end at 29 999, below those that Linux hands out by itself (from 32 768 on)."""


def free_port_base(session_id: str, taken: Collection[int]) -> int:
    """Return the first of `PORTS` ports for a session, none of which is another session's.

    It depends on the session's uuid, so that sessions of different projects seldom have the same.
    If all are taken, it is another session's, too.
    """
    first = int(session_id.replace("-", ""), 16) % _SLOTS
    bases = (_FIRST_PORT + (first + n) % _SLOTS * PORTS for n in range(_SLOTS))
    return next((each for each in bases if each not in taken), _FIRST_PORT + first * PORTS)


def in_the_way_of(branch: str, branches: Collection[str]) -> str | None:
    """Return a branch beside which ``branch`` cannot exist: one is a directory of the other."""
    inside = f"{branch}/"
    return next(
        (each for each in branches if branch.startswith(f"{each}/") or each.startswith(inside)),
        None,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftBranch:
    """HEAD where a session works, which is not on the session's branch.

    Attributes:
        branch: The session's; None for none.
        base: The commit on which it began.
        worktree: The path of the session's worktree; None if it works in the checkout.
        head: HEAD's commit; None before the first one.
        head_branch: HEAD's branch; None where it is detached.
        is_gone: Whether the session's branch does not exist any more.
        is_ahead: Whether HEAD has commits that the session's branch, or else its base, has not.
        is_behind: Whether HEAD lacks commits that it has.
        keep_as: The branch on which a hint keeps a detached HEAD's commit; empty where one has it.
        is_related: Whether HEAD has a common ancestor with it.
        is_changed: Whether the worktree has changes for which git refuses to merge.
    """

    branch: str | None
    base: str | None
    worktree: str | None
    head: str | None
    head_branch: str | None
    is_gone: bool = False
    is_ahead: bool = False
    is_behind: bool = False
    keep_as: str = ""
    is_related: bool = True
    is_changed: bool = False

    @property
    def git(self) -> str:
        """The beginning of a git command for a shell in the project."""
        return f"git -C {shlex.quote(self.worktree)}" if self.worktree else "git"


def branch_names(name: str) -> Iterator[str]:
    """Yield the names of the branch that a hint gives to a commit on none: some may be taken."""
    return (name if number == 1 else f"{name}-{number}" for number in count(1))


def ways_back(left: LeftBranch) -> tuple[str, ...]:
    """Return the git commands after which HEAD is on the session's branch, each with its purpose.

    No commit is without a branch after one of them, and none that the session made in its worktree
    is left behind. Uncommitted changes stay; where they are in the way, git refuses to switch.
    """
    back = _way_back(left)
    is_shown = left.worktree and not left.branch  # the session only looks at what is there
    if not left.is_ahead or left.is_gone or is_shown:
        return (f"go back: {back}",)
    along = _way_along(left)
    if left.worktree:
        first = commit_first(left.worktree) if left.is_behind and left.is_changed else ()
        return (*first, f"take its commits along: {along}")
    since = shlex.quote(left.branch or left.base or "")
    return (
        f"see what only HEAD has: git log --oneline {since}..HEAD",
        f"if this session made it, take it along: {along}",
        f"if not, go back: {back}",
    )


def commit_first(worktree: str) -> tuple[str, ...]:
    """Return the hint to commit what is in the way of a merge in a session's worktree."""
    place, message = shlex.quote(worktree), shlex.quote("Work in progress")
    return (f"commit first what is changed there: git -C {place} commit -a -m {message}",)


def _way_back(left: LeftBranch) -> str:
    """Return the command that checks out what the session works on.

    A branch that is gone is made again: in the session's own worktree where that is now, and in the
    user's checkout where the session began. Commits of a detached HEAD get a branch first.
    """
    keep = ""
    if left.is_ahead and left.keep_as and not (left.is_gone and left.worktree):
        keep = f"{left.git} branch {left.keep_as} HEAD && "
    if not left.branch:
        return keep + git_commands.switch(left.base or "", git=left.git, option="--detach")
    if not left.is_gone:
        return keep + git_commands.switch(left.branch, git=left.git)
    at = "" if left.worktree or left.base is None else f" {left.base}"
    return keep + git_commands.switch(left.branch, git=left.git, option="-c") + at


def _way_along(left: LeftBranch) -> str:
    """Return the commands that bring HEAD's commits into the session's branch, and switch to it."""
    if not left.branch:
        return f"{left.git} switch --detach"
    # Only a fast-forward; it does not touch a file.
    forward = f"{left.git} fetch -q . HEAD:{shlex.quote(f'refs/heads/{left.branch}')}"
    along = f"{forward} && {git_commands.switch(left.branch, git=left.git)}"
    if not left.is_behind:
        return along
    # HEAD stays at its own commits: were it on the branch when the merge fails, an approval would
    # deliver the branch without them.
    joined = git_commands.merge(left.branch, git=left.git, is_related=left.is_related)
    return joined if left.worktree else f"{joined} && {along}"


def has_left(state: SessionState, commit: str | None, branch: str | None) -> bool:
    """Return whether HEAD is on another branch than the one on which a session works.

    Also where a session without a branch finds another commit; not where it did not begin in a git
    repository, or where its older format does not say.

    Args:
        state: The session's.
        commit: HEAD's commit where the session works.
        branch: HEAD's branch there; None where it is detached.
    """
    began, base = state.branch, state.options.base
    if branch == began and (began or base is None or commit == base):
        return False
    return bool(began) or base is not None


def left_branch(state: SessionState, left: LeftBranch) -> str:
    """Say that another branch is checked out than the one on which a session works, and what to do.

    Where the branch can be moved forward to HEAD, an approval does that.
    """
    where = f"{left.worktree} is" if left.worktree else "your checkout is"
    cannot = " and nothing could be committed at the end" if state.commits else ""
    gone = ", which is gone" if left.is_gone else ""
    now = (
        f"{where} on {_place(left.head, left.head_branch)} now, but the session began on"
        f" {_place(left.base, left.branch)}{gone}"
    )
    ways = "; ".join(ways_back(left))
    if left.worktree and left.branch and left.is_ahead and not (left.is_behind or left.is_gone):
        return f"{now}: an approval moves {left.branch} forward to it; {ways}"
    return f"{now}: agents would work on other files{',' * bool(cannot)}{cannot}; {ways}"


def left_now(state: SessionState, branch: str | None) -> str:
    """Say in short that HEAD has left the branch of a session at work; empty where it has not.

    Args:
        state: The session's.
        branch: HEAD's branch where the session works; empty where it is detached, None if unknown.
    """
    known = state.branch or ""
    if branch is None or branch == known or not state.commits:
        return ""
    where = f"{state.worktree} is" if state.worktree else "your checkout is"
    here = f"branch {branch}" if branch else "a detached HEAD"
    there = f"branch {known}" if known else "a detached HEAD"
    return (
        f"{where} on {here} now, not on {there}, on which the session began: `agentmux approve`"
        " says what becomes of the commits there"
    )


def _place(commit: str | None, branch: str | None) -> str:
    return f"branch {branch}" if branch else f"{(commit or 'no commit')[:12]}, detached"
