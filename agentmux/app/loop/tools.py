"""What an orchestrator's loop stands on, handed to it by the face that starts it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from pathlib import Path

from agentmux.core.codec.frozen import dataclass
from agentmux.errors import AgentmuxError
from agentmux.ports.display import Display
from agentmux.ports.processes import Lock, ProcessWatch, WakePipe
from agentmux.ports.terminal import OwnSession, Typist


@dataclass(frozen=True, slots=True, kw_only=True)
class Tools:
    """The live parts of the outside world.

    Attributes:
        terminal: The tmux session in which all of it happens.
        end: Ends processes (pid and start time each), the obstinate ones by force.
        hints: Yields when something changed below the session, until the event is set.
        gone: Returns once there is nothing at a path any more.
        index_wait_s: How long a commit waits for git's index before the user is told.
    """

    terminal: OwnSession
    lock: Lock
    wake: WakePipe
    deaths: ProcessWatch
    type_into: Typist
    end: Callable[[Sequence[tuple[int, int]]], object]
    display: Display
    hints: Callable[[asyncio.Event], AsyncIterator[None]]
    gone: Callable[[Path], Awaitable[None]]
    index_wait_s: float = 30.0


class SessionGoneError(AgentmuxError):
    """The tmux session, or its server, is not there any more."""
