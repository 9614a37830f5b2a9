"""The state of a session after a fact that nobody has recorded yet; nothing is written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentmux.app.session.writer import stamp
from agentmux.core.codec.records import to_fields
from agentmux.core.decisions.next_actions import settlement
from agentmux.core.fold.apply import apply
from agentmux.core.fold.implied import derive_files
from agentmux.core.journal.events import ORCHESTRATOR, Event, Fact, PhaseSettled

if TYPE_CHECKING:
    from agentmux.app.world import World
    from agentmux.core.fold.implied_file import Implied
    from agentmux.core.journal.state import SessionState
    from agentmux.core.pipeline.artifacts import Artifacts


def settled_state(
    world: World, state: SessionState, artifacts: Artifacts
) -> tuple[SessionState, tuple[Implied, ...]]:
    """Return the state after the outcome of its phase, if the artifacts already show that outcome.

    This is asked only right after a resume is applied to ``state``; at other times an artifact does
    not count before its signal.

    Returns:
        The state in which work goes on, and the files that the session must have then; nothing is
        written. If the artifacts show no outcome, or ``state`` is not that right after a resume:
        ``state`` itself, and no files.
    """
    settled = settlement(state, artifacts)
    if settled is None:
        return state, ()
    fact = PhaseSettled(phase=settled.phase, found=to_fields(settled.found))
    return apply_fact(world, state, fact)


def apply_fact(
    world: World, state: SessionState, fact: Fact, *, seat: str = ORCHESTRATOR, launch: str = ""
) -> tuple[SessionState, tuple[Implied, ...]]:
    """Return the state after ``fact``, and the files that the session must have then.

    Nothing is written.

    Args:
        world: The outside world, for the time and the id of the event.
        state: The state before the fact.
        fact: What would happen.
        seat: The seat that the fact is about or comes from.
        launch: The id of the launch that it is about; empty if it is about none.
    """
    event = Event(
        id=world.new_id(),
        at=stamp(world.now()),
        seat=seat,
        launch=launch,
        cycle=state.cycle,
        fact=fact,
    )
    after = apply(state, event)
    return after, derive_files(state, event, after)
