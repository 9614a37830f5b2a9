"""What a message to an agent can say."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentmux.adapters.config.prompt_files import BUILT_IN
from agentmux.app.loop.messenger import message_inputs
from agentmux.core.definitions.definition import Kind, Leaf, PhaseDefinition, PipelineDefinition
from agentmux.core.journal.state import Seat, SessionState
from agentmux.core.prompts.prompt import GO_ON, NUDGE, render

MINE = PipelineDefinition(
    name="mine",
    phases=(
        PhaseDefinition(
            phase="threats",
            kind=Kind.DOCUMENT,
            folder="found",
            roles=("security",),
            leaves=(Leaf(file="threats.md"),),
        ),
        PhaseDefinition(phase="end", kind=Kind.COMPLETE, folder="end", roles=("security",)),
    ),
)


@pytest.mark.parametrize("name", [NUDGE, GO_ON])
def test_a_reminder_in_a_phase_of_ones_own_names_its_command(name: str) -> None:
    seat = Seat(launch="1", role="security", phase="threats", mode="fresh", reason="", since="")
    state = SessionState(phase="threats", pipeline=MINE, seats={"security": seat})
    inputs = message_inputs(state, "security", session=Path("/s"), tree=Path("/p"))
    text = render((BUILT_IN / f"{name}.md").read_text("utf-8"), inputs)
    assert "`agentmux submit phase threats`" in text
