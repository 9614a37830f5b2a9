"""``approve`` and ``request-changes``: record the user's decision on a result.

A decision for a session that is not live is applied when the session is resumed.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from agentmux.adapters.disk.session.handover import leave_environment, take_approval_environment
from agentmux.adapters.wake.pipe import poke
from agentmux.app.commands.end.approval import (
    ApprovalRequest,
    approve_with_consent,
    refuse_changed,
)
from agentmux.app.delivery.approval.conflict_request import with_conflicts
from agentmux.app.delivery.approval.deliverable import digest_of
from agentmux.app.delivery.steps.outcome import delivered_lines
from agentmux.app.session.search.lookup import (
    SessionEntry,
    entry_at,
    require_no_copy,
    select_session,
    users_panes,
)
from agentmux.app.session.search.orchestrator_version import require_own_version
from agentmux.app.session.workplace.own_worktree import with_workplace
from agentmux.app.session.writer import stamp
from agentmux.app.signals.submission import SubmitAnswer, decide
from agentmux.app.views.session.delivered import progress, wait_delivered
from agentmux.app.views.session.session_view import delivery_as_json
from agentmux.app.views.status import is_completing
from agentmux.cli import render
from agentmux.cli.ask.beginning import asked_beginning
from agentmux.cli.ask.person import YesOpt, person_at, require_person
from agentmux.cli.ask.session_argument import resolve_world, typed_command, unfinished_sessions
from agentmux.cli.ask.shared_options import JsonOpt, SessionArg
from agentmux.cli.commands.look import orphan_agents
from agentmux.cli.commands.look.sessions import require_seconds
from agentmux.cli.commands.run.start import read_text
from agentmux.cli.invocation import Invocation, monotonic
from agentmux.core.agents.environment import inherited_variables
from agentmux.core.definitions.definition import Kind
from agentmux.core.fold.acceptance import REWINDING, takes_decision
from agentmux.core.journal.events import Approved, ChangesRequested, UserDecision
from agentmux.core.journal.state import SessionState, encode
from agentmux.core.names.statuses import KEEP, MERGE, PR, PUSH
from agentmux.core.names.words import nearest
from agentmux.core.pipeline.registry import beginnings, pipeline_of, working_phase
from agentmux.errors import AgentmuxError, BlockedError, ExitCode, RefusedError, UsageError

if TYPE_CHECKING:
    from agentmux.app.world import World


IdOpt = Annotated[str, typer.Option("--decision", hidden=True)]
"""The option with the id of a decision that was made elsewhere; an id is recorded only once."""

DigestOpt = Annotated[
    str,
    typer.Option(
        "--digest",
        metavar="D",
        help="Decide on what was shown with this digest only, as in `status --json`.",
    ),
]


def approve(
    ctx: typer.Context,
    session: SessionArg = None,
    leave_nested: Annotated[
        bool,
        typer.Option(
            "--leave-nested", help="Do not commit folders that are git repositories of their own."
        ),
    ] = False,
    leave_commits: Annotated[
        bool,
        typer.Option(
            "--leave-commits",
            help="Go without commits that were made in the worktree and are not on its branch.",
        ),
    ] = False,
    keep: Annotated[bool, typer.Option("--keep", help="Keep the result on its branch.")] = False,
    merge: Annotated[
        bool, typer.Option("--merge", help="Merge it into the branch that its own began on.")
    ] = False,
    bring_back: Annotated[
        bool,
        typer.Option(
            "--bring-back",
            help="Merge commits, too, that the base had at the start, and has no more.",
        ),
    ] = False,
    on_top: Annotated[
        bool,
        typer.Option(
            "--on-top",
            help="Commit on top of your own commits on the branch, made since the session began.",
        ),
    ] = False,
    push: Annotated[
        bool, typer.Option("--push", help="Push its branch to a remote; never forced.")
    ] = False,
    pr: Annotated[
        bool, typer.Option("--pr", help="Push it, and open or update a pull or merge request.")
    ] = False,
    digest: DigestOpt = "",
    timeout: Annotated[
        float,
        typer.Option(
            "--timeout", min=0, metavar="S", help="Wait S seconds for the delivery (exit 9)."
        ),
    ] = 120.0,
    decision: IdOpt = "",
    yes: YesOpt = False,
    json: JsonOpt = False,
) -> int:
    """Approve the result: it is committed and delivered, and the session is done.

    If no flag says where the result goes, the setting `completion.then` decides. The command waits
    until a live session has delivered its result; a stopped session delivers it when it is resumed.
    In a terminal, the command shows what will be committed and asks. Without a terminal it does not
    ask: running it is your consent.
    """
    invocation: Invocation = ctx.obj
    require_person(invocation, "approve")
    way = one_way({KEEP: keep, MERGE: merge, PUSH: push, PR: pr})
    require_seconds(timeout)
    world, entry = _deciding(invocation, session, command="approve SESSION")
    request = ApprovalRequest(
        approval=Approved(then=way, digest=digest),
        leave_nested=leave_nested,
        leave_commits=leave_commits,
        bring_back=bring_back,
        on_top=on_top,
        show=None if json else render.out,
        size=None if json else render.terminal_size(sys.stdout),
    )
    record = partial(_record_approval, world, entry, decision or world.new_id())
    person = person_at(invocation, yes=yes)
    answer = approve_with_consent(world, person, entry, request, record)
    code = (
        _report_delivery(world, entry, answer, timeout_s=timeout, json=json)
        if answer.is_heard
        else _answer(answer, entry, Approved.kind, json=json)
    )
    if not json and entry_at(world, entry.path).is_done:
        stays = users_panes(world, entry)
        if stays:
            render.out(stays)
        # `--yes`, and an approval in another invocation, agree to the result only.
        orphan_agents.offer_to_end(person, entry, yes=False)
    return code


def one_way(flags: Mapping[str, bool], command: str = "approve") -> str:
    """Return the way of delivery whose flag was given; empty if no flag was given.

    Args:
        flags: Whether the flag of each way was given, by the way, such as ``merge``.
        command: The command as typed after ``agentmux``, for the hint.

    Raises:
        UsageError: Several flags were given.
    """
    named = [name for name, given in flags.items() if given]
    if len(named) > 1:
        flags_named = " and ".join(f"--{name}" for name in named)
        raise UsageError(f"{flags_named} exclude each other", hints=(f"agentmux {command} --help",))
    return named[0] if named else ""


def _record_approval(
    world: World, entry: SessionEntry, approval: str, fact: Approved, cycle: int
) -> SubmitAnswer:
    """Record the approval; if its delivery begins at once, it gets this process's environment."""
    leave_environment(entry.path, approval, inherited_variables(world.environment))
    answer = _record_decision(world, entry, approval, fact, cycle)
    if not answer.is_heard:
        take_approval_environment(entry.path, approval)
    return answer


def _report_delivery(
    world: World, entry: SessionEntry, answer: SubmitAnswer, *, timeout_s: float, json: bool
) -> int:
    """Wait for the delivery of a live session, and print how it ended; return the exit code."""
    if not json:
        _answer(answer, entry, Approved.kind, json=False)
    approval = answer.event_id or ""
    try:
        state = wait_delivered(
            *(world, entry, approval),
            timeout_s=timeout_s,
            monotonic=monotonic,
            say=lambda obstacle: render.note(f"waits: {obstacle}"),
        )
    except AgentmuxError as error:
        if json:
            seen = progress(world, entry, approval).state
            render.as_json({**answer.to_fields(), "delivery": _delivery(seen)})
        return render.error(error)
    if json:
        render.as_json({**answer.to_fields(), "delivery": _delivery(state)})
    for line in () if json else delivered_lines(with_workplace(world, state), state):
        render.out(line)
    return ExitCode.OK


def _delivery(state: SessionState) -> dict[str, object] | None:
    delivery = encode(state).get("delivery")
    return delivery_as_json(delivery) if isinstance(delivery, dict) else None


def request_changes(
    ctx: typer.Context,
    changes: Annotated[
        str | None,
        typer.Argument(
            metavar="[TEXT]",
            help="What to change: a text, @FILE, or - for stdin. A merge conflict needs none.",
            show_default=False,
        ),
    ] = None,
    session: Annotated[
        str | None, typer.Option("--session", "-s", metavar="SESSION", help="As for `status`.")
    ] = None,
    begins: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="START_PHASE",
            help="Where the next cycle begins: fixing is for a small change, by one coder;"
            " planning and architecting are for large ones. Without it, a terminal is asked;"
            " a script begins in the first phase.",
            show_default=False,
        ),
    ] = None,
    digest: DigestOpt = "",
    decision: IdOpt = "",
    json: JsonOpt = False,
) -> int:
    """Request changes: the session begins another cycle to make them."""
    invocation: Invocation = ctx.obj
    require_person(invocation, "request-changes")
    command = 'request-changes "…" --session SESSION'
    if changes is None and begins is None:
        raise UsageError("what should change?", hints=(f"agentmux {command}",))
    world, entry = _deciding(invocation, session, command=command)
    files = world.files(entry.path)
    state = files.load().current
    begins = _named_beginning(state, begins)
    small = begins in pipeline_of(state) and pipeline_of(state)[begins].kind is Kind.FIX
    if changes is None and not small:
        raise UsageError("what should change?", hints=(f"agentmux {command}",))
    text = "" if changes is None else read_text(changes, what="what to change")
    if small:
        text = with_conflicts(state, text)
    if not begins and invocation.interactive and not json and takes_decision(state):
        begins = asked_beginning(state)
    if digest and takes_decision(state):
        world = with_workplace(world, state)
        if digest != digest_of(world, files, state):
            return _answer(refuse_changed(digest), entry, ChangesRequested.kind, json=json)
    about = working_phase(state) if takes_decision(state) else ""
    fact = ChangesRequested(text=text, phase=begins, of_phase=about, digest=digest)
    answer = _record_decision(world, entry, decision or world.new_id(), fact, state.cycle)
    return _answer(answer, entry, ChangesRequested.kind, json=json)


def _named_beginning(state: SessionState, name: str | None) -> str:
    """Return ``name``, the phase in which the next cycle is to begin; empty if it is None.

    Raises:
        UsageError: No cycle can begin in this phase.
    """
    there = beginnings(state)
    if name is None or name in there:
        return name or ""
    raise UsageError(
        f"no cycle of this session can begin in `{name}`",
        hints=(*nearest.suggest_name(name, there), f"choose one of: {', '.join(there)}"),
    )


def _deciding(
    invocation: Invocation, name: str | None, *, command: str
) -> tuple[World, SessionEntry]:
    """Return the session to decide on, and the world of its project.

    Args:
        invocation: The global options.
        name: The session's name. If it is None, the only session that waits for a decision is
            chosen; if none waits, the only one that is not done.
        command: The command that hints show, with ``SESSION`` in place of the name.

    Raises:
        NotFoundError: No session matches, or several do.
        BlockedError: The session's directory is a copy of a live session.
    """
    world, entry = resolve_world(invocation, name, command=command)
    if entry is None:
        command = typed_command(invocation, name, command)
        entries = unfinished_sessions(world, command=command)
        waiting = [each for each in entries if is_completing(each.fields)]
        entry = select_session(waiting or entries, command=command)
        render.note(f"session {entry.name}")
    require_no_copy(world, entry)
    require_own_version(world.locks.session(entry.path), entry.name)
    return world, entry


def _record_decision(
    world: World, entry: SessionEntry, event: str, fact: UserDecision, cycle: int
) -> SubmitAnswer:
    """Record a decision under the id ``event``; return the answer."""
    files, now = world.files(entry.path), stamp(world.now())
    return decide(files, fact, at=now, new_id=lambda: event, poke=poke, cycle=cycle)


def _answer(made: SubmitAnswer, entry: SessionEntry, kind: str, *, json: bool) -> int:
    """Print the answer to a decision; return the exit code."""
    if json:
        render.as_json(made.to_fields())
    error = _error(made, entry)
    if error is None and not json:
        command = kind.replace("_", "-")
        render.out(f"{command}: {made.result}" + (f", {made.reason}" if made.reason else ""))
    # JSON was written already; the error goes to stderr, for people.
    return ExitCode.OK if error is None else render.error(error)


def _error(made: SubmitAnswer, entry: SessionEntry) -> AgentmuxError | None:
    """Return the error for a decision that was refused or ignored; None for any other."""
    if made.result == "refused":
        return RefusedError(made.reason, problems=made.problems)
    if made.result == "ignored":
        command = "resume" if made.reason == REWINDING else "status"
        return BlockedError(
            f"session {entry.name} takes no such decision now: {made.reason}",
            reason="not_waiting",
            hints=(f"agentmux {command} {entry.name}",),
        )
    return None
