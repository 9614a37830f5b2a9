"""Types messages into the panes of agents, and records what happened to them."""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from collections.abc import Callable, Coroutine, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

from agentmux.app.loop.background_tasks import Loop, in_words
from agentmux.app.loop.dependencies import LoopDependencies
from agentmux.app.loop.panes.observed_panes import Unsent
from agentmux.app.loop.panes.watcher import Watcher
from agentmux.app.session.writer import Session
from agentmux.app.world import World
from agentmux.core.agents.spec import typed_blind
from agentmux.core.codec.frozen import replace
from agentmux.core.decisions.next_actions import Tell
from agentmux.core.fleet.lease import LeaseLapsedError
from agentmux.core.journal.events import AgentNudged, PromptReached, ResearchTold
from agentmux.core.journal.state import SessionState
from agentmux.core.names import layout
from agentmux.core.names.statuses import LAUNCHED
from agentmux.core.pipeline.registry import pipeline_of, working_phase
from agentmux.core.prompts import prompt as prompts
from agentmux.core.prompts.prompt import PromptInputs
from agentmux.ports.tmux.terminal import NO_FIELD, DeliveryResult, TypingResult

logger = logging.getLogger(__name__)

_TYPE_S: Final = 30.0
# A program may show nothing for long after its start, such as opencode without a network.
_FIRST_S: Final = 120.0
# Seconds after which the user is told that a prompt waits.
_TOLD_S: Final = 15.0
_REACHED: Final = frozenset({DeliveryResult.SUBMITTED, DeliveryResult.QUEUED})
_WHY_NOT: Final[Mapping[DeliveryResult, str]] = {
    DeliveryResult.TYPED_NOT_SUBMITTED: "it was typed, but Enter did not submit it",
    DeliveryResult.REFUSED_DRAFT: "there is a draft in its composer",
    DeliveryResult.REFUSED_DIALOG: "it shows a dialog",
    DeliveryResult.PANE_GONE: "its pane is gone",
}
"""Why a message did not reach its agent, in words; for other results, see the evidence."""


def _why_not(delivery: TypingResult) -> str:
    evidence = delivery.evidence.removesuffix("; nothing was typed")
    return _WHY_NOT.get(delivery.result, evidence)


class Messenger:
    """Types messages to the agents of one session."""

    def __init__(
        self, world: World, session: Session, tools: LoopDependencies, watcher: Watcher, loop: Loop
    ) -> None:
        self._world = world
        self._session = session
        self._tools = tools
        self._watcher = watcher
        self._loop = loop
        self._turns: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._hands: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._attempts: dict[str, asyncio.Task[TypingResult]] = {}

    async def prompt(self, seat: str, launch: str, pane: str, prompt: str) -> None:
        """Type the line that names a launch's prompt into its pane, unless it is there already.

        This waits for an input field on the screen: up to two minutes at the first try, else 30
        seconds. If the prompt does not arrive, `ObservedPanes.unsent` says why, also after an
        error.

        Args:
            seat: The name of the seat, such as ``coder-2``.
            launch: The id of the launch.
            pane: The id of the launch's pane.
            prompt: The path of the prompt, relative to the session's directory.
        """
        if not self._awaits_prompt(seat, launch):
            return
        path = self._session.files.path / prompt
        known = self._unsent_messages.get(launch)
        why, limit_s = ("", _FIRST_S) if known is None else (known.why, _TYPE_S)
        before = Unsent(why, typed=False, digest=self._watcher.sight.digest(launch))
        self._unsent_messages[launch] = before
        told = asyncio.get_running_loop().call_later(_TOLD_S, self._tell_user, seat, launch)
        try:
            # The line names the launch, so that it is recognised, whoever typed it.
            line = prompts.launch_line(str(path))
            typing = partial(self.type, seat, pane, line, once=True, deadline_s=limit_s)
            delivery = await self._attempt(launch, before, typing)
        except (LeaseLapsedError, asyncio.CancelledError):
            self._unsent_messages.pop(launch, None)  # this is not a failure
            raise
        except Exception as error:
            self._note_failure(seat, launch, error, before)
            raise
        finally:
            told.cancel()
        if self._awaits_prompt(seat, launch):
            self._note_prompt(seat, launch, delivery, before)
        else:  # the launch has ended, or its screen already proved that the prompt arrived
            self._unsent_messages.pop(launch, None)

    @property
    def _unsent_messages(self) -> dict[str, Unsent]:
        return self._watcher.sight.unsent

    async def _attempt(
        self, launch: str, before: Unsent, typing: Callable[..., Coroutine[Any, Any, TypingResult]]
    ) -> TypingResult:
        """Type a prompt; if the user then asks for it, start again without checking the screen."""

        def begin() -> None:
            known = self._unsent_messages.get(
                launch, before
            )  # missing if its pane was not listed now
            self._unsent_messages[launch] = Unsent(known.why, typed=True, digest=known.digest)

        at_once, task = self._watcher.sight.at_once, asyncio.current_task()
        while True:
            blind = launch in at_once
            at_once.discard(launch)
            self._attempts[launch] = asyncio.ensure_future(typing(begins=begin, blind=blind))
            try:
                return await self._attempts[launch]
            except asyncio.CancelledError:
                is_over = task is not None and task.cancelling() > 0
                if is_over or launch not in at_once:
                    raise
            finally:
                del self._attempts[launch]

    def type_at_once(self, launch: str) -> None:
        """Have the waiting `prompt` of ``launch`` typed soon, whatever its screen shows.

        The caller must have added ``launch`` to `ObservedPanes.at_once`. Nothing happens if no
        prompt of the launch waits for its screen, or if something may have been typed already.
        """
        attempt, unsent = self._attempts.get(launch), self._unsent_messages.get(launch)
        if attempt is not None and unsent is not None and not unsent.typed:
            attempt.cancel()

    def _tell_user(self, seat: str, launch: str) -> None:
        """Tell the user that a prompt waits because the screen still shows no input field."""
        unsent = self._unsent_messages.get(launch)
        if unsent is not None and not unsent.typed and self._awaits_prompt(seat, launch):
            self._say_unsent(seat, unsent.why, NO_FIELD, typed=False)
            self._unsent_messages[launch] = Unsent(NO_FIELD, typed=False, digest=unsent.digest)
            self._watcher.look_at((launch,), final=False)
            self._loop.wake()

    def _say_unsent(self, seat: str, before: str, why: str, *, typed: bool) -> None:
        if why != before:
            what = "did not arrive" if typed else "waits"
            self._loop.say(f"{seat}: its prompt {what}: {why}; look at its pane")

    def _note_prompt(self, seat: str, launch: str, delivery: TypingResult, before: Unsent) -> None:
        """Record and show what happened to a prompt that had to be typed."""
        told = self._unsent_messages.get(launch, before).why
        if delivery.result in _REACHED:
            self._unsent_messages.pop(launch, None)
            fact = PromptReached(evidence=f"typed: {delivery.result}")
            self._session.record(fact, seat=seat, launch=launch)
            return
        if delivery.result is DeliveryResult.PANE_GONE:
            self._unsent_messages.pop(launch, None)
            return  # the end of the launch is recorded elsewhere
        why = _why_not(delivery)
        self._say_unsent(seat, told, why, typed=delivery.typed)
        self._unsent_messages[launch] = Unsent(why, typed=delivery.typed, digest=before.digest)
        self._watcher.look_at((launch,), final=False)

    def _note_failure(self, seat: str, launch: str, error: Exception, before: Unsent) -> None:
        """Show that typing a prompt failed; it is tried again if it cannot be in the pane yet.

        Without a digest, any screen allows another try.
        """
        known, why = self._unsent_messages.get(launch, before), in_words(error)
        self._say_unsent(seat, known.why, why, typed=known.typed)
        self._unsent_messages[launch] = Unsent(why, typed=known.typed, digest=None)

    async def tell(self, action: Tell) -> None:
        """Tell the seat that asked for research that the research is done.

        ``action`` names the seat, its launch and the research. While nothing can be typed into the
        pane, this waits until the screen changes or the launch ends. What happened to the message
        is recorded, unless the launch has ended.
        """
        folder = layout.research(action.research, action.topic)
        path = str(self._session.files.path / folder / "summary.md")
        inputs = replace(self._message_inputs(action.seat), inputs=(path,), topic=action.topic)
        text = self._message(prompts.TOLD, inputs)
        delivery = await self._type_to_asker(action, text)
        if delivery is None:
            return
        told = ResearchTold(research=action.research, topic=action.topic, result=delivery.result)
        self._session.record(told, seat=action.seat, launch=action.launch)
        if delivery.result not in _REACHED:
            self._say_untold(action, _why_not(delivery))

    async def _type_to_asker(self, action: Tell, text: str) -> TypingResult | None:
        """Type a message to the seat that asked; None if its launch ended before it was typed."""
        quiet, last_reason = self._watcher.quiet, ""
        while self._hears(action.seat, action.launch):
            pane = self._watcher.find_pane(action.launch)
            delivery = await self.type(action.seat, pane, text)
            if delivery.typed or delivery.result in _REACHED:
                return delivery
            why = _why_not(delivery)
            if why != last_reason:
                last_reason = why
                self._say_untold(action, why)
            quiet.put_off(action.seat)
            await asyncio.sleep(self._watcher.look_s)
            while quiet.is_put_off(action.seat) and self._hears(action.seat, action.launch):
                await asyncio.sleep(self._watcher.look_s)
        return None

    def _say_untold(self, action: Tell, why: str) -> None:
        what = f"the research on `{action.topic}` is done"
        self._loop.say(f"{action.seat}: could not be told that {what} ({why})")

    async def nudge(self, seat: str) -> None:
        """Remind the quiet agent of ``seat`` of its work, unless its launch was reminded before.

        If nothing can be typed into its pane now, the reminder is put off (`QuietAgents.put_off`).
        The result is recorded if something was typed, and shown to the user in any case.
        """
        held = self._session.state.seats.get(seat)
        if held is None or held.nudged:
            return
        path = self._session.files.path / layout.launch(held.launch) / "prompt.md"
        inputs = replace(self._message_inputs(seat), instruction_file=str(path))
        text = self._message(prompts.NUDGE, inputs)
        delivery = await self.type(seat, self._watcher.find_pane(held.launch), text)
        if delivery.typed:
            nudged = AgentNudged(result=delivery.result)
            self._session.record(nudged, seat=seat, launch=held.launch)
        else:
            self._watcher.quiet.put_off(seat)
        outcome = "reminded, since it had gone quiet"
        if delivery.result not in _REACHED:
            outcome = f"could not be reminded ({_why_not(delivery)})"
        self._loop.say(f"{seat}: {outcome}")

    async def go_on(self, seat: str) -> None:
        """Tell the agent of ``seat`` to continue its work, if it was woken after a usage limit.

        The message is typed once and not tried again; a failure is shown to the user.
        """
        state = self._session.state
        held, parked = state.seats.get(seat), state.parked.get(seat)
        if held is None or parked is None or not parked.woken:
            return
        path = self._session.files.path / layout.launch(held.launch) / "prompt.md"
        inputs = replace(self._message_inputs(seat), instruction_file=str(path))
        text = self._message(prompts.GO_ON, inputs)
        delivery = await self.type(seat, self._watcher.find_pane(held.launch), text)
        if delivery.result not in _REACHED:
            self._loop.say(f"{seat}: could not be told to go on ({_why_not(delivery)})")

    def _awaits_prompt(self, seat: str, launch: str) -> bool:
        return self._hears(seat, launch) and not self._session.state.seats[seat].reached

    def _hears(self, seat: str, launch: str) -> bool:
        """Whether this launch still has the seat, and runs."""
        held = self._session.state.seats.get(seat)
        return held is not None and held.launch == launch and held.status == LAUNCHED

    async def type(  # noqa: PLR0913 (what a delivery needs)
        self,
        seat: str,
        pane: str,
        text: str,
        *,
        once: bool = False,
        begins: Callable[[], object] | None = None,
        blind: bool = False,
        deadline_s: float = _TYPE_S,
    ) -> TypingResult:
        """Type ``text`` to the agent of a seat, and press Enter; return what happened to the text.

        A second message to the same seat waits for the first.

        Args:
            seat: The name of the seat, such as ``coder-2``.
            pane: The id of its pane.
            text: What to type.
            once: Type nothing if the text is on the screen already; only a missing Enter is
                pressed.
            begins: Called right before the text is typed, so not if nothing is typed; None calls
                nothing.
            blind: Type even if no input field is recognised, because the user wants it.
            deadline_s: How long to wait until the text can be typed, in seconds.

        Raises:
            LeaseLapsedError: The session must not act now.
        """
        async with self._turns[seat]:
            self._tools.require_lease()

            def begin() -> None:
                # The wait for the screen may have been long.
                self._tools.require_lease()
                if begins is not None:
                    begins()

            spec = self._watcher.typing_spec(seat)
            delivery = await self._tools.type_into(
                self._tools.terminal,
                pane,
                text,
                typed_blind(spec) if blind else spec,
                deadline_s=deadline_s,
                once=once,
                begins=begin,
                keyboard_lock=self._hands[seat],
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
    ) -> TypingResult:
        """Press keys for the user in the pane of a seat, and return what happened to them.

        Keys and messages are never mixed: keys wait while a message is being typed, and a message
        waits while keys are pressed. But keys go before a message that still waits for the screen,
        because it may wait for these keys.

        Args:
            seat: The name of the seat, such as ``coder-2``.
            pane: The id of its pane.
            keys: The keys, as `answer_keys.read_keys` returns them.
            screen: The digest of the screen that the user saw; on any other screen no key is
                pressed.
            begins: Called right before the first look at the pane, also if no key is pressed then.

        Raises:
            LeaseLapsedError: The session must not act now.
        """
        async with self._hands[seat]:
            self._tools.require_lease()
            begins()
            return await self._tools.press(self._tools.terminal, pane, keys, screen=screen)

    def _message_inputs(self, seat: str) -> PromptInputs:
        return message_inputs(
            self._session.state, seat, session=self._session.files.path, tree=self._world.tree
        )

    def _message(self, name: str, inputs: PromptInputs) -> str:
        return prompts.render(self._world.texts.templates.template(name), inputs).strip()


def message_inputs(state: SessionState, seat: str, *, session: Path, tree: Path) -> PromptInputs:
    """Return the values for the variables in a message to the agent of a seat.

    Args:
        state: The state of the session; it must have the seat.
        seat: The name of the seat, such as ``coder-2``.
        session: The session's directory.
        tree: The directory in which the agent works.
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
        # The time shows that a usage limit below this message on the screen is a new one.
        time=parked.woken if parked is not None else "",
    )
