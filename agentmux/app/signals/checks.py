"""The checks of what agents hand in: one per signal; each reports every problem at once.

Whether a *phase* is complete is decided in `core.pipeline.kind_checks`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Final

from agentmux.core.codec.digests import sha256
from agentmux.core.codec.frozen import dataclass
from agentmux.core.codec.shape import writable
from agentmux.core.definitions.definition import Kind
from agentmux.core.documents.plan import check_plan
from agentmux.core.documents.review import DEFAULT_NOMINATIONS, check_review, full, review_files
from agentmux.core.documents.review import long as long_role
from agentmux.core.fold.apply import fold
from agentmux.core.journal import events
from agentmux.core.names import layout
from agentmux.core.names.phase import RESEARCHERS, REVIEWERS, ResearchKind
from agentmux.core.pipeline.architecture import check_architecture
from agentmux.core.pipeline.artifacts import ARCHITECTURE, TEXT_MAX
from agentmux.core.pipeline.registry import kind_of, pipeline_of

if TYPE_CHECKING:  # importing `ports` costs time, and a signal needs little of it
    from agentmux.core.definitions.definition import Leaf, PhaseDefinition
    from agentmux.core.journal.events import Signal
    from agentmux.core.journal.state import SessionState
    from agentmux.ports.session_files import SignalFiles

YAML_MAX: Final = 1 << 18
"""Maximum size of a YAML artifact in bytes.

A journal line can hold it as JSON, even if each byte of the YAML takes three bytes there.
"""

QUESTION_MAX: Final = 1 << 16
CHANGES_MAX: Final = 1 << 17


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """The agent that calls, as the environment of its pane describes it.

    Attributes:
        subplan: None where the seat has no sub-plan of its own.
        conversation: The id that the agent gives for its conversation; empty where it gives none.
    """

    session_dir: str
    session_id: str
    launch: str
    role: str
    seat: str
    cycle: int = 1
    subplan: int | None = None
    topic: str = ""
    conversation: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    """What an agent hands in, or the research that it asks for.

    Attributes:
        signal: The kind of the event (``submit_plan``, ``research_dispatch_web``, …).
        subplan: For ``submit_done``; None means the sub-plan of the seat.
        role: For ``submit_review``: ``logic`` or ``reviewer_logic``, for example; empty means the
            role of the seat.
        topic: For research.
        question: For a request for research.
        phase: For ``submit_phase``: the name of the phase.
    """

    signal: str
    subplan: int | None = None
    role: str = ""
    topic: str = ""
    question: str = ""
    phase: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """A submission after its check.

    Attributes:
        about: The sub-plan, topic or role that distinguishes two signals of one launch.
        sha256: Of the artifact; empty where there is none.
        place: Path of the artifact, relative to the session.
        problems: Every broken rule. If there is any, the fact is incomplete and must not be
            accepted.
    """

    fact: Signal
    about: str = ""
    sha256: str = ""
    place: str = ""
    problems: tuple[str, ...] = ()


class _Checker:
    """Reads what an agent hands in, and collects the problems."""

    def __init__(self, files: SignalFiles, identity: Identity, submission: Submission) -> None:
        self.files = files
        self.identity = identity
        self.submission = submission
        self.problems: list[str] = []
        self.place = ""
        self._digests: list[str] = []

    @property
    def sha256(self) -> str:
        """The digest of the artifact; of several artifacts, the digest of their digests."""
        if len(self._digests) < 2:
            return "".join(self._digests)
        return sha256("".join(self._digests).encode()).hexdigest()

    def note(self, problems: tuple[str, ...]) -> bool:
        """Add problems to those found so far; return True if there were none to add."""
        self.problems += problems
        return not problems

    def data(self, path: str, limit: int) -> bytes | None:
        """Return the content of an artifact; None, with a problem noted, if it cannot be read.

        Args:
            path: Relative to the session.
            limit: Maximum size in bytes.
        """
        self.place = self.place or path
        data, why = self.files.read_artifact(path, limit)
        if data is not None and not data.strip():
            data, why = None, "empty"
        if data is None:
            self.note((f"{path}: {why}",))
            return None
        self._digests.append(sha256(data).hexdigest())
        return data

    def text(self, path: str) -> str | None:
        """Return the text of an artifact; None, with a problem noted, if it cannot be read."""
        data = self.data(path, TEXT_MAX)
        try:
            return None if data is None else data.decode("utf-8")
        except UnicodeDecodeError as error:
            self.note((f"{path}: byte {error.start} is not UTF-8",))
            return None

    def yaml(self, path: str) -> object:
        """Return the value of a YAML artifact; None, with problems noted, if it cannot be read."""
        data = self.data(path, YAML_MAX)
        if data is None:
            return None
        value, problems = self.files.read_yaml(data)
        self.note(problems)
        return value

    def first_of(self, paths: tuple[str, ...]) -> str:
        """Return the first of ``paths`` that exists; ``paths[0]`` if none does."""
        there = (path for path in paths if self.files.read_artifact(path, 0)[1] != "missing")
        return next(there, paths[0])

    def checked(self, fact: Signal, about: str = "") -> Checked:
        """Return the result of the check, with every problem that was noted."""
        return Checked(
            fact=fact,
            about=about,
            sha256=self.sha256,
            place=self.place,
            problems=tuple(self.problems),
        )


def check(files: SignalFiles, identity: Identity, submission: Submission) -> Checked:
    """Read the artifact of ``submission``, and check every rule.

    Raises:
        UsageError: The named role is not a reviewer.
    """
    return _CHECKS[submission.signal](_Checker(files, identity, submission))


def check_question(topic: str, question: str) -> tuple[str, ...]:
    """Return a sentence for each problem of a request for research; empty for none."""
    problems = []
    if not layout.is_topic(topic):
        shown = f"`{topic[:60]}`" if topic else "empty"
        problems.append(f"topic: {shown}; use 1 to 48 of a-z, 0-9 and `-`, and no `-` at the start")
    if not question.strip():
        problems.append("question: empty")
    if len(question) > QUESTION_MAX:
        problems.append(f"question: longer than {QUESTION_MAX} characters")
    return tuple(problems)


def check_changes(text: str) -> tuple[str, ...]:
    """Return a sentence for each problem of a user's request for changes; empty for none."""
    if not text.strip():
        return ("text: empty",)
    return (f"text: longer than {CHANGES_MAX} characters",) if len(text) > CHANGES_MAX else ()


def _pm_done(checker: _Checker) -> Checked:
    checker.text(f"{layout.PRODUCT_MANAGEMENT}/requirements.md")
    return checker.checked(events.PmDone(sha256=checker.sha256))


def _architecture(checker: _Checker) -> Checked:
    data = checker.data(ARCHITECTURE, TEXT_MAX)
    if data is None:
        return checker.checked(events.ArchitectureDone())
    nominated, problems = check_architecture(data, checker.files.read_front_matter)
    checker.note(problems)
    return checker.checked(events.ArchitectureDone(sha256=checker.sha256, reviewers=nominated))


def _plan(checker: _Checker) -> Checked:
    loaded = checker.files.load()
    folder = _folder(fold(loaded.state, loaded.tail), Kind.PLAN, layout.PLANNING)
    value = checker.yaml(f"{folder}/plan.yaml")
    if not checker.problems:
        checker.note(check_plan(value)[1])
    plan = value if isinstance(value, dict) and not checker.problems else {}
    return checker.checked(events.PlanDone(sha256=checker.sha256, plan=plan))


def _design(checker: _Checker) -> Checked:
    checker.text(f"{layout.DESIGN}/design.md")
    return checker.checked(events.DesignDone(sha256=checker.sha256))


def _phase(checker: _Checker) -> Checked:
    """Check what the agent of a document leaves: texts, and YAML files by their schemas."""
    name, files = checker.submission.phase, checker.files
    loaded = files.load()
    state = fold(loaded.state, loaded.tail)
    documents = _documents(state)
    if name not in documents:
        from agentmux.core.definitions.reading import plain, shown  # noqa: PLC0415 (after a mistake)

        known = ", ".join(f"`{each}`" for each in documents) or "none"
        checker.note((f"no phase {shown(name)} is handed in by this command; it is for: {known}",))
        return checker.checked(events.PhaseDone(phase=plain(name[:60])), name[:60])
    phase = documents[name]
    for leaf in phase.leaves:
        _leaf(checker, state, f"{phase.folder}/{leaf.file}", leaf)
    if len(phase.leaves) > 1:
        checker.place = phase.folder  # each problem names its file
    return checker.checked(events.PhaseDone(phase=name, sha256=checker.sha256), name)


def _documents(state: SessionState) -> Mapping[str, PhaseDefinition]:
    """Return the documents of the session's pipeline that have no signal of their own, by name."""
    pipeline = pipeline_of(state)
    defined = state.pipeline.phases
    return {
        each.phase: each for each in defined if pipeline[each.phase].signal == events.PhaseDone.kind
    }


def _leaf(checker: _Checker, state: SessionState, path: str, leaf: Leaf) -> None:
    if not leaf.file.endswith(".yaml"):
        checker.text(path)
        return
    data = checker.data(path, YAML_MAX)
    if data is None:
        return
    value, problems = checker.files.read_yaml(data)
    if not problems and leaf.schema:
        schema = checker.files.frozen(state.pipeline_files[leaf.schema], leaf.schema)
        problems = checker.files.schema_problems(schema, value)
    checker.note(tuple(f"{path}: {each}" for each in problems))


def _code(checker: _Checker) -> Checked:
    index = (
        checker.submission.subplan
        if checker.submission.subplan is not None
        else checker.identity.subplan
    )
    return checker.checked(events.CodeDone(subplan_index=index), str(index or ""))


def _review(checker: _Checker) -> Checked:
    loaded = checker.files.load()
    state = fold(loaded.state, loaded.tail)
    given = checker.submission.role or checker.identity.role
    roles = {r for each in state.pipeline.phases if each.kind is Kind.REVIEW for r in each.roles}
    role = long_role(given) if roles <= set(REVIEWERS) else full(given)
    alone = len(state.reviewer_nominations or DEFAULT_NOMINATIONS) == 1
    folder = _folder(state, Kind.REVIEW, layout.REVIEW)
    names = tuple(f"{folder}/{name}" for name in review_files(role, alone=alone))
    value = checker.yaml(checker.first_of(names))
    if checker.problems:
        return checker.checked(events.ReviewDone(role=role, verdict=""), role)
    review, problems = check_review(value, role)
    checker.note(problems)
    if review is None:
        return checker.checked(events.ReviewDone(role=role, verdict=""), role)
    fact = events.ReviewDone(
        role=role, verdict=review.verdict.value, sha256=checker.sha256, review=review.to_fields()
    )
    return checker.checked(fact, role)


def _folder(state: SessionState, kind: Kind, usual: str) -> str:
    """Return the folder of the session's phase if it is of this kind, else the usual one."""
    if kind_of(state) is not kind:
        return usual
    return pipeline_of(state)[state.phase].folder


def _research(checker: _Checker) -> Checked:
    topic = checker.submission.topic or checker.identity.topic
    role = checker.identity.role
    kind = ResearchKind(role.partition("-")[0]) if role in RESEARCHERS else ResearchKind.CODE
    if not layout.is_topic(topic):
        checker.note((f"topic: `{topic[:60]}` is not a valid topic of research",))
    else:
        folder = layout.research(kind, topic)
        checker.text(f"{folder}/summary.md")
        checker.text(f"{folder}/detail.md")
    return checker.checked(
        events.ResearchDone(research=kind, topic=topic, sha256=checker.sha256), topic
    )


def _summary(checker: _Checker) -> Checked:
    loaded = checker.files.load()
    folder = _folder(fold(loaded.state, loaded.tail), Kind.COMPLETE, layout.COMPLETION)
    checker.text(f"{folder}/summary.md")
    return checker.checked(events.SummaryDone(sha256=checker.sha256))


def _hello(checker: _Checker) -> Checked:
    conversation = checker.identity.conversation
    source = "environment" if conversation else ""
    return checker.checked(events.Hello(conversation=conversation, source=source), conversation)


def _question(
    checker: _Checker, *, fact: type[events.CodeResearchDispatched | events.WebResearchDispatched]
) -> Checked:
    topic, question = checker.submission.topic, writable(checker.submission.question)
    checker.note(check_question(topic, question))
    return checker.checked(fact(topic=topic, question=question), topic)


_CHECKS: Final[Mapping[str, Callable[[_Checker], Checked]]] = {
    events.PmDone.kind: _pm_done,
    events.ArchitectureDone.kind: _architecture,
    events.PlanDone.kind: _plan,
    events.DesignDone.kind: _design,
    events.PhaseDone.kind: _phase,
    events.CodeDone.kind: _code,
    events.ReviewDone.kind: _review,
    events.ResearchDone.kind: _research,
    events.SummaryDone.kind: _summary,
    events.Hello.kind: _hello,
    events.CodeResearchDispatched.kind: partial(_question, fact=events.CodeResearchDispatched),
    events.WebResearchDispatched.kind: partial(_question, fact=events.WebResearchDispatched),
}
