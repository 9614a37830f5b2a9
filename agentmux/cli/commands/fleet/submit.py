"""``fleet submit``: what the fleet has to do."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agentmux.app.result import SCHEMA
from agentmux.cli import render
from agentmux.cli.commands.fleet.place import anywhere, engine_of
from agentmux.cli.commands.group import GroupJsonOpt
from agentmux.cli.commands.run.start import read_roles, read_text
from agentmux.cli.face import Face, absolute, cwd
from agentmux.core.fleet.fleet_request import NORMAL, FleetRequest
from agentmux.core.fleet.repositories import is_allowed, is_url
from agentmux.errors import ConfigError, NotFoundError, UsageError
from agentmux.wiring import machine

if TYPE_CHECKING:
    import sqlalchemy as sa


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
    face: Face = ctx.obj
    engine = engine_of(ctx)
    from agentmux.fleet.queue.submission import submit as send

    read_roles(role or ())
    if quick and pipeline not in {"", "quick"}:
        raise UsageError("--quick is --pipeline quick: say only one of them")
    usual = FleetRequest(
        repo=_repository(face, repo),
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

        requests = read_backlog(absolute(backlog), usual, face.environ)
        if not requests and not json:
            render.note(f"{absolute(backlog)} has no features")
    _require_allowed(face, engine, requests)
    done = send(engine, requests)
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


def _repository(face: Face, text: str) -> str:
    from agentmux.fleet.host.repository import named_repository

    return named_repository(text, cwd(), face.environ) if text else str(face.project())


def _require_allowed(face: Face, engine: sa.Engine, requests: tuple[FleetRequest, ...]) -> None:
    """Check that some host may run these repositories; say which, if not all may.

    What hosts that were seen have said counts, and what this host's user allows.

    Raises:
        ConfigError: None may.
        NotFoundError: This host is the whole fleet, and has no such repository.
    """
    from agentmux.fleet.engine import rows
    from agentmux.fleet.engine.database import explain_errors

    own = face.world(anywhere(face), read_only=True).settings.fleet.repos
    with explain_errors(engine), engine.connect() as connection:
        hosts, repos = rows.hosts(connection), rows.host_repositories(connection)
    is_alone = engine.dialect.name == "sqlite"
    for repo in dict.fromkeys(each.repo for each in requests):
        # A host that has not said what it may run may run anything.
        able = [e.name for e in hosts.values() if is_allowed(repo, repos.get(e.id, (repo,)))]
        if not able and not is_allowed(repo, own) and (hosts or is_alone):
            raise _not_allowed(face, repo, is_alone=is_alone)
        if able and len(able) < len(hosts):
            render.note(f"warning: of the fleet's hosts only {', '.join(able)} may run {repo}")
        if is_alone and not is_url(repo) and not Path(repo).is_dir():
            raise NotFoundError(f"the repository {repo} does not exist on this host")


def _not_allowed(face: Face, repo: str, *, is_alone: bool) -> ConfigError:
    own = machine.config_dir(face.environ) / "config.yaml"
    where = f"add it in {own}" if is_alone else "add it in the configuration of a host's user"
    return ConfigError(
        f"`fleet.repos` does not allow {repo} on {'this' if is_alone else 'any'} host",
        hints=(f"{where}: fleet: {{repos: ['{repo}']}}",),
    )
