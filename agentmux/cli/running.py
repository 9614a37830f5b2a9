"""The commands that make a session run, go on, and end: start, resume, stop, approve, and kin."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from agentmux.app.driving import Request
from agentmux.app.handing import Begun, Handing, reattach
from agentmux.app.result import Problem, envelope, problem_of, worst
from agentmux.app.resume import blocked, plan_fields, plan_resume, resume
from agentmux.app.sessions import (
    Liveness,
    SessionEntry,
    list_resumable_sessions,
    list_sessions,
    live,
    resolve,
    select_session,
)
from agentmux.app.start import FEATURE_MAX, StartPlan, StartRequest, plan_start, start
from agentmux.errors import AgentmuxError, BlockedError, ExitCode, NotFoundError, UsageError

if TYPE_CHECKING:
    from agentmux.app.world import World


def handing(world: World, config: Path | None) -> Handing:
    """Return how this program starts an orchestrator for a session."""
    from agentmux.adapters.handover import ReadyPipe  # noqa: PLC0415 (not every command)

    def argv(path: Path, request: Request) -> tuple[str, ...]:
        own = (sys.executable, "-m", "agentmux", "_orchestrate")
        more = (str(config),) if config is not None else ()
        return (*own, str(world.project), str(path), request.encode(), *more)

    return Handing(argv=argv, pipe=ReadyPipe)


def read_feature(words: str | None, file: Path | None) -> str:
    """Return the request: the argument, a file (``@path`` or ``--file``), or standard input (-).

    Raises:
        UsageError: None or two were given, or the file cannot be read.
    """
    if (words is None) == (file is None):
        raise UsageError("say what to build: a text, @FILE or --file FILE, and only one of them")
    if words == "-":
        return sys.stdin.read(FEATURE_MAX + 1)
    path = file or (Path(words[1:]) if words is not None and words.startswith("@") else None)
    if path is None:
        return words or ""
    try:
        with path.open("rb") as stream:
            return stream.read(FEATURE_MAX + 1).decode("utf-8", "replace")
    except OSError as error:
        raise UsageError(f"cannot read the feature from {path}: {error.strerror}") from None


def read_roles(values: list[str]) -> dict[str, tuple[str, str | None]]:
    """Return ``ROLE=AGENT[:MODEL]`` words as role to (agent, model).

    Raises:
        UsageError: A word has another form.
    """
    found: dict[str, tuple[str, str | None]] = {}
    for value in values:
        role, equals, rest = value.partition("=")
        agent, _, model = rest.partition(":")
        if not equals or not agent:
            raise UsageError(f"--role wants ROLE=AGENT[:MODEL], not `{value}`")
        found[_long_role(role)] = (agent, model or None)
    return found


def _long_role(role: str) -> str:
    known = {"logic", "quality", "expert"}
    return (
        f"reviewer_{role}" if role in known else role.replace("product_manager", "product-manager")
    )


def start_feature(world: World, config: Path | None, request: StartRequest) -> Begun:
    """Plan and begin a session."""
    return start(world, handing(world, config), plan_of(world, request))


def plan_of(world: World, request: StartRequest) -> StartPlan:
    """Plan a start: checks only."""
    taken = {each.name: each.phase or "" for each in list_sessions(world)}
    return plan_start(world, request, taken)


def start_fields(plan: StartPlan) -> dict[str, object]:
    """Return a planned start for machines."""
    return {
        "session": plan.name,
        "path": plan.state.feature_dir,
        "phase": plan.state.phase.value,
        "tmux_session": plan.state.session_name,
        "branch": plan.branch or plan.state.branch,
        "agents": dict(plan.agents),
        "warnings": list(plan.warnings),
    }


def begun_fields(begun: Begun, world: World) -> dict[str, object]:
    """Return a session that runs, for machines."""
    return {
        "session": begun.name,
        "path": str(begun.path.relative_to(world.project)),
        "phase": begun.phase,
        "tmux_session": begun.tmux_name,
        "tmux_socket": begun.socket,
        "warnings": list(begun.warnings),
    }


# -- resume --------------------------------------------------------------------------------------


def choose(world: World, name: str | None) -> SessionEntry:
    """Return the session of this name, or the only one that can be resumed."""
    if name is not None:
        return resolve(world, name)
    entries = list_resumable_sessions(world)
    if not entries:
        raise NotFoundError("nothing to resume", hints=('agentmux start "FEATURE"',))
    return select_session(entries, command="resume")


def dry_run(
    world: World, entries: tuple[SessionEntry, ...], *, fresh: frozenset[str], phase: str | None
) -> tuple[list[dict[str, object]], list[Problem], ExitCode]:
    """Say for each session what a resume would do; writes nothing.

    Returns:
        The sessions and the problems, and the worst exit code.
    """
    sessions: list[dict[str, object]] = []
    problems: list[Problem] = []
    codes: list[ExitCode] = []
    lives = live(world, entries)
    for entry in entries:
        try:
            if entry.problem is not None:
                raise _as_error(entry.problem)
            plan = plan_resume(world, world.files(entry.path), fresh=fresh, phase=phase)
            block, found = _block(entry, lives[entry.path])
            sessions.append({**plan_fields(plan, world), "blocked": block})
            problems += found
            codes += [each.code for each in found] + ([ExitCode.BLOCKED] if block else [])
        except AgentmuxError as error:
            problems.append(problem_of(entry.name, error))
            codes.append(error.exit_code)
            sessions.append({"session": entry.name, "path": str(entry.path), "phase": None})
    return sessions, problems, worst(codes)


def _as_error(problem: Problem) -> AgentmuxError:
    error = AgentmuxError(problem.message, hints=problem.hints)
    error.exit_code = problem.code
    return error


def _block(
    entry: SessionEntry, liveness: Liveness
) -> tuple[dict[str, object] | None, list[Problem]]:
    try:
        error = blocked(entry, liveness)
    except AgentmuxError as unknown:
        return None, [problem_of(entry.name, unknown)]
    if error is None:
        return None, []
    return {
        "code": int(error.exit_code),
        "reason": error.reason,
        "message": error.message,
        "hints": list(error.hints),
    }, []


def resume_session(
    world: World,
    config: Path | None,
    entry: SessionEntry,
    *,
    fresh: frozenset[str],
    phase: str | None,
) -> Begun:
    """Resume one session: everything that can refuse is checked first."""
    error = blocked(entry, live(world, [entry])[entry.path])
    if error is not None:
        raise error
    plan = plan_resume(world, world.files(entry.path), fresh=fresh, phase=phase)
    request = Request(mode="resume", fresh=tuple(fresh), phase=phase)
    return resume(world, handing(world, config), plan, request)


def reattach_session(world: World, config: Path | None, entry: SessionEntry) -> Begun:
    """Start a new orchestrator over the live panes of a session that has lost its own."""
    liveness = live(world, [entry])[entry.path]
    if liveness.tmux is None:
        raise UsageError(
            f"session {entry.name} is not live, there is nothing to reattach to",
            hints=(f"agentmux resume {entry.name}",),
        )
    if liveness.locked:
        raise BlockedError(
            f"session {entry.name} has an orchestrator: process {liveness.orchestrator}",
            reason="locked",
            hints=(f"agentmux attach {entry.name}",),
        )
    state = world.files(entry.path).load().state
    return reattach(world, handing(world, config), entry.path, state, liveness.tmux.id)


def to_json(sessions: list[dict[str, object]], problems: list[Problem]) -> str:
    """Return the envelope of an answer."""
    return json.dumps(envelope(sessions, problems), indent=2)
