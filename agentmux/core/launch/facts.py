"""What is known of a seat and of this machine before a launch, as values."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from agentmux.core.agents.spec import (
    NO_STRATEGY,
    AgentSpec,
    ProbeResult,
    PromptBy,
    Strategy,
    StrategyKind,
    program_name,
)
from agentmux.core.codec.frozen import dataclass
from agentmux.core.codec.records import Json
from agentmux.core.config.settings import ResumeSettings
from agentmux.core.conversation.resume_choice import ResumeFacts, Rung, same_work
from agentmux.core.conversation.seat_history import SeatHistory, seat_history
from agentmux.core.journal.state import SessionState
from agentmux.core.names import layout
from agentmux.core.pipeline.artifacts import Artifacts
from agentmux.core.pipeline.work import Work

# What the wrapper, like every shell, records as the status of a program that could not be run.
_NOT_RUN: Final = frozenset({126, 127})


@dataclass(frozen=True, slots=True, kw_only=True)
class SeatPlayer:
    """The agent that plays a seat, its model, and how its conversation is found again.

    Attributes:
        name: The agent as it was chosen: a name of the registry, or a command as typed.
        args: The user's own arguments for the role, at launch and at resume.
        probe: What the installed program can do.
        strategy: How its conversation is found again.
        env: The variables that the agent gets on top of its environment.
        home: The agent's config home, where it keeps its conversations; may be empty.
        runtime: Version and identity of the installed program; empty if there is none.
        checkpoint_dir: The seat's own folder for checkpoints, absolute; it need not exist.
        kept_file: The file in it that brings the conversation of before back, in the agent's own
            form; None for other agents.
        unset: The variables that are removed for the agent.
    """

    name: str
    spec: AgentSpec
    model: str | None
    args: tuple[str, ...]
    probe: ProbeResult
    strategy: Strategy
    env: Mapping[str, str]
    home: str
    runtime: str
    checkpoint_dir: str
    kept_file: str | None
    unset: tuple[str, ...]

    @property
    def program(self) -> str:
        """Base name of the program that owns the conversations, whatever the registry calls it.

        Not its path: many programs move when they are updated, and keep their conversations.
        """
        return program_name(self.spec)

    @property
    def is_installed(self) -> bool:
        """Whether the agent's program is on this machine."""
        return self.probe.installed

    @property
    def is_person(self) -> bool:
        """Whether a person plays the seat, in a shell."""
        return self.spec.prompt is PromptBy.SHOWN

    @property
    def can_play(self) -> bool:
        """Whether an agent can play the seat on this machine."""
        return self.is_installed and not self.is_person

    @property
    def preferred_strategy(self) -> Strategy:
        """The first of its strategies, which the setting ``resume.commands`` replaces."""
        return next(iter(self.spec.strategies), NO_STRATEGY)

    @property
    def checkpoint_file(self) -> str:
        """The path of the file that keeps its conversation; empty if none does."""
        keeps = self.strategy.kind is StrategyKind.CHECKPOINT
        return f"{self.checkpoint_dir}/session-latest.json" if keeps else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchSurroundings:
    """What is the same for every launch of a session.

    Attributes:
        session: The session's directory.
        tree: The directory in which agents work.
        is_inside: Whether the session's directory is below that one.
        path: The ``PATH`` that agents get.
        shell: The path of the user's shell.
        has_shell: Whether that program exists.
        mcp_server: The argv of our MCP server.
        hook: The argv that an agent's hook runs to report to us.
        resume: How conversations are resumed, by the settings.
    """

    session: str
    tree: str
    is_inside: bool
    host: str
    boot: str
    path: str
    shell: str
    has_shell: bool
    mcp_server: tuple[str, ...]
    hook: tuple[str, ...]
    resume: ResumeSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchTemplates:
    """The texts from which the prompts of one launch are made.

    Attributes:
        work: The template of the whole work.
        again: The same, with a warning about unfinished work.
        message: The template of the short message to a conversation that comes back.
        opening: How a prompt begins.
        warning: The warning about unfinished work.
        ending: How a prompt ends.
        extension: The project's rules for the role; None if there are none.
    """

    work: str
    again: str
    message: str
    opening: str
    warning: str
    ending: str
    extension: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchFacts:
    """What is true when a seat is to be launched; `plan_launch` decides by it.

    Attributes:
        launch: The id of the launch.
        at: The present time, as the journal writes it.
        new_conversation: The id that a new conversation would get; None where it is not known
            beforehand.
        history: What the earlier launches of the seat left.
        conversation: What is true of the conversation that may come back; None if there is none.
        claims: The claim file of each conversation that the launch may use, by its id; while the id
            is unknown, that of the launch stands for it.
        epoch: What a conversation about the work depends on; a change makes it outdated. See
            `ResumeRecord.epoch`.
        reading: The files that the agent is to read, relative to the session.
        artifacts: Those of the session; for a researcher those of its topic, too.
        kept_prompt: The researcher's prompt as it lies in the topic's folder; empty if there is
            none.
        question: The question on the topic; empty if it was not kept.
        handover: The files that an import left for the seat, absolute.
        has_own_hooks: Whether the user has set up hooks of the agent that ours would replace.
    """

    around: LaunchSurroundings
    work: Work
    launch: str
    at: str
    new_conversation: str | None
    player: SeatPlayer
    history: SeatHistory
    conversation: ResumeFacts | None
    claims: Mapping[str, Path]
    epoch: Json
    reading: tuple[str, ...]
    artifacts: Artifacts
    templates: LaunchTemplates
    kept_prompt: str
    question: str
    handover: tuple[str, ...]
    has_own_hooks: bool

    @property
    def folder(self) -> str:
        """The absolute path of the launch folder."""
        return f"{self.around.session}/{layout.launch(self.launch)}"

    @property
    def is_again(self) -> bool:
        """Whether the seat was launched for the same work before."""
        record = self.history.record
        return record is not None and same_work(record.epoch, self.epoch)


def histories_of(state: SessionState) -> Mapping[str, SeatHistory]:
    """Return what the state records of the earlier launches of each seat that had one."""
    return {name: _history(state, name) for name in {**state.agents, **state.seats}}


def _history(state: SessionState, name: str) -> SeatHistory:
    fields, seat = state.agents.get(name), state.seats.get(name)
    if seat is None:
        return seat_history(fields)
    never_ran = seat.mode == Rung.FRESH and seat.exit_status in _NOT_RUN
    return seat_history(fields, failed_at_once=seat.failed_at_once, never_ran=never_ran)
