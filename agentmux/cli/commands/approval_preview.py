"""What ``approve`` shows before it asks: what will be committed, and where the result goes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from agentmux.app.delivery.ways import goes
from agentmux.app.loop.commit import left_out, made_already, preview, reason
from agentmux.app.session.changes import changes_of
from agentmux.cli import render
from agentmux.core.documents.review import short
from agentmux.core.names import layout
from agentmux.core.names.status_labels import left_out_label
from agentmux.core.names.statuses import CAPPED
from agentmux.core.pipeline.artifacts import TEXT_MAX
from agentmux.core.terminal.markdown import rendered
from agentmux.ports.repository import IndexBusyError

if TYPE_CHECKING:
    from agentmux.app.session.lookup import SessionEntry
    from agentmux.app.world import World
    from agentmux.core.journal.state import SessionState

_SHOWN: Final = 40
_SUMMARY: Final = f"{layout.COMPLETION}/summary.md"

Say = Callable[[str], None]


def show_commit(
    world: World, state: SessionState, entry: SessionEntry, way: str, *, say: Say
) -> None:
    """Show what an approval would commit now, and where it goes; ``way`` as in `way_of`."""
    if not state.options.commit:
        say("nothing will be committed: commits are turned off for this session")
        return
    message, paths = preview(world, state)
    if not paths:
        say("nothing was changed: there is nothing to commit")
        return
    _show_summary(world, entry, say=say)
    _show_verdicts(state, say=say)
    _show_branch(world, state, say=say)
    _show_files(world, state, message, paths, entry, say=say)
    where = goes(world, state, way)
    if where:
        say(where)
    say(f"see every change: agentmux diff {entry.name}")
    lock = world.repository.index_lock()
    if lock is not None:
        render.note(f"warning: {reason(IndexBusyError(lock))}")


def _show_summary(world: World, entry: SessionEntry, *, say: Say) -> None:
    """Show the reviewer's summary of the work, if there is one."""
    data, _ = world.files(entry.path).read_artifact(_SUMMARY, TEXT_MAX)
    lines = list(rendered((data or b"").decode("utf-8", "replace")))
    for line in lines[:_SHOWN]:
        say(line)
    if len(lines) > _SHOWN:
        say(f"… {len(lines) - _SHOWN} more lines: {entry.path / _SUMMARY}")
    if lines:
        say("")


def _show_verdicts(state: SessionState, *, say: Say) -> None:
    for role, verdict in state.verdicts.items():
        said = str(state.reviews.get(role, {}).get("summary") or "").strip()
        first = f": {said.splitlines()[0]}" if said else ""
        say(f"review {short(role)}: {verdict}{first}")
    if state.review_outcome == CAPPED:
        say(f"the review did not pass within {state.max_review_iterations} iterations")


def _show_files(
    world: World,
    state: SessionState,
    message: str,
    paths: tuple[str, ...],
    entry: SessionEntry,
    *,
    say: Say,
) -> None:
    files = "1 file" if len(paths) == 1 else f"{len(paths)} files"
    if state.worktree and not world.repository.dirty():
        say(f"the result is committed already: {files}")
    else:
        say(f"to be committed: {files}, with the message “{message.splitlines()[0]}”")
    found = changes_of(world, state, entry.path)
    lines = found.repository.stat(found.range) if found is not None else paths[:_SHOWN]
    for line in lines:
        say(f"  {line.strip()}")
    for path in left_out(world, state):
        say(left_out_label(path))


def _show_branch(world: World, state: SessionState, *, say: Say) -> None:
    """Say on which branch of its own the result is, and what is committed there already."""
    if not state.worktree or state.base is None:
        return
    base = state.base
    began = f"{base.branch} at {base.commit[:12]}" if base.branch else base.commit[:12]
    say(f"on branch {state.branch}, from {began}")
    commits = made_already(world, state)
    for each in commits[-_SHOWN:]:
        say(f"committed there already: {each}")
    hooks = world.repository.missing_hooks()
    if hooks is not None:
        say(f"no hooks will run: `core.hooksPath` is {hooks}, which the worktree does not have")
