"""The names of the states of an agent's turn: not begun, under way, ended."""

from __future__ import annotations

from enum import StrEnum


class Turn(StrEnum):
    """What is known of an agent's current or last turn."""

    UNKNOWN = "unknown"
    BEGUN = "begun"
    ENDED = "ended"
    OF_USER = "of_user"
    """The user began it by typing: they talk with the agent, so it is not reminded earlier."""
    LOOKS_ENDED = "looks_ended"
    """By the screen it is over: the screen showed work before, and now waits for input."""
