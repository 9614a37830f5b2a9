"""What commands said, until the browser that sent the form has shown it."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Final

from agentmux.core.codec.frozen import dataclass

_KEPT: Final = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandMessage:
    """What a command said.

    Attributes:
        is_ok: Whether it did what it was asked for.
        hints: What can be done.
    """

    is_ok: bool
    words: str
    hints: tuple[str, ...] = ()


class Messages:
    """The newest messages, each with an address that cannot be guessed."""

    def __init__(self, secret: Callable[[], str]) -> None:
        self._secret = secret
        self._held: OrderedDict[str, CommandMessage] = OrderedDict()

    def put(self, message: CommandMessage) -> str:
        """Keep a message; return the id by which `get` finds it."""
        message_id = self._secret()
        self._held[message_id] = message
        while len(self._held) > _KEPT:
            self._held.popitem(last=False)
        return message_id

    def get(self, name: str) -> CommandMessage | None:
        """Return the message with this id; None if there is none."""
        return self._held.get(name)
