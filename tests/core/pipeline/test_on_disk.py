"""What artifacts show of the state of a session."""

from __future__ import annotations

import pytest

from agentmux.core.codec.frozen import replace
from agentmux.core.names.phase import Phase
from agentmux.core.pipeline.on_disk import state_from_disk
from tests.core.builders import artifacts, at

MARKED = {"06_implementation/done_2": ""}
"""A request for changes has archived the marker of the fix, which has the name of the first."""


@pytest.mark.parametrize(
    ("phase", "completed"), [(Phase.FIXING, (1, 2)), (Phase.IMPLEMENTING, (2,))]
)
def test_a_marker_that_a_fix_took_along_is_no_undone_subplan(
    phase: Phase, completed: tuple[int, ...]
) -> None:
    state = replace(at(phase).state, completed_subplans=(1, 2), subplan_count=2)
    assert state_from_disk(state, artifacts(MARKED)).completed_subplans == completed
