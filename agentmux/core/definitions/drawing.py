"""Draw a pipeline as plain text of at most `WIDTH` columns, for terminals and pages."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import Final

from agentmux.core.definitions.definition import (
    PhaseDefinition,
    PipelineDefinition,
    Result,
    When,
    first_after_fix,
)
from agentmux.core.definitions.kind_forms import FORMS

WIDTH: Final = 80
"""The largest width of a drawing, in columns."""

_ENDS: Final = {
    Result.COMMIT: "a commit of what you approved",
    Result.REPORT: "a report: the files in the folders of the session",
}
_WHENS: Final = {
    When.ALWAYS: "",
    When.REQUESTED: "only if it was asked for",
    When.NEEDS_DESIGN: "only if the plan asks for a design",
}


def draw_pipeline(pipeline: PipelineDefinition) -> tuple[str, ...]:
    """Return a drawing of ``pipeline`` in plain text, as lines of at most `WIDTH` columns.

    The pipeline must be valid.
    """
    width = max(len(each.phase) for each in pipeline.walk)
    lines = [line for each in pipeline.walk for line in _phase(pipeline, each, width)]
    return (*lines, f"*  {_ENDS[pipeline.result]}")


def _phase(pipeline: PipelineDefinition, phase: PhaseDefinition, width: int) -> Iterator[str]:
    first, rest = f"o  {phase.phase:<{width}}  ", f"|  {'':<{width}}  "
    words = "; ".join(filter(None, (FORMS[phase.kind].words(pipeline, phase), _WHENS[phase.when])))
    yield from textwrap.wrap(words, WIDTH, initial_indent=first, subsequent_indent=rest)
    if phase.on_fail:
        fix = next(each for each in pipeline.phases if each.phase == phase.on_fail)
        again = first_after_fix(pipeline, phase.phase)
        loop = f"{fix.phase} by {fix.roles[0]} --> {again}"
        arrow = r"|    \-- fails --> "
        indent = "|" + " " * (len(arrow) - 1)
        yield from textwrap.wrap(loop, WIDTH, initial_indent=arrow, subsequent_indent=indent)
    yield "|"
