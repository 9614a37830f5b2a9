"""The command line of a launch, and the record that finds its conversation again."""

from __future__ import annotations

from agentmux.app.launch.plan import LaunchPlan
from agentmux.app.launch.seat_player import SeatPlayer
from agentmux.app.session.writer import stamp
from agentmux.app.world import World
from agentmux.core.agents.command_lines import (
    dir_words,
    hook_words,
    launch_argv,
    mcp_words,
    prompt_words,
    resume_argv,
)
from agentmux.core.agents.spec import (
    NO_STRATEGY,
    SESSION_ID,
    Strategy,
    StrategyKind,
    is_session_ref,
    program_name,
)
from agentmux.core.codec.frozen import replace
from agentmux.core.codec.records import Json, to_fields
from agentmux.core.conversation.resume_choice import Native, ResumeChoice
from agentmux.core.conversation.resume_record import ResumeRecord
from agentmux.core.conversation.seat_history import SeatHistory
from agentmux.core.names import layout
from agentmux.core.prompts.prompt import launch_line
from agentmux.ports.session_files import SessionFiles


class Recorder:
    """Makes command lines and resume records for one session; writes nothing."""

    def __init__(self, world: World, files: SessionFiles) -> None:
        self._world = world
        self._files = files

    def restated(self, history: SeatHistory, player: SeatPlayer) -> SeatHistory:
        """Return the history with resume arguments made anew from the setting ``resume.commands``.

        The history stays as it is if the setting does not name the agent's program, or if another
        agent played the seat last.
        """
        record, commands = history.record, self._world.settings.resume.commands
        if record is None or program_name(player.spec) not in commands:
            return history
        if record.agent != player.name:
            return history  # the words are another agent's
        strategy = next(iter(player.spec.strategies), NO_STRATEGY)
        return history.restated(
            strategy.kind, lambda each: self._resume_argv(player, strategy, each)
        )

    def conversation(
        self, history: SeatHistory, player: SeatPlayer, choice: ResumeChoice
    ) -> str | None:
        """Return the id of the launch's conversation; None where it is not known beforehand.

        If the agent accepts an id from us, a new one is made here.
        """
        if isinstance(choice, Native):
            return history.standing.session_ref if history.standing is not None else None
        return self._world.new_id() if player.strategy.kind is StrategyKind.ASSIGN else None

    def _args(self, player: SeatPlayer, launch: str) -> tuple[str, ...]:
        """Return the arguments that every command line of a launch has.

        First those for our MCP server and hooks, then the user's own.
        """
        folder = f"{self._files.path}/{layout.launch(launch)}"
        server = self._world.own.mcp_server
        return (
            *mcp_words(player.spec, server, f"{folder}/mcp.json"),
            *hook_words(player.spec, self._world.own.hook, f"{folder}/hooks.json"),
            *self._dirs(player),
            *player.args,
        )

    def _dirs(self, player: SeatPlayer) -> tuple[str, ...]:
        """Return the words for the session's directory, where the agent works outside of it."""
        if self._files.path.is_relative_to(self._world.tree):
            return ()
        return dir_words(player.spec, player.probe, str(self._files.path))

    def argv(self, plan: LaunchPlan) -> tuple[str, ...]:
        """Return the agent's command line, including the prompt if the agent takes it there."""
        player, choice = plan.player, plan.choice
        folder = f"{self._files.path}/{layout.launch(plan.launch)}"
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
        """Return the fields of a launch's resume record.

        If the launch starts no agent, the seat's present record is kept; only its ``place`` and
        ``handed_in`` are those of this launch.
        """
        made = to_fields(self.record(plan))
        del made["rewound"]  # only a rewind writes it
        del made["moved_from"]  # only an import writes it
        kept = None if plan.plays else plan.history.fields
        return {**kept, "place": made["place"], "handed_in": False} if kept else made

    def record(self, plan: LaunchPlan) -> ResumeRecord:
        """Return the resume record that finds the launch's conversation again."""
        player, strategy = plan.player, plan.player.strategy
        kept = plan.history.standing if isinstance(plan.choice, Native) else None
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
            cwd=str(self._world.tree),
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
            previous=plan.history.next_previous(),
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
        return resume_argv(
            player.spec,
            strategy,
            model=record.model,
            args=self._args(player, record.launch),
            session_ref=ref if ref is not None and is_session_ref(ref) else SESSION_ID,
            checkpoint_dir=player.checkpoint_dir,
            checkpoint=record.checkpoint or None,
        )

    def _latest_argv(self, plan: LaunchPlan) -> tuple[str, ...]:
        player = plan.player
        latest = (s for s in player.spec.strategies if s.kind is StrategyKind.CONTINUE)
        strategy = next(latest, None)
        if player.strategy.kind is not StrategyKind.LEARN or strategy is None:
            return ()
        args = self._args(player, plan.launch)
        return resume_argv(player.spec, strategy, model=player.model, args=args)
