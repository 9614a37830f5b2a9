"""Decides how a seat's pane is started: with which conversation, command line and prompt."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final

from agentmux.core.agents.command_lines import prompt_words
from agentmux.core.codec.digests import sha256
from agentmux.core.codec.frozen import dataclass, replace
from agentmux.core.conversation.resume_choice import (
    Fresh,
    Guard,
    Native,
    PaneStart,
    ResumeChoice,
    choose_resume,
    plan_rung,
)
from agentmux.core.conversation.seat_history import SeatHistory
from agentmux.core.journal.state import AGENT_MODES, SessionState
from agentmux.core.launch.command_line import AgentCommand, agent_command
from agentmux.core.launch.facts import LaunchFacts, SeatPlayer
from agentmux.core.launch.texts import INSTRUCTIONS, LaunchPrompts, launch_prompts
from agentmux.core.names.conversations import YOU_CHOSE
from agentmux.core.pipeline.work import Work
from agentmux.core.prompts.prompt import launch_line

PROMPT: Final = "prompt.md"
"""The name of the file in a launch's folder that contains the prompt."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchPlan:
    """How one launch would be made. Planning it has written nothing.

    Attributes:
        facts: The facts from which it was decided.
        history: The record of the seat's earlier launches, with the resume arguments that
            ``resume.commands`` sets.
        choice: Whether the conversation comes back, and why.
        rung: What the pane starts with: the agent with its conversation, the agent with a new one,
            a shell, or only the last screen; see `mode`.
        why: The reason for that, in words.
        command: The command lines of the agent's program; `argv` is the one to run.
        prompts: The prompts for the agent; `prompt` is the one to send.
        prompt_file: The name of the file in the launch's folder that the agent is told to read.
    """

    facts: LaunchFacts
    history: SeatHistory
    choice: ResumeChoice
    rung: PaneStart
    why: str
    command: AgentCommand
    prompts: LaunchPrompts
    prompt_file: str = PROMPT

    @property
    def work(self) -> Work:
        """The work for which the seat is launched."""
        return self.facts.work

    @property
    def player(self) -> SeatPlayer:
        """The agent that plays the seat."""
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
        """Whether the pane runs an agent; if not, it runs a shell or nothing."""
        return self.mode in AGENT_MODES

    @property
    def session_ref(self) -> str | None:
        """The conversation's id; None if no agent runs or only the agent will know the id."""
        if not self.plays:
            return None
        standing = self.history.deciding_record
        if isinstance(self.choice, Native):
            return standing.session_ref if standing is not None else None
        return self.facts.new_conversation

    @property
    def full_prompt(self) -> str:
        """The prompt for a new conversation."""
        return self.prompts.full

    @property
    def prompt(self) -> str:
        """The prompt to send: the short message to a resumed conversation, else the full one."""
        return self.prompts.message if self.rung is PaneStart.NATIVE else self.prompts.full

    @property
    def argv(self) -> tuple[str, ...]:
        """The command line that the pane runs; empty if it runs nothing.

        It includes the line with the prompt if the agent takes its prompt as an argument.
        """
        if not self.plays:
            return (self.facts.session_facts.shell,) if self.rung is PaneStart.SHELL else ()
        resuming = isinstance(self.choice, Native)
        argv = self.choice.argv if isinstance(self.choice, Native) else self.command.begin
        line = launch_line(f"{self.facts.folder}/{self.prompt_file}")
        return (*argv, *prompt_words(self.player.spec, line, resuming=resuming))

    @property
    def env(self) -> Mapping[str, str]:
        """The variables that are added to the agent's environment.

        A resumed conversation gets the variables with which it began.
        """
        if self.rung is PaneStart.NATIVE and isinstance(self.choice, Native):
            return self.choice.env
        return self.player.env

    @property
    def program(self) -> str:
        """The first word of the agent's command line in the registry: a program's name or path.

        It is given even if the pane runs a shell or nothing.
        """
        return self.player.spec.command[0]

    @property
    def lacks_program(self) -> bool:
        """Whether the pane runs no agent because the agent's program is not installed."""
        return not (self.plays or self.player.is_person or self.player.is_installed)

    @property
    def digest(self) -> str:
        """A digest of how the seat is started and for which work, in 8 hex digits.

        A person who has seen the plan agrees to it by this digest. It is the same for the same
        mode, agent, model and work, with the same conversation. Which new conversation begins does
        not matter.
        """
        player, place = self.player, {**self.facts.epoch, "files": None}
        ref = self.session_ref if self.rung is PaneStart.NATIVE else None
        agreed = (self.mode, player.name, player.model, player.spec.command, ref, place)
        return sha256(json.dumps(agreed, sort_keys=True).encode()).hexdigest()[:8]

    def as_fresh(self) -> LaunchPlan:
        """Return a copy of this launch that begins a new conversation, as chosen by the user.

        A launch that would not resume a conversation is returned unchanged.
        """
        if self.rung is not PaneStart.NATIVE:
            return self
        choice = Fresh(reason=YOU_CHOSE, guard=Guard.SWITCH)
        return replace(
            self, choice=choice, rung=PaneStart.FRESH, why=YOU_CHOSE, prompt_file=INSTRUCTIONS
        )

    def as_shell(self) -> LaunchPlan:
        """Return a copy of this launch that starts a shell for the user instead of the agent."""
        return replace(self.as_fresh(), rung=PaneStart.SHELL, why=YOU_CHOSE)


def plan_launch(state: SessionState, facts: LaunchFacts) -> LaunchPlan:
    """Return how a seat's pane will be started; writes nothing, and never raises."""
    player, around, command = facts.player, facts.session_facts, agent_command(facts)
    history = facts.history.with_command(player.preferred_strategy.kind, command.configured_resume)
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
