"""The commands of the fleet; the package `agentmux.fleet` is imported only when one runs."""

from __future__ import annotations

import getpass
import importlib.util
import platform
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from agentmux.app.result import SCHEMA
from agentmux.cli import render
from agentmux.cli.ask.consent import YesOpt, require_consent
from agentmux.cli.ask.person import require_person
from agentmux.cli.commands.fleet_text import feature_lines, list_lines, stale_lines
from agentmux.cli.commands.group import GroupJsonOpt, group
from agentmux.cli.commands.start import read_roles, read_text
from agentmux.cli.face import absolute
from agentmux.core.fleet.repositories import is_allowed, is_url
from agentmux.core.fleet.wish import NORMAL, Wish, require_wish
from agentmux.core.names.statuses import KEEP, MERGE, PR, PUSH
from agentmux.errors import ConfigError, MissingError, UsageError
from agentmux.wiring import machine

if TYPE_CHECKING:
    import sqlalchemy as sa

    from agentmux.cli.face import Face
    from agentmux.fleet.place import Place
    from agentmux.fleet.rows import Feature

app = group()

IdArg = Annotated[
    str, typer.Argument(metavar="ID", help="A feature's id, the start of it, or its key.")
]
DigestOpt = Annotated[
    str,
    typer.Option("--digest", metavar="D", help="Decide on what was shown with this digest only."),
]


@app.callback(invoke_without_command=True)
def fleet(ctx: typer.Context, json: GroupJsonOpt = False) -> int:
    """Run a backlog of features, on this host or on several."""
    if ctx.invoked_subcommand is not None:
        return 0
    return list_(ctx, json=json)


def _place(face: Face) -> Place:
    """Return the place of the fleet.

    Raises:
        MissingError: The extra is not installed.
    """
    if any(importlib.util.find_spec(each) is None for each in ("dbos", "sqlalchemy")):
        raise MissingError(
            "the fleet is an extra, which is not installed",
            hints=("pip install 'agentmux[fleet]'",),
        )
    from agentmux.fleet.place import place_of  # noqa: PLC0415 (an extra)

    return place_of(face.environ)


def _engine(ctx: typer.Context) -> sa.Engine:
    """Return the fleet's database, which is closed when the command ends.

    Raises:
        AgentmuxError: There is none, it does not answer, or it is of another version.
    """
    place = _place(ctx.obj)
    from agentmux.fleet.database import engine_for, require_contract  # noqa: PLC0415 (an extra)

    engine = engine_for(place.url())
    ctx.call_on_close(engine.dispose)
    require_contract(engine)
    return engine


@app.command("init", help="Set the fleet up on this host, and its database")
def init(
    ctx: typer.Context,
    url_file: Annotated[
        str | None,
        typer.Option(
            "--url-file",
            metavar="FILE",
            help="A private file with the URL of the database, or - for stdin"
            " (default: a file of SQLite, for this host alone).",
        ),
    ] = None,
) -> int:
    """Set the fleet up on this host, and its database."""
    face: Face = ctx.obj
    place = _place(face)
    from agentmux.fleet.place import is_private, require_url, shown_url  # noqa: PLC0415 (an extra)
    from agentmux.fleet.setup import set_up  # noqa: PLC0415 (as above)

    if url_file is None:
        url = place.url() if place.is_set_up() else place.default_url
    else:
        path = None if url_file == "-" else absolute(Path(url_file))
        if path is not None and path.is_file() and not is_private(path):
            raise UsageError(
                f"{path} can be read by others, and a URL may hold a password",
                hints=(f"chmod 600 {path}",),
            )
        text = read_text("-" if path is None else None, path, what="the URL of the database")
        url = require_url(text.strip())
    set_up(place, url)
    render.out(f"the fleet is set up: {shown_url(url)}")
    render.note("name the repositories that this host may run in your configuration, such as")
    render.note(f"  fleet: {{repos: ['{face.project()}']}}")
    render.note("then: agentmux fleet worker")
    return 0


@app.command("worker", help="Run the worker of this host, until Ctrl-C")
def worker(
    ctx: typer.Context,
    slots: Annotated[
        int, typer.Option("--slots", min=1, max=1000, metavar="N", help="Features at once.")
    ] = 2,
    name: Annotated[
        str, typer.Option("--name", metavar="HOST", help="What to call it (default: its name).")
    ] = "",
    systemd: Annotated[
        bool, typer.Option("--systemd", help="Print a unit for systemd instead.")
    ] = False,
) -> int:
    """Run the worker of this host, until Ctrl-C."""
    face: Face = ctx.obj
    place = _place(face)
    called = require_wish(Wish(repo="/", feature="-", host=name or platform.node())).host
    if systemd:
        from agentmux.fleet.systemd import unit  # noqa: PLC0415 (an extra)

        render.out(unit(machine.program(), slots=slots, name=name, environ=face.environ))
        return 0
    require_person(face, "fleet worker")
    from agentmux.fleet.worker import WorkerOptions, work  # noqa: PLC0415 (an extra)

    def said(line: str) -> None:
        render.note(line)

    settings = face.world(_anywhere(face), read_only=True).settings.fleet
    return work(
        WorkerOptions(
            name=called,
            slots=slots,
            place=place,
            settings=settings,
            environ=face.environ,
            config=face.config,
            said=said,
        )
    )


def _anywhere(face: Face) -> Path:
    """Return a folder that is no project: only the user's own file may say what a host runs."""
    folder = machine.state_dir(face.environ) / "fleet"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


@app.command("submit", help="Submit a feature, an issue or a backlog")
def submit(  # noqa: PLR0913, PLR0917 (typer)
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
        bool, typer.Option("--quick", help="For a small wish: the same as --pipeline quick.")
    ] = False,
    agent: Annotated[
        str, typer.Option("--agent", metavar="AGENT", help="Agent of every role.")
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
    engine = _engine(ctx)
    from agentmux.fleet.submission import submit as send  # noqa: PLC0415 (an extra)

    read_roles(role or ())
    if quick and pipeline not in {"", "quick"}:
        raise UsageError("--quick is --pipeline quick: say only one of them")
    usual = Wish(
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
    wishes: tuple[Wish, ...] = (usual,)
    if backlog is not None:
        if feature is not None or issue or key:
            raise UsageError("--from takes features, issues and keys from its file")
        from agentmux.fleet.backlog import read_backlog  # noqa: PLC0415 (reads yaml)

        wishes = read_backlog(absolute(backlog), usual)
    _require_allowed(face, engine, wishes)
    done = send(engine, wishes)
    if json:
        found = [
            {"id": each.id, "key": each.key or None, "title": each.title, "new": each.new}
            for each in done
        ]
        render.as_json({"schema": SCHEMA, "features": found})
        return 0
    for each in done:
        again = "" if each.new else " (submitted before)"
        render.out(f"{each.id}  {each.title}{again}")
    return 0


def _repository(face: Face, text: str) -> str:
    if is_url(text):
        return text
    path = absolute(Path(text)) if text else face.project()
    return str(machine.project_of(path) if path.is_dir() else path)


def _require_allowed(face: Face, engine: sa.Engine, wishes: tuple[Wish, ...]) -> None:
    """Check, where this host is the whole fleet, that it may run these repositories.

    Raises:
        ConfigError: It may not.
    """
    if engine.dialect.name != "sqlite":
        return
    settings = face.world(_anywhere(face), read_only=True).settings.fleet
    for each in wishes:
        if not is_allowed(each.repo, settings.repos):
            own = machine.config_dir(face.environ) / "config.yaml"
            raise ConfigError(
                f"`fleet.repos` does not allow {each.repo} on this host",
                hints=(f"add it in {own}: fleet: {{repos: ['{each.repo}']}}",),
            )


@app.command("list", help="List the features of the fleet")
def list_(
    ctx: typer.Context,
    stale: Annotated[
        bool, typer.Option("--stale", help="Only hosts not seen for 60 s, and what waits for them.")
    ] = False,
    json: GroupJsonOpt = False,
) -> int:
    """List the features of the fleet."""
    face: Face = ctx.obj
    engine = _engine(ctx)
    from agentmux.fleet.listing import feature_fields, fleet_view, host_fields  # noqa: PLC0415 (an extra)

    view = fleet_view(engine)
    hosts = view.stale if stale else tuple(view.hosts.values())
    features = view.features
    if stale:
        features = tuple(each for host in hosts for each in view.waiting_for(host))
    if json:
        render.as_json(
            {
                "schema": SCHEMA,
                "features": [feature_fields(view, each) for each in features],
                "hosts": [host_fields(view, each) for each in hosts],
            }
        )
        return 0
    for line in stale_lines(view) if stale else list_lines(view, colours=face.colours):
        render.out(line)
    return 0


@app.command("show", help="Show all that the fleet knows of a feature")
def show(ctx: typer.Context, feature: IdArg, json: GroupJsonOpt = False) -> int:
    """Show all that the fleet knows of a feature."""
    face: Face = ctx.obj
    engine = _engine(ctx)
    from agentmux.fleet.deciding import find  # noqa: PLC0415 (an extra)
    from agentmux.fleet.listing import fleet_view, shown_fields  # noqa: PLC0415 (as above)

    fields = shown_fields(engine, fleet_view(engine), find(engine, feature))
    if json:
        render.as_json({"schema": SCHEMA, **fields})
        return 0
    for line in feature_lines(fields, colours=face.colours):
        render.out(line)
    return 0


@app.command("approve", help="Approve the result of a feature, wherever it runs")
def approve(  # noqa: PLR0913, PLR0917 (typer)
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
    from agentmux.cli.commands.approval import one_way  # noqa: PLC0415 (knows every event)

    way = one_way({KEEP: keep, MERGE: merge, PUSH: push, PR: pr})
    given = {"kind": "approve", "then": way, "digest": digest}
    return _decide(ctx, feature, given, yes=yes, json=json)


@app.command("request-changes", help="Request changes of a feature, wherever it runs")
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
    given = {"kind": "changes", "begins": begins, "text": text, "digest": digest}
    return _decide(ctx, feature, given, yes=True, json=json)


def _decide(
    ctx: typer.Context, name: str, given: Mapping[str, str], *, yes: bool, json: bool
) -> int:
    """Show what is decided on, ask unless ``yes``, and record the decision."""
    face: Face = ctx.obj
    approves = given["kind"] == "approve"
    require_person(face, "fleet approve" if approves else "fleet request-changes")
    engine = _engine(ctx)
    from agentmux.fleet.deciding import Given, decide, find  # noqa: PLC0415 (an extra)

    row = find(engine, name)
    asked = dict(row.question or {})
    asks = approves and face.interactive and not yes
    for line in _lines(asked) if approves and (asks or not json) else ():
        (render.note if json else render.out)(line)
    require_consent(face, "Approve?", yes=not asks)
    shown = given["digest"] or str(asked.get("digest", ""))
    made = decide(engine, row, Given(**{**given, "digest": shown, "by": _person()}))
    said = f"{'approval' if approves else 'request'} recorded; its host delivers it"
    return _done(row, said, json=json, more={"decision": made})


def _lines(asked: dict[str, object]) -> list[str]:
    found = asked.get("lines")
    return [str(each) for each in found] if isinstance(found, list) else []


def _person() -> str:
    try:
        return f"{getpass.getuser()}@{platform.node()}"
    except (OSError, KeyError):
        return platform.node()


def _done(row: Feature, said: str, *, json: bool, more: dict[str, Any] | None = None) -> int:
    if json:
        fields = {"schema": SCHEMA, "id": row.id, "result": "accepted", "said": said}
        render.as_json({**fields, **(more or {})})
    else:
        render.out(said)
    return 0


@app.command("attach", help="Show a feature's session in this terminal, also on another host")
def attach(
    ctx: typer.Context,
    feature: IdArg,
    prints: Annotated[bool, typer.Option("--print", help="Print the command instead.")] = False,
) -> int:
    """Show a feature's session in this terminal, also on another host."""
    face: Face = ctx.obj
    engine = _engine(ctx)
    from agentmux.fleet.attaching import attach_words  # noqa: PLC0415 (an extra)
    from agentmux.fleet.deciding import find  # noqa: PLC0415 (as above)

    words = attach_words(engine, _place(face), find(engine, feature))
    if prints or not face.on_screen:
        render.out(words.shown)
        return 0
    return words.run(face.environ)


@app.command("retry", help="Go on with a feature that has failed")
def retry(
    ctx: typer.Context,
    feature: IdArg,
    abandon: Annotated[
        bool, typer.Option("--abandon", help="Its host is gone for good: begin anew elsewhere.")
    ] = False,
    yes: YesOpt = False,
    json: GroupJsonOpt = False,
) -> int:
    """Go on with a feature that has failed."""
    face: Face = ctx.obj
    require_person(face, "fleet retry")
    engine = _engine(ctx)
    from agentmux.fleet import deciding  # noqa: PLC0415 (an extra)

    row = deciding.find(engine, feature)
    if not abandon:
        return _done(row, deciding.retry(engine, row), json=json)
    require_consent(
        face, f"Begin `{row.title}` anew? What its host has of it is lost.", yes=yes or json
    )
    lost = deciding.abandon(engine, row)
    return _done(row, "\n".join(("queued anew", *lost)), json=json, more={"lost": [*lost]})


@app.command("cancel", help="Stop a feature, and run it no further")
def cancel(
    ctx: typer.Context, feature: IdArg, yes: YesOpt = False, json: GroupJsonOpt = False
) -> int:
    """Stop a feature, and run it no further."""
    face: Face = ctx.obj
    require_person(face, "fleet cancel")
    engine = _engine(ctx)
    from agentmux.fleet import deciding  # noqa: PLC0415 (an extra)

    row = deciding.find(engine, feature)
    asks = face.interactive and not yes and not json
    require_consent(face, f"Cancel `{row.title}`?", yes=not asks)
    return _done(row, deciding.cancel(engine, row), json=json)


@app.command("drain", help="Let a host finish what runs, and take nothing more")
def drain(
    ctx: typer.Context,
    host: Annotated[str, typer.Argument(metavar="HOST", help="The name of the host.")],
    json: GroupJsonOpt = False,
) -> int:
    """Let a host finish what runs, and take nothing more."""
    face: Face = ctx.obj
    require_person(face, "fleet drain")
    engine = _engine(ctx)
    from agentmux.fleet import deciding  # noqa: PLC0415 (an extra)

    begun = deciding.drain(engine, host)
    if json:
        render.as_json({"schema": SCHEMA, "host": host, "begun": begun})
        return 0
    render.out(f"host {host} takes nothing more; its worker ends when nothing runs there")
    if begun:
        render.out(f"{begun} features have begun there: they go on when its worker runs again")
    return 0
