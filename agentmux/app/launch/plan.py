"""The plan of a launch, as a value; `launcher` makes plans and carries them out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from agentmux.app.launch.seat_player import SeatPlayer
from agentmux.core.agents.spec import PromptBy
from agentmux.core.codec.frozen import dataclass
from agentmux.core.codec.records import Json
from agentmux.core.conversation.resume_choice import Native, ResumeChoice, Rung
from agentmux.core.conversation.seat_history import SeatHistory
from agentmux.core.journal.state import AGENT_MODES
from agentmux.core.pipeline.work import Work

PROMPT: Final = "prompt.md"
"""The file in a launch's folder that holds the prompt."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchPlan:
    """How one launch would be made; nothing is written yet.

    Attributes:
        choice: Whether the conversation comes back, and why.
        rung: How the pane comes up: with the conversation, with a new one, with a shell, or with
            the last screen only.
        why: The reason for the rung.
        launch: The id of the launch.
        history: The records of the seat's earlier launches, with the resume arguments that
            ``resume.commands`` sets.
        prompt: The text that is sent; for a native resume the short message.
        full_prompt: The text that a fresh start is sent.
        prompt_file: The file in the launch folder that the agent is told to read.
        session_ref: The conversation's id; None if it is not known beforehand.
        epoch: What the work depends on: phase, cycle, iteration, sub-plan, and the digests of the
            files to read.
        signals: The commands that hand in the work.
    """

    work: Work
    player: SeatPlayer
    history: SeatHistory
    choice: ResumeChoice
    rung: Rung
    why: str
    launch: str
    session_ref: str | None
    prompt: str
    full_prompt: str
    epoch: Json
    argv: tuple[str, ...]
    signals: tuple[str, ...]
    prompt_file: str = PROMPT

    @property
    def mode(self) -> str:
        """The name of ``rung``: ``native``, ``fresh``, ``shell`` or ``screen``."""
        return self.rung.value

    @property
    def env(self) -> Mapping[str, str]:
        """The agent's own variables; a conversation that comes back keeps those it began with."""
        if self.rung is Rung.NATIVE and isinstance(self.choice, Native):
            return self.choice.env
        return self.player.env

    @property
    def plays(self) -> bool:
        """Whether the pane runs an agent, and not a shell or nothing."""
        return self.mode in AGENT_MODES

    @property
    def program(self) -> str:
        """The program of the agent, as its command line begins."""
        return self.player.spec.command[0]

    @property
    def lacks_program(self) -> bool:
        """Whether the pane runs no agent only because the agent's program was not found."""
        is_person = self.player.spec.prompt is PromptBy.SHOWN
        return not (self.plays or is_person or self.player.installed)
