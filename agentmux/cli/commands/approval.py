"""``approve`` and ``request-changes``: the user's decisions.

A decision for a session that is not live is applied when the session is resumed.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

import typer

from agentmux.adapters.wake.pipe import poke
from agentmux.app.loop.commit import left_out, made_already, moved, preview, reason
from agentmux.app.session.lookup import (
    SessionEntry,
    list_resumable_sessions,
    require_no_copy,
    select_session,
)
from agentmux.app.session.own_worktree import placed
from agentmux.app.session.writer import stamp
from agentmux.app.signals.submission import SubmitAnswer, decide
from agentmux.cli import render
from agentmux.cli.ask.consent import YesOpt, require_consent
from agentmux.cli.ask.person import require_person
from agentmux.cli.ask.session_argument import meant
from agentmux.cli.commands.sessions import JsonOpt, SessionArg
from agentmux.cli.commands.start import read_text
from agentmux.core.fold.acceptance import takes_approval
from agentmux.core.fold.apply import fold
from agentmux.core.journal.events import Approved, ChangesRequested, UserDecision
from agentmux.core.journal.state import KEEP
from agentmux.core.names.phase import Phase
from agentmux.core.names.status_labels import left_out_label
from agentmux.errors import AgentmuxError, BlockedError, ExitCode, RefusedError
from agentmux.ports.repository import IndexBusyError

if TYPE_CHECKING:
    from agentmux.app.world import World
    from agentmux.cli.face import Face
    from agentmux.core.journal.state import SessionState

_SHOWN = 40


def approve(
    ctx: typer.Context,
    session: SessionArg = None,
    leave_nested: Annotated[
        bool,
        typer.Option(
            "--leave-nested", help="Do not commit folders that are git repositories of their own."
        ),
    ] = False,
    keep: Annotated[
        bool, typer.Option("--keep", help="Keep the result on its branch (the default).")
    ] = False,
    yes: YesOpt = False,
    json: JsonOpt = False,
) -> int:
    """Approve the result: it is committed, and the session is done.

    In a terminal, the command shows what will be committed and asks. Without a terminal it does not
    ask: running it is your consent.
    """
    face: Face = ctx.obj
    require_person(face, "approve")
    world, entry = _deciding(face, session, command="approve SESSION")
    loaded = world.files(entry.path).load()
    state = fold(loaded.state, loaded.tail)
    world = placed(world, state)
    if takes_approval(state):
        asks = face.interactive and not yes
        _require_committable(world, entry, state, leave_nested=leave_nested or asks)
        if asks or not json:
            _show_commit(world, state, entry.name, say=render.note if json else render.out)
        require_consent(face, "Approve?", yes=not asks)
    # If the session takes no approval now, the answer says why.
    code = _decide(world, entry, Approved(then=KEEP if keep else ""), json=json)
    if code == ExitCode.OK and not json and state.worktree and state.options.commit:
        branch = shlex.quote(state.branch or "")
        render.out(f"once it is committed, get it with: git merge {branch}")
    return code


def _require_committable(
    world: World, entry: SessionEntry, state: SessionState, *, leave_nested: bool
) -> None:
    """Check that an approval can be committed, and that the commit has all of the work.

    Args:
        world: The project, with its settings and tools.
        entry: The session.
        state: The state of that session.
        leave_nested: Whether the commit may leave out git repositories inside the project.

    Raises:
        BlockedError: HEAD is not at the branch and commit where the session began, or a merge or
            the like is in progress (the reason is ``head_moved``); or the commit would leave out a
            repository inside the project (``nested_repository``).
    """
    error = moved(world, state)
    if error is not None:
        raise BlockedError(error.message, reason="head_moved", hints=error.hints)
    found = () if leave_nested else left_out(world, state)
    if found:
        raise BlockedError(
            "; ".join(left_out_label(path) for path in found),
            reason="nested_repository",
            hints=(
                f"to commit everything else: agentmux approve {entry.name} --leave-nested",
                f"to commit its files too: move {found[0]}.git away, then approve again",
            ),
        )


def _show_commit(
    world: World, state: SessionState, name: str, *, say: Callable[[str], None]
) -> None:
    if not state.options.commit:
        say("nothing will be committed: commits are turned off for this session")
        return
    message, paths = preview(world, state)
    if not paths:
        say("nothing was changed: there is nothing to commit")
        return
    files = "1 file" if len(paths) == 1 else f"{len(paths)} files"
    _show_branch(world, state, say=say)
    if state.worktree and not world.repository.dirty():
        say(f"the result is committed already: {files}")
    else:
        say(f"to be committed: {files}, with the message “{message.splitlines()[0]}”")
    for path in paths[:_SHOWN]:
        say(f"  {path}")
    if len(paths) > _SHOWN:
        say(f"  and {len(paths) - _SHOWN} more")
    for path in left_out(world, state):
        say(left_out_label(path))
    say(f"see every change: agentmux diff {name}")
    lock = world.repository.index_lock()
    if lock is not None:
        render.note(f"warning: {reason(IndexBusyError(lock))}")


def _show_branch(world: World, state: SessionState, *, say: Callable[[str], None]) -> None:
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


def request_changes(
    ctx: typer.Context,
    changes: Annotated[
        str, typer.Argument(metavar="TEXT", help="What to change: a text, @FILE, or - for stdin.")
    ],
    session: Annotated[
        str | None, typer.Option("--session", "-s", metavar="SESSION", help="As for `status`.")
    ] = None,
    json: JsonOpt = False,
) -> int:
    """Request changes: the session begins another cycle to make them."""
    face: Face = ctx.obj
    require_person(face, "request-changes")
    command = 'request-changes "…" --session SESSION'
    world, entry = _deciding(face, session, command=command)
    text = read_text(changes, what="what to change")
    return _decide(world, entry, ChangesRequested(text=text), json=json)


def _deciding(face: Face, name: str | None, *, command: str) -> tuple[World, SessionEntry]:
    """Return the session to decide on, and the world of its project.

    Args:
        face: The global options.
        name: The session's name; None: the only session that waits for a decision, or the only one
            that is not done.
        command: The command that hints show, with ``SESSION`` in place of the name.

    Raises:
        NotFoundError: No session matches, or several do.
        BlockedError: The session's directory is a copy of a live session.
    """
    world, entry = meant(face, name, command=command)
    if entry is None:
        entries = list_resumable_sessions(world)
        waiting = [each for each in entries if each.phase == Phase.COMPLETING]
        entry = select_session(waiting or entries, command=command)
    require_no_copy(world, entry)
    return world, entry


def _decide(world: World, entry: SessionEntry, fact: UserDecision, *, json: bool) -> int:
    made = decide(
        world.files(entry.path), fact, at=stamp(world.now()), new_id=world.new_id, poke=poke
    )
    if json:
        render.as_json(made.to_fields())
    error = _error(made, entry)
    if error is None and not json:
        command = fact.kind.replace("_", "-")
        render.out(f"{command}: {made.result}" + (f", {made.reason}" if made.reason else ""))
    # JSON was written already; the error goes to stderr, for people.
    return ExitCode.OK if error is None else render.error(error)


def _error(made: SubmitAnswer, entry: SessionEntry) -> AgentmuxError | None:
    """Return the error for a decision that was refused or ignored; None for any other."""
    if made.result == "refused":
        return RefusedError(made.reason, problems=made.problems)
    if made.result == "ignored":
        return BlockedError(
            f"session {entry.name} takes no such decision now: {made.reason}",
            reason="not_waiting",
            hints=(f"agentmux status {entry.name}",),
        )
    return None
