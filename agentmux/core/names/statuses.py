"""The statuses of sessions, seats, research, reviews and commits, as files and JSON have them."""

from __future__ import annotations

from typing import Final

# Statuses of research, a review, a check or a commit.
DISPATCHED: Final = "dispatched"
RESEARCHED: Final = "done"
CAPPED: Final = "capped"
PASSED: Final = "passed"
BROKEN: Final = "broken"
"""The outcome of a check's command that could not run, and so says nothing about the code."""
COMMITTING: Final = "committing"
DELAYED: Final = "delayed"
"""The status of a commit that waits until an obstacle is gone, and is then tried again."""

# The ways to deliver an approved result.
KEEP: Final = "keep"
MERGE: Final = "merge"
PUSH: Final = "push"
PR: Final = "pr"
DELIVERY_WAYS: Final = (KEEP, MERGE, PUSH, PR)

REQUEST: Final = "request"
"""The last step of a delivery by `PR`: opening the pull request."""

# Statuses of a seat, in the state.
LAUNCHED: Final = "launched"
STOPPED: Final = "stopped"
CRASHED: Final = "crashed"
REJECTED: Final = "rejected"
CLAIM_TAKEN: Final = "claim_taken"
FINISHED: Final = "finished"
ENDED_BY_USER: Final = "ended_by_user"
ENDED_STATUSES: Final = frozenset({FINISHED, ENDED_BY_USER})
"""The statuses of seats whose agents have ended; they start again only if the user asks."""

TIMED_OUT: Final = "timed_out"
"""The status of a seat whose command was ended because it exceeded its time limit."""

# Statuses of a seat, read from its screen and its hooks.
STARTING: Final = "starting"
SETTING_UP: Final = "setting_up"
CHECKING: Final = "checking"
BUSY: Final = "busy"
IDLE: Final = "idle"
WAITING: Final = "waiting_for_user"
LIMIT: Final = "usage_limit"
STALLED: Final = "stalled"
UNKNOWN: Final = "unknown"

# Statuses of a seat without an agent, which are the modes of its launch.
SHELL: Final = "shell"
SCREEN: Final = "screen"
PERSON_MODES: Final = frozenset({SHELL, SCREEN})
"""The modes of launches that start no agent: the user plays the role, or sees the last screen."""

PARKED: Final = "parked"
"""The status of a seat that waits for the end of its usage limit."""

# Statuses of a session that do not come from its seats.
DECISION: Final = "decision"
"""The status of a session whose user has to approve or request changes."""
RUNNING: Final = "running"
INTERRUPTED: Final = "interrupted"
FAILED: Final = "failed"
DONE: Final = "done"
MOVED: Final = "moved"
"""The status of a session that was exported, and continues where its file is imported."""
UNREADABLE: Final = "unreadable"
