"""Exports a stopped session to a file, so that it can continue elsewhere.

First the work tree is saved in a checkpoint. Then the complete file is written and read again.
Only then one event records that the session has moved. If that is interrupted at any point, the
session either continues here, or has moved and its file is complete; the same command completes an
interrupted export.
"""

from __future__ import annotations

import re
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from agentmux.app.session.search.moved import require_here
from agentmux.app.session.workplace.branch_mismatch import branch_left
from agentmux.app.session.workplace.own_worktree import (
    last_checkpoint,
    missing_worktree,
    with_workplace,
    worktree_of,
)
from agentmux.app.session.workplace.unfinished_rewind import (
    archive_pending,
    finish_rewind,
    save_tree,
)
from agentmux.app.session.workplace.workplace import has_repository, where_inside
from agentmux.app.session.writer import Session, stamp
from agentmux.core.codec.frozen import dataclass
from agentmux.core.decisions.tree_checkpoints import EXPORT
from agentmux.core.journal.events import SessionMoved
from agentmux.core.moving.arrival import why_not_exportable
from agentmux.core.moving.manifest import (
    BASE_REF,
    CHECKPOINT_REFS,
    HEAD_REF,
    REVIEWED_REF,
    Manifest,
)
from agentmux.core.moving.redaction import without_secrets
from agentmux.core.names import layout
from agentmux.core.names.phase import Phase
from agentmux.core.names.version import VERSION
from agentmux.errors import BlockedError, DataError, NotFoundError, UsageError
from agentmux.ports.git.repository import UnsavedWork
from agentmux.ports.processes import LOCK_WAIT_S
from agentmux.ports.session.moving import Packed

if TYPE_CHECKING:
    from agentmux.app.session.search.lookup import SessionEntry
    from agentmux.app.world import World
    from agentmux.core.journal.state import SessionState
    from agentmux.ports.git.checkpoints import TreeCheckpoints

_ODD: Final = re.compile(r"[^a-z0-9-]+")
_HOST_ODD: Final = re.compile(r"[^A-Za-z0-9._-]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportedSession:
    """The result of an export.

    Attributes:
        name: The name of the session.
        file: The absolute path of the file.
        is_copy: Whether the session continues here, too.
        bytes: The size of the file.
        left: The paths of what was not exported: files, relative to the session's directory or to
            the top of its work tree, and submodules (with ``/`` at the end) with work of their own.
        ignored: The files in the session's worktree that git ignores, which were not exported, as
            in `UnsavedWork`; empty for a session in the user's checkout.
        staged: The files of which the current content was exported, and not what is staged.
        again: Whether an earlier export had already written the file.
    """

    name: str
    file: Path
    is_copy: bool
    bytes: int
    left: tuple[str, ...]
    ignored: tuple[str, ...] = ()
    staged: tuple[str, ...] = ()
    again: bool = False


def export(
    world: World, entry: SessionEntry, target: Path, *, copy: bool, force: bool
) -> ExportedSession:
    """Write the session to the file ``target``; without ``copy``, it no longer continues here.

    Args:
        world: The project.
        entry: The session, which is not live.
        target: The absolute path of the file.
        copy: Whether the session continues here, and the file begins another session.
        force: Whether to replace an existing file, and to export a session that has moved.

    Raises:
        NotFoundError: The session is done.
        BlockedError: The session is in use, has moved, is being delivered, or its checkout shows
            something else.
        UsageError: The file exists already, or the session is not in a git repository.
        DataError: The session cannot be read, or the file cannot be written.
        GitError: Git refuses.
    """
    _require_exportable(world, entry, world.files(entry.path).load().current)
    with ExitStack() as held:
        holder = {"command": "export", "since": stamp(world.now())}
        lock = world.locks.session(entry.path)
        lock.acquire(LOCK_WAIT_S, holder)
        held.callback(lock.release)
        state = world.files(entry.path).load().current
        _require_exportable(world, entry, state)
        inside = with_workplace(world, state)
        works = _works_there(world, entry, state)
        if works:
            tree = inside.locks.tree(inside.tree)
            tree.acquire(LOCK_WAIT_S, holder)
            held.callback(tree.release)
            _require_own_files(inside, state, entry.name)
        world.archives.sweep(target)
        done = _done_before(inside, entry, state, target, works=works, copy=copy)
        if done is not None:
            return done
        if state.moved is not None and not force:
            require_here(state, entry.name)
        return _export_session(inside, entry, target, works=works, copy=copy, force=force)


def _require_exportable(world: World, entry: SessionEntry, state: SessionState) -> None:
    name = entry.name
    if state.phase == Phase.DONE:
        raise NotFoundError(
            f"session {name} is done: there is nothing to go on with elsewhere",
            hints=(f"see it: agentmux show {name}",),
        )
    if not has_repository(world):
        raise UsageError(
            f"session {name} is not in a git repository, so its files cannot come along",
            hints=("git init",),
        )
    why = why_not_exportable(state) if state.rewind is None and not state.pending_archive else ""
    if why:
        raise BlockedError(
            f"session {name} cannot be exported: {why}",
            reason="not_exportable",
            hints=(f"go on with it here: agentmux resume {name}",),
        )


def _works_there(world: World, entry: SessionEntry, state: SessionState) -> bool:
    """Return whether the work tree exists: False for a worktree that was deleted or not made yet.

    Raises:
        BlockedError: It exists, but its repository was moved, so its files would stay behind.
    """
    spec = worktree_of(world, state, entry.path)
    if spec is None or world.git.worktrees.is_made(spec):
        return True
    if world.git.worktrees.is_there(spec):
        raise missing_worktree(world, spec, entry.path)
    return False


def _require_own_files(world: World, state: SessionState, name: str) -> None:
    """Check that the work tree shows the session's files; ``world`` is that of its workplace."""
    mismatch = branch_left(world, state)
    if mismatch:
        raise BlockedError(
            f"session {name} cannot be exported: {mismatch}",
            reason="other_branch",
            hints=(f"see it: agentmux status {name}",),
        )


def _done_before(
    world: World,
    entry: SessionEntry,
    state: SessionState,
    target: Path,
    *,
    works: bool,
    copy: bool,
) -> ExportedSession | None:
    """Complete an export that was interrupted after the file got its name; else None."""
    there = _read_whole_archive(world, target)
    if there is None:
        return None
    manifest, digest = there
    if manifest.source != state.session_id or manifest.is_copy != copy:
        return None
    moved = state.moved
    is_same = manifest.revision == state.revision if moved is None else moved.digest == digest
    if not is_same:
        return None
    if moved is None and works:
        saved = last_checkpoint(state)
        if saved is None or _store(world, entry, state).changed_since(saved.commit):
            return None
    session = _session(world, entry)
    session.take_over()  # the event may be recorded, but not applied
    if moved is None and not copy:
        _move(session, target, digest)
    return ExportedSession(
        name=entry.name,
        file=target,
        is_copy=copy,
        bytes=target.stat().st_size,
        left=(),
        again=True,
    )


def _read_whole_archive(world: World, target: Path) -> tuple[Manifest, str] | None:
    """Return manifest and digest of the file if it is complete, else None."""
    with suppress(NotFoundError, DataError), world.archives.open_archive(target) as archive:
        archive.verify()
        return archive.manifest, archive.digest
    return None


def _session(world: World, entry: SessionEntry) -> Session:
    return Session(world.files(entry.path), now=world.now, new_id=world.new_id)


def _store(world: World, entry: SessionEntry, state: SessionState) -> TreeCheckpoints:
    return world.git.checkpoints(world.tree, entry.path.resolve(), state.session_id)


def _move(session: Session, target: Path, digest: str) -> None:
    session.record(SessionMoved(to=str(target), digest=digest))


def _export_session(
    world: World, entry: SessionEntry, target: Path, *, works: bool, copy: bool, force: bool
) -> ExportedSession:
    world.archives.require_free(target, force=force)
    session = _session(world, entry)
    session.take_over(session_name=world.default_name())
    finish_rewind(world, session)
    archive_pending(session)
    why = why_not_exportable(session.state)
    if why:
        raise BlockedError(
            f"session {entry.name} cannot be exported: {why}",
            reason="not_exportable",
            hints=(f"go on with it here: agentmux resume {entry.name}",),
        )
    if works:
        save_tree(session, _store(world, entry, session.state), EXPORT)
    state, home = session.state, entry.path.resolve()
    events = tuple(without_secrets(event) for event, _ in session.files.tail(0))
    journal = world.archives.journal(events)
    members, left = world.archives.members(home)
    unsaved = world.repository.list_unsaved() if works else UnsavedWork()
    refs = _refs(world, home, state)
    with world.git.bundles.make_bundle(home, refs) as bundle:
        digest, size = world.archives.bundle_digest(bundle) if bundle is not None else ("", 0)
        saved = last_checkpoint(state)
        manifest = Manifest(
            session=world.new_id() if copy else state.session_id,
            source=state.session_id,
            name=_ODD.sub("-", entry.name.lower()).strip("-")[:100] or layout.FALLBACK_SLUG,
            host=_HOST_ODD.sub("-", world.machine.host).strip("-.")[:200] or "unknown",
            made_at=stamp(world.now()),
            agentmux=VERSION,
            revision=state.revision,
            base=refs[BASE_REF],
            head=refs[HEAD_REF],
            checkpoint=saved.commit if saved is not None else None,
            branch=state.branch,
            bundle=digest,
            bundle_size=size,
            inside=where_inside(world),
            members=(world.archives.make_member(layout.JOURNAL, journal), *members),
        )
        packed = Packed(manifest=manifest, journal=journal, home=home, bundle=bundle)
        archive_digest = world.archives.write(target, packed, force=force)
    if not copy:
        _move(session, target, archive_digest)
        with suppress(DataError):  # the removal of the session tries again
            world.traces.forget(state.session_id, entry.path)
    missing = saved.missing if saved is not None else ()
    return ExportedSession(
        name=entry.name,
        file=target,
        is_copy=copy,
        bytes=target.stat().st_size,
        left=(*left, *missing, *unsaved.hidden, *unsaved.modules),
        ignored=unsaved.ignored if state.worktree else (),
        staged=unsaved.staged,
    )


def _refs(world: World, home: Path, state: SessionState) -> dict[str, str]:
    """Return the commits to export, by their names in the bundle."""
    base = state.base.commit if state.base is not None else state.options.base or ""
    saved = last_checkpoint(state)
    head = saved.head if saved is not None and saved.head is not None else base
    refs = {HEAD_REF: head, BASE_REF: base}
    if state.reviewed is not None:
        refs[REVIEWED_REF] = state.reviewed.since
    for each in state.tree_checkpoints:
        if each is saved or world.git.bundles.has(home, each.commit):
            refs[f"{CHECKPOINT_REFS}{each.number}"] = each.commit
    return refs
