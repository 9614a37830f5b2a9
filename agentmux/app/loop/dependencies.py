"""What an orchestrator's loop needs of the outside world; the caller passes it in."""

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

    Attributes:
        terminal: The tmux session of the orchestrator and its agents.
        end: Ends processes (pid and start time each), by force if they do not end otherwise.
        end_lost_work: Takes id and directory of a session that this process drives. Ends the
            programs that an orchestrator before it left at work when it was killed, such as a
            commit that waits for its signer; returns them as words.
        hints: Yields when something changed in the session's directory, until the given event is
            set.
        gone: Returns once nothing exists at a path any more.
        index_wait_s: How long a commit waits for git's index before the user is told.
        notifier: Sends notifications to addresses outside of tmux.
        past: What the monitor said of the session before, oldest first.
        approver: Takes the id of an approval; returns, once, the environment that the approving
            command has left, or None.
        require_lease: Raises `LeaseLapsedError` if the session must not act now.
        require_installed: Takes the name of the session, for commands. Raises
            `InstallationGoneError` if this process could not start what it needs any more.
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
    """The tmux session, or its server, is gone."""
