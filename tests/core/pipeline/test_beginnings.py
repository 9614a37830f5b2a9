"""What a person is told about where the next cycle begins."""

from __future__ import annotations

import pytest

from agentmux.core.config.commands import VerifyCommand
from agentmux.core.definitions.definition import PipelineDefinition
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
    state = SessionState(phase="completing", verify=commands)
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
    by_name = {each.phase: each for each in FEATURE.phases}
    pipeline = PipelineDefinition(name="some", phases=tuple(by_name[each] for each in phases))
    state = SessionState(phase="completing", pipeline=pipeline)
    assert beginning_choices(state)[0][1] == smallest
