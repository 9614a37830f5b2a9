"""Prepares a launch: its conversation, command line, environment and prompt.

The launch folder is written, and the launch recorded in the journal, before the pane is opened.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from agentmux.app.launch import stopped_pane
from agentmux.app.launch.plan import PROMPT, LaunchPlan
from agentmux.app.launch.recorder import Recorder
from agentmux.app.launch.seat_histories import SeatHistories
from agentmux.app.launch.seat_player import SeatPlayer, SeatPlayers
from agentmux.app.launch.texts import INSTRUCTIONS, LaunchTexts
from agentmux.app.session.base_worktree import base_place
from agentmux.app.session.workplace import inner
from agentmux.app.world import World
from agentmux.core.agents.command_lines import (
    hook_document,
    hook_env,
    mcp_document,
    needs_hook_file,
    needs_mcp_file,
)
from agentmux.core.agents.environment import IDENTITY, MODE
from agentmux.core.agents.spec import PromptBy, StrategyKind, unset_names
from agentmux.core.checks.tail import KEEP_BYTES
from agentmux.core.codec.frozen import dataclass, replace
from agentmux.core.codec.records import to_fields
from agentmux.core.config.settings import SetupStep, VerifyCommand
from agentmux.core.conversation.resume_choice import Fresh, Guard, ResumeChoice, Rung, plan_rung
from agentmux.core.conversation.seat_history import SeatHistory
from agentmux.core.journal.events import AgentLaunched, LaunchChosen
from agentmux.core.journal.state import AGENT_MODES, SessionState
from agentmux.core.names import layout
from agentmux.core.names.conversations import how_it_comes_back, which_conversation
from agentmux.core.names.phase import BASE, CHECK, SETUP, ResearchKind
from agentmux.core.names.statuses import STOPPED
from agentmux.core.pipeline.artifacts import Artifacts
from agentmux.core.pipeline.base_run import base_command
from agentmux.core.pipeline.check_phase import command_of
from agentmux.core.pipeline.registry import pipeline_of, working_phase
from agentmux.core.pipeline.setup import recorded_step
from agentmux.core.pipeline.work import Work
from agentmux.core.prompts import prompt
from agentmux.core.prompts.reading_list import reading
from agentmux.errors import DataError
from agentmux.ports.session_files import SessionFiles
from agentmux.ports.terminal import NewPane

# How long an agent may take to end when it is asked to, before it is killed.
_GRACE_S: Final = 3.0


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedLaunch:
    """A launch whose folder is written.

    Attributes:
        fact: What is to be recorded in the journal.
        pane: The pane that is to be opened once the fact is recorded.
    """

    plan: LaunchPlan
    fact: AgentLaunched
    pane: NewPane


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedStep:
    """A command without an agent whose launch folder is written; the fields are a launch's."""

    fact: AgentLaunched
    pane: NewPane


def label(seat: str, agent: str, mode: str) -> str:
    """Return the text in the border of a seat's pane."""
    return f"{seat} · {agent} · {which_conversation(mode)}"


class Launcher:
    """Plans and prepares launches in one state of a session.

    For another state, such as the one after a launch was recorded, make another launcher.
    """

    def __init__(
        self,
        world: World,
        files: SessionFiles,
        state: SessionState,
        *,
        fresh: frozenset[str] = frozenset(),
        ahead: Mapping[str, str] | None = None,
    ) -> None:
        """Take the session and the state in which it launches; for plans it need not be committed.

        Args:
            world: The outside world.
            files: The session's directory.
            state: The state.
            fresh: The seats that are to start a new conversation; ``*`` is all of them.
            ahead: For a plan: frozen files that are written later, their content by their path.
        """
        self._world = world
        self._files = files
        self._state = state
        self._histories = SeatHistories(state)
        self._players = SeatPlayers(world, files, state, self._histories, fresh)
        self._texts = LaunchTexts(world, files, state, ahead or {})
        self._recorder = Recorder(world, files)

    def plan(self, work: Work, artifacts: Artifacts) -> LaunchPlan:
        """Decide how ``work`` would be launched now; reads only."""
        earlier = self._histories.of(work.seat)
        player = self._players.player_of(work, earlier)
        history = self._recorder.restated(earlier, player)
        paths = self._reading(work, artifacts)
        epoch = self._texts.epoch(work, paths)
        choice = self._players.choose_resume(work, player, epoch, history)
        rung, why = self._rung(player, history, choice)
        launch = self._launch_id()
        inputs = self._texts.inputs(work, player, paths, launch)
        full, message = self._texts.texts(work, inputs, history)
        ref = self._recorder.conversation(history, player, choice) if rung in AGENT_MODES else None
        made = LaunchPlan(
            work=work,
            player=player,
            history=history,
            choice=choice,
            rung=rung,
            why=why,
            launch=launch,
            session_ref=ref,
            prompt=message if rung is Rung.NATIVE else full,
            full_prompt=full,
            epoch=epoch,
            argv=(self._world.programs.shell,) if rung is Rung.SHELL else (),
            signals=prompt.signals(inputs),
        )
        return replace(made, argv=self._recorder.argv(made)) if made.plays else made

    def _launch_id(self) -> str:
        return self._world.new_id().replace("-", "")[:12]

    def _reading(self, work: Work, artifacts: Artifacts) -> tuple[str, ...]:
        """Return the files that the agent is to read, relative to the session.

        For research, files that do not exist are left out: an older session may not have kept the
        question in a file.
        """
        paths = reading(self._state, work, artifacts)
        if not work.topic:
            return paths
        files = self._files
        return tuple(
            path
            for path in paths
            if artifacts.has_content(path) or files.has_file(f"{files.path}/{path}")
        )

    def prepare_command(self, work: Work, attempt: int = 1) -> PreparedStep:
        """Write the launch folder for a command that no agent runs; the pane is not opened yet.

        It is a step of the setup, or a command of a check.
        """
        step, launch = self._command(work), self._launch_id()
        keeps = work.role == CHECK or (work.role == BASE and work.seat != BASE)
        kept = {"keep_output": KEEP_BYTES, "unset": IDENTITY} if keeps else {}
        place, where = self._place(), self._world.tree
        if work.role == BASE and self._state.base_checks is not None:
            place = base_place(self._state)
            where = Path(self._state.base_checks.path) / inner(self._world)
        fields = {
            "name": f"{work.role} {step.name}",
            "argv": list(step.run),
            "env": {"PATH": self._world.programs.path, **place},
            "cwd": str(where),
            "notice": [shlex.join(step.run)],
            "limit_s": step.timeout_s,
            "grace_s": _GRACE_S,
            **kept,
        }
        self._files.write(f"{layout.launch(launch)}/launch.json", json.dumps(fields, indent=1))
        fact = AgentLaunched(
            role=work.role,
            record={},
            mode=work.role,
            reason="",
            attempt=attempt,
            topic=work.topic,
            phase=working_phase(self._state),
        )
        pane = self.pane(work.seat, launch, f"{work.seat} · {step.name}")
        return PreparedStep(fact=fact, pane=pane)

    def _command(self, work: Work) -> SetupStep | VerifyCommand:
        if work.role == SETUP:
            return recorded_step(self._state, work.topic)
        on_base = base_command(self._state, work.seat, work.topic)
        found = on_base if work.role == BASE else command_of(self._state, work.topic)
        if found is None:
            raise DataError(f"the session has no command `{work.topic}` for `{work.seat}`")
        return found

    def prepare(
        self, work: Work, attempt: int, artifacts: Artifacts, *, stopped: bool = False
    ) -> PreparedLaunch:
        """Write the launch folder for ``work``; the pane is not opened yet.

        Args:
            attempt: Counts the launches for the same work, from 1.
            stopped: Whether the pane waits for the user's choice before it starts an agent.
        """
        plan = self.plan(work, artifacts)
        stopped = stopped and plan.plays
        self._write(plan, stopped=stopped)
        fact = AgentLaunched(
            role=work.role,
            record=self._recorder.record_fields(plan),
            mode=plan.mode,
            reason=plan.why,
            attempt=attempt,
            subplan=work.subplan,
            topic=work.topic,
            prompt_bytes=len(plan.prompt.encode()),
            fresh_prompt_bytes=len(plan.full_prompt.encode()),
            stopped=stopped,
            phase=working_phase(self._state),
        )
        text = label(work.seat, plan.player.spec.name, STOPPED if stopped else plan.mode)
        return PreparedLaunch(plan=plan, fact=fact, pane=self.pane(work.seat, plan.launch, text))

    def pane(self, seat: str, launch: str, text: str = "") -> NewPane:
        """Return the pane for a launch whose folder is written; ``text`` stands in its border."""
        folder = self._files.path / layout.launch(launch)
        argv = (*self._world.own.wrapper, str(folder))
        return NewPane(seat=seat, launch=launch, label=text or seat, argv=argv)

    # -- the ladder --------------------------------------------------------------------------

    def _rung(
        self, player: SeatPlayer, history: SeatHistory, choice: ResumeChoice
    ) -> tuple[Rung, str]:
        """Return how the seat's pane comes up, and why.

        With the agent's conversation, with a new one, with a shell, or with the last screen only.
        """
        if player.spec.prompt is PromptBy.SHOWN:
            return Rung.SHELL, "you play this role"
        programs, failed = self._world.programs, history.never_ran
        rung = plan_rung(
            choice,
            program_found=player.installed,
            fresh_failed=failed,
            shell_found=programs.find(programs.shell) is not None,
        )
        if rung.value in AGENT_MODES:
            return rung, choice.reason
        why = "its fresh start failed" if failed else f"no program `{player.spec.command[0]}`"
        return rung, why if rung is Rung.SHELL else f"{why}, and no shell `{programs.shell}`"

    def _as_fresh(self, plan: LaunchPlan) -> LaunchPlan:
        """Return the same launch with a new conversation."""
        if plan.rung is not Rung.NATIVE:
            return plan
        choice = Fresh(reason=stopped_pane.CHOSEN, guard=Guard.SWITCH)
        made = replace(
            plan,
            choice=choice,
            rung=Rung.FRESH,
            why=stopped_pane.CHOSEN,
            session_ref=self._recorder.conversation(plan.history, plan.player, choice),
            prompt=plan.full_prompt,
            prompt_file=INSTRUCTIONS,
        )
        return replace(made, argv=self._recorder.argv(made))

    def _as_shell(self, plan: LaunchPlan) -> LaunchPlan:
        """Return the same launch with a shell for the user instead of the agent."""
        return replace(
            self._as_fresh(plan),
            rung=Rung.SHELL,
            why=stopped_pane.CHOSEN,
            session_ref=None,
            argv=(self._world.programs.shell,),
        )

    def _gate(self, plan: LaunchPlan) -> dict[str, object]:
        """Return the fields of ``launch.json`` that say which choices a waiting pane offers."""
        offers = [self._offer(stopped_pane.RESUME, plan, how_it_comes_back(plan.mode, ""))]
        if plan.rung is Rung.NATIVE:
            says = f"{how_it_comes_back(Rung.FRESH, '')}, with the full prompt"
            offers.append(self._offer(stopped_pane.FRESH, self._as_fresh(plan), says))
        offers.append(self._offer(stopped_pane.SHELL, self._as_shell(plan), "you play the role"))
        return self._held(plan, STOPPED, tuple(offers))

    def _held(
        self, plan: LaunchPlan, mode: str, offers: tuple[stopped_pane.PaneOffer, ...] = ()
    ) -> dict[str, object]:
        seat = plan.work.seat
        title = label(seat, plan.player.spec.name, mode)
        path = self._files.path
        return stopped_pane.gate_fields(path, seat, title=title, says=plan.why, offers=offers)

    def _offer(self, name: str, plan: LaunchPlan, says: str) -> stopped_pane.PaneOffer:
        # All other choices need no record of their own: they have the launch's.
        own = name == stopped_pane.FRESH and plan.prompt_file != PROMPT
        fact = LaunchChosen(
            choice=name,
            mode=plan.mode,
            reason=plan.why,
            record=to_fields(self._recorder.record(plan)) if own else {},
            prompt=plan.prompt_file,
            prompt_bytes=len(plan.prompt.encode()),
        )
        return stopped_pane.PaneOffer(says=says, runs=self._runs(plan), fact=fact)

    def _runs(self, plan: LaunchPlan) -> dict[str, object]:
        """Return the fields of ``launch.json`` that say what the pane runs, and its claim file.

        The pane locks the claim file while it runs the agent, so that other launches see that.
        """
        # Without a known id the launch claims its own id, so that others see that it runs.
        nameless = plan.launch if self._uses_latest(plan) else None
        claim = self._players.claim(plan.player, plan.session_ref or nameless)
        return {
            "argv": list(plan.argv),
            "env": self._environment(plan),
            "claim": None if claim is None else str(claim),
            "notice": list(self._notice(plan)),
        }

    def _notice(self, plan: LaunchPlan) -> tuple[str, ...]:
        """Return the lines that the pane shows the user above the agent or shell."""
        seat, again = plan.work.seat, self._texts.is_again(plan.work, plan.history)
        if plan.rung is Rung.SHELL:
            folder = self._files.path / layout.launch(plan.launch)
            return stopped_pane.shell_notice(
                seat,
                plan.why,
                prompt=folder / plan.prompt_file,
                signals=plan.signals,
            )
        return stopped_pane.fresh_notice(plan.why) if plan.rung is Rung.FRESH and again else ()

    # -- writing -----------------------------------------------------------------------------

    def _write(self, plan: LaunchPlan, *, stopped: bool) -> None:
        folder, files = layout.launch(plan.launch), self._files
        spec = plan.player.spec
        # So that an agent can write its artifacts without making their folder first.
        files.make_folder(pipeline_of(self._state)[working_phase(self._state)].folder)
        if plan.rung is Rung.NATIVE:
            files.write(f"{folder}/{INSTRUCTIONS}", plan.full_prompt)
        if needs_mcp_file(spec):
            files.write(f"{folder}/mcp.json", mcp_document(self._world.own.mcp_server))
        if spec.hooks is not None and needs_hook_file(spec):
            files.write(f"{folder}/hooks.json", hook_document(spec.hooks, self._world.own.hook))
        if plan.work.topic:
            kind = ResearchKind(plan.work.role.partition("-")[0])
            kept = f"{layout.research(kind, plan.work.topic)}/prompt.md"
            # What exists may be what another seat was told, or what the user changed.
            if not files.has_file(str(files.path / kept)):
                files.write(kept, plan.full_prompt)
        files.write(f"{folder}/{PROMPT}", plan.prompt)
        if plan.player.strategy.private:
            files.make_folder(layout.checkpoint(plan.work.seat))
        if plan.plays:
            self._players.note_latest(plan.player, plan.launch, plan.session_ref)
        fields = self._launch_file(plan, stopped=stopped)
        files.write(f"{folder}/launch.json", json.dumps(fields, indent=1))

    def _uses_latest(self, plan: LaunchPlan) -> bool:
        kinds = {StrategyKind.CONTINUE, StrategyKind.LEARN}
        return plan.plays and plan.player.strategy.kind in kinds

    def _launch_file(self, plan: LaunchPlan, *, stopped: bool) -> dict[str, object]:
        fields = {
            **self._runs(plan),
            "unset": list(unset_names(plan.player.spec, self._world.environment)),
            "cwd": str(self._world.tree),
            "grace_s": _GRACE_S,
        }
        if plan.rung is Rung.SCREEN:
            return {**fields, "gate": self._held(plan, plan.mode)}
        return {**fields, "gate": self._gate(plan)} if stopped else fields

    def _hook_env(self, plan: LaunchPlan) -> Mapping[str, str]:
        """Return the variable that tells the agent to run our hook; empty if the user set hooks up.

        The variable is for this launch only: it is not in the resume record.
        """
        folder = self._files.path / layout.launch(plan.launch)
        spec = plan.player.spec
        taken = spec.hooks is not None and (
            spec.hooks.flag in self._world.environment
            or (spec.hooks.unless and self._files.has_file(spec.hooks.unless))
        )
        return {} if taken else hook_env(spec, str(folder / "hooks.json"))

    def _place(self) -> Mapping[str, str]:
        """Return the variables that say where the session works; none for the checkout."""
        state = self._state
        if not state.worktree:
            return {}
        ports = {"AGENTMUX_PORT_BASE": str(state.port_base)} if state.port_base else {}
        return {"AGENTMUX_WORKTREE": state.worktree, **ports}

    def _environment(self, plan: LaunchPlan) -> Mapping[str, str]:
        state, work = self._state, plan.work
        return {
            **plan.env,
            **self._hook_env(plan),
            "PATH": self._world.programs.path,
            "AGENTMUX_SESSION_DIR": str(self._files.path),
            "AGENTMUX_SESSION_ID": state.session_id,
            **self._place(),
            "AGENTMUX_LAUNCH_ID": plan.launch,
            MODE: plan.mode,
            "AGENTMUX_ROLE": work.role,
            "AGENTMUX_SEAT": work.seat,
            "AGENTMUX_CYCLE": str(state.cycle),
            "AGENTMUX_ITERATION": str(state.iteration),
            "AGENTMUX_SUBPLAN": "" if work.subplan is None else str(work.subplan),
            "AGENTMUX_TOPIC": work.topic,
            "AGENTMUX_LEARN": plan.player.strategy.learn,
        }
