"""Notifications that are sent to addresses outside of tmux."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from agentmux.core.codec.frozen import dataclass
from agentmux.core.config.settings import Address


@dataclass(frozen=True, slots=True, kw_only=True)
class Notification:
    """The text of a notification: a title of one line, and a body of a few lines."""

    title: str
    body: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SendResult:
    """The result of sending a notification to one address.

    Attributes:
        address: Where the notification was to be sent.
        problem: Why it was not sent, without secrets; empty if it was sent.
    """

    address: Address
    problem: str = ""


class Notifier(Protocol):
    """Sends notifications to the addresses that the user has configured."""

    def send(
        self,
        message: Notification,
        addresses: Sequence[Address],
        handed_over: Callable[[], None] = lambda: None,
    ) -> tuple[SendResult, ...]:
        """Send ``message`` to each address, and return the results in this order; never raises.

        The call waits until the message is sent everywhere. If an address does not respond, the
        call ends after a time limit.

        Args:
            message: The notification to send.
            addresses: Where to send it: ``desktop``, or URLs.
            handed_over: Called as soon as a separate process has taken over the sending, so that
                the message is sent even if this process ends. It is called again at the end, even
                if sending failed.
        """
