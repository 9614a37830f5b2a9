"""Texts that people outside wrote, such as issues: made safe to show and to quote. Pure."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from typing import Final

TITLE_MAX: Final = 256
"""How many characters of a title are kept; forges allow no more."""
TEXT_MAX: Final = 200_000
"""How many characters of an issue with its comments are kept."""
CUT: Final = "[The rest was cut off.]"

_LINE_ENDS: Final = re.compile("\r\n?|[\v\f\x1c-\x1e\x85\u2028\u2029]")
# Joiners in words of several scripts and in emoji, and what chooses an emoji's look.
_JOINERS: Final = frozenset("\u200c\u200d")


def strip_invisible(text: str) -> str:
    """Return ``text`` with only line feeds as the ends of lines, and without what cannot be seen.

    Control characters (but tabs), marks that change the direction of text, invisible letters
    (Unicode's tags) and bytes that are not UTF-8 are left out. So each line of the result is a line
    for every program that reads it.
    """
    lines = _LINE_ENDS.sub("\n", text)
    if lines.isascii() and lines.replace("\n", "").isprintable():
        return lines
    return "".join(char for char in lines if _is_visible(char))


def _is_visible(char: str) -> bool:
    if char in "\n\t" or char in _JOINERS:
        return True
    return unicodedata.category(char) not in {"Cc", "Cf", "Cs", "Co", "Cn"}


def title_line(title: str) -> str:
    """Return a title on one line; empty if nothing of it can be seen."""
    return " ".join(strip_invisible(title).split())[:TITLE_MAX].strip()


def issue_text(title: str, body: str, comments: Iterable[tuple[str, str]] = ()) -> str:
    """Return an issue as one text: the title, the body, and the comments with their authors.

    Args:
        title: From `title_line`.
        body: As the forge has it.
        comments: Author and text of each.
    """
    texts = (f"{author} commented:\n\n{strip_invisible(text).strip()}" for author, text in comments)
    parts = (title, strip_invisible(body).strip(), *texts)
    text = "\n\n".join(part for part in parts if part)
    return text if len(text) <= TEXT_MAX else f"{text[:TEXT_MAX]}\n\n{CUT}"
