"""The line by which commits of a session are known again."""

from __future__ import annotations

from typing import Final

TRAILER: Final = "Agentmux-Event"
"""Its key; its value is the id of the approval under which the commit was made."""
