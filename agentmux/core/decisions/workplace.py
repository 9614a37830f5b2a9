"""Where a session works: in the checkout, or in a worktree of its own; and on which branch."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Sequence
from itertools import count
from typing import TYPE_CHECKING, Final

from agentmux.core.codec.frozen import dataclass
from agentmux.core.config.settings import WorktreeMode

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


def way_back(
    branch: str | None, commit: str | None, *, worktree: str | None = None, is_gone: bool = False
) -> str:
    """Return the git command that checks out what a session works on.

    A branch that is gone is made again: in the session's own worktree where that is now, and in the
    user's checkout at ``commit``.

    Args:
        branch: The session's; None for none.
        commit: Where it began.
        worktree: The path of the session's worktree; None if it works in the checkout.
        is_gone: Whether the branch does not exist any more.
    """
    git = f"git -C {shlex.quote(worktree)}" if worktree else "git"
    if not branch:
        return f"{git} switch --detach {commit}"
    if not is_gone:
        return f"{git} switch {shlex.quote(branch)}"
    at = "" if worktree or commit is None else f" {commit}"
    return f"{git} switch -c {shlex.quote(branch)}{at}"


def left_branch(
    state: SessionState, commit: str | None, branch: str | None, *, is_gone: bool = False
) -> str:
    """Say that another branch is checked out than the one on which a session works.

    Empty where it is the same one, or where the session does not work on a branch.

    Args:
        state: The session's.
        commit: HEAD's commit where the session works.
        branch: HEAD's branch there; None where it is detached.
        is_gone: Whether the session's branch does not exist any more.
    """
    began, base = state.branch, state.options.base
    if branch == began and (began or base is None or commit == base):
        return ""
    if not began and base is None:
        return ""  # it did not begin in a git repository, or its older format does not say
    back = way_back(began, base, worktree=state.worktree, is_gone=is_gone)
    where = f"{state.worktree} is" if state.worktree else "your checkout is"
    cannot = " and nothing could be committed at the end" if state.commits else ""
    gone = ", which is gone" if is_gone else ""
    return (
        f"{where} on {_place(commit, branch)} now, but the session began on {_place(base, began)}"
        f"{gone}: agents would work on other files{',' * bool(cannot)}{cannot}; go back: {back}"
    )


def _place(commit: str | None, branch: str | None) -> str:
    return f"branch {branch}" if branch else f"{(commit or 'no commit')[:12]}, detached"
