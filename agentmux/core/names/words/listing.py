"""Lists several names in a sentence."""

from __future__ import annotations

from collections.abc import Sequence


def join_names(names: Sequence[str]) -> str:
    """Return the names as a list in a sentence, such as ``a, b and c``; empty without names."""
    *others, last = names or ("",)
    return f"{', '.join(others)} and {last}" if others else last
