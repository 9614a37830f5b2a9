"""The statuses of sessions, seats, researches, reviews and commits, as files and JSON have them."""

from __future__ import annotations

from typing import Final

# Of a research, a review, and a commit.
DISPATCHED: Final = "dispatched"
RESEARCHED: Final = "done"
CAPPED: Final = "capped"
PASSED: Final = "passed"
DELAYED: Final = "delayed"
"""How a commit stands that is made by itself when something is out of its way."""

# How a seat stands in the state.
LAUNCHED: Final = "launched"
STOPPED: Final = "stopped"
CRASHED: Final = "crashed"
REJECTED: Final = "rejected"
CLAIM_TAKEN: Final = "claim_taken"
FINISHED: Final = "finished"
ENDED_BY_USER: Final = "ended_by_user"
LEFT: Final = frozenset({FINISHED, ENDED_BY_USER})
"""How seats stand whose agents are not brought back, unless somebody asks for it."""

# What a seat is seen to do.
STARTING: Final = "starting"
BUSY: Final = "busy"
IDLE: Final = "idle"
WAITING: Final = "waiting_for_user"
LIMIT: Final = "usage_limit"
STALLED: Final = "stalled"
UNKNOWN: Final = "unknown"

# How a session is, where no seat says so.
RUNNING: Final = "running"
INTERRUPTED: Final = "interrupted"
FAILED: Final = "failed"
DONE: Final = "done"
UNREADABLE: Final = "unreadable"
