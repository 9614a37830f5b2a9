"""Checkpoints of the work tree: when to take one, how to find one, where to go on after a rewind.

Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from agentmux.core.codec.frozen import dataclass
from agentmux.core.definitions.definition import LOOKING, Kind
from agentmux.core.fold.signals.table import DESCRIPTIONS
from agentmux.core.journal.events import (
    AgentLaunched,
    AgentNudged,
    CheckpointTaken,
    CommitMade,
    Event,
    LaunchChosen,
    PromptReached,
    ResearchTold,
)
from agentmux.core.journal.state import SessionState, TreeCheckpoint
from agentmux.core.names.words.nearest import suggest_name
from agentmux.core.pipeline.registry import TERMINAL, pipeline_of, working_phase
from agentmux.errors import NotFoundError

PHASE_ENDED = "phase"
SUBPLAN = "subplan"
STOP = "stop"
REWIND = "rewind"
REWOUND = "rewound"
EXPORT = "export"

# Events of a seat that show that its conversation went on.
_PROMPTED: Final = (
    *(AgentLaunched, LaunchChosen, PromptReached, AgentNudged, ResearchTold),
    *(each.fact for each in DESCRIPTIONS.values() if each.hands_in),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Position:
    """How far a session has come; a change of this may be a reason to save the work tree.

    ``phase`` is the name of the phase, ``cycle`` the number of the pass through the pipeline, from
    1, ``iteration`` that of the round of reviewing and fixing in the cycle, from 0, and
    ``subplans`` the numbers of the completed sub-plans, from 1.
    `reason_to_save` compares two positions.
    """

    phase: str
    cycle: int
    iteration: int
    subplans: tuple[int, ...]


def position(state: SessionState) -> Position:
    """Return how far the session has come; a failed session is in the phase in which it failed."""
    return Position(
        phase=working_phase(state),
        cycle=state.cycle,
        iteration=state.iteration,
        subplans=state.completed_subplans,
    )


def reason_to_save(before: Position, now: Position) -> str:
    """Return why the work tree is saved if a session went from ``before`` to ``now``.

    ``phase`` (`PHASE_ENDED`) if another phase or cycle has begun, ``subplan`` (`SUBPLAN`) if a
    sub-plan was completed; empty if the work tree is not saved.
    """
    if before.phase in TERMINAL:
        return ""
    if (before.phase, before.cycle) != (now.phase, now.cycle):
        return PHASE_ENDED
    return SUBPLAN if set(now.subplans) - set(before.subplans) else ""


def rewound_phase(state: SessionState, to: TreeCheckpoint) -> str:
    """Return the name of the phase in which a session goes on after a rewind to a checkpoint.

    ``to`` is the checkpoint. If it was taken at the end of a phase, or in a fix of an earlier
    iteration, the session goes on in the next phase, except that a check, a review or the
    completion is repeated. Otherwise the session goes on in the phase in which the checkpoint was
    taken. For a checkpoint of an earlier cycle, whose artifacts are in the history, it goes on in
    the phase in which a cycle begins. It never goes on in a later phase than its current one.
    """
    here, pipeline = working_phase(state), pipeline_of(state)
    target = to.phase if to.phase in pipeline else pipeline.default_beginning(state)
    if to.cycle != state.cycle:
        target = pipeline.default_beginning(state)
    elif to.because == PHASE_ENDED or _is_older_fix(state, to, pipeline[target].kind):
        target = _after(state, target)
    return pipeline.earlier(target, here) if here in pipeline else target


def _is_older_fix(state: SessionState, to: TreeCheckpoint, kind: Kind) -> bool:
    return kind is Kind.FIX and to.iteration != state.iteration


def _after(state: SessionState, phase: str) -> str:
    pipeline = pipeline_of(state)
    if pipeline[phase].kind in {*LOOKING, Kind.COMPLETE}:
        return phase  # its verdicts, or its summary, are made again
    following = pipeline[phase].next
    while not pipeline[following].takes_part(state):
        following = pipeline[following].next
    return following


def kept_subplans(state: SessionState, to: TreeCheckpoint, phase: str) -> tuple[int, ...]:
    """Return the numbers, from 1, of the sub-plans that remain completed after a rewind.

    Empty if ``phase`` is no work phase, or if there has been another plan since the checkpoint.

    Args:
        state: The state of the session.
        to: The checkpoint to which the files are rewound.
        phase: The phase in which the session goes on (`rewound_phase`).
    """
    same_plan = to.cycle == state.cycle and set(to.subplans) <= set(state.completed_subplans)
    return to.subplans if pipeline_of(state)[phase].kind is Kind.WORK and same_plan else ()


def stale_seats(events: Iterable[Event], number: int) -> tuple[str, ...]:
    """Return the names of the seats whose conversations went on after a checkpoint, sorted.

    Empty if none did, or if there is no such checkpoint.

    Args:
        events: All events of the journal, in order.
        number: The number of the checkpoint.
    """
    seats: set[str] | None = None
    for event in events:
        if isinstance(event.fact, CheckpointTaken) and event.fact.number == number:
            seats = set()
        elif seats is not None and isinstance(event.fact, _PROMPTED):
            seats.add(event.seat)
    return tuple(sorted(seats or ()))


def delivered_since(events: Iterable[Event], number: int) -> bool:
    """Whether a result was committed after a checkpoint; False if there is no such checkpoint.

    Args:
        events: All events of the journal, in order.
        number: The number of the checkpoint.
    """
    seen = False
    for event in events:
        if isinstance(event.fact, CheckpointTaken) and event.fact.number == number:
            seen = True
        elif seen and isinstance(event.fact, CommitMade) and event.fact.commit is not None:
            return True
    return False


def rewound_since(
    checkpoints: Sequence[TreeCheckpoint],
) -> tuple[tuple[str | None, TreeCheckpoint], ...]:
    """Return the checkpoints from before a rewind, oldest first, each after an id of a commit.

    That commit is the last earlier checkpoint of work that was handed in, or of the files after a
    rewind, so what the two do not share was done since then. None if there is no earlier one.
    """
    since: str | None = None
    pairs = []
    for each in checkpoints:
        if each.because == REWIND:
            pairs.append((since, each))
        elif each.because in {PHASE_ENDED, SUBPLAN, REWOUND}:
            since = each.commit
    return tuple(pairs)


def checkpoint_words(each: TreeCheckpoint) -> str:
    """Return a description of a checkpoint for messages, such as ``3, at the end of planning``."""
    match each.because:
        case "phase":
            return f"{each.number}, at the end of {each.phase}"
        case "subplan":
            parts = ", ".join(map(str, each.subplans))
            return f"{each.number}, in {each.phase} with sub-plan {parts} handed in"
        case "rewind":
            return f"{each.number}, before a rewind"
        case "rewound":
            return f"{each.number}, after a rewind"
        case "export":
            return f"{each.number}, when it was exported"
        case _:
            return f"{each.number}, in {each.phase}"


UNSAVED: Final = "the files were not saved in a work-tree checkpoint"
"""The beginning of the sentence that the last checkpoint, at a stop, could not be taken."""


def interrupted_label(before: int) -> str:
    """Return a sentence for messages about an interrupted rewind.

    ``before`` is the number of the checkpoint with the files from before that rewind.
    """
    return (
        "a rewind was interrupted; a resume finishes it first (the files from before it are in "
        f"work-tree checkpoint {before})"
    )


_NONE: Final = "the session has no work-tree checkpoint"


def named_checkpoint(checkpoints: Sequence[TreeCheckpoint], name: str) -> TreeCheckpoint:
    """Return the checkpoint that a user means by ``name``.

    ``name`` is the number of a checkpoint, or the name of a phase, which means the last checkpoint
    at the end of that phase.

    Raises:
        NotFoundError: There is no such checkpoint.
    """
    ended = {each.phase: each for each in checkpoints if each.because == PHASE_ENDED}
    numbered = {str(each.number): each for each in checkpoints}
    checkpoint = numbered.get(name) or ended.get(name)
    if checkpoint is not None:
        return checkpoint
    if not checkpoints:
        raise NotFoundError(_NONE)
    raise NotFoundError(
        f"no work-tree checkpoint `{name}`",
        hints=(*suggest_name(name, ended), checkpoints_label(checkpoints)),
    )


def checkpoints_label(checkpoints: Sequence[TreeCheckpoint]) -> str:
    """Return a sentence for messages that lists ``checkpoints``, or says that there are none."""
    if not checkpoints:
        return _NONE
    return f"there are: {'; '.join(map(checkpoint_words, checkpoints))}"
