"""A notifier that keeps what it is told to send."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from agentmux.core.config.settings import Address
from agentmux.ports.notifier import Notification, SendResult


class Postbox:
    """`agentmux.ports.notifier.Notifier` in memory.

    Attributes:
        sent: The messages and where each went.
        problem: What goes wrong with each message; empty for nothing.
        before: Called before a message is sent.
    """

    def __init__(self) -> None:
        self.sent: list[tuple[Notification, tuple[str, ...]]] = []
        self.problem = ""
        self.before: Callable[[], object] = lambda: None

    def send(
        self,
        message: Notification,
        addresses: Sequence[Address],
        handed_over: Callable[[], None] = lambda: None,
    ) -> tuple[SendResult, ...]:
        """Keep the message."""
        self.before()
        self.sent.append((message, tuple(each.value for each in addresses)))
        handed_over()
        return tuple(SendResult(address=address, problem=self.problem) for address in addresses)
