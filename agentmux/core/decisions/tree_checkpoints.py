"""When the work tree is saved, which checkpoint a name means, and where a rewind goes on. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from agentmux.core.codec.frozen import dataclass
from agentmux.core.fold.acceptance import working_phase
from agentmux.core.journal.state import SessionState, TreeCheckpoint
from agentmux.core.names.nearest import meant
from agentmux.core.names.phase import Phase
from agentmux.core.pipeline.registry import PIPELINE
from agentmux.errors import NotFoundError

PHASE_ENDED = "phase"
SUBPLAN = "subplan"
STOP = "stop"
REWIND = "rewind"


@dataclass(frozen=True, slots=True, kw_only=True)
class Position:
    """How far a session is: its work tree is saved whenever this changes."""

    phase: Phase
    cycle: int
    iteration: int
    subplans: tuple[int, ...]


def position(state: SessionState) -> Position:
    """Return how far the session is; a failed one is where it failed."""
    return Position(
        phase=working_phase(state),
        cycle=state.cycle,
        iteration=state.iteration,
        subplans=state.completed_subplans,
    )


def reason_to_save(before: Position, now: Position) -> str:
    """Return why the work tree is saved between two positions; empty if it is not."""
    if before.phase not in PIPELINE:
        return ""
    if (before.phase, before.cycle) != (now.phase, now.cycle):
        return PHASE_ENDED
    return SUBPLAN if set(now.subplans) - set(before.subplans) else ""


def checkpoint_words(each: TreeCheckpoint) -> str:
    """Return a checkpoint as text for messages, such as ``3, at the end of planning``."""
    match each.because:
        case "phase":
            return f"{each.number}, at the end of {each.phase}"
        case "subplan":
            parts = ", ".join(map(str, each.subplans))
            return f"{each.number}, in {each.phase} with sub-plan {parts} handed in"
        case "rewind":
            return f"{each.number}, before a rewind"
        case _:
            return f"{each.number}, in {each.phase}"


def named_checkpoint(checkpoints: Sequence[TreeCheckpoint], name: str) -> TreeCheckpoint:
    """Return the checkpoint with this number, or the last one at the end of the phase so named.

    Raises:
        NotFoundError: There is none.
    """
    ended = {each.phase: each for each in checkpoints if each.because == PHASE_ENDED}
    numbered = {str(each.number): each for each in checkpoints}
    found = numbered.get(name) or ended.get(name)
    if found is not None:
        return found
    if not checkpoints:
        raise NotFoundError("the session has no work-tree checkpoint")
    known = "; ".join(map(checkpoint_words, checkpoints))
    raise NotFoundError(
        f"no work-tree checkpoint `{name}`", hints=(*meant(name, ended), f"there are: {known}")
    )
