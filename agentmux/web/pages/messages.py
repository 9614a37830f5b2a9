"""Keeps the results of commands, for the pages that show them after a form was sent."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Final

from agentmux.core.codec.frozen import dataclass

_KEPT: Final = 200
DONE: Final = "Done"
"""The word above a message about something that is over."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandMessage:
    """The result of a command, as shown to the user.

    Attributes:
        is_ok: Whether the command succeeded, or is under way.
        is_late: Whether it is still under way.
        words: The message.
        hints: Commands or advice on what to do next; may be empty.
        done: The word above the message of a success: what the button did, such as ``Sent``. Only
            what is over at once is ``Done``.
    """

    is_ok: bool
    words: str
    hints: tuple[str, ...] = ()
    is_late: bool = False
    done: str = DONE

    @property
    def heading(self) -> str:
        """The word above the message."""
        return "Under way" if self.is_late else self.done if self.is_ok else "Not done"


class Messages:
    """Keeps the newest 200 messages in memory, each with an id that cannot be guessed."""

    def __init__(self, secret: Callable[[], str]) -> None:
        self._secret = secret
        self._held: OrderedDict[str, CommandMessage] = OrderedDict()

    def put(self, message: CommandMessage) -> str:
        """Store a message, and return its id for `get`; drop the oldest message beyond 200."""
        message_id = self._secret()
        self._held[message_id] = message
        while len(self._held) > _KEPT:
            self._held.popitem(last=False)
        return message_id

    def get(self, name: str) -> CommandMessage | None:
        """Return the message with the id ``name``; None if it is unknown or no longer kept."""
        return self._held.get(name)
