"""What belongs to a signal, as one description for each; pure.

A description names the files that are handed in, and what they must say. Whoever takes the signal
reads them.
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
        subplan_index: For ``submit_done``; None means the sub-plan of the seat.
        role: For ``submit_review``: ``logic`` or ``reviewer_logic``, for example; empty means the
            role of the seat.
        topic: For research.
        question: For a request for research.
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
    """An argument of a signal's command and of its tool.

    Attributes:
        field: The field of `Submission` that takes its value, which is its name in the tool.
        shown: What stands for its value in a help text, such as ``N``.
        says: What it is.
        option: The option of the command, such as ``--subplan``; empty if it is a word.
        is_number: Whether its value is a positive integer; else it is a text.
        is_required: Whether it must be given; else the seat has a default.
    """

    field: str
    shown: str
    says: str
    option: str = ""
    is_number: bool = False
    is_required: bool = False


@dataclass(frozen=True, slots=True)
class HandedFile:
    """A file that is handed in.

    Attributes:
        paths: Where it may be, relative to the session; the first that exists counts.
        is_yaml: Whether it is a YAML document; else it is a text.
        has_front_matter: Whether it is a text of which the front matter counts.
        schema: Digest and name of the frozen JSON Schema that it keeps; None for none.
        named: Whether each problem with its content names the file.
    """

    paths: tuple[str, ...]
    is_yaml: bool = False
    has_front_matter: bool = False
    schema: tuple[str, str] | None = None
    named: bool = False


@dataclass(frozen=True, slots=True)
class Handed:
    """A submission, by whom it comes, and for what session.

    Attributes:
        state: Returns the state of the session; to read it takes time.
    """

    identity: Identity
    submission: Submission
    state: Callable[[], SessionState]


@dataclass(frozen=True, slots=True)
class Contents:
    """What was read of the files that are handed in.

    Attributes:
        values: For each file its text, its front matter or its YAML value; None with a problem.
        sha256: The digest of the file; of several, the digest of their digests.
        problems: What is wrong with the files themselves.
    """

    values: tuple[object, ...]
    sha256: str
    problems: tuple[str, ...]


Made: TypeAlias = tuple[Judged, tuple[str, ...]]
"""A fact, and the rules that its submission breaks; if there is any, the fact is incomplete."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedDescription:
    """What belongs to each fact that is judged: a signal, or a decision of the user.

    Attributes:
        fact: Its class, which has the fields.
        words: Returns what it did, such as ``handed in the plan``; empty if that is not shown.
        counts: Returns why it does not count; empty if it does. `judge` asks before what all need.
        step: Returns the state after it, if it counts.
        files: Returns the files that follow from it, by the state before it.
    """

    fact: type[Judged]
    words: Callable[[Any], str]
    counts: Callable[[SessionState, Event, Any], str] = lambda *_: ""
    step: FoldStep
    files: Callable[[SessionState, Event, Any], tuple[Implied, ...]] = lambda *_: ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SignalDescription(JudgedDescription):
    """What belongs to a signal of an agent.

    Attributes:
        in_any_phase: Whether it counts in every phase; else where it is the signal of the phase.
        hands_in: Whether it hands in work.
        command: What is typed after ``agentmux``, such as ``submit plan``.
        says: What command and tool do.
        arguments: Those of the command, and of the tool.
        reads: Returns the files that are handed in.
        made: Returns the fact.
        about: The field of the fact by which two of one launch differ; empty for none.
    """

    in_any_phase: bool = False
    hands_in: bool = True
    command: str
    says: str
    arguments: tuple[Argument, ...] = ()
    reads: Callable[[Handed], tuple[HandedFile, ...]] = lambda _: ()
    made: Callable[[Handed, Contents], Made]
    about: str = ""

    @property
    def name(self) -> str:
        """The last word of the command, by which its help calls it."""
        return self.command.rpartition(" ")[2]

    def as_command(self, **values: object) -> str:
        """Return the shell command, with those of the ``values`` that it takes."""
        words = [self.command]
        for each in self.arguments:
            if values[each.field] not in {None, ""}:
                words += [each.option, str(values[each.field])]
        return " ".join(("agentmux", *filter(None, words)))


def folder_of(state: SessionState, kind: Kind, usual: str) -> str:
    """Return the folder of the session's phase if it is of this kind, else the usual one."""
    if kind_of(state) is not kind:
        return usual
    return pipeline_of(state)[state.phase].folder


def working_folder(state: SessionState) -> str:
    """Return the folder of the phase whose work is under way."""
    return pipeline_of(state)[working_phase(state)].folder
