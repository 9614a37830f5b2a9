"""The trailer by which AgentMux recognises the commits that it made for a session."""

from __future__ import annotations

from typing import Final

TRAILER: Final = "Agentmux-Event"
"""The key of the trailer; its value is the id of the approval for which the commit was made."""
