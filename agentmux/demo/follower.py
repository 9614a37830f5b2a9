"""Follows the journal of a running session: reads new events, and waits for a condition."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import Final

from agentmux.adapters.disk.session.session_files import FileSession
from agentmux.adapters.disk.session.signal_files import BLANK
from agentmux.adapters.wake import file_changes
from agentmux.core.codec.frozen import dataclass
from agentmux.core.fold.apply import advance
from agentmux.core.journal import events
from agentmux.core.journal.events import Event
from agentmux.core.journal.state import SessionState
from agentmux.core.names.conversations import which_conversation
from agentmux.core.names.phase import Phase
from agentmux.errors import AgentmuxError, TimedOutError

_LOOK_S: Final = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class JournalStep:
    """One event of a journal, with the state of the session before and after the event.

    Attributes:
        event: The event.
        before: The state before the event.
        after: The state after the event.
        accepted: False if the event is a signal or decision that was ignored; else True.
    """

    event: Event
    before: SessionState
    after: SessionState
    accepted: bool

    @property
    def at(self) -> float:
        """When the event happened, in seconds of Unix time."""
        return datetime.fromisoformat(self.event.at).timestamp()


class Follower:
    """Reads a session's journal when asked, and passes each new event to a callback.

    It never writes to the session.

    Attributes:
        path: The session's directory.
        steps: All events that were read so far, in order.
        state: The session's state after these events.
    """

    def __init__(self, path: Path, tell: Callable[[JournalStep], None]) -> None:
        """Prepare to follow a session. Nothing is read yet.

        Args:
            path: The session's directory.
            tell: A function that is called with each new event, in order.
        """
        self.path = path
        self.steps: list[JournalStep] = []
        self.state = BLANK
        self._files = FileSession(path)
        self._tell = tell

    def look(self) -> None:
        """Read the events that were appended since the last call, and pass each to the callback.

        It does not wait for events.
        """
        for event, offset in self._files.tail(self.state.applied_offset):
            before, self.state = self.state, advance(self.state, event, offset)
            known = event.fact.kind not in events.SIGNALS | events.USER_DECISIONS
            accepted = known or self.state.signals != before.signals
            step = JournalStep(event=event, before=before, after=self.state, accepted=accepted)
            self.steps.append(step)
            self._tell(step)

    def wait_for(self, condition: Callable[[], bool], what: str, *, deadline_s: float) -> None:
        """Read events until ``condition`` is true.

        Args:
            condition: A function that is called at once, and after each change in the session's
                directory.
            what: Describes the condition in error messages.
            deadline_s: How many seconds to wait at most.

        Raises:
            TimedOutError: The condition did not become true in time.
            AgentmuxError: The session failed.
        """
        deadline = time.monotonic() + deadline_s
        with closing(file_changes.follow(self.path, _LOOK_S)) as changes:
            while True:
                self.look()
                if condition():
                    return
                self._check_alive(what)
                if time.monotonic() > deadline:
                    raise TimedOutError(f"{what}: did not happen within {deadline_s:g} s")
                next(changes)

    def _check_alive(self, what: str) -> None:
        if self.state.phase == Phase.FAILED and self.state.interruption is not None:
            raise AgentmuxError(f"{what}: the session failed: {self.state.interruption.cause}")


def describe(step: JournalStep) -> str | None:
    """Return a description of an event for the user; None if the user need not know about it."""
    fact = step.event.fact
    match fact:
        case events.AgentLaunched():
            return f"launched, {which_conversation(fact.mode)}"
        case events.AgentExited():
            return f"ended: {fact.cause}"
        case events.SessionStarted():
            return "the session started"
        case events.Resumed():
            return f"resumed in {fact.phase}"
        case events.Approved():
            return "approved the result"
        case events.CommitMade():
            return f"commit {(fact.commit or 'none')[:10]}"
        case events.SessionFailed() | events.SessionInterrupted():
            return fact.cause
        case _:
            return _describe_signal(step)


def _describe_signal(step: JournalStep) -> str | None:
    fact = step.event.fact
    if fact.kind not in events.SIGNALS:
        return None
    artifact = fact.kind.removeprefix("submit_").replace("_", " ")
    if isinstance(fact, events.ReviewDone):
        artifact = f"review: {fact.verdict}"
    return f"handed in {artifact}" if step.accepted else f"handed in {artifact}, too late to count"
