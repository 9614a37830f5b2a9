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
"""The only version that older orchestrators read: those that record no pipeline, as in 0.1.0."""
ORCHESTRATOR: Final = "orchestrator"
USER: Final = "user"


class UnknownEventError(DataError):
    """A journal line is valid JSON, but its kind or its version is unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """What an event is about: something that happened. Each kind is a class of its own.

    Attributes:
        kind: The name of the kind in the journal, such as ``agent_launched``.
    """

    kind: ClassVar[str]


class Signal(Fact):
    """An agent's message: it hands in work, asks for research, or names its conversation.

    The base class of these facts. A signal counts only if `judge` accepts it.
    """

    __slots__ = ()


class UserDecision(Fact):
    """A decision of the user about the result: the base class of `Approved`, `ChangesRequested`."""

    __slots__ = ()


# -- signals of agents ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class PmDone(Signal):
    """The product manager handed in ``requirements.md``; ``sha256`` is its SHA-256, in hex."""

    kind: ClassVar[str] = "submit_pm_done"
    sha256: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchitectureDone(Signal):
    """The architect handed in ``architecture.md``.

    Attributes:
        sha256: The SHA-256 of the file, in hex.
        reviewers: The roles that it nominates as reviewers, such as ``reviewer_logic``; empty if it
            nominates none.
    """

    kind: ClassVar[str] = "submit_architecture"
    sha256: str = ""
    reviewers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanDone(Signal):
    """The planner handed in a valid ``plan.yaml``.

    ``sha256`` is the SHA-256 of the file, in hex, and ``plan`` its parsed content as a mapping.
    """

    kind: ClassVar[str] = "submit_plan"
    sha256: str = ""
    plan: Json = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class DesignDone(Signal):
    """The designer handed in ``design.md``; ``sha256`` is its SHA-256, in hex."""

    kind: ClassVar[str] = "submit_design"
    sha256: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PhaseDone(Signal):
    """An agent handed in all files of a phase that has no signal of its own.

    Attributes:
        phase: The name of the phase.
        sha256: The SHA-256 of the file, in hex; for several files, that of their hex digests.
    """

    kind: ClassVar[str] = "submit_phase"
    phase: str
    sha256: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeDone(Signal):
    """A coder finished a sub-plan, or a fix.

    Attributes:
        subplan_index: The number of the sub-plan, from 1; None for a fix, or if there is no plan.
    """

    kind: ClassVar[str] = "submit_done"
    subplan_index: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewDone(Signal):
    """A reviewer handed in its review.

    Attributes:
        role: The reviewer's role.
        verdict: ``pass`` or ``fail``.
        sha256: The SHA-256 of the file, in hex.
        review: The parsed content of the file, as a mapping.
    """

    kind: ClassVar[str] = "submit_review"
    role: str
    verdict: str
    sha256: str = ""
    review: Json = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ResearchDone(Signal):
    """A researcher handed in ``summary.md`` and ``detail.md``.

    Attributes:
        research: The kind of research: ``code`` or ``web``.
        topic: The topic, as named in the request for the research.
        sha256: The SHA-256, in hex, of the hex digests of the two files.
    """

    kind: ClassVar[str] = "submit_research_done"
    research: str
    topic: str
    sha256: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryDone(Signal):
    """The seat that summarises the work, usually the first reviewer, handed in ``summary.md``.

    ``sha256`` is the SHA-256 of the file, in hex.
    """

    kind: ClassVar[str] = "submit_summary"
    sha256: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hello(Signal):
    """An agent reported the id of its conversation.

    Attributes:
        conversation: The id; empty if the agent knows none.
        source: Where the id comes from: ``environment``; empty without an id.
    """

    kind: ClassVar[str] = "submit_hello"
    conversation: str = ""
    source: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeResearchDispatched(Signal):
    """A seat asked for research in the code base: a ``question``, with a short name, ``topic``."""

    kind: ClassVar[str] = "research_dispatch_code"
    topic: str
    question: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WebResearchDispatched(Signal):
    """A seat asked for research on the web: a ``question``, with a short name, ``topic``."""

    kind: ClassVar[str] = "research_dispatch_web"
    topic: str
    question: str


# -- signals of the user -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Approved(UserDecision):
    """The user, or the configuration, accepted the result.

    Attributes:
        then: How the result is delivered: ``keep`` (it stays on its branch), ``merge``, ``push`` or
            ``pr``. Older journals leave it empty, which means ``keep``.
        of_phase: The phase whose result was shown to the user; empty if nothing was shown.
        digest: The digest of what was shown, from `decision_digest`; empty if nothing was shown.
        tree: Git's tree id of the files that were shown: only these files may be committed. Empty
            if any files may be committed.
        brings_back: A text with hash and subject for each commit that was removed from the base and
            that a merge may bring back. A merge may bring back no other removed commit.
        on_top: The commit in the checkout, made by the user after the session began there, on top
            of which the result is committed; empty if it is committed where the session began.
    """

    kind: ClassVar[str] = "approve"
    then: str = ""
    of_phase: str = ""
    digest: str = ""
    tree: str = ""
    brings_back: tuple[str, ...] = ()
    on_top: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangesRequested(UserDecision):
    """The user asked for another cycle.

    Attributes:
        text: What to change, in the user's words.
        phase: The phase in which the cycle begins; empty means the phase that
            `Pipeline.default_beginning` returns.
        of_phase: The phase whose result was shown to the user; empty if nothing was shown.
        digest: The digest of what was shown, from `decision_digest`; empty if nothing was shown.
    """

    kind: ClassVar[str] = "request_changes"
    text: str
    phase: str = ""
    of_phase: str = ""
    digest: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SeatTold(Fact):
    """The user sent a message, ``text``, to the agent of the event's launch.

    Later events refer to the message by the id of this event.
    """

    kind: ClassVar[str] = "seat_told"
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SeatAnswered(Fact):
    """The user answered a question on the screen of the event's launch.

    Attributes:
        keys: The keys to press, in order, as `answer_keys.read_keys` returns them.
        screen: The digest of the screen that the user saw. If the screen has changed, no key is
            pressed.
    """

    kind: ClassVar[str] = "seat_answered"
    keys: tuple[str, ...]
    screen: str


# -- facts ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class JournalCreated(Fact):
    """The journal was created; this is the first event of every journal.

    Attributes:
        journal_id: The journal's uuid, which the state also records.
        agentmux: The version of AgentMux that created it.
    """

    kind: ClassVar[str] = "journal_created"
    journal_id: str
    agentmux: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionStarted(Fact):
    """The session was created; ``state`` holds its first state.

    ``state`` has the form of ``state.json``.
    """

    kind: ClassVar[str] = "session_started"
    state: Json


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionImported(Fact):
    """A session of an older version was imported; ``state`` is its normalised state.

    That is its state in the form of ``state.json`` that this version writes.
    """

    kind: ClassVar[str] = "session_imported"
    state: Json


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionMoved(Fact):
    """The session was exported to a file, and continues where that file is imported.

    Attributes:
        to: The absolute path of the file.
        digest: The SHA-256 of the file's manifest, in hex.
    """

    kind: ClassVar[str] = "session_moved"
    to: str
    digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionReturned(Fact):
    """The session's exported file was imported where it came from: the session continues here."""

    kind: ClassVar[str] = "session_returned"


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionArrived(Fact):
    """The session was imported from a file.

    Attributes:
        state: The session's state here, in the form of ``state.json``; it replaces the earlier
            state except for the ``journal_id``.
        host: The name of the machine that it was exported from.
        session: Its uuid on that machine; a copy gets a new uuid here.
    """

    kind: ClassVar[str] = "session_arrived"
    state: Json
    host: str
    session: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentLaunched(Fact):
    """A launch is about to happen; this is recorded before the pane is made.

    Attributes:
        role: The role of the seat.
        record: The fields of the launch's `ResumeRecord`; empty if the launch runs a command.
        mode: What the pane starts with: ``native`` (the agent with its earlier conversation),
            ``fresh`` (the agent with a new one), ``shell`` (a shell for the user) or ``screen``
            (only the last screen). For a command it is the role: ``setup``, ``check`` or ``base``.
        reason: The reason for the mode, in words; empty for a command.
        attempt: 1 for the first launch for the same work, 2 for the next, and so on.
        subplan: The sub-plan of the seat; None if it has none.
        topic: The topic of a researcher's seat, or the name of the setup step or check command that
            runs; otherwise empty.
        prompt_bytes: The size of the prompt that is sent, in bytes.
        fresh_prompt_bytes: The size of the full prompt for a new conversation, in bytes.
        stopped: Whether the pane waits for the user's choice (see `LaunchChosen`); ``mode`` is then
            what the first choice leads to.
        phase: The phase whose work needs the launch; empty in older journals. If that work is
            already done or the phase is over, the launch changes nothing.
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
    """The user chose what starts in a pane that waited; the launch's time limits begin now.

    Attributes:
        choice: ``resume``, ``fresh`` or ``shell``.
        mode: What the pane starts with, as in `AgentLaunched`.
        reason: The reason for the mode, in words.
        record: The fields of the `ResumeRecord` for this choice; empty if the record of the launch
            stays valid.
        prompt: The name of the file with the prompt in the launch's folder.
        prompt_bytes: The size of that prompt, in bytes.
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
    """There is proof, the ``evidence``, that a prompt arrived in this launch's conversation.

    ``evidence`` says in words what was seen, such as ``prompt on screen, composer empty``.
    """

    kind: ClassVar[str] = "prompt_reached"
    evidence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentExited(Fact):
    """The program of a launch has ended.

    Attributes:
        cause: ``crashed``, ``finished`` (exit status 0), ``ended_by_user``, ``rejected`` (the agent
            does not know the conversation), ``claim_taken`` (another pane has the conversation) or
            ``timed_out`` (a setup step exceeded its time limit).
        status: The exit status; None if it is not known, or if a Unix signal ended the program.
        signal: The number of that Unix signal; None if there was none.

    The seat and the launch are those of the `Event`.
    """

    kind: ClassVar[str] = "agent_exited"
    cause: str
    status: int | None = None
    signal: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentNudged(Fact):
    """An idle agent that has not handed in its work was reminded; happens once per launch.

    After a usage limit, it may happen once more.

    Attributes:
        result: What happened to the reminder: a value of `DeliveryResult`, such as ``submitted``.
    """

    kind: ClassVar[str] = "agent_nudged"
    result: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentStalled(Fact):
    """A reminded agent stayed idle for ``idle_s`` seconds; it is reported, not reminded again."""

    kind: ClassVar[str] = "agent_stalled"
    idle_s: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentParked(Fact):
    """An agent has reached its usage limit, and gets no messages until the limit is over.

    The event is recorded again if the agent announces another end of the limit.

    Attributes:
        agent: The agent's name in the registry.
        home: The path of the agent's config home; empty if it is unknown.
        until: When to wake the agent (UTC, ISO 8601).
        said: When the limit ends, in the agent's words; empty if the agent did not say.
    """

    kind: ClassVar[str] = "agent_parked"
    agent: str
    until: str
    home: str = ""
    said: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentWoken(Fact):
    """An agent's usage limit should be over; recorded before the agent is told to continue.

    Attributes:
        how: ``told`` (the agent is told to continue, at most once), ``busy`` (it is working, before
            or after it was told), ``answered`` (it has already continued by itself) or ``launch``
            (no agent runs in the seat, so one is launched).
    """

    kind: ClassVar[str] = "agent_woken"
    how: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitsLifted(Fact):
    """The user asked every agent that waits for the end of a usage limit to continue now."""

    kind: ClassVar[str] = "limits_lifted"


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationLearned(Fact):
    """The id of an agent's conversation became known, or the agent changed to an unknown one.

    Attributes:
        conversation: The conversation's id; empty if it is unknown.
        source: Where this is known from: a ``hook``, the ``environment`` of a call, or the
            ``screen``.
    """

    kind: ClassVar[str] = "conversation_learned"
    conversation: str
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ResearchTold(Fact):
    """A seat was told that the research it asked for is done.

    Attributes:
        research: The kind of research: ``code`` or ``web``.
        topic: The topic of the research.
        result: What happened to the message: a value of `DeliveryResult`, such as ``submitted``.
    """

    kind: ClassVar[str] = "research_told"
    research: str
    topic: str
    result: str


@dataclass(frozen=True, slots=True, kw_only=True)
class InputStarted(Fact):
    """A message or keys of the user are about to be sent to the launch's pane.

    Attributes:
        input: The id of the event `SeatTold` or `SeatAnswered`.
    """

    kind: ClassVar[str] = "input_started"
    input: str


@dataclass(frozen=True, slots=True, kw_only=True)
class InputEnded(Fact):
    """A message or keys of the user were sent, or could not be sent.

    Attributes:
        input: The id of the event `SeatTold` or `SeatAnswered`.
        result: What happened to the message or keys: a value of `DeliveryResult`, such as
            ``submitted`` or ``sent``.
        evidence: How the result is known, in words.
    """

    kind: ClassVar[str] = "input_ended"
    input: str
    result: str
    evidence: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PhaseSettled(Fact):
    """The session entered a phase whose outcome was already on disk.

    Attributes:
        phase: The phase. The event changes nothing if the session is in another one.
        found: The fields of the `StateFromDisk` that was read, by name; they replace those of the
            state.
    """

    kind: ClassVar[str] = "phase_settled"
    phase: str
    found: Json = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Resumed(Fact):
    """The session was resumed.

    Attributes:
        phase: The phase in which it continues.
        cycle: The cycle in which it continues.
        found: The fields of the `StateFromDisk` that was read, by name; they replace those of the
            state.
        override: Whether the user chose the phase; then it begins again.
        tmux_socket: The absolute path of the session's tmux socket; empty if it has not changed.
    """

    kind: ClassVar[str] = "resumed"
    phase: str
    cycle: int
    found: Json
    override: bool = False
    tmux_socket: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionReattached(Fact):
    """A new orchestrator took over the live panes of one that had ended unexpectedly."""

    kind: ClassVar[str] = "session_reattached"


@dataclass(frozen=True, slots=True, kw_only=True)
class SeatRestarted(Fact):
    """The user restarted a seat.

    Attributes:
        fresh: True if the seat begins a new conversation, False if it resumes its conversation,
            None if the settings decide.
    """

    kind: ClassVar[str] = "seat_restarted"
    fresh: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ArtifactsArchived(Fact):
    """Entries of the state's ``pending_archive`` have been moved to the history.

    They are files that no longer count: see `state.ArchivedArtifacts`.

    Attributes:
        moved: How many entries were moved, counted from the first; None (in older journals) means
            all. Entries that were added during the move are not counted.
    """

    kind: ClassVar[str] = "artifacts_archived"
    moved: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WorktreeMade(Fact):
    """The session's worktree was created, at the path and on the branch that the state names.

    Attributes:
        again: Whether an earlier worktree of the session had been deleted.
        dirty: The files with uncommitted changes, relative to the worktree; only recorded if a
            setup follows.
        checkpoint: The number of the work-tree checkpoint whose files it contains; None if it
            contains the files of the branch.
    """

    kind: ClassVar[str] = "worktree_made"
    again: bool = False
    dirty: tuple[str, ...] = ()
    checkpoint: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WorktreeMoved(Fact):
    """The session's worktree was found at another path, because its repository was moved.

    Attributes:
        path: The absolute path of its top-level directory now.
    """

    kind: ClassVar[str] = "worktree_moved"
    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SetupDone(Fact):
    """All steps of the setup have succeeded.

    Attributes:
        changed: The files that the steps have created or changed, relative to the worktree.
    """

    kind: ClassVar[str] = "setup_done"
    changed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ChecksBegan(Fact):
    """The commands of a check are about to run; results on other files no longer count.

    Attributes:
        phase: The name of the check.
        tree: The id of the files to check: git's tree id, or a new id outside a git repository.
    """

    kind: ClassVar[str] = "checks_began"
    phase: str
    tree: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckDone(Fact):
    """A command of a check has ended.

    Attributes:
        phase: The name of the check.
        name: The name of the command. All other attributes are as in `results.CheckResult`.
    """

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
    """The worktree was created in which the required check commands run on the base.

    The base is the commit that the session began on; this worktree is not the session's own.
    """

    kind: ClassVar[str] = "base_made"


@dataclass(frozen=True, slots=True, kw_only=True)
class BaseChecked(Fact):
    """A required check command has ended on the base, the commit that the session began on.

    Attributes:
        name: The name of the command. All other attributes are as in `results.CheckResult`.
    """

    kind: ClassVar[str] = "base_checked"
    name: str
    outcome: str
    status: int | None = None
    signal: int | None = None
    timed_out: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class BaseDone(Fact):
    """The check commands have ended on the base, and the worktree for them was removed.

    Attributes:
        because: Why the commands could not be run; empty if they were run.
    """

    kind: ClassVar[str] = "base_done"
    because: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckSkipped(Fact):
    """The user skipped the command ``name`` of a check, which could not run."""

    kind: ClassVar[str] = "check_skipped"
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Repinned(Fact):
    """The user pinned the session to the current configuration: setup, pipeline and checks.

    Attributes:
        setup: The steps of the setup, each a mapping with ``name``, ``run`` and ``timeout_s``.
        copied: The text of the file with the patterns of the files that are copied into the
            worktree; None if unchanged.
        dirty: The files with uncommitted changes at that moment, relative to the top-level
            directory of the work tree.
        pipeline: The pipeline, in the form of ``state.json``; empty if the pipeline, its files and
            its commands are unchanged.
        pipeline_files: The SHA-256 of each file of the pipeline, by name.
        verify: The commands of its checks, each a mapping with ``name``, ``run``, ``timeout_s`` and
            ``required``.
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
        number: The number of the checkpoint to rewind to.
        before: The number of the checkpoint with the files before the rewind.
        phase: The phase in which work continues after the rewind.
        subplans: The numbers of the sub-plans that remain done.
        stale: The names of the seats whose conversations continued after the checkpoint was taken;
            they will begin new ones.
    """

    kind: ClassVar[str] = "rewind_started"
    number: int
    before: int
    phase: str
    subplans: tuple[int, ...] = ()
    stale: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewound(Fact):
    """The files of the work tree were rewound to a checkpoint.

    The artifacts of ``phase``, and of the phases that depend on it, no longer count.

    Attributes:
        number: The number of the checkpoint.
        phase: The phase in which work continues.
        subplans: The numbers of the sub-plans that remain done.
        stale: The names of the seats whose conversations continued after the checkpoint was taken;
            they will begin new ones.
    """

    kind: ClassVar[str] = "rewound"
    number: int
    phase: str
    subplans: tuple[int, ...] = ()
    stale: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitStarted(Fact):
    """The commit for an approval is about to be made.

    ``approval`` is the id of the event that approved the result.
    """

    kind: ClassVar[str] = "commit_started"
    approval: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitMade(Fact):
    """The commit of the result was made, or was found by its trailer.

    The trailer is the line ``Agentmux-Event: <id of the approval>`` in the commit's message.

    Attributes:
        commit: The hash of the commit; None if no commit was needed.
        adopted: Whether an earlier attempt had already made the commit.
    """

    kind: ClassVar[str] = "commit_made"
    commit: str | None
    adopted: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitDelayed(Fact):
    """The commit is delayed until an obstacle in the user's repository, the ``reason``, is gone."""

    kind: ClassVar[str] = "commit_delayed"
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitFailed(Fact):
    """The commit could not be made, for the ``reason``; the user decides again.

    Attributes:
        reason: Why, with the hints, in one line.
        record: Texts by name, as of another step that failed: ``hints``, one a line.
    """

    kind: ClassVar[str] = "commit_failed"
    reason: str
    record: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class StepStarted(Fact):
    """A step of a delivery is about to be taken.

    The event is recorded again, with another ``record``, if the repository or the forge changes
    before the step is taken.

    Attributes:
        approval: The id of the event that approved the result.
        step: The name of the step: ``merge``, ``push`` or ``request``.
        record: What exactly the step will do, as texts by name. The names depend on the step, such
            as ``remote``, ``branch`` and ``commit`` for a push; docs/reference/session-files.md
            lists them at ``delivery``.
    """

    kind: ClassVar[str] = "delivery_step_started"
    approval: str
    step: str
    record: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class StepDone(Fact):
    """A step of a delivery was taken, or was found to be taken already.

    Attributes:
        approval: The id of the event that approved the result.
        step: The name of the step: ``merge``, ``push`` or ``request``.
        record: What the step did, as texts by the names of `StepStarted.record`; it may add some,
            such as the ``number`` and ``url`` of a request.
    """

    kind: ClassVar[str] = "delivery_step_done"
    approval: str
    step: str
    record: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class StepFailed(Fact):
    """A step of a delivery could not be taken; the user decides again.

    Attributes:
        approval: The id of the event that approved the result.
        step: The name of the step: ``merge``, ``push`` or ``request``.
        reason: Why it failed, for the user.
        record: What the next cycle may need, such as the conflicts, as texts by name.
    """

    kind: ClassVar[str] = "delivery_step_failed"
    approval: str
    step: str
    reason: str
    record: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionInterrupted(Fact):
    """The session stopped before the pipeline was done; ``cause`` says why.

    ``cause`` begins with ``stopped`` if the user stopped the session.
    """

    kind: ClassVar[str] = "session_interrupted"
    cause: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionFailed(Fact):
    """The session failed: the pipeline cannot continue without the user.

    Attributes:
        cause: Why it failed, for the user.
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
"""All kinds of facts by their ``kind``, in the order of this file."""
SIGNALS: Final = frozenset(kind for kind, fact in FACTS.items() if issubclass(fact, Signal))
USER_DECISIONS: Final = frozenset(k for k, fact in FACTS.items() if issubclass(fact, UserDecision))


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One line of the journal.

    Attributes:
        id: The event's uuid.
        at: When it happened (UTC, ISO 8601 with ``Z``).
        seat: The name of the seat that the event comes from or concerns; otherwise
            ``orchestrator`` or ``user``.
        launch: The id of the launch that the event comes from or concerns; otherwise empty.
        cycle: The cycle of the session as the event's writer knew it: for a signal, the cycle of
            the agent's launch.
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

    The keys are ``v``, ``id``, ``at``, ``event`` (the kind), ``seat``, ``launch``, ``cycle`` and
    ``payload`` (the fields of the fact).

    Args:
        event: The event.
        version: The version to write in the line: `OLDER_VERSION` for a signal to an orchestrator
            that reads no other. Signals have the same form in both versions.
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
    """Return the event that a journal line describes; the inverse of `encode`.

    ``fields`` is the line after parsing it as JSON. Lines of an older version are read, too.

    Raises:
        UnknownEventError: The kind is unknown, or this program cannot read the version.
        FieldError: A field is missing or has the wrong type.
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
