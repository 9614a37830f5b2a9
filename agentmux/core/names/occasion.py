"""The occasions on which the user is notified, as in the setting ``notify``."""

from __future__ import annotations

from enum import StrEnum


class Occasion(StrEnum):
    """An occasion on which the user is notified.

    The members' values are:
    ``decision``: the user has to approve the result or request changes.
    ``question``: an agent asks something, or ended without handing in its work.
    ``stalled``: an agent stays idle, or a problem stops the session.
    ``failed``: the session has failed.
    ``parked``: an agent waits for the end of a usage limit.
    ``done``: the session is done.
    """

    DECISION = "decision"
    QUESTION = "question"
    STALLED = "stalled"
    FAILED = "failed"
    PARKED = "parked"
    DONE = "done"
