"""The names of the states of an agent's turn: unknown, under way, ended."""

from __future__ import annotations

from enum import StrEnum


class Turn(StrEnum):
    """The state of an agent's current or last turn, by its hooks and its screen."""

    UNKNOWN = "unknown"
    BEGUN = "begun"
    ENDED = "ended"
    OF_USER = "of_user"
    """The user began the turn by typing. They talk with the agent, so no reminder comes early."""
    LOOKS_ENDED = "looks_ended"
    """The turn seems over: the screen showed work before, and now the agent waits for input."""
