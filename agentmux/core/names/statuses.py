"""The statuses of sessions, seats, research, reviews and commits, as in files and JSON."""

from __future__ import annotations

from typing import Final

# Of research, a review or a commit.
DISPATCHED: Final = "dispatched"
RESEARCHED: Final = "done"
CAPPED: Final = "capped"
PASSED: Final = "passed"
BROKEN: Final = "broken"
"""The outcome of a command of a check that could not run, and so says nothing of the code."""
COMMITTING: Final = "committing"
DELAYED: Final = "delayed"
"""The status of a commit that an obstacle prevents; it is tried again when the obstacle is gone."""

# Where an approved result goes.
KEEP: Final = "keep"
MERGE: Final = "merge"
PUSH: Final = "push"
PR: Final = "pr"
WAYS: Final = (KEEP, MERGE, PUSH, PR)

REQUEST: Final = "request"
"""The last step of the way `PR`."""

# Of a seat, in the state.
LAUNCHED: Final = "launched"
STOPPED: Final = "stopped"
CRASHED: Final = "crashed"
REJECTED: Final = "rejected"
CLAIM_TAKEN: Final = "claim_taken"
FINISHED: Final = "finished"
ENDED_BY_USER: Final = "ended_by_user"
LEFT: Final = frozenset({FINISHED, ENDED_BY_USER})
"""The statuses of seats whose agents have left; such an agent comes back if the user asks."""

TIMED_OUT: Final = "timed_out"
"""The status of a seat whose command was ended because it took longer than it may."""

# Of a seat, by what its screen and its hooks show.
STARTING: Final = "starting"
SETTING_UP: Final = "setting_up"
CHECKING: Final = "checking"
BUSY: Final = "busy"
IDLE: Final = "idle"
WAITING: Final = "waiting_for_user"
LIMIT: Final = "usage_limit"
STALLED: Final = "stalled"
UNKNOWN: Final = "unknown"

# Of a seat without an agent, by the mode of its launch, which has the same name.
SHELL: Final = "shell"
SCREEN: Final = "screen"
PERSON_MODES: Final = frozenset({SHELL, SCREEN})
"""The modes of launches that leave a role to a person: with a shell, or with the last screen."""

PARKED: Final = "parked"
"""The status of a seat that is left alone until its usage limit ends."""

# Of a session, where none of its seats decides it.
DECISION: Final = "decision"
"""The status of a session whose user has to approve or to request changes."""
RUNNING: Final = "running"
INTERRUPTED: Final = "interrupted"
FAILED: Final = "failed"
DONE: Final = "done"
MOVED: Final = "moved"
"""The status of a session that was exported: it goes on where its file is imported."""
UNREADABLE: Final = "unreadable"
