"""What it means for the next cycle to begin in a phase, in words for people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from agentmux.core.definitions.definition import Kind

_WORDS: Final[Mapping[Kind, str]] = {
    Kind.FIX: "a small wish: one coder makes it",
    Kind.WORK: "the plan stays, and is carried out again",
    Kind.PLAN: "a large wish: it is planned anew",
    Kind.DOCUMENT: "a large wish: it begins with this phase",
    Kind.CHECK: "the session begins anew",
    Kind.REVIEW: "the session begins anew",
    Kind.COMPLETE: "the session begins anew",
}


def beginning_words(kind: Kind) -> str:
    """Return what a cycle that begins in a phase of this kind is for."""
    return _WORDS[kind]
