"""Gathers the facts for a launch from settings, installed programs, claims and session files."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

from agentmux.app.session.configuration.frozen_files import frozen_text
from agentmux.app.session.writer import stamp
from agentmux.app.world import World
from agentmux.core.agents.command_lines import checkpoint_path, strategy_env
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
    unset_names,
)
from agentmux.core.codec.frozen import replace
from agentmux.core.codec.records import Json
from agentmux.core.conversation.resume_choice import CheckpointState, ResumeFacts
from agentmux.core.conversation.resume_record import ResumeRecord
from agentmux.core.conversation.seat_history import SeatHistory
from agentmux.core.fold.signals.research import QUESTION_MAX
from agentmux.core.journal.state import SessionState
from agentmux.core.launch.facts import (
    LaunchFacts,
    LaunchTemplates,
    SeatPlayer,
    SessionLaunchFacts,
    histories_of,
)
from agentmux.core.moving.handover import DIFF, screen_file
from agentmux.core.names import layout
from agentmux.core.pipeline.artifacts import Artifacts
from agentmux.core.pipeline.work import Work, agents_work
from agentmux.core.prompts import prompt
from agentmux.core.prompts.reading_list import reading, template_name
from agentmux.ports.session.session_files import SessionFiles

# The most bytes to read of a prompt that the user may have changed.
_KEPT_MAX: Final = 1 << 20


class LaunchReader:
    """Gathers the facts for launches in one state of a session; writes nothing.

    Attributes:
        histories: What the earlier launches of each seat left, by seat; a seat that was never
            launched is missing.
    """

    def __init__(
        self,
        world: World,
        files: SessionFiles,
        state: SessionState,
        fresh: frozenset[str],
        ahead: Mapping[str, str],
    ) -> None:
        """Take the session and its state.

        Args:
            world: The outside world.
            files: The session's directory.
            state: The state in which to launch.
            fresh: The seats that start a new conversation; ``*`` stands for all seats.
            ahead: The content of frozen files that are not written yet, by path.
        """
        self._world = world
        self._files = files
        self._state = state
        self._fresh = fresh
        self._ahead = ahead
        self._digest = functools.cache(files.digest)  # most files are the same for all seats
        self._around = SessionLaunchFacts(
            session=str(files.path),
            tree=str(world.tree),
            is_inside=files.path.is_relative_to(world.tree),
            host=world.machine.host,
            boot=world.machine.boot,
            path=world.agents.programs.path,
            shell=world.agents.programs.shell,
            has_shell=world.agents.programs.find(world.agents.programs.shell) is not None,
            mcp_server=world.agents.own.mcp_server,
            hook=world.agents.own.hook,
            resume=world.settings.resume,
        )
        self.histories = histories_of(state)

    def facts(self, work: Work, artifacts: Artifacts) -> LaunchFacts:
        """Return the facts that hold now for a launch of ``work``; writes nothing to the session.

        ``work`` is a seat and what it has to do; ``artifacts`` are those of the session. The
        agent's program may be run for at most a second, to see what it can do.

        Raises:
            DataError: A prompt file that the session keeps is missing or was changed.
        """
        world, state = self._world, self._state
        artifacts = self._with_topic(work, artifacts)
        player, history = self.player(work), self._history(work)
        paths, template = reading(state, work, artifacts), template_name(state, work)
        epoch, hooks = self._epoch(work, paths), player.spec.hooks
        launch = layout.new_launch(world.new_id())
        assigned = player.can_play and player.strategy.kind is StrategyKind.ASSIGN
        conversation = world.new_id() if assigned else None
        claims = self._claims(player, history, launch, conversation)
        return LaunchFacts(
            session_facts=self._around,
            work=work,
            launch=launch,
            at=stamp(world.now()),
            new_conversation=conversation,
            player=player,
            history=history,
            conversation=self._conversation(work, player, epoch, claims),
            claims=claims,
            epoch=epoch,
            reading=paths,
            artifacts=artifacts,
            templates=self._templates(work, template),
            kept_prompt=self._topic_file(work, "prompt.md", _KEPT_MAX),
            question=self._question(work),
            handover=tuple(self._handover(work.seat)),
            has_own_hooks=hooks is not None
            and (hooks.flag in world.environment or self._files.has_file(hooks.unless)),
        )

    def _history(self, work: Work) -> SeatHistory:
        return self.histories.get(work.seat, SeatHistory())

    def _epoch(self, work: Work, paths: Iterable[str]) -> Json:
        """Return what a conversation about ``work`` depends on; see `ResumeRecord.epoch`."""
        state, named = self._state, (layout.CONTEXT, layout.REQUIREMENTS, *paths)
        return {
            "phase": state.phase,
            "cycle": state.cycle,
            "iteration": state.iteration,
            "subplan": work.subplan,
            "files": {path: self._digest(path) for path in named},
        }

    # -- who plays ---------------------------------------------------------------------------

    def player(self, work: Work) -> SeatPlayer:
        """Return the agent for ``work``: the start's flags choose it, else the configuration.

        The agent's program may be run for at most a second, to see what it can do.
        """
        world, options = self._world, self._state.options
        played = world.settings.choose_player(work.role, options.agents, options.models)
        spec = world.agents.spec(played.agent)
        probe = world.agents.programs.probe(spec)
        file = world.agents.programs.identity(probe.path) if probe.path else ""
        folder = f"{self._files.path}/{layout.checkpoint(work.seat)}"
        history = self._history(work)
        strategy = _strategy(history, played.agent, spec, probe)
        ref = history.deciding_record.session_ref if history.deciding_record is not None else None
        env = strategy_env(spec, strategy, checkpoint_dir=folder)
        kept = checkpoint_path(strategy, ref, folder)
        runtime = runtime_of(program_name(spec), probe.version, file)
        return SeatPlayer(
            name=played.agent,
            spec=spec,
            model=played.model,
            args=played.args,
            probe=probe,
            strategy=strategy,
            env=env,
            home=home_of(spec, {**world.environment, **env}),
            runtime=encode_runtime(runtime) if probe.path else "",
            checkpoint_dir=folder,
            kept_file=kept,
            unset=unset_names(spec, world.environment),
        )

    # -- the conversation that may come back -------------------------------------------------

    def _claims(
        self, player: SeatPlayer, history: SeatHistory, launch: str, conversation: str | None
    ) -> Mapping[str, Path]:
        standing = (
            history.deciding_record.session_ref if history.deciding_record is not None else None
        )
        ids, path = (standing, launch, conversation), self._world.agents.claims.path
        return {each: path(player.program, player.home, each) for each in ids if each}

    def _conversation(
        self, work: Work, player: SeatPlayer, epoch: Json, claims: Mapping[str, Path]
    ) -> ResumeFacts | None:
        world, standing = self._world, self._history(work).deciding_record
        if standing is None:
            return None
        claim = claims.get(standing.session_ref or "")
        return ResumeFacts(
            agent=player.name,
            program=player.program,
            model=player.model,
            binds_model=player.spec.model_bound,
            host=world.machine.host,
            cwd=str(world.tree),
            home=player.home,
            home_exists=world.agents.programs.exists(player.home),
            runtime=player.runtime,
            strategies=tuple(each.kind for each in player.spec.strategies),
            probed=player.probe.strategies,
            runtime_problem=player.probe.problem,
            epoch=epoch,
            ambiguous=self._is_ambiguous(work, player, standing),
            claim_held_by=world.agents.claims.holder(claim) if claim is not None else None,
            now=world.now(),
            settings=world.settings.resume,
            fresh_flag=bool(self._fresh & {work.seat, "*"}),
            checkpoint=self._checkpoint(player, standing),
        )

    def _is_ambiguous(self, work: Work, player: SeatPlayer, standing: ResumeRecord) -> bool:
        """Whether the agent's "latest conversation" is, or may become, that of another launch.

        False for an agent that resumes conversations by id.
        """
        kinds = (standing.kind, *(each.kind for each in player.spec.strategies[:1]))
        if StrategyKind.CONTINUE not in kinds:
            return False
        latest = self._world.agents.claims.latest(player.program, player.home, self._around.tree)
        if set(latest) - {standing.launch, standing.session_ref}:
            return True
        others = (each for each in agents_work(self._state) if each.seat != work.seat)
        return any(_shares_latest(player, self.player(each)) for each in others)

    def _checkpoint(self, player: SeatPlayer, record: ResumeRecord) -> CheckpointState:
        if player.strategy.kind is StrategyKind.CHECKPOINT and record.checkpoint:
            return self._files.checkpoint_state(record.checkpoint, player.model)
        if player.strategy.kind is StrategyKind.CHECKPOINT or player.kept_file is None:
            return CheckpointState.NONE
        # The file is in the agent's own format, so only its existence can be checked.
        exists = self._files.has_file(player.kept_file)
        return CheckpointState.OK if exists else CheckpointState.MISSING

    # -- what its prompt is made from --------------------------------------------------------

    def _with_topic(self, work: Work, artifacts: Artifacts) -> Artifacts:
        """Return the artifacts, extended by the files of the researcher's topic."""
        names = ("request.md", "summary.md", "detail.md") if work.topic else ()
        paths = (f"{work.topic_folder}/{name}" for name in names)
        there = {path: 1 for path in paths if self._files.has_file(f"{self._files.path}/{path}")}
        return replace(artifacts, sizes={**artifacts.sizes, **there})

    def _templates(self, work: Work, name: str) -> LaunchTemplates:
        built_in = self._world.texts.templates.template
        opening, warning, ending = map(built_in, ("opening", "fresh-again", "ending"))
        if name in self._state.pipeline_files:
            path = layout.frozen(self._state.pipeline_files[name])
            own = self._ahead.get(path) or frozen_text(self._files, self._state, name)
            rest = f"{own.strip()}\n\n{ending}"
            plain, again = f"{opening}{rest}", f"{opening}{warning}{rest}"
        else:
            plain, again = built_in(name), built_in(name, again=True)
        return LaunchTemplates(
            work=plain,
            again=again,
            message=built_in(prompt.CONTINUE),
            opening=opening,
            warning=warning,
            ending=ending,
            extension=self._world.texts.templates.extension(work.role),
        )

    def _topic_file(self, work: Work, name: str, limit: int) -> str:
        """Return the text of a file in the researcher's folder; empty if there is none."""
        if not work.topic:
            return ""
        data, _ = self._files.read_artifact(f"{work.topic_folder}/{name}", limit)
        return (data or b"").decode("utf-8", "replace")

    def _question(self, work: Work) -> str:
        asked = self._state.research.get(work.topic_folder.rpartition("/")[2])
        if asked is not None and asked.question.strip():
            return asked.question
        text = self._topic_file(work, "request.md", QUESTION_MAX)  # for older sessions
        return text.removeprefix(f"# {work.topic}").strip()

    def _handover(self, seat: str) -> Iterator[str]:
        """Yield the absolute paths of the files that an import left for this seat."""
        if self._state.agents.get(seat, {}).get("moved_from"):
            for path in (DIFF, screen_file(seat)):
                if self._files.has_file(f"{self._files.path}/{path}"):
                    yield f"{self._files.path}/{path}"


def _strategy(history: SeatHistory, name: str, spec: AgentSpec, probe: ProbeResult) -> Strategy:
    """Return the strategy by which the conversation will be found again.

    This is an assumption until the program has been probed.
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
    paths = {decode_runtime(each.runtime, each.program).path for each in (one, other)}
    return one.program == other.program or (len(paths) == 1 and "" not in paths)
