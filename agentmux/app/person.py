"""The person who runs a command, as the operation behind the command sees them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentmux.core.codec.frozen import dataclass
from agentmux.errors import DeclinedError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from agentmux.app.world import World


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """The person who runs a command: operations tell them what is about to happen, and ask first.

    Attributes:
        is_there: Whether the person can be asked questions, as at a terminal.
        has_agreed: Whether the person agreed to everything beforehand (``--yes``).
        note: Shows the person a message that is not part of the command's answer.
        consents: Asks a question, and returns whether the answer is yes; for a person who is there.
        trust: Takes the world and the `Effect` of the command. Asks the person to trust the parts
            of the project's files that the command needs and that are not trusted yet, and returns
            the world in which these parts are trusted. Raises `NotTrustedError` if nobody can be
            asked, and `DeclinedError` if the answer is no.
    """

    is_there: bool
    has_agreed: bool
    note: Callable[[str], object]
    consents: Callable[[str], bool]
    trust: Callable[[World, Callable[[World], object]], World]

    @property
    def is_asked(self) -> bool:
        """Whether to ask the person: they can be asked, and have not agreed beforehand."""
        return self.is_there and not self.has_agreed

    def agree(self, question: str) -> None:
        """Ask the person the question whether to go on, unless they have agreed beforehand.

        Raises:
            UsageError: Nobody can be asked.
            DeclinedError: The person said no.
        """
        if not (self.is_there or self.has_agreed):
            raise UsageError(
                f"cannot ask without a terminal: {question}",
                hints=("to agree beforehand, add --yes",),
            )
        if self.is_asked and not self.consents(question):
            raise DeclinedError
