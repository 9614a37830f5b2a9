"""``agentmux remove``: removes a session and everything that it has left."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from agentmux.app.commands.end.interrupted_removals import finish_removals
from agentmux.app.commands.end.remove import (
    base_to_remove,
    going_words,
    left_in_checkout,
    lost_words,
    remove_session,
    require_commit_named,
    require_nothing_lost,
    require_removable,
    worktree_to_remove,
)
from agentmux.app.session.search.lookup import SessionEntry, list_sessions, select_session
from agentmux.app.session.search.lost_sessions import LostSessionError, require_none_lost
from agentmux.cli import render
from agentmux.cli.ask.person import YesOpt, require_consent, require_person
from agentmux.cli.ask.session_argument import resolve_session
from agentmux.cli.commands.look import orphan_agents
from agentmux.cli.face import Face
from agentmux.core.names.layout import PROJECT_FOLDER
from agentmux.errors import AgentmuxError

if TYPE_CHECKING:
    from collections.abc import Callable

    from agentmux.app.world import Site, World
    from agentmux.ports.git.worktrees import WorktreeSpec

_REMOVE: Final = "remove SESSION"


def remove(
    ctx: typer.Context,
    session: Annotated[
        str | None,
        typer.Argument(metavar="[SESSION]", help="As for `status`.", show_default=False),
    ] = None,
    force: Annotated[
        bool,
        typer.Option("--force", help="Also lose work that is neither committed nor merged."),
    ] = False,
    yes: YesOpt = False,
) -> int:
    """Remove a session and everything that it has left.

    A live session is not removed. A session with a worktree of its own is not removed either, if
    worktree or branch has work that is nowhere else; files that git ignores, such as .env, do not
    count as work. A session that began on a detached HEAD stays until its commit is on a branch.
    """
    face: Face = ctx.obj
    require_person(face, "remove")
    try:
        site, entry = _chosen(face, session)
    except LostSessionError as error:
        return _forget(face, error, yes=yes)
    return _remove(face, site, entry, force=force, yes=yes)


def _chosen(face: Face, session: str | None) -> tuple[Site, SessionEntry]:
    """Return the session to remove, and the site of its project."""
    if session is not None:
        site, entry = resolve_session(face, session, command=_REMOVE)
        finish_removals(site)
        return site, entry
    site = face.site()
    finish_removals(site)
    entries = list_sessions(site)
    if not entries:
        require_none_lost(site)
    return site, select_session(entries, command=_REMOVE)


def _remove(face: Face, site: Site, entry: SessionEntry, *, force: bool, yes: bool) -> int:
    require_removable(site, entry)
    world = face.world(site.project) if entry.text("worktree") else None
    spec = worktree_to_remove(world, entry) if world is not None else None
    also, loose = "", _on_no_branch(face, site, entry, force=force)
    lost = loose
    if world is not None and spec is not None:
        loss = require_nothing_lost(world, entry, spec, force=force)
        going, lost = going_words(loss, spec), lost_words(loss, spec)
        also = f", its {going}" if going else ""
    alive = orphan_agents.left_behind(entry)
    left = _find_left_files(face, site, entry)
    also += f"; lost would be {lost}" if lost else ""
    also += (
        f"; what it left running is ended: {orphan_agents.describe_survivors(alive)}"
        if alive
        else ""
    )
    also += f"; it leaves {left}" if left else ""
    how = _how_far(entry)
    what = f"session {entry.name} ({how}) with its history and conversations"
    require_consent(face, f"Remove {what}{also}?", yes=yes)

    def take_away() -> None:
        orphan_agents.end(alive)  # they may be at work in what is removed
        if world is not None and spec is not None:
            _take_worktree(world, entry, spec, force=force)

    removed = _remove_entry(face, site, entry, take_away)
    render.note(f"{removed}; it leaves {left}" if left else removed)
    _name_lost(loose)
    return 0


def _take_worktree(world: World, entry: SessionEntry, spec: WorktreeSpec, *, force: bool) -> None:
    """Remove worktree and branch, and say what is gone with them."""
    # Asked again: a person may have taken long to answer, and worked there meanwhile.
    now = require_nothing_lost(world, entry, spec, force=force)
    world.git.worktrees.take_away(spec, now.tip)
    tip = f" (it was at {now.tip[:12]})" if now.tip and now.branch else ""
    gone = going_words(now, spec)
    if gone:
        render.note(f"removed {gone}{tip}")
    _name_lost(lost_words(now, spec))


def _name_lost(lost: str) -> None:
    if lost:
        render.note(f"lost: {lost}")


def _on_no_branch(face: Face, site: Site, entry: SessionEntry, *, force: bool) -> str:
    """Name the commits that go with a session that began on a detached HEAD; empty for none."""
    if entry.text("worktree") or entry.text("branch") or not entry.fields.get("commit"):
        return ""
    return require_commit_named(face.world(site.project), entry, force=force)


def _find_left_files(face: Face, site: Site, entry: SessionEntry) -> str:
    """Name the files that the session leaves in the checkout; empty if nobody can look."""
    with suppress(AgentmuxError):  # a wrong configuration keeps nobody from removing
        return left_in_checkout(face.world(site.project), entry)
    return ""


def _forget(face: Face, lost: LostSessionError, *, yes: bool) -> int:
    """Forget a session whose directory is gone; what is left of it stays where it is."""
    *left, _ = lost.hints
    for line in (lost.message, *left):
        render.note(line)
    require_consent(face, "Do not name it any more? What is left of it stays.", yes=yes)
    face.site().traces.forget(lost.trace.session, Path(lost.trace.path))
    return 0


def _how_far(entry: SessionEntry) -> str:
    if entry.is_moved:
        return "moved elsewhere"
    return "done" if entry.is_done else f"not done: {entry.phase or 'unreadable'}"


def _remove_entry(
    face: Face, site: Site, entry: SessionEntry, take_away: Callable[[], object]
) -> str:
    """Remove the session, and first what it has outside of its directory; say so."""

    def take_all() -> None:
        take_away()
        _remove_base(face, site, entry)
        _forget_ref(face, site, entry)

    was_last = remove_session(site, entry, take_all)
    also = f", and {site.project / PROJECT_FOLDER}, which held nothing else" if was_last else ""
    return f"removed {entry.path}{also}"


def _remove_base(face: Face, site: Site, entry: SessionEntry) -> None:
    """Remove the worktree of the base, or what has stayed of it."""
    if entry.fields.get("base_checks"):
        world = face.world(site.project)
        spec = base_to_remove(world, entry)
        if spec is not None:
            world.git.worktrees.take_away(spec, None)


def _forget_ref(face: Face, site: Site, entry: SessionEntry) -> None:
    """Delete the ref of the session's checkpoints; only one on a detached HEAD has made it."""
    checkpoints = entry.fields.get("tree_checkpoints")
    each = checkpoints if isinstance(checkpoints, list) else []
    if any(isinstance(one, dict) and one.get("branch") is None for one in each):
        world = face.world(site.project)
        world.git.checkpoints(world.project, entry.path, entry.text("session_id")).forget()
