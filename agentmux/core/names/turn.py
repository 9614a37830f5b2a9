"""What the hooks of an agent have told of its turn."""

from __future__ import annotations

from enum import StrEnum


class Turn(StrEnum):
    """What is known of the turn that an agent is in, or was in last."""

    UNKNOWN = "unknown"
    BEGUN = "begun"
    ENDED = "ended"
    OF_USER = "of_user"
    """Its user began it by typing: they are talking, and the agent is asked no sooner for it."""
    LOOKS_ENDED = "looks_ended"
    """The screen says so: it showed work before, and now only waits for input."""
