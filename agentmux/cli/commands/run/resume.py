"""``resume``: resumes a session where it stopped, or shows what a resume would do."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from agentmux.adapters.disk.files import read_limited
from agentmux.adapters.system.processes import processes
from agentmux.app.commands.look.trust import preview_trust
from agentmux.app.commands.resume.orchestrator_request import Rebuild
from agentmux.app.commands.resume.orchestrator_start import StartedSession
from agentmux.app.commands.resume.resume import (
    find_obstacle,
    plan_fields,
    plan_resume,
    require_seats,
)
from agentmux.app.commands.resume.resume_consent import (
    ResumeCommand,
    ResumeTools,
    add_resumable,
    agents_alive,
    reattach_with_consent,
    resume_with_consent,
    used_by,
)
from agentmux.app.result import SessionProblem, envelope, problem_of, worst
from agentmux.app.session.search.lookup import (
    Liveness,
    SessionEntry,
    live,
    shown_path,
)
from agentmux.app.session.workplace.checkout import find_tree_obstacle, list_possibly_live
from agentmux.app.views.cached_programs import CachedPrograms
from agentmux.app.views.explanation import lines_at_work
from agentmux.app.views.outlook import outlook
from agentmux.app.views.session.plan_lines import resume_plan
from agentmux.cli import render
from agentmux.cli.ask.person import TrustOpt, YesOpt, person_at
from agentmux.cli.ask.session_argument import (
    chosen_session,
    resolve_world,
    session_to_reattach,
    typed_command,
    unfinished_sessions,
)
from agentmux.cli.ask.shared_options import JsonOpt, SessionArg
from agentmux.cli.commands.look import attachment, orphan_agents
from agentmux.cli.commands.run.resume_all import AskAll, ResumeOne, require_for_all, resume_all
from agentmux.cli.commands.run.resume_question import ask_about, ask_resume
from agentmux.cli.commands.run.start import AttachOpt, orchestrator_start, show_begun
from agentmux.cli.picker import screen
from agentmux.core.codec.frozen import replace
from agentmux.core.conversation.launch_policy import EVERY, LaunchPolicy, read_agreed
from agentmux.core.documents.review import seat_named
from agentmux.errors import AgentmuxError, BlockedError, DeclinedError, ExitCode

if TYPE_CHECKING:
    from pathlib import Path

    from agentmux.adapters.system.processes.processes import Survivor
    from agentmux.app.person import Person
    from agentmux.app.views.outlook import Outlook
    from agentmux.app.world import World
    from agentmux.cli.invocation import Invocation
    from agentmux.cli.picker.screen import PickedSession

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
    shell_role: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SEAT",
            help="Open a shell for you in this seat, instead of its agent; may be repeated.",
        ),
    ] = None,
    stopped_role: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SEAT",
            help="Leave this seat stopped: its pane waits for your choice; may be repeated.",
        ),
    ] = None,
    agreed: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SEAT=DIGEST",
            help="Start this seat only as a dry run showed it, else leave it stopped; may be "
            "repeated.",
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
    invocation: Invocation = ctx.obj
    switches = {
        "--dry-run": dry_run, "--explain": explain, "--fresh": fresh, "--reattach": reattach,
        "--without-checkpoint": without_checkpoint, "--make-again": make_again, "--repin": repin,
        "--attach": attach is True, "--detach": attach is False, "--json": json,
    }  # fmt: skip
    seats = {
        "--fresh-role": fresh_role or (), "--shell-role": shell_role or (),
        "--stopped-role": stopped_role or (), "--agreed": agreed or (),
    }  # fmt: skip
    values = {**seats, "--phase": phase}
    command = typed_command(invocation, session, _RESUME)
    world, entry = resolve_world(invocation, session, command=command, read_only=dry_run or explain)
    if reattach and not everything:
        entry = entry or session_to_reattach(world, invocation.environ, command=command)
    careful = Rebuild.ANYWAY if make_again else Rebuild.CAREFUL
    request = ResumeCommand(
        panes=_read_policy(seats, fresh=fresh),
        phase=phase,
        rebuild=Rebuild.BRANCH_ALONE if without_checkpoint else careful,
        repin=repin,
    )
    person = person_at(invocation, yes=yes, trust=trust)
    if dry_run or explain:
        every = entry is None and everything
        entries = (
            unfinished_sessions(world, command=_RESUME)
            if every
            else (chosen_session(world, entry, command=command),)
        )
        known = entries if every else add_resumable(world, entries)
        ends_agents = person.is_there or person.has_agreed
        return _dry_run(
            *(world, entries, known, request), ends_agents=ends_agents, explain=explain, json=json
        )
    if everything:
        require_for_all({**switches, "SESSION": entry is not None}, values)
        return resume_all(
            invocation,
            _each(invocation, person, request.panes),
            _asks(invocation, person, fresh=fresh),
            yes=yes,
            json=json,
        )
    if reattach:
        entry = chosen_session(world, entry, command=command)
        socket = entry.text("tmux_socket") or None
        attachment.require_place(invocation, world.terminal(socket).socket, asked=attach)
        begun = reattach_with_consent(world, person, _tools(invocation, world).starter, entry)
    else:
        attachment.require_place(invocation, world.terminal(None).socket, asked=attach)
        begun = _resume(
            *(invocation, world, person, entry, request),
            picks=functools.partial(
                _pick_session, invocation, world, fresh=fresh, command=command, json=json
            ),
            attaches=attach is not False,
        )
    show_begun(invocation, world, begun, json=json, attach=attach)
    return 0


def _resume(
    invocation: Invocation,
    world: World,
    person: Person,
    entry: SessionEntry | None,
    request: ResumeCommand,
    *,
    picks: Callable[[], PickedSession],
    attaches: bool,
) -> StartedSession:
    """Resume the session that the command names, or the one that a person picks.

    One that they pick although it is live is joined instead: its panes get a new orchestrator if
    theirs has ended, else it is attached to, if ``attaches``.

    Raises:
        typer.Exit: The session was attached to, and the tmux client has ended.
    """
    if entry is None:
        picked = picks()
        entry, every = picked.entry, (EVERY,) if picked.fresh else ()
        if picked.panes is not None and not _names_seats(request.panes):
            request = replace(request, panes=picked.panes)
        else:
            seats = tuple(each for each in request.panes.fresh if each != EVERY)
            request = replace(request, panes=replace(request.panes, fresh=(*seats, *every)))
        if request.phase is None and not request.panes.fresh:
            if picked.left_alone:
                return reattach_with_consent(
                    world, person, _tools(invocation, world).starter, entry
                )
            if picked.live and attaches:
                attachment.attach(invocation, world, entry)
    return resume_with_consent(world, person, _tools(invocation, world), entry, request)


def _read_policy(seats: Mapping[str, Sequence[str]], *, fresh: bool) -> LaunchPolicy:
    """Return how the options say that panes are opened.

    Args:
        seats: The values of each option that names seats.
        fresh: Whether all seats start new conversations.

    Raises:
        UsageError: A value of ``--agreed`` is not valid.
    """
    named = {name: tuple(map(seat_named, each)) for name, each in seats.items()}
    return LaunchPolicy(
        fresh=(*named["--fresh-role"], *((EVERY,) if fresh else ())),
        shell=named["--shell-role"],
        stopped=named["--stopped-role"],
        agreed=read_agreed(seats["--agreed"]) if seats["--agreed"] else None,
    )


def _names_seats(panes: LaunchPolicy) -> bool:
    """Whether an option of the command is about a single seat."""
    return bool({*panes.fresh, *panes.shell, *panes.stopped} - {EVERY}) or panes.agreed is not None


def _pick_session(
    invocation: Invocation, world: World, *, fresh: bool, command: str, json: bool
) -> PickedSession:
    """Let a person pick the session to resume.

    Args:
        invocation: The global options.
        world: The project, with its settings and tools.
        fresh: Whether all seats are to start a new conversation.
        command: The command that hints show, with ``SESSION`` in place of the name.
        json: Whether the answer is JSON; the picker is then not shown.

    Raises:
        NotFoundError: No session can be resumed, or there are several and nobody can pick.
        KeyboardInterrupt: The person picked none.
    """
    entries = unfinished_sessions(world, command=command)
    world = preview_trust(world, lambda each: each.settings)[0]
    there = invocation.interactive and screen.can_draw(invocation.environ) and not json
    choice = screen.select_session(world, entries, interactive=there, fresh=fresh, command=command)
    if choice is None:
        raise DeclinedError
    if there and len(entries) == 1:
        lone = live(world, entries)[choice.entry.path]
        choice = replace(choice, live=lone.live is True, left_alone=lone.is_left_alone)
    return choice


# -- looking -------------------------------------------------------------------------------------


def _dry_run(
    world: World,
    entries: Sequence[SessionEntry],
    known: Sequence[SessionEntry],
    request: ResumeCommand,
    *,
    ends_agents: bool,
    explain: bool,
    json: bool,
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
    at_work = list_possibly_live(lives, known)
    resting = [each for each in entries if lives[each.path].live is False]
    free = [each for each in resting if not (each.is_done or lives[each.path].locked)]
    alive = orphan_agents.find_survivors((each.text("session_id"), each.path) for each in free)
    for entry in entries:
        fields, session_problems = _look(world, entry, lives, at_work, request)
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
        for entry, fields in zip(entries, sessions, strict=True):
            readable = entry.name not in unread
            says = lines_at_work(world, entry, lives[entry.path]) if explain and readable else ()
            lines = resume_plan(fields, explain=explain, readable=readable, at_work=says)
            render.out("\n".join(lines))
        render.show_problems(problems)
    return worst(codes)


def _look(
    world: World,
    entry: SessionEntry,
    lives: Mapping[Path, Liveness],
    at_work: tuple[SessionEntry, ...],
    request: ResumeCommand,
) -> tuple[dict[str, Any], list[SessionProblem]]:
    """Return what a resume would do with one session, without changing anything.

    Args:
        world: The project, with its settings and tools.
        entry: The session.
        lives: What was found out about the tmux session of each session, by directory.
        at_work: The sessions that are live, or may be, in the project's work tree.
        request: What the user says of the resume.

    Returns:
        The session's part of the JSON answer, and the errors, which are not raised.
    """
    liveness = lives[entry.path]
    place = shown_path(entry.path, world.project)
    unread = {"session": entry.name, "path": place, "phase": None, "blocked": None}
    if entry.problem is not None:
        return unread, [entry.problem]
    try:
        world, told = preview_trust(world, used_by(world, entry, repin=request.repin))
        plan = plan_resume(
            *(world, world.files(entry.path)),
            fresh=frozenset(request.panes.fresh),
            phase=request.phase,
            rebuild=request.rebuild,
            repin=request.repin,
        )
        require_seats(plan, request.panes)
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
    if ends_agents:
        fields.setdefault("warnings", []).append(_ended_first(entry, alive))
    else:
        words = orphan_agents.describe_survivors(alive)
        fields["blocked"] = _block_fields(agents_alive(entry.name, words))


def _ended_first(entry: SessionEntry, alive: Sequence[Survivor]) -> str:
    error = agents_alive(entry.name, orphan_agents.describe_survivors(alive))
    return f"{error.message}; a resume ends them"


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


def _each(invocation: Invocation, person: Person, panes: LaunchPolicy) -> ResumeOne:
    """Return how ``--all`` resumes each of its sessions.

    A session that the person was not asked about gets ``panes``. The person's yes to all of them
    covers what else each resume would do first.
    """
    person = replace(person, consents=lambda _: True)

    def one(entry: SessionEntry, agreed: LaunchPolicy | None) -> StartedSession:
        world = invocation.world()  # with what was trusted for an earlier session
        if live(world, (entry,))[entry.path].is_left_alone:
            return reattach_with_consent(world, person, _tools(invocation, world).starter, entry)
        request = ResumeCommand(panes=agreed or panes, is_watched=False)
        return resume_with_consent(world, person, _tools(invocation, world), entry, request)

    return one


def _asks(invocation: Invocation, person: Person, *, fresh: bool) -> AskAll:
    """Return how ``--all`` asks about its sessions; trust is asked first."""

    def ask(world: World, entries: Sequence[SessionEntry]) -> Mapping[str, LaunchPolicy]:
        for entry in entries:
            if entry.problem is None:
                world = person.trust(world, used_by(world, entry))
        lives = live(world, entries)
        entries = [each for each in entries if not lives[each.path].is_left_alone]
        if not entries:
            return {}  # a new orchestrator for panes that are there is no question
        ids = ((each.text("session_id"), each.path) for each in entries)
        alive = orphan_agents.find_survivors(ids)
        known = {each.name: each for each in entries}

        def look(name: str) -> Outlook:
            entry = known[name]
            seen = outlook(world, entry, lives[entry.path], read_limited, is_attended=False)
            theirs = [each for each in alive if each.session == entry.text("session_id")]
            if theirs and not seen.refused:
                return replace(seen, warnings=(_ended_first(entry, theirs), *seen.warnings))
            return seen

        return ask_about(
            invocation, world, screen.ShownPlans(entries=entries, look=look, fresh=fresh)
        )

    return ask


def _tools(invocation: Invocation, world: World) -> ResumeTools:
    return ResumeTools(
        ask=functools.partial(ask_resume, invocation, world),
        starter=orchestrator_start(world, invocation.config),
        wait_end=lambda pid: processes.left_after([(pid, 0)], wait_s=_ENDING_S),
        survivors=orphan_agents.survivors_of,
    )
