"""Prepares launches: gathers the facts, lets the core decide, and writes the launch folder.

The folder is written and the launch is recorded in the journal before the pane opens.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from agentmux.app.launch.launch_reader import LaunchReader
from agentmux.app.session.workplace.workplace import inner
from agentmux.app.world import World
from agentmux.core.agents.environment import IDENTITY
from agentmux.core.checks.tail import KEEP_BYTES
from agentmux.core.codec.frozen import dataclass
from agentmux.core.config.commands import SetupStep, VerifyCommand
from agentmux.core.conversation.launch_policy import ORDINARY, LaunchPolicy
from agentmux.core.journal.events import AgentLaunched
from agentmux.core.journal.state import SessionState
from agentmux.core.launch.facts import SeatPlayer
from agentmux.core.launch.plan import LaunchPlan, plan_launch
from agentmux.core.launch.writing import (
    GRACE_S,
    launch_files,
    launch_label,
    record_fields,
    worktree_env,
)
from agentmux.core.names import layout
from agentmux.core.names.conversations import SeatChoice, how_it_comes_back
from agentmux.core.names.phase import BASE, CHECK, SETUP
from agentmux.core.names.statuses import LAUNCHED, STOPPED
from agentmux.core.pipeline.artifacts import Artifacts
from agentmux.core.pipeline.check_phase import command_of
from agentmux.core.pipeline.checks.base_run import base_command
from agentmux.core.pipeline.checks.setup import recorded_step
from agentmux.core.pipeline.registry import pipeline_of, working_phase
from agentmux.core.pipeline.work import Work
from agentmux.errors import DataError
from agentmux.ports.session.session_files import SessionFiles
from agentmux.ports.tmux.terminal import NewPane

_PORTS: Final = 25
"""Offset of the ports of checks on the base: they use the upper half of the session's ports."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedLaunch:
    """A launch of an agent whose launch folder has been written.

    Attributes:
        plan: How the seat is launched.
        fact: The fact to record in the journal.
        pane: The pane to open once the fact is recorded.
    """

    plan: LaunchPlan
    fact: AgentLaunched
    pane: NewPane


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedCommand:
    """A launch of a command without an agent, whose launch folder has been written.

    Attributes:
        fact: The fact to record in the journal.
        pane: The pane to open once the fact is recorded.
    """

    fact: AgentLaunched
    pane: NewPane


class Launcher:
    """Plans and prepares launches in one state of a session.

    Make another launcher for each later state, such as the one after a recorded launch.
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
        """Take the session and its state.

        Args:
            world: The outside world.
            files: The session's directory.
            state: The state in which to launch; for a mere plan it need not have been committed.
            fresh: The seats that start a new conversation; ``*`` stands for all seats.
            ahead: For a mere plan: frozen files that are not written yet, content by path.
        """
        self._world = world
        self._files = files
        self._state = state
        self._reader = LaunchReader(world, files, state, fresh, ahead or {})

    def plan(self, work: Work, artifacts: Artifacts) -> LaunchPlan:
        """Return how an agent would be launched now for ``work``; writes nothing.

        ``work`` is a seat and what it has to do; ``artifacts`` are those of the session. The
        agent's program may be run for at most a second, to see what it can do.

        Raises:
            DataError: A prompt file that the session keeps is missing or was changed.
        """
        facts = self._reader.facts(work, artifacts)
        return plan_launch(self._state, facts)

    def prepare(
        self,
        work: Work,
        attempt: int,
        artifacts: Artifacts,
        *,
        policy: LaunchPolicy = ORDINARY,
    ) -> PreparedLaunch:
        """Write the launch folder for ``work``; return the launch, without opening its pane.

        Args:
            work: What to launch an agent for.
            attempt: Number of this launch for the same work, from 1.
            artifacts: The artifacts of the session.
            policy: What the user chose for the seats of a resume, and what they agreed to. By
                default `plan` decides alone, and the pane does not wait for the user.
        """
        plan, waits = _apply(policy, self.plan(work, artifacts))
        fact = AgentLaunched(
            role=work.role,
            record=record_fields(plan),
            mode=plan.mode,
            reason=plan.why,
            attempt=attempt,
            subplan=work.subplan,
            topic=work.topic,
            prompt_bytes=len(plan.prompt.encode()),
            fresh_prompt_bytes=len(plan.full_prompt.encode()),
            stopped=bool(waits),
            phase=working_phase(self._state),
        )
        files = launch_files(self._state, plan, waits=waits)
        self._write(plan, files)
        label = launch_label(plan, waits=waits)
        return PreparedLaunch(plan=plan, fact=fact, pane=self.pane(work.seat, plan.launch, label))

    def prepare_command(self, work: Work, attempt: int = 1) -> PreparedCommand:
        """Write the launch folder for a command; return the launch, without opening its pane.

        No agent is launched: the command is a step of the setup, or a command of a check (also on
        the base).

        Args:
            work: Which command to run: its topic is the command's name.
            attempt: Number of this launch for the same work, from 1.

        Raises:
            DataError: The session has no such command.
        """
        step, launch = self._command(work), layout.new_launch(self._world.new_id())
        keeps = work.role == CHECK or (work.role == BASE and work.seat != BASE)
        kept = {"keep_output": KEEP_BYTES, "unset": IDENTITY} if keeps else {}
        state, where = self._state, self._world.tree
        place = worktree_env(state.worktree, state.port_base)
        if work.role == BASE and state.base_checks is not None:
            place = worktree_env(
                state.base_checks.path, state.port_base and state.port_base + _PORTS
            )
            where = Path(state.base_checks.path) / inner(self._world)
        fields = {
            "name": f"{work.role} {step.name}",
            "argv": list(step.run),
            "env": {"PATH": self._world.agents.programs.path, **place},
            "cwd": str(where),
            "notice": [shlex.join(step.run)],
            "limit_s": step.timeout_s,
            "grace_s": GRACE_S,
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
        return PreparedCommand(fact=fact, pane=pane)

    def _command(self, work: Work) -> SetupStep | VerifyCommand:
        if work.role == SETUP:
            return recorded_step(self._state, work.topic)
        on_base = base_command(self._state, work.seat, work.topic)
        command = on_base if work.role == BASE else command_of(self._state, work.topic)
        if command is None:
            raise DataError(f"the session has no command `{work.topic}` for `{work.seat}`")
        return command

    def pane(self, seat: str, launch: str, text: str = "") -> NewPane:
        """Return the description of a launch's pane; does not open it.

        The launch folder must have been written when the pane is opened.

        Args:
            seat: The name of the seat, such as ``coder-2``.
            launch: The id of the launch.
            text: The label in the pane's border; empty stands for the name of the seat.
        """
        folder = self._files.path / layout.launch(launch)
        argv = (*self._world.agents.own.wrapper, str(folder))
        return NewPane(seat=seat, launch=launch, label=text or seat, argv=argv)

    # -- writing -----------------------------------------------------------------------------

    def _write(self, plan: LaunchPlan, texts: Mapping[str, str]) -> None:
        """Write everything that a launch needs; ``texts`` are the files of its folder, by name."""
        files = self._files
        # So that an agent can write its artifacts without making their folder first.
        files.make_folder(pipeline_of(self._state)[working_phase(self._state)].folder)
        kept = f"{plan.work.topic_folder}/prompt.md"
        # An existing file is kept: another seat was given it, or the user changed it.
        if plan.work.topic and not files.has_file(f"{files.path}/{kept}"):
            files.write(kept, plan.full_prompt)
        if plan.player.strategy.private:
            files.make_folder(layout.checkpoint(plan.work.seat))
        elif plan.plays:
            self._note_latest(plan)
        for name, text in texts.items():
            files.write(f"{layout.launch(plan.launch)}/{name}", text)

    def _note_latest(self, plan: LaunchPlan) -> None:
        """Record that this launch may own the latest conversation of its program, home and folder.

        Running launches that are already recorded there stay recorded: each of them may own it,
        whatever its agent is called and however it is resumed.
        """
        claims, player = self._world.agents.claims, plan.player
        place = player.program, player.home, plan.facts.session_facts.tree
        held = set(self._held())
        beside = (e for e in claims.latest(*place) if e in held or self._runs(e, player))
        own = (plan.launch, *((plan.session_ref,) if plan.session_ref else ()))
        claims.note_latest(*place, tuple(dict.fromkeys((*beside, *own))))

    def _runs(self, owner: str, player: SeatPlayer) -> bool:
        """Whether the launch or conversation ``owner``, which holds no seat of this session, runs.

        One of another session runs while its claim file is locked.
        """
        if self._files.launch_record(owner).started:
            return False
        claims = self._world.agents.claims
        return claims.is_held(claims.path(player.program, player.home, owner))

    def _held(self) -> Iterator[str | None]:
        """Yield launch id and conversation id of each seat with an agent or a waiting pane."""
        for name, seat in self._state.seats.items():
            if seat.status in {LAUNCHED, STOPPED}:
                record = self._reader.histories[name].record
                yield from (seat.launch, record.session_ref if record is not None else None)


def _apply(policy: LaunchPolicy, plan: LaunchPlan) -> tuple[LaunchPlan, str]:
    """Return how a seat is launched after the user's choice for it.

    Also returns why the pane waits for the user before it starts an agent; empty if it does not.
    """
    seat = plan.work.seat
    choice = policy.choice(seat)
    if not plan.plays:
        return plan, ""
    if choice is SeatChoice.SHELL:
        return plan.as_shell(), ""
    if choice is SeatChoice.STOPPED:
        return plan, plan.why
    if policy.covers(seat, plan.digest):
        return plan, ""
    return plan, f"not what you agreed to; now {how_it_comes_back(plan.mode, plan.why)}"
