"""A pipeline as a value: its walk, and where it goes on after a fix."""

from __future__ import annotations

import pytest

from agentmux.core.definitions.definition import (
    Kind,
    PhaseDefinition,
    PipelineDefinition,
    definition_fields,
    first_after_fix,
)
from agentmux.core.definitions.feature import FEATURE

KINDS = {
    "w": Kind.WORK, "c": Kind.CHECK, "r": Kind.REVIEW, "f": Kind.FIX, "d": Kind.DOCUMENT,
    "e": Kind.COMPLETE,
}  # fmt: skip


def pipeline(names: str) -> PipelineDefinition:
    """Return a pipeline of these phases; the first letter of a name is its kind."""
    phases = (
        PhaseDefinition(phase=each, kind=KINDS[each[0]], folder=each) for each in names.split()
    )
    return PipelineDefinition(name="any", phases=tuple(phases))


def test_a_fix_has_no_place_in_the_walk() -> None:
    assert [each.phase for each in pipeline("f1 w1 r1 f2 e1").walk] == ["w1", "r1", "e1"]


@pytest.mark.parametrize(
    ("names", "failed", "expected"),
    [
        ("w1 r1 f1 e1", "r1", "r1"),
        # The review fails, the fix breaks the tests: the tests run again before the next review.
        ("w1 c1 r1 f1 e1", "r1", "c1"),
        ("w1 c1 r1 f1 e1", "c1", "c1"),
        ("w1 d1 r1 f1 e1", "r1", "r1"),
        ("r0 w1 c1 r1 f1 e1", "r1", "c1"),
        # A reproduction that fails does not skip the work that follows it.
        ("w1 c1 w2 c2 r2 f1 e1", "c1", "c1"),
        ("w1 c1 w2 c2 r2 f1 e1", "r2", "c2"),
        ("c1 r1 f1 e1", "r1", "c1"),
    ],
)
def test_after_a_fix_everything_that_looked_at_the_work_looks_again(
    names: str, failed: str, expected: str
) -> None:
    assert first_after_fix(pipeline(names), failed) == expected


def test_a_definition_has_the_form_of_its_file() -> None:
    fields = definition_fields(FEATURE)
    phases = fields["phases"]
    assert isinstance(phases, list)
    assert (fields["version"], fields["name"], fields["result"]) == (1, "feature", "commit")
    assert phases[3] == {
        "phase": "designing",
        "kind": "document",
        "folder": "05_design",
        "roles": ["designer"],
        "leaves": ["design.md"],
        "when": "plan.needs_design",
    }
