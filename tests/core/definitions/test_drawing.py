"""The drawing of a pipeline."""

from __future__ import annotations

from typing import Any

import pytest

from agentmux.core.definitions.definition import (
    Kind,
    Leaf,
    PhaseDefinition,
    PipelineDefinition,
    Result,
)
from agentmux.core.definitions.drawing import draw_pipeline
from agentmux.core.definitions.feature import FEATURE
from agentmux.core.names.phase import REVIEWERS


def phase(name: str, kind: Kind, **values: Any) -> PhaseDefinition:
    given = {"folder": name, "roles": ("coder",), **values}
    return PhaseDefinition(phase=name, kind=kind, **given)


LONG = PipelineDefinition(
    name="long",
    result=Result.REPORT,
    phases=(
        phase("a" * 32, Kind.DOCUMENT, leaves=(Leaf(file=f"{'b' * 48}.yaml"), Leaf(file="c.md"))),
        phase("w", Kind.WORK),
        phase("v", Kind.CHECK, roles=(), on_fail="f" * 32, run=("tests", "types")),
        phase("f" * 32, Kind.FIX, roles=("r" * 32,)),
        phase("end", Kind.COMPLETE),
    ),
)


@pytest.mark.parametrize("pipeline", [FEATURE, LONG])
def test_it_fits_and_names_every_phase(pipeline: PipelineDefinition) -> None:
    lines = draw_pipeline(pipeline)
    assert max(map(len, lines)) <= 80
    text = "\n".join(lines)
    assert [each.phase for each in pipeline.phases if each.phase not in text] == []
    assert text.isascii()


def test_it_shows_where_a_failure_leads() -> None:
    lines = draw_pipeline(FEATURE)
    at = next(n for n, line in enumerate(lines) if line.startswith("o  reviewing"))
    assert r"|    \-- fails --> fixing by coder --> reviewing" in lines[at:]
    assert lines[-1] == "*  a commit of what you approved"


@pytest.mark.parametrize(
    ("roles", "who"), [(("planner",), "planner"), (REVIEWERS, "the first reviewer")]
)
def test_who_sums_up_is_named(roles: tuple[str, ...], who: str) -> None:
    last = phase("completing", Kind.COMPLETE, roles=roles)
    lines = draw_pipeline(PipelineDefinition(name="x", phases=(last,)))
    assert lines[0] == f"o  completing  {who} sums up, then you decide"
