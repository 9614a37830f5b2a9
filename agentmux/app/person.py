"""The person who runs a command, as its operation sees them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentmux.core.codec.frozen import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable

    from agentmux.app.world import World


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """Who runs a command: an operation tells them what it is about to do, and asks first.

    Attributes:
        is_there: Whether they can be asked, as at a terminal.
        has_agreed: Whether they have agreed to everything beforehand.
        note: Tells them something beside the answer of the command.
        agree: Returns when they have agreed to a question, or beforehand. Raises `UsageError` if
            nobody can be asked, and `DeclinedError` after a no.
        trust: Takes the world and the `Effect` of the command. Returns the world in which what it
            needs of the project's files is trusted, after asking them about the rest. Raises
            `NotTrustedError` if nobody can be asked, and `DeclinedError` after a no.
    """

    is_there: bool
    has_agreed: bool
    note: Callable[[str], object]
    agree: Callable[[str], object]
    trust: Callable[[World, Callable[[World], object]], World]

    @property
    def is_asked(self) -> bool:
        """Whether they are to be asked: they can be, and have not agreed beforehand."""
        return self.is_there and not self.has_agreed
