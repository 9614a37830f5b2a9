"""Sends the user's messages and keys to agents, each at most once, and records the results.

An input that may have been typed before an orchestrator was killed is never typed again.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Final

from agentmux.app.loop.background_tasks import Loop
from agentmux.app.loop.panes.messenger import Messenger
from agentmux.app.loop.panes.watcher import Watcher
from agentmux.app.session.writer import Session
from agentmux.core.journal.events import InputEnded, InputStarted
from agentmux.core.journal.state import Input
from agentmux.core.names.statuses import LAUNCHED, WAITING
from agentmux.core.terminal.keys.answer_keys import shown_keys
from agentmux.ports.tmux.terminal import DeliveryResult, TypingResult

_RECOGNISED: Final = 40
"""A message with fewer characters than this, not counting blanks, is not recognised on a screen."""

_LOST: Final = "the orchestrator was lost while it typed"
_GONE: Final = TypingResult(
    result=DeliveryResult.PANE_GONE, evidence="its agent has ended; nothing was typed"
)
_GONE_MEANWHILE: Final = TypingResult(
    result=DeliveryResult.UNKNOWN, evidence=f"{_LOST}, and its agent has ended since"
)
_SAID: Final[Mapping[DeliveryResult, str]] = {
    DeliveryResult.SUBMITTED: "it has your message",
    DeliveryResult.QUEUED: "it has your message, and reads it after its present work",
}


class _MayBeTypedError(Exception):
    """The text would be typed a second time."""


class InputSender:
    """Sends the user's messages and keys to the agents of one session."""

    def __init__(
        self, session: Session, watcher: Watcher, loop: Loop, messenger: Messenger
    ) -> None:
        self._session = session
        self._watcher = watcher
        self._loop = loop
        self._messenger = messenger

    async def send(self, name: str) -> None:
        """Send the input with the id ``name``, and record the result.

        An input that has ended is skipped. One that an orchestrator had begun to type before it was
        killed is not typed again: only a missing Enter is pressed, if the message is still in the
        input field.
        """
        given = next((each for each in self._session.state.inputs if each.id == name), None)
        if given is None:
            return
        pane = self._watcher.find_pane(given.launch)
        begins = partial(self._begin, name, given)
        asked = self._asks(given)
        if not pane or not self._is_current(given):
            delivery = _GONE_MEANWHILE if given.started else _GONE
        elif given.started:
            delivery = await self._finish(given, pane)
        elif given.keys:
            delivery = await self._messenger.press(
                given.seat, pane, given.keys, screen=given.screen, begins=begins
            )
        else:
            delivery = await self._messenger.type(given.seat, pane, given.text, begins=begins)
        self._watcher.look_at((given.launch,))  # so a refused user sees the current screen
        self._end(name, given, delivery)
        self._say(given, delivery, asked=asked)

    def _asks(self, given: Input) -> bool:
        return self._watcher.sight.status(given.seat) == WAITING

    def _is_current(self, given: Input) -> bool:
        seat = self._session.state.seats.get(given.seat)
        return seat is not None and seat.launch == given.launch and seat.status == LAUNCHED

    async def _finish(self, given: Input, pane: str) -> TypingResult:
        """Press the missing Enter if the message is still in the input field; type nothing.

        Keys may have been pressed already, and are not pressed again. A short message is not
        searched for, because the same words may be on the screen for another reason.
        """
        if given.keys or len("".join(given.text.split())) < _RECOGNISED:
            return TypingResult(result=DeliveryResult.UNKNOWN, evidence=_LOST)
        try:
            delivery = await self._messenger.type(
                given.seat, pane, given.text, once=True, begins=_refuse
            )
        except _MayBeTypedError:
            return TypingResult(result=DeliveryResult.UNKNOWN, evidence=_LOST)
        return TypingResult(result=delivery.result, evidence=f"{_LOST}; {delivery.evidence}")

    def _begin(self, name: str, given: Input) -> None:
        self._session.record(InputStarted(input=name), seat=given.seat, launch=given.launch)

    def _end(self, name: str, given: Input, delivery: TypingResult) -> None:
        ended = InputEnded(input=name, result=delivery.result, evidence=delivery.evidence)
        self._session.record(ended, seat=given.seat, launch=given.launch)

    def _say(self, given: Input, delivery: TypingResult, *, asked: bool) -> None:
        """Show the result of an input; if the agent ``asked``, also whether that is answered."""
        if delivery.result is DeliveryResult.SENT:
            now = "it still asks you something" if self._asks(given) else "its question is answered"
            then = now if asked else delivery.evidence
            self._loop.say(f"user: pressed {shown_keys(given.keys)} for {given.seat}: {then}")
            return
        what = "your answer" if given.keys else "your message"
        outcome = _SAID.get(delivery.result, f"{what} did not arrive ({delivery.evidence})")
        self._loop.say(f"{given.seat}: {outcome}")


def _refuse() -> None:
    raise _MayBeTypedError
