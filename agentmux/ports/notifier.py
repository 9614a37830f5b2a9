"""Sends notifications to addresses outside of tmux."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from agentmux.core.codec.frozen import dataclass
from agentmux.core.config.settings import Address


@dataclass(frozen=True, slots=True, kw_only=True)
class Notification:
    """The text of a notification: a title on one line, and a body of a few lines."""

    title: str
    body: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SendResult:
    """What happened to a message at one address.

    Attributes:
        problem: Why it was not sent, without anything secret; empty if it was.
    """

    address: Address
    problem: str = ""


class Notifier(Protocol):
    """Sends messages."""

    def send(
        self,
        message: Notification,
        addresses: Sequence[Address],
        handed_over: Callable[[], None] = lambda: None,
    ) -> tuple[SendResult, ...]:
        """Send ``message`` to each address, and wait for the results; never raises.

        It returns within a time limit, whatever the addresses do.

        Args:
            message: What to send.
            addresses: ``desktop`` and URLs.
            handed_over: Called as soon as the message will be sent even if this process ends.
        """
