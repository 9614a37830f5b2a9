"""``fleet approve``, ``request-changes``, ``retry`` and ``cancel``: decisions of a person."""

from __future__ import annotations

import getpass
import platform
import shlex
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from agentmux.app.result import SCHEMA
from agentmux.cli import render
from agentmux.cli.ask.person import YesOpt, person_at, require_person
from agentmux.cli.commands.finish.approval import one_way
from agentmux.cli.commands.fleet.place import IdArg, engine_of
from agentmux.cli.commands.group import GroupJsonOpt
from agentmux.cli.commands.run.start import read_text
from agentmux.core.names.statuses import KEEP, MERGE, PR, PUSH
from agentmux.errors import UsageError

if TYPE_CHECKING:
    import sqlalchemy as sa

    from agentmux.cli.invocation import Invocation
    from agentmux.fleet.engine.rows import Feature


DigestOpt = Annotated[
    str,
    typer.Option("--digest", metavar="D", help="Decide on what was shown with this digest only."),
]


def approve(
    ctx: typer.Context,
    feature: IdArg,
    keep: Annotated[bool, typer.Option("--keep", help="Keep the result on its branch.")] = False,
    merge: Annotated[bool, typer.Option("--merge", help="Merge it into its base.")] = False,
    push: Annotated[bool, typer.Option("--push", help="Push its branch; never forced.")] = False,
    pr: Annotated[bool, typer.Option("--pr", help="Push it, and open a request.")] = False,
    digest: DigestOpt = "",
    yes: YesOpt = False,
    json: GroupJsonOpt = False,
) -> int:
    """Approve the result of a feature, wherever it runs."""
    way = one_way({KEEP: keep, MERGE: merge, PUSH: push, PR: pr}, "fleet approve")
    given = {"kind": "approve", "then": way, "digest": digest}
    return _decide(ctx, feature, given, yes=yes, json=json)


def request_changes(
    ctx: typer.Context,
    feature: IdArg,
    changes: Annotated[
        str, typer.Argument(metavar="TEXT", help="What to change: a text, @FILE, or -.")
    ],
    begins: Annotated[
        str,
        typer.Option("--from", metavar="START_PHASE", help="Where the next cycle begins."),
    ] = "",
    digest: DigestOpt = "",
    json: GroupJsonOpt = False,
) -> int:
    """Request changes of a feature, wherever it runs."""
    text = read_text(changes, what="what to change")
    if not text.strip() and not begins:
        command = f'fleet request-changes {shlex.quote(feature)} "…"'
        raise UsageError("what should change?", hints=(f"agentmux {command}",))
    given = {"kind": "changes", "begins": begins, "text": text, "digest": digest}
    return _decide(ctx, feature, given, yes=True, json=json)


def _decide(
    ctx: typer.Context, name: str, given: Mapping[str, str], *, yes: bool, json: bool
) -> int:
    """Record a decision, after asking for consent to an approval."""
    invocation: Invocation = ctx.obj
    approves = given["kind"] == "approve"
    require_person(invocation, "fleet approve" if approves else "fleet request-changes")
    engine = engine_of(ctx)
    from agentmux.fleet.decisions import deciding
    from agentmux.fleet.queue import listing

    row = listing.find(engine, name)
    decision = deciding.decide_with_consent(
        *(engine, person_at(invocation, yes=yes), row),
        deciding.GivenDecision(**given, by=_person()),
        show=None if json else render.out,
    )
    words = _by_host(
        engine, row, f"{'approval' if approves else 'request'} recorded; its host delivers it"
    )
    return _report_done(row, words, json=json, more={"decision": decision})


def _by_host(engine: sa.Engine, row: Feature, said: str) -> str:
    """Return ``said`` and, if the worker of the feature's host does not run, how to start it."""
    from agentmux.fleet.queue.listing import idle_host

    idle = idle_host(engine, row) if row.session else ""
    return f"{said}, once its worker runs: agentmux fleet worker, on {idle}" if idle else said


def _person() -> str:
    try:
        return f"{getpass.getuser()}@{platform.node()}"
    except (OSError, KeyError):
        return platform.node()


def _report_done(row: Feature, said: str, *, json: bool, more: dict[str, Any] | None = None) -> int:
    if json:
        fields = {"schema": SCHEMA, "id": row.id, "result": "accepted", "said": said}
        render.as_json({**fields, **(more or {})})
    else:
        render.out(said)
    return 0


def retry(
    ctx: typer.Context,
    feature: IdArg,
    abandon: Annotated[
        bool, typer.Option("--abandon", help="Its host is gone for good: begin again elsewhere.")
    ] = False,
    yes: YesOpt = False,
    json: GroupJsonOpt = False,
) -> int:
    """Go on with a feature that has failed."""
    invocation: Invocation = ctx.obj
    require_person(invocation, "fleet retry")
    engine = engine_of(ctx)
    from agentmux.fleet.decisions import deciding, drain
    from agentmux.fleet.queue import listing

    row = listing.find(engine, feature)
    if not abandon:
        return _report_done(row, _by_host(engine, row, deciding.retry(engine, row)), json=json)
    lost = drain.abandon(engine, person_at(invocation, yes=yes or json), row)
    return _report_done(row, "\n".join(("queued again", *lost)), json=json, more={"lost": [*lost]})


def cancel(
    ctx: typer.Context, feature: IdArg, yes: YesOpt = False, json: GroupJsonOpt = False
) -> int:
    """Stop a feature, and run it no further."""
    invocation: Invocation = ctx.obj
    require_person(invocation, "fleet cancel")
    engine = engine_of(ctx)
    from agentmux.fleet.decisions import deciding
    from agentmux.fleet.queue import listing

    row = listing.find(engine, feature)
    answer = deciding.cancel(engine, person_at(invocation, yes=yes or json), row)
    return _report_done(row, _by_host(engine, row, answer), json=json)
