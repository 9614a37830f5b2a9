"""What a launch would be, as a value; making it so is ``launcher``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from agentmux.app.launch.seat_player import SeatPlayer
from agentmux.core.codec.frozen import dataclass
from agentmux.core.codec.records import Json
from agentmux.core.conversation.resume_choice import Native, ResumeChoice, Rung
from agentmux.core.conversation.seat_history import SeatHistory
from agentmux.core.journal.state import AGENT_MODES
from agentmux.core.pipeline.work import Work

PROMPT: Final = "prompt.md"
"""In a launch's folder: the prompt that it is sent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchPlan:
    """What a launch would be; nothing is written yet.

    Attributes:
        rung: How it comes up, and ``why`` so.
        history: What the seat's earlier launches left, under the words of ``resume.commands``.
        prompt: The text that is sent; for a native resume the short message.
        full_prompt: The text that a fresh start is sent.
        prompt_file: Where in the launch folder the prompt that is named lies.
        session_ref: The conversation's id, where it is known beforehand.
        signals: The commands that hand the work in.
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
        """``native``, ``fresh``, ``shell`` or ``screen``."""
        return self.rung.value

    @property
    def env(self) -> Mapping[str, str]:
        """The variables of the agent's own; a conversation keeps those that it was begun with."""
        if self.rung is Rung.NATIVE and isinstance(self.choice, Native):
            return self.choice.env
        return self.player.env

    @property
    def plays(self) -> bool:
        """Whether an agent plays; else its user does, or nobody."""
        return self.mode in AGENT_MODES
