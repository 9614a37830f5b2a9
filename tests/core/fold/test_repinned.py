"""A session that takes another pipeline never skips a phase by that."""

from __future__ import annotations

from agentmux.core.definitions.definition import PipelineDefinition, definition_fields
from agentmux.core.definitions.feature import FEATURE
from agentmux.core.fold.repinned import with_pipeline
from agentmux.core.journal.events import Repinned
from agentmux.core.journal.results import Fix, PhaseResult
from agentmux.core.journal.state import SessionState
from agentmux.core.names import layout
from tests.core.builders import Session

BY_NAME = {each.phase: each for each in FEATURE.phases}
FILES = {"prompts/a.md": "0" * 64}


def of(*names: str) -> PipelineDefinition:
    return PipelineDefinition(name="mine", phases=tuple(BY_NAME[name] for name in names))


LONG = of("planning", "implementing", "reviewing", "fixing", "completing")
SHORT = of("implementing", "completing")


def taken(phase: str, old: PipelineDefinition, new: PipelineDefinition) -> SessionState:
    state = SessionState(phase=phase, pipeline=old)
    return with_pipeline(state, new, FILES, ())


def test_a_phase_that_both_have_stays() -> None:
    for phase in ("implementing", "completing"):
        assert taken(phase, LONG, SHORT).phase == phase
        assert taken(phase, SHORT, LONG).phase == phase
    for end in ("done", "failed"):
        assert taken(end, LONG, SHORT).phase == end


def test_a_phase_that_is_gone_leads_back_never_on() -> None:
    assert taken("reviewing", LONG, SHORT).phase == "implementing"
    assert taken("fixing", LONG, SHORT).phase == "implementing"
    assert taken("planning", LONG, SHORT).phase == "implementing"  # nothing is earlier


def test_the_event_brings_files_and_commands_and_an_older_one_changes_nothing() -> None:
    verify = ({"name": "tests", "run": ["true"], "timeout_s": 5, "required": True},)
    session = Session(SessionState(phase="implementing", journal_id="j", pipeline=LONG))
    session.tell(Repinned())
    assert session.state.pipeline == LONG
    fact = Repinned(pipeline=definition_fields(SHORT), pipeline_files=FILES, verify=verify)
    session.tell(fact)
    state = session.state
    assert (state.pipeline, state.pipeline_files, state.verify) == (SHORT, FILES, verify)
    assert state.schema_version == layout.SCHEMA_VERSION
    session.tell(Repinned(pipeline=definition_fields(FEATURE), pipeline_files=FILES))
    assert [session.state.pipeline, session.state.pipeline_files] == [None, {}]


def test_results_of_phases_that_are_gone_no_longer_count() -> None:
    state = SessionState(
        phase="completing",
        pipeline=LONG,
        results={"reviewing": PhaseResult(outcome="passed")},
        fix=Fix(sender="reviewing", iteration=1),
    )
    assert with_pipeline(state, LONG, {}, ()).results == state.results
    lost = with_pipeline(state, SHORT, {}, ())
    assert (lost.results, lost.fix) == ({}, None)
