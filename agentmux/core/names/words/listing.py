"""Several names in one sentence."""

from __future__ import annotations

from collections.abc import Sequence


def join_names(names: Sequence[str]) -> str:
    """Return names as people list them: ``a, b and c``; empty for none."""
    *others, last = names or ("",)
    return f"{', '.join(others)} and {last}" if others else last
