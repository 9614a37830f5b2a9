"""Make texts from outside, such as issues, safe to show and to quote. Pure."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from typing import Final

TITLE_MAX: Final = 256
"""The longest title, in characters; longer ones are cut. Forges allow no longer ones."""
TEXT_MAX: Final = 200_000
"""The longest issue with its comments, in characters; longer ones are cut."""
CUT: Final = "[The rest was cut off.]"
"""The text at the end of an issue that was cut."""

_LINE_ENDS: Final = re.compile("\r\n?|[\v\f\x1c-\x1e\x85\u2028\u2029]")
# Zero-width (non-)joiners, which words in several scripts and emoji need.
_JOINERS: Final = frozenset("\u200c\u200d")


def strip_invisible(text: str) -> str:
    """Return ``text`` without invisible characters and with line feeds as the only line ends.

    It removes control characters (except tabs), marks that change the direction of text, invisible
    letters (Unicode tags) and surrogates, which stand for bytes that are not UTF-8. Every program
    sees the same lines in the result.
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
    """Return ``title`` as one line without invisible characters, cut to `TITLE_MAX` characters.

    Empty if it contains only white space and invisible characters.
    """
    return " ".join(strip_invisible(title).split())[:TITLE_MAX].strip()


def issue_text(title: str, body: str, comments: Iterable[tuple[str, str]] = ()) -> str:
    """Return an issue as one text: the title, the body, and the comments with their authors.

    Invisible characters are removed. A text longer than `TEXT_MAX` is cut, and ends in `CUT`.

    Args:
        title: The title as `title_line` returns it.
        body: The body as the forge returns it; may be empty.
        comments: The author and the text of each comment, in order.
    """
    texts = (f"{author} commented:\n\n{strip_invisible(text).strip()}" for author, text in comments)
    parts = (title, strip_invisible(body).strip(), *texts)
    text = "\n\n".join(part for part in parts if part)
    return text if len(text) <= TEXT_MAX else f"{text[:TEXT_MAX]}\n\n{CUT}"
