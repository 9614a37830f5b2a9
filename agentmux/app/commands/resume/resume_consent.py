"""Resumes a session with the user's consent: obstacles, trust, plan, warnings, question, resume."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

from agentmux.app.commands.look.trust import Effect, played_in
from agentmux.app.commands.resume.orchestrator_request import OrchestratorRequest, Rebuild
from agentmux.app.commands.resume.orchestrator_start import (
    OrchestratorStart,
    StartedSession,
    reattach,
)
from agentmux.app.commands.resume.resume import (
    ResumePlan,
    find_lacking_program,
    find_obstacle,
    plan_resume,
    require_seats,
    require_unfinished,
    resume,
    starting,
)
from agentmux.app.launch.missing_programs import missing_programs
from agentmux.app.person import Person
from agentmux.app.session.configuration.pinned import repinned_by
from agentmux.app.session.search.lookup import (
    SessionEntry,
    list_resumable_sessions,
    live,
    require_live,
)
from agentmux.app.session.workplace.checkout import find_tree_obstacle, list_possibly_live
from agentmux.app.world import World
from agentmux.core.codec.frozen import dataclass, replace
from agentmux.core.config.settings import Policy
from agentmux.core.conversation.launch_policy import EVERY, ORDINARY, LaunchPolicy
from agentmux.core.names.words.session_commands import stop_and_resume
from agentmux.errors import BlockedError, UsageError
from agentmux.ports.git.worktrees import FolderGoneError


@dataclass(frozen=True, slots=True, kw_only=True)
class ResumeCommand:
    """What the user asks for with a resume.

    Attributes:
        panes: How panes are opened. If it says what a person agreed to, that person was shown the
            plan already, and is asked only about what else the resume would do.
        phase: The phase to go back to; None resumes in the inferred phase.
        rebuild: How a missing worktree is made again.
        repin: Whether the session takes the settings that have changed.
        is_watched: Whether a person may watch the panes; if not, the session is one of several.
    """

    panes: LaunchPolicy = ORDINARY
    phase: str | None = None
    rebuild: Rebuild = Rebuild.CAREFUL
    repin: bool = False
    is_watched: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Survivors:
    """The agents of a session that are still running although their tmux server has ended.

    Attributes:
        words: The agents, in words.
        end: Ends them.
    """

    words: str
    end: Callable[[], object]


@dataclass(frozen=True, slots=True)
class ResumeStep:
    """Something that a resume does first, and that a person has to agree to.

    Attributes:
        words: What it does, as a sentence.
        question: A question of its own whether to do it, for a resume that shows no plan.
    """

    words: str
    question: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ResumeQuestion:
    """The one question of a resume.

    Attributes:
        plan: What the resume would do.
        steps: What else the resume would do first, and needs consent for.
        panes: How panes would be opened.
    """

    plan: ResumePlan
    steps: tuple[ResumeStep, ...]
    panes: LaunchPolicy


@dataclass(frozen=True, slots=True, kw_only=True)
class ResumeTools:
    """The operations on processes that a resume needs, and its question.

    Attributes:
        ask: Asks the person, who can be asked, the question. Returns how panes are to be opened;
            raises `DeclinedError` if the person says no.
        starter: How an orchestrator is started.
        wait_end: Takes a pid. Waits until that process has ended, but only for a short time.
        survivors: Takes the id and the directory of a session that is not live. Returns its agents
            that still run; None if there are none.
    """

    ask: Callable[[ResumeQuestion], LaunchPolicy]
    starter: OrchestratorStart
    wait_end: Callable[[int], object]
    survivors: Callable[[str, Path], Survivors | None]


def resume_with_consent(
    world: World, person: Person, tools: ResumeTools, entry: SessionEntry, command: ResumeCommand
) -> StartedSession:
    """Check everything that could refuse the resume, ask once for consent, then resume.

    Waits until the orchestrator is ready, and then returns the session. Warnings are shown to the
    person as notes.

    Args:
        world: The outside world.
        person: The person who resumes the session.
        tools: The operations on processes that a resume needs, and its question.
        entry: The session.
        command: What the person asks for.

    Raises:
        AgentmuxError: The session cannot be resumed, or the orchestrator did not start.
        DeclinedError: The person did not consent.
    """
    _require_free(world, tools, entry)
    if not entry.is_done:
        world = person.trust(world, used_by(world, entry, repin=command.repin))
    asks = person.is_asked and command.is_watched
    plan = _plan(world, person, entry, command, asks=asks)
    obstacle = plan.obstacle or (None if asks else find_lacking_program(world, plan))
    if obstacle is not None:
        raise obstacle
    told = (*plan.warnings, *missing_programs(plan.panes))
    for warning in told:
        person.note(f"warning: {warning}")
    alive = tools.survivors(plan.state.session_id, plan.path)
    if alive is not None and not (person.is_there or person.has_agreed):
        raise agents_alive(plan.path.name, alive.words)
    steps, policy = tuple(_steps(plan, command, alive)), world.settings.resume.policy
    question = ResumeQuestion(plan=plan, steps=steps, panes=command.panes)
    panes = _ask_consent(person, question, tools.ask if asks and policy is None else None)
    if policy is Policy.CONFIRM and not person.has_agreed:
        panes = replace(panes, stopped=(EVERY,))
    if alive is not None:
        alive.end()
    request = OrchestratorRequest(
        mode="resume", panes=panes, phase=command.phase, rebuild=plan.rebuild
    )
    return replace(resume(world, tools.starter, plan, request), told=told)


def _require_free(world: World, tools: ResumeTools, entry: SessionEntry) -> None:
    """Check that neither this session nor another one is live in its work tree.

    If the session's orchestrator is just ending because its tmux session is gone, wait for it.

    Raises:
        AgentmuxError: A session is live there, or that cannot be determined.
    """
    known = add_resumable(world, (entry,))
    lives = live(world, known)
    own = lives[entry.path]
    if own.live is False and own.locked and own.orchestrator is not None:
        tools.wait_end(own.orchestrator)
        lives = live(world, known)
    block = find_obstacle(world, entry, lives[entry.path])
    block = block or find_tree_obstacle(world, lives, list_possibly_live(lives, known), entry)
    if block is not None:
        raise block


def _plan(
    world: World, person: Person, entry: SessionEntry, command: ResumeCommand, *, asks: bool
) -> ResumePlan:
    """Return the plan of a resume.

    If git keeps work for the folder of a missing worktree, and the person is asked (``asks``), they
    are told, and the plan makes the worktree again anyway.

    Raises:
        AgentmuxError: The session cannot be resumed like this.
    """
    planned = partial(
        plan_resume,
        *(world, world.files(entry.path)),
        fresh=frozenset(command.panes.fresh),
        phase=command.phase,
        repin=command.repin,
    )
    plan = planned(rebuild=command.rebuild)
    require_unfinished(plan)
    require_seats(plan, command.panes)
    if isinstance(plan.obstacle, FolderGoneError) and asks:
        for line in (plan.obstacle.message, *plan.obstacle.hints[:-1]):
            person.note(line)
        return planned(rebuild=Rebuild.ANYWAY)
    return plan


def _steps(
    plan: ResumePlan, command: ResumeCommand, alive: Survivors | None
) -> Iterator[ResumeStep]:
    """Yield what the resume does first, and needs consent for."""
    if plan.rebuild is not command.rebuild:
        kept = "what git keeps for the old folder stays"
        yield ResumeStep(
            f"its worktree is made again from its last checkpoint; {kept}",
            f"Make it again from its last checkpoint ({kept})?",
        )
    if command.phase is not None and command.phase != plan.inference.phase:
        there = f"from {plan.inference.phase} to {command.phase}"
        yield ResumeStep(f"it goes back {there}", f"Go back {there}?")
    if alive is not None:
        yield ResumeStep(
            f"these agents outlived their tmux server, and are ended: {alive.words}",
            f"These agents outlived their tmux server: {alive.words}. End them?",
        )


def _ask_consent(
    person: Person,
    question: ResumeQuestion,
    ask: Callable[[ResumeQuestion], LaunchPolicy] | None,
) -> LaunchPolicy:
    """Return how panes are opened, after the person agreed to the resume.

    If they agreed to this very plan before, only what the plan did not show is asked. Without
    ``ask``, the plan needs no consent.

    Raises:
        UsageError: Nobody can be asked.
        DeclinedError: The person said no.
    """
    panes, steps = question.panes, question.steps
    is_agreed = panes.agreed is not None and all(
        panes.covers(each.work.seat, each.digest) for each in question.plan.panes
    )
    if ask is not None and (steps or not is_agreed):
        return ask(question)
    for step in steps:
        person.agree(step.question)
    return panes


def agents_alive(session: str, words: str) -> BlockedError:
    """Return the error for a resume that may not end agents that are still running.

    Args:
        session: The name of the session.
        words: The agents, in words.
    """
    return BlockedError(
        f"agents of session {session} outlived their tmux server: {words}",
        reason="agents_alive",
        hints=(f"to end them and resume: agentmux resume {session} --yes",),
    )


def add_resumable(world: World, entries: Sequence[SessionEntry]) -> tuple[SessionEntry, ...]:
    """Return all unfinished sessions of the project, and then the other ``entries``.

    Each session is returned once; of the unfinished ones, the one that changed last comes first.
    """
    sessions = {each.path: each for each in (*list_resumable_sessions(world), *entries)}
    return tuple(sessions.values())


def used_by(world: World, entry: SessionEntry, *, repin: bool = False) -> Effect:
    """Return the `Effect` of a resume: what the session's agents would run and be told.

    It is a function that takes a world and returns a value for what happens there. With ``repin``,
    that includes the settings that the session would take.
    """
    if not world.consent.trust.parts():
        return lambda _: None
    state = world.files(entry.path).load().current
    played = played_in(state)
    return (lambda each: (played(each), repinned_by(each, state))) if repin else played


def reattach_with_consent(
    world: World, person: Person, starter: OrchestratorStart, entry: SessionEntry
) -> StartedSession:
    """Start a new orchestrator for the agents of a live session, after asking about trust.

    Waits until it is ready, and then returns the session. ``starter`` is how an orchestrator is
    started.

    Raises:
        AgentmuxError: The session is not live, its tmux session cannot be reached, or the
            orchestrator did not start.
        BlockedError: The session has an orchestrator or is starting; or its directory was moved
            while it ran.
        DeclinedError: The person did not consent.
    """
    liveness = live(world, (entry,))[entry.path]
    if liveness.live is False:
        raise UsageError(
            f"session {entry.name} is not live, so there is nothing to reattach to",
            hints=(f"agentmux resume {entry.name}",),
        )
    if liveness.starter is not None:
        raise starting(entry, liveness.starter)
    target = require_live(entry, liveness)
    if liveness.moved_from is not None:
        raise BlockedError(
            f"session {entry.name} was moved from {liveness.moved_from} while it ran, so its agents"
            " cannot find it",
            reason="session_live",
            hints=(stop_and_resume(entry.name),),
        )
    if liveness.locked:
        raise BlockedError(
            f"session {entry.name} has an orchestrator already: process {liveness.orchestrator}",
            reason="locked",
            hints=(f"agentmux attach {entry.name}",),
        )
    world = person.trust(world, used_by(world, entry))
    state = world.files(entry.path).load().state
    own = world.terminal(target.server.socket).own(target)
    return reattach(world, starter, entry.path, state, own)
