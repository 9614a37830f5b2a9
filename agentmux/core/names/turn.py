"""The states of an agent's turn, the work that it does after one message."""

from __future__ import annotations

from enum import StrEnum


class Turn(StrEnum):
    """The state of an agent's current or last turn, read from its hooks and its screen.

    The members' values are ``unknown`` (nothing is known about the turn), ``begun`` (the agent
    works), ``ended`` (the agent has ended its turn), ``of_user`` (the user began the turn, which
    may have ended since) and ``looks_ended`` (the screen shows an idle agent that worked before).
    """

    UNKNOWN = "unknown"
    BEGUN = "begun"
    ENDED = "ended"
    OF_USER = "of_user"
    """The user began the turn by typing.

    The end of the turn does not change this value, because the user may continue talking with the
    agent, and an early reminder, as after `ENDED`, would disturb that.
    """
    LOOKS_ENDED = "looks_ended"
    """The turn seems to be over: the screen showed work before, and now shows an idle agent."""
