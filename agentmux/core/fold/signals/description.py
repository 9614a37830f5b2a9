"""The form in which signals and user decisions are described. Reads no files.

A description names the files that an agent hands in and checks their contents. The code that
receives the signal reads the files.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from agentmux.core.codec.frozen import dataclass
from agentmux.core.definitions.definition import Kind
from agentmux.core.fold.implied_file import Implied
from agentmux.core.journal.events import Event, Signal, UserDecision
from agentmux.core.journal.state import SessionState
from agentmux.core.pipeline.registry import kind_of, pipeline_of, working_phase

Judged: TypeAlias = Signal | UserDecision
FoldStep: TypeAlias = Callable[[SessionState, Event, Any], SessionState]


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """The agent that sends a signal, as the environment of its pane identifies it.

    Attributes:
        session_dir: The absolute path of the session's directory.
        session_id: The session's uuid.
        launch: The id of the agent's launch.
        role: The agent's role, such as ``coder``.
        seat: The agent's seat, such as ``coder-2``.
        cycle: The cycle of the launch.
        subplan: The sub-plan of the seat; None if it has none.
        topic: The research topic of the seat; empty if it has none.
        conversation: The agent's own id of its conversation; empty if it gives none.
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
    """The arguments with which an agent sends a signal. A signal uses only its own.

    Attributes:
        signal: The kind of the event (``submit_plan``, ``research_dispatch_web``, …).
        subplan_index: For ``submit_done``: the sub-plan; None means that of the seat.
        role: For ``submit_review``: the reviewer, such as ``logic`` or ``reviewer_logic``; empty
            means the role of the seat.
        topic: For research: the topic; empty means that of the seat.
        question: For a request for research: the question.
        phase: For ``submit_phase``: the name of the phase.
    """

    signal: str
    subplan_index: int | None = None
    role: str = ""
    topic: str = ""
    question: str = ""
    phase: str = ""


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument of a signal, in its shell command and in its MCP tool.

    Attributes:
        field: The field of `Submission` that holds the value; also the argument's name in the tool.
        shown: The placeholder for the value in help texts, such as ``N``.
        says: What the argument means, for help texts.
        option: The option of the command, such as ``--subplan``; empty for a positional argument.
        is_number: Whether the value is a positive integer; if not, it is text.
        is_required: Whether the argument must be given; if not, the seat provides a default.
    """

    field: str
    shown: str
    says: str
    option: str = ""
    is_number: bool = False
    is_required: bool = False


@dataclass(frozen=True, slots=True)
class HandedFile:
    """A file that an agent hands in with a signal.

    Attributes:
        paths: Where the file may be, relative to the session's directory; the first that exists is
            used.
        is_yaml: Whether the file is a YAML document; if not, it is text.
        has_front_matter: Whether only the front matter of the text is read.
        schema: The JSON Schema to validate the file against: the SHA-256 of its content, under
            which the session keeps a copy (`layout.frozen`), and its name; None if there is none.
        named: Whether the path of the file is put before each problem with its content.
    """

    paths: tuple[str, ...]
    is_yaml: bool = False
    has_front_matter: bool = False
    schema: tuple[str, str] | None = None
    named: bool = False


@dataclass(frozen=True, slots=True)
class SubmissionContext:
    """A submission, with its sender and the session that it is for.

    Attributes:
        identity: The agent that sends it.
        submission: The arguments of the signal.
        state: Returns the state of the session; slow, because it reads files.
    """

    identity: Identity
    submission: Submission
    state: Callable[[], SessionState]


@dataclass(frozen=True, slots=True)
class Contents:
    """What was read from the files that an agent hands in.

    Attributes:
        values: For each file, in order: its text, its front matter as a mapping, or its value as
            YAML; None if it could not be read or has problems.
        sha256: The digest of the file; for several files, the digest of their digests; empty if
            there is no file that could be read.
        problems: Why files are missing, unreadable or of the wrong format, one sentence each.
    """

    values: tuple[object, ...]
    sha256: str
    problems: tuple[str, ...]


FactAndProblems: TypeAlias = tuple[Judged, tuple[str, ...]]
"""The fact of a submission, and its problems. If there are any, the fact may be incomplete."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedDescription:
    """The description of a signal or of a user decision.

    ``words`` is called with the fact; the other functions are called with the state before it, its
    event, and the fact.

    Attributes:
        fact: The class of its fact.
        words: Returns what the sender did, such as ``handed in the plan``; empty if it is not
            shown.
        why_ignored: Returns the reason why it does not count; empty if it counts, which is the
            default. `judge` has already checked the conditions that all signals share.
        step: Returns the state after it; called only if it counts.
        files: Returns the files that have to be written because of it; by default none.
    """

    fact: type[Judged]
    words: Callable[[Any], str]
    why_ignored: Callable[[SessionState, Event, Any], str] = lambda *_: ""
    step: FoldStep
    files: Callable[[SessionState, Event, Any], tuple[Implied, ...]] = lambda *_: ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SignalDescription(JudgedDescription):
    """The description of a signal that an agent sends.

    Attributes:
        in_any_phase: Whether the signal counts in every phase; if not, only in phases whose work is
            handed in with it (`PhaseDescriptor.signal`).
        hands_in: Whether the signal hands in work; if not, it asks for research or reports
            something.
        command: The words after ``agentmux`` in its command, such as ``submit plan``.
        says: What the command and the tool do, for help texts.
        arguments: The arguments of the command and of the tool.
        reads: Returns, for a submission, the files that the agent hands in; by default none.
        made: Returns, for a submission and what was read from these files, the signal's fact and
            the problems of the submission.
        about: The name of the field of the fact, such as ``topic``, by which two signals of this
            kind from one launch count as different; empty if there is none.
    """

    in_any_phase: bool = False
    hands_in: bool = True
    command: str
    says: str
    arguments: tuple[Argument, ...] = ()
    reads: Callable[[SubmissionContext], tuple[HandedFile, ...]] = lambda _: ()
    made: Callable[[SubmissionContext, Contents], FactAndProblems]
    about: str = ""

    @property
    def name(self) -> str:
        """The last word of the command, which is its name in help texts."""
        return self.command.rpartition(" ")[2]

    def as_command(self, **values: object) -> str:
        """Return the shell command that sends the signal, such as ``agentmux submit done``.

        Args:
            values: The value of every argument, by its field; None or an empty text leaves it out.
                A value is not quoted for the shell. Fields that the signal has no argument for are
                ignored.

        Raises:
            KeyError: The field of an argument is missing.
        """
        words = [self.command]
        for each in self.arguments:
            if values[each.field] not in {None, ""}:
                words += [each.option, str(values[each.field])]
        return " ".join(("agentmux", *filter(None, words)))


def folder_of(state: SessionState, kind: Kind, usual: str) -> str:
    """Return the folder of the session's phase if it is of this ``kind``; else ``usual``.

    Both are relative to the session's directory.
    """
    if kind_of(state) is not kind:
        return usual
    return pipeline_of(state)[state.phase].folder


def working_folder(state: SessionState) -> str:
    """Return the folder of the current phase; in a failed session, of the phase that failed.

    It is relative to the session's directory.

    Raises:
        KeyError: The session is done, or the phase that failed is unknown.
    """
    return pipeline_of(state)[working_phase(state)].folder
