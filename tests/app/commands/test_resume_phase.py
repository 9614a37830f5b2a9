"""A resume continues in the phase that its dry run names, and no work is lost.

The sessions have real files and journal lines. The phase, the artifacts and which of them are
handed in are chosen at random; the dry run and the resume read the same disk.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentmux.app.commands.resume.orchestrator_request import OrchestratorRequest
from agentmux.app.commands.resume.resume import ResumePlan, plan_resume
from agentmux.app.loop.process import begin
from agentmux.app.session.writer import Session
from agentmux.app.world import World
from agentmux.core.codec.records import to_fields
from agentmux.core.decisions.next_actions import (
    Action,
    Facts,
    FinishArchive,
    Launch,
    Settle,
    next_actions,
)
from agentmux.core.journal.events import ArtifactsArchived, CodeDone, PhaseSettled, ReviewDone
from agentmux.core.journal.state import Research
from agentmux.core.names.phase import Phase
from agentmux.core.pipeline.registry import PHASE_REGISTRY
from agentmux.errors import DataError
from agentmux.wiring import build
from tests.app.driver import make_project
from tests.app.on_disk import OnDisk
from tests.core.builders import execution_plan, review

PLAN = execution_plan(("parallel", [1, 2]))
FILES: dict[str, tuple[str, object]] = {
    "pm": ("01_product_management/done", ""),
    "arch": ("02_architecting/architecture.md", "# A\n"),
    "plan": ("04_planning/execution_plan.yaml", PLAN),
    "plan:design": (
        "04_planning/execution_plan.yaml",
        execution_plan(("parallel", [1, 2]), needs_design=True),
    ),
    "design": ("05_design/design.md", "# D\n"),
    "done_1": ("06_implementation/done_1", ""),
    "done_2": ("06_implementation/done_2", ""),
    "logic+": ("07_review/review_logic.yaml", review("pass")),
    "logic-": ("07_review/review_logic.yaml", review("fail")),
    "review.md+": ("07_review/review.md", "Verdict: pass\n"),
    "fix": ("07_review/fix_request.md", "mend it\n"),
    "summary": ("08_completion/summary.md", "# S\n"),
}
BUILT = "pm arch plan done_1 done_2"
NAME = "20260101-101500-add-it"


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    """A project in which the offline agent plays every role."""
    project = make_project(tmp_path_factory.mktemp("phase") / "p")
    (project / ".agentmux").mkdir()
    config = project / ".agentmux" / "config.yaml"
    config.write_text("version: 1\ndefaults: {agent: demo}\n")
    # A file given by --config is the user's own, and needs no trust.
    return build.world(project, config=config, environ=dict(os.environ))


@dataclass
class Case:
    """One session on disk, which can be resumed with and without ``--dry-run``."""

    world: World
    disk: OnDisk

    def plan(self) -> ResumePlan:
        return plan_resume(self.world, self.world.files(self.disk.path))

    def files(self) -> set[str]:
        base = self.disk.path
        found = (path for path in base.glob("0*/**/*") if path.is_file())
        return {str(path.relative_to(base)) for path in found}

    def resume(self) -> tuple[Session, tuple[Action, ...]]:
        """Resume up to the point where agents would be launched; return the actions due then."""
        session = Session(
            self.world.files(self.disk.path), now=self.world.now, new_id=self.world.new_id
        )
        begin(self.world, session, OrchestratorRequest(mode="resume"), "/nowhere")
        for _ in range(10):
            due = next_actions(session.state, Facts(artifacts=session.artifacts()))
            match due:
                case (Settle(phase=phase, found=found),):
                    session.record(PhaseSettled(phase=phase, found=to_fields(found)))
                case (FinishArchive(),):
                    pending = session.state.pending_archive
                    for each in pending:
                        session.files.archive(each)
                    session.record(ArtifactsArchived(moved=len(pending)))
                case _:
                    return session, due
        raise AssertionError("it never comes to rest")

    def check(self) -> ResumePlan:
        """Resume, compare the result with the plan, and return the plan."""
        plan, before = self.plan(), self.files()
        entered = plan.phase
        session, due = self.resume()
        assert session.state.phase == entered, plan.because
        wanted = [action.work for action in due if isinstance(action, Launch)]
        assert [pane.work for pane in plan.panes] == wanted
        pending = plan.state.pending_archive  # of a signal that this resume applies
        moved = {
            path for path in before - self.files() if not any(each.takes(path) for each in pending)
        }
        settled = "phase_settled" in self.disk.kinds
        assert not moved or settled
        for path in moved:  # archived at the change from a review to its fix, or back
            assert path.startswith(("07_review/", "08_completion/")) or path.endswith("/done_1")
        return plan


_numbers = itertools.count(1)
Make = Callable[..., Case]


@pytest.fixture(scope="module")
def make(world: World) -> Make:
    def made(phase: Phase, files: str, **values: Any) -> Case:
        folder = world.project / ".agentmux" / ".sessions" / f"{NAME}-{next(_numbers)}"
        given: dict[str, Any] = {
            "session_name": folder.name,
            "feature": "add it",
            "feature_dir": f".agentmux/.sessions/{folder.name}",
            "review_iteration": 0,
        }
        disk = OnDisk(folder, phase, **(given | values))
        for name in files.split():
            disk.leave(*FILES[name])
        return Case(world, disk)

    return made


def at_work(case: Case, *seats: str, **more: Any) -> None:
    """Record launches of these seats in the session's phase, as this version does."""
    state = case.disk.state
    for seat in seats:
        subplan = int(seat.removeprefix("coder-")) if seat.startswith("coder-") else None
        place = {
            "phase": state.phase, "cycle": state.cycle, "iteration": state.iteration,
            "subplan": subplan,
        }  # fmt: skip
        record = {
            "agent": "demo", "strategy": "assign", "place": place, "epoch": place,
            "handed_in": False, **more,
        }  # fmt: skip
        case.disk.launch(seat, subplan=subplan, record=record)
    case.disk.commit()


WANTS = {
    Phase.PRODUCT_MANAGEMENT: ("product-manager",),
    Phase.ARCHITECTING: ("architect",),
    Phase.PLANNING: ("planner",),
    Phase.DESIGNING: ("designer",),
    Phase.IMPLEMENTING: ("coder-1", "coder-2"),
    Phase.REVIEWING: ("reviewer_logic",),
    Phase.FIXING: ("coder",),
    Phase.COMPLETING: ("reviewer_logic",),
}


def groups() -> dict[str, Any]:
    plans = [{"index": n, "name": f"p{n}", "file": f"plan_{n}.md"} for n in (1, 2)]
    return {
        "subplan_count": 2,
        "implementation_groups": ({"group_id": "g1", "mode": "parallel", "plans": plans},),
        "implementation_group_total": 1,
        "implementation_active_plan_ids": (1, 2),
    }


@settings(max_examples=60)
@given(
    phase=st.sampled_from([*(each.phase for each in PHASE_REGISTRY), Phase.FAILED]),
    files=st.sets(st.sampled_from(sorted(FILES))),
    launched=st.sets(st.integers(0, 1)),
    handed_in=st.booleans(),
    iteration=st.sampled_from([0, 0, 1, 3]),
    product_manager=st.booleans(),
)
def test_the_dry_run_names_where_work_goes_on(
    make: Make,
    phase: Phase,
    files: set[str],
    launched: set[int],
    handed_in: bool,
    iteration: int,
    product_manager: bool,
) -> None:
    behind = [each.phase for each in PHASE_REGISTRY].index(Phase.IMPLEMENTING) <= (
        [*(each.phase for each in PHASE_REGISTRY), Phase.FAILED].index(phase)
    )
    case = make(
        phase, " ".join(sorted(files)), review_iteration=iteration if behind else 0,
        product_manager=product_manager, reviewer_nominations=("reviewer_logic",) * behind,
        **(groups() if behind else {}),
    )  # fmt: skip
    seats = [seat for number, seat in enumerate(WANTS.get(phase, ())) if number in launched]
    at_work(case, *seats)
    if handed_in and phase == Phase.IMPLEMENTING and seats:
        case.disk.tell(CodeDone(subplan_index=int(seats[0][-1])), seats[0], f"launch-{seats[0]}")
    if handed_in and phase == Phase.REVIEWING and seats and "logic+" in files:
        given_review = ReviewDone(role="reviewer_logic", verdict="pass", review=review("pass"))
        case.disk.tell(given_review, "reviewer_logic", "launch-reviewer_logic")
    case.check()


ROWS = [
    # state's phase, files, values, phase in which work continues
    ("product_management", "pm arch plan", {"product_manager": True}, "implementing"),
    ("product_management", "arch plan", {"product_manager": True}, "product_management"),
    ("architecting", "arch plan done_1", {}, "implementing"),
    ("designing", "arch plan:design design", {"needs_design": True}, "implementing"),
    ("implementing", BUILT, {}, "reviewing"),
    ("reviewing", f"{BUILT} logic+", {}, "completing"),
    ("reviewing", f"{BUILT} review.md+ summary", {}, "completing"),
    ("reviewing", f"{BUILT} logic-", {}, "fixing"),
    ("reviewing", f"{BUILT} logic-", {"max_review_iterations": 0}, "completing"),
    ("fixing", f"{BUILT} fix", {"review_iteration": 1}, "reviewing"),
    ("failed", f"{BUILT} logic+", {}, "completing"),
]


@pytest.mark.parametrize(("said", "files", "values", "phase"), ROWS)
def test_nothing_is_skipped_and_nothing_is_repeated(
    make: Make, said: str, files: str, values: dict[str, Any], phase: str
) -> None:
    case = make(Phase(said), files, **values)
    plan = case.check()
    assert plan.phase == phase
    assert "02_architecting/architecture.md" in case.files()
    assert "04_planning/execution_plan.yaml" in case.files()


def test_a_review_that_is_passed_over_is_written_down(make: Make) -> None:
    """The agent that writes the summary is told to read the review."""
    case = make(Phase.REVIEWING, f"{BUILT} logic+")
    (pane,) = case.check().panes
    assert "07_review/review.md" in pane.prompt
    assert "07_review/review.md" in case.files()


DRAFTS = [
    ("product_management", "pm", "product-manager"),
    ("architecting", "arch", "architect"),
    ("planning", "arch plan", "planner"),
    ("designing", "arch plan:design design", "designer"),
    ("implementing", BUILT, "coder-2"),
    ("reviewing", f"{BUILT} logic+", "reviewer_logic"),
    ("fixing", f"{BUILT} fix", "coder"),
]


@pytest.mark.parametrize(("said", "files", "seat"), DRAFTS)
def test_a_draft_is_not_built_upon_and_its_seat_is_told_so(
    make: Make, said: str, files: str, seat: str
) -> None:
    values: dict[str, Any] = {"review_iteration": int(said == "fixing"), "product_manager": True}
    if said == "implementing":
        values |= groups()
    case = make(Phase(said), f"pm {files}", **values)
    at_work(case, seat)
    plan = case.check()
    assert plan.phase == said
    assert [pane.work.seat for pane in plan.panes] == [seat]
    (pane,) = plan.panes
    if said in {"product_management", "planning"}:
        return  # the seat's draft is not the file that decides the phase
    draft = FILES[files.rpartition(" ")[2]][0] if seat != "coder" else "06_implementation/done_1"
    said_of_it = "was not handed in"
    assert said_of_it in pane.full_prompt
    assert f"- `{case.disk.path}/{draft}`" in pane.full_prompt


def test_a_seat_is_told_which_of_its_questions_were_answered(make: Make) -> None:
    case = make(
        Phase.ARCHITECTING, "",
        research_tasks={"auth": "done", "other": "done"},
        web_research_tasks={"tokens": "dispatched"},
        research={
            "code-auth": Research(question="How is it done?", owners=("architect",)),
            "code-other": Research(question="Who?", owners=("planner",)),
            "web-tokens": Research(question="Which?", owners=("architect",)),
        },
    )  # fmt: skip
    at_work(case, "architect")
    pane = next(pane for pane in case.plan().panes if pane.work.seat == "architect")
    answer = f"{case.disk.path}/03_research/code-auth/summary.md"
    said = f"- code research `auth` (`How is it done?`): answered in `{answer}`"
    assert said in pane.full_prompt
    assert "- web research `tokens` (`Which?`): not answered yet" in pane.full_prompt
    assert "(`Who?`)" not in pane.full_prompt


@pytest.fixture
def badly(make: Make) -> Case:
    case = make(Phase.ARCHITECTING, "")
    case.disk.leave("02_architecting/architecture.md", "---\nreviewers: [qualty]\n---\n# A\n")
    return case


def test_a_resume_judges_an_architecture_as_a_submission_does(badly: Case) -> None:
    plan = badly.check()
    assert plan.phase == Phase.ARCHITECTING
    assert "`qualty` is not a reviewer" in plan.inference.evidence[-1].because
    assert any("`qualty` is not a reviewer" in warning for warning in plan.warnings)


def test_an_architecture_that_was_accepted_is_not_judged_again(make: Make) -> None:
    case = make(Phase.PLANNING, "", reviewer_nominations=("reviewer_logic",))
    case.disk.leave("02_architecting/architecture.md", "---\nreviewers: [qualty]\n---\n# A\n")
    assert case.check().phase == Phase.PLANNING


def test_what_cannot_be_read_is_no_phase(make: Make) -> None:
    case = make(Phase.ARCHITECTING, "")
    (case.disk.path / "tool_events.jsonl").unlink()
    with pytest.raises(DataError):
        case.plan()
