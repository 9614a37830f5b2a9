"""Reads a text from a file or from standard input."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import Final

from agentmux.errors import UsageError, reason_of

_ENDING: Final = re.compile(r"\.[A-Za-z0-9]{1,5}$")


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


def given_words(words: str, limit: int) -> str:
    """Return ``words``, or for ``@PATH`` the first ``limit`` bytes of that file.

    Several words that begin with ``@someone`` are a text, unless there is such a file, or they end
    as the name of one.

    Raises:
        UsageError: The file cannot be read.
    """
    path = words.removeprefix("@")
    is_text = path == words or not path[:1].strip() or "\0" in path
    if is_text or (len(path.split()) > 1 and not (os.path.lexists(path) or _ENDING.search(path))):
        return words
    try:
        return given_text(Path(path), limit)
    except UsageError as error:
        hints = ("if it is a text, type a space before the `@`",)
        raise UsageError(error.message, hints=hints) from None
