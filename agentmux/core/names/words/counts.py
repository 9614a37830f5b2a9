"""A number of things in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

_NAMED: Final = 5


def format_count(count: int, one: str, many: str = "") -> str:
    """Return a count with its noun: ``1 file``, ``4 files``.

    Args:
        count: How many there are.
        one: The words for one of them.
        many: The words for several; empty: ``one`` with an s.
    """
    return f"1 {one}" if count == 1 else f"{count} {many or f'{one}s'}"


def some(names: Sequence[str]) -> str:
    """Return the first five of the names, and how many more there are."""
    more = f", and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more
