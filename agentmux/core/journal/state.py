"""The state of one session, as a frozen value, and its form in ``state.json``.

docs/reference/session-files.md documents the fields. A file must have only ``phase``; fields that
this version does not know are kept in ``extra`` and written back.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar

from agentmux.core.codec.frozen import DataclassInstance, dataclass, field, fields, replace
from agentmux.core.codec.records import FieldError, Json, decode_field, from_fields, to_fields
from agentmux.core.definitions.definition import (
    PipelineDefinition,
    Result,
    definition_fields,
    definition_from,
)
from agentmux.core.definitions.feature import FEATURE
from agentmux.core.journal.older_form import is_older, present_form
from agentmux.core.journal.results import (
    BaseChecks,
    Fix,
    PhaseResult,
    base_fields,
    base_from,
    fix_fields,
    fix_from,
    results_fields,
    results_from,
)
from agentmux.core.names.layout import SCHEMA_VERSION
from agentmux.core.names.phase import ENDS, ResearchKind
from agentmux.core.names.statuses import CRASHED, KEEP, LAUNCHED

NATIVE: Final = "native"
AGENT_MODES: Final = frozenset({NATIVE, "fresh"})
"""The modes of a launch that start an agent.

In the other modes, the pane runs a shell for the user, or nothing.
"""

T = TypeVar("T", bound=DataclassInstance)


@dataclass(frozen=True, slots=True, kw_only=True)
class Seat:
    """The current launch of a seat. A seat is a role together with its sub-plan or topic.

    Attributes:
        launch: The launch's id; only signals of this launch count for the seat.
        role: The seat's role.
        phase: The phase for which the seat was launched.
        mode: What the pane was started with: ``native``, ``fresh``, ``shell`` or ``screen``, as in
            `events.AgentLaunched`; for a command its role.
        reason: The reason for the mode, in words.
        since: When the launch was made, or when the user chose what to start (UTC, ISO 8601).
        subplan: The number of the seat's sub-plan; None if it has none.
        topic: The topic of a researcher's seat, or the name of the setup step or check command that
            runs; otherwise empty.
        attempt: 1 for the first launch for the same work, 2 for the next, and so on.
        status: ``launched``; ``stopped`` while the pane waits for the user's choice; or the cause
            of the launch's end, as in `events.AgentExited`.
        exit_status: The exit status of the program; None while it runs, if the status is unknown,
            or if a Unix signal ended the program.
        exit_signal: The number of that Unix signal; None if there was none.
        reached: Whether there is proof that a prompt of AgentMux has arrived.
        heard: Whether a signal of this launch was accepted.
        nudged: Whether the idle agent was reminded.
        stalled: Whether the agent stayed idle after that.
        prompt_bytes: The size of the prompt for the launch, in bytes.
        fresh_prompt_bytes: The size of the full prompt for a new conversation, in bytes.
    """

    launch: str
    role: str
    phase: str
    mode: str
    reason: str
    since: str
    subplan: int | None = None
    topic: str = ""
    attempt: int = 1
    status: str = LAUNCHED
    exit_status: int | None = None
    exit_signal: int | None = None
    reached: bool = False
    heard: bool = False
    nudged: bool = False
    stalled: bool = False
    prompt_bytes: int = 0
    fresh_prompt_bytes: int = 0

    @property
    def failed_at_once(self) -> bool:
        """Whether a new conversation ended in an error before its prompt arrived."""
        failed = self.status == CRASHED and bool(self.exit_status)
        return failed and self.mode == "fresh" and not (self.reached or self.heard)


@dataclass(frozen=True, slots=True, kw_only=True)
class Interruption:
    """Why the session was interrupted.

    Attributes:
        cause: The reason, for the user; begins with ``stopped`` if the user stopped the session.
        seat: The seat that the reason concerns, or ``orchestrator`` or ``user``.
        phase: The phase in which it happened.
        at: When it happened (UTC, ISO 8601).
    """

    cause: str
    seat: str = ""
    phase: str = ""
    at: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchivedArtifacts:
    """Artifacts that no longer count, and are about to be moved to the history.

    Attributes:
        to: The folder to move them into, relative to the session's directory. Each keeps its path
            below it.
        paths: The files and folders to move, relative to the session's directory.
    """

    to: str
    paths: tuple[str, ...]

    def takes(self, path: str) -> bool:
        """Whether the artifact at ``path`` will be moved: it is in ``paths``, or below one of them.

        ``path`` is relative to the session's directory.
        """
        return any(path == gone or path.startswith(f"{gone}/") for gone in self.paths)


@dataclass(frozen=True, slots=True, kw_only=True)
class Research:
    """Research on a topic.

    Attributes:
        question: The question to answer.
        owners: The names of the seats that asked for it, in order.
        told: The names of the seats that were told that it is done.
    """

    question: str
    owners: tuple[str, ...] = ()
    told: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Input:
    """A message or keys of the user that still have to be sent to the agent of a launch.

    Attributes:
        id: The id of the event `events.SeatTold` or `events.SeatAnswered`.
        seat: The seat of the agent.
        launch: The id of the launch.
        text: The message; empty for keys.
        keys: The keys to press, as `answer_keys.read_keys` returns them; empty for a message.
        screen: The digest of the screen that the user saw; if the screen has changed, no key is
            pressed. Empty for a message.
        started: Whether sending has begun, so that a part may have been typed already.
    """

    id: str
    seat: str
    launch: str
    text: str = ""
    keys: tuple[str, ...] = ()
    screen: str = ""
    started: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Commit:
    """The commit of the result.

    Attributes:
        status: ``committing``, ``delayed`` (it will be tried again), ``made``, ``failed`` (the user
            decides again) or ``none`` (no commit was needed).
        approval: The id of the event by which the result was approved.
        commit: The id of the commit; None if there is none.
        reason: Why the commit is delayed or failed; otherwise empty.
        record: What was recorded about the failure, as texts by name (`StepState`).
    """

    status: str
    approval: str = ""
    commit: str | None = None
    reason: str = ""
    record: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class StepState:
    """The progress of one step of a delivery.

    Attributes:
        status: ``running``, ``done`` or ``failed``; empty if the step has not begun.
        reason: Why the step failed, and what to do about it; otherwise empty.
        record: What was recorded before and after the step, as texts by name; see
            docs/reference/session-files.md.
    """

    status: str = ""
    reason: str = ""
    record: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """How an approved result is delivered, and the progress so far.

    Attributes:
        id: The id of the event that approved the result.
        then: ``keep`` (the result stays on its branch), ``merge`` (its branch is merged into the
            base branch), ``push`` (its branch is pushed to a remote) or ``pr`` (its branch is
            pushed, and a pull request is opened).
        steps: The steps that have begun, by name: ``commit``, ``merge``, ``push``, ``request``.
            `core.pipeline.delivery` defines which steps a delivery has, and their order.
    """

    id: str
    then: str = KEEP
    steps: Mapping[str, StepState] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeCheckpoint:
    """A work-tree checkpoint: the files of the work tree, as a commit in the session's directory.

    Attributes:
        number: 1 for the session's first checkpoint, 2 for the next, and so on.
        because: Why it was taken: ``phase`` (a phase ended), ``subplan`` (a sub-plan was handed
            in), ``stop`` (the session was stopped), ``rewind`` (before a rewind of the files),
            ``rewound`` (after a rewind) or ``export``.
        phase: The phase that had ended, or else the current one.
        commit: The hash of the commit with the files.
        cycle: The session's cycle at that time.
        iteration: The session's iteration at that time.
        subplans: The numbers of the sub-plans that were done at that time.
        head: The commit that was checked out; None if the repository had no commit.
        branch: The short name of the branch that was checked out; None if HEAD was detached.
        missing: The files that could not be saved.
        at: When the checkpoint was recorded (UTC, ISO 8601).
    """

    number: int
    because: str
    phase: str
    commit: str
    cycle: int = 1
    iteration: int = 0
    subplans: tuple[int, ...] = ()
    head: str | None = None
    branch: str | None = None
    missing: tuple[str, ...] = ()
    at: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewind:
    """A rewind of the files that is under way.

    Attributes:
        number: The number of the checkpoint to rewind to.
        before: The number of the checkpoint with the files before the rewind.
        phase: The phase in which work continues after the rewind.
        subplans: The numbers of the sub-plans that remain done.
        stale: The names of the seats whose conversations continued after the checkpoint was taken;
            they will begin new ones.
    """

    number: int
    before: int
    phase: str
    subplans: tuple[int, ...] = ()
    stale: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Issue:
    """The issue on a forge that a session is about; its text is the session's ``feature``.

    Attributes:
        url: The URL of the issue.
        number: The number of the issue.
        title: The title, on one line.
        words: What the user wrote in addition to the issue; empty if nothing.
    """

    url: str
    number: int
    title: str
    words: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """The pull or merge request on a forge for the session's branch.

    Attributes:
        url: The URL of its page.
        number: Its number in the repository.
    """

    url: str
    number: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Reviewed:
    """The branch that a session only reviews, in a worktree with a detached HEAD.

    Attributes:
        name: The short name of the branch.
        commit: The hash of the branch's tip when the session began, which the worktree has checked
            out.
        base: The ref that the branch is compared with, as the user named it.
        since: The hash of the commit of ``base`` when the session began.
        url: The URL of the branch's pull request; empty if it has none.
    """

    name: str
    commit: str
    base: str
    since: str
    url: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parked:
    """A seat whose agent has reached its usage limit.

    Attributes:
        launch: The id of the seat's launch: the one that reached the limit, or a later one.
        agent: The agent's name in the registry.
        until: When to wake the agent (UTC, ISO 8601).
        home: The path of the agent's config home. Agents with the same name and home are treated as
            one account, and are woken one after the other.
        said: When the limit ends, in the agent's words; empty if the agent did not say.
        woken: When the agent was woken (UTC, ISO 8601); empty while it is parked.
        settled: Whether the agent has worked since it was woken.
    """

    launch: str
    agent: str
    until: str
    home: str = ""
    said: str = ""
    woken: str = ""
    settled: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The options of ``agentmux start``, which apply to the whole session.

    Attributes:
        agents: Agents by role, from ``--agent`` and ``--role``; ``*`` stands for all other roles.
        models: Models by role, from ``--role``.
        single_coder: Whether one coder does the whole plan.
        require_approval: Whether the user has to approve the result.
        commit: Whether the result will be committed; False outside a git repository.
        base: The commit that was checked out at the start; None if there was no git repository or
            no commit.
        dirty: The files with uncommitted changes at the start, relative to the top-level directory
            of the work tree; the commit leaves them out. A folder that is a git repository of its
            own ends in ``/``.
    """

    agents: Mapping[str, str] = field(default_factory=dict)
    models: Mapping[str, str] = field(default_factory=dict)
    single_coder: bool = False
    require_approval: bool = True
    commit: bool = False
    base: str | None = None
    dirty: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Base:
    """The base of a session's own branch.

    Attributes:
        commit: The commit from which the branch was created.
        branch: The name of the base branch; None if the user named no branch.
    """

    commit: str
    branch: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """The file that a session was exported to.

    Attributes:
        to: The absolute path of the file.
        digest: The SHA-256 of the file's manifest, in hex.
        at: When the session was exported (UTC, ISO 8601).
    """

    to: str
    digest: str = ""
    at: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrived:
    """The origin of an imported session.

    Attributes:
        host: The name of the machine that the session was exported from.
        session: The session's uuid on that machine.
        at: When the session was imported (UTC, ISO 8601).
    """

    host: str
    session: str = ""
    at: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """The setup of the session's worktree, which runs before the first agent starts there.

    Attributes:
        steps: The steps as they were configured when the session began or was last repinned:
            mappings with ``name``, ``run`` and ``timeout_s``.
        done: How many steps have succeeded since the worktree was last created.
        before: The files that had uncommitted changes before the first step ran, relative to the
            worktree.
        finished: Whether all steps have succeeded, and the files they changed are recorded.
    """

    steps: tuple[Json, ...]
    done: int = 0
    before: tuple[str, ...] = ()
    finished: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionState:
    """The state of a session: the fold of its journal up to ``applied_offset``, in bytes.

    docs/reference/session-files.md documents the fields as they are in ``state.json``.

    Attributes:
        phase: The current phase, or an end: ``done`` or ``failed``.
        schema_version: The version of the format of ``state.json``.
        revision: A number that grows by 1 with each event.
        journal_id: The uuid of the journal.
        last_event_id: The id of the last event in the journal up to ``applied_offset``.
        last_event: The kind of the last event that counted; checkpoints and inputs do not change
            it. It stays ``resumed`` until the resumed session goes on.
        session_id: The session's uuid.
        session_name: The name of its tmux session.
        feature: The user's request, or the text of ``issue``.
        feature_dir: The path of the session's directory, relative to the project.
        tmux_socket: The absolute path of the socket of its tmux server.
        cycle: The current cycle, from 1.
        max_review_iterations: How many fixes each check or review may ask for in one cycle.
        product_manager: Whether the user asked for the phase of the product manager.
        needs_design: Whether the plan says that a design is needed; None before there is a plan.
        reviewer_nominations: The roles of the nominated reviewers; empty before any are nominated.
        subplan_count: The number of sub-plans; 0 before there is a plan.
        completed_subplans: The indices of the sub-plans that are done.
        implementation_groups: The groups of the plan, as in ``execution_plan.yaml``: mappings with
            ``group_id``, ``mode`` and ``plans``.
        implementation_group_total: The number of these groups.
        implementation_group_index: The index of the current group, from 0; the number of groups if
            all are done.
        implementation_group_mode: The current group's mode, ``serial`` or ``parallel``; empty if
            there is no such group.
        implementation_active_plan_ids: The indices of the sub-plans to work on now.
        implementation_completed_group_ids: The ids of the groups that are done.
        implementation_single_coder: Whether one coder does the whole plan.
        research_tasks: ``dispatched`` or ``done`` for each topic of research in the code base.
        web_research_tasks: The same for research on the web.
        research: The question and its owners for each research, by ``<kind>-<topic>``, such as
            ``web-caching``.
        summary_submitted: Whether the summary of the result was handed in.
        approval: The id of the event that approved the result; None if none has, or if the delivery
            failed since.
        commit: The commit of the result; None before it is begun.
        change_request: The path of the file with the request for changes that began this cycle,
            relative to the session's directory; None in the first cycle.
        interruption: Why the session was interrupted or has failed; None if it was not.
        seats: The current launch of each seat, by the seat's name.
        agents: The fields of each seat's `ResumeRecord`, by the seat's name.
        signals: The ids of the signals and decisions that were accepted.
        pending_archive: Artifacts that no longer count and still have to be moved to the history.
        options: What the user chose at the start.
        updated_at: When the last event happened (UTC, ISO 8601).
        updated_by: The seat of that event, or ``orchestrator`` or ``user``.
        extra: The fields of ``state.json`` that this version does not know.
        branch: The short name of the branch that the result is committed to; None if HEAD is
            detached.
        worktree: The absolute path of the top-level directory of the session's own worktree; None
            if the session works in the user's checkout.
        base: The base of the session's own branch; None if it works in the user's checkout.
        worktree_made: Whether the worktree was ever created.
        continued: Whether the session continues a branch that existed before it.
        setup: The setup of the worktree; None if it needs none.
        port_base: The first of the 50 ports that the session's programs may listen on; 0 if none
            are reserved.
        delivery: How the approved result is delivered; None before an approval, and if the result
            stays in the user's checkout.
        tree_checkpoints: The work-tree checkpoints, oldest first.
        rewind: The rewind that is under way; None if there is none.
        issue: The issue whose text is ``feature``; None if the user described the feature.
        request: The pull request that was opened for the result, or that the session continues.
        reviewed: The branch that the session only reviews; None if it writes code itself.
        pipeline: The session's pipeline, as recorded when the session began or was last repinned.
        results: The results of its checks and reviews, by phase.
        fix: The last fix of the current cycle; None if there was none.
        skipped_checks: The names of the commands of checks that could not run and that the user has
            skipped. The user is not asked about them again.
        base_checks: The results of the required commands on the base, before the session changes
            anything; None if they are not run there.
        pipeline_files: The SHA-256 of each prompt and schema of the pipeline that came from a file,
            by its name in the pipeline. `layout.frozen` has the path of the content.
        verify: The commands of the pipeline's checks as they were configured when the session began
            or was last repinned: mappings with ``name``, ``run``, ``timeout_s`` and ``required``.
        approved_tree: Git's tree id of the files that were approved; empty if any files may be
            committed.
        approved_back: A text with hash and subject for each commit that was removed from the base
            and that a merge may bring back.
        parked: The seats that wait for the end of a usage limit, and those that were woken and
            have not handed in their work since, by name. A seat stays here when its launch ends,
            for example by a reboot, and is launched when the limit is over.
        inputs: The user's messages and keys that still have to be sent, oldest first.
        moved: The file that the session was exported to; None if the session continues here.
        arrived: The origin of an imported session; None if the session began here.
    """

    phase: str
    schema_version: int = SCHEMA_VERSION
    revision: int = 0
    journal_id: str = ""
    applied_offset: int = 0
    last_event_id: str = ""
    last_event: str = ""
    session_id: str = ""
    session_name: str = ""
    feature: str = ""
    feature_dir: str = ""
    branch: str | None = None
    worktree: str | None = None
    base: Base | None = None
    worktree_made: bool = False
    continued: bool = False
    setup: Setup | None = None
    port_base: int = 0
    delivery: Delivery | None = None
    tree_checkpoints: tuple[TreeCheckpoint, ...] = ()
    rewind: Rewind | None = None
    issue: Issue | None = None
    request: Request | None = None
    reviewed: Reviewed | None = None
    pipeline: PipelineDefinition = FEATURE
    results: Mapping[str, PhaseResult] = field(default_factory=dict)
    fix: Fix | None = None
    pipeline_files: Mapping[str, str] = field(default_factory=dict)
    verify: tuple[Json, ...] = ()
    skipped_checks: tuple[str, ...] = ()
    base_checks: BaseChecks | None = None
    tmux_socket: str = ""
    cycle: int = 1
    max_review_iterations: int = 3
    product_manager: bool = False
    needs_design: bool | None = None
    reviewer_nominations: tuple[str, ...] = ()
    subplan_count: int = 0
    completed_subplans: tuple[int, ...] = ()
    implementation_groups: tuple[Json, ...] = ()
    implementation_group_total: int = 0
    implementation_group_index: int = 0
    implementation_group_mode: str = ""
    implementation_active_plan_ids: tuple[int, ...] = ()
    implementation_completed_group_ids: tuple[str, ...] = ()
    implementation_single_coder: bool = False
    research_tasks: Mapping[str, str] = field(default_factory=dict)
    web_research_tasks: Mapping[str, str] = field(default_factory=dict)
    research: Mapping[str, Research] = field(default_factory=dict)
    summary_submitted: bool = False
    approval: str | None = None
    approved_tree: str = ""
    approved_back: tuple[str, ...] = ()
    commit: Commit | None = None
    change_request: str | None = None
    interruption: Interruption | None = None
    seats: Mapping[str, Seat] = field(default_factory=dict)
    parked: Mapping[str, Parked] = field(default_factory=dict)
    inputs: tuple[Input, ...] = ()
    moved: Moved | None = None
    arrived: Arrived | None = None
    agents: Mapping[str, Json] = field(default_factory=dict)
    signals: tuple[str, ...] = ()
    pending_archive: tuple[ArchivedArtifacts, ...] = ()
    options: Options = field(default_factory=Options)
    updated_at: str = ""
    updated_by: str = ""
    extra: Json = field(default_factory=dict)

    @property
    def subject(self) -> str:
        """What the session is about: the issue's title, or the feature if there is no issue."""
        return self.issue.title if self.issue is not None else self.feature

    @property
    def is_report(self) -> bool:
        """Whether the session's result is only a report: nothing is committed or delivered."""
        return self.pipeline.result is Result.REPORT

    @property
    def commits(self) -> bool:
        """Whether the result will be committed once it is approved; a report never is."""
        return self.options.commit and not self.is_report

    def tasks(self, kind: ResearchKind) -> Mapping[str, str]:
        """Return the status of each research of this kind, by topic: ``dispatched`` or ``done``."""
        return self.research_tasks if kind is ResearchKind.CODE else self.web_research_tasks

    @property
    def iteration(self) -> int:
        """The current iteration: how many fixes were asked for in the current cycle."""
        return self.fix.iteration if self.fix is not None else 0


def _record(record: type[T]) -> tuple[Callable[[T], object], Callable[[object, str], T]]:
    def decode(value: object, where: str) -> T:
        if not isinstance(value, dict):
            raise FieldError(f"{where} is not a mapping")
        return from_fields(record, value, where=where)

    return to_fields, decode


def _optional(record: type[T]) -> tuple[Callable[[Any], object], Callable[[object, str], T | None]]:
    encode, decode = _record(record)
    return (
        lambda value: None if value is None else encode(value),
        lambda value, where: None if value is None else decode(value, where),
    )


def _delivery(value: Delivery | None) -> object:
    if value is None:
        return None
    steps = {
        name: {key: each for key, each in to_fields(step).items() if each}
        for name, step in value.steps.items()
    }
    return {"id": value.id, "then": value.then, "steps": steps}


def _to_delivery(value: object, where: str) -> Delivery | None:
    if value is None:
        return None
    if not isinstance(value, dict):
        raise FieldError(f"{where} is not a mapping")
    given = {name: each for name, each in value.items() if name != "steps"}
    steps = _map_of(StepState)[1](value.get("steps", {}), f"{where}.steps")
    return replace(from_fields(Delivery, given, where=where), steps=steps)


def _map_of(
    record: type[T],
) -> tuple[Callable[[Any], object], Callable[[object, str], Mapping[str, T]]]:
    encode, decode = _record(record)

    def decode_map(value: object, where: str) -> Mapping[str, T]:
        if not isinstance(value, dict):
            raise FieldError(f"{where} is not a mapping")
        return {key: decode(item, f"{where}.{key}") for key, item in value.items()}

    return lambda value: {key: encode(item) for key, item in value.items()}, decode_map


def _list_of(
    record: type[T],
) -> tuple[Callable[[Any], object], Callable[[object, str], tuple[T, ...]]]:
    encode, decode = _record(record)

    def decode_list(value: object, where: str) -> tuple[T, ...]:
        items = [value] if isinstance(value, dict) else value
        if items is None:
            return ()
        if not isinstance(items, list):
            raise FieldError(f"{where} is not a list")
        return tuple(decode(item, f"{where}[{i}]") for i, item in enumerate(items))

    return lambda value: [encode(item) for item in value], decode_list


def _plain_mappings(value: object, where: str) -> Mapping[str, Json]:
    if not isinstance(value, dict) or not all(isinstance(item, dict) for item in value.values()):
        raise FieldError(f"{where} is not a mapping of mappings")
    return value


def issue_fields(issue: Issue | None) -> dict[str, object] | None:
    """Return an issue as the mapping that ``state.json`` contains; None if ``issue`` is None.

    Its keys are the fields of `Issue`; ``words`` is left out if it is empty.
    """
    if issue is None:
        return None
    return {name: value for name, value in to_fields(issue).items() if value or name != "words"}


_NESTED: Final[Mapping[str, tuple[Callable[[Any], object], Callable[[object, str], object]]]] = {
    "research": _map_of(Research),
    "base": _optional(Base),
    "setup": _optional(Setup),
    "delivery": (_delivery, _to_delivery),
    "tree_checkpoints": _list_of(TreeCheckpoint),
    "rewind": _optional(Rewind),
    "issue": (issue_fields, _optional(Issue)[1]),
    "request": _optional(Request),
    "reviewed": _optional(Reviewed),
    "pipeline": (definition_fields, definition_from),
    "results": (results_fields, results_from),
    "fix": (fix_fields, fix_from),
    "base_checks": (base_fields, base_from),
    "commit": _optional(Commit),
    "interruption": _optional(Interruption),
    "seats": _map_of(Seat),
    "parked": _map_of(Parked),
    "inputs": _list_of(Input),
    "moved": _optional(Moved),
    "arrived": _optional(Arrived),
    "agents": (dict, _plain_mappings),
    "pending_archive": _list_of(ArchivedArtifacts),
    "options": _record(Options),
}


_FIELDS: Final = {each.name: str(each.type) for each in fields(SessionState)}


def encode(state: SessionState) -> dict[str, object]:
    """Return the content of ``state.json`` as a mapping; `decode` is the inverse."""
    mapping = to_fields(state)
    for name, (encode_field, _) in _NESTED.items():
        mapping[name] = encode_field(getattr(state, name))
    extra = mapping.pop("extra")
    return {**extra, **mapping} if isinstance(extra, dict) else mapping


def phase_names(pipeline: PipelineDefinition) -> frozenset[str]:
    """Return the names of the phases of this pipeline, and the ends ``done`` and ``failed``."""
    return ENDS.union(each.phase for each in pipeline.phases)


def has_phase(values: Json) -> bool:
    """Whether ``values``, the content of a ``state.json``, names a phase of its pipeline or an end.

    The ends are ``done`` and ``failed``. Nothing else is checked, and nothing is raised, even if
    the file was damaged.
    """
    phase, pipeline = values.get("phase"), values.get("pipeline")
    if is_older(values) or not isinstance(phase, str):
        return phase in tuple(phase_names(FEATURE))  # a damaged file may hold anything
    phases = pipeline.get("phases") if isinstance(pipeline, dict) else None
    listed = phases if isinstance(phases, list) else []
    return phase in ENDS or any(isinstance(e, dict) and e.get("phase") == phase for e in listed)


def decode(values: Json, *, where: str, fix_requested: bool | None = None) -> SessionState:
    """Return the state that the content of a ``state.json`` describes; the inverse of `encode`.

    Args:
        values: The content. If it records no pipeline, `present_form` converts it first.
        where: Where the content comes from, for error messages.
        fix_requested: Whether the session's directory contains a fix request; None if that was not
            checked. Only used for older content.

    Raises:
        FieldError: ``phase`` is missing or unknown, or a field has the wrong type.
    """
    if is_older(values):
        values = present_form(values, where=where, fix_requested=fix_requested)
    arguments: dict[str, Any] = {}
    for name, kind in _FIELDS.items():
        if name not in values or name == "extra":
            continue
        if name in _NESTED:
            arguments[name] = _NESTED[name][1](values[name], f"{where}: {name}")
        else:
            arguments[name] = decode_field(kind, values[name], where, name)
    if "phase" not in arguments:
        raise FieldError(f"{where}: `phase` is missing")
    if arguments["phase"] not in phase_names(arguments["pipeline"]):
        raise FieldError(f"{where}: phase: `{arguments['phase']}` is not a phase")
    extra = {key: value for key, value in values.items() if key not in _FIELDS}
    return SessionState(**arguments, extra=extra)
