"""Whether a session works in the checkout or in a worktree of its own, and on which branch."""

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
    """Return, for people, why a new session gets its own worktree; empty if it gets none.

    Args:
        mode: The setting ``git.worktree``.
        asked: The user's option: True for ``--worktree``, False for ``--no-worktree``; None if
            neither was given.
        live: The name of the session that is live in the checkout; empty if there is none.
        unfinished: The names of other unfinished sessions that began in the checkout, newest first.
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
    """Return the choices of where a new session works, as pairs of a name and a description.

    They are ``as usual``, the default according to ``mode`` (the setting ``git.worktree``), and
    ``worktree`` and ``no-worktree``, named like the options of ``start``.
    """
    return (
        ("as usual", _USUAL[mode]),
        ("worktree", "of its own, without files that are not committed"),
        ("no-worktree", "the checkout, refused while another session is live there"),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class WorktreeNames:
    """The names of a worktree's directory (``folder``) and of its branch."""

    folder: str
    branch: str


def free_names(
    slug: str, prefix: str, *, folders: Collection[str], branches: Collection[str]
) -> WorktreeNames:
    """Return a folder and a branch for a worktree that are both free, with the same suffix if any.

    Names that differ only in case count as equal, because some file systems cannot distinguish
    them.

    Args:
        slug: The name of the folder without a suffix.
        prefix: The prefix of the branch; the rest is the name of the folder.
        folders: The names of the existing folders beside which the worktree is created.
        branches: The names of the existing branches of the repository.
    """
    taken, known = {each.casefold() for each in folders}, {each.casefold() for each in branches}
    for number in count(1):
        name = slug if number == 1 else f"{slug}-{number}"
        branch = f"{prefix}{name}"
        if name.casefold() not in taken and branch.casefold() not in known:
            return WorktreeNames(folder=name, branch=branch)
    raise AssertionError  # `count` has no end


def free_folder(slug: str, folders: Collection[str]) -> str:
    """Return the first of ``slug``, ``slug-2``, ``slug-3``, … that is not in ``folders``.

    Upper and lower case count as equal. No folder is created.
    """
    return free_names(slug, "", folders=folders, branches=()).folder


PORTS: Final = 50
"""How many consecutive network ports a session has for its own use."""

_FIRST_PORT: Final = 20_000
_SLOTS: Final = 200
"""How many sessions can have ports of their own.

The last port is 29 999, below those that Linux assigns automatically (from 32 768).
"""


def free_port_base(session_id: str, taken: Collection[int]) -> int:
    """Return the number of the first of the `PORTS` consecutive ports that a session may use.

    It does not check whether another program uses them. The search begins at a port that depends on
    the session's uuid, so that sessions of different projects seldom share ports. If all ports are
    taken, the session shares them with another one.

    Args:
        session_id: The uuid of the session.
        taken: The first ports of other sessions.
    """
    first = int(session_id.replace("-", ""), 16) % _SLOTS
    bases = (_FIRST_PORT + (first + n) % _SLOTS * PORTS for n in range(_SLOTS))
    return next((each for each in bases if each not in taken), _FIRST_PORT + first * PORTS)


def in_the_way_of(branch: str, branches: Collection[str]) -> str | None:
    """Return one of ``branches`` that prevents git from creating ``branch``; None if none does.

    git cannot have the branches ``a`` and ``a/b`` at the same time.
    """
    inside = f"{branch}/"
    return next(
        (each for each in branches if branch.startswith(f"{each}/") or each.startswith(inside)),
        None,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftBranch:
    """The situation that HEAD, where a session works, is not on the session's branch.

    Attributes:
        branch: The session's branch; None if it has none.
        base: The commit from which the session began; None if there was none.
        worktree: The path of the session's worktree; None if it works in the checkout.
        head: The commit of HEAD; None if there is no commit yet.
        head_branch: The branch of HEAD; None if HEAD is detached.
        is_gone: Whether the session's branch no longer exists.
        is_ahead: Whether HEAD has commits that are not on the session's branch (or, without a
            branch, not in its base).
        is_behind: Whether the session's branch (or base) has commits that HEAD does not have.
        keep_as: The name for a new branch that keeps the commits of a detached HEAD; empty if a
            branch contains them already.
        is_related: Whether HEAD and the session's branch (or base) have a common ancestor.
        is_changed: Whether the worktree has uncommitted changes because of which git refuses to
            merge.
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
        """The beginning of a git command for where the session works: ``git``, maybe with ``-C``.

        The command is for a shell in the project.
        """
        return f"git -C {shlex.quote(self.worktree)}" if self.worktree else "git"


def branch_names(name: str) -> Iterator[str]:
    """Yield names for a new branch, without end: ``name``, ``name-2``, ``name-3``, ….

    Some may exist already; the caller takes the first free one.
    """
    return (name if number == 1 else f"{name}-{number}" for number in count(1))


def ways_back(left: LeftBranch) -> tuple[str, ...]:
    """Return hints for people: the git commands that bring HEAD back to the session's branch.

    Each hint is a text such as ``go back: git switch …``; nothing is run. The first hint may be to
    look or to commit before anything else; of two hints that begin with ``if``, the user follows
    one. Afterwards, every commit is on a branch, and the session's branch has all commits that the
    session made in its worktree. Uncommitted changes stay; if they are in the way, git refuses to
    switch.
    """
    back = _way_back(left)
    is_shown = left.worktree and not left.branch  # the session only looks at what is there
    if not left.is_ahead or left.is_gone or is_shown:
        return (f"go back: {back}",)
    along = _way_along(left)
    if left.worktree:
        first = commit_first(left.worktree) if left.is_behind and left.is_changed else ()
        return (*first, f"take its commits along: {along}")
    since, merges = shlex.quote(left.branch or left.base or ""), left.is_behind and left.branch
    staged = "if anything is staged, commit it first: git commit --message 'Work in progress'"
    return (
        f"see what only HEAD has: git log --oneline {since}..HEAD",
        *((staged,) if merges else ()),
        f"if this session made it, take it along: {along}",
        f"if not, go back: {back}",
    )


def commit_first(worktree: str) -> tuple[str, ...]:
    """Return a tuple of one hint, ``commit first …: git … commit …``; commits nothing.

    It is for a worktree, with the path ``worktree``, whose uncommitted changes prevent a merge.
    """
    place, message = shlex.quote(worktree), shlex.quote("Work in progress")
    return (f"commit first what is changed there: git -C {place} commit -a -m {message}",)


def _way_back(left: LeftBranch) -> str:
    """Return the command that checks out what the session works on.

    A branch that no longer exists is created again: at HEAD in the session's own worktree, and at
    the session's base in the user's checkout. Commits of a detached HEAD get a branch first.
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
    """Return the commands that add HEAD's commits to the session's branch and switch to it."""
    if not left.branch:
        return f"{left.git} switch --detach"
    # This fetch only fast-forwards the branch; it changes no files.
    forward = f"{left.git} fetch -q . HEAD:{shlex.quote(f'refs/heads/{left.branch}')}"
    along = f"{forward} && {git_commands.switch(left.branch, git=left.git)}"
    if not left.is_behind:
        return along
    # Merge while HEAD is still at its own commits. If HEAD were on the branch and the merge failed,
    # an approval would deliver the branch without those commits.
    joined = git_commands.merge(left.branch, git=left.git, is_related=left.is_related)
    return joined if left.worktree else f"{joined} && {along}"


def has_left(state: SessionState, commit: str | None, branch: str | None) -> bool:
    """Return whether HEAD is no longer on the branch on which a session works.

    For a session without a branch: whether HEAD is at another commit or on a branch. False if the
    session began outside of a git repository, or if its state is too old to say where it began.

    Args:
        state: The state of the session.
        commit: The commit of HEAD where the session works; None if there is no commit.
        branch: The branch of HEAD there; None if HEAD is detached.
    """
    began, base = state.branch, state.options.base
    if branch == began and (began or base is None or commit == base):
        return False
    return bool(began) or base is not None


def left_branch_message(state: SessionState, left: LeftBranch) -> str:
    """Return the message that HEAD is not on the session's branch, with what the user can do.

    It does not check whether that is so; `has_left` does. If an approval will fast-forward the
    session's branch to HEAD, the message says so.
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


def left_branch_notice(state: SessionState, branch: str | None) -> str:
    """Return a short message that HEAD has left the branch of a running session.

    Empty if HEAD has not left it, if that is not known, or if the session makes no commits.

    Args:
        state: The state of the session.
        branch: The branch of HEAD where the session works; empty if HEAD is detached, None if it is
            not known.
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


def branch_gone_words(branch: str, end: str) -> tuple[str, str]:
    """Return a message that the session's branch is gone, and a hint with a git command.

    The command creates the branch at the commit ``end``, where the session's work ended; nothing is
    run.
    """
    again = f"make it again where its work ended: git branch {shlex.quote(branch)} {end}"
    return f"branch `{branch}`, on which this session works, does not exist any more", again


def _place(commit: str | None, branch: str | None) -> str:
    return f"branch {branch}" if branch else f"{(commit or 'no commit')[:12]}, detached"
