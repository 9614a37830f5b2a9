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
    """Read at most ``limit`` bytes of a file, or of standard input, and return them as text.

    The bytes are decoded as UTF-8, whatever the locale; invalid ones become replacement characters.

    Args:
        path: The file; None for standard input.
        limit: The most bytes to read; the rest is ignored.

    Raises:
        UsageError: The file or standard input cannot be read.
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
    """Return a text from the command line, or, for ``@PATH``, the content of that file.

    A text of several words that begins with ``@`` counts as a path only if such a file exists, or
    if the text ends with a file name extension.

    Args:
        words: The argument as typed, in one text.
        limit: The most bytes to read from the file; a text from the command line is not cut.

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
