"""What a person is told about where the next cycle begins."""

from __future__ import annotations

from itertools import chain

import pytest

from agentmux.core.codec.frozen import replace
from agentmux.core.config.commands import VerifyCommand
from agentmux.core.definitions.definition import Kind, PhaseDefinition, PipelineDefinition
from agentmux.core.definitions.feature import FEATURE
from agentmux.core.journal.state import SessionState
from agentmux.core.pipeline.beginnings import beginning_choices
from agentmux.core.pipeline.checks.verify_commands import recorded_commands


def test_the_smallest_beginning_comes_first_and_each_says_what_it_runs() -> None:
    found = dict(beginning_choices(SessionState(phase="completing")))
    assert found == {
        "fixing": "a small change: one coder, then the reviews and the summary",
        "implementing": "the work is done again: a coder for each sub-plan, then the reviews and"
        " the summary",
        "planning": "a large change: the planner, then a coder for each sub-plan, the reviews and"
        " the summary",
        "architecting": "a large change: the architect, then the planner, a coder for each"
        " sub-plan, the reviews and the summary",
    }
    assert list(found) == ["fixing", "implementing", "planning", "architecting"]


def test_a_phase_that_the_session_takes_part_in_is_said_to_run() -> None:
    found = dict(beginning_choices(SessionState(phase="completing", needs_design=True)))
    assert "the planner, then the designer, a coder for each sub-plan" in found["planning"]


def test_checks_are_named_where_there_are_commands() -> None:
    commands = recorded_commands((VerifyCommand(name="tests", run=("pytest",)),))
    check = PhaseDefinition(
        phase="verifying", kind=Kind.CHECK, folder="verifying", on_fail="fixing"
    )
    phases = [(check, each) if each.phase == "reviewing" else (each,) for each in FEATURE.phases]
    pipeline = PipelineDefinition(name="some", phases=tuple(chain.from_iterable(phases)))
    state = SessionState(phase="completing", pipeline=pipeline, verify=commands)
    (_, says), *_ = beginning_choices(state)
    assert says == "a small change: one coder, then the checks, the reviews and the summary"


@pytest.mark.parametrize(
    ("phases", "smallest"),
    [
        (
            ("implementing", "reviewing", "fixing", "completing"),
            "a small change: one coder, then the reviews and the summary",
        ),
        (("implementing", "completing"), "the work is done again: one coder, then the summary"),
        (("planning", "completing"), "a large change: the planner, then the summary"),
        (("reviewing", "completing"), "all is done again: the reviews, then the summary"),
    ],
)
def test_the_smallest_beginning_of_a_pipeline_says_what_it_runs(
    phases: tuple[str, ...], smallest: str
) -> None:
    kept = [each for each in FEATURE.phases if each.phase in phases]
    without_fix = [replace(each, on_fail="") for each in kept]
    pipeline = PipelineDefinition(
        name="some", phases=tuple(kept if "fixing" in phases else without_fix)
    )
    state = SessionState(phase="completing", pipeline=pipeline)
    assert beginning_choices(state)[0][1] == smallest
