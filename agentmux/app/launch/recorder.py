"""The command line of a launch, and the record by which its conversation is found again."""

from __future__ import annotations

from typing import Final

from agentmux.app.launch.plan import LaunchPlan
from agentmux.app.launch.seat_player import Casting
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

    def recorded(self, work: Work, casting: Casting) -> ResumeRecord | None:
        """Return the seat's record, under the words of ``resume.commands`` for its agent."""
        record = self._session.resume_record(work.seat)
        commands = self._world.settings.resume.commands
        if record is None or program_name(casting.spec) not in commands:
            return record
        if record.agent != casting.name:
            return record  # another agent's words
        strategy = next(iter(casting.spec.strategies), NO_STRATEGY)
        return restated(
            record, strategy.kind, lambda each: self._resume_argv(casting, strategy, each)
        )

    def conversation(self, work: Work, casting: Casting, choice: ResumeChoice) -> str | None:
        """Return the id of the conversation, minted here where the agent takes one."""
        if isinstance(choice, Native):
            record = standing_record(self.recorded(work, casting))
            return record.session_ref if record is not None else None
        return self._world.new_id() if casting.strategy.kind is StrategyKind.ASSIGN else None

    def _args(self, casting: Casting, launch: str) -> tuple[str, ...]:
        """Return what stands in every command line of the seat: words of ours, then the user's."""
        folder = f"{self._session.files.path}/{layout.launch(launch)}"
        server = self._world.programs.mcp_server
        return (
            *mcp_words(casting.spec, server, f"{folder}/mcp.json"),
            *hook_words(casting.spec, self._world.programs.hook, f"{folder}/hooks.json"),
            *casting.args,
        )

    def argv(self, plan: LaunchPlan) -> tuple[str, ...]:
        """Return the command line of the agent, with its prompt where it takes that there."""
        casting, choice = plan.casting, plan.choice
        folder = f"{self._session.files.path}/{layout.launch(plan.launch)}"
        line = launch_line(f"{folder}/{plan.prompt_file}")
        if isinstance(choice, Native):
            words = prompt_words(casting.spec, line, resuming=True)
            return (*choice.argv, *words)
        return launch_argv(
            casting.spec,
            casting.strategy,
            model=casting.model,
            args=self._args(casting, plan.launch),
            session_ref=plan.session_ref,
            checkpoint_dir=casting.checkpoint_dir,
            prompt=line,
        )

    def record_fields(self, plan: LaunchPlan) -> Json:
        """Return the record of a launch; where no agent runs, the seat keeps the one it has."""
        made = to_fields(self.record(plan))
        kept = None if plan.plays else self._state.agents.get(plan.work.seat)
        return {**kept, "place": made["place"], "handed_in": False} if kept else made

    def record(self, plan: LaunchPlan) -> ResumeRecord:
        """Return what the launch leaves behind so that its conversation can be found again."""
        casting, strategy = plan.casting, plan.casting.strategy
        fields = self._state.agents.get(plan.work.seat)
        before = standing_record(self.recorded(plan.work, casting))
        kept = before if isinstance(plan.choice, Native) else None
        made = ResumeRecord(
            agent=casting.name,
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
            home=casting.home,
            runtime=casting.runtime,
            model=casting.model,
            epoch=plan.epoch,
            place={key: value for key, value in plan.epoch.items() if key != "files"},
            policy=self._world.settings.resume.policy or "",
            reached=kept.reached if kept else 0,
            captured_at=stamp(self._world.now()),
            unsure=kept.unsure if kept else False,
            launch=plan.launch,
            checkpoint=self._checkpoint(casting),
            previous=next_previous(fields),
        )
        if kept is not None:
            return made
        return replace(made, resume_argv=self._resume_argv(casting, strategy, made))

    def _checkpoint(self, casting: Casting) -> str:
        if casting.strategy.kind is not StrategyKind.CHECKPOINT:
            return ""
        return f"{casting.checkpoint_dir}/session-latest.json"

    def _resume_argv(
        self, casting: Casting, strategy: Strategy, record: ResumeRecord
    ) -> tuple[str, ...]:
        if not strategy.resume:
            return ()
        ref = record.session_ref
        made = resume_argv(
            casting.spec,
            strategy,
            model=record.model,
            args=self._args(casting, record.launch),
            session_ref=ref if ref is not None and is_session_ref(ref) else _UNKNOWN_REF,
            checkpoint_dir=casting.checkpoint_dir,
            checkpoint=record.checkpoint or None,
        )
        return tuple(word.replace(_UNKNOWN_REF, "{session_id}") for word in made)

    def _latest_argv(self, plan: LaunchPlan) -> tuple[str, ...]:
        casting = plan.casting
        latest = (s for s in casting.spec.strategies if s.kind is StrategyKind.CONTINUE)
        strategy = next(latest, None)
        if casting.strategy.kind is not StrategyKind.LEARN or strategy is None:
            return ()
        args = self._args(casting, plan.launch)
        return resume_argv(casting.spec, strategy, model=casting.model, args=args)
