"""Notifies the user when a session begins to need them, at most once for each reason.

The reasons are recorded in a file of their own before anything is sent, as
docs/decisions/0017-notifications.md explains. Everything that may take time runs beside the loop.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Sequence
from contextlib import suppress
from threading import Event
from typing import Final, Protocol

from agentmux.app.loop.dependencies import LoopDependencies
from agentmux.app.session.writer import Session
from agentmux.app.world import World
from agentmux.core.codec.frozen import dataclass
from agentmux.core.config.settings import BELL, TMUX, Address
from agentmux.core.decisions.attention import TROUBLE, Attention, Notice
from agentmux.core.decisions.notice_texts import (
    notice_body,
    notice_command,
    notice_line,
    notice_title,
)
from agentmux.core.names import layout
from agentmux.core.names.occasion import Occasion
from agentmux.errors import AgentmuxError
from agentmux.ports.notifier import Notification, SendResult
from agentmux.threads import in_daemon_thread

_LASTING_S: Final = 30.0
_RECORD_MAX: Final = 100_000
_CLOSE_S: Final = 1.0
"""Seconds that the end of the loop waits until messages are on their way."""


class Speaker(Protocol):
    """The part of the orchestrator that `Notices` needs."""

    def say(self, message: str) -> None:
        """Show the user a message at the monitor, and log it."""

    @property
    def name(self) -> str:
        """The name of the session that commands accept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Errand:
    """One message to send; it is removed once it is on its way."""

    title: str
    line: str
    command: str
    addresses: tuple[Address, ...]


class Notices:
    """Notifies the user of one session."""

    def __init__(
        self, world: World, session: Session, tools: LoopDependencies, speaker: Speaker
    ) -> None:
        self._world = world
        self._session = session
        self._tools = tools
        self._speaker = speaker
        self._told: frozenset[str] | None = None
        self._trouble_since: float | None = None
        self._failed: set[str] = set()
        self._going: set[Event] = set()
        self._tasks: set[asyncio.Task[None]] = set()

    def look(self, seen: Attention) -> None:
        """Notify the user of each reason in ``seen`` that did not hold before; never raises.

        The reasons that hold now are recorded in the session's directory before anything is sent;
        if that fails, nothing is sent. A problem that has stalled the session counts only after it
        has lasted for a while. Messages are sent in threads of their own: this does not wait for
        them.
        """
        told = self._read_record() if self._told is None else self._told
        if all(each.key != TROUBLE for each in seen.notices):
            self._trouble_since = None
        notices = [each for each in seen.notices if each.key in told or self._lasts(each)]
        held = frozenset(each.key for each in notices) | (told & seen.unclear)
        new = [each for each in notices if each.key not in told]
        if held == told:
            self._told = told
            return
        if not self._record(held):
            return
        for on in Occasion:
            about = [each for each in new if each.on is on]
            if about:
                self._notify(on, about)

    def tell_of_loss(self) -> None:
        """Notify the user that the session's directory is gone; does not record that it did."""
        self._notify(Occasion.FAILED, [Notice(key="lost", on=Occasion.FAILED)])

    def _lasts(self, notice: Notice) -> bool:
        """Whether to notify the user of this reason now: a problem must have lasted for a while."""
        if notice.key != TROUBLE:
            return True
        now = asyncio.get_running_loop().time()
        self._trouble_since = self._trouble_since or now
        return now - self._trouble_since >= _LASTING_S

    async def close(self) -> None:
        """Wait until the messages so far are on their way, but no longer than a moment."""
        if self._going:
            waits = [event.wait for event in self._going]
            done = in_daemon_thread(lambda: [wait(_CLOSE_S) for wait in waits])
            with suppress(TimeoutError):
                await asyncio.wait_for(done, _CLOSE_S)
        for task in self._tasks:
            task.cancel()

    def _read_record(self) -> frozenset[str]:
        data, _ = self._session.files.read_artifact(layout.NOTIFIED, _RECORD_MAX)
        with suppress(ValueError, AttributeError, TypeError, RecursionError):
            return frozenset(map(str, json.loads(data or b"{}").get("told", ())))
        return frozenset()

    def _record(self, held: frozenset[str]) -> bool:
        """Record which reasons the user was told; return whether that worked.

        If it did not, nothing may be sent.
        """
        try:
            self._session.files.write(layout.NOTIFIED, json.dumps({"told": sorted(held)}))
        except (AgentmuxError, OSError) as error:
            self._say_once(f"no notification is sent while it cannot be recorded: {error}")
            return False
        self._told = held
        return True

    def _notify(self, on: Occasion, about: Sequence[Notice]) -> None:
        addresses = self._world.settings.addresses(on)
        name = self._speaker.name
        if Address(BELL) in addresses:
            self._tools.display.ring()
        if set(addresses) - {Address(BELL)}:
            self._start(
                _Errand(
                    title=notice_title(name, about),
                    line=notice_line(name, about),
                    command=notice_command(name, on),
                    addresses=addresses,
                )
            )

    def _start(self, errand: _Errand) -> None:
        on_its_way = Event()
        self._going.add(on_its_way)
        sent = in_daemon_thread(lambda: self._send(errand, on_its_way))
        task = asyncio.get_running_loop().create_task(self._follow(sent, on_its_way))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _follow(
        self, sent: asyncio.Future[tuple[SendResult, ...]], on_its_way: Event
    ) -> None:
        try:
            self._report(await sent)
        finally:
            self._going.discard(on_its_way)

    def _send(self, errand: _Errand, on_its_way: Event) -> tuple[SendResult, ...]:
        """Send one message to all its addresses; runs in a thread of its own."""
        try:
            results: list[SendResult] = []
            if Address(TMUX) in errand.addresses:
                results.append(self._tell_clients(errand.line))
            others = [each for each in errand.addresses if each.value not in {BELL, TMUX}]
            if others:
                results += self._tools.notifier.send(
                    self._message(errand), others, handed_over=on_its_way.set
                )
            return tuple(results)
        finally:
            on_its_way.set()

    def _message(self, errand: _Errand) -> Notification:
        subject = self._session.state.subject
        body = notice_body(self._world.project.name, subject, errand.command)
        return Notification(title=f"AgentMux: {errand.title}", body=body)

    def _tell_clients(self, text: str) -> SendResult:
        with suppress(AgentmuxError, OSError):  # the loop reports a server that does not answer
            self._tools.terminal.tell_clients(text)
        return SendResult(address=Address(TMUX))

    def _report(self, sent: Iterable[SendResult]) -> None:
        """Show which address failed, but only once while it fails in the same way."""
        for each in sent:
            if each.problem:
                self._say_once(f"the notification to {each.address} failed: {each.problem}")
            else:
                known = f"the notification to {each.address} failed:"
                self._failed = {line for line in self._failed if not line.startswith(known)}

    def _say_once(self, text: str) -> None:
        if text not in self._failed:
            self._failed.add(text)
            self._speaker.say(f"warning: {text}")
