"""The rules for ``architecture.md``, for one that is submitted and for one found on disk."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from agentmux.core.documents.review import DEFAULT_NOMINATIONS, check_nominations
from agentmux.core.pipeline.artifacts import ARCHITECTURE

FrontMatter = Callable[[str], tuple[Mapping[str, object], tuple[str, ...]]]
"""A function that returns the front matter of a text as a mapping, and the problems in it."""


def check_architecture(
    data: bytes, front_matter: FrontMatter
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Check ``data``, the content of ``architecture.md``.

    ``front_matter`` reads the front matter of its text.

    Returns:
        The long names of the nominated reviewers (see `check_nominations`), and all problems.
    """
    if not data.strip():
        return DEFAULT_NOMINATIONS, (f"{ARCHITECTURE}: empty",)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        return DEFAULT_NOMINATIONS, (f"{ARCHITECTURE}: byte {error.start} is not UTF-8",)
    head, problems = front_matter(text)
    return check_nominations(head.get("reviewers")) if not problems else ((), problems)
