"""Reads a text from a file or from standard input."""

from __future__ import annotations

import sys
from pathlib import Path

from agentmux.errors import UsageError, reason_of


def given_text(path: Path | None, limit: int) -> str:
    """Return the first ``limit`` bytes of a file as text; of standard input if ``path`` is None.

    The text is decoded as UTF-8, whatever the locale; other bytes become replacement characters.

    Raises:
        UsageError: The text cannot be read.
    """
    try:
        if path is None:
            data = sys.stdin.buffer.read(limit)
        else:
            with path.open("rb") as stream:
                data = stream.read(limit)
    except (OSError, ValueError) as error:  # ValueError: a zero byte in the name
        place = "standard input" if path is None else f"`{path}`"
        reason = reason_of(error) if isinstance(error, OSError) else str(error).lower()
        raise UsageError(f"cannot read {place}: {reason}") from None
    return data.decode("utf-8", "replace")
