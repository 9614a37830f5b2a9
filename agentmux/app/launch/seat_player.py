"""Which agent plays a seat, and whether the seat's conversation comes back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from agentmux.app.launch.seat_histories import SeatHistories
from agentmux.app.world import World
from agentmux.core.agents.command_lines import kept_file, strategy_env
from agentmux.core.agents.runtime import decode_runtime, encode_runtime, runtime_of
from agentmux.core.agents.spec import (
    AgentSpec,
    ProbeResult,
    Strategy,
    StrategyKind,
    assumed_strategy,
    choose_strategy,
    home_of,
    program_name,
)
from agentmux.core.codec.frozen import dataclass
from agentmux.core.codec.records import Json
from agentmux.core.conversation.resume_choice import (
    CheckpointState,
    Fresh,
    Guard,
    ResumeChoice,
    ResumeFacts,
    choose_resume,
)
from agentmux.core.conversation.resume_record import ResumeRecord, conversation_kind
from agentmux.core.conversation.seat_history import SeatHistory
from agentmux.core.journal.state import SessionState
from agentmux.core.names import layout
from agentmux.core.names.conversations import NO_EARLIER
from agentmux.core.names.statuses import LAUNCHED, STOPPED
from agentmux.core.pipeline.work import Work, agents_work
from agentmux.ports.session_files import SessionFiles


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

    @property
    def program(self) -> str:
        """Base name of the program that owns the conversations, whatever the registry calls it.

        Not its path: many programs move when they are updated, and keep their conversations.
        """
        return program_name(self.spec)

    @property
    def installed(self) -> bool:
        """Whether the agent's program is on this machine."""
        return self.probe.installed


class SeatPlayers:
    """Finds out which agent plays each seat of a session, and if its conversation comes back."""

    def __init__(
        self,
        world: World,
        files: SessionFiles,
        state: SessionState,
        histories: SeatHistories,
        fresh: frozenset[str] = frozenset(),
    ) -> None:
        """Take the session and the state in which it launches.

        Args:
            world: The outside world.
            files: The session's directory.
            state: The state.
            histories: The histories of the seats of ``state``.
            fresh: The seats that are to start a new conversation; ``*`` is all of them.
        """
        self._world = world
        self._files = files
        self._state = state
        self._histories = histories
        self._fresh = fresh

    def player_of(self, work: Work, history: SeatHistory) -> SeatPlayer:
        """Return the agent for ``work``, by the flags of the start, else the configuration."""
        options = self._state.options
        played = self._world.settings.played(work.role, options.agents, options.models)
        name = played.agent
        spec = self._world.spec(name)
        probe = self._world.programs.probe(spec)
        strategy = _strategy(history, name, spec, probe)
        folder = f"{self._files.path}/{layout.checkpoint(work.seat)}"
        env = strategy_env(spec, strategy, checkpoint_dir=folder)
        return SeatPlayer(
            name=name,
            spec=spec,
            model=played.model,
            args=played.args,
            probe=probe,
            strategy=strategy,
            env=env,
            home=home_of(spec, {**self._world.environment, **env}),
            runtime=self._runtime(spec, probe),
            checkpoint_dir=folder,
        )

    def _runtime(self, spec: AgentSpec, probe: ProbeResult) -> str:
        if not probe.path:
            return ""
        file = self._world.programs.identity(probe.path)
        return encode_runtime(runtime_of(program_name(spec), probe.version, file))

    def choose_resume(
        self, work: Work, player: SeatPlayer, epoch: Json, history: SeatHistory
    ) -> ResumeChoice:
        """Decide whether the seat's conversation comes back, or why a new one begins.

        Args:
            work: What the seat is to do.
            player: Who plays the seat.
            epoch: What the work depends on now; the conversation must have had the same.
            history: The records of the seat's earlier launches.
        """
        if history.standing is None:
            return Fresh(reason=NO_EARLIER, guard=Guard.RECORD)
        return choose_resume(history, self._facts(work, player, history.standing, epoch))

    def _facts(
        self, work: Work, player: SeatPlayer, standing: ResumeRecord, epoch: Json
    ) -> ResumeFacts:
        world, resume = self._world, self._world.settings.resume
        cwd = str(world.tree)
        claim = self.claim(player, standing.session_ref)
        return ResumeFacts(
            agent=player.name,
            model=player.model,
            binds_model=player.spec.model_bound,
            host=world.host,
            cwd=cwd,
            home=player.home,
            home_exists=world.programs.exists(player.home),
            runtime=player.runtime,
            strategies=tuple(each.kind for each in player.spec.strategies),
            runtime_resumes=player.probe.strategies.get(standing.strategy),
            runtime_problem=player.probe.problem,
            epoch=epoch,
            ambiguous=self._is_ambiguous(work, player, standing),
            claim_held_by=world.claims.holder(claim) if claim is not None else None,
            now=world.now(),
            max_age_s=resume.max_age_s,
            native_enabled=resume.native,
            fresh_flag=bool(self._fresh & {work.seat, "*"}),
            policy=resume.policy or "auto",
            words_off=self._words_off(player),
            checkpoint=self._checkpoint(player, standing),
        )

    def _words_off(self, player: SeatPlayer) -> str:
        name, commands = program_name(player.spec), self._world.settings.resume.commands
        if name not in commands or player.spec.strategies:
            return ""
        if commands[name]:
            return f"`resume.commands.{name}` needs a conversation id, and `{player.name}` has none"
        return f"`resume.commands.{name}` is empty, so nothing is resumed"

    def _is_ambiguous(self, work: Work, player: SeatPlayer, standing: ResumeRecord) -> bool:
        """Whether the agent's "latest conversation" may be another launch's, now or soon.

        False for an agent that resumes conversations by id.
        """
        if conversation_kind(standing) is not StrategyKind.CONTINUE:
            return False
        if set(self._latest(player)) - {standing.launch, standing.session_ref}:
            return True
        others = (each for each in agents_work(self._state) if each.seat != work.seat)
        players = (self.player_of(each, self._histories.of(each.seat)) for each in others)
        return any(_shares_latest(player, other) for other in players)

    def _latest(self, player: SeatPlayer) -> tuple[str, ...]:
        cwd = str(self._world.tree)
        return self._world.claims.latest(player.program, player.home, cwd)

    def note_latest(self, player: SeatPlayer, launch: str, conversation: str | None) -> None:
        """Record that a launch may own the latest conversation of its program, home and directory.

        Launches that run there already stay recorded: each may own it, whatever its agent is called
        and however it is resumed.
        """
        if player.strategy.private:
            return
        beside = (owner for owner in self._latest(player) if self._runs(player, owner))
        owners = (*beside, launch, *([conversation] if conversation else []))
        cwd = str(self._world.tree)
        self._world.claims.note_latest(
            player.program, player.home, cwd, tuple(dict.fromkeys(owners))
        )

    def _runs(self, player: SeatPlayer, owner: str) -> bool:
        """Whether the launch or conversation ``owner`` runs.

        A launch of this session runs while it holds a seat; any other launch or conversation, while
        its claim file (see `claim`) is locked.
        """
        if any(owner in each for each in self._held()):
            return True
        if self._files.launch_record(owner).started:
            return False
        claim = self.claim(player, owner)
        return claim is not None and self._world.claims.is_held(claim)

    def _held(self) -> Iterator[tuple[str, str | None]]:
        """Yield, for each seat with an agent or a waiting pane, its launch and conversation id."""
        for name, seat in self._state.seats.items():
            if seat.status in {LAUNCHED, STOPPED}:
                record = self._histories.of(name).record
                yield seat.launch, record.session_ref if record is not None else None

    def claim(self, player: SeatPlayer, conversation: str | None) -> Path | None:
        """Return the file that a launch locks while it uses the conversation with this id.

        None if ``conversation`` is None: its id is not known.
        """
        if conversation is None:
            return None
        return self._world.claims.path(player.program, player.home, conversation)

    def _checkpoint(self, player: SeatPlayer, record: ResumeRecord) -> CheckpointState:
        files = self._files
        if player.strategy.kind is StrategyKind.CHECKPOINT:
            kept = record.checkpoint
            return files.checkpoint_state(kept, player.model) if kept else CheckpointState.NONE
        own = kept_file(player.strategy, record.session_ref, player.checkpoint_dir)
        if own is None:
            return CheckpointState.NONE
        # The file is in the agent's own format, so only its existence can be checked.
        return CheckpointState.OK if files.has_file(own) else CheckpointState.MISSING


def _strategy(history: SeatHistory, name: str, spec: AgentSpec, probe: ProbeResult) -> Strategy:
    """Return how the conversation will be found again.

    It is a guess until the program has answered what it can do.
    """
    if not probe.is_open:
        return choose_strategy(spec, probe)
    record = history.record
    played = record is not None and record.agent == name and record.runtime
    last = record.strategy if record is not None and played else None
    return assumed_strategy(spec, last, failed=history.failed_at_once)


def _shares_latest(one: SeatPlayer, other: SeatPlayer) -> bool:
    """Whether resuming "the latest conversation" of ``one`` may open one of ``other``."""
    if one.home != other.home or other.strategy.private:
        return False
    return one.program == other.program or _path(one) == _path(other) != ""


def _path(player: SeatPlayer) -> str:
    """Return the real path of the agent's program; empty if unknown."""
    return decode_runtime(player.runtime, player.program).path
