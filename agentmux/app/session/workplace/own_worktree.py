"""A session's own worktree: describing it, making it, finding it again, working in it."""

from __future__ import annotations

import logging
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from agentmux.app.session.search.lookup import entry_at, find_twin, live
from agentmux.app.session.workplace.workplace import inner, is_away, workplace
from agentmux.core.codec.frozen import replace
from agentmux.core.decisions.tree_checkpoints import PHASE_ENDED, REWIND, checkpoint_words
from agentmux.core.journal.events import WorktreeMade, WorktreeMoved
from agentmux.core.names.words.counts import abbreviate_names
from agentmux.core.names.words.session_commands import stop_and_resume
from agentmux.errors import AgentmuxError, BlockedError
from agentmux.ports.git.worktrees import WORKTREE_GONE, WorktreeSpec

if TYPE_CHECKING:
    from agentmux.app.world import World
    from agentmux.core.journal.state import SessionState, TreeCheckpoint

logger = logging.getLogger(__name__)

_NAMED: Final = 5
_UNLINKED: Final = "worktree_unlinked"


def worktree_of(
    world: World, state: SessionState, home: Path, *, leaves_folder: bool = False
) -> WorktreeSpec | None:
    """Return the worktree of the session at ``home``; None if the session works in the checkout.

    If the repository was moved since the session last ran, the result has the worktree's present
    place. Makes nothing.

    Args:
        world: The project.
        state: The state of the session.
        home: The session's directory.
        leaves_folder: Only copied into the result: whether the user has agreed that a missing
            worktree is made again although git keeps work for its old folder that is nowhere else,
            such as staged files. That work then stays where git keeps it.
    """
    if not state.worktree or state.base is None:
        return None
    spec = WorktreeSpec(
        path=Path(state.worktree),
        branch=state.branch or "",
        commit=state.base.commit,
        session=state.session_id,
        home=home.resolve(),
        inner=inner(world),
        checkpoint=last_checkpoint(state) if state.worktree_made else None,
        is_continued=state.continued,
        leaves_folder=leaves_folder,
    )
    return replace(spec, path=world.git.worktrees.place(spec)) if state.worktree_made else spec


def locate_worktree(world: World, state: SessionState, home: Path) -> SessionState:
    """Return ``state`` with the present path of the session's worktree; write nothing.

    The path differs from the recorded one if the repository was moved since the session last ran.
    Otherwise, or if the session works in the checkout, the result equals ``state``.

    Args:
        world: The project.
        state: The state of the session.
        home: The session's directory, not its worktree.
    """
    spec = worktree_of(world, state, home)
    return state if spec is None else replace(state, worktree=str(spec.path))


def relocation(before: SessionState, after: SessionState) -> WorktreeMoved | None:
    """Return the fact to record if the worktree's path differs in ``after``; else None.

    ``after`` is the result of `locate_worktree` for ``before``.
    """
    if after.worktree is None or after.worktree == before.worktree:
        return None
    return WorktreeMoved(path=after.worktree)


def last_checkpoint(state: SessionState) -> TreeCheckpoint | None:
    """Return the newest work-tree checkpoint; None if there is none."""
    return state.tree_checkpoints[-1] if state.tree_checkpoints else None


def with_workplace(world: World, state: SessionState) -> World:
    """Return a copy of the world for the directory and repository in which the session works.

    For a session in the checkout, that is the world itself.
    """
    if not state.worktree:
        return world
    tree = workplace(world, {"worktree": state.worktree})
    return replace(world, tree=tree, repository=world.git.repository_at(tree))


def find_remake_obstacle(
    world: World, state: SessionState, home: Path, *, leaves_folder: bool = False
) -> BlockedError | None:
    """Return why the worktree of the session at ``home`` cannot be made again; None if it can be.

    Writes nothing. Also None if the worktree exists, or if the session works in the checkout.

    Args:
        world: The project.
        state: The state of the session.
        home: The session's directory.
        leaves_folder: Whether the user has agreed to leave work behind: the git directory of the
            missing worktree may have work that is nowhere else, such as staged files, which the new
            worktree will not get. If false, such work is an obstacle.
    """
    spec = worktree_of(world, state, home, leaves_folder=leaves_folder)
    return None if spec is None else world.git.worktrees.obstacle(spec, again=state.worktree_made)


def has_lost_worktree(state: SessionState) -> bool:
    """Return whether the session's worktree was deleted; looks at one file only, and never fails.

    False if the session works in the checkout, or if its worktree was never made.
    """
    return state.worktree is not None and state.worktree_made and is_away(Path(state.worktree))


def lost_worktree(state: SessionState, name: str) -> BlockedError:
    """Return the error for a live session whose worktree was deleted; it says what to do.

    ``name`` is the session's name, for the commands.
    """
    return BlockedError(  # the commands come first, because the monitor is narrow
        f"the worktree is gone; to make it again: {stop_and_resume(name)} (from its last"
        f" checkpoint, at {state.worktree})",
        reason=WORKTREE_GONE,
    )


def require_worktree(world: World, state: SessionState, home: Path) -> None:
    """Check that the session at ``home`` has its worktree, so that its result can be decided on.

    Raises:
        BlockedError: The worktree was deleted, or the session was imported and not resumed since
            (the error's reason is ``worktree_gone``); or the repository was moved
            (``worktree_unlinked``).
    """
    spec = worktree_of(world, state, home)
    if spec is None or world.git.worktrees.is_made(spec):
        return
    error = missing_worktree(world, spec, home)
    mends = error.reason in {WORKTREE_GONE, _UNLINKED}
    is_live = mends and live(world, (entry_at(world, home),))[home].live
    first = (f"stop it first: agentmux stop {home.name}",) if is_live else ()
    raise BlockedError(
        f"{error.message}, so nothing can be decided on yet",
        reason=error.reason,
        hints=(*first, *error.hints),
    )


def missing_worktree(world: World, spec: WorktreeSpec, home: Path) -> BlockedError:
    """Return the error for the worktree ``spec``, which a resume has to make or link again.

    Either the worktree is gone, or the repository was moved and git no longer knows the worktree,
    or it is the worktree of the session of which this one is a copy. ``home`` is the session's
    directory.
    """
    name = home.name
    twin = find_twin(world, entry_at(world, home))
    if twin is not None:
        return twin
    if not world.git.worktrees.is_there(spec):
        return BlockedError(
            f"the worktree {spec.path} is gone",
            reason=WORKTREE_GONE,
            hints=(f"a resume makes it again: agentmux resume {name}",),
        )
    return BlockedError(
        f"the project was moved, and the worktree {spec.path} is not linked to it yet",
        reason=_UNLINKED,
        hints=(f"a resume links it: agentmux resume {name}",),
    )


def list_ignored_by_now(
    world: World, state: SessionState, home: Path, until: TreeCheckpoint | None = None
) -> tuple[str, ...]:
    """Return the session's files that git has come to ignore, so that ``until`` is without them.

    They are in the last checkpoint of a phase that ended, or in the last one from before a rewind.
    ``until`` is a later checkpoint; None is the work tree of ``world``, as it is now. Paths are
    sorted, and relative to the top of the work tree. Empty, too, if git cannot tell.
    """
    earlier = {each.because: each for each in state.tree_checkpoints}
    tree = world.tree if until is None else world.project  # the worktree may be gone
    store = world.git.checkpoints(tree, home.resolve(), state.session_id)
    paths: set[str] = set()
    with suppress(AgentmuxError, OSError):
        for because in {PHASE_ENDED, REWIND}.intersection(earlier):
            commit = None if until is None else until.commit
            paths.update(store.list_ignored(earlier[because].commit, commit))
    return tuple(sorted(paths.difference(state.options.dirty)))


def worktree_news(world: World, state: SessionState, home: Path) -> str:
    """Return in words what a missing worktree will contain when it is made again, and what is lost.

    Empty if the worktree exists, or was never made. ``home`` is the session's directory.
    """
    spec = worktree_of(world, state, home)
    if spec is None or not state.worktree_made or world.git.worktrees.is_there(spec):
        return ""
    if spec.path.exists():
        return ""
    saved = spec.checkpoint
    if saved is not None and state.arrived is not None and saved.at < state.arrived.at:
        return f"the worktree {spec.path} is made, on {spec.label}, with the files as they arrived"
    gone = f"the worktree {spec.path} is gone: it is made again from"
    if saved is None:
        return f"{gone} {spec.label}; what was not committed there is lost{_say_kept(world, spec)}"
    names = abbreviate_names(list_ignored_by_now(world, state, home, saved))
    ignored = f", but not what git ignored ({names})" if names else ""
    without = f", and {_some(saved.missing)}" if saved.missing else ""
    return (
        f"{gone} {spec.label} and work-tree checkpoint {checkpoint_words(saved)}, "
        f"uncommitted work included{ignored}; what was done after {saved.at}{without} is lost"
        f"{_say_kept(world, spec)}"
    )


def _say_kept(world: World, spec: WorktreeSpec) -> str:
    """Return where git keeps the metadata of a folder that may only have been moved; or empty."""
    kept = world.git.worktrees.list_kept(spec)
    stays = "if you have moved it: it stays a work tree until the session's worktree is removed"
    return f" ({stays}, by {kept[0]})" if kept else ""


def _some(names: tuple[str, ...]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more


def without_checkpoints(state: SessionState) -> SessionState:
    """Return the state without checkpoints, so that the worktree is made from its branch alone."""
    return replace(state, tree_checkpoints=())


def make_worktree(
    world: World, state: SessionState, home: Path, *, leaves_folder: bool = False
) -> tuple[WorktreeMade | None, tuple[str, ...]]:
    """Make the worktree of the session at ``home``, unless it exists or the session has none.

    Safe to repeat. Writes nothing to the journal.

    Args:
        world: The project.
        state: The state of the session.
        home: The session's directory.
        leaves_folder: Whether to make a missing worktree again even if git keeps work for its old
            folder that is nowhere else, such as staged files. That work stays where git keeps it.

    Returns:
        The fact to record (None if the session has no worktree, or if it existed and the journal
        already knows it), and warnings, one sentence each.

    Raises:
        WorktreeTakenError: Something else is in its place.
        FolderGoneError: It is missing, git keeps such work for its folder, and ``leaves_folder``
            is False.
        GitError: Git refuses.
    """
    spec = worktree_of(world, state, home, leaves_folder=leaves_folder)
    if spec is None:
        return None, ()
    was_there = world.git.worktrees.is_there(spec)
    warnings = world.git.worktrees.make(spec, again=state.worktree_made)
    for warning in warnings:
        logger.warning("%s", warning)
    if was_there and state.worktree_made:
        return None, warnings
    dirty = with_workplace(world, state).repository.dirty() if state.setup is not None else ()
    used = spec.checkpoint.number if spec.checkpoint is not None and not was_there else None
    return WorktreeMade(again=state.worktree_made, dirty=dirty, checkpoint=used), warnings
