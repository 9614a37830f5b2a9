"""What each seat of a pipeline of one's own reads, and what it writes and types."""

from __future__ import annotations

import pytest

from agentmux.core.codec.frozen import replace
from agentmux.core.definitions.definition import Kind, Leaf, PhaseDefinition, PipelineDefinition
from agentmux.core.journal.results import Fix
from agentmux.core.journal.state import SessionState
from agentmux.core.names.phase import Phase
from agentmux.core.pipeline.artifacts import Artifacts
from agentmux.core.pipeline.registry import pipeline_of
from agentmux.core.pipeline.work import Work
from agentmux.core.prompts import prompt
from agentmux.core.prompts.prompt import PromptInputs
from agentmux.core.prompts.reading_list import reading, template_name


def phase(name: str, kind: Kind, role: str, **values: object) -> PhaseDefinition:
    made = PhaseDefinition(phase=name, kind=kind, folder=f"in_{name}", roles=(role,))
    return replace(made, **values)  # type: ignore[arg-type]


OWN = PipelineDefinition(
    name="own",
    phases=(
        phase("notes", Kind.DOCUMENT, "writer", leaves=(Leaf(file="a.md"), Leaf(file="b.yaml"))),
        phase("thinking", Kind.PLAN, "chief"),
        phase("building", Kind.WORK, "builder"),
        phase("critique", Kind.REVIEW, "critic", on_fail="mending"),
        phase("mending", Kind.FIX, "builder"),
        phase("ending", Kind.COMPLETE, "critic"),
    ),
)
NOTES = ("in_notes/a.md", "in_notes/b.yaml")
EVERY = {
    *NOTES, "in_thinking/plan.md", "in_thinking/plan.yaml", "in_thinking/plan_1.md",
    "in_critique/review.md", "in_critique/fix_request.md", "history/1.0/in_critique/review.md",
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "iteration", "reads"),
    [
        ("notes", 0, ()),
        ("thinking", 0, NOTES),
        (
            "building",
            0,
            (*NOTES, "in_thinking/plan.md", "in_thinking/plan_1.md", "in_thinking/tasks_1.md"),
        ),
        ("critique", 0, (*NOTES, "in_thinking/plan.yaml")),
        (
            "critique",
            1,
            (
                *NOTES,
                "in_thinking/plan.yaml",
                "history/1.0/in_critique/review.md",
                "in_critique/fix_request.md",
            ),
        ),
        ("mending", 1, ("in_critique/fix_request.md", *NOTES, "in_thinking/plan.md")),
        ("ending", 0, (*NOTES, "in_thinking/plan.md", "in_critique/review.md")),
    ],
)
def test_a_seat_reads_what_earlier_phases_left(
    name: str, iteration: int, reads: tuple[str, ...]
) -> None:
    fix = Fix(sender="critique", iteration=iteration) if iteration else None
    state = SessionState(phase=name, pipeline=OWN, fix=fix)
    role = next(each.roles[0] for each in OWN.phases if each.phase == name)
    subplan = 1 if name == "building" else None
    work = Work(seat=role, role=role, subplan=subplan)
    assert reading(state, work, Artifacts(sizes=dict.fromkeys(EVERY, 5))) == reads


@pytest.mark.parametrize(
    ("name", "writes", "types"),
    [
        ("notes", NOTES, "phase notes"),
        ("thinking", ("in_thinking/plan.yaml",), "plan"),
        ("building", (), "done --subplan 1"),
        ("critique", ("in_critique/review_critic.yaml",), "review --role critic"),
        ("mending", (), "done"),
        ("ending", ("in_ending/summary.md",), "summary"),
    ],
)
def test_a_seat_writes_and_types_what_its_phase_asks_for(
    name: str, writes: tuple[str, ...], types: str
) -> None:
    state = SessionState(phase=name, pipeline=OWN)
    pipeline = pipeline_of(state)
    role = pipeline[name].roles[0]
    given = PromptInputs(
        session_dir="/s", project_dir="/p", pipeline=pipeline, phase=name, role=role, subplan=1
    )
    assert prompt.artifacts(given) == tuple(f"/s/{each}" for each in writes)
    assert prompt.signals(given) == (f"agentmux submit {types}",)
    marks = {"building": ("in_building/done_1",), "mending": ("in_mending/done_1",)}
    assert prompt.markers(given) == marks.get(name, ())


@pytest.mark.parametrize(
    ("phase", "role", "single", "expected"),
    [
        (Phase.ARCHITECTING, "architect", False, "architect"),
        (Phase.PLANNING, "code-researcher", False, "code-researcher"),
        (Phase.IMPLEMENTING, "coder", False, "coder"),
        (Phase.IMPLEMENTING, "coder", True, "coder-single"),
        (Phase.FIXING, "coder", True, "coder-fix"),
        (Phase.REVIEWING, "reviewer_expert", False, "reviewer_expert"),
        (Phase.COMPLETING, "reviewer_expert", False, "summary"),
        (Phase.COMPLETING, "web-researcher", False, "web-researcher"),
    ],
)
def test_the_template_of_each_piece_of_work(
    phase: Phase, role: str, single: bool, expected: str
) -> None:
    work = Work(seat=role, role=role, subplan=None if single else 1)
    assert template_name(SessionState(phase=phase), work) == expected


def test_a_coder_without_a_plan_is_told_to_do_the_request() -> None:
    planless = replace(OWN, phases=tuple(e for e in OWN.phases if e.kind is not Kind.PLAN))
    own = replace(planless, phases=tuple(replace(e, prompt="coder") for e in planless.phases))
    state = SessionState(phase="building", pipeline=own)
    for subplan in (1, None):
        work = Work(seat="builder", role="builder", subplan=subplan)
        assert template_name(state, work) == prompt.REQUEST


def test_a_review_reads_its_own_findings_though_a_check_asked_for_the_last_fix() -> None:
    looking = phase("testing", Kind.CHECK, "", on_fail="mending")
    given = replace(OWN, phases=(*OWN.phases[:3], replace(looking, roles=()), *OWN.phases[3:]))
    sent = {"critique": 1, "testing": 1}
    state = SessionState(
        phase="critique", pipeline=given, fix=Fix(sender="testing", iteration=2, sent=sent)
    )
    read = reading(state, Work(seat="critic", role="critic"), Artifacts())
    assert read[-2:] == ("in_testing/fix_request.md", "in_critique/fix_request.md")
    by_test = replace(state, fix=Fix(sender="testing", iteration=1, sent={"testing": 1}))
    again = reading(by_test, Work(seat="critic", role="critic"), Artifacts())
    assert "in_critique/fix_request.md" not in again
