"""How a seat's pane comes up, decided from facts: with which conversation, command and prompt."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from agentmux.core.agents.command_lines import prompt_words
from agentmux.core.codec.frozen import dataclass, replace
from agentmux.core.conversation.resume_choice import (
    Fresh,
    Guard,
    Native,
    ResumeChoice,
    Rung,
    choose_resume,
    plan_rung,
)
from agentmux.core.conversation.seat_history import SeatHistory
from agentmux.core.journal.state import AGENT_MODES, SessionState
from agentmux.core.launch.command_line import AgentCommand, agent_command
from agentmux.core.launch.facts import LaunchFacts, SeatPlayer
from agentmux.core.launch.texts import INSTRUCTIONS, LaunchPrompts, launch_prompts
from agentmux.core.pipeline.work import Work
from agentmux.core.prompts.prompt import launch_line

PROMPT: Final = "prompt.md"
"""The file in a launch's folder that holds the prompt."""
CHOSEN: Final = "chosen in its pane"


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchPlan:
    """How one launch would be made; nothing is written yet.

    Attributes:
        facts: What it was decided by.
        history: What the seat's earlier launches left, with the resume arguments that
            ``resume.commands`` sets.
        choice: Whether the conversation comes back, and why.
        rung: How the pane comes up: with the conversation, with a new one, with a shell, or with
            the last screen only.
        why: The reason for the rung.
        command: How the agent's program is called.
        prompts: What the agent can be told.
        prompt_file: The file in the launch folder that the agent is told to read.
    """

    facts: LaunchFacts
    history: SeatHistory
    choice: ResumeChoice
    rung: Rung
    why: str
    command: AgentCommand
    prompts: LaunchPrompts
    prompt_file: str = PROMPT

    @property
    def work(self) -> Work:
        """What the seat is to do."""
        return self.facts.work

    @property
    def player(self) -> SeatPlayer:
        """Who plays the seat."""
        return self.facts.player

    @property
    def launch(self) -> str:
        """The id of the launch."""
        return self.facts.launch

    @property
    def mode(self) -> str:
        """The name of ``rung``: ``native``, ``fresh``, ``shell`` or ``screen``."""
        return self.rung.value

    @property
    def plays(self) -> bool:
        """Whether the pane runs an agent, and not a shell or nothing."""
        return self.mode in AGENT_MODES

    @property
    def session_ref(self) -> str | None:
        """The conversation's id; None if it is not known beforehand, or no agent runs."""
        if not self.plays:
            return None
        standing = self.history.standing
        if isinstance(self.choice, Native):
            return standing.session_ref if standing is not None else None
        return self.facts.new_conversation

    @property
    def full_prompt(self) -> str:
        """The text that a fresh start is sent."""
        return self.prompts.full

    @property
    def prompt(self) -> str:
        """The text that is sent; for a native resume the short message."""
        return self.prompts.message if self.rung is Rung.NATIVE else self.prompts.full

    @property
    def argv(self) -> tuple[str, ...]:
        """What the pane runs, including the prompt if the agent takes it there."""
        if not self.plays:
            return (self.facts.around.shell,) if self.rung is Rung.SHELL else ()
        resuming = isinstance(self.choice, Native)
        argv = self.choice.argv if isinstance(self.choice, Native) else self.command.begin
        line = launch_line(f"{self.facts.folder}/{self.prompt_file}")
        return (*argv, *prompt_words(self.player.spec, line, resuming=resuming))

    @property
    def env(self) -> Mapping[str, str]:
        """The agent's own variables; a conversation that comes back keeps those it began with."""
        if self.rung is Rung.NATIVE and isinstance(self.choice, Native):
            return self.choice.env
        return self.player.env

    @property
    def program(self) -> str:
        """The program of the agent, as its command line begins."""
        return self.player.spec.command[0]

    @property
    def lacks_program(self) -> bool:
        """Whether the pane runs no agent only because the agent's program was not found."""
        return not (self.plays or self.player.is_person or self.player.is_installed)

    def as_fresh(self) -> LaunchPlan:
        """Return the same launch with a new conversation."""
        if self.rung is not Rung.NATIVE:
            return self
        choice = Fresh(reason=CHOSEN, guard=Guard.SWITCH)
        return replace(self, choice=choice, rung=Rung.FRESH, why=CHOSEN, prompt_file=INSTRUCTIONS)

    def as_shell(self) -> LaunchPlan:
        """Return the same launch with a shell for the user instead of the agent."""
        return replace(self.as_fresh(), rung=Rung.SHELL, why=CHOSEN)


def plan_launch(state: SessionState, facts: LaunchFacts) -> LaunchPlan:
    """Decide how a seat's pane comes up; never raises."""
    player, around, command = facts.player, facts.around, agent_command(facts)
    history = facts.history.with_command(player.preferred_strategy.kind, command.restated)
    choice = choose_resume(history, facts.conversation)
    rung, why = plan_rung(
        choice,
        is_person=player.is_person,
        missing="" if player.is_installed else player.spec.command[0],
        failed=history.never_ran,
        shell=around.shell,
        has_shell=around.has_shell,
    )
    return LaunchPlan(
        facts=facts,
        history=history,
        choice=choice,
        rung=rung,
        why=why,
        command=command,
        prompts=launch_prompts(state, facts),
    )
