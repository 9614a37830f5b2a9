"""The command line of a launch, and the record by which its conversation is found again."""

from __future__ import annotations

from typing import Final

from agentmux.app.launch.plan import LaunchPlan
from agentmux.app.launch.seat_player import SeatPlayer
from agentmux.app.session.writer import Session, stamp
from agentmux.app.world import World
from agentmux.core.agents.command_lines import (
    hook_words,
    launch_argv,
    mcp_words,
    prompt_words,
    resume_argv,
)
from agentmux.core.agents.spec import (
    NO_STRATEGY,
    Strategy,
    StrategyKind,
    is_session_ref,
    program_name,
)
from agentmux.core.codec.frozen import replace
from agentmux.core.codec.records import Json, to_fields
from agentmux.core.conversation.resume_choice import Native, ResumeChoice
from agentmux.core.conversation.resume_record import (
    ResumeRecord,
    next_previous,
    restated,
    standing_record,
)
from agentmux.core.journal.state import SessionState
from agentmux.core.names import layout
from agentmux.core.pipeline.work import Work
from agentmux.core.prompts.prompt import launch_line

# Stands for an id that is not known yet, while argv is made.
_UNKNOWN_REF: Final = "AGENTMUX-CONVERSATION"


class Recorder:
    """Makes command lines and resume records for one session; writes nothing."""

    def __init__(self, world: World, session: Session) -> None:
        self._world = world
        self._session = session

    @property
    def _state(self) -> SessionState:
        return self._session.state

    def recorded(self, work: Work, player: SeatPlayer) -> ResumeRecord | None:
        """Return the seat's record, under the words of ``resume.commands`` for its agent."""
        record = self._session.resume_record(work.seat)
        commands = self._world.settings.resume.commands
        if record is None or program_name(player.spec) not in commands:
            return record
        if record.agent != player.name:
            return record  # another agent's words
        strategy = next(iter(player.spec.strategies), NO_STRATEGY)
        return restated(
            record, strategy.kind, lambda each: self._resume_argv(player, strategy, each)
        )

    def conversation(self, work: Work, player: SeatPlayer, choice: ResumeChoice) -> str | None:
        """Return the id of the conversation, minted here where the agent takes one."""
        if isinstance(choice, Native):
            record = standing_record(self.recorded(work, player))
            return record.session_ref if record is not None else None
        return self._world.new_id() if player.strategy.kind is StrategyKind.ASSIGN else None

    def _args(self, player: SeatPlayer, launch: str) -> tuple[str, ...]:
        """Return what stands in every command line of the seat: words of ours, then the user's."""
        folder = f"{self._session.files.path}/{layout.launch(launch)}"
        server = self._world.programs.mcp_server
        return (
            *mcp_words(player.spec, server, f"{folder}/mcp.json"),
            *hook_words(player.spec, self._world.programs.hook, f"{folder}/hooks.json"),
            *player.args,
        )

    def argv(self, plan: LaunchPlan) -> tuple[str, ...]:
        """Return the command line of the agent, with its prompt where it takes that there."""
        player, choice = plan.player, plan.choice
        folder = f"{self._session.files.path}/{layout.launch(plan.launch)}"
        line = launch_line(f"{folder}/{plan.prompt_file}")
        if isinstance(choice, Native):
            words = prompt_words(player.spec, line, resuming=True)
            return (*choice.argv, *words)
        return launch_argv(
            player.spec,
            player.strategy,
            model=player.model,
            args=self._args(player, plan.launch),
            session_ref=plan.session_ref,
            checkpoint_dir=player.checkpoint_dir,
            prompt=line,
        )

    def record_fields(self, plan: LaunchPlan) -> Json:
        """Return the record of a launch; where no agent runs, the seat keeps the one it has."""
        made = to_fields(self.record(plan))
        kept = None if plan.plays else self._state.agents.get(plan.work.seat)
        return {**kept, "place": made["place"], "handed_in": False} if kept else made

    def record(self, plan: LaunchPlan) -> ResumeRecord:
        """Return what the launch leaves behind so that its conversation can be found again."""
        player, strategy = plan.player, plan.player.strategy
        fields = self._state.agents.get(plan.work.seat)
        before = standing_record(self.recorded(plan.work, player))
        kept = before if isinstance(plan.choice, Native) else None
        made = ResumeRecord(
            agent=player.name,
            strategy=kept.strategy if kept else strategy.kind,
            launch_argv=plan.argv,
            resume_argv=kept.resume_argv if kept else (),
            latest_argv=self._latest_argv(plan),
            env=plan.env,
            session_ref=plan.session_ref,
            argv_ref=kept.argv_ref if kept else plan.session_ref,
            host=self._world.host,
            boot=self._world.boot,
            cwd=str(self._world.project),
            home=player.home,
            runtime=player.runtime,
            model=player.model,
            epoch=plan.epoch,
            place={key: value for key, value in plan.epoch.items() if key != "files"},
            policy=self._world.settings.resume.policy or "",
            reached=kept.reached if kept else 0,
            captured_at=stamp(self._world.now()),
            unsure=kept.unsure if kept else False,
            launch=plan.launch,
            checkpoint=self._checkpoint(player),
            previous=next_previous(fields),
        )
        if kept is not None:
            return made
        return replace(made, resume_argv=self._resume_argv(player, strategy, made))

    def _checkpoint(self, player: SeatPlayer) -> str:
        if player.strategy.kind is not StrategyKind.CHECKPOINT:
            return ""
        return f"{player.checkpoint_dir}/session-latest.json"

    def _resume_argv(
        self, player: SeatPlayer, strategy: Strategy, record: ResumeRecord
    ) -> tuple[str, ...]:
        if not strategy.resume:
            return ()
        ref = record.session_ref
        made = resume_argv(
            player.spec,
            strategy,
            model=record.model,
            args=self._args(player, record.launch),
            session_ref=ref if ref is not None and is_session_ref(ref) else _UNKNOWN_REF,
            checkpoint_dir=player.checkpoint_dir,
            checkpoint=record.checkpoint or None,
        )
        return tuple(word.replace(_UNKNOWN_REF, "{session_id}") for word in made)

    def _latest_argv(self, plan: LaunchPlan) -> tuple[str, ...]:
        player = plan.player
        latest = (s for s in player.spec.strategies if s.kind is StrategyKind.CONTINUE)
        strategy = next(latest, None)
        if player.strategy.kind is not StrategyKind.LEARN or strategy is None:
            return ()
        args = self._args(player, plan.launch)
        return resume_argv(player.spec, strategy, model=player.model, args=args)
