"""The parts of the outside world that only an orchestrator's loop needs; the caller passes them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from pathlib import Path

from agentmux.core.codec.frozen import dataclass
from agentmux.errors import AgentmuxError
from agentmux.ports.notifier import Notifier
from agentmux.ports.processes import Lock, ProcessWatch, WakePipe
from agentmux.ports.tmux.display import Display, MonitorMessage
from agentmux.ports.tmux.terminal import KeySender, OwnSession, TextSender


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopDependencies:
    """The parts of the outside world that only the loop needs.

    The functions that have a default do nothing by default.

    Attributes:
        terminal: The tmux session of the orchestrator and its agents.
        lock: The session's lock.
        wake: The pipe through which other processes wake the loop.
        deaths: Calls a given function when a given process ends.
        type_into: Types a text into an agent's pane, and checks that the agent accepted it.
        press: Presses keys in a pane if its screen is still the one that the user saw.
        end: Ends the given processes (pid and start time each), by force if necessary.
        display: Draws the monitor, and reads its keys.
        hints: Yields each time something changes in the session's directory, until the given event
            is set.
        gone: Returns once nothing exists at the path any more.
        notifier: Sends notifications to addresses outside of tmux.
        index_wait_s: How long a commit waits for git's index before the user is told, in seconds.
        past: The messages that the monitor showed before, oldest first.
        approver: Takes the id of an approval. Returns the environment that the approving command
            left, or None; only the first call for an approval returns it.
        require_lease: Raises `LeaseLapsedError` if the session must not act now.
        require_installed: Takes the name of the session, for commands in hints. Raises
            `InstallationGoneError` if the installation that this process needs was removed.
        end_lost_work: Takes the id and the directory of a session that this process drives. Ends
            the programs that a killed orchestrator left running, such as a commit that waits for
            its signer. Returns their description in words; empty if there were none.
    """

    terminal: OwnSession
    lock: Lock
    wake: WakePipe
    deaths: ProcessWatch
    type_into: TextSender
    press: KeySender
    end: Callable[[Sequence[tuple[int, int]]], object]
    display: Display
    hints: Callable[[asyncio.Event], AsyncIterator[None]]
    gone: Callable[[Path], Awaitable[None]]
    notifier: Notifier
    index_wait_s: float = 30.0
    past: tuple[MonitorMessage, ...] = ()
    approver: Callable[[str], Mapping[str, str] | None] = lambda _: None
    require_lease: Callable[[], None] = lambda: None
    require_installed: Callable[[str], None] = lambda _: None
    end_lost_work: Callable[[str, Path], str] = lambda *_: ""


class SessionGoneError(AgentmuxError):
    """The tmux session, or its server, no longer exists."""
