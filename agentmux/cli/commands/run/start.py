"""``start``: creates a session for a feature and starts its orchestrator."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from agentmux.adapters.disk.session.handover import ReadyPipe
from agentmux.app.commands.begin.start import FEATURE_MAX, StartPlan, StartRequest
from agentmux.app.commands.begin.start_consent import (
    StartCommand,
    preview_start,
    start_with_consent,
)
from agentmux.app.commands.resume.orchestrator_start import OrchestratorStart, StartedSession
from agentmux.app.result import SCHEMA
from agentmux.app.session.search.lookup import entry_at, shown_path
from agentmux.app.views.plain_fields import mapping
from agentmux.cli import render
from agentmux.cli.ask.person import TrustOpt, YesOpt, person_at, trust_own_edit
from agentmux.cli.ask.shared_options import JsonOpt
from agentmux.cli.commands.look import attachment
from agentmux.cli.fast.given_text import given_text, given_words
from agentmux.cli.invocation import Invocation, absolute
from agentmux.core.agents.environment import inherited_variables
from agentmux.core.codec.frozen import replace
from agentmux.core.codec.records import to_fields
from agentmux.core.codec.shape import replace_unencodable
from agentmux.core.documents.review import seat_named
from agentmux.core.journal.state import issue_fields
from agentmux.errors import UsageError
from agentmux.ports.tmux.terminal import TerminalError
from agentmux.wiring import machine

if TYPE_CHECKING:
    from agentmux.app.commands.resume.orchestrator_request import OrchestratorRequest
    from agentmux.app.person import Person
    from agentmux.app.world import World

QUICK: Final = "quick"
"""The pipeline of ``--quick``."""

AttachOpt = Annotated[
    bool | None,
    typer.Option(
        "--attach/--detach",
        help="Show the session in this terminal, or not (default: show it if there is one).",
        show_default=False,
    ),
]


def start_feature(
    ctx: typer.Context,
    feature: Annotated[
        str | None,
        typer.Argument(metavar="FEATURE", help="What to build: a text, @FILE, or - for stdin."),
    ] = None,
    name: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Name of the session (default: from the feature)."),
    ] = None,
    product_manager: Annotated[
        bool, typer.Option("--product-manager", help="Start with the product manager.")
    ] = False,
    pipeline: Annotated[
        str | None,
        typer.Option(
            metavar="PIPELINE",
            help="Go through this pipeline (default: as configured, else feature).",
        ),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="For a small change: the same as --pipeline quick.")
    ] = False,
    agent: Annotated[
        str | None,
        typer.Option(
            metavar="AGENT[:MODEL]", help="Agent of every role that --role does not name."
        ),
    ] = None,
    role: Annotated[
        list[str] | None,
        typer.Option(metavar="ROLE=AGENT[:MODEL]", help="Agent of one role; may be repeated."),
    ] = None,
    branch: Annotated[
        str | None,
        typer.Option(
            metavar="[NAME]",
            help="Make a branch called NAME (default: named after the session).",
        ),
    ] = None,
    worktree: Annotated[
        bool | None,
        typer.Option(
            "--worktree/--no-worktree",
            help="Work in a worktree of its own, or in the checkout (default: as configured).",
            show_default=False,
        ),
    ] = None,
    base: Annotated[
        str | None,
        typer.Option(metavar="REF", help="What the worktree begins on (default: HEAD)."),
    ] = None,
    on: Annotated[
        str | None,
        typer.Option(
            metavar="BRANCH|PR", help="Continue a branch, or a request by its number or URL."
        ),
    ] = None,
    of: Annotated[
        str | None,
        typer.Option(
            metavar="BRANCH|PR",
            help="Look at a branch, or a request by its number or URL: --pipeline review.",
        ),
    ] = None,
    issue: Annotated[
        str | None,
        typer.Option(metavar="N|URL", help="Build what this issue of the forge describes."),
    ] = None,
    comments: Annotated[
        bool,
        typer.Option(
            "--comments", help="With --issue: also read the comments of people who may write there."
        ),
    ] = False,
    include: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PATH",
            help="Commit this file although it is changed already; may be repeated.",
        ),
    ] = None,
    lease: Annotated[str, typer.Option("--lease", hidden=True)] = "",
    attach: AttachOpt = None,
    yes: YesOpt = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what a start would do; change nothing.")
    ] = False,
    trust: TrustOpt = False,
    json: JsonOpt = False,
) -> int:
    """Start a session for a feature."""
    invocation: Invocation = ctx.obj
    world = invocation.world()
    attachment.require_place(invocation, world.terminal(None).socket, asked=attach)
    text = _words(feature, issue=issue, of=of, comments=comments)
    asked = agent is None and invocation.interactive and not (yes or dry_run or json)
    if asked:
        agent, world = _chosen_agent(invocation, world)
    request = StartRequest(
        feature=text,
        name=name,
        product_manager=product_manager,
        roles=read_roles(role or ()),
        branch="" if branch == "auto" else branch,
        worktree=worktree,
        base=base,
        include=tuple(_real(absolute(Path(path))) for path in include or ()),
        pipeline=_pipeline_name(pipeline, quick=quick),
        unwatched=not _goes_there(invocation, attach, json=json),
        asked=asked,
        lease=lease,
    )
    command = StartCommand(
        request=request,
        here=invocation.here().resolve(),
        agent=agent,
        issue=issue,
        comments=comments,
        on=on,
        of=of,
        introduces=invocation.interactive and not json,
    )
    person = person_at(invocation, yes=yes, trust=trust)
    if _goes_there(invocation, attach, json=json) and not dry_run:
        person = _told_there(person)
    if dry_run:
        _show_plan(preview_start(world, person, command), json=json)
        return 0
    begun = start_with_consent(world, person, orchestrator_start(world, invocation.config), command)
    show_begun(invocation, world, begun, json=json, attach=attach)
    return 0


def _told_there(person: Person) -> Person:
    """Return a person who reads notes at the monitor, and in this terminal only before a question.

    tmux takes the terminal before anybody could read more than a line.
    """
    lines: list[str] = []

    def consents(question: str) -> bool:
        for line in lines:
            person.note(line)
        return person.consents(question)

    return replace(person, note=lines.append, consents=consents)


def _pipeline_name(name: str | None, *, quick: bool) -> str | None:
    """Return the pipeline that the options name; None if they name none.

    Raises:
        UsageError: They name two.
    """
    if quick and name not in {None, QUICK}:
        raise UsageError(f"--quick is --pipeline {QUICK}: say only one of them")
    return QUICK if quick else name


def _words(feature: str | None, *, issue: str | None, of: str | None, comments: bool) -> str:
    """Return the text that says what to build; with an issue, it may be empty.

    With ``of``, the text says what the user wants to know about the branch.

    Raises:
        UsageError: Nothing says what to build, or ``--comments`` was given without ``--issue``.
    """
    if comments and issue is None:
        raise UsageError("--comments are those of an issue: it needs --issue")
    if issue is not None and feature is None:
        return ""
    if of is not None and feature is None:
        return f"Review {of}."
    return read_text(feature, what="what to build")


def _chosen_agent(invocation: Invocation, world: World) -> tuple[str | None, World]:
    """Ask a person which agent plays the roles, unless a configuration names one.

    The answer is written into the project's configuration.

    Returns:
        An agent's name or a command, None if nothing was asked; and the world with the answer.
    """
    from agentmux.cli.ask.agent_choice import asking, choose_agent

    agent = choose_agent(world, asking(), config=invocation.config)
    if agent is None:
        return None, world
    trust_own_edit(invocation, world, keys=("defaults.agent", f"agents.{agent}"))
    return agent, invocation.world()


def orchestrator_start(world: World, config: Path | None) -> OrchestratorStart:
    """Return how to start an orchestrator: its command line, and the pipe for its report.

    Starts nothing. The orchestrator reports that it is ready, or why it has failed to start.

    Args:
        world: The project, with its settings and tools.
        config: The file of ``--config``, which the orchestrator then uses, too; None without this
            option.
    """

    def argv(path: Path, request: OrchestratorRequest) -> tuple[str, ...]:
        own = (*machine.program(), "_orchestrate")
        more = (str(config),) if config is not None else ()
        return (*own, str(world.project), str(path), request.encode(), *more)

    given = inherited_variables(world.environment)
    return OrchestratorStart(argv=argv, pipe=lambda path: ReadyPipe(path, given))


_PLACEHOLDERS: Final = frozenset({"…", "..."})


def read_text(words: str | None, *, what: str) -> str:
    """Return the text that the user gives: as an argument, in a file, or on standard input.

    Of a file or of standard input, one byte more than `FEATURE_MAX` is read at most.

    Args:
        words: The argument: the text itself, ``@PATH`` for a file, or ``-`` for standard input;
            None without one.
        what: What the text says, such as ``what to build``; for the error message.

    Raises:
        UsageError: No text was given, or only the ``…`` of a hint; or the file cannot be read.
    """
    if words is not None and words.strip() in _PLACEHOLDERS:
        raise UsageError(f"`{words.strip()}` stands for your own words: say {what}")
    if words is None:
        raise UsageError(f"say {what}: as a text, @FILE, or - for stdin")
    if words == "-":
        return given_text(None, FEATURE_MAX + 1)
    return replace_unencodable(given_words(words, FEATURE_MAX + 1))


def read_roles(words: Sequence[str]) -> dict[str, tuple[str, str | None]]:
    """Return the agent and the model of each role, from the values of ``--role``.

    Args:
        words: Values like ``ROLE=AGENT[:MODEL]``.

    Returns:
        By role, in AgentMux's spelling (`seat_named`): the agent as typed, and the model, which is
        None if the value names none.

    Raises:
        UsageError: A value does not have that form.
    """
    agents: dict[str, tuple[str, str | None]] = {}
    for word in words:
        role, _, rest = word.partition("=")
        agent, _, model = rest.partition(":")
        if not agent:
            raise UsageError(f"--role must be ROLE=AGENT[:MODEL], not `{word}`")
        agents[seat_named(role)] = (agent, model or None)
    return agents


def _real(path: Path) -> str:
    """Return ``path`` with its symbolic links resolved, except for the last part of the path."""
    return str(Path(os.path.realpath(path.parent), path.name))


def _show_plan(plan: StartPlan, *, json: bool) -> None:
    fields: dict[str, object] = {
        "schema": SCHEMA,
        "session": plan.name,
        "path": plan.state.feature_dir,
        "phase": plan.state.phase,
        "pipeline": plan.pipeline.definition.name,
        "tmux_session": plan.state.session_name,
        "branch": plan.branch or plan.state.branch,
        "worktree": plan.state.worktree,
        "request": to_fields(plan.state.request) if plan.state.request is not None else None,
        "issue": issue_fields(plan.state.issue),
        "agents": dict(plan.agents),
        "models": dict(plan.models),
        "warnings": list(plan.warnings),
    }
    if json:
        render.as_json(fields)
        return
    render.out(f"would start {plan.name} in phase {plan.state.phase}")
    render.out(f"  pipeline {plan.pipeline.definition.name}")
    if plan.state.issue is not None:
        render.out(f"  about issue #{plan.state.issue.number}: {plan.state.issue.title}")
    models = {role: f":{model}" for role, model in plan.models.items()}
    players = {role: f"{agent}{models.get(role, '')}" for role, agent in plan.agents.items()}
    for line in render.table([(f"  {role}", player) for role, player in players.items()]):
        render.out(line)


def _goes_there(invocation: Invocation, attach: bool | None, *, json: bool) -> bool:
    """Whether to show the session in this terminal once it runs.

    Args:
        invocation: Tells what the terminal can do.
        attach: Value of ``--attach`` or ``--detach``; None: attach if this is a terminal.
        json: Whether the answer is JSON; the session is then shown only if ``attach`` is True.
    """
    return (
        (not json and invocation.interactive and invocation.on_screen) if attach is None else attach
    )


def show_begun(
    invocation: Invocation,
    world: World,
    begun: StartedSession,
    *,
    json: bool,
    attach: bool | None,
) -> None:
    """Print that a session was started or resumed, and attach to it if the options say so.

    If it attaches, it returns once the person has left the session.

    Args:
        invocation: The global options.
        world: The session's project, with its settings and tools.
        begun: The session.
        json: Whether to print JSON.
        attach: Value of ``--attach`` or ``--detach``; None, if neither was given, attaches if this
            is a terminal and ``json`` is False.

    Raises:
        typer.Exit: The tmux client that showed the session ended with an error.
    """
    for line in (*(f"warning: {warning}" for warning in begun.news), *begun.notes):
        render.note(line)
    if json:
        render.as_json({"schema": SCHEMA, **begun_fields(world, begun)})
    goes_there = _goes_there(invocation, attach, json=json)
    if not json and (not goes_there or invocation.environ.get("TMUX")):
        render.out(f"session {begun.name} {doing(begun)}")
        render.out(f"watch it: agentmux attach {begun.name}")
    if not goes_there:
        return
    try:
        render.note(_where(invocation, world, begun))
        status = attachment.go(invocation, world, begun.path, begun.target)
    except (UsageError, TerminalError) as error:
        # The session runs and the answer was shown, so this is no failure.
        attachment.note_not_attached(error)
        return
    if status:
        raise typer.Exit(status)


def _where(invocation: Invocation, world: World, begun: StartedSession) -> str:
    """Return the line above a session to be shown: where, with whom, its cost, and the way back."""
    from agentmux.app.commands.look.agent_offers import describe_agent

    options = mapping(entry_at(world, begun.path).fields, "options")
    flagged = mapping(options, "agents")
    agents = {"*": world.settings.defaults.agent, **flagged}
    used = dict.fromkeys(map(str, agents.values()))
    names = ", ".join(describe_agent(world, each) for each in used)
    place = begun.worktree or str(world.project)
    keys = world.terminal(begun.target.server.socket).own(begun.target).leave_keys()
    inside = bool(invocation.environ.get("TMUX")) and bool(keys.back)
    back = keys.back if inside else keys.detach or f"tmux detach -s {begun.tmux_name}"
    runs = f"; it runs {begun.cost}" if begun.cost else ""
    return f"{begun.name}: {names} in {place}{runs}; back to this shell: {back}"


def begun_fields(world: World, begun: StartedSession) -> dict[str, object]:
    """Return the fields of a session that was started or resumed, for the JSON answer.

    They are ``session`` (its name), ``path`` (its directory, relative to the project), ``phase``,
    ``setting_up`` (whether the new worktree is being prepared), ``branch``, ``worktree``,
    ``tmux_session``, ``tmux_socket`` and ``warnings`` (a list of texts).
    """
    return {
        "session": begun.name,
        "path": shown_path(begun.path, world.project),
        "phase": begun.phase,
        "setting_up": begun.sets_up,
        "branch": begun.branch,
        "worktree": begun.worktree,
        "tmux_session": begun.tmux_name,
        "tmux_socket": begun.target.server.socket,
        "warnings": [*begun.told, *begun.news],
    }


def doing(begun: StartedSession) -> str:
    """Return what a started or resumed session does now, such as ``is in phase planning``."""
    if begun.sets_up:
        return f"prepares its worktree (the setup), before phase {begun.phase}"
    return f"is in phase {begun.phase}"
