"""What a journal line can say: one frozen class per fact.

Signals of agents and users are named like their tool (``submit_plan``), facts in the past tense
(``agent_launched``). The envelope of every line is fixed:
``{"v":1,"id":"…","at":"…Z","event":"…","seat":"…","launch":"…","cycle":1,"payload":{…}}``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Final, TypeAlias

from agentmux.core.codec.frozen import dataclass, field
from agentmux.core.codec.records import Json, from_fields, to_fields
from agentmux.errors import DataError

VERSION: Final = 1
ORCHESTRATOR: Final = "orchestrator"
USER: Final = "user"


class UnknownEventError(DataError):
    """A line that parses but is of an unknown kind or a newer version: everything stops here."""


# -- signals of agents ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class PmDone:
    """The product manager left ``requirements.md``."""

    kind: ClassVar[str] = "submit_pm_done"
    sha256: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchitectureDone:
    """The architect left ``architecture.md``, and nominated reviewers (long role names)."""

    kind: ClassVar[str] = "submit_architecture"
    sha256: str = ""
    reviewers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanDone:
    """The planner left a valid ``plan.yaml``; ``plan`` is its parsed content."""

    kind: ClassVar[str] = "submit_plan"
    sha256: str = ""
    plan: Json = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class DesignDone:
    """The designer left ``design.md``."""

    kind: ClassVar[str] = "submit_design"
    sha256: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeDone:
    """A coder finished a sub-plan, or the fix (then ``subplan_index`` is None)."""

    kind: ClassVar[str] = "submit_done"
    subplan_index: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewDone:
    """A reviewer left its verdict; ``review`` is the parsed file."""

    kind: ClassVar[str] = "submit_review"
    role: str
    verdict: str
    sha256: str = ""
    review: Json = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ResearchDone:
    """A researcher left ``summary.md`` and ``detail.md``."""

    kind: ClassVar[str] = "submit_research_done"
    research: str
    topic: str
    sha256: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryDone:
    """The first reviewer left ``summary.md``."""

    kind: ClassVar[str] = "submit_summary"
    sha256: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hello:
    """A launch told which conversation it is; ``conversation`` may be empty."""

    kind: ClassVar[str] = "submit_hello"
    conversation: str = ""
    source: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeResearchDispatched:
    """A seat asked for research into the code base."""

    kind: ClassVar[str] = "research_dispatch_code"
    topic: str
    question: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WebResearchDispatched:
    """A seat asked for research on the web."""

    kind: ClassVar[str] = "research_dispatch_web"
    topic: str
    question: str


# -- signals of the user -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Approved:
    """The user (or the configuration) takes the result as it is."""

    kind: ClassVar[str] = "approve"


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangesRequested:
    """The user wants another cycle; ``text`` says what is to change."""

    kind: ClassVar[str] = "request_changes"
    text: str


# -- facts ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class JournalCreated:
    """The first line of every journal."""

    kind: ClassVar[str] = "journal_created"
    journal_id: str
    agentmux: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionStarted:
    """The session came to be; ``state`` holds the first values of its state."""

    kind: ClassVar[str] = "session_started"
    state: Json


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionImported:
    """A session of an older form was taken over; ``state`` is what was found, normalised."""

    kind: ClassVar[str] = "session_imported"
    state: Json


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentLaunched:
    """A launch is about to happen (the intent comes before the effect).

    Attributes:
        record: The resume record of the launch.
        mode: ``native``, ``fresh``, ``shell`` or ``screen``; ``reason`` says why.
        attempt: 1, then +1 for each relaunch of the same work.
        stopped: Its pane waits for the user's choice (see `LaunchChosen`); ``mode`` is what going
            on would be.
        phase: For whose work it was decided; empty in older journals. Where that work is done
            meanwhile, or its phase over, the launch gets no seat.
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
class LaunchChosen:
    """The user chose, in a stopped pane, how its launch goes on; clocks start here.

    Attributes:
        choice: ``resume``, ``fresh`` or ``shell``.
        mode: As in `AgentLaunched`, and so ``reason``.
        record: The resume record of what was chosen; empty where the launch's own holds.
        prompt: The file of the launch folder that its prompt names.
    """

    kind: ClassVar[str] = "launch_chosen"
    choice: str
    mode: str
    reason: str
    record: Json = field(default_factory=dict)
    prompt: str = "prompt.md"
    prompt_bytes: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptReached:
    """A prompt is proven to have arrived in the conversation of this launch."""

    kind: ClassVar[str] = "prompt_reached"
    evidence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentExited:
    """The program of a launch has gone.

    Attributes:
        cause: ``crashed``, ``finished`` (exit 0), ``ended_by_user``, ``rejected`` (its
            conversation was refused) or ``claim_taken``.
    """

    kind: ClassVar[str] = "agent_exited"
    cause: str
    status: int | None = None
    signal: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentNudged:
    """An idle agent without its artifact was reminded; this happens once per launch."""

    kind: ClassVar[str] = "agent_nudged"
    result: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentStalled:
    """A nudged agent stayed idle: reported, and left alone from here on."""

    kind: ClassVar[str] = "agent_stalled"
    idle_s: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationLearned:
    """What an agent told of the conversation it is in, by its `hook`, `environment` or `screen`.

    Attributes:
        conversation: Empty where it changed and nothing tells to what.
        source: One of the three.
    """

    kind: ClassVar[str] = "conversation_learned"
    conversation: str
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ResearchTold:
    """The seat that asked for a topic was told that it is done."""

    kind: ClassVar[str] = "research_told"
    research: str
    topic: str
    result: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PhaseSettled:
    """The phase was entered with its outcome on disk already; ``found`` holds that outcome."""

    kind: ClassVar[str] = "phase_settled"
    phase: str
    found: Json = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Resumed:
    """A resume found this; absolute values, so that the fold stays true."""

    kind: ClassVar[str] = "resumed"
    phase: str
    cycle: int
    found: Json
    review_iteration: int | None = None
    override: bool = False
    tmux_socket: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionReattached:
    """A new orchestrator goes on over the live panes of one that was lost."""

    kind: ClassVar[str] = "session_reattached"


@dataclass(frozen=True, slots=True, kw_only=True)
class SeatRestarted:
    """The user brought a stopped seat back; ``fresh`` where the conversation is not wanted."""

    kind: ClassVar[str] = "seat_restarted"
    fresh: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ArtifactsArchived:
    """What was in ``pending_archive`` has been moved.

    Attributes:
        moved: How many of its entries, from the first on; None, in older journals, for all. A line
            that asks for another may come in between.
    """

    kind: ClassVar[str] = "artifacts_archived"
    moved: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitStarted:
    """The commit for an approval is about to be made."""

    kind: ClassVar[str] = "commit_started"
    approval: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitMade:
    """The commit exists (made now, or found by its trailer); ``commit`` is None if none was due."""

    kind: ClassVar[str] = "commit_made"
    commit: str | None
    adopted: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitDelayed:
    """Something of the user's is in the way of the commit; it is made when that is gone."""

    kind: ClassVar[str] = "commit_delayed"
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitFailed:
    """The commit could not be made; the user decides again."""

    kind: ClassVar[str] = "commit_failed"
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionInterrupted:
    """The orchestrator ended, or found that something had ended, before the pipeline was done."""

    kind: ClassVar[str] = "session_interrupted"
    cause: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionFailed:
    """The pipeline cannot go on by itself.

    Attributes:
        phase: Where it could not; empty in older journals.
    """

    kind: ClassVar[str] = "session_failed"
    cause: str
    phase: str = ""


Signal: TypeAlias = (
    PmDone
    | ArchitectureDone
    | PlanDone
    | DesignDone
    | CodeDone
    | ReviewDone
    | ResearchDone
    | SummaryDone
    | Hello
    | CodeResearchDispatched
    | WebResearchDispatched
)
UserDecision: TypeAlias = Approved | ChangesRequested
Fact: TypeAlias = (
    Signal
    | UserDecision
    | JournalCreated
    | SessionStarted
    | SessionImported
    | AgentLaunched
    | LaunchChosen
    | PromptReached
    | AgentExited
    | AgentNudged
    | AgentStalled
    | ConversationLearned
    | ResearchTold
    | PhaseSettled
    | Resumed
    | SessionReattached
    | SeatRestarted
    | ArtifactsArchived
    | CommitStarted
    | CommitMade
    | CommitDelayed
    | CommitFailed
    | SessionInterrupted
    | SessionFailed
)

FACTS: Final[Mapping[str, type[Fact]]] = {fact.kind: fact for fact in Fact.__args__}
SIGNALS: Final = frozenset(fact.kind for fact in Signal.__args__)
USER_DECISIONS: Final = frozenset(fact.kind for fact in UserDecision.__args__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One journal line.

    Attributes:
        at: UTC, ISO 8601 with ``Z``.
        seat: The seat it is about or comes from; ``orchestrator`` or ``user`` otherwise.
        launch: The launch it comes from or is about; empty otherwise.
        cycle: The cycle its writer was in.
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


def encode(event: Event) -> dict[str, object]:
    """Return the event as the fields of its journal line."""
    return {
        "v": VERSION,
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
        UnknownEventError: The kind is unknown or the version newer than this program's.
        FieldError: A field is missing or of another type.
    """
    version = fields.get("v")
    if type(version) is not int or version != VERSION:
        is_newer = type(version) is int and version > VERSION
        raise UnknownEventError(
            f"journal line of version {version!r}, this agentmux reads {VERSION}",
            hints=("update agentmux",) if is_newer else (),
        )
    envelope = from_fields(_Envelope, fields, where="journal line")
    fact = FACTS.get(envelope.event)
    if fact is None:
        raise UnknownEventError(
            f"journal line of unknown kind `{envelope.event}`", hints=("update agentmux",)
        )
    return Event(
        id=envelope.id,
        at=envelope.at,
        seat=envelope.seat,
        launch=envelope.launch,
        cycle=envelope.cycle,
        fact=from_fields(fact, envelope.payload, where=f"`{envelope.event}` event {envelope.id}"),
    )
