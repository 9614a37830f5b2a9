"""What a person is told about where the next cycle begins."""

from __future__ import annotations

from agentmux.core.journal.state import SessionState
from agentmux.core.pipeline.beginnings import beginning_choices


def test_the_smallest_beginning_comes_first_and_each_says_what_it_runs() -> None:
    found = dict(beginning_choices(SessionState(phase="completing")))
    assert list(found) == ["fixing", "implementing", "planning", "architecting"]
    assert found["fixing"].endswith("one coder makes it; runs fixing, reviewing and completing")
    assert found["implementing"].endswith("; runs implementing, reviewing and completing")
    assert found["architecting"].endswith(
        "; runs architecting, planning, implementing, reviewing and completing"
    )


def test_a_phase_that_the_session_takes_part_in_is_said_to_run() -> None:
    found = dict(beginning_choices(SessionState(phase="completing", needs_design=True)))
    assert "runs planning, designing, implementing" in found["planning"]
