"""The events of the journal: one frozen class for each kind of fact.

The kind of a signal is the name of its tool (``submit_plan``); other kinds are in the past tense
(``agent_launched``). Every line has this envelope:
``{"v":1,"id":"…","at":"…Z","event":"…","seat":"…","launch":"…","cycle":1,"payload":{…}}``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Final

from agentmux.core.codec.frozen import dataclass, field
from agentmux.core.codec.records import Json, from_fields, to_fields
from agentmux.core.journal.older_form import present_line
from agentmux.errors import DataError

VERSION: Final = 2
"""The version of a journal line."""
OLDER_VERSION: Final = 1
"""The version that orchestrators read which record no pipeline, such as those of 0.1.0."""
ORCHESTRATOR: Final = "orchestrator"
USER: Final = "user"


class UnknownEventError(DataError):
    """A journal line is valid JSON, but its kind or its version is unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """Something that happened; each kind is a class of its own, with a ``kind``."""

    kind: ClassVar[str]


class Signal(Fact):
    """What an agent says by a signal."""

    __slots__ = ()


class UserDecision(Fact):
    """What the user decides about the result."""

    __slots__ = ()


# -- signals of agents ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class PmDone(Signal):
    """The product manager handed in ``requirements.md``."""

    kind: ClassVar[str] = "submit_pm_done"
    sha256: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchitectureDone(Signal):
    """The architect handed in ``architecture.md``, with the reviewers to nominate (long names)."""

    kind: ClassVar[str] = "submit_architecture"
    sha256: str = ""
    reviewers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanDone(Signal):
    """The planner handed in a valid ``plan.yaml``; ``plan`` is its parsed content."""

    kind: ClassVar[str] = "submit_plan"
    sha256: str = ""
    plan: Json = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class DesignDone(Signal):
    """The designer handed in ``design.md``."""

    kind: ClassVar[str] = "submit_design"
    sha256: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PhaseDone(Signal):
    """The agent of a document that has no signal of its own handed in all that it leaves.

    Attributes:
        phase: The name of the phase.
        sha256: Of the file; of several files, the digest of their digests.
    """

    kind: ClassVar[str] = "submit_phase"
    phase: str
    sha256: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeDone(Signal):
    """A coder finished a sub-plan, or the fix (then ``subplan_index`` is None)."""

    kind: ClassVar[str] = "submit_done"
    subplan_index: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewDone(Signal):
    """A reviewer handed in its verdict; ``review`` is the parsed file."""

    kind: ClassVar[str] = "submit_review"
    role: str
    verdict: str
    sha256: str = ""
    review: Json = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ResearchDone(Signal):
    """A researcher handed in ``summary.md`` and ``detail.md``."""

    kind: ClassVar[str] = "submit_research_done"
    research: str
    topic: str
    sha256: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryDone(Signal):
    """The first reviewer handed in ``summary.md``."""

    kind: ClassVar[str] = "submit_summary"
    sha256: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hello(Signal):
    """An agent reported ``conversation``, the id of its conversation; empty if it knows none."""

    kind: ClassVar[str] = "submit_hello"
    conversation: str = ""
    source: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeResearchDispatched(Signal):
    """A seat asked for research in the code base."""

    kind: ClassVar[str] = "research_dispatch_code"
    topic: str
    question: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WebResearchDispatched(Signal):
    """A seat asked for research on the web."""

    kind: ClassVar[str] = "research_dispatch_web"
    topic: str
    question: str


# -- signals of the user -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Approved(UserDecision):
    """The user, or the configuration, accepted the result.

    Attributes:
        then: Where the result goes: ``keep`` (it stays on its branch), ``merge``, ``push`` or
            ``pr``; empty, as in older journals, is ``keep``.
        of_phase: The phase whose result was shown to the user; empty where nothing was shown.
        digest: The digest of what was shown, as `decision_digest` returns it; else empty.
        tree: Git's id of the files that were shown, which alone may be committed; empty for any.
        brings_back: Hash and subject of each commit that the base has no more, and that a merge may
            bring back; no other one may come back with it.
    """

    kind: ClassVar[str] = "approve"
    then: str = ""
    of_phase: str = ""
    digest: str = ""
    tree: str = ""
    brings_back: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangesRequested(UserDecision):
    """The user asked for another cycle; ``text`` says what to change.

    Attributes:
        phase: The phase in which the cycle begins; empty for `Pipeline.again`, ``architecting``.
        of_phase: As in `Approved`.
        digest: As in `Approved`.
    """

    kind: ClassVar[str] = "request_changes"
    text: str
    phase: str = ""
    of_phase: str = ""
    digest: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SeatTold(Fact):
    """The user has a message for the agent of the event's launch; the event's id names it."""

    kind: ClassVar[str] = "seat_told"
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SeatAnswered(Fact):
    """The user answers a question on the screen of the event's launch.

    Attributes:
        keys: As `answer_keys.read_keys` returns them.
        screen: The digest of the screen that the user has seen; on another one no key is pressed.
    """

    kind: ClassVar[str] = "seat_answered"
    keys: tuple[str, ...]
    screen: str


# -- facts ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class JournalCreated(Fact):
    """The first event of every journal."""

    kind: ClassVar[str] = "journal_created"
    journal_id: str
    agentmux: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionStarted(Fact):
    """The session was created; ``state`` holds its first state."""

    kind: ClassVar[str] = "session_started"
    state: Json


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionImported(Fact):
    """A session of an older version was imported; ``state`` is its normalised state."""

    kind: ClassVar[str] = "session_imported"
    state: Json


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionMoved(Fact):
    """The session was exported: it goes on where its file is imported, and not here.

    Attributes:
        to: The absolute path of the file.
        digest: The SHA-256 of its manifest, in hex.
    """

    kind: ClassVar[str] = "session_moved"
    to: str
    digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionReturned(Fact):
    """The file of an exported session was imported where it came from: it goes on here."""

    kind: ClassVar[str] = "session_returned"


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionArrived(Fact):
    """The session was imported from a file.

    Attributes:
        state: Its state here; nothing of the state before it stays.
        host: The name of the machine that it comes from.
        session: Its uuid there, which a copy does not keep.
    """

    kind: ClassVar[str] = "session_arrived"
    state: Json
    host: str
    session: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentLaunched(Fact):
    """A launch is about to happen; this is recorded before the pane is made.

    Attributes:
        record: The resume record of the launch.
        mode: How the pane comes up: ``native`` (the agent with its conversation), ``fresh`` (the
            agent with a new one), ``shell`` (for a person) or ``screen`` (just the last screen).
        reason: Why the pane comes up in this mode, in words.
        attempt: 1 for the first launch for the same work, 2 for the next, and so on.
        stopped: Whether the pane waits for the user's choice (see `LaunchChosen`); ``mode`` is then
            the mode that the choice ``resume`` leads to.
        phase: The phase whose work needs the launch; empty in older journals. If that work is done
            by now, or the phase is over, the launch gets no seat.
    """

    kind: ClassVar[str] = "agent_launched"
    role: str
    record: Json
    mode: str
    reason: str
    attempt: int = 1
    subplan: int | None = None
    topic: str = ""
    prompt_bytes: int = 0
    fresh_prompt_bytes: int = 0
    stopped: bool = False
    phase: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchChosen(Fact):
    """The user chose in a stopped pane how to go on; the launch's time limits start now.

    Attributes:
        choice: ``resume``, ``fresh`` or ``shell``.
        mode: How the pane comes up now, as in `AgentLaunched`.
        reason: Why the pane comes up in this mode, in words.
        record: The resume record for this choice; empty if the record of the launch stays.
        prompt: The name of the file with the prompt in the folder of the launch.
    """

    kind: ClassVar[str] = "launch_chosen"
    choice: str
    mode: str
    reason: str
    record: Json = field(default_factory=dict)
    prompt: str = "prompt.md"
    prompt_bytes: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptReached(Fact):
    """There is proof that a prompt arrived in the conversation of this launch."""

    kind: ClassVar[str] = "prompt_reached"
    evidence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentExited(Fact):
    """The program of a launch has ended.

    Attributes:
        cause: ``crashed``, ``finished`` (exit status 0), ``ended_by_user``, ``rejected`` (the agent
            does not know the conversation) or ``claim_taken`` (another pane has the conversation).
    """

    kind: ClassVar[str] = "agent_exited"
    cause: str
    status: int | None = None
    signal: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentNudged(Fact):
    """An idle agent that has not handed in was reminded; this happens once per launch."""

    kind: ClassVar[str] = "agent_nudged"
    result: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentStalled(Fact):
    """A reminded agent stayed idle: it was reported, and is not reminded again."""

    kind: ClassVar[str] = "agent_stalled"
    idle_s: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentParked(Fact):
    """An agent has reached its usage limit: it is left alone until that is over.

    It is recorded again if the agent's words change.

    Attributes:
        agent: The agent's name in the registry.
        home: The path of the agent's config home, or empty.
        until: When it is to be woken (UTC, ISO 8601).
        said: When the limit ends, in the agent's words; empty where it did not say.
    """

    kind: ClassVar[str] = "agent_parked"
    agent: str
    until: str
    home: str = ""
    said: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentWoken(Fact):
    """The limit of a parked agent should be over; this is recorded before it is told.

    Attributes:
        how: ``told`` (it is told to go on, at most once), ``busy`` (it works, before it was told
            or after), ``answered`` (it has gone on by itself before) or ``launch`` (no agent runs
            in the seat: one is launched).
    """

    kind: ClassVar[str] = "agent_woken"
    how: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitsLifted(Fact):
    """The user wants every parked agent to go on now."""

    kind: ClassVar[str] = "limits_lifted"


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationLearned(Fact):
    """An agent's conversation became known, or it changed to an unknown one.

    Attributes:
        conversation: The conversation's id; empty if it changed to an unknown one.
        source: What told it: a ``hook``, the ``environment`` of a call, or the ``screen``.
    """

    kind: ClassVar[str] = "conversation_learned"
    conversation: str
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ResearchTold(Fact):
    """A seat was told that the research it asked for is done."""

    kind: ClassVar[str] = "research_told"
    research: str
    topic: str
    result: str


@dataclass(frozen=True, slots=True, kw_only=True)
class InputStarted(Fact):
    """A message or keys of the user are about to be sent to the pane of their launch.

    ``input`` is the id of the event `SeatTold` or `SeatAnswered`.
    """

    kind: ClassVar[str] = "input_started"
    input: str


@dataclass(frozen=True, slots=True, kw_only=True)
class InputEnded(Fact):
    """Nothing more happens to a message or to keys of the user.

    Attributes:
        input: As in `InputStarted`.
        result: What happened to it: a `DeliveryResult`.
        evidence: How that is known, in words.
    """

    kind: ClassVar[str] = "input_ended"
    input: str
    result: str
    evidence: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PhaseSettled(Fact):
    """The phase was entered with its outcome already on disk; ``found`` holds that outcome."""

    kind: ClassVar[str] = "phase_settled"
    phase: str
    found: Json = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Resumed(Fact):
    """The session was resumed; ``phase`` and the fields in ``found`` replace those of the state."""

    kind: ClassVar[str] = "resumed"
    phase: str
    cycle: int
    found: Json
    override: bool = False
    tmux_socket: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionReattached(Fact):
    """A new orchestrator took over the live panes of one that was lost."""

    kind: ClassVar[str] = "session_reattached"


@dataclass(frozen=True, slots=True, kw_only=True)
class SeatRestarted(Fact):
    """The user restarted a seat; ``fresh``: without its conversation. None: as configured."""

    kind: ClassVar[str] = "seat_restarted"
    fresh: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ArtifactsArchived(Fact):
    """Entries of ``pending_archive`` have been moved to history.

    Attributes:
        moved: How many entries were moved, counted from the first; None (in older journals) means
            all. Later entries were added while these were being moved.
    """

    kind: ClassVar[str] = "artifacts_archived"
    moved: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WorktreeMade(Fact):
    """The session's worktree exists, at the path and on the branch that the state names.

    Attributes:
        again: Whether it was made again, after it was deleted.
        dirty: The files with uncommitted changes in it, if a setup follows.
        checkpoint: The number of the work-tree checkpoint whose files it has; None for those of the
            branch.
    """

    kind: ClassVar[str] = "worktree_made"
    again: bool = False
    dirty: tuple[str, ...] = ()
    checkpoint: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WorktreeMoved(Fact):
    """The session's worktree was found at another place: it has moved along with its repository.

    Attributes:
        path: Where its top is now.
    """

    kind: ClassVar[str] = "worktree_moved"
    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SetupDone(Fact):
    """All steps of the setup have succeeded; they have created or changed the files ``changed``."""

    kind: ClassVar[str] = "setup_done"
    changed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ChecksBegan(Fact):
    """The commands of a check are about to run; what ran on other files no longer counts.

    Attributes:
        phase: The check.
        tree: The id of the files: that of git's tree, or outside of git a new one.
    """

    kind: ClassVar[str] = "checks_began"
    phase: str
    tree: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckDone(Fact):
    """A command of a check has ended; the attributes are those of `results.CheckResult`."""

    kind: ClassVar[str] = "check_done"
    phase: str
    name: str
    outcome: str
    status: int | None = None
    signal: int | None = None
    timed_out: bool = False
    tree: str = ""
    left: str = ""
    required: bool = True
    output: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class BaseMade(Fact):
    """The worktree exists in which the required commands run on the base."""

    kind: ClassVar[str] = "base_made"


@dataclass(frozen=True, slots=True, kw_only=True)
class BaseChecked(Fact):
    """A required command has ended on the base; the attributes are as in `CheckDone`."""

    kind: ClassVar[str] = "base_checked"
    name: str
    outcome: str
    status: int | None = None
    signal: int | None = None
    timed_out: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class BaseDone(Fact):
    """The checks of the base are over, and their worktree is removed.

    Attributes:
        because: Why they could not be run; empty where they were.
    """

    kind: ClassVar[str] = "base_done"
    because: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckSkipped(Fact):
    """The user went on without a command that could not run."""

    kind: ClassVar[str] = "check_skipped"
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Repinned(Fact):
    """The user had the session take what the configuration says now: setup, pipeline, checks.

    Attributes:
        setup: The steps of the setup, as the state has them.
        copied: The patterns of the files that the worktree gets copies of; None: as before.
        dirty: The files with uncommitted changes at that moment.
        pipeline: The pipeline, as a state has it; empty: pipeline, files and commands stay.
        pipeline_files: The SHA-256 of each of its files, by name.
        verify: The commands of its checks, as a state has them.
    """

    kind: ClassVar[str] = "repinned"
    setup: tuple[Json, ...] = ()
    copied: str | None = None
    dirty: tuple[str, ...] = ()
    pipeline: Json = field(default_factory=dict)
    pipeline_files: Mapping[str, str] = field(default_factory=dict)
    verify: tuple[Json, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointTaken(Fact):
    """The work tree was saved as a commit in the session's directory.

    The attributes are those of `state.TreeCheckpoint`.
    """

    kind: ClassVar[str] = "checkpoint_taken"
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


@dataclass(frozen=True, slots=True, kw_only=True)
class RewindStarted(Fact):
    """The files of the work tree are about to be rewound to a checkpoint.

    Attributes:
        number: The checkpoint to go back to.
        before: The checkpoint with the files as they are now.
        phase: The phase in which work goes on then.
        subplans: The sub-plans that stay handed in.
        stale: The seats whose conversations went on after the checkpoint.
    """

    kind: ClassVar[str] = "rewind_started"
    number: int
    before: int
    phase: str
    subplans: tuple[int, ...] = ()
    stale: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewound(Fact):
    """The files are those of the checkpoint again; the attributes are as in `RewindStarted`.

    The artifacts of the phase, and of the phases that build on it, no longer count.
    """

    kind: ClassVar[str] = "rewound"
    number: int
    phase: str
    subplans: tuple[int, ...] = ()
    stale: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitStarted(Fact):
    """The commit for an approval is about to be made."""

    kind: ClassVar[str] = "commit_started"
    approval: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitMade(Fact):
    """The commit was made, or found by its trailer; ``commit`` is None if none was needed.

    The trailer is the line ``Agentmux-Event: <id of the approval>`` in the commit's message. If
    an earlier attempt had already made the commit, ``adopted`` is True.
    """

    kind: ClassVar[str] = "commit_made"
    commit: str | None
    adopted: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitDelayed(Fact):
    """The commit waits until an obstacle in the user's repository is gone, and is then made."""

    kind: ClassVar[str] = "commit_delayed"
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitFailed(Fact):
    """The commit could not be made; the user decides again."""

    kind: ClassVar[str] = "commit_failed"
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StepStarted(Fact):
    """A step of a delivery is about to be taken; ``record`` says what exactly it will do.

    It is recorded again, with another ``record``, if the world has changed before the step was
    taken.
    """

    kind: ClassVar[str] = "delivery_step_started"
    approval: str
    step: str
    record: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class StepDone(Fact):
    """A step of a delivery was taken, or was found to be taken; ``record`` says what it did."""

    kind: ClassVar[str] = "delivery_step_done"
    approval: str
    step: str
    record: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class StepFailed(Fact):
    """A step of a delivery could not be taken; the user decides again.

    ``reason`` is for people; ``record`` is what the next cycle may need, such as the conflicts.
    """

    kind: ClassVar[str] = "delivery_step_failed"
    approval: str
    step: str
    reason: str
    record: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionInterrupted(Fact):
    """The session stopped before the pipeline was done; ``cause`` says why."""

    kind: ClassVar[str] = "session_interrupted"
    cause: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionFailed(Fact):
    """The pipeline cannot go on by itself.

    Attributes:
        phase: The phase that failed; empty in older journals.
    """

    kind: ClassVar[str] = "session_failed"
    cause: str
    phase: str = ""


FACTS: Final[Mapping[str, type[Fact]]] = {
    each.kind: each
    for each in tuple(globals().values())
    if isinstance(each, type) and issubclass(each, Fact) and "kind" in vars(each)
}
SIGNALS: Final = frozenset(kind for kind, fact in FACTS.items() if issubclass(fact, Signal))
USER_DECISIONS: Final = frozenset(k for k, fact in FACTS.items() if issubclass(fact, UserDecision))


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One journal line.

    Attributes:
        at: When it happened (UTC, ISO 8601 with ``Z``).
        seat: The seat that the event comes from or concerns; else ``orchestrator`` or ``user``.
        launch: The launch that the event comes from or concerns; else empty.
        cycle: The cycle in which the writer of the event works.
        fact: What happened.
    """

    id: str
    at: str
    seat: str
    launch: str
    cycle: int
    fact: Fact


@dataclass(frozen=True, slots=True, kw_only=True)
class _Envelope:
    id: str
    at: str
    event: str
    seat: str = ""
    launch: str = ""
    cycle: int = 1
    payload: Json = field(default_factory=dict)


def encode(event: Event, version: int = VERSION) -> dict[str, object]:
    """Return the fields of the event's journal line, as a mapping; `parse` is the inverse.

    ``version`` is `OLDER_VERSION` for a signal to an orchestrator that reads no other: signals have
    the same form in both.
    """
    return {
        "v": version,
        "id": event.id,
        "at": event.at,
        "event": event.fact.kind,
        "seat": event.seat,
        "launch": event.launch,
        "cycle": event.cycle,
        "payload": to_fields(event.fact),
    }


def parse(fields: Json) -> Event:
    """Return the event that the fields of a journal line describe; the inverse of `encode`.

    Raises:
        UnknownEventError: The kind is unknown, or this program does not read the version.
        FieldError: A field is missing or of another type.
    """
    version = fields.get("v")
    if type(version) is not int or not OLDER_VERSION <= version <= VERSION:
        is_newer = type(version) is int and version > VERSION
        raise UnknownEventError(
            f"journal line of version {version!r}, but this agentmux reads up to {VERSION}",
            hints=("update agentmux",) if is_newer else (),
        )
    envelope = from_fields(_Envelope, fields, where="journal line")
    fact = FACTS.get(envelope.event)
    if fact is None:
        raise UnknownEventError(
            f"journal line of unknown kind `{envelope.event}`", hints=("update agentmux",)
        )
    payload = present_line(envelope.payload) if version == OLDER_VERSION else envelope.payload
    return Event(
        id=envelope.id,
        at=envelope.at,
        seat=envelope.seat,
        launch=envelope.launch,
        cycle=envelope.cycle,
        fact=from_fields(fact, payload, where=f"`{envelope.event}` event {envelope.id}"),
    )
