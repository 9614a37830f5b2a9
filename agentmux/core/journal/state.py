"""The state of one session: what ``state.json`` holds, as a frozen value.

The fields and their meaning are documented in docs/reference/session-files.md. Only ``phase`` is
required of a file; fields that this version does not know survive a rewrite (``extra``).
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
"""The modes of a launch that starts an agent.

In the other modes a person plays the role, or nobody does.
"""

T = TypeVar("T", bound=DataclassInstance)


@dataclass(frozen=True, slots=True, kw_only=True)
class Seat:
    """The current launch of a seat.

    Attributes:
        launch: The launch's id; only its signals count for the seat.
        status: ``launched``; ``stopped`` while its pane waits for the user's choice; or the cause
            of its end, as in `events.AgentExited`.
        mode: How the pane came up, as in `events.AgentLaunched`.
        reason: Why the pane came up in this mode, in words.
        attempt: 1 for the first launch for the same work, 2 for the next, and so on.
        reached: Whether there is proof that a prompt of AgentMux has arrived.
        heard: Whether a signal of this launch was accepted.
        since: When the launch was made, or the user chose how to go on (UTC, ISO 8601).
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
        """Whether the launch was a fresh start that ended in an error before its prompt arrived."""
        failed = self.status == CRASHED and bool(self.exit_status)
        return failed and self.mode == "fresh" and not (self.reached or self.heard)


@dataclass(frozen=True, slots=True, kw_only=True)
class Interruption:
    """Why the session does not go on: the ``cause``, for people, and where it happened."""

    cause: str
    seat: str = ""
    phase: str = ""
    at: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchivedArtifacts:
    """Artifacts that no longer count: ``paths`` are to be moved into the folder ``to``."""

    to: str
    paths: tuple[str, ...]

    def takes(self, path: str) -> bool:
        """Whether ``path``, relative to the session, is one of ``paths`` or below one of them."""
        return any(path == gone or path.startswith(f"{gone}/") for gone in self.paths)


@dataclass(frozen=True, slots=True, kw_only=True)
class Research:
    """Research on a topic: the question, the seats that asked for it, and those told of its end."""

    question: str
    owners: tuple[str, ...] = ()
    told: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Input:
    """A message or keys of the user that are on their way to the agent of a launch.

    Attributes:
        id: The id of the user's event.
        text: The message; empty for keys.
        keys: As in `events.SeatAnswered`; empty for a message.
        screen: As in `events.SeatAnswered`.
        started: Something may have been typed.
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
        reason: Why the commit is delayed or failed; else empty.
    """

    status: str
    approval: str = ""
    commit: str | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepState:
    """How far one step of a delivery is.

    Attributes:
        status: ``running``, ``done`` or ``failed``.
        reason: Why it failed, and what to do about it; else empty.
        record: What was recorded before and after the step, as texts by name; see
            docs/reference/session-files.md.
    """

    status: str = ""
    reason: str = ""
    record: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """Where an approved result goes, and how far it is.

    Attributes:
        id: The id of the approval.
        then: ``keep`` (it stays on its branch), ``merge`` (into the branch that its own began on),
            ``push`` (to a remote) or ``pr`` (pushed and requested).
        steps: Each step that was begun, by name: ``commit``, ``merge``, ``push``, ``request``.
            Which steps a delivery has, in which order, is in `core.pipeline.delivery`.
    """

    id: str
    then: str = KEEP
    steps: Mapping[str, StepState] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeCheckpoint:
    """A work-tree checkpoint: the files of the work tree, as a commit in the session's directory.

    Attributes:
        number: 1 for the session's first one, and so on.
        because: ``phase`` (it ended), ``subplan`` (one was handed in), ``stop`` (the session was
            stopped), ``rewind`` (the files were about to be rewound), ``rewound`` (they were) or
            ``export``.
        phase: The phase that had ended, or else was under way.
        subplans: The sub-plans that were handed in by then.
        commit: The commit with the files.
        head: The commit that was checked out; None before the first one.
        branch: Short name of the branch that was checked out; None where HEAD was detached.
        missing: The files that could not be saved.
        at: When it was recorded (UTC, ISO 8601).
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
    """A rewind of the files that has begun; the attributes are as in `events.RewindStarted`."""

    number: int
    before: int
    phase: str
    subplans: tuple[int, ...] = ()
    stale: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Issue:
    """The issue of a forge that a session is about; its text is the session's ``feature``.

    Attributes:
        title: On one line.
        words: What the user said beside the issue; empty for nothing.
    """

    url: str
    number: int
    title: str
    words: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """The request on a forge that asks to merge the session's branch."""

    url: str
    number: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Reviewed:
    """What a session looks at, in a worktree without a branch, and does not change.

    Attributes:
        name: Short name of the branch.
        commit: Where the branch was when the session began; the worktree shows it.
        base: The ref with which it is compared, as a person named it.
        since: The commit of ``base`` when the session began.
        url: Its request; empty for a plain branch.
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
        launch: The seat's launch: the one that showed the limit, or the one after it.
        agent: The agent's name in the registry.
        home: The path of the agent's config home. Agents with the same name and home are taken for
            one account: they are woken one after the other.
        until: When it is to be woken (UTC, ISO 8601).
        said: When its limit ends, in the agent's words; empty where it did not say.
        woken: When it was woken (UTC, ISO 8601); empty while it is parked.
        settled: Whether its agent has worked since it was woken.
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
    """The options of a start, which hold for the whole session.

    Attributes:
        agents: Agents by role, from ``--agent`` and ``--role``; ``*`` stands for all other roles.
        models: Models by role, from ``--role``.
        single_coder: Whether one coder does the whole plan.
        require_approval: Whether the user has to approve the result.
        commit: Whether the result is to be committed (false outside a git repository).
        base: The commit that was checked out at the start; None without git or without a commit.
        dirty: Files with uncommitted changes at the start, which the commit leaves out. Folders
            that are git repositories of their own end in ``/``.
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
    """What a session's own branch began on; ``branch`` is None where no branch was named."""

    commit: str
    branch: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """Where a session was exported to.

    Attributes:
        to: The absolute path of the file.
        digest: The SHA-256 of its manifest, in hex.
        at: When (UTC, ISO 8601).
    """

    to: str
    digest: str = ""
    at: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrived:
    """Where a session that was imported comes from.

    Attributes:
        host: The name of that machine.
        session: Its uuid there.
        at: When it was imported (UTC, ISO 8601).
    """

    host: str
    session: str = ""
    at: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """What prepares the session's worktree before the first agent starts there.

    Attributes:
        steps: The steps as they were configured at the start: ``name``, ``run`` and ``timeout_s``.
        done: How many of them have succeeded since the worktree was last made.
        before: The files that were dirty when the worktree had just been made.
        finished: Whether all have succeeded, and what they changed is recorded.
    """

    steps: tuple[Json, ...]
    done: int = 0
    before: tuple[str, ...] = ()
    finished: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionState:
    """The fold of a journal up to ``applied_offset``, in bytes.

    Attributes:
        branch: Short name of the branch that the result goes on; None where HEAD is detached.
        worktree: The top of the session's own worktree; None where it works in the checkout.
        base: What the session's own worktree began on.
        worktree_made: The worktree was there once.
        continued: The session continues a branch that was there before it.
        setup: What prepares the worktree; None where nothing does.
        port_base: The first of the 50 ports that the session's programs may listen on; 0 for none.
        delivery: Where the approved result goes; None before an approval, and where it stays in
            the checkout.
        tree_checkpoints: The work-tree checkpoints, oldest first.
        rewind: A rewind that has begun and is not finished; None for none.
        issue: The issue whose text is ``feature``; None where the user described the feature.
        request: The request that was opened for the result, or that the session continues.
        reviewed: What the session looks at and does not change; None where it works itself.
        pipeline: The session's pipeline, as it was when the session began.
        results: What its checks and reviews have found, by phase.
        fix: The last fix of the present cycle.
        skipped_checks: The commands of checks without which the user went on when they could not
            run; nobody is asked about them again.
        base_checks: What the required commands show before the session changes anything; None
            where they are not run on the base.
        pipeline_files: The prompts and schemas of the pipeline that came from files, by their
            names in it: the SHA-256 of each. Their content is at `layout.frozen`.
        verify: The commands of the pipeline's checks as they were configured at the start:
            ``name``, ``run``, ``timeout_s`` and ``required``.
        approved_tree: Git's id of the files that the approval is for; empty for any files.
        approved_back: The commits that a merge may bring back into the base, as in `Approved`.
        parked: The seats that wait for the end of a usage limit, and those that were woken and
            have not handed in since, by name. They outlive their seats: after a reboot a seat is
            launched when its limit is over.
        inputs: What the user wants to be typed to agents and was not dealt with yet, oldest first.
        moved: Where the session was exported to; None where it goes on here.
        arrived: Where it comes from; None where it began here.
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
        """What the session is about in few words: the issue's title, else the feature."""
        return self.issue.title if self.issue is not None else self.feature

    @property
    def is_report(self) -> bool:
        """Whether the session leaves only its files: nothing is committed or delivered."""
        return self.pipeline.result is Result.REPORT

    @property
    def commits(self) -> bool:
        """Whether the result is to be committed once it is approved."""
        return self.options.commit and not self.is_report

    def tasks(self, kind: ResearchKind) -> Mapping[str, str]:
        """Return the research of one kind: the status (see `statuses`) of each topic."""
        return self.research_tasks if kind is ResearchKind.CODE else self.web_research_tasks

    @property
    def iteration(self) -> int:
        """The present iteration of the present cycle: how many fixes were asked for in it."""
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
    """Return an issue as ``state.json`` has it; None for none."""
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
    """Return the phases that a session with this pipeline can be in, its ends included."""
    return ENDS.union(each.phase for each in pipeline.phases)


def has_phase(values: Json) -> bool:
    """Whether the content of a ``state.json`` names a phase of its pipeline, or an end.

    Nothing else is checked: the content may be that of a damaged file.
    """
    phase, pipeline = values.get("phase"), values.get("pipeline")
    if is_older(values) or not isinstance(phase, str):
        return phase in tuple(phase_names(FEATURE))  # a damaged file may hold anything
    phases = pipeline.get("phases") if isinstance(pipeline, dict) else None
    listed = phases if isinstance(phases, list) else []
    return phase in ENDS or any(isinstance(e, dict) and e.get("phase") == phase for e in listed)


def decode(values: Json, *, where: str, fix_requested: bool | None = None) -> SessionState:
    """Return the state that ``values``, the content of ``state.json``, describe.

    One that records no pipeline is brought into the present form, with ``fix_requested`` as
    `present_form` takes it.

    Raises:
        FieldError: ``phase`` is missing or unknown, or a field has another type. The message names
            ``where``, the place of the values.
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
