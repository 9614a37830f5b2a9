"""Why the orchestrator of a session ended, in the words that the journal and messages use."""

from typing import Final

LOST: Final = "its directory was deleted"
"""Somebody deleted the session's directory while the orchestrator ran."""

STOPPED_BY_USER: Final = "stopped by the user"
