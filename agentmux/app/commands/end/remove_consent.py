"""Removes a session with the user's consent: checks, question, removal."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from agentmux.app.commands.end.remove import (
    base_to_remove,
    find_stash_error,
    going_words,
    left_in_checkout,
    lost_words,
    remove_session,
    require_commit_named,
    require_nothing_lost,
    require_removable,
    staying_words,
    worktree_to_remove,
)
from agentmux.app.session.search.lookup import find_original, find_owner
from agentmux.core.decisions.tree_checkpoints import checkpoint_words
from agentmux.core.names.layout import PROJECT_FOLDER
from agentmux.errors import AgentmuxError, DataError

if TYPE_CHECKING:
    from agentmux.app.commands.resume.resume_consent import Survivors
    from agentmux.app.person import Person
    from agentmux.app.session.search.lookup import SessionEntry
    from agentmux.app.session.search.lost_sessions import LostSessionError
    from agentmux.app.world import Site, World
    from agentmux.ports.git.worktrees import WorktreeSpec


def remove_with_consent(
    site: Site,
    person: Person,
    entry: SessionEntry,
    *,
    force: bool,
    world: Callable[[], World],
    left_behind: Callable[[SessionEntry], Survivors | None],
) -> None:
    """Ask the person, then remove a session and everything that it has left; show what is gone.

    Args:
        site: The project.
        person: The person who removes the session.
        entry: The session.
        force: Whether to remove work that exists nowhere else.
        world: Returns the world of the project. It is not needed for every session, so that a
            wrong configuration does not always prevent a removal.
        left_behind: Returns the processes that the session has left running; None if there are
            none.

    Raises:
        BlockedError: The session is in use; or work would be lost, and ``force`` is False.
        UsageError: Nobody can be asked.
        DeclinedError: The person said no.
        AgentmuxError: The session cannot be removed.
    """
    require_removable(site, entry)
    is_owned = find_owner(site, entry) is None
    spec = worktree_to_remove(world(), entry) if entry.text("worktree") else None
    lost = loose = _commits_on_no_branch(entry, world, force=force) if is_owned else ""
    going = ""
    if spec is not None:
        loss = require_nothing_lost(world(), entry, spec, force=force)
        going, lost = going_words(loss, spec), lost_words(loss, spec)
    elif is_owned and not force:
        _require_nothing_aside(entry, world)
    alive = left_behind(entry)
    left = _files_left(entry, world)
    leaves = _say_stays(site, entry) + (f"; it leaves {left}" if left else "")
    also = (
        f", its {going}" if going else "",
        f"; lost would be {lost}" if lost else "",
        f"; what it left running is ended: {alive.words}" if alive else "",
        leaves,
    )
    person.agree(
        f"Remove session {entry.name} ({_how_far(entry)}) with its history and conversations"
        f"{''.join(also)}?"
    )

    def take_away() -> None:
        if alive is not None:
            alive.end()  # they may be at work in what is removed
        if spec is not None:
            _take_worktree(world(), person, entry, spec, force=force)
        if is_owned:
            _remove_base(entry, world)
            _forget_checkpoints(entry, world)

    was_last = remove_session(site, entry, take_away)
    empty = f", and {site.project / PROJECT_FOLDER}, which held nothing else" if was_last else ""
    person.note(f"removed {entry.path}{empty}{leaves}")
    _note_lost(person, loose)
    _note_remembered(site, person, entry)


def _note_remembered(site: Site, person: Person, entry: SessionEntry) -> None:
    """Say that the removed session will be named as missing, if its trace cannot be deleted."""
    try:
        site.traces.forget(entry.text("session_id"), entry.path)
    except DataError as error:
        person.note(f"it will be named as deleted by hand: {error.message}")
        for hint in (*error.hints, f"do not name it any more: agentmux remove {entry.name}"):
            person.note(hint)


def _say_stays(site: Site, entry: SessionEntry) -> str:
    """Say what a removal leaves: the worktree of the original, and what a link leads to."""
    original, place, stays = find_original(site, entry), entry.text("worktree"), ""
    if original is not None and place:
        whose = original.name if original.parent == entry.path.parent else f"in {original}"
        stays = f"; the worktree {place} is that of session {whose}: it stays"
    if entry.path.is_symlink():
        stays += f"; the files in {entry.path.resolve()}, to which it links, stay"
    return stays


def _take_worktree(
    world: World, person: Person, entry: SessionEntry, spec: WorktreeSpec, *, force: bool
) -> None:
    """Remove worktree and branch, and note what is gone with them."""
    # Checked again: the person may have taken long to answer, and worked there meanwhile.
    now = require_nothing_lost(world, entry, spec, force=force)
    try:
        world.git.worktrees.remove(spec, now.tip)
    except AgentmuxError:
        if now.is_there and not world.git.worktrees.is_there(spec):
            _note_half_done(person, entry, spec)
        raise
    tip = f" (it was at {now.tip[:12]})" if now.tip and now.branch else ""
    gone = going_words(now, spec)
    if gone:
        person.note(f"removed {gone}{tip}")
    stays = staying_words(now, spec)
    if stays:
        person.note(stays)
    _note_lost(person, lost_words(now, spec))


def _note_half_done(person: Person, entry: SessionEntry, spec: WorktreeSpec) -> None:
    """Say what is left of the session after its worktree was removed, but not its branch."""
    person.note(
        f"session {entry.name} is not removed, but the files of the worktree {spec.path} are"
        " deleted, as far as they could be"
    )
    if spec.checkpoint is not None:
        person.note(f"work-tree checkpoint {checkpoint_words(spec.checkpoint)} has its files")
        person.note(f"a resume makes it again: agentmux resume {entry.name}")


def _note_lost(person: Person, lost: str) -> None:
    if lost:
        person.note(f"lost: {lost}")


def _commits_on_no_branch(entry: SessionEntry, world: Callable[[], World], *, force: bool) -> str:
    """Name the commits that go with a session that began on a detached HEAD; empty for none."""
    if entry.text("worktree") or entry.text("branch") or not entry.fields.get("commit"):
        return ""
    return require_commit_named(world(), entry, force=force)


def _require_nothing_aside(entry: SessionEntry, world: Callable[[], World]) -> None:
    error = None
    with suppress(AgentmuxError):  # a wrong configuration must not prevent the removal
        error = find_stash_error(world(), entry)
    if error is not None:
        raise error


def _files_left(entry: SessionEntry, world: Callable[[], World]) -> str:
    """Name the files that the session leaves in the checkout; empty if they are unknown."""
    with suppress(AgentmuxError):  # a wrong configuration must not prevent the removal
        return left_in_checkout(world(), entry)
    return ""


def _how_far(entry: SessionEntry) -> str:
    if entry.is_moved:
        return "moved elsewhere"
    return "done" if entry.is_done else f"not done: {entry.phase or 'unreadable'}"


def _remove_base(entry: SessionEntry, world: Callable[[], World]) -> None:
    """Remove the worktree in which checks ran on the session's base, if it is still there."""
    if entry.fields.get("base_checks"):
        spec = base_to_remove(world(), entry)
        if spec is not None:
            world().git.worktrees.remove(spec, None)


def _forget_checkpoints(entry: SessionEntry, world: Callable[[], World]) -> None:
    """Delete the ref of the session's checkpoints; only checkpoints on a detached HEAD have one."""
    checkpoints = entry.fields.get("tree_checkpoints")
    each = checkpoints if isinstance(checkpoints, list) else []
    if any(isinstance(one, dict) and one.get("branch") is None for one in each):
        own = world()
        own.git.checkpoints(own.project, entry.path, entry.text("session_id")).forget()


def forget_with_consent(site: Site, person: Person, lost: LostSessionError) -> None:
    """Ask the person, then drop the record of a session whose directory is gone.

    ``lost`` names the session; its message and hints are shown first. AgentMux does not list the
    session any more. What is left of it elsewhere, such as a worktree, stays.

    Raises:
        UsageError: Nobody can be asked.
        DeclinedError: The person said no.
        DataError: The record cannot be deleted.
    """
    *left, _ = lost.hints
    for line in (lost.message, *left):
        person.note(line)
    person.agree("Do not name it any more? What is left of it stays.")
    site.traces.forget(lost.trace.session, Path(lost.trace.path))
