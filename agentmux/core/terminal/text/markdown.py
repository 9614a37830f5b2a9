"""Renders Markdown as plain text for a terminal. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

_HEADING: Final = re.compile(r"#{1,6}\s+(.*?)\s*#*$")
_BULLET: Final = re.compile(r"(\s*)[-*+]\s+(.*)")
_LINK: Final = re.compile(r"!?\[([^\]]*)\]\(([^)\s]+)[^)]*\)")
_STRONG: Final = re.compile(r"\*\*(?=\S)(.+?)(?<=\S)\*\*")
_FENCE: Final = re.compile(r"\s*(```|~~~)")


def render_markdown(text: str) -> Iterator[str]:
    """Yield the lines of a Markdown text as plain text.

    A heading ends in a colon, a bullet is ``•``, and a link becomes its text and its address. Code
    blocks are indented. Several empty lines become one, in code blocks, too.
    """
    in_code, blank = False, True
    for line in text.strip().splitlines():
        if _FENCE.match(line):
            in_code = not in_code
            continue
        shown = f"    {line}" if in_code else _line(line)
        if shown.strip() or not blank:
            yield shown.rstrip()
        blank = not shown.strip()


def _line(line: str) -> str:
    heading = _HEADING.fullmatch(line)
    if heading:
        title = _inline(heading[1])
        return title if title.endswith((":", "?", "!")) else f"{title}:"
    bullet = _BULLET.fullmatch(line)
    return f"{bullet[1]}• {_inline(bullet[2])}" if bullet else _inline(line)


def _inline(text: str) -> str:
    linked = _LINK.sub(lambda found: _link(found[1], found[2]), text)
    return _STRONG.sub(r"\1", linked)


def _link(text: str, address: str) -> str:
    return address if text in {"", address} else f"{text} ({address})"
