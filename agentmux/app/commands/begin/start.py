"""Starts a session: checks everything, creates its directory, starts its orchestrator."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import ExitStack
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Final

from agentmux.app.commands.begin.continued_branch import ContinuedBranch, ReviewedBranch
from agentmux.app.commands.begin.issue import ReadIssue
from agentmux.app.commands.begin.start_base import verify_notes, with_base
from agentmux.app.commands.begin.start_workplace import (
    NewWorktree,
    WorkplaceRequest,
    choose_workplace,
    require_settled,
    workplace_notes,
)
from agentmux.app.commands.resume.orchestrator_request import OrchestratorRequest
from agentmux.app.commands.resume.orchestrator_start import (
    OrchestratorStart,
    StartedSession,
    hand_over,
)
from agentmux.app.session.configuration.first_texts import first_texts
from agentmux.app.session.configuration.pipeline_choice import (
    ChosenPipeline,
    choose_pipeline,
    describe_cost,
    session_roles,
)
from agentmux.app.session.first_messages import first_log
from agentmux.app.session.search.lookup import (
    SessionEntry,
    list_resumable_sessions,
    network_warnings,
)
from agentmux.app.session.workplace.checkout import trial_in_the_way
from agentmux.app.session.workplace.own_worktree import with_workplace, worktree_of
from agentmux.app.session.workplace.workplace import has_repository
from agentmux.app.session.writer import stamp
from agentmux.app.world import World
from agentmux.core.agents.spec import AgentSpec, how_to_install
from agentmux.core.codec.frozen import dataclass, field, replace
from agentmux.core.codec.shape import is_control, replace_unencodable
from agentmux.core.decisions.workplace import free_port_base
from agentmux.core.definitions.definition import Kind, PipelineDefinition, Result, When
from agentmux.core.fleet import lease
from agentmux.core.fold.transitions import begin_session
from agentmux.core.journal.events import ORCHESTRATOR, Event, JournalCreated, SessionStarted
from agentmux.core.journal.state import (
    Base,
    Options,
    Reviewed,
    SessionState,
    encode,
)
from agentmux.core.names import layout
from agentmux.core.names.agent_names import is_for_tests
from agentmux.core.names.phase import CODER, ROLES, Phase
from agentmux.core.names.words.counts import abbreviate_names, format_count
from agentmux.core.names.words.nearest import suggest_name
from agentmux.core.pipeline.checks.setup import new_setup
from agentmux.core.pipeline.delivery import is_on_no_branch
from agentmux.core.pipeline.registry import TERMINAL
from agentmux.errors import (
    NAME_TAKEN,
    BlockedError,
    ConfigError,
    NotInstalledError,
    UsageError,
)
from agentmux.ports.git.repository import GitRefusedError, Head
from agentmux.ports.processes import StartReportPipe

NO_REPOSITORY: Final = "this is not a git repository: nothing will be committed"
"""The warning about a project that is in no git repository."""
_TRIES: Final = 9
"""How often a start tries another name, each time because another start has taken the last one."""

_MOVED: Final = "moved"
_NO_BRANCH: Final = "the commit will be on no branch"
FEATURE_MAX: Final = 1_000_000
"""Maximum size of a feature request in bytes.

Above 128 kB it must be in a file, because no argument of a command can be longer.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class StartRequest:
    """What the user asked for.

    Attributes:
        feature: The feature request; with ``issue``, what the user wrote in addition to the issue.
        name: Replaces the slug in the directory's name; None derives the slug from the request.
        product_manager: Whether a product manager takes part.
        agent: The agent for every role that ``roles`` does not name; None takes the configured one.
        model: The model of ``agent``; None takes the configured one.
        roles: The agent and the model (or None) for single roles, by role.
        branch: The name of a new branch; empty derives a name; None stays on the current branch. A
            worktree always has a new branch.
        worktree: Whether the session gets a worktree of its own; None leaves it to the
            configuration.
        base: The ref from which the worktree is created; None takes the configured one.
        on: The branch to continue; None begins a new one, or works in the checkout.
        of: The branch to review without changing it; None for a session that makes changes.
        include: The absolute paths of files to commit although they have uncommitted changes now.
        unwatched: Whether nobody attaches to the session at first.
        asked: Whether the user has just said what ``agent`` may do by itself; if so, the start does
            not warn that this agent asks before it acts.
        pipeline: The name of the pipeline; None takes the configured one.
        issue: The issue that says what to build; None if there is none.
        lease: The content of the session's lease file, which says until when a session of the fleet
            may act; empty if no fleet runs the session.
    """

    feature: str
    name: str | None = None
    product_manager: bool = False
    agent: str | None = None
    model: str | None = None
    roles: Mapping[str, tuple[str, str | None]] = field(default_factory=dict)
    branch: str | None = None
    worktree: bool | None = None
    base: str | None = None
    on: ContinuedBranch | None = None
    of: ReviewedBranch | None = None
    include: tuple[str, ...] = ()
    unwatched: bool = False
    asked: bool = False
    pipeline: str | None = None
    issue: ReadIssue | None = None
    lease: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class StartPlan:
    """What a start would do; nothing has been created yet.

    Attributes:
        name: The name of the session's directory.
        path: The path of the session's directory.
        state: The first state of the session.
        agents: The agent of each role that may take part, by role.
        models: The model of each role that has one, by role.
        branch: The branch to create in the checkout; None if none is to be created.
        worktree: The session's own worktree; None if it works in the checkout.
        pipeline: The session's pipeline.
        warnings: What the user should know before the start, one sentence each.
        notes: What the user should know about the workplace and the checks, one sentence each.
        request: What the user asked for.
        taken: The phase of each of the project's sessions when the start was planned, by name.
        messages: What the monitor shows first, one sentence each.
    """

    name: str
    path: Path
    state: SessionState
    agents: Mapping[str, str]
    models: Mapping[str, str]
    branch: str | None
    worktree: NewWorktree | None
    pipeline: ChosenPipeline
    warnings: tuple[str, ...]
    notes: tuple[str, ...]
    request: StartRequest
    taken: Mapping[str, str]
    messages: tuple[str, ...] = ()


def to_be_agreed_to(warnings: Iterable[str]) -> tuple[str, ...]:
    """Return those of ``warnings`` that a person must agree to before the start, in their order.

    They are recognised by their text; ``warnings`` are the sentences in `StartPlan.warnings`.
    """
    return tuple(each for each in warnings if "unfinished" in each or _NO_BRANCH in each)


def plan_start(world: World, request: StartRequest, taken: Mapping[str, str]) -> StartPlan:
    """Check whether a session can start, and return what a start would do; reads only.

    Args:
        world: The outside world.
        request: What the user asked for.
        taken: The phase of each of the project's sessions, by name.

    Raises:
        AgentmuxError: tmux or an agent is missing, another session is live in this checkout, a name
            is taken, the feature is empty, or no prompt can contain the project's path.
    """
    _check_path(world.project)
    error = trial_in_the_way(world)
    if error is not None:
        raise error
    chosen = _pipeline(world, request)
    feature = _feature(request)
    live = frozenset(each.name for each in world.terminal(None).sessions())
    issue = request.issue.issue if request.issue is not None else None
    subject = feature if issue is None else issue.title
    name = _name(world, request, subject, taken, live)
    beside = list_resumable_sessions(world)
    place = choose_workplace(world, _workplace_request(request, subject), beside)
    own = place.worktree
    top = world.repository.top_level()
    head = world.repository.head() if has_repository(world) else None
    began = head if own is None else Head(commit=own.base.commit, branch=own.branch or None)
    left = _not_ours(world, request, top) if own is None else ()
    options = _options(world, request, began, left)
    known = _Beginning(
        name=name, feature=feature, pipeline=chosen, worktree=own, head=began, options=options
    )
    state = with_base(world, begin_session(_first_state(world, request, known, beside)), name)
    _require_free_tmux_name(state, live)
    agents = _agents(world, state)
    _require_author(world, state)
    if own is None and head is not None and state.commits:
        require_settled(world, head)
    warnings = (
        *(request.issue.warnings if request.issue is not None else ()),
        *_warn_detached(state, request),
        *_warnings(head, options, _in_checkout(beside, taken, name) if own is None else {}),
        *network_warnings(world),
        *_in_home(world, top),
        *((place.warning,) if place.warning else ()),
        *(
            _warn_unattended(world, options, _without_asked(request, agents))
            if request.unwatched
            else ()
        ),
    )
    return StartPlan(
        name=name,
        path=world.project / layout.SESSIONS_DIR / name,
        state=state,
        agents=agents,
        models=_models(world, options, agents),
        branch=_branch(world, request, name, head) if own is None else None,
        worktree=own,
        pipeline=chosen,
        warnings=warnings,
        notes=(
            *(workplace_notes(world, own, agents.values()) if own is not None else ()),
            *verify_notes(world, state),
        ),
        request=request,
        taken=taken,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Beginning:
    """What was decided about a session before its first state is made.

    Attributes:
        name: The name of its directory.
        feature: The feature request.
        pipeline: Its pipeline.
        worktree: As in `StartPlan`.
        head: The commit and branch from which its work begins; None without a repository.
        options: The options that its state records.
    """

    name: str
    feature: str
    pipeline: ChosenPipeline
    worktree: NewWorktree | None
    head: Head | None
    options: Options


def _first_state(
    world: World, request: StartRequest, known: _Beginning, beside: Iterable[SessionEntry]
) -> SessionState:
    own, session_id = known.worktree, world.new_id()
    state = SessionState(
        phase=Phase.ARCHITECTING,  # `begin_session` decides it
        pipeline=known.pipeline.definition,
        pipeline_files=known.pipeline.files,
        verify=known.pipeline.verify,
        session_id=session_id,
        session_name=layout.tmux_name(known.name),
        feature=known.feature,
        issue=request.issue.issue if request.issue is not None else None,
        continued=request.on is not None,
        request=request.on.request if request.on is not None else None,
        feature_dir=f"{layout.SESSIONS_DIR}/{known.name}",
        reviewed=_to_reviewed(request.of),
        branch=known.head.branch if known.head is not None else None,
        tmux_socket=world.terminal(None).socket,
        max_review_iterations=world.settings.defaults.max_review_iterations,
        product_manager=request.product_manager,
        options=known.options,
    )
    if own is None:
        return state
    return replace(
        state,
        worktree=str(own.path),
        setup=new_setup(world.settings.git.setup),
        port_base=_port_base(beside, session_id),
        base=Base(commit=own.base.commit, branch=own.base.branch),
    )


def _require_free_tmux_name(state: SessionState, live: frozenset[str]) -> None:
    """Check that no tmux session has the session's name.

    Raises:
        BlockedError: One has it; the error's reason is `NAME_TAKEN`.
    """
    if state.session_name in live:
        raise BlockedError(
            f"a tmux session named {state.session_name} exists already",
            reason=NAME_TAKEN,
            hints=("choose another: agentmux start --name NAME …",),
        )


def start(world: World, starter: OrchestratorStart, plan: StartPlan) -> StartedSession:
    """Create the session and its tmux session, and wait until its orchestrator is ready.

    If the orchestrator does not start, everything that was created is removed again. If another
    start has just taken the name, the next free name is used; if the user gave the name, the start
    is refused.

    Args:
        world: The outside world.
        starter: How the orchestrator is started.
        plan: What `plan_start` returned.

    Returns:
        The session, whose orchestrator runs.

    Raises:
        AgentmuxError: Something that `plan_start` checks has changed since then, or something could
            not be created.
    """
    world.agents.claims.require_writable()
    on = plan.request.on
    if on is not None and on.remote is not None:
        world.git.remote_branches.bring(on.name, on.commit, on.remote)
        plan = replace(plan, request=replace(plan.request, on=replace(on, remote=None)))
    of = plan.request.of.branch if plan.request.of is not None else None
    if of is not None and of.remote is not None and world.git.worktrees.base(of.commit) is None:
        world.git.remote_branches.fetch(of.name, of.commit, of.remote)
    for _ in range(_TRIES):
        try:
            return _begin_session(world, starter, plan)
        except BlockedError as error:
            if error.reason != NAME_TAKEN or plan.request.name is not None:
                raise
        # A start in another project has just taken the name on the tmux server.
        plan = _plan_again(world, plan, plan.taken)
    return _begin_session(world, starter, plan)


def _begin_session(world: World, starter: OrchestratorStart, plan: StartPlan) -> StartedSession:
    """Create everything and start the orchestrator; remove it all again if that fails."""
    with ExitStack() as undo:
        final_plan, state, pipe = _create_session(world, starter, plan, undo)
        worktree = worktree_of(world, state, final_plan.path)
        if worktree is not None:
            undo.callback(world.git.worktrees.undo_make, worktree)
        begun = hand_over(
            world, starter, final_plan.path, state, OrchestratorRequest(mode="start"), pipe=pipe
        )
        undo.pop_all()
    news = (each for each in final_plan.warnings if each not in plan.warnings)
    notes = tuple(each for each in final_plan.notes if each not in plan.notes)
    cost = describe_cost(world, final_plan.pipeline, product_manager=state.product_manager)
    return replace(begun, warnings=(*news, *begun.warnings), notes=notes, cost=cost)


def _create_session(
    world: World, starter: OrchestratorStart, plan: StartPlan, undo: ExitStack
) -> tuple[StartPlan, SessionState, StartReportPipe]:
    """Create the session's branch, the pipe for the orchestrator's report, and the directory.

    The branch and the pipe are created before the directory gets its name. So no session names a
    missing branch, even if this process is killed; and other commands that find the directory see
    from the pipe that the session is being started.

    Args:
        world: The outside world.
        starter: How an orchestrator is started.
        plan: What to create; planned again if another start has just taken the name.
        undo: Gets the callbacks that remove everything again.

    Returns:
        The plan that was carried out, the session's state, and the pipe.
    """
    while True:
        state = replace(plan.state, branch=plan.branch or plan.state.branch)
        files = world.files(plan.path)
        pipes: list[StartReportPipe] = []
        with ExitStack() as cleanup:
            try:
                tree = world.locks.tree(world.project)
                with world.folders.one_at_a_time(tree.top):
                    _require_same_place(world, plan)
                    files.make(
                        _first_events(world, state),
                        {**_texts(world, plan, state), **plan.pipeline.texts},
                        last=partial(_finish, world, starter, plan, cleanup, pipes),
                    )
                    cleanup.callback(files.discard)
                    worktree = worktree_of(world, state, plan.path)
                    if worktree is not None:
                        world.git.worktrees.reserve(worktree)
                    else:
                        cleanup.callback(tree.forget, str(plan.path.resolve()))
                        tree.note({"path": str(plan.path.resolve())})
            except BlockedError as error:
                if error.reason not in {NAME_TAKEN, _MOVED}:
                    raise
            else:
                undo.push(cleanup.pop_all())
                pipes[0].set_folder(plan.path)
                return plan, state, pipes[0]
        plan = _plan_again(world, plan, {**plan.taken, plan.name: state.phase})


def _plan_again(world: World, plan: StartPlan, taken: Mapping[str, str]) -> StartPlan:
    return replace(plan_start(world, plan.request, taken), messages=plan.messages)


def _texts(world: World, plan: StartPlan, state: SessionState) -> Mapping[str, str]:
    """Return the session's first files, with its lease and the copy patterns of its worktree."""
    texts = first_texts(with_workplace(world, state), plan.path, state)
    if plan.messages:
        texts = {**texts, layout.LOG: first_log(plan.messages, stamp(world.now()))}
    if plan.request.lease:
        texts = {**texts, lease.NAME: plan.request.lease}
    copied = world.texts.templates.copy_patterns() if state.worktree or state.base_checks else None
    return texts if copied is None else {**texts, layout.COPIED: copied}


def _port_base(beside: Iterable[SessionEntry], session_id: str) -> int:
    """Return the first of the ports for the session's programs; no other session here has it."""
    taken = {each.fields.get("port_base") for each in beside}
    return free_port_base(session_id, [each for each in taken if isinstance(each, int)])


def _require_same_place(world: World, plan: StartPlan) -> None:
    """Check that the session would still get the workplace that was planned.

    Raises:
        BlockedError: It would not (the error's reason is `_MOVED`), or no workplace is free any
            more.
    """
    request, beside = (
        _workplace_request(plan.request, plan.state.subject),
        list_resumable_sessions(world),
    )
    worktree = choose_workplace(world, request, beside).worktree
    if _place(worktree) != _place(plan.worktree):
        raise BlockedError("another start was faster", reason=_MOVED)


def _place(worktree: NewWorktree | None) -> tuple[Path, str] | None:
    return None if worktree is None else (worktree.path, worktree.branch)


def _workplace_request(request: StartRequest, subject: str) -> WorkplaceRequest:
    return WorkplaceRequest(
        slug=request.name or layout.slug(subject),
        worktree=request.worktree,
        base=request.base,
        branch=request.branch,
        on=request.on,
        of=request.of,
        include=bool(request.include),
    )


def _to_reviewed(of: ReviewedBranch | None) -> Reviewed | None:
    if of is None:
        return None
    branch, request = of.branch, of.branch.request
    url = request.url if request is not None else ""
    return Reviewed(name=branch.name, commit=branch.commit, base=of.base, since=of.since, url=url)


def _finish(
    world: World,
    starter: OrchestratorStart,
    plan: StartPlan,
    undo: ExitStack,
    pipes: list[StartReportPipe],
    folder: Path,
) -> None:
    """Create branch and pipe while the directory still has the temporary name ``folder``.

    ``pipes`` gets the pipe, and ``undo`` the callbacks that remove both again.
    """
    _make_branch(world, plan, undo)
    pipes.append(starter.pipe(folder))
    undo.callback(pipes[0].close)


def _make_branch(world: World, plan: StartPlan, undo: ExitStack) -> None:
    """Create the branch that the user asked for, if any; ``undo`` gets what removes it again.

    Raises:
        BlockedError: Another start has just created it; the error's reason is `NAME_TAKEN`.
    """
    if plan.branch is None:
        return
    try:
        world.repository.create_branch(plan.branch)
    except UsageError as error:
        raise BlockedError(error.message, reason=NAME_TAKEN, hints=error.hints) from error
    before = Head(commit=plan.state.options.base, branch=plan.state.branch)
    undo.callback(world.repository.take_back_branch, plan.branch, before)


def _first_events(world: World, state: SessionState) -> tuple[Event, ...]:
    def event(fact: JournalCreated | SessionStarted) -> Event:
        at = stamp(world.now())
        return Event(id=world.new_id(), at=at, seat=ORCHESTRATOR, launch="", cycle=1, fact=fact)

    return (
        event(JournalCreated(journal_id=world.new_id())),
        event(SessionStarted(state=encode(state))),
    )


# -- the checks ----------------------------------------------------------------------------------


def _check_path(project: Path) -> None:
    """Check that prompts can contain the project's path.

    Raises:
        UsageError: It has control characters, or bytes that are not UTF-8.
    """
    if any(map(is_control, str(project))):
        raise UsageError(
            f"the project's path {str(project)!r} cannot stand in a prompt: it contains control"
            " characters, or bytes that are not UTF-8",
            hints=("rename the directory",),
        )


def _pipeline(world: World, request: StartRequest) -> ChosenPipeline:
    """Return the pipeline of the session.

    Raises:
        AgentmuxError: There is no pipeline of this name, it cannot be used, or it has no phase for
            the product manager that the user asked for.
    """
    chosen = choose_pipeline(world, request.pipeline or world.settings.defaults.pipeline)
    whens = {each.when for each in chosen.definition.phases}
    if request.product_manager and When.REQUESTED not in whens:
        raise UsageError(
            f"pipeline `{chosen.definition.name}` has no phase for --product-manager",
            hints=(f"see it: agentmux pipelines show {chosen.definition.name}",),
        )
    _require_kinds(chosen.definition, of=request.of is not None)
    return chosen


def _require_kinds(pipeline: PipelineDefinition, *, of: bool) -> None:
    """Check that the pipeline reviews a branch if, and only if, the user named one to review.

    Raises:
        UsageError: It changes files although a branch is to be reviewed, or it only reviews and no
            branch was named.
    """
    works = any(each.kind in {Kind.WORK, Kind.FIX} for each in pipeline.phases)
    if of and (works or pipeline.result is not Result.REPORT):
        raise UsageError(
            f"--of looks at a branch and changes nothing, but pipeline `{pipeline.name}` does",
            hints=("agentmux start --pipeline review --of BRANCH",),
        )
    if not of and pipeline.only_reviews:
        raise UsageError(
            f"pipeline `{pipeline.name}` only reviews: say which branch or request",
            hints=(f"agentmux start --pipeline {pipeline.name} --of BRANCH",),
        )


def _feature(request: StartRequest) -> str:
    feature = request.feature.strip() if request.issue is None else request.issue.text
    if not feature:
        raise UsageError("the feature is empty", hints=('say what to build: agentmux start "…"',))
    if len(feature.encode("utf-8", "surrogatepass")) > FEATURE_MAX:
        raise UsageError(f"the feature is longer than {FEATURE_MAX} bytes")
    return replace_unencodable(feature)


def _name(
    world: World,
    request: StartRequest,
    subject: str,
    taken: Mapping[str, str],
    live: Collection[str],
) -> str:
    """Return the name for the session's directory.

    Args:
        world: The outside world.
        request: What the user asked for; if it has no name, one is derived from ``subject``.
        subject: What the session is about, in words.
        taken: The names of existing sessions, as keys.
        live: The names of the tmux sessions.

    Raises:
        UsageError: The name in the request is invalid, or a session has it.
    """
    now = world.now().astimezone()
    if request.name is None:
        return _derive_name(now, layout.slug(subject), taken, live)
    if not layout.is_topic(request.name):
        raise UsageError(
            f"invalid session name `{request.name[:60]}`: use at most 48 of a-z, 0-9 and `-`",
            hints=(f"agentmux start --name {layout.slug(request.name)} …",),
        )
    known = next((each for each in taken if layout.slug_of(each) == request.name), None)
    if known is not None:
        raise UsageError(
            f"a session named {request.name} already exists: {known}",
            hints=(f"continue it: agentmux resume {known}",),
        )
    return layout.session_name(now, request.name, taken)


def _derive_name(now: datetime, slug: str, taken: Iterable[str], live: Collection[str]) -> str:
    """Return a name made of time and slug that neither a session nor a tmux session has."""
    passed = set(taken)
    while layout.tmux_name(name := layout.session_name(now, slug, passed)) in live:
        passed.add(name)
    return name


def _not_ours(world: World, request: StartRequest, top: Path | None) -> tuple[str, ...]:
    """Return what the session's commit will leave out, because the session did not make it.

    That is every file with uncommitted changes that is not in ``request.include``, and every
    repository inside this one.

    Raises:
        UsageError: A file to include has no uncommitted changes, or there is no git repository.
    """
    if top is None:
        if request.include:
            raise UsageError("--include needs a git repository", hints=("git init",))
        return ()
    changes = world.repository.changes()
    named = {path: _within(path, top) for path in request.include}
    strange = next((path for path, within in named.items() if within not in changes), None)
    if strange is not None:
        raise UsageError(
            f"`{strange}` is not among the changed files of {top}",
            hints=("see them: git status --short --untracked-files=all",),
        )
    return tuple(path for path in changes if path not in named.values())


def _within(path: str, top: Path) -> str | None:
    """Return ``path`` relative to the folder ``top``; None if it is outside of it."""
    return str(Path(path).relative_to(top)) if Path(path).is_relative_to(top) else None


def _options(
    world: World, request: StartRequest, head: Head | None, dirty: tuple[str, ...]
) -> Options:
    settings = world.settings
    agents, models = flags(request.agent, request.model, request.roles, settings.own_roles)
    return Options(
        agents=agents,
        models=models,
        single_coder=settings.role(CODER).single,
        require_approval=settings.completion.require_approval,
        commit=settings.completion.commit and head is not None,
        base=head.commit if head is not None else None,
        dirty=dirty,
    )


def named_agent(world: World, text: str) -> tuple[str, str | None]:
    """Return agent and model of the text ``AGENT[:MODEL]``; the model is None if it names none.

    A command may contain a colon, so a model is recognised only after a name in the registry;
    otherwise the whole text is the agent.
    """
    agent, _, model = text.partition(":")
    return (agent, model or None) if agent in world.agents.names() else (text, None)


def flags(
    agent: str | None,
    model: str | None,
    roles: Mapping[str, tuple[str, str | None]],
    own: tuple[str, ...],
) -> tuple[dict[str, str], dict[str, str]]:
    """Return two mappings of what the user chose: role to agent, and role to model.

    Args:
        agent: The agent of all roles that ``roles`` does not name, returned under ``*``; None if
            the user chose none.
        model: The model of ``agent``, returned likewise; None if the user chose none.
        roles: The agent and the model (or None) for single roles, by role.
        own: The roles that the configuration adds to the built-in ones.

    Raises:
        UsageError: A role does not exist.
    """
    agents = {role: each for role, (each, _) in roles.items()}
    models = {role: model for role, (_, model) in roles.items() if model}
    known = (*ROLES, *own)
    unknown = sorted(set(agents) - set(known))
    if unknown:
        hints = (*suggest_name(unknown[0], known), f"roles: {', '.join(known)}")
        raise UsageError(f"no role `{unknown[0]}`", hints=hints)
    if agent is not None:
        agents["*"] = agent
        models |= {"*": model} if model else {}
    return agents, models


def _agents(world: World, state: SessionState) -> Mapping[str, str]:
    """Return the name of the agent of each role that may take part in a new session.

    Raises:
        NotInstalledError: The program of an agent is not installed.
    """
    agents: dict[str, str] = {}
    options = state.options
    for role in session_roles(state):
        name = world.settings.choose_player(role, options.agents, options.models).agent
        spec = world.agents.spec(name)
        if world.agents.programs.find(spec.command[0]) is None:
            raise NotInstalledError(
                f"the agent of `{role}` is not installed: `{spec.command[0]}` is not on PATH",
                hints=(*_instead(world, spec), "see which are installed: agentmux agents"),
            )
        agents[role] = name
    return agents


def _models(world: World, options: Options, roles: Iterable[str]) -> Mapping[str, str]:
    """Return the model of each of these roles that has one."""
    players = {
        role: world.settings.choose_player(role, options.agents, options.models).model
        for role in roles
    }
    return {role: model for role, model in players.items() if model}


def _instead(world: World, spec: AgentSpec) -> tuple[str, ...]:
    """Return hints for an agent that is not installed; its name may be mistyped."""
    known = [each for each in world.agents.names() if not is_for_tests(each)]
    if not spec.known and (hint := suggest_name(spec.name, known)):
        return hint
    return (how_to_install(spec), "or choose another: agentmux start --agent NAME …")


def _branch(world: World, request: StartRequest, name: str, head: Head | None) -> str | None:
    if request.branch is None:
        return None
    if head is None:
        raise UsageError("--branch needs a git repository", hints=("git init",))
    branch = request.branch or f"{world.settings.git.branch_prefix}{name}"
    world.repository.require_new_branch(branch)
    return branch


def _warnings(head: Head | None, options: Options, taken: Mapping[str, str]) -> tuple[str, ...]:
    notes: list[str] = []
    if head is None:
        notes.append(NO_REPOSITORY)
    dirty = [path for path in options.dirty if not path.endswith("/")]
    if dirty and options.commit:
        files = format_count(len(dirty), "file that is", "files that are")
        which = abbreviate_names(dirty)
        notes.append(f"the commit will leave out {files} changed already: {which}")
    ended = TERMINAL - {Phase.FAILED}
    others = [name for name, phase in taken.items() if phase not in ended]
    if len(others) == 1:
        notes.append(f"another unfinished session began in this checkout: {others[0]}")
    elif others:
        notes.append(
            f"{len(others)} other unfinished sessions began in this checkout, the newest is "
            f"{others[0]}; see them: agentmux list"
        )
    return tuple(notes)


def _require_author(world: World, state: SessionState) -> None:
    """Check that git knows an author for the commit at the end, before hours of work.

    Raises:
        ConfigError: Git knows none.
    """
    if not state.commits:
        return
    try:
        world.repository.require_author()
    except GitRefusedError as error:
        raise ConfigError(error.message, hints=error.hints) from error


def _warn_detached(state: SessionState, request: StartRequest) -> Iterator[str]:
    """Yield a warning if HEAD is detached, so the commit would be on no branch."""
    if is_on_no_branch(state) and request.branch is None:
        where = f"HEAD is detached at {(state.options.base or '')[:12]}"
        yield f"{where}: {_NO_BRANCH}; to make one for it: agentmux start --branch …"


def _in_home(world: World, top: Path | None) -> tuple[str, ...]:
    """Return a warning if the project is in the repository of the user's whole home directory."""
    home = world.environment.get("HOME")
    if not home or top is None or top == world.project or top != Path(home).resolve():
        return ()
    return (f"this is in the git repository of your home directory, {top}; its own: git init",)


def _in_checkout(
    beside: Iterable[SessionEntry], taken: Mapping[str, str], name: str
) -> Mapping[str, str]:
    """Return those of the sessions in ``taken`` that do not work in a worktree of their own.

    Their names are told apart from the ``name`` of the new session.
    """
    elsewhere = {each.name for each in beside if each.text("worktree")}
    slug = layout.slug_of(name)
    return {
        layout.name_beside(each, slug): phase
        for each, phase in taken.items()
        if each not in elsewhere
    }


def _without_asked(request: StartRequest, agents: Mapping[str, str]) -> Mapping[str, str]:
    """Return the agents by role, without the one whose permissions the user has just chosen."""
    asked = request.agent if request.asked else None
    return {role: agent for role, agent in agents.items() if agent != asked}


def _warn_unattended(world: World, options: Options, agents: Mapping[str, str]) -> Iterator[str]:
    """Yield a warning for each agent that would ask its user before it acts."""
    asking: dict[str, AgentSpec] = {}
    for role, agent in agents.items():
        spec = world.agents.spec(agent)
        args = world.settings.choose_player(role, options.agents, options.models).args
        given = {*spec.command, *spec.args, *args}
        if not spec.permission_args and not given.issuperset(spec.unattended_args):
            asking[spec.name] = spec
    for name, spec in asking.items():
        yield (
            f"{name} asks before it acts: a run that nobody watches would wait for you; to let "
            f"{name} act by itself, set agents.{name}.permission_args in the configuration to "
            f"{shlex.join(spec.unattended_args)}{_edits_alone(spec)}"
        )


def _edits_alone(spec: AgentSpec) -> str:
    return f" (for edits alone: {shlex.join(spec.edit_args)})" if spec.edit_args else ""
