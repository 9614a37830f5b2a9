"""Removes a session, but never while anything of it runs.

First the directory is renamed, so that no command finds the session any more. If the removal is
interrupted after that, the next removal or the next listing finishes it.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from agentmux.app.commands.end.interrupted_removals import leave_if_empty
from agentmux.app.delivery.steps.commit import list_put_aside
from agentmux.app.session.search.lookup import (
    Liveness,
    SessionEntry,
    find_owner,
    list_sessions,
    live,
    own_tmux,
)
from agentmux.app.session.workplace.base_worktree import base_spec
from agentmux.app.session.workplace.branch_mismatch import (
    command_to_keep,
    keep_as,
    ways_to_rejoin,
)
from agentmux.app.session.workplace.own_worktree import worktree_of
from agentmux.app.session.workplace.rewound_edits import (
    edits_words,
    list_rewound_edits,
    ways_to_keep_edits,
)
from agentmux.core.codec.frozen import replace
from agentmux.core.forges.spec import read_url
from agentmux.core.names.status_labels import brought_back_label
from agentmux.core.names.statuses import DONE
from agentmux.core.names.words import git_commands
from agentmux.core.names.words.counts import abbreviate_names, format_count
from agentmux.errors import AgentmuxError, BlockedError, DataError
from agentmux.ports.processes import LOCK_WAIT_S

if TYPE_CHECKING:
    from agentmux.app.world import Site, World
    from agentmux.ports.git.worktrees import WorktreeLoss, WorktreeSpec

_NAMED: Final = 5


def require_removable(site: Site, entry: SessionEntry) -> None:
    """Check that nothing of the session runs, or may run.

    Raises:
        BlockedError: Its tmux session is live, an orchestrator holds its lock, its directory is a
            copy of a live session, or another tmux session has its name.
        AgentmuxError: Its tmux server does not answer, so nobody can tell.
    """
    liveness = live(site, (entry,))[entry.path]
    if liveness.live is None:
        raise liveness.error or AgentmuxError(liveness.because)
    own_tmux(entry, liveness)
    if liveness.live:
        raise BlockedError(
            f"session {entry.name} is live: {liveness.because}",
            reason="session_live",
            hints=_how_to_end(entry, liveness),
        )
    if liveness.locked:
        raise BlockedError(
            f"an orchestrator is running for session {entry.name}",
            reason="locked",
            hints=(f"agentmux stop {entry.name}",),
        )


def _how_to_end(entry: SessionEntry, found: Liveness) -> tuple[str, ...]:
    if found.tmux is None:
        return found.way_back
    return (f"agentmux stop {entry.name}",)


def worktree_to_remove(world: World, entry: SessionEntry) -> WorktreeSpec | None:
    """Return the description of the session's worktree, for its removal; None if it has none.

    None, too, if the session's directory is a copy, and the worktree is that of the original. Else
    it is that of `worktree_of`, but without ``checkpoint`` if no work exists only in the last
    work-tree checkpoint, because the session was exported, or is done and its worktree was removed.
    """
    if not entry.text("worktree") or find_owner(world, entry) is not None:
        return None
    spec = worktree_of(world, world.files(entry.path).load().current, entry.path)
    if spec is None or not _is_settled(world, entry):
        return spec
    return replace(spec, checkpoint=None)


def _is_settled(world: World, entry: SessionEntry) -> bool:
    """Whether the session's result is elsewhere, so its last checkpoint has no unique work.

    The session was exported, or it is done and its worktree was taken away after that.
    """
    session = entry.text("session_id")
    return entry.is_moved or (entry.is_done and world.git.worktrees.find_branch(session) is None)


def removable_worktree(
    world: World, entry: SessionEntry
) -> tuple[WorktreeSpec, WorktreeLoss] | None:
    """Return the session's worktree, and what its removal would lose and remove; removes nothing.

    They are what `worktree_to_remove` and `loss_of` return. None if the session has no worktree, or
    if nothing of worktree and branch exists any more.
    """
    spec = worktree_to_remove(world, entry)
    if spec is None:
        return None
    loss = loss_of(world, entry, spec)
    return (spec, loss) if going_words(loss, spec) else None  # else it was removed before


def left_in_checkout(world: World, entry: SessionEntry) -> str:
    """Return in words which changed files a session that is not done leaves in the checkout.

    They are the files that it would have committed: those that have changed since it began. Empty
    if there are none, if the session is done or has a worktree, or if git cannot tell.
    """
    options = entry.fields.get("options")
    dirty = options.get("dirty") if isinstance(options, dict) else None
    if entry.text("worktree") or entry.phase == DONE or not isinstance(dirty, list):
        return ""
    with suppress(AgentmuxError, OSError):  # nobody can look
        top = world.repository.top_level()
        changed = world.repository.changed_since(dirty) if top is not None else ()
        if changed:
            files = format_count(len(changed), "file that was", "files that were")
            return f"{files} changed since it began: {abbreviate_names(changed)}, in {top}"
    return ""


def base_to_remove(world: World, entry: SessionEntry) -> WorktreeSpec | None:
    """Return the worktree for the checks of the session's base; None if there is none.

    This only describes the worktree: it may be removed already. What could not be removed when the
    checks ended is removed with the session. None also if the session cannot be read: nobody knows
    then whose the worktree is, so it stays.
    """
    if not entry.fields.get("base_checks"):
        return None
    try:
        state = world.files(entry.path).load().current
    except DataError:
        return None
    return base_spec(world, state, entry.path, finished=True)


def loss_of(world: World, entry: SessionEntry, spec: WorktreeSpec) -> WorktreeLoss:
    """Return the work that a removal of the worktree ``spec`` and its branch would lose.

    If commits would be lost, this asks the forge whether the session's request was merged. Without
    an answer they count as not merged. A branch on which another session of the project began that
    is not done would stay: its result goes there.
    """
    branch = _base_branch(entry)
    commit = entry.fields.get("commit")
    commit_id = commit.get("commit") if isinstance(commit, dict) else None
    delivered = commit_id if isinstance(commit_id, str) else None
    loss = _without_needed_branch(
        world, entry, world.git.worktrees.removal_loss(spec, branch, delivered=delivered)
    )
    merged = _find_merge_commit(world, entry) if loss.commits or loss.commits_off_branch else None
    if merged is None:
        return loss
    loss = world.git.worktrees.removal_loss(spec, branch, merged=merged, delivered=delivered)
    return _without_needed_branch(world, entry, loss)


def _without_needed_branch(world: World, entry: SessionEntry, found: WorktreeLoss) -> WorktreeLoss:
    """Return what goes if the branch stays for the sessions that began on it; else ``found``."""
    others = list_sessions(world) if found.branch else ()
    needed_by = tuple(
        each.name
        for each in others
        if each.path != entry.path
        and _base_branch(each) == found.branch
        and each.text("worktree")
        and not (each.is_done or each.is_moved)
    )
    if not needed_by:
        return found
    return replace(found, branch="", tip=None, commits=(), dropped=(), needed_by=needed_by)


def staying_words(found: WorktreeLoss, spec: WorktreeSpec) -> str:
    """Return in words why the branch stays when the worktree is removed; empty if it does not.

    ``found`` is the loss of the worktree ``spec``, as `loss_of` returns it.
    """
    names = abbreviate_names(found.needed_by)
    return (
        f"kept branch {spec.branch}, on which unfinished sessions began: {names}" if names else ""
    )


def _base_branch(entry: SessionEntry) -> str | None:
    """Return the branch from which the session's branch was created; None if unknown."""
    base = entry.fields.get("base")
    named = base.get("branch") if isinstance(base, dict) else None
    return named if isinstance(named, str) else None


def _find_merge_commit(world: World, entry: SessionEntry) -> str | None:
    """Return the commit at which the forge merged the session's request; None if unknown."""
    request = entry.fields.get("request")
    url = request.get("url") if isinstance(request, dict) else None
    if not isinstance(url, str):
        return None
    with suppress(AgentmuxError):  # if the forge cannot be asked, the work is kept
        forge = world.forge(world.environment)
        for spec in forge.specs.values():
            named = read_url(spec, spec.request_url, url)
            forge_request = forge.request(*named) if named is not None else None
            if forge_request is not None:
                return forge_request.commit if forge_request.is_merged else None
    return None


def require_nothing_lost(
    world: World, entry: SessionEntry, spec: WorktreeSpec, *, force: bool
) -> WorktreeLoss:
    """Check that a removal of worktree and branch loses no work; return what it loses and removes.

    Nothing is removed. With ``force``, the result may contain work that is lost.

    Args:
        world: The project.
        entry: The session.
        spec: The session's worktree, as `worktree_to_remove` returns it.
        force: Whether work may be lost.

    Raises:
        BlockedError: Work would be lost, and ``force`` is False; the error's reason is
            ``not_merged``.
    """
    loss = loss_of(world, entry, spec)
    if not entry.is_moved:
        state = world.files(entry.path).load().current
        loss = replace(loss, rewound=list_rewound_edits(world, state, entry.path))
    if not loss or force:
        return loss
    raise BlockedError(
        f"session {entry.name} has work that is nowhere else: {lost_words(loss, spec)}",
        reason="not_merged",
        hints=tuple(ways_to_keep(world, entry, loss, spec)),
    )


def require_commit_named(world: World, entry: SessionEntry, *, force: bool) -> str:
    """Check that the session's commit is on a branch; return words for the loss if it is not.

    Empty if nothing would be lost. Only a session that began on a detached HEAD has such a commit.

    Raises:
        BlockedError: The commit is on no branch, and ``force`` is False; the error's reason is
            ``not_merged``.
    """
    state = world.files(entry.path).load().current
    commit_id = state.commit.commit if state.commit is not None else None
    commits = world.repository.list_unnamed_commits(commit_id) if commit_id is not None else ()
    if commit_id is None or not commits:
        return ""
    many = f"{format_count(len(commits), 'commit')} on no branch ({abbreviate_names(commits)})"
    if force:
        return many
    keep = command_to_keep(world, state, commit_id[:12])
    raise BlockedError(
        f"session {entry.name} has work that is nowhere else: {many}",
        reason="not_merged",
        hints=(f"keep it on a branch: {keep}", _lose_all(entry)),
    )


def find_stash_error(world: World, entry: SessionEntry) -> BlockedError | None:
    """Return the error that a session committed nothing, and a stash may have its files; else None.

    It is a stash that the user made by following our hints (`list_put_aside`); a removal leaves it.
    The error's reason is ``not_merged``.
    """
    state = world.files(entry.path).load().current
    has_commit = state.commit is not None and state.commit.commit is not None
    hints = () if has_commit else list_put_aside(world, state)
    if not hints:
        return None
    return BlockedError(
        f"session {entry.name} has committed nothing, and its files may be in a stash",
        reason="not_merged",
        hints=(*hints, f"or leave it there: agentmux remove --force {entry.name}"),
    )


def lost_words(found: WorktreeLoss, spec: WorktreeSpec) -> str:
    """Return in words the work that would be lost; empty if there is none.

    ``found`` is the loss of the worktree ``spec``, as `loss_of` returns it.
    """
    parts = []
    if found.changed:
        files = format_count(len(found.changed), "file")
        parts.append(f"{files} in {spec.path} not committed ({abbreviate_names(found.changed)})")
    if found.commits:
        many = format_count(len(found.commits), "commit")
        parts.append(f"{many} on {spec.label} not merged ({abbreviate_names(found.commits)})")
    if found.commits_off_branch:
        many = format_count(len(found.commits_off_branch), "commit")
        parts.append(
            f"{many} {_where(found, spec)} on no branch"
            f" ({abbreviate_names(found.commits_off_branch)})"
        )
    if found.modules:
        many = format_count(len(found.modules), "submodule")
        names = abbreviate_names([each.name for each in found.modules])
        parts.append(f"the commits of {many} that nothing checks out any more ({names})")
    if found.saved and spec.checkpoint is not None:
        files = format_count(len(found.saved), "file")
        number = spec.checkpoint.number
        parts.append(
            f"{files} that only work-tree checkpoint {number} has ({abbreviate_names(found.saved)})"
        )
    if found.staged:
        files = format_count(len(found.staged), "staged file")
        parts.append(
            f"{files} of a worktree that is not at its place ({abbreviate_names(found.staged)})"
        )
    parts += map(edits_words, found.rewound)
    if found.operation:
        parts.append(f"a {found.operation} under way {_where(found, spec)}")
    return ", and ".join(parts)


def _where(found: WorktreeLoss, spec: WorktreeSpec) -> str:
    return f"in {spec.path}" if found.is_there else "of a worktree that is not at its place"


def besides_words(found: WorktreeLoss) -> str:
    """Return the files in a worktree that are no work of the session, as a phrase in parentheses.

    They are the ``besides`` of ``found``, which `loss_of` returned. The phrase begins with a space;
    it is empty if there are no such files.
    """
    return f" (with what no commit has: {abbreviate_names(found.besides)})" if found.besides else ""


def going_words(found: WorktreeLoss, spec: WorktreeSpec) -> str:
    """Return in words what a removal of worktree and branch removes; empty if nothing exists.

    ``found`` is the loss of the worktree ``spec``, as `loss_of` returns it.
    """
    parts = [f"worktree {spec.path}{besides_words(found)}"] if found.is_there else []
    if found.kept:
        places = ", ".join(map(str, found.kept))
        moved = "without it, a folder that was moved is no work tree"
        parts.append(f"what git keeps for a worktree that is not at its place ({places}; {moved})")
    return " and ".join((*parts, f"branch {found.branch}") if found.branch else parts)


def ways_to_keep(
    world: World, entry: SessionEntry, found: WorktreeLoss, spec: WorktreeSpec
) -> Iterator[str]:
    """Yield hints: how to keep work that only the worktree has, and last how to remove it all.

    ``found`` is the loss of the worktree ``spec``, as `loss_of` returns it.
    """
    place = shlex.quote(str(spec.path))
    if set(found.changed) - set(found.hidden):
        yield (
            f"see what is not committed: git -C {place} status --untracked-files=all"
            " --ignore-submodules=none"
        )
    for each in found.hidden[:_NAMED]:
        file, indexed = shlex.quote(each), shlex.quote(f":0:{each}")
        yield f"see what git does not show of {each}: git -C {place} diff {indexed} {file}"
    for each in [each for each in found.changed if each.endswith("/")][:_NAMED]:
        inner = shlex.quote(str(spec.path / each))
        yield f"see the commits of {each}: git -C {inner} log --all --oneline -n 10"
    for module in found.modules[:_NAMED]:
        # Its configuration may name a work tree that is missing.
        inner, shown = shlex.quote(str(module)), f"see the commits of {module.name}"
        yield f"{shown}: git -C {inner} --work-tree=. log --all --oneline -n 10"
    yield from _ways_if_gone(entry, found)
    for each in found.tips_off_branch:
        kept = keep_as(world, each)
        yield f"keep what was left on no branch: git branch {kept} {each[:12]}"
    if found.is_there:
        inside = replace(world, repository=world.git.repository_at(spec.path))
        yield from ways_to_rejoin(inside, str(spec.path))
    yield from _ways_to_keep_commits(entry, found, spec)
    if found.rewound:
        state = world.files(entry.path).load().current
        yield from ways_to_keep_edits(world, state, entry.path, found.rewound)
    yield _lose_all(entry)


def _lose_all(entry: SessionEntry) -> str:
    return f"or lose all of it: agentmux remove --force {entry.name}"


def _ways_to_keep_commits(
    entry: SessionEntry, found: WorktreeLoss, spec: WorktreeSpec
) -> Iterator[str]:
    place, base = shlex.quote(str(spec.path)), _base_branch(entry)
    if found.is_beside:
        yield f"keep them on a branch: git -C {place} switch --create NAME"
    elif found.commits:
        if found.dropped and base is not None:
            onto = git_commands.rebase(base, since=spec.commit[:12], git=f"git -C {place}")
            first = f"; to go without them, first: {onto}" if found.is_there else ""
            yield brought_back_label(found.dropped, base) + first
        where = f" (with {base} checked out)" if base is not None else ""
        yield f"merge the branch first: {git_commands.merge(spec.branch)}{where}"


def _ways_if_gone(entry: SessionEntry, found: WorktreeLoss) -> Iterator[str]:
    """Yield how to keep what is left of a worktree that is missing."""
    if found.kept:
        yield "if you have moved it, tell git where it is: git worktree repair NEW_PATH"
    if found.staged:
        for each in found.kept:
            yield f"see what is staged: git -C {shlex.quote(str(each))} diff --cached"
    if found.saved and not entry.is_done:
        yield f"a resume makes it again: agentmux resume {entry.name}"


def remove_session(
    site: Site, entry: SessionEntry, take_away: Callable[[], object] = lambda: None
) -> bool:
    """Remove the session with everything in its directory.

    Args:
        site: The project.
        entry: The session.
        take_away: Removes what the session has elsewhere, before its directory is removed; if it
            raises an error, the session stays.

    Returns:
        Whether this was the last session, and the project's ``.agentmux/``, which held nothing
        else, was removed, too.

    Raises:
        AgentmuxError: Something of the session runs, or may run (`require_removable`); nothing was
            changed.
        DataError: The directory cannot be renamed, or cannot be deleted completely.
    """
    require_removable(site, entry)
    lock = site.locks.session(entry.path)
    # Locked during the rename, so that a starting orchestrator finds a whole session or none.
    lock.acquire(LOCK_WAIT_S, {"command": "remove"})
    try:
        take_away()
        buried = site.folders.hide_for_removal(entry.path)
        with suppress(DataError):  # `remove_with_consent` tries again, and says it
            site.traces.forget(entry.text("session_id"), entry.path)
    finally:
        lock.release()
    site.folders.delete(buried)
    return leave_if_empty(site)
