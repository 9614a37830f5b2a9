"""A session that takes another pipeline never skips a phase by that."""

from __future__ import annotations

from agentmux.core.codec.frozen import replace
from agentmux.core.definitions.definition import (
    Kind,
    PhaseDefinition,
    PipelineDefinition,
    definition_fields,
)
from agentmux.core.definitions.feature import FEATURE
from agentmux.core.fold.repinned import with_pipeline
from agentmux.core.fold.transitions import enter
from agentmux.core.journal.events import Repinned
from agentmux.core.journal.results import BaseChecks, CheckResult, Fix, PhaseResult
from agentmux.core.journal.state import Seat, SessionState
from tests.core.builders import Session, state_of

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
    session.tell(Repinned(pipeline=definition_fields(FEATURE), pipeline_files=FILES))
    assert (session.state.pipeline, session.state.pipeline_files) == (FEATURE, FILES)


def test_results_of_phases_that_are_gone_no_longer_count() -> None:
    state = SessionState(
        phase="completing",
        pipeline=LONG,
        results={"reviewing": PhaseResult(outcome="passed")},
        fix=Fix(sender="reviewing", iteration=1),
    )
    assert with_pipeline(state, LONG, {}, ()).results == state.results
    lost = with_pipeline(state, SHORT, {}, ())
    assert (lost.results, lost.fix) == ({}, Fix(sender="", iteration=1))


def test_a_fix_that_nobody_asked_for_leads_back_to_the_work() -> None:
    fix = Fix(sender="reviewing", iteration=2, sent={"reviewing": 2})
    state = SessionState(phase="fixing", pipeline=LONG, fix=fix)
    assert with_pipeline(state, LONG, FILES, ()).phase == "fixing"
    renamed = replace(BY_NAME["reviewing"], phase="looking")
    other = replace(LONG, phases=(*SHORT.phases[:1], renamed, *LONG.phases[3:]))
    taken = with_pipeline(state, other, FILES, ())
    assert (taken.phase, taken.iteration) == ("implementing", 2)
    without = replace(BY_NAME["reviewing"], on_fail="")
    unmended = replace(LONG, phases=(*SHORT.phases[:1], without, *SHORT.phases[1:]))
    after = with_pipeline(state, unmended, FILES, ())
    assert enter(after, "implementing").iteration == 2  # its sender has no fix any more


def test_the_fix_of_an_older_session_is_that_of_its_review() -> None:
    state = state_of("fixing", review_iteration=1)
    taken = with_pipeline(state, LONG, FILES, ())
    fix = Fix(sender="reviewing", iteration=1, sent={"reviewing": 1})
    assert (taken.phase, taken.fix) == ("fixing", fix)
    assert with_pipeline(state, FEATURE, {}, ()) == state


def test_results_of_other_commands_or_reviewers_no_longer_count() -> None:
    looks = PhaseDefinition(phase="looking", kind=Kind.CHECK, folder="looking", run=("lint",))
    state = SessionState(
        phase="completing",
        pipeline=replace(LONG, phases=(*LONG.phases, looks)),
        results={"reviewing": PhaseResult(outcome="passed"), "looking": PhaseResult()},
    )
    more = replace(looks, run=("lint", "tests"))
    changed = replace(LONG, phases=(*LONG.phases, more))
    assert set(with_pipeline(state, changed, {}, ()).results) == {"reviewing"}
    review = replace(BY_NAME["reviewing"], roles=("reviewer_expert",))
    other = tuple(review if each.phase == "reviewing" else each for each in LONG.phases)
    assert set(with_pipeline(state, replace(LONG, phases=(*other, looks)), {}, ()).results) == {
        "looking"
    }


def test_what_was_said_of_a_command_is_not_said_of_another_one_with_its_name() -> None:
    tests, types = (
        {"name": name, "run": ["true"], "timeout_s": 5, "required": True}
        for name in ("tests", "types")
    )
    red = CheckResult(outcome="failed", status=1)
    state = SessionState(
        phase="implementing",
        pipeline=LONG,
        verify=(tests, types),
        skipped_checks=("tests", "types"),
        base_checks=BaseChecks(path="/b", commit="c", checks={"tests": red, "types": red}),
        seats={
            f"base-{name}": Seat(
                launch="L",
                role="base",
                phase="implementing",
                mode="",
                reason="",
                since="",
                topic=name,
            )
            for name in ("tests", "types")
        },
    )
    after = with_pipeline(state, LONG, {}, ({**tests, "run": ["false"]}, types))
    assert after.base_checks is not None
    assert list(after.base_checks.checks) == ["types"], "it is not known to have failed before"
    assert after.skipped_checks == ("types",)
    assert list(after.seats) == ["base-types"], "what ends there was the command as it was"
