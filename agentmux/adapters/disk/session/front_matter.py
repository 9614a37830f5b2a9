"""Reads the front matter of an ``architecture.md``; the usual form needs no YAML parser."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

_PLAIN: Final = re.compile(r"---\nreviewers: \[([a-z_]+(?:, [a-z_]+)*)\]\n---\n")
_NO_TEXT: Final = frozenset({"null", "true", "false"})


def read_front_matter(text: str) -> tuple[Mapping[str, object], tuple[str, ...]]:
    """Return the front matter of a Markdown text as a mapping, and its problems as sentences.

    Front matter is YAML at the beginning of the text, between two lines ``---``. The mapping is
    empty if there is no front matter, or if there are problems. The problems are empty if there is
    no front matter, or if it is valid.
    """
    if not text.startswith(("---", "\ufeff---")):
        return {}, ()
    plain = _PLAIN.match(text)
    names = plain[1].split(", ") if plain is not None else []
    if names and not _NO_TEXT.intersection(names):
        return {"reviewers": names}, ()
    from agentmux.adapters.yaml.documents import front_matter

    head, _, problems = front_matter(text)
    return head, problems
