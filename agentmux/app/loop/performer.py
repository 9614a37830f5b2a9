"""Performs the decided actions, one method per action, and records the results in the journal.

Actions that take long (typing, committing) run in the background of the loop.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final, Protocol, TypeAlias

from agentmux.app.launch.launcher import Launcher, PreparedCommand, PreparedLaunch
from agentmux.app.loop.background_tasks import BackgroundTasks, DeliveryLoop
from agentmux.app.loop.dependencies import LoopDependencies
from agentmux.app.loop.panes.agent_probes import AgentProbes
from agentmux.app.loop.panes.input_sender import InputSender
from agentmux.app.loop.panes.messenger import Messenger
from agentmux.app.loop.panes.watcher import Watcher, command_status
from agentmux.app.loop.work.approvers import Approvers
from agentmux.app.loop.work.base_runner import BaseRunner
from agentmux.app.loop.work.checker import Checker
from agentmux.app.session.writer import Session
from agentmux.app.world import World
from agentmux.core.agents.spec import AgentSpec, PromptBy
from agentmux.core.codec.records import to_fields
from agentmux.core.conversation.launch_policy import ORDINARY, LaunchPolicy
from agentmux.core.conversation.resume_choice import PaneStart
from agentmux.core.decisions.check_actions import (
    BeginChecks,
    EndBase,
    MakeBase,
    RecordBase,
    RecordCheck,
)
from agentmux.core.decisions.next_actions import (
    Action,
    ApproveByItself,
    EndPanes,
    Facts,
    Fail,
    FinishArchive,
    FinishSetup,
    Launch,
    LaunchFact,
    MakeCommit,
    OpenPane,
    RecordChoice,
    RecordExit,
    SendInput,
    Settle,
    TakeStep,
    Tell,
    Wake,
)
from agentmux.core.fold.parts.parking import BUSY, LAUNCH, TOLD
from agentmux.core.journal.events import (
    AgentExited,
    AgentWoken,
    Approved,
    ArtifactsArchived,
    PhaseSettled,
    SessionFailed,
    SetupDone,
)
from agentmux.core.journal.state import AGENT_MODES, NATIVE
from agentmux.core.names import layout
from agentmux.core.names.conversations import pane_label
from agentmux.core.names.phase import COMMANDS
from agentmux.core.names.statuses import (
    CLAIM_TAKEN,
    ENDED_BY_USER,
    FINISHED,
    LAUNCHED,
    REJECTED,
    STARTING,
    STOPPED,
    TIMED_OUT,
)
from agentmux.core.pipeline.registry import working_phase
from agentmux.core.pipeline.work import agents_work
from agentmux.errors import AgentmuxError
from agentmux.ports.tmux.terminal import NewPane, TerminalUnreachableError

logger = logging.getLogger(__name__)

# At most this many agents are shown beside the monitor; eight would have only six rows each.
VISIBLE_MAX: Final = 4
_END_S: Final = 5.0
_BEGAN: Final[Mapping[str, str]] = {
    PaneStart.NATIVE: "{} resumed its conversation",
    PaneStart.FRESH: "{} began a new conversation",
    PaneStart.SHELL: "{} does not start: a shell is in its pane",
    PaneStart.SCREEN: "{} does not start: its last screen is in its pane",
}
"""What the log and the monitor say about a launch, by its mode."""
_WOKEN: Final[Mapping[str, str]] = {
    BUSY: "works again after its usage limit",
    LAUNCH: "its usage limit should be over: it is launched",
    TOLD: "its usage limit should be over: it is told to go on",
}
_ENDED: Final[Mapping[str, str]] = {
    FINISHED: "ended",
    ENDED_BY_USER: "was ended by the user",
    REJECTED: "did not know its conversation",
    CLAIM_TAKEN: "its conversation is in use by another pane",
    TIMED_OUT: "took too long",
}
"""What the log and the monitor say about an agent's end, by cause; others are named as they are."""


Prepared: TypeAlias = PreparedLaunch | PreparedCommand


class PerformerLoop(DeliveryLoop, Protocol):
    """The part of the orchestrator's loop that the performer calls."""

    def answer_keys(self) -> None:
        """Do what keys pressed in the monitor ask for; let no other work of the loop run meanwhile.

        A decision by key is written to the journal, as if by another process, and not applied here.
        """

    def give_up(self, what: str, error: Exception) -> None:
        """Show in the monitor that some work has failed for good; only a resume tries it again.

        Args:
            what: The name of the work, as messages show it, such as ``the prompt of coder-2 …``.
            error: Its last error.
        """


async def _at_once() -> None:
    """Return at once; the default if nothing has to be waited for."""


class Performer:
    """Performs the actions of one session.

    Attributes:
        ready: Called and awaited before panes are opened, so that other work (a work-tree
            checkpoint) can end first; the default returns at once.
    """

    def __init__(
        self,
        world: World,
        session: Session,
        tools: LoopDependencies,
        watcher: Watcher,
        manner: LaunchPolicy,
        loop: PerformerLoop,
    ) -> None:
        self._world = world
        self._session = session
        self._tools = tools
        self._watcher = watcher
        self._loop = loop
        self._manner = manner
        self._due: set[str] | None = None
        self._due_phase = ""
        self._background = BackgroundTasks(loop, loop.give_up, label=session.work_label)
        self._messenger = Messenger(world, session, tools, watcher, loop)
        self._inputs = InputSender(session, watcher, loop, self._messenger)
        self._shown: tuple[str, ...] = ()
        self._is_arranged = False
        self._waits_for_unzoom = False
        self._prompted: set[str] = set()
        self._probes = AgentProbes(world, session, self._background, loop)
        self._why_not = ""
        self._launches_seen: Mapping[str, LaunchFact] = {}
        self.ready: Callable[[], Awaitable[object]] = _at_once
        approvers = Approvers(world.environment, tools.approver)
        self._delivery = (world, session, tools, approvers, self._background, loop)
        self._checker = Checker(world, session, watcher, loop)
        self._base = BaseRunner(world, session, watcher, self._background, loop)
        self._perform: Final[Mapping[type[Action], Callable[[Any], Awaitable[None]]]] = {
            FinishArchive: self._finish_archive,
            EndPanes: self._end_panes,
            Settle: self._settle,
            OpenPane: self._open_pane,
            RecordExit: self._record_exit,
            RecordChoice: self._record_choice,
            Fail: self._fail,
            Tell: self._tell,
            SendInput: self._send_input,
            Wake: self._wake,
            FinishSetup: self._finish_setup,
            BeginChecks: self._checker.begin,
            RecordCheck: self._checker.record,
            MakeBase: self._base.make,
            RecordBase: self._base.record,
            EndBase: self._base.end,
            ApproveByItself: self._approve,
            MakeCommit: self._commit,
            TakeStep: self._take_step,
        }

    async def perform(self, actions: Sequence[Action], facts: Facts) -> bool:
        """Perform the actions; return whether the loop should decide again at once.

        Once an action has changed the session's phase, the other ones are dropped.

        Args:
            actions: What to do, in this order, except that launches come first.
            facts: What was observed of the session when the actions were decided.
        """
        phase = working_phase(self._session.state)
        self._launches_seen = facts.launches  # the facts that the actions were decided on
        self._take_over(facts)
        self._find_due(actions)
        wanting = [action for action in actions if isinstance(action, Launch)]
        works = [each.work for each in wanting if each.work.role not in COMMANDS]
        launches = [] if self._probes.holds_up(works) else wanting
        if launches:
            await self._launch(launches, facts)
        held_up = launches != wanting
        before = self._session.state.revision
        for action in actions:
            if working_phase(self._session.state) != phase:
                break  # the phase has changed: the other actions must be decided again
            if not isinstance(action, Launch):
                await self._perform[type(action)](action)
                self._loop.answer_keys()
        self._nudge_quiet()
        again = bool(launches) or self._session.state.revision != before
        if not again and not held_up:  # moving panes must not delay the next agent
            self._arrange()
        return again

    def _find_due(self, actions: Sequence[Action]) -> None:
        """Find out which seats belong to the resume, once the session has entered its phase.

        The launch policy of the resume applies to the first launch of each of these seats, also if
        that has to wait for the setup of the worktree or for a usage limit. It does not apply to
        other launches.
        """
        state = self._session.state
        if self._due is None:
            if not any(isinstance(each, Settle | FinishArchive) for each in actions):
                self._due = {work.seat for work in agents_work(state)}
                self._due_phase = working_phase(state)
        elif working_phase(state) != self._due_phase:
            self._due = set()

    def _policy(self, seat: str) -> LaunchPolicy:
        return self._manner if self._due is None or seat in self._due else ORDINARY

    # -- launches ----------------------------------------------------------------------------

    def _launcher(self, policy: LaunchPolicy = ORDINARY) -> Launcher:
        """Return a launcher for the current state."""
        session = self._session
        return Launcher(self._world, session.files, session.state, fresh=frozenset(policy.fresh))

    async def _launch(self, launches: Sequence[Launch], facts: Facts) -> None:
        """Write every launch folder, record every launch, then open all panes in one call."""
        recorded = self._prepare(launches, facts)
        await self.ready()
        prepared = self._filter_seated(recorded)
        panes = self._open([launch.pane for launch in prepared]) if prepared else {}
        self._loop.answer_keys()
        for launch in prepared:
            if isinstance(launch, PreparedCommand):
                self._watcher.set_status(
                    launch.pane.seat, command_status(launch.fact.role), "journal"
                )
                self._loop.say(f"{launch.pane.seat}: `{launch.fact.topic}` runs")
                continue
            seat, plan = launch.plan.work.seat, launch.plan
            spec = plan.player.spec
            if launch.fact.stopped:
                self._watcher.set_status(seat, STOPPED, "journal")
                self._loop.say(f"{seat}: {spec.name} waits for your choice in its pane")
                continue
            pane = panes.get(plan.launch, "")
            self._bring_up(seat, spec, plan.mode, pane, f"{layout.launch(plan.launch)}/prompt.md")

    def _prepare(self, launches: Sequence[Launch], facts: Facts) -> list[Prepared]:
        """Write the launch folders, and record the launches.

        Stops early if an event has changed the phase meanwhile.
        """
        prepared: list[Prepared] = []
        phase = working_phase(self._session.state)
        for each in launches:
            if working_phase(self._session.state) != phase:
                break
            launch = self._prepare_launch(each, facts)
            self._session.record(launch.fact, seat=each.work.seat, launch=launch.pane.launch)
            if self._due is not None:
                self._due.discard(each.work.seat)
            prepared.append(launch)
            self._loop.answer_keys()
        return prepared

    def _filter_seated(self, prepared: Sequence[Prepared]) -> list[Prepared]:
        """Return the launches that still belong to a seat."""
        seated = {seat.launch for seat in self._session.state.seats.values()}
        return [launch for launch in prepared if launch.pane.launch in seated]

    def _prepare_launch(self, launch: Launch, facts: Facts) -> Prepared:
        work, policy = launch.work, self._policy(launch.work.seat)
        launcher = self._launcher(policy)
        if work.role in COMMANDS:
            return launcher.prepare_command(work, launch.attempt)
        return launcher.prepare(work, launch.attempt, facts.artifacts, policy=policy)

    def _bring_up(self, seat: str, spec: AgentSpec, mode: str, pane: str, prompt: str) -> None:
        """Show that a launch runs, and make sure that its prompt arrives."""
        launch = self._session.state.seats[seat].launch
        plays = mode in AGENT_MODES
        self._watcher.set_status(seat, STARTING if plays else mode, "journal")
        self._loop.say(f"{seat}: {_BEGAN[mode].format(spec.name)}")
        if not plays:
            return
        self._see_prompted(seat, launch, mode, pane, prompt)

    def _see_prompted(self, seat: str, launch: str, mode: str, pane: str, prompt: str) -> None:
        """Type the prompt, unless it was in the command line; look for proof that it arrived."""
        spec = self._watcher.spec(seat)
        by_argv = spec.prompt_by(resuming=mode == NATIVE) is PromptBy.ARGV
        if by_argv or mode == NATIVE:  # also notices if the agent refuses its conversation
            self._background.run(f"confirm {launch}", self._watcher.confirm(seat, launch))
        work = f"the prompt of {seat} (launch {launch})"
        if launch in self._watcher.sight.at_once:  # the user wants another try
            self._background.allow_again(work)
        if by_argv or self._background.run(work, self._prompt(seat, launch, pane, prompt)):
            self._prompted.add(launch)

    async def _prompt(self, seat: str, launch: str, pane: str, prompt: str) -> None:
        try:
            await self._messenger.prompt(seat, launch, pane, prompt)
        except Exception:
            self._prompted.discard(launch)  # it is typed later, when allowed and the lease holds
            raise
        if launch in self._watcher.sight.unsent:
            self._prompted.discard(launch)  # it is typed later, when the screen allows it

    def _take_over(self, facts: Facts) -> None:
        """Make sure that prompts arrive that could not be typed at first.

        This includes the prompts of launches by an earlier orchestrator.
        """
        for name, seat in self._session.state.seats.items():
            fact = facts.launches.get(seat.launch, LaunchFact())
            if seat.launch in self._watcher.sight.at_once:
                self._messenger.type_at_once(seat.launch)
            begun = seat.launch in self._prompted or seat.reached
            plays = seat.status == LAUNCHED and seat.mode in AGENT_MODES
            if begun or not plays or not fact.alive or fact.pane is None:
                continue
            if not self._watcher.sight.may_try(seat.launch):
                continue
            self._watcher.look_at((seat.launch,))
            prompt = fact.choice.prompt if fact.choice is not None else "prompt.md"
            path = f"{layout.launch(seat.launch)}/{prompt}"
            self._see_prompted(name, seat.launch, seat.mode, fact.pane, path)

    async def _record_choice(self, action: RecordChoice) -> None:
        seat, launch, choice = action.seat, action.launch, action.choice
        self._session.record(choice, seat=seat, launch=launch)
        spec, pane = self._watcher.spec(seat), self._watcher.sight.pane_id(launch)
        self._tools.terminal.label({pane: pane_label(seat, spec.name, choice.mode)} if pane else {})
        self._bring_up(seat, spec, choice.mode, pane, f"{layout.launch(launch)}/{choice.prompt}")

    def _open(self, panes: Sequence[NewPane]) -> Mapping[str, str]:
        opened = self._tools.terminal.open_panes(panes)
        self._is_arranged = False
        return opened

    async def _open_pane(self, action: OpenPane) -> None:
        await self.ready()
        seat = self._session.state.seats.get(action.seat)
        if seat is not None and seat.launch == action.launch:
            self._open([self._launcher().pane(action.seat, action.launch)])
        self._loop.wake()

    def _arrange(self) -> None:
        """Show the panes of the seats beside the monitor; other panes stay parked."""
        launches = [seat.launch for seat in self._session.state.seats.values()]
        panes = self._watcher.sight.panes
        shown = tuple(panes[each].id for each in launches if each in panes)[:VISIBLE_MAX]
        if shown != self._shown or not self._is_arranged:
            arrangement = self._tools.terminal.arrange(shown)
            if arrangement.size is not None:
                self._tools.display.limit_size(*arrangement.size)
            self._shown, self._is_arranged = shown, not arrangement.later
            self._waits_for_unzoom = arrangement.later

    def arrange_again(self) -> None:
        """Arrange the panes if that had to wait because the user had zoomed a pane."""
        if self._waits_for_unzoom:
            self._arrange()

    # -- small actions -----------------------------------------------------------------------

    async def _settle(self, action: Settle) -> None:
        self._loop.say(f"{action.phase}: the artifacts showed its outcome already")
        self._session.record(PhaseSettled(phase=action.phase, found=to_fields(action.found)))

    async def _record_exit(self, action: RecordExit) -> None:
        fact = AgentExited(cause=action.cause, status=action.status, signal=action.signal)
        self._session.record(fact, seat=action.seat, launch=action.launch)
        self._watcher.set_status(action.seat, action.cause, "exit record")
        self._watcher.look_at((action.launch,))
        self._loop.say(
            f"{action.seat}: {_ENDED.get(action.cause, action.cause)} ({_ending(action)})"
        )

    async def _fail(self, action: Fail) -> None:
        fact = SessionFailed(cause=action.cause, phase=working_phase(self._session.state))
        self._session.record(fact, seat=action.seat)
        self._loop.say(f"failed: {action.cause}")

    async def _finish_setup(self, _: FinishSetup) -> None:
        """Record which files the setup changed: they are not part of the result."""
        loop, setup = asyncio.get_running_loop(), self._session.state.setup
        before = setup.before if setup is not None else ()
        dirty = await loop.run_in_executor(None, self._world.repository.dirty)
        changed = tuple(path for path in dirty if path not in before)
        self._session.record(SetupDone(changed=changed))
        self._loop.say("setup: done")

    async def _approve(self, _: ApproveByItself) -> None:
        """Approve the result without the user, if the commit leaves nothing out."""
        loop = asyncio.get_running_loop()
        way, why = await loop.run_in_executor(None, self._automatic_way)
        if not why:
            self._session.record(Approved(then=way))
        elif why != self._why_not:
            self._loop.say(f"not approved automatically: {why}")
        self._why_not = why

    def _automatic_way(self) -> tuple[str, str]:
        from agentmux.app.delivery.approval.automatic_approval import automatic_way

        return automatic_way(self._world, self._session.files, self._session.state)

    async def _commit(self, action: MakeCommit) -> None:
        from agentmux.app.loop.work.committer import Committer

        await Committer(*self._delivery).begin(action)

    async def _take_step(self, action: TakeStep) -> None:
        from agentmux.app.loop.work.deliverer import Deliverer

        await Deliverer(*self._delivery).begin(action)

    async def _end_panes(self, action: EndPanes) -> None:
        self._watcher.look_at(action.launches)
        panes = [self._launches_seen[each].pane for each in action.launches]
        # Keeps the monitor from growing for the moment until the next agent has its pane.
        self._tools.terminal.close_panes(
            [pane for pane in panes if pane is not None], vacate=self._shown
        )
        for launch in action.launches:
            self._watcher.sight.panes.pop(launch, None)

    def skip_empty_archive(self) -> None:
        """Record a pending archiving of artifacts as done if there is nothing to move.

        Does not read the artifacts.
        """
        state, files = self._session.state, self._session.files
        if state.pending_archive and not any(map(files.to_archive, state.pending_archive)):
            self._session.record(ArtifactsArchived(moved=len(state.pending_archive)))

    async def _finish_archive(self, _: FinishArchive) -> None:
        """Move artifacts that no longer count, once no agent is left that could write there."""
        state = self._session.state
        held = {seat.launch for seat in state.seats.values()}
        strays = tuple(launch for launch in self._launches_seen if launch not in held)
        await self._end_panes(EndPanes(launches=strays))
        await self._wait_until_gone(strays)
        for each in state.pending_archive:
            self._session.files.archive(each)
        self._session.record(ArtifactsArchived(moved=len(state.pending_archive)))

    async def _wait_until_gone(self, launches: tuple[str, ...]) -> None:
        """Wait some seconds at most until the agents of these launches have left exit records."""
        deadline = asyncio.get_running_loop().time() + _END_S
        for launch in launches:
            while asyncio.get_running_loop().time() < deadline:
                record = self._session.files.launch_record(launch)
                if record.exit is not None or not record.started:
                    break
                await asyncio.sleep(0.01)

    # -- in the background ------------------------------------------------------------------

    async def _tell(self, action: Tell) -> None:
        key = f"tell {action.seat} {action.research} {action.topic}"
        self._background.run(key, self._messenger.tell(action))

    async def _send_input(self, action: SendInput) -> None:
        self._background.run(f"input {action.input}", self._inputs.send(action.input))

    async def _wake(self, action: Wake) -> None:
        """Record that a usage limit should be over, then tell the agent (once at most)."""
        seat = action.seat
        self._session.record(AgentWoken(how=action.how), seat=seat, launch=action.launch)
        self._loop.say(f"{seat}: {_WOKEN[action.how]}")
        self._watcher.quiet.rouse(action.launch)
        if action.how == TOLD:
            self._background.run(f"wake {seat}", self._messenger.go_on(seat))

    def _nudge_quiet(self) -> None:
        while self._watcher.quiet.to_nudge:
            seat = self._watcher.quiet.to_nudge.pop()
            self._background.run(f"nudge {seat}", self._messenger.nudge(seat))

    # -- the end -----------------------------------------------------------------------------

    async def close(self) -> None:
        """End the background work, such as a commit that waits for its signer."""
        await self._background.close()

    async def end_all(self) -> None:
        """Save the last screens, then end every agent and the background work."""
        closing = asyncio.ensure_future(self._background.close())
        launches = tuple(self._watcher.sight.panes)
        try:
            self._watcher.look_at(launches)
            panes = [pane.id for pane in self._watcher.sight.panes.values()]
            self._tools.terminal.close_panes(panes)
        except TerminalUnreachableError as error:
            # tmux cannot be reached, but the processes in the panes can.
            logger.warning("ended the agents without tmux: %s", error)
            self._tools.end(self._watcher.runtime.processes())
        except AgentmuxError as error:
            logger.warning("could not end the agents: %s", error)
        await self._wait_until_gone(launches)
        await (
            self._watcher.wait_until_saved()
        )  # else their half-written files would look like a crash's
        await closing


def _ending(action: RecordExit) -> str:
    if action.cause == REJECTED and action.status is None:
        return "it said so, and was ended"
    if action.signal is not None:
        return f"signal {action.signal}"
    return "no exit record" if action.status is None else f"exit {action.status}"
