"""Checks ``architecture.md``, both when it is submitted and when it is found on disk."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from agentmux.core.documents.review import DEFAULT_NOMINATIONS, check_nominations
from agentmux.core.pipeline.artifacts import ARCHITECTURE

FrontMatter = Callable[[str], tuple[Mapping[str, object], tuple[str, ...]]]
"""A function that returns the front matter of a text as a mapping, and the problems with it."""


def check_architecture(
    data: bytes, front_matter: FrontMatter
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Check the content of ``architecture.md``; return its reviewers and the problems.

    Args:
        data: The content.
        front_matter: Returns, for a text, its front matter as a mapping, and a sentence for each
            problem with it.

    Returns:
        The roles of the nominated reviewers, such as ``reviewer_logic``, or the default ones if
        nobody is nominated; and a sentence for each problem. If there are problems, the roles must
        not be used.
    """
    if not data.strip():
        return DEFAULT_NOMINATIONS, (f"{ARCHITECTURE}: empty",)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        return DEFAULT_NOMINATIONS, (f"{ARCHITECTURE}: byte {error.start} is not UTF-8",)
    head, problems = front_matter(text)
    return check_nominations(head.get("reviewers")) if not problems else ((), problems)
