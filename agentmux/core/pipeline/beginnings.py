"""What it means for the next cycle to begin in a phase, in words for people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from agentmux.core.definitions.definition import Kind
from agentmux.core.journal.state import SessionState
from agentmux.core.pipeline.registry import beginnings, pipeline_of

_WORDS: Final[Mapping[Kind, str]] = {
    Kind.FIX: "a small wish: one coder makes it",
    Kind.WORK: "the plan stays, and is carried out again",
    Kind.PLAN: "a large wish: it is planned anew",
    Kind.DOCUMENT: "a large wish: all from here on is made anew",
    Kind.CHECK: "the session begins anew",
    Kind.REVIEW: "the session begins anew",
    Kind.COMPLETE: "the session begins anew",
}


def elsewhere_words(name: str, phases: Mapping[str, Kind]) -> str:
    """Return where else the next cycle could begin than in ``name``; empty if nowhere.

    Args:
        name: The phase that is chosen now.
        phases: All phases in which it may begin, each with its kind.
    """
    if not phases.keys() - {name}:
        return ""
    small = next((each for each, kind in phases.items() if kind is Kind.FIX), name)
    return "elsewhere" if small == name else f"elsewhere, such as {small} for a small wish"


def beginning_words(kind: Kind) -> str:
    """Return what a cycle that begins in a phase of this kind is for."""
    return _WORDS[kind]


def beginning_choices(state: SessionState) -> tuple[tuple[str, str], ...]:
    """Return the phases in which the next cycle can begin, each with what that is for.

    They are `in_order`.
    """
    pipeline = pipeline_of(state)
    return tuple((name, beginning_words(pipeline[name].kind)) for name in in_order(state))


def in_order(state: SessionState) -> tuple[str, ...]:
    """Return the phases in which the next cycle can begin, those first that are chosen most often.

    That is the one in which it begins unless the user says otherwise, then those for a small wish.
    """
    pipeline = pipeline_of(state)
    usual = pipeline.again(state)
    return tuple(
        sorted(
            beginnings(state),
            key=lambda name: (name != usual, pipeline[name].kind is not Kind.FIX),
        )
    )
