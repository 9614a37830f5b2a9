"""The facts about a seat and this machine from which a launch is decided, as values."""

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
from agentmux.core.conversation.resume_choice import PaneStart, ResumeFacts, same_work
from agentmux.core.conversation.seat_history import SeatHistory, seat_history
from agentmux.core.journal.state import SessionState
from agentmux.core.names import layout
from agentmux.core.pipeline.artifacts import Artifacts
from agentmux.core.pipeline.work import Work

# What the wrapper, like every shell, records as the status of a program that could not be run.
_NOT_RUN: Final = frozenset({126, 127})


@dataclass(frozen=True, slots=True, kw_only=True)
class SeatPlayer:
    """The agent that plays a seat, its model, and how its conversation is resumed.

    Attributes:
        name: The agent as the user chose it: a name in the agent registry, or a command.
        spec: The agent's description in the registry.
        model: The model; None means the agent's default.
        args: The user's own words on the agent's command line for this role, at launch and at
            resume.
        probe: What the installed program can do, and whether it is installed.
        strategy: How the agent's conversation is resumed.
        env: The variables that are added to the agent's environment.
        home: The agent's config home, where it keeps its conversations; empty if it is unknown.
        runtime: The installed program in one text, from `runtime.encode_runtime`: its base name,
            version and file; empty if it is not installed.
        checkpoint_dir: The absolute path of the seat's folder in which the agent may save its
            conversation; it need not exist.
        kept_file: The path of the file in that folder from which the agent restores the earlier
            conversation; it may be missing. None if the agent restores none from a file, or if the
            file's name contains the conversation's id and that is unknown.
        unset: The names of the variables that are removed from the agent's environment.
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
        """The base name of the agent's program, such as ``claude``; not the registry's name.

        The path is left out, because many programs move with an update and keep their
        conversations.
        """
        return program_name(self.spec)

    @property
    def is_installed(self) -> bool:
        """Whether the agent's program is installed on this machine."""
        return self.probe.installed

    @property
    def is_person(self) -> bool:
        """Whether the user plays the seat's role in a shell, so that no agent does."""
        return self.spec.prompt is PromptBy.SHOWN

    @property
    def can_play(self) -> bool:
        """Whether an agent can play the seat on this machine."""
        return self.is_installed and not self.is_person

    @property
    def preferred_strategy(self) -> Strategy:
        """The first way in which the registry says that the agent's conversation can come back.

        If it says none, that is `NO_STRATEGY`. The setting ``resume.commands`` may replace it.
        """
        return next(iter(self.spec.strategies), NO_STRATEGY)

    @property
    def checkpoint_file(self) -> str:
        """The absolute path of the file to which the agent saves its conversation.

        It need not exist. Empty for an agent whose conversation comes back in another way.
        """
        keeps = self.strategy.kind is StrategyKind.CHECKPOINT
        return f"{self.checkpoint_dir}/session-latest.json" if keeps else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionLaunchFacts:
    """The facts that are the same for every launch of a session.

    Attributes:
        session: The absolute path of the session's directory.
        tree: The absolute path of the directory in which agents work.
        is_inside: Whether ``session`` is below ``tree``.
        host: The name of this machine.
        boot: The id of this machine's current boot.
        path: The value of ``PATH`` that agents get.
        shell: The path of the user's shell.
        has_shell: Whether that shell exists.
        mcp_server: The argv that starts our MCP server, which an agent runs for its tools.
        hook: The argv with which an agent's hook reports to us.
        resume: The settings for resuming conversations.
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
        work: The template of the full prompt, for the first launch for a piece of work.
        again: The template of the full prompt with a warning about unfinished work, for later
            launches for the same work.
        message: The template of the short message to a resumed conversation.
        opening: The template of a prompt's beginning.
        warning: The template of the warning about unfinished work.
        ending: The template of a prompt's end.
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
    """All facts from which `plan_launch` decides one launch.

    Attributes:
        session_facts: The facts that all launches of the session share.
        work: The work for which the seat is launched.
        launch: The id of the launch.
        at: The current time (UTC, ISO 8601 with ``Z``).
        new_conversation: The id that a new conversation would get; None if only the agent will
            know it.
        player: The agent that plays the seat.
        history: What the state records about the seat's earlier launches.
        conversation: The facts about the conversation that may come back; None if there is none.
        claims: For each conversation that the launch may use, the file that the pane locks while
            its agent runs, so that no other launch uses the conversation. The key is the
            conversation's id, or the launch's id if that is not known yet.
        epoch: The facts that make a conversation outdated when they change: ``phase``, ``cycle``,
            ``iteration``, ``subplan`` and ``files``, as in `ResumeRecord.epoch`.
        reading: The files that the agent should read, relative to the session's directory.
        artifacts: The artifacts of the session; for a researcher also those of its topic.
        templates: The texts from which the prompts are made.
        kept_prompt: For a researcher: the text of the prompt that is kept in the topic's folder;
            empty if there is none.
        question: The question on the topic; empty if it was not recorded.
        handover: The absolute paths of the files that an import left for the seat.
        has_own_hooks: Whether the user has set up hooks in the agent that ours would replace.
    """

    session_facts: SessionLaunchFacts
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
        """The absolute path of the launch's folder."""
        return f"{self.session_facts.session}/{layout.launch(self.launch)}"

    @property
    def is_again(self) -> bool:
        """Whether an earlier launch of the seat was for the same work."""
        record = self.history.record
        return record is not None and same_work(record.epoch, self.epoch)


def histories_of(state: SessionState) -> Mapping[str, SeatHistory]:
    """Return what the state records about earlier launches of each seat, by the seat's name.

    Seats that were never launched are left out.
    """
    return {name: _history(state, name) for name in {**state.agents, **state.seats}}


def _history(state: SessionState, name: str) -> SeatHistory:
    fields, seat = state.agents.get(name), state.seats.get(name)
    if seat is None:
        return seat_history(fields)
    never_ran = seat.mode == PaneStart.FRESH and seat.exit_status in _NOT_RUN
    return seat_history(fields, failed_at_once=seat.failed_at_once, never_ran=never_ran)
