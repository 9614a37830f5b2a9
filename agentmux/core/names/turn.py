"""The names of the states of an agent's turn: unknown, under way, ended."""

from __future__ import annotations

from enum import StrEnum


class Turn(StrEnum):
    """The state of an agent's current or last turn, by its hooks and its screen."""

    UNKNOWN = "unknown"
    BEGUN = "begun"
    ENDED = "ended"
    OF_USER = "of_user"
    """The user began the turn by typing.

    The end of the turn does not change this value, since the user may go on talking with the agent:
    an early reminder, as after `ENDED`, would disturb that.
    """
    LOOKS_ENDED = "looks_ended"
    """The turn seems over: the screen showed work before, and now the agent waits for input."""
