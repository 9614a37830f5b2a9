"""What an ``architecture.md`` has to be to count: one rule for what is handed in and found."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from agentmux.core.documents.review import DEFAULT_NOMINATIONS, check_nominations
from agentmux.core.pipeline.completion import ARCHITECTURE

FrontMatter = Callable[[str], tuple[Mapping[str, object], tuple[str, ...]]]
"""Returns the mapping at the head of a text, and its problems."""


def check_architecture(
    data: bytes, front_matter: FrontMatter
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the reviewers that ``data`` nominates (see `check_nominations`), and every problem."""
    if not data.strip():
        return DEFAULT_NOMINATIONS, (f"{ARCHITECTURE}: empty",)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        return DEFAULT_NOMINATIONS, (f"{ARCHITECTURE}: byte {error.start} is not UTF-8",)
    head, problems = front_matter(text)
    return check_nominations(head.get("reviewers")) if not problems else ((), problems)
