"""``fleet submit``: gives features to the fleet."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from agentmux.app.result import SCHEMA
from agentmux.cli import render
from agentmux.cli.ask.person import person_at
from agentmux.cli.commands.fleet.place import anywhere, engine_of
from agentmux.cli.commands.group import GroupJsonOpt
from agentmux.cli.commands.run.start import read_roles, read_text
from agentmux.cli.invocation import Invocation, absolute, cwd
from agentmux.core.fleet.fleet_request import NORMAL, FleetRequest
from agentmux.errors import UsageError
from agentmux.wiring import machine


def submit(
    ctx: typer.Context,
    feature: Annotated[
        str | None,
        typer.Argument(metavar="FEATURE", help="What to build: a text, @FILE, or - for stdin."),
    ] = None,
    issue: Annotated[
        str, typer.Option("--issue", metavar="N|URL", help="Build what this issue describes.")
    ] = "",
    backlog: Annotated[
        Path | None,
        typer.Option("--from", metavar="FILE", help="Submit each feature of this YAML file."),
    ] = None,
    repo: Annotated[
        str, typer.Option("--repo", metavar="PATH|URL", help="The repository (default: this one).")
    ] = "",
    key: Annotated[
        str, typer.Option("--key", metavar="KEY", help="Submit it once, however often it is said.")
    ] = "",
    priority: Annotated[
        int, typer.Option("--priority", metavar="N", help="From 1 (first) to 1000 (last).")
    ] = NORMAL,
    host: Annotated[
        str, typer.Option("--host", metavar="HOST", help="Only this host may run it.")
    ] = "",
    pipeline: Annotated[
        str, typer.Option("--pipeline", metavar="PIPELINE", help="Go through this pipeline.")
    ] = "",
    quick: Annotated[
        bool, typer.Option("--quick", help="For a small change: the same as --pipeline quick.")
    ] = False,
    agent: Annotated[
        str, typer.Option("--agent", metavar="AGENT[:MODEL]", help="Agent of every role.")
    ] = "",
    role: Annotated[
        list[str] | None,
        typer.Option(metavar="ROLE=AGENT[:MODEL]", help="Agent of one role; may be repeated."),
    ] = None,
    base: Annotated[
        str, typer.Option("--base", metavar="REF", help="What its worktree begins on.")
    ] = "",
    comments: Annotated[
        bool, typer.Option("--comments", help="With --issue: also read its comments.")
    ] = False,
    product_manager: Annotated[
        bool, typer.Option("--product-manager", help="Start with the product manager.")
    ] = False,
    json: GroupJsonOpt = False,
) -> int:
    """Submit a feature, an issue or a backlog."""
    invocation: Invocation = ctx.obj
    engine = engine_of(ctx)
    from agentmux.fleet.queue.submission import OwnRepositories, submit_allowed

    read_roles(role or ())
    if quick and pipeline not in {"", "quick"}:
        raise UsageError("--quick is --pipeline quick: say only one of them")
    usual = FleetRequest(
        repo=_repository(invocation, repo),
        feature=read_text(feature, what="what to build") if feature is not None else "",
        issue=issue,
        key=key,
        host=host,
        priority=priority,
        pipeline="quick" if quick else pipeline,
        agent=agent,
        roles=tuple(role or ()),
        base=base,
        comments=comments,
        product_manager=product_manager,
    )
    requests: tuple[FleetRequest, ...] = (usual,)
    if backlog is not None:
        if feature is not None or issue or key:
            raise UsageError("--from takes features, issues and keys from its file")
        from agentmux.fleet.queue.backlog import read_backlog

        requests = read_backlog(absolute(backlog), usual, invocation.environ)
        if not requests and not json:
            render.note(f"{absolute(backlog)} has no features")
    own = OwnRepositories(
        allowed=invocation.world(anywhere(invocation), read_only=True).settings.fleet.repos,
        config=machine.config_dir(invocation.environ) / "config.yaml",
    )
    done = submit_allowed(engine, person_at(invocation, yes=True), requests, own)
    if json:
        features = [
            {"id": each.id, "key": each.key or None, "title": each.title, "new": each.new}
            for each in done
        ]
        render.as_json({"schema": SCHEMA, "features": features})
        return 0
    for each in done:
        again = "" if each.new else " (submitted before)"
        render.out(f"{each.id}  {each.title}{again}")
    return 0


def _repository(invocation: Invocation, text: str) -> str:
    from agentmux.fleet.host.repository import named_repository

    return named_repository(text, cwd(), invocation.environ) if text else str(invocation.project())
