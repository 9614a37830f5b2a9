"""``resume``: resumes a session where it stopped, or shows what a resume would do."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from agentmux.adapters.system.processes import processes
from agentmux.app.commands.look.trust import Effect, played_in, preview_trust
from agentmux.app.commands.resume.orchestrator_request import OrchestratorRequest, Rebuild
from agentmux.app.commands.resume.orchestrator_start import StartedSession, reattach
from agentmux.app.commands.resume.resume import (
    ResumePlan,
    find_obstacle,
    plan_fields,
    plan_lacks,
    plan_resume,
    require_seats,
    require_unfinished,
    resume,
    starting,
)
from agentmux.app.launch.missing_programs import missing_programs
from agentmux.app.result import SessionProblem, envelope, problem_of, worst
from agentmux.app.session.configuration.pinned import repinned_by
from agentmux.app.session.search.lookup import (
    Liveness,
    SessionEntry,
    list_resumable_sessions,
    live,
    shown_path,
)
from agentmux.app.session.workplace.checkout import busy, find_tree_obstacle
from agentmux.app.views.cached_programs import CachedPrograms
from agentmux.app.views.session.plan_lines import resume_plan
from agentmux.cli import render
from agentmux.cli.ask.person import TrustOpt, YesOpt, leave, require_consent, trusted_world
from agentmux.cli.ask.session_argument import (
    as_typed,
    chosen_session,
    resolve_world,
    session_to_reattach,
    unfinished_sessions,
)
from agentmux.cli.commands.look import attachment, orphan_agents
from agentmux.cli.commands.look.sessions import JsonOpt, SessionArg
from agentmux.cli.commands.run.resume_all import ResumeOne, require_for_all, resume_all
from agentmux.cli.commands.run.start import AttachOpt, orchestrator_start, show_begun
from agentmux.core.codec.frozen import dataclass, replace
from agentmux.core.config.settings import policy_of
from agentmux.core.documents.review import seat_named
from agentmux.errors import AgentmuxError, BlockedError, ExitCode, UsageError
from agentmux.ports.git.worktrees import FolderGoneError

if TYPE_CHECKING:
    from pathlib import Path

    from agentmux.adapters.system.processes.processes import Survivor
    from agentmux.app.world import World
    from agentmux.cli.face import Face

_RESUME: Final = "resume SESSION"
_ENDING_S: Final = 10.0
"""How long a resume waits for an orchestrator that saves the work tree after its server's end."""


def resume_session(
    ctx: typer.Context,
    session: SessionArg = None,
    everything: Annotated[
        bool,
        typer.Option("--all", help="Resume every session that is not done, and attach to none."),
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what a resume would do; change nothing.")
    ] = False,
    explain: Annotated[
        bool,
        typer.Option(
            "--explain", help="Show why each phase counts as complete or not; change nothing."
        ),
    ] = False,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Start new conversations in all seats.")
    ] = False,
    fresh_role: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SEAT", help="Start a new conversation in this seat; may be repeated."
        ),
    ] = None,
    phase: Annotated[
        str | None, typer.Option(metavar="PHASE", help="Go back to an earlier phase.")
    ] = None,
    without_checkpoint: Annotated[
        bool,
        typer.Option(
            "--without-checkpoint",
            help="Make a deleted worktree again from its branch alone: lose uncommitted work.",
        ),
    ] = False,
    make_again: Annotated[
        bool,
        typer.Option(
            "--make-again",
            help="Make a worktree that is gone again even if git keeps work for its folder.",
        ),
    ] = False,
    repin: Annotated[
        bool,
        typer.Option(
            "--repin",
            help="Take pipeline, verify, git.setup and copied files as they are configured now.",
        ),
    ] = False,
    reattach: Annotated[
        bool, typer.Option("--reattach", help="Start a new orchestrator for the live panes.")
    ] = False,
    attach: AttachOpt = None,
    yes: YesOpt = False,
    trust: TrustOpt = False,
    json: JsonOpt = False,
) -> int:
    """Resume a session where it stopped."""
    face: Face = ctx.obj
    switches = {
        "--dry-run": dry_run, "--explain": explain, "--fresh": fresh, "--reattach": reattach,
        "--without-checkpoint": without_checkpoint, "--make-again": make_again, "--repin": repin,
        "--attach": attach is True, "--detach": attach is False, "--json": json,
    }  # fmt: skip
    rebuild = _rebuild(without_checkpoint=without_checkpoint, make_again=make_again)
    values = {"--fresh-role": fresh_role or (), "--phase": phase}
    command = as_typed(_RESUME, switches, values)
    world, entry = resolve_world(face, session, command=command, read_only=dry_run or explain)
    if reattach and not everything:
        entry = entry or session_to_reattach(world, face.environ, command=command)
    seats = frozenset([*map(seat_named, fresh_role or ()), *(("*",) if fresh else ())])
    if dry_run or explain:
        every = entry is None and everything
        entries = (
            unfinished_sessions(world, command=_RESUME)
            if every
            else (chosen_session(world, entry, command=command),)
        )
        ends_agents = yes or face.interactive
        known = entries if every else _add_resumable(world, entries)
        return _dry_run(
            *(world, entries, known, seats, phase),
            ends_agents=ends_agents,
            explain=explain,
            json=json,
            rebuild=rebuild,
            repin=repin,
        )
    if everything:
        require_for_all({**switches, "SESSION": entry is not None}, values)
        return resume_all(face, _each(face, seats, yes=yes, trust=trust), yes=yes, json=json)
    if reattach:
        entry = chosen_session(world, entry, command=command)
        socket = entry.text("tmux_socket") or None
        attachment.require_place(face, world.terminal(socket).socket, asked=attach)
        begun = _reattach(face, world, entry, trust=trust)
    else:
        attachment.require_place(face, world.terminal(None).socket, asked=attach)
        picked = _pick_session(face, world, entry, seats, command=command, json=json)
        as_it_is = phase is None and not picked.fresh
        joined = (
            _join_session(face, world, picked, attach=attach, trust=trust) if as_it_is else None
        )
        begun = joined or _resume(
            *(face, world, picked.entry, picked.fresh, phase),
            yes=yes,
            trust=trust,
            rebuild=rebuild,
            repin=repin,
        )
    show_begun(face, world, begun, json=json, attach=attach)
    return 0


def _rebuild(*, without_checkpoint: bool, make_again: bool) -> Rebuild:
    if without_checkpoint:
        return Rebuild.BRANCH_ALONE
    return Rebuild.ANYWAY if make_again else Rebuild.CAREFUL


@dataclass(frozen=True, slots=True, kw_only=True)
class _Picked:
    """The session to resume.

    Attributes:
        entry: The session.
        fresh: The seats that start a new conversation; ``*`` stands for all.
        live: Whether it is live and the command did not name it, so that it is to be attached to.
        left_alone: Whether it has lost its orchestrator and the command did not name it, so that it
            is to be reattached to.
    """

    entry: SessionEntry
    fresh: frozenset[str]
    live: bool = False
    left_alone: bool = False


def _pick_session(
    face: Face,
    world: World,
    entry: SessionEntry | None,
    fresh: frozenset[str],
    *,
    command: str,
    json: bool,
) -> _Picked:
    """Let a person pick the session to resume, unless the command names one.

    Args:
        face: The global options.
        world: The project, with its settings and tools.
        entry: The session that the command names; None: pick one.
        fresh: The seats that start a new conversation; ``*`` stands for all.
        command: The command that hints show, with ``SESSION`` in place of the name.
        json: Whether the answer is JSON; the picker is then not shown.

    Returns:
        The session.

    Raises:
        NotFoundError: No session can be resumed, or there are several and nobody can pick.
        KeyboardInterrupt: The person picked none.
    """
    if entry is not None:
        return _Picked(entry=entry, fresh=fresh)
    from agentmux.cli.picker import screen

    entries = unfinished_sessions(world, command=command)
    world = preview_trust(world, lambda each: each.settings)[0]
    there = face.interactive and screen.can_draw(face.environ) and not json
    choice = screen.select_session(
        world, entries, interactive=there, fresh="*" in fresh, command=command
    )
    if choice is None:
        leave()
    if there and len(entries) == 1:
        lone = live(world, entries)[choice.entry.path]
        choice = replace(choice, live=lone.live is True, left_alone=lone.is_left_alone)
    seats = (fresh - {"*"}) | (frozenset("*") if choice.fresh else frozenset())
    return _Picked(entry=choice.entry, fresh=seats, live=choice.live, left_alone=choice.left_alone)


def _join_session(
    face: Face, world: World, picked: _Picked, *, attach: bool | None, trust: bool
) -> StartedSession | None:
    """Take up a live session that the person picked: reattach to it, or attach; None for others.

    Raises:
        typer.Exit: The session was attached to, and the tmux client has ended.
    """
    if picked.left_alone:
        return _reattach(face, world, picked.entry, trust=trust)
    if picked.live and attach is not False:
        attachment.attach(face, world, picked.entry)
    return None


# -- looking -------------------------------------------------------------------------------------


def _dry_run(
    world: World,
    entries: Sequence[SessionEntry],
    known: Sequence[SessionEntry],
    fresh: frozenset[str],
    phase: str | None,
    *,
    ends_agents: bool,
    explain: bool,
    json: bool,
    rebuild: Rebuild,
    repin: bool,
) -> int:
    sessions: list[dict[str, Any]] = []
    problems: list[SessionProblem] = []
    once = functools.cache(world.git.head_at)  # most sessions are in the same work tree
    programs = CachedPrograms(world.agents.programs)
    world = replace(
        world,
        agents=replace(world.agents, programs=programs),
        git=replace(world.git, head_at=once),
    )
    lives = live(world, known)
    at_work = busy(lives, known)
    resting = [each for each in entries if lives[each.path].live is False]
    free = [each for each in resting if not (each.is_done or lives[each.path].locked)]
    alive = orphan_agents.find_survivors((each.text("session_id"), each.path) for each in free)
    for entry in entries:
        fields, session_problems = _look(
            *(world, entry, lives, at_work, fresh, phase),
            rebuild=rebuild,
            repin=repin,
        )
        theirs = [each for each in alive if each.session == entry.text("session_id")]
        if theirs and fields["phase"] and not fields["blocked"]:
            _foretell(fields, entry, theirs, ends_agents=ends_agents)
        sessions.append(fields)
        problems += session_problems
    codes = [each.code for each in problems]
    codes += [ExitCode.BLOCKED for each in sessions if each.get("blocked")]
    if json:
        render.as_json(envelope(sessions, problems))
    else:
        unread = {each.session for each in problems if each.code == ExitCode.DATA}
        for fields in sessions:
            readable = fields["session"] not in unread
            lines = resume_plan(fields, explain=explain, readable=readable)
            render.out("\n".join(lines))
        render.show_problems(problems)
    return worst(codes)


def _look(
    world: World,
    entry: SessionEntry,
    lives: Mapping[Path, Liveness],
    at_work: tuple[SessionEntry, ...],
    fresh: frozenset[str],
    phase: str | None,
    *,
    rebuild: Rebuild,
    repin: bool,
) -> tuple[dict[str, Any], list[SessionProblem]]:
    """Return what a resume would do with one session, without changing anything.

    Args:
        world: The project, with its settings and tools.
        entry: The session.
        lives: What was found out about the tmux session of each session, by directory.
        at_work: The sessions that are live, or may be, in the project's work tree.
        fresh: The seats that would start a new conversation; ``*`` stands for all.
        phase: The phase to go back to; None: the phase is inferred.
        rebuild: As for `plan_resume`.
        repin: Likewise.

    Returns:
        The session's part of the JSON answer, and the errors, which are not raised.
    """
    liveness = lives[entry.path]
    place = shown_path(entry.path, world.project)
    unread = {"session": entry.name, "path": place, "phase": None, "blocked": None}
    if entry.problem is not None:
        return unread, [entry.problem]
    try:
        world, told = preview_trust(world, _used_by(world, entry, repin=repin))
        plan = plan_resume(
            *(world, world.files(entry.path)),
            fresh=fresh,
            phase=phase,
            rebuild=rebuild,
            repin=repin,
        )
        require_seats(plan, fresh)
    except AgentmuxError as error:
        return unread, [problem_of(entry.name, error)]
    warnings, problems, block = [*told, *plan.warnings], [], None
    try:
        block = find_obstacle(world, entry, liveness) or find_tree_obstacle(
            world, lives, at_work, entry
        )
        block = block or plan.obstacle
    except AgentmuxError as error:
        problems.append(problem_of(entry.name, error))
    if liveness.error is not None and liveness.live is False:
        warnings.append(liveness.error.message)
    fields = {**plan_fields(plan, world), "blocked": _block_fields(block), "warnings": warnings}
    return fields, problems


def _foretell(
    fields: dict[str, Any], entry: SessionEntry, alive: Sequence[Survivor], *, ends_agents: bool
) -> None:
    """Add to a session's part of the answer that some of its agents outlived their tmux server.

    Args:
        fields: The part of the answer; it gets a warning or is marked as blocked.
        entry: The session.
        alive: The agents.
        ends_agents: Whether a resume may end the agents; if not, they block it.
    """
    error = orphan_agents.agents_alive(entry.name, alive)
    if ends_agents:
        fields.setdefault("warnings", []).append(f"{error.message}; a resume ends them")
    else:
        fields["blocked"] = _block_fields(error)


def _block_fields(block: BlockedError | None) -> dict[str, object] | None:
    if block is None:
        return None
    return {
        "code": int(block.exit_code),
        "reason": block.reason,
        "message": block.message,
        "hints": list(block.hints),
    }


# -- doing ---------------------------------------------------------------------------------------


def _resume(
    face: Face,
    world: World,
    entry: SessionEntry,
    fresh: frozenset[str],
    phase: str | None,
    *,
    yes: bool,
    trust: bool,
    rebuild: Rebuild,
    repin: bool,
    is_watched: bool = True,
) -> StartedSession:
    """Check everything that could refuse the resume, ask where consent is needed, then resume.

    Args:
        face: The global options.
        world: The project, with its settings and tools.
        entry: The session.
        fresh: The seats that start a new conversation; ``*`` stands for all.
        phase: The phase to go back to; None: the phase is inferred.
        yes: Agree to everything without being asked.
        trust: Trust the project's files without being asked.
        rebuild: As for `plan_resume`.
        repin: Likewise.
        is_watched: Whether a person may watch the panes, so that these may ask first.

    Returns:
        The started session.

    Raises:
        AgentmuxError: The session cannot be resumed, or the orchestrator did not start.
        DeclinedError: The person did not consent.
    """
    known = _add_resumable(world, (entry,))
    lives = live(world, known)
    if _is_ending(lives[entry.path]):
        processes.left_after([(lives[entry.path].orchestrator or 0, 0)], wait_s=_ENDING_S)
        lives = live(world, known)
    block = find_obstacle(world, entry, lives[entry.path])
    block = block or find_tree_obstacle(world, lives, busy(lives, known), entry)
    if block is not None:
        raise block
    if not entry.is_done:
        world = trusted_world(face, world, _used_by(world, entry, repin=repin), trust=trust)
    is_asked = face.interactive and is_watched
    planned = functools.partial(
        plan_resume,
        *(world, world.files(entry.path)),
        fresh=fresh,
        phase=phase,
        repin=repin,
    )
    plan = _agree_on_plan(face, planned, fresh, rebuild=rebuild, asks=is_asked and not yes)
    obstacle = plan.obstacle or (plan_lacks(world, plan) if yes or not is_asked else None)
    if obstacle is not None:
        raise obstacle
    told = (*plan.warnings, *missing_programs(plan.panes))
    for warning in told:
        render.note(f"warning: {warning}")
    if phase is not None and phase != plan.inference.phase:
        require_consent(face, f"Go back from {plan.inference.phase} to {phase}?", yes=yes)
    _end_survivors(face, plan, yes=yes)
    policy = policy_of(world.settings.resume.policy, asked=is_asked, yes=yes)
    request = OrchestratorRequest(
        mode="resume",
        fresh=tuple(sorted(fresh)),
        phase=phase,
        policy=policy.value,
        rebuild=plan.rebuild,
    )
    begun = resume(world, orchestrator_start(world, face.config), plan, request)
    return replace(begun, told=told)


def _agree_on_plan(
    face: Face,
    planned: Callable[..., ResumePlan],
    fresh: frozenset[str],
    *,
    rebuild: Rebuild,
    asks: bool,
) -> ResumePlan:
    """Return the plan of a resume, after asking whether a worktree that is gone is made again.

    Args:
        face: Asks the person.
        planned: Returns the plan; it is given ``rebuild``, as for `plan_resume`.
        fresh: The seats that start a new conversation.
        rebuild: As for `plan_resume`.
        asks: Whether a person can be asked.

    Raises:
        AgentmuxError: Something is against it.
        DeclinedError: The person said no.
    """
    plan = planned(rebuild=rebuild)
    require_unfinished(plan)
    require_seats(plan, fresh)
    if isinstance(plan.obstacle, FolderGoneError) and asks:
        _leave_folder(face, plan.obstacle)
        plan = planned(rebuild=Rebuild.ANYWAY)
    return plan


def _leave_folder(face: Face, error: FolderGoneError) -> None:
    """Ask whether a worktree is made again although git keeps work for its folder.

    Raises:
        DeclinedError: The person said no.
    """
    render.note(error.message)
    for hint in error.hints[:-1]:
        render.note(hint)
    stays = "what git keeps for the old folder stays"
    require_consent(face, f"Make it again from its last checkpoint ({stays})?", yes=False)


def _each(face: Face, fresh: frozenset[str], *, yes: bool, trust: bool) -> ResumeOne:
    """Return how ``--all`` resumes each of its sessions."""

    def one(entry: SessionEntry) -> StartedSession:
        world = face.world()  # with what was trusted for an earlier session
        return _resume(
            *(face, world, entry, fresh, None),
            yes=yes,
            trust=trust,
            rebuild=Rebuild.CAREFUL,
            repin=False,
            is_watched=False,
        )

    return one


def _add_resumable(world: World, entries: Sequence[SessionEntry]) -> tuple[SessionEntry, ...]:
    """Return the given sessions and all others of the project that are not done, each one once."""
    sessions = {each.path: each for each in (*list_resumable_sessions(world), *entries)}
    return tuple(sessions.values())


def _is_ending(found: Liveness) -> bool:
    """Whether the orchestrator still runs, but ends by itself, since its tmux session is gone."""
    return found.live is False and found.locked and found.orchestrator is not None


def _end_survivors(face: Face, plan: ResumePlan, *, yes: bool) -> None:
    """End agents that outlived their tmux server, after asking the person.

    Args:
        face: Tells whether a person can be asked.
        plan: The plan of the resume, which names the session.
        yes: End them without asking.

    Raises:
        BlockedError: Agents are alive and nobody can be asked.
        DeclinedError: The person said no.
    """
    alive = orphan_agents.find_survivors([(plan.state.session_id, plan.path)])
    if not alive:
        return
    if not yes and not face.interactive:
        raise orphan_agents.agents_alive(plan.path.name, alive)
    words = orphan_agents.describe_survivors(alive)
    question = f"These agents outlived their tmux server: {words}. End them?"
    require_consent(face, question, yes=yes)
    orphan_agents.end(alive)


def _used_by(world: World, entry: SessionEntry, *, repin: bool = False) -> Effect:
    """Return a function that tells what the session's agents would run and be told in a `World`.

    If the results for two worlds are equal, a resume does the same in both. With ``repin`` it also
    tells which settings the session would take.
    """
    if not world.consent.trust.parts():
        return lambda _: None
    state = world.files(entry.path).load().current
    played = played_in(state)
    if not repin:
        return played
    return lambda each: (played(each), repinned_by(each, state))


def _reattach(face: Face, world: World, entry: SessionEntry, *, trust: bool) -> StartedSession:
    liveness = live(world, (entry,))[entry.path]
    if liveness.live is False:
        raise UsageError(
            f"session {entry.name} is not live, so there is nothing to reattach to",
            hints=(f"agentmux resume {entry.name}",),
        )
    if liveness.starter is not None:
        raise starting(entry, liveness.starter)
    target = attachment.require_live(entry, liveness)
    if liveness.moved_from is not None:
        raise BlockedError(
            f"session {entry.name} was moved from {liveness.moved_from} while it ran, so its agents"
            " cannot find it",
            reason="session_live",
            hints=(f"agentmux stop {entry.name}", f"then: agentmux resume {entry.name}"),
        )
    if liveness.locked:
        raise BlockedError(
            f"session {entry.name} has an orchestrator already: process {liveness.orchestrator}",
            reason="locked",
            hints=(f"agentmux attach {entry.name}",),
        )
    world = trusted_world(face, world, _used_by(world, entry), trust=trust)
    state = world.files(entry.path).load().state
    own = world.terminal(target.server.socket).own(target)
    return reattach(world, orchestrator_start(world, face.config), entry.path, state, own)
