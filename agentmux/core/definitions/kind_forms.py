"""For each kind of phase: the keys that a definition may use, and its description for people."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from agentmux.core.codec.frozen import dataclass
from agentmux.core.definitions.definition import Expect, Kind, PhaseDefinition, PipelineDefinition


@dataclass(frozen=True, slots=True, kw_only=True)
class KindForm:
    """The rules and texts for the phases of one kind.

    Attributes:
        words: A function that returns the description of a phase, for the drawing of its pipeline;
            it takes the pipeline and the phase.
        keys: The keys out of `KEYS` that the phase may have. It has agents only if ``roles`` is
            among them.
        has_one_role: Whether only one role may work in the phase.
        is_optional: Whether the phase may have a condition (``when``).
        begins: What it means to the user if a new cycle begins in this phase, such as ``a large
            change``.
        runs: A function that returns what runs in a phase, such as ``one coder``. It takes the
            first role, and whether the pipeline has a plan.
    """

    words: Callable[[PipelineDefinition, PhaseDefinition], str]
    keys: tuple[str, ...] = ("roles", "prompt")
    has_one_role: bool = False
    is_optional: bool = False
    begins: str = "all is done again"
    runs: Callable[[str, bool], str] = lambda role, _: f"the {role}"


KEYS: Final = ("leaves", "on_fail", "run", "expect", "roles", "prompt")
"""The keys of a phase that only some kinds allow."""


def _work(pipeline: PipelineDefinition, phase: PhaseDefinition) -> str:
    planned = any(each.kind is Kind.PLAN for each in pipeline.walk)
    role = phase.roles[0]
    return f"a {role} for each sub-plan" if planned else f"{role} does the work"


def _check(_: PipelineDefinition, phase: PhaseDefinition) -> str:
    commands = ", ".join(phase.run) or "every command of `verify`"
    ends = "one has to fail" if phase.expect is Expect.FAIL else "all have to pass"
    return f"{commands}: {ends}"


def _review(_: PipelineDefinition, phase: PhaseDefinition) -> str:
    nominated = " (those that are nominated)" if len(phase.roles) > 1 else ""
    return f"reviewed by {', '.join(phase.roles)}{nominated}"


def _complete(_: PipelineDefinition, phase: PhaseDefinition) -> str:
    who = "the first reviewer" if len(phase.roles) > 1 else phase.roles[0]
    return f"{who} sums up, then you decide"


FORMS: Final[Mapping[Kind, KindForm]] = {
    Kind.DOCUMENT: KindForm(
        words=lambda _, it: f"{it.roles[0]} writes {', '.join(each.file for each in it.leaves)}",
        keys=("leaves", "roles", "prompt"),
        has_one_role=True,
        is_optional=True,
        begins="a large change",
    ),
    Kind.PLAN: KindForm(
        words=lambda _, it: f"{it.roles[0]} writes the plan",
        has_one_role=True,
        begins="a large change",
    ),
    Kind.WORK: KindForm(
        words=_work,
        has_one_role=True,
        begins="the work is done again",
        runs=lambda role, planned: f"a {role} for each sub-plan" if planned else f"one {role}",
    ),
    Kind.CHECK: KindForm(
        words=_check,
        keys=("on_fail", "run", "expect"),
        is_optional=True,
        runs=lambda *_: "the checks",
    ),
    Kind.REVIEW: KindForm(
        words=_review,
        keys=("on_fail", "roles", "prompt"),
        is_optional=True,
        runs=lambda *_: "the reviews",
    ),
    Kind.FIX: KindForm(
        words=_work,
        has_one_role=True,
        begins="a small change",
        runs=lambda role, _: f"one {role}",
    ),
    Kind.COMPLETE: KindForm(words=_complete, runs=lambda *_: "the summary"),
}
"""The rules and texts for each kind of phase."""
