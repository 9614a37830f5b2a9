"""Type messages into the panes of agents, and record what happened to them."""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from agentmux.app.loop.background_tasks import Loop
from agentmux.app.loop.tools import Tools
from agentmux.app.loop.watcher import Watcher
from agentmux.app.session.writer import Session
from agentmux.app.world import World
from agentmux.core.codec.frozen import replace
from agentmux.core.decisions.next_actions import Tell
from agentmux.core.fold.acceptance import working_phase
from agentmux.core.journal.events import AgentNudged, PromptReached, ResearchTold
from agentmux.core.journal.state import SessionState
from agentmux.core.names import layout
from agentmux.core.names.statuses import LAUNCHED, WAITING
from agentmux.core.pipeline.registry import pipeline_of
from agentmux.core.prompts import prompt as prompts
from agentmux.core.prompts.prompt import PromptInputs
from agentmux.ports.terminal import Delivery, DeliveryResult

logger = logging.getLogger(__name__)

_TYPE_S: Final = 30.0
# A program may show nothing for long after its start, such as opencode without a network.
_FIRST_S: Final = 120.0
_NOT_NOW: Final = frozenset({DeliveryResult.REFUSED_DRAFT, DeliveryResult.REFUSED_DIALOG})
_REACHED: Final = frozenset({DeliveryResult.SUBMITTED, DeliveryResult.QUEUED})
_WHY_NOT: Final[Mapping[DeliveryResult, str]] = {
    DeliveryResult.TYPED_NOT_SUBMITTED: "it was typed, but Enter did not submit it",
    DeliveryResult.REFUSED_DRAFT: "there is a draft in its composer",
    DeliveryResult.REFUSED_DIALOG: "it shows a dialog",
    DeliveryResult.PANE_GONE: "its pane is gone",
    DeliveryResult.UNKNOWN: "its screen does not show what happened to it",
}
"""Why a message did not reach its agent, for people."""


class Messenger:
    """Types messages to the agents of one session."""

    def __init__(
        self, world: World, session: Session, tools: Tools, watcher: Watcher, loop: Loop
    ) -> None:
        self._world = world
        self._session = session
        self._tools = tools
        self._watcher = watcher
        self._loop = loop
        self._turns: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._hands: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def prompt(self, seat: str, launch: str, pane: str, prompt: str) -> None:
        """Type the line that names a launch's prompt into its pane, unless it is there already.

        Args:
            seat: The seat.
            launch: The id of the launch.
            pane: The id of the launch's pane.
            prompt: Path of the prompt, relative to the session.
        """
        if not self._awaits_prompt(seat, launch):
            return
        path = self._session.files.path / prompt
        # The line names the launch, so that it is recognised, whoever typed it.
        result = await self._type(seat, pane, prompts.launch_line(str(path)), once=True)
        if not self._awaits_prompt(seat, launch):
            return  # it has ended, or its screen already proved that the prompt arrived
        if result in _REACHED:
            self._session.record(
                PromptReached(evidence=f"typed: {result}"), seat=seat, launch=launch
            )
        else:
            self._loop.say(
                f"{seat}: its prompt did not arrive ({_WHY_NOT[result]}); look at its pane"
            )
            self._watcher.note(seat, WAITING, "delivery")

    async def tell(self, action: Tell) -> None:
        """Tell the seat that asked for research that the research is done."""
        folder = layout.research(action.research, action.topic)
        path = str(self._session.files.path / folder / "summary.md")
        inputs = self._message_inputs(action.seat, inputs=(path,), topic=action.topic)
        text = self._message(prompts.TOLD, inputs)
        result = await self._type(action.seat, self._watcher.sight.pane_id(action.launch), text)
        told = ResearchTold(research=action.research, topic=action.topic, result=result)
        self._session.record(told, seat=action.seat, launch=action.launch)
        if result not in _REACHED:
            what = f"the research on `{action.topic}` is done"
            self._loop.say(f"{action.seat}: could not be told that {what} ({_WHY_NOT[result]})")

    async def nudge(self, seat: str) -> None:
        """Remind an agent that has gone quiet of its work, unless its launch was reminded before.

        If its pane shows a draft of the user or a dialog, the reminder is put off.
        """
        held = self._session.state.seats.get(seat)
        if held is None or held.nudged:
            return
        path = self._session.files.path / layout.launch(held.launch) / "prompt.md"
        inputs = self._message_inputs(seat, instruction_file=str(path))
        text = self._message(prompts.NUDGE, inputs)
        result = await self._type(seat, self._watcher.sight.pane_id(held.launch), text)
        if result in _NOT_NOW and self._watcher.quiet.put_off(seat):
            return
        self._session.record(AgentNudged(result=result), seat=seat, launch=held.launch)
        failed = f"could not be reminded ({_WHY_NOT[result]})" if result in _WHY_NOT else ""
        self._loop.say(f"{seat}: {failed or 'reminded, since it had gone quiet'}")

    async def go_on(self, seat: str) -> None:
        """Tell a woken agent, once, to go on with its work."""
        state = self._session.state
        held, parked = state.seats.get(seat), state.parked.get(seat)
        if held is None or parked is None or not parked.woken:
            return
        path = self._session.files.path / layout.launch(held.launch) / "prompt.md"
        inputs = self._message_inputs(seat, instruction_file=str(path))
        text = self._message(prompts.GO_ON, inputs)
        result = await self._type(seat, self._watcher.sight.pane_id(held.launch), text)
        if result in _WHY_NOT:
            self._loop.say(f"{seat}: could not be told to go on ({_WHY_NOT[result]})")

    def _awaits_prompt(self, seat: str, launch: str) -> bool:
        held = self._session.state.seats.get(seat)
        if held is None or held.launch != launch:
            return False
        return held.status == LAUNCHED and not held.reached

    async def _type(self, seat: str, pane: str, text: str, *, once: bool = False) -> DeliveryResult:
        limit_s = _FIRST_S if once else _TYPE_S
        return (await self.type(seat, pane, text, once=once, deadline_s=limit_s)).result

    async def type(
        self,
        seat: str,
        pane: str,
        text: str,
        *,
        once: bool = False,
        begins: Callable[[], object] | None = None,
        deadline_s: float = _TYPE_S,
    ) -> Delivery:
        """Type ``text`` to the agent of a seat, and return what happened to it.

        A second message to the same seat waits for the first. With ``once`` nothing is
        typed if the text is on the screen already; ``begins`` is called right before it is typed.

        Raises:
            LeaseLapsedError: The session must not act now.
        """
        async with self._turns[seat]:
            self._tools.require_lease()

            def begin() -> None:
                # Its program may have let us wait for long.
                self._tools.require_lease()
                if begins is not None:
                    begins()

            delivery = await self._tools.type_into(
                self._tools.terminal,
                pane,
                text,
                self._watcher.typing_spec(seat),
                deadline_s=deadline_s,
                once=once,
                begins=begin,
                hands=self._hands[seat],
            )
        logger.info("typed into %s: %s (%s)", seat, delivery.result, delivery.evidence)
        return delivery

    async def press(
        self,
        seat: str,
        pane: str,
        keys: Sequence[str],
        *,
        screen: str,
        begins: Callable[[], object],
    ) -> Delivery:
        """Press keys for a person in the pane of a seat, and return what happened to them.

        They never fall into a message that is being typed, nor a message between them; but they
        pass a message that waits, as it may wait for them. ``begins`` is called right before the
        first look at the pane, ``screen`` is as in `ports.Presser`.

        Raises:
            LeaseLapsedError: The session must not act now.
        """
        async with self._hands[seat]:
            self._tools.require_lease()
            begins()
            return await self._tools.press(self._tools.terminal, pane, keys, screen=screen)

    def _message_inputs(self, seat: str, **more: Any) -> PromptInputs:  # noqa: ANN401 (fields of any type)
        made = message_inputs(
            self._session.state, seat, session=self._session.files.path, tree=self._world.tree
        )
        return replace(made, **more)

    def _message(self, name: str, inputs: PromptInputs) -> str:
        return prompts.render(self._world.templates.template(name), inputs).strip()


def message_inputs(state: SessionState, seat: str, *, session: Path, tree: Path) -> PromptInputs:
    """Return what a message to the agent of a seat can say.

    Args:
        state: The session's; it has the seat.
        seat: The seat.
        session: The session's directory.
        tree: Where the agent works.
    """
    held, parked = state.seats[seat], state.parked.get(seat)
    return PromptInputs(
        session_dir=str(session),
        project_dir=str(tree),
        pipeline=pipeline_of(state),
        phase=working_phase(state),
        role=held.role,
        seat=seat,
        subplan=held.subplan,
        subplans=tuple((n, "") for n in state.implementation_active_plan_ids),
        topic=held.topic,
        # With the time, a limit below this message on the screen is seen to be a new one.
        time=parked.woken if parked is not None else "",
    )
