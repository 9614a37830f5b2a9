"""Plans the resume of a session without changing anything, and carries it out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from agentmux.app.commands.resume.orchestrator_request import (
    OrchestratorRequest,
    Rebuild,
    SessionDoneError,
)
from agentmux.app.commands.resume.orchestrator_start import (
    OrchestratorStart,
    StartedSession,
    hand_over,
)
from agentmux.app.launch.launcher import Launcher
from agentmux.app.launch.missing_programs import LackingProgramError, lacking_programs
from agentmux.app.launch.stopped_pane import unrecorded_choices
from agentmux.app.session.check_record import adoptable
from agentmux.app.session.configuration.frozen_files import require_frozen
from agentmux.app.session.configuration.pinned import (
    changed_settings,
    pipeline_repin,
    repin,
    steps_ahead,
)
from agentmux.app.session.configuration.tracked_session import require_own
from agentmux.app.session.implied_state import apply_fact, settled_state
from agentmux.app.session.search.lookup import (
    Liveness,
    SessionEntry,
    copy_blocked,
    describe_stranger,
    entry_at,
    find_twin,
    network_warnings,
    shown_path,
    stranger_hints,
)
from agentmux.app.session.search.moved import require_here
from agentmux.app.session.workplace.branch_mismatch import branch_left
from agentmux.app.session.workplace.checkout import require_free, trial_in_the_way
from agentmux.app.session.workplace.own_worktree import (
    find_remake_obstacle,
    locate_worktree,
    relocation,
    with_workplace,
    without_checkpoints,
    worktree_news,
)
from agentmux.app.session.workplace.unfinished_rewind import rewound_fact
from agentmux.app.session.writer import Session, resumed_values, stamp
from agentmux.app.world import Site, World
from agentmux.core.codec.frozen import dataclass, replace
from agentmux.core.conversation.launch_policy import EVERY, LaunchPolicy
from agentmux.core.conversation.resume_choice import Fresh
from agentmux.core.decisions.inference import Inference, chosen_phase, infer
from agentmux.core.decisions.tree_checkpoints import interrupted_label
from agentmux.core.definitions.definition import definition_from
from agentmux.core.fold.apply import advance
from agentmux.core.fold.implied import derive_files, overlay
from agentmux.core.fold.implied_file import Implied
from agentmux.core.fold.repinned import with_pipeline
from agentmux.core.journal.events import Event, Resumed
from agentmux.core.journal.state import SessionState
from agentmux.core.launch.plan import LaunchPlan
from agentmux.core.names.phase import Phase
from agentmux.core.names.words.nearest import suggest_name
from agentmux.core.pipeline.artifacts import Artifacts
from agentmux.core.pipeline.check_phase import commands_ahead
from agentmux.core.pipeline.work import agents_work
from agentmux.errors import AgentmuxError, BlockedError, NotFoundError
from agentmux.ports.processes import LOCK_WAIT_S
from agentmux.ports.session.session_files import SessionFiles
from agentmux.ports.tmux.terminal import TerminalUnreachableError

_NO_COMMIT: Final = (
    "this session makes no commit: it has an older format, or was not started in a git repository; "
    "its changes stay in the working tree"
)

_TRY_AGAIN: Final = "check the tmux server, then try again"


@dataclass(frozen=True, slots=True, kw_only=True)
class ResumePlan:
    """What a resume would do with one session.

    Attributes:
        path: The session's directory.
        tree: The directory in which the agents work.
        phase: The phase in which work goes on.
        entered: The inferred phase, or an earlier one that the user asked for. If the artifacts
            already show its outcome, the resume records that, and work goes on in the next phase.
        state: The saved state with every unapplied event applied to it.
        state_phase: The phase in the saved state; None if that cannot be read.
        source: Where the state was read, such as ``state.json``.
        inference: The phase that state and artifacts show, and the evidence.
        resumed: The state in which agents would be launched.
        unapplied: How many events of the journal were not yet in the saved state.
        panes: The planned launch of each seat that the phase needs now.
        warnings: What the user should know, one sentence each.
        obstacle: Why the session's worktree cannot be made again; None if it can be, or exists.
        news: What happens to a missing worktree, in words; empty if none is missing.
        changed: Names of the settings whose present values are not those that the session keeps.
        repin: Whether the session takes the present values of these settings.
        rebuild: How a missing worktree is made again.
        setup: The names of the steps that prepare the worktree before agents start.
    """

    path: Path
    tree: Path
    phase: str
    entered: str
    state: SessionState
    state_phase: str | None
    source: str
    inference: Inference
    resumed: SessionState
    unapplied: int
    panes: tuple[LaunchPlan, ...]
    warnings: tuple[str, ...]
    obstacle: BlockedError | None = None
    news: str = ""
    changed: tuple[str, ...] = ()
    repin: bool = False
    rebuild: Rebuild = Rebuild.CAREFUL
    setup: tuple[str, ...] = ()

    @property
    def because(self) -> str:
        """Why work goes on in `phase`, and what is missing there, in words.

        Nothing is said about the phase itself if it is the one in which the session stopped.
        """
        inference, because = self.inference, self.inference.because
        if self.entered != inference.phase:
            because = f"chosen by --phase; otherwise it would be {inference.phase}: {because}"
        if self.entered != self.phase:
            because += f"; the artifacts show the outcome of {self.entered} already"
        last = inference.evidence[-1]
        shows = last.because if last.phase == inference.phase else f"{last.phase}: {last.because}"
        return shows if self.phase == self.state_phase == inference.phase else f"{because}; {shows}"


def plan_resume(
    world: World,
    files: SessionFiles,
    *,
    fresh: frozenset[str] = frozenset(),
    phase: str | None = None,
    rebuild: Rebuild = Rebuild.CAREFUL,
    repin: bool = False,
) -> ResumePlan:
    """Return what a resume of the session at ``files`` would do; reads only.

    Args:
        world: The outside world.
        files: The session's directory.
        fresh: The seats that would start a new conversation; ``*`` stands for all seats.
        phase: An earlier phase to go back to; None resumes in the inferred phase.
        rebuild: How a missing worktree is made again.
        repin: Whether the session takes the settings that have changed.

    Raises:
        DataError: The session cannot be read.
        BlockedError: The session was moved elsewhere.
        ConfigError: The session came with the repository, and has commands or prompts.
        UsageError: ``phase`` is not a phase of the session, or is a later one.
    """
    loaded = files.load()
    state, added = _fold_tail(loaded.state, loaded.tail)
    require_here(state, files.path.name)
    require_own(world, state, files.path)
    recorded, state = state, locate_worktree(world, state, files.path)
    world = with_workplace(world, state)
    added = (*loaded.implied_files, *added)
    changed = changed_settings(world, state, files) if state.phase != Phase.DONE else ()
    state, texts = _pin_pipeline(world, files, state, repin=repin and bool(changed))
    state, more = _apply_first_facts(world, files, state)
    added = (*added, *more)
    artifacts = overlay(files.artifacts(state), added, state)
    inference = infer(state, artifacts, state_is_known=loaded.known, pending=len(loaded.tail))
    entered, resumed = inference.phase, state
    panes: tuple[LaunchPlan, ...] = ()
    if inference.phase != Phase.DONE:
        entered = chosen_phase(phase, state, inference) if phase is not None else inference.phase
        resumed, more = _simulate_resume(world, state, artifacts, inference, entered)
        added = (*added, *more)
        if more or resumed.pending_archive != state.pending_archive:
            artifacts = overlay(files.artifacts(resumed), added, resumed)
        launcher = Launcher(world, files, resumed, fresh=fresh, ahead=texts)
        panes = tuple(launcher.plan(work, artifacts) for work in agents_work(resumed))
    given = without_checkpoints(state) if rebuild == Rebuild.BRANCH_ALONE else state
    plan = ResumePlan(
        path=files.path,
        tree=world.tree,
        phase=resumed.phase if inference.phase != Phase.DONE else Phase.DONE,
        entered=entered,
        state=state,
        state_phase=loaded.state.phase if loaded.known else None,
        source=loaded.source,
        inference=inference,
        resumed=resumed,
        unapplied=len(loaded.tail),
        panes=panes,
        warnings=loaded.warnings,
        obstacle=_obstacle(world, given, files.path, rebuild),
        news=worktree_news(world, given, files.path),
        changed=changed,
        repin=repin,
        rebuild=rebuild,
    )
    ahead = steps_ahead(world, state, files, takes=repin and bool(changed), anew=bool(plan.news))
    plan = replace(plan, setup=ahead if plan.phase != Phase.DONE else ())
    told = (*loaded.warnings, *(message for message, holds in _first_news(recorded, plan) if holds))
    return replace(plan, warnings=(*told, *_warnings(world, plan, artifacts)))


def _obstacle(
    world: World, state: SessionState, path: Path, rebuild: Rebuild
) -> BlockedError | None:
    """Return why the session at ``path`` cannot work in its place; None if it can, or is done."""
    if state.phase == Phase.DONE:
        return None
    trial = trial_in_the_way(world) if not state.worktree else None
    return trial or find_remake_obstacle(
        world, state, path, leaves_folder=rebuild != Rebuild.CAREFUL
    )


def _first_news(recorded: SessionState, plan: ResumePlan) -> Iterator[tuple[str, bool]]:
    """Yield sentences about what a resume does first, each with whether it applies."""
    moved = f"the repository was moved: the session goes on in {plan.state.worktree}"
    if recorded.rewind is not None:
        yield interrupted_label(recorded.rewind.before), True
    yield moved, relocation(recorded, plan.state) is not None


def _pin_pipeline(
    world: World, files: SessionFiles, state: SessionState, *, repin: bool
) -> tuple[SessionState, Mapping[str, str]]:
    """Return the state with the pipeline that the session will have after a resume (see `pinned`).

    Also returns the files that a repin will write: content by path in the session.

    Raises:
        DataError: A file of the kept pipeline differs from what the session froze.
        AgentmuxError: The current pipeline no longer exists, or cannot be used.
    """
    taken = pipeline_repin(world, state, files) if repin else None
    if taken is not None:
        fact, texts = taken
        pipeline = definition_from(fact.pipeline, "the present pipeline")
        return with_pipeline(state, pipeline, fact.pipeline_files, fact.verify), texts
    if state.phase != Phase.DONE:
        require_frozen(files, state)
    return state, {}


def _warnings(world: World, plan: ResumePlan, artifacts: Artifacts) -> Iterator[str]:
    yield from network_warnings(world)
    inference, problems = plan.inference, artifacts.problems
    if inference.disagreement:
        yield inference.disagreement
    open_ = (path for path in inference.evidence[-1].paths if path in problems)
    yield from (f"{path} is {problems[path]}" for path in open_)
    for pane in plan.panes:
        if isinstance(pane.choice, Fresh) and pane.choice.warns:
            yield f"{pane.work.seat} starts a new conversation: {pane.choice.reason}"
    if plan.entered != inference.phase:
        yield (
            f"--phase goes back from {inference.phase} to {plan.entered}: first the artifacts of "
            f"{plan.entered} and of every later phase are moved to history"
        )
    if plan.state.approval and not plan.resumed.approval:
        yield "your recorded approval is withdrawn"
    if plan.news and plan.phase != Phase.DONE:
        yield plan.news
    yield from _settings_news(plan)
    yield from _branch_news(world, plan)
    if _lacks_commit(world, plan.state):
        yield _NO_COMMIT


def _settings_news(plan: ResumePlan) -> Iterator[str]:
    if plan.repin and not plan.changed:
        yield "--repin: the settings are those that the session has"
    if not plan.changed:
        return
    names = " and ".join(plan.changed)
    have = "has" if len(plan.changed) == 1 else "have"
    ends = (
        "the session takes the change"
        if plan.repin
        else f"it stays as it was; to take the change: agentmux resume {plan.path.name} --repin"
    )
    yield f"{names} {have} changed since the session began: {ends}"


def _branch_news(world: World, plan: ResumePlan) -> Iterator[str]:
    """Yield a sentence if another branch is checked out; ``world`` is that of the workplace."""
    if plan.phase == Phase.DONE or plan.news or plan.obstacle is not None:
        return
    with suppress(AgentmuxError, OSError):
        mismatch = branch_left(world, plan.state)
        if mismatch:
            yield mismatch


def _lacks_commit(world: World, state: SessionState) -> bool:
    """Whether the session makes no commit although git and the configuration would allow it."""
    expected = world.settings.completion.commit and not state.is_report
    if state.options.commit or not expected or state.phase == Phase.DONE:
        return False
    with suppress(AgentmuxError, OSError):  # without git nobody expects a commit
        return world.repository.top_level() is not None
    return False


def _fold_tail(
    state: SessionState, tail: tuple[tuple[Event, int], ...]
) -> tuple[SessionState, tuple[Implied, ...]]:
    """Apply events, each with the offset of its end, to ``state``.

    Returns:
        The new state, and the files that the session must have after these events.
    """
    added: list[Implied] = []
    for event, offset in tail:
        after = advance(state, event, offset)
        added += derive_files(state, event, after)
        state = after
    return state, tuple(added)


def _simulate_resume(
    world: World,
    state: SessionState,
    artifacts: Artifacts,
    inference: Inference,
    chosen: str,
) -> tuple[SessionState, tuple[Implied, ...]]:
    """Return the state in which agents would be launched, and the files it needs; write nothing.

    The orchestrator will reach the same state, and write these files into the session. ``chosen``
    is the phase to enter.
    """
    fact = Resumed(
        phase=chosen,
        cycle=state.cycle,
        found=resumed_values(state, artifacts, chosen),
        override=chosen != inference.phase,
    )
    resumed, added = apply_fact(world, state, fact)
    if resumed.pending_archive:
        return resumed, added  # the artifacts are moved first, so they settle nothing
    entered, more = settled_state(world, resumed, artifacts)
    return entered, (*added, *more)


def _apply_first_facts(
    world: World, files: SessionFiles, state: SessionState
) -> tuple[SessionState, tuple[Implied, ...]]:
    """Return the state after the facts that a resume records first, and the files it needs.

    These facts are the end of a rewind, choices of the user in panes, and the ends of commands.
    """
    added: tuple[Implied, ...] = ()
    if state.rewind is not None:
        state, added = apply_fact(world, state, rewound_fact(state.rewind))
    for seat, launch, fact in (*unrecorded_choices(state, files), *adoptable(world, state, files)):
        state, more = apply_fact(world, state, fact, seat=seat, launch=launch)
        added = (*added, *more)
    return state, added


def resume(
    world: World, starter: OrchestratorStart, plan: ResumePlan, request: OrchestratorRequest
) -> StartedSession:
    """Start an orchestrator that resumes the session, and wait until it is ready.

    The orchestrator reads the session again and decides itself where to resume: it is given
    ``request``, not ``plan``. If the plan takes changed settings, that is recorded first.

    Raises:
        BlockedError: Meanwhile the session has become live or locked, or another session has become
            live in the checkout.
    """
    world.agents.claims.require_writable()
    lock = world.locks.session(plan.path)
    tree = world.locks.tree(world.project)
    told: tuple[str, ...] = ()
    with world.folders.one_at_a_time(tree.top):
        require_free(world, entry_at(world, plan.path))
        lock.acquire(LOCK_WAIT_S, {"pid": 0, "since": stamp(world.now())})
        try:
            state = _with_identity(world, plan)
            if plan.repin and plan.changed:
                told = _record_repin(world, plan)
            pipe = starter.pipe(plan.path)
            if not plan.state.worktree:
                tree.note({"path": str(plan.path.resolve())})
        finally:
            lock.release()
    named = replace(request, session_id=state.session_id, session_name=state.session_name)
    begun = hand_over(world, starter, plan.path, state, named, pipe=pipe)
    return replace(begun, warnings=(*told, *begun.warnings))


def _record_repin(world: World, plan: ResumePlan) -> tuple[str, ...]:
    """Record that the session takes the current settings; return warnings."""
    session = Session(world.files(plan.path), now=world.now, new_id=world.new_id)
    session.take_over()
    return repin(world, session)


def require_unfinished(plan: ResumePlan) -> None:
    """Check that the session of ``plan`` is not done.

    A session that is done according to the journal, but not yet in its saved state, passes: the
    resume then updates the state.

    Raises:
        NotFoundError: The session is done.
    """
    if plan.inference.phase == Phase.DONE and plan.state_phase == Phase.DONE:
        raise SessionDoneError(plan.path.name)


def _with_identity(world: World, plan: ResumePlan) -> SessionState:
    """Return the plan's state, with session name and id added if an older format lacks them."""
    state = plan.state
    name = state.session_name or world.default_name()
    return replace(state, session_name=name, session_id=state.session_id or world.new_id())


def find_lacking_program(world: World, plan: ResumePlan) -> LackingProgramError | None:
    """Return the error that agents which ``plan`` launches lack their programs, or None.

    None if all programs were found. The caller raises the error if no person can be asked; see
    `lacking_programs`.
    """
    return lacking_programs(world.agents.programs, world.files(plan.path), plan.state, plan.panes)


def pane_fields(plan: LaunchPlan, tree: Path) -> Mapping[str, object]:
    """Return one planned pane as one entry of ``panes`` in the JSON answer of a dry run.

    The keys are ``seat``, ``role``, ``subplan``, ``agent``, ``mode``, ``argv`` (with the program),
    ``cwd``, ``env``, ``reason`` (why this ``mode``), ``prompt_bytes``, ``fresh_prompt_bytes`` and
    ``digest`` (by which a person agrees to this launch). ``cwd`` is ``tree``, the directory in
    which the agent would work.
    """
    return {
        "seat": plan.work.seat,
        "role": plan.work.role,
        "subplan": plan.work.subplan,
        "agent": plan.player.name,
        "mode": plan.mode,
        "argv": list(plan.argv),
        "cwd": str(tree),
        "env": dict(plan.env),
        "reason": plan.why,
        "prompt_bytes": len(plan.prompt.encode()),
        "fresh_prompt_bytes": len(plan.full_prompt.encode()),
        "digest": plan.digest,
    }


def plan_fields(plan: ResumePlan, world: World) -> dict[str, object]:
    """Return the fields of one session for the JSON answer of a dry run, all but ``blocked``.

    Besides fields of `ResumePlan`, they are ``evidence`` (why each phase is complete or not),
    ``checks`` (the commands that would still run) and ``panes`` (see `pane_fields`). ``world`` is
    that of the session's project, to whose directory ``path`` is relative.
    """
    return {
        "session": plan.path.name,
        "path": shown_path(plan.path, world.project),
        "phase": plan.phase,
        "state_phase": plan.state_phase,
        "state_source": plan.source,
        "because": plan.because,
        "evidence": [
            {
                "phase": each.phase,
                "complete": each.complete,
                "because": each.because,
                "paths": list(each.paths),
            }
            for each in plan.inference.evidence
        ],
        "unapplied_events": plan.unapplied,
        "changed_settings": list(plan.changed),
        "setup": list(plan.setup),
        "checks": list(commands_ahead(plan.resumed)) if plan.phase != Phase.DONE else [],
        "panes": [pane_fields(each, plan.tree) for each in plan.panes],
        "warnings": list(plan.warnings),
    }


def require_seats(plan: ResumePlan, policy: LaunchPolicy) -> None:
    """Check that every seat that ``policy`` names belongs to the session of ``plan``.

    Raises:
        NotFoundError: One does not. The hints name the seats that the session has.
    """
    seats = {pane.work.seat for pane in plan.panes} | {*plan.state.agents, *plan.state.seats}
    named = {*policy.fresh, *policy.shell, *policy.stopped}
    unknown = sorted(named - seats - {EVERY})
    if unknown:
        raise NotFoundError(
            f"no seat `{unknown[0]}`",
            hints=(
                *suggest_name(unknown[0], sorted(seats)),
                f"seats: {', '.join(sorted(seats)) or 'none yet'}",
            ),
        )


def find_obstacle(site: Site, entry: SessionEntry, liveness: Liveness) -> BlockedError | None:
    """Return why a session cannot be resumed now; None if it can be.

    Raises:
        MissingError: The tmux server does not answer, so nobody can tell.
    """
    twin = find_twin(site, entry)
    if twin is not None and liveness.copy_of is None:
        return twin
    if liveness.starter is not None:
        return starting(entry, liveness.starter)
    if liveness.live is None:
        raise TerminalUnreachableError(
            f"cannot tell whether session {entry.name} is live: {liveness.because}",
            hints=liveness.error.hints if liveness.error else (_TRY_AGAIN,),
        )
    if liveness.copy_of is not None:
        return copy_blocked(entry, liveness.copy_of)
    name = liveness.tmux.name if liveness.tmux is not None else entry.text("session_name")
    if liveness.live:
        return BlockedError(
            f"tmux session {name} is still active. Detach or kill it before resuming.",
            reason="session_live",
            hints=_live_hints(entry, liveness),
        )
    if liveness.locked:
        who = f"process {liveness.orchestrator}" if liveness.orchestrator else "another process"
        return BlockedError(
            f"session {entry.name} is in use by {who}",
            reason="locked",
            hints=(f"see it: agentmux status {entry.name}",),
        )
    return None


def starting(entry: SessionEntry, starter: int) -> BlockedError:
    """Return the error for a session that the command with the pid ``starter`` is starting."""
    return BlockedError(
        f"session {entry.name} is starting: process {starter} waits for its orchestrator",
        reason="starting",
        hints=(f"see it: agentmux status {entry.name}",),
    )


def _live_hints(entry: SessionEntry, liveness: Liveness) -> tuple[str, ...]:
    if liveness.tmux is None:
        return (liveness.because, *liveness.way_back)
    if liveness.target is None:
        return (describe_stranger(entry, liveness.tmux), *stranger_hints(liveness))
    hints = (f"agentmux attach {entry.name}", f"agentmux stop {entry.name}")
    if liveness.locked or liveness.moved_from is not None:
        return hints
    return (f"agentmux resume --reattach {entry.name}  # its orchestrator is gone", *hints)
