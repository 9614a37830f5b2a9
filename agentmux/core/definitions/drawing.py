"""The drawing of a pipeline: plain text of at most `WIDTH` columns, for terminals and pages."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import Final

from agentmux.core.definitions.definition import (
    Expect,
    Kind,
    PhaseDefinition,
    PipelineDefinition,
    Result,
    When,
    first_after_fix,
)

WIDTH: Final = 80

_ENDS: Final = {
    Result.COMMIT: "a commit of what you approved",
    Result.REPORT: "a report: the files in the folders of the session",
}
_WHENS: Final = {
    When.ALWAYS: "",
    When.REQUESTED: "only if it was asked for",
    When.NEEDS_DESIGN: "only if the plan asks for a design",
}


def drawn(pipeline: PipelineDefinition) -> tuple[str, ...]:
    """Return the lines of the drawing of a pipeline that `check_definition` has accepted."""
    width = max(len(each.phase) for each in pipeline.walk)
    lines = [line for each in pipeline.walk for line in _phase(pipeline, each, width)]
    return (*lines, f"*  {_ENDS[pipeline.result]}")


def _phase(pipeline: PipelineDefinition, phase: PhaseDefinition, width: int) -> Iterator[str]:
    first, rest = f"o  {phase.phase:<{width}}  ", f"|  {'':<{width}}  "
    words = "; ".join(filter(None, (_work(pipeline, phase), _WHENS[phase.when])))
    yield from textwrap.wrap(words, WIDTH, initial_indent=first, subsequent_indent=rest)
    if phase.on_fail:
        fix = next(each for each in pipeline.phases if each.phase == phase.on_fail)
        again = first_after_fix(pipeline, phase.phase)
        loop = f"{fix.phase} by {fix.roles[0]} --> {again}"
        arrow = r"|    \-- fails --> "
        indent = "|" + " " * (len(arrow) - 1)
        yield from textwrap.wrap(loop, WIDTH, initial_indent=arrow, subsequent_indent=indent)
    yield "|"


def _work(pipeline: PipelineDefinition, phase: PhaseDefinition) -> str:
    roles = phase.roles[0] if phase.roles else ""
    match phase.kind:
        case Kind.DOCUMENT:
            return f"{roles} writes {', '.join(each.file for each in phase.leaves)}"
        case Kind.PLAN:
            return f"{roles} writes the plan"
        case Kind.WORK | Kind.FIX:
            planned = any(each.kind is Kind.PLAN for each in pipeline.walk)
            return f"a {roles} for each sub-plan" if planned else f"{roles} does the work"
        case Kind.CHECK:
            commands = ", ".join(phase.run) or "every command of `verify`"
            ends = "one has to fail" if phase.expect is Expect.FAIL else "all have to pass"
            return f"{commands}: {ends}"
        case Kind.REVIEW:
            nominated = " (those that are nominated)" if len(phase.roles) > 1 else ""
            return f"reviewed by {', '.join(phase.roles)}{nominated}"
        case Kind.COMPLETE:
            who = "the first reviewer" if len(phase.roles) > 1 else roles
            return f"{who} sums up, then you decide"
