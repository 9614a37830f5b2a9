"""Starts a session with the user's consent: trust, plan, warnings, question, start."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from agentmux.app.commands.begin.continued_branch import find_continued, find_reviewed
from agentmux.app.commands.begin.issue import read_issue
from agentmux.app.commands.begin.start import (
    StartPlan,
    StartRequest,
    flags,
    named_agent,
    plan_start,
    start,
    to_be_agreed_to,
)
from agentmux.app.commands.look.trust import (
    Effect,
    preview_trust,
    seats_effect,
    with_pipeline_files,
    with_worktree_settings,
)
from agentmux.app.commands.resume.orchestrator_start import OrchestratorStart, StartedSession
from agentmux.app.person import Person
from agentmux.app.session.configuration.pipeline_choice import pipeline_roles
from agentmux.app.session.search.lookup import list_sessions
from agentmux.app.world import World
from agentmux.core.codec.frozen import dataclass, replace
from agentmux.core.definitions.feature import FEATURE
from agentmux.core.names.phase import PRODUCT_MANAGER

_REVIEW: Final = "review"
"""The pipeline of a session that reviews a branch, if the user names none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StartCommand:
    """What the user asks for with a start, as typed.

    Attributes:
        request: Everything that can be taken as typed. Its fields ``agent``, ``model``, ``issue``,
            ``on`` and ``of`` are ignored: the attributes here count instead.
        here: The directory for which the user starts the session, with symbolic links resolved; if
            it is not the project's directory itself, a note says where the session is.
        agent: ``AGENT[:MODEL]`` for every role that the request does not name; None takes the
            configured one.
        issue: The number or URL of the issue that says what to build; None if there is none.
        comments: Whether to read the comments of the issue, too.
        on: The branch or request to continue; None if there is none.
        of: The branch or request to review; None for a session that makes changes.
        introduces: Whether to tell the user which pipeline the session takes.
    """

    request: StartRequest
    here: Path
    agent: str | None = None
    issue: str | None = None
    comments: bool = False
    on: str | None = None
    of: str | None = None
    introduces: bool = False


def preview_start(world: World, person: Person, command: StartCommand) -> StartPlan:
    """Show ``person`` the warnings of a start as notes, and return its plan; create nothing.

    Nobody is asked.

    Raises:
        AgentmuxError: Something that the command names does not exist, or `plan_start` finds that
            the session cannot start.
    """
    request = _resolve(world, command)
    world, warnings = preview_trust(world, _effect(world, request))
    return _plan(world, person, command, request, warnings)


def start_with_consent(
    world: World, person: Person, starter: OrchestratorStart, command: StartCommand
) -> StartedSession:
    """Start a session; ask first for missing trust, and for consent to warnings that need it.

    Raises:
        AgentmuxError: Something that the command names does not exist, the session cannot start
            (see `plan_start`), or something could not be created.
        NotTrustedError: The start needs files that are not trusted, and nobody can be asked.
        DeclinedError: The person said no.
    """
    request = _resolve(world, command)
    world = person.trust(world, _effect(world, request))
    plan = _plan(world, person, command, request)
    if person.is_asked and to_be_agreed_to(plan.warnings):
        person.agree("Start anyway?")
    return replace(start(world, starter, plan), told=plan.warnings)


def _resolve(world: World, command: StartCommand) -> StartRequest:
    """Return the request with the pipeline, issue, agent and branches that the command names."""
    request, of, on = command.request, command.of, command.on
    issue = (
        None
        if command.issue is None
        else read_issue(world, command.issue, words=request.feature, comments=command.comments)
    )
    agent, model = (
        (None, None)
        if command.agent is None
        else named_agent(world.consent.preview(), command.agent)
    )
    return replace(
        request,
        pipeline=request.pipeline
        or (_REVIEW if of is not None else world.settings.defaults.pipeline),
        issue=issue,
        agent=agent,
        model=model,
        base=request.base if of is None else None,
        of=None if of is None else find_reviewed(world, of, request.base),
        on=None if on is None else find_continued(world, on),
    )


def _effect(world: World, request: StartRequest) -> Effect:
    """Return what the start would do in a world, such as what its seats would run and be told."""
    pipeline = request.pipeline or ""
    whole = world.consent.preview()  # untrusted files may name the roles
    roles = tuple(
        role
        for role in pipeline_roles(whole, pipeline)
        if request.product_manager or role != PRODUCT_MANAGER
    )
    agents, models = flags(request.agent, request.model, request.roles, whole.settings.own_roles)
    elsewhere = any(each is not None for each in (request.base, request.on, request.of))
    return with_worktree_settings(
        with_pipeline_files(seats_effect(agents, models, roles), pipeline),
        asked=True if elsewhere else request.worktree,
    )


def _plan(
    world: World,
    person: Person,
    command: StartCommand,
    request: StartRequest,
    warnings: tuple[str, ...] = (),
) -> StartPlan:
    """Return the plan of a start, preceded by ``warnings``, after showing it to the person."""
    taken = {each.name: each.phase or "" for each in list_sessions(world)}
    plan = plan_start(world, request, taken)
    plan = replace(plan, warnings=(*warnings, *plan.warnings))
    lines = tuple(_lines(world, command, plan))
    for line in lines:
        person.note(line)
    return replace(plan, messages=lines)


def _lines(world: World, command: StartCommand, plan: StartPlan) -> Iterator[str]:
    """Yield what the user should know of a start; the monitor shows it, too."""
    yield from (f"warning: {warning}" for warning in plan.warnings)
    if world.project != command.here:
        is_there = "works in" if plan.worktree is None else "belongs to the project"
        yield f"the session {is_there} {world.project}, not {command.here}"
    yield from plan.notes
    if command.introduces:
        yield from _introduce(plan)


def _introduce(plan: StartPlan) -> Iterator[str]:
    """Yield lines that say which pipeline the session takes, and how to take the short one.

    Each fits in 80 columns, so that no terminal breaks a command in two.
    """
    name = plan.pipeline.definition.name
    yield f"pipeline {name}; its phases: agentmux pipelines show {name}"
    if name == FEATURE.name:  # whoever has named another pipeline has chosen already
        yield 'for a small change: agentmux start --quick "…"'
