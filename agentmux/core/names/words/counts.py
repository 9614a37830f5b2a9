"""Formats a number of things in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

_NAMED: Final = 5


def format_count(count: int, one: str, many: str = "") -> str:
    """Return a count with its noun, such as ``1 file`` or ``4 files``.

    Args:
        count: How many there are.
        one: The singular of the noun.
        many: The plural; empty means ``one`` with an s.
    """
    return f"1 {one}" if count == 1 else f"{count} {many or f'{one}s'}"


def abbreviate_names(names: Sequence[str]) -> str:
    """Return at most five of the names, separated by commas; the rest as ``, and 3 more``.

    Empty without names.
    """
    more = f", and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more
