"""The tabs of the desk, whose keys are 1, 2, and so on; `key_table` has all keys."""

from __future__ import annotations

from typing import Final

TABS: Final = ("overview", "screens", "documents", "diff", "why", "journal")
"""The names of the tabs on the right, in order."""
