"""The occasions on which a session calls for a person, as in the setting ``notify``."""

from __future__ import annotations

from enum import StrEnum


class Occasion(StrEnum):
    """Why a person is notified.

    ``decision``: the user has to approve the result or to request changes.
    ``question``: an agent asks something, or left without handing in its work.
    ``stalled``: an agent stays quiet, or a problem stops the session.
    ``failed``: the session gave up.
    ``parked``: an agent waits for the end of a usage limit.
    ``done``: the session is done.
    """

    DECISION = "decision"
    QUESTION = "question"
    STALLED = "stalled"
    FAILED = "failed"
    PARKED = "parked"
    DONE = "done"
