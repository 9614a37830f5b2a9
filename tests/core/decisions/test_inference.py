"""The phase in which a session resumes: single cases, the whole table, and properties."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentmux.core.decisions.inference import chosen_phase, infer, is_decided, walk
from agentmux.core.documents.review import Verdict, outcome
from agentmux.core.journal.state import Interruption, SessionState
from agentmux.core.names.phase import REVIEWERS, Phase
from agentmux.core.pipeline.artifacts import (
    Artifacts,
    kept_fix_request,
    nominations,
    subplan_count,
    verdicts,
)
from agentmux.core.pipeline.registry import PHASE_REGISTRY, PIPELINE, earlier, working_phase
from agentmux.errors import UsageError
from tests.core.builders import (
    EXPERT,
    LOGIC,
    QUALITY,
    artifacts,
    execution_plan,
    review,
    state_of,
)

PASS, FAIL = json.dumps(review("pass")), json.dumps(review("fail"))
TWO = execution_plan(("parallel", [1, 2]))
DESIGNED = execution_plan(("serial", [1]), needs_design=True)

# Short names of files, for readable rows in the tables.
FILES = {
    "pm": ("01_product_management/done", ""),
    "arch": ("02_architecting/architecture.md", "# A"),
    "arch:empty": ("02_architecting/architecture.md", ""),
    "arch:quality": ("02_architecting/architecture.md", "reviewers: quality\n# A"),
    "arch:both": ("02_architecting/architecture.md", "reviewers: logic, reviewer_quality\n# A"),
    "plan.yaml": ("04_planning/plan.yaml", "version: 2"),
    "plan": ("04_planning/execution_plan.yaml", TWO),
    "plan:design": ("04_planning/execution_plan.yaml", DESIGNED),
    "plan:bad": ("04_planning/execution_plan.yaml", "{groups: 7"),
    "design": ("05_design/design.md", "# D"),
    "design:empty": ("05_design/design.md", ""),
    "done_1": ("06_implementation/done_1", ""),
    "done_2": ("06_implementation/done_2", ""),
    "done_3": ("06_implementation/done_3", ""),
    "logic+": ("07_review/review_logic.yaml", PASS),
    "logic-": ("07_review/review_logic.yaml", FAIL),
    "logic?": ("07_review/review_logic.yaml", "verdict: perhaps"),
    "long+": ("07_review/review_reviewer_logic.yaml", PASS),
    "long-": ("07_review/review_reviewer_logic.yaml", FAIL),
    "short+": ("07_review/review.yaml", PASS),
    "quality+": ("07_review/review_quality.yaml", PASS),
    "quality-": ("07_review/review_quality.yaml", FAIL),
    "review.md+": ("07_review/review.md", "# R\n\n**Verdict:** pass\n"),
    "review.md-": ("07_review/review.md", "Verdict: FAIL\n"),
    "fix": ("07_review/fix_request.md", "mend it"),
    "fix:empty": ("07_review/fix_request.md", ""),
    "kept": ("history/1.0/07_review/fix_request.md", "mend it"),
    "kept:1": ("history/1.1/07_review/fix_request.md", "mend it again"),
    "kept:2": ("history/2.0/07_review/fix_request.md", "mend that"),
    "summary": ("08_completion/summary.md", "# S"),
    "approval": ("08_completion/approval.json", "{}"),
}
BUILT = "arch plan done_1 done_2"
CLEARED = "arch plan done_2"  # entering fixing clears done_1


def disk(names: str) -> dict[str, str]:
    return dict(FILES[name] for name in names.split())


def state(phase: str, files: Mapping[str, str] | None = None, **values: Any) -> SessionState:
    return state_of(Phase(phase), files, **{"max_review_iterations": 3, **values})


def review_outcome(session: SessionState, on_disk: Artifacts) -> Verdict | None:
    nominated = nominations(session, on_disk)
    return outcome(nominated, verdicts(nominated, on_disk))


# -- completion checks ---------------------------------------------------------------------------

CHECKS = [
    # phase, files, values of the state, complete, because
    ("product_management", "", {}, True, "not requested"),
    ("product_management", "", {"product_manager": True}, False, "the marker `done` is missing"),
    ("product_management", "pm", {"product_manager": True}, True, "the marker `done` exists"),
    ("architecting", "", {}, False, "architecture.md is missing"),
    ("architecting", "arch:empty", {}, False, "architecture.md is empty"),
    ("architecting", "arch", {}, True, "architecture.md, 3 B"),
    ("planning", "", {}, False, "execution_plan.yaml is missing"),
    (
        "planning", "plan.yaml", {}, False,
        "plan.yaml was never accepted: execution_plan.yaml is missing",
    ),
    ("planning", "plan:bad", {}, False, "execution_plan.yaml is not valid"),
    ("planning", "plan", {}, True, "execution_plan.yaml, 2 sub-plans"),
    ("designing", "plan", {}, True, "no design needed"),
    ("designing", "plan", {"needs_design": True}, True, "no design needed"),
    ("designing", "", {"needs_design": True}, False, "design.md is missing"),
    ("designing", "plan:design", {}, False, "design.md is missing"),
    ("designing", "plan:design design:empty", {}, False, "design.md is empty"),
    ("designing", "plan:design design", {}, True, "design.md, 3 B"),
    ("implementing", "", {}, False, "the number of sub-plans is unknown"),
    ("implementing", "plan", {}, False, "0 of 2 sub-plans are done; open: 1, 2"),
    ("implementing", "plan done_1", {}, False, "1 of 2 sub-plans are done; open: 2"),
    ("implementing", "plan done_1 done_2", {}, True, "done_1 to done_2"),
    # the execution plan's count wins over the state's; without one the state's counts
    ("implementing", "plan done_1 done_2", {"subplan_count": 3}, True, "done_1 to done_2"),
    ("implementing", "done_1 done_2", {"subplan_count": 2}, True, "done_1 to done_2"),
    (
        "implementing", "done_1 done_2", {"subplan_count": 3}, False,
        "2 of 3 sub-plans are done; open: 3",
    ),
    # a fix iteration: the fix request exists, and the iteration is greater than 0 or unknown
    ("implementing", "plan fix", {"review_iteration": 1}, True, "a fix iteration has begun"),
    ("implementing", "plan fix", {"review_iteration": None}, True, "a fix iteration has begun"),
    (
        "implementing", "plan fix", {"review_iteration": 0}, False,
        "0 of 2 sub-plans are done; open: 1, 2",
    ),
    (
        "implementing", "plan fix:empty", {"review_iteration": 1}, False,
        "0 of 2 sub-plans are done; open: 1, 2",
    ),
    # if the fix request is lost, its copy in history counts
    ("implementing", "plan kept", {"review_iteration": 1}, True, "a fix iteration has begun"),
    (
        "implementing", "plan kept", {"review_iteration": 2}, False,
        "0 of 2 sub-plans are done; open: 1, 2",
    ),
    ("implementing", "plan kept:1", {"review_iteration": 2}, True, "a fix iteration has begun"),
    (
        "implementing", "plan kept:2", {"review_iteration": 1}, False,
        "0 of 2 sub-plans are done; open: 1, 2",
    ),
    (
        "implementing", "plan kept:2", {"review_iteration": 1, "cycle": 2}, True,
        "a fix iteration has begun",
    ),
    ("reviewing", "", {}, False, "no verdict yet from reviewer_logic"),
    ("reviewing", "logic+", {}, True, "reviewer_logic passed it"),
    ("reviewing", "logic-", {}, False, "reviewer_logic failed it"),
    ("reviewing", "logic?", {}, False, "no verdict yet from reviewer_logic"),
    ("reviewing", "long+", {}, True, "reviewer_logic passed it"),
    ("reviewing", "long-", {}, False, "reviewer_logic failed it"),
    ("reviewing", "logic+ long-", {}, True, "reviewer_logic passed it"),  # the short name first
    ("reviewing", "short+", {}, True, "reviewer_logic passed it"),
    (
        "reviewing", "short+", {"reviewer_nominations": (LOGIC, QUALITY)}, False,
        "no verdict yet from reviewer_logic, reviewer_quality",
    ),
    ("reviewing", "quality+", {}, False, "no verdict yet from reviewer_logic"),
    ("reviewing", "arch:quality quality+", {}, True, "reviewer_quality passed it"),
    ("reviewing", "arch:both logic+", {}, False, "no verdict yet from reviewer_quality"),
    ("reviewing", "arch:both quality-", {}, False, "reviewer_quality failed it"),
    (
        "reviewing", "arch:both logic+ quality+", {}, True,
        "reviewer_logic, reviewer_quality passed it",
    ),
    # the state's nominations win over the front matter's, and may be short names
    (
        "reviewing", "arch:quality logic+", {"reviewer_nominations": ("logic",)}, True,
        "reviewer_logic passed it",
    ),
    ("reviewing", "review.md+", {}, True, "reviewer_logic passed it"),
    ("reviewing", "review.md-", {}, False, "reviewer_logic failed it"),
    (
        "reviewing", "arch:both review.md+", {}, True,
        "reviewer_logic, reviewer_quality passed it",
    ),
    ("reviewing", "arch:both review.md+ logic+", {}, False, "no verdict yet from reviewer_quality"),
    ("reviewing", "review.md+ logic-", {}, False, "reviewer_logic failed it"),
    ("reviewing", "logic-", {"review_outcome": "capped"}, True, "capped after 3 iterations"),
    (
        "reviewing", "fix logic-", {"review_iteration": 1}, True,
        "its findings are being fixed",
    ),
    (
        "reviewing",
        "fix done_1",
        {"review_iteration": 1},
        False,
        "no verdict yet from reviewer_logic",
    ),
    ("reviewing", "fix", {"review_iteration": 0}, False, "no verdict yet from reviewer_logic"),
    ("fixing", "", {}, True, "nothing to fix"),
    ("fixing", "fix", {"review_iteration": 1}, False, "the fix is not handed in"),
    ("fixing", "fix", {"review_iteration": None}, False, "the fix is not handed in"),
    ("fixing", "kept", {"review_iteration": 1}, False, "the fix is not handed in"),
    ("fixing", "fix", {"review_iteration": 0}, True, "nothing to fix"),
    ("fixing", "fix done_1", {"review_iteration": 1}, True, "done_1 exists"),
    # a resume does not undo the cap
    (
        "fixing", "fix", {"review_iteration": 3, "review_outcome": "capped"}, True,
        "capped after 3 iterations",
    ),
    ("completing", "summary approval", {}, False, "the user decides"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("phase", "files", "values", "complete", "because"),
    CHECKS,
    ids=[f"{row[0]}: {row[1] or 'nothing'} {row[2] or ''}" for row in CHECKS],
)
def test_a_phase_is_complete(
    phase: str, files: str, values: dict[str, Any], complete: bool, because: str
) -> None:
    session = state(phase, disk(files), **values)
    found = PIPELINE[Phase(phase)].check(session, artifacts(disk(files)))
    assert (found.complete, found.because) == (complete, because)


def test_big_files_are_named_with_their_size() -> None:
    for size, named in [(999, "999 B"), (4100, "4.1 kB"), (2_500_000, "2.5 MB")]:
        on_disk = artifacts({"02_architecting/architecture.md": "x" * size})
        check = PIPELINE[Phase.ARCHITECTING].check(state("architecting"), on_disk)
        assert check.because == f"architecture.md, {named}"


@pytest.mark.parametrize(
    ("in_state", "front_matter", "nominated"),
    [
        ((), "", (LOGIC,)),
        ((), "arch", (LOGIC,)),
        ((), "arch:quality", (QUALITY,)),
        ((EXPERT,), "arch:quality", (EXPERT,)),
        (("expert", "logic"), "", (EXPERT, LOGIC)),
        (("nobody",), "arch:quality", (QUALITY,)),
    ],
)
def test_nominations_come_from_state_else_front_matter_else_logic(
    in_state: tuple[str, ...], front_matter: str, nominated: tuple[str, ...]
) -> None:
    session = state("reviewing", reviewer_nominations=in_state)
    assert nominations(session, artifacts(disk(front_matter))) == nominated


def test_a_fail_that_is_in_decides() -> None:
    session = state("reviewing", reviewer_nominations=(LOGIC, QUALITY))
    assert review_outcome(session, artifacts(disk("quality-"))) is Verdict.FAIL
    assert review_outcome(session, artifacts(disk("quality+"))) is None
    assert review_outcome(session, artifacts(disk("quality+ logic+"))) is Verdict.PASS


def test_a_hand_made_review_speaks_for_all() -> None:
    found = verdicts((LOGIC, QUALITY), artifacts(disk("review.md-")))
    assert found == {LOGIC: Verdict.FAIL, QUALITY: Verdict.FAIL}


def test_the_count_of_sub_plans() -> None:
    assert subplan_count(state("implementing", subplan_count=5), artifacts(disk("plan"))) == 2
    assert subplan_count(state("implementing", subplan_count=5), artifacts({})) == 5


def test_the_copy_of_the_fix_request_lies_in_the_iteration_that_failed() -> None:
    kept = kept_fix_request(state("fixing", cycle=2, review_iteration=3))
    assert kept == "history/2.2/07_review/fix_request.md"
    assert kept_fix_request(state("fixing")) == "history/1.0/07_review/fix_request.md"


# -- the table: phase x artifacts x state --------------------------------------------------------

# For each phase, the files on disk when a session has reached it; the artifacts lead to that phase.
DISKS = {
    "architecting": "",
    "planning": "arch",
    "designing": "arch plan:design",
    "implementing": "arch plan done_1",
    "reviewing": BUILT,
    "completing": f"{BUILT} logic+",
}
STATES = (
    "product_management", "architecting", "planning", "designing", "implementing", "reviewing",
    "completing", "fixing",
)  # fmt: skip

# Rows: the state's phase; columns: the artifacts' phase; cells: the answer. If the outcome of the
# state's phase exists (right of the diagonal), the answer is the artifacts' phase; if not, it is
# the earlier of the two. A fix is settled by an event, so artifacts cannot lead past it.
TABLE = """
                     architecting  planning      designing     implementing  reviewing     completing
product_management   pm            pm            pm            pm            pm            pm
architecting         =             =             =             =             =             =
planning             architecting  =             =             =             =             =
designing            architecting  planning      =             =             =             =
implementing         architecting  planning      designing     =             =             =
reviewing            architecting  planning      designing     implementing  =             =
fixing               architecting  planning      designing     implementing  fixing        fixing
completing           architecting  planning      designing     implementing  reviewing     =
done                 done          done          done          done          done          done
failed               architecting  planning      designing     implementing  reviewing     completing
"""  # noqa: E501 (a table)


def rows() -> list[tuple[str, str, str]]:
    head, *lines = [line.split() for line in TABLE.strip().splitlines()]
    cells = []
    for said, *answers in lines:
        for on_disk, answer in zip(head, answers, strict=True):
            meant = {"=": on_disk, "pm": "product_management"}.get(answer, answer)
            cells.append((said, on_disk, meant))
    return cells


@pytest.mark.parametrize(("said", "on_disk", "answer"), rows())
def test_the_earlier_of_state_and_artifacts(said: str, on_disk: str, answer: str) -> None:
    inferred = infer(state(said, disk(DISKS[on_disk])), artifacts(disk(DISKS[on_disk])))
    assert inferred.artifacts_phase == on_disk
    assert inferred.phase == answer
    agree = said == on_disk or said in {"done", "failed"}
    expected = None if agree else f"the state says {said}, the artifacts say {on_disk}"
    assert inferred.disagreement == expected


@pytest.mark.parametrize(("said", "on_disk", "answer"), rows())
def test_pending_lines_explain_a_disagreement(said: str, on_disk: str, answer: str) -> None:
    inferred = infer(state(said, disk(DISKS[on_disk])), artifacts(disk(DISKS[on_disk])), pending=1)
    assert inferred.disagreement is None
    assert inferred.phase == answer


@pytest.mark.parametrize("on_disk", DISKS)
@pytest.mark.parametrize("said", STATES)
def test_an_unreadable_state_leaves_it_to_the_artifacts(said: str, on_disk: str) -> None:
    inferred = infer(
        state(said, disk(DISKS[on_disk])), artifacts(disk(DISKS[on_disk])), state_is_known=False
    )
    assert inferred.phase == on_disk
    assert inferred.disagreement is None


FAILED = [
    # phase of the failure, artifacts' phase, pending lines, answer
    ("planning", "planning", 0, "planning"),
    ("planning", "reviewing", 0, "reviewing"),  # no pending line: the artifacts decide
    ("planning", "reviewing", 1, "reviewing"),  # folded in the failed phase, and decides it
    ("reviewing", "reviewing", 1, "reviewing"),
    ("reviewing", "implementing", 0, "implementing"),
    ("reviewing", "implementing", 2, "implementing"),
    ("", "implementing", 0, "implementing"),  # imported: the phase of the failure is unknown
    ("", "implementing", 3, "implementing"),
]


@pytest.mark.parametrize(("failed_in", "on_disk", "pending", "answer"), FAILED)
def test_a_failed_session(failed_in: str, on_disk: str, pending: int, answer: str) -> None:
    interruption = Interruption(cause="lost twice", phase=failed_in) if failed_in else None
    session = state("failed", interruption=interruption)
    inferred = infer(session, artifacts(disk(DISKS[on_disk])), pending=pending)
    assert inferred.phase == answer
    assert inferred.disagreement is None


def test_nothing_but_a_failed_phase_and_some_artifacts() -> None:
    inferred = infer(state("failed"), artifacts(disk(f"{BUILT} logic-")))
    assert inferred.phase == Phase.REVIEWING


# name, files, state (phase, review_iteration if it has one, cycle, …), answer
ITERATIONS = """
fixing, only done_2 left         | CLEARED fix        | fixing 1            | fixing
fixing, request lost             | CLEARED kept       | fixing 1            | fixing
fixing, all of it lost           | CLEARED            | fixing 1            | implementing
fix done, state behind           | BUILT fix          | fixing 1            | fixing
fix done, under review           | BUILT fix          | reviewing 1         | reviewing
review of a fix, marker lost     | CLEARED fix        | reviewing 1         | fixing
review of a fix passed           | BUILT fix logic+   | completing 1        | completing
review of a fix failed again     | BUILT fix logic-   | reviewing 1         | reviewing
second fix                       | CLEARED fix        | fixing 2            | fixing
failed while fixing              | CLEARED fix        | failed 1            | fixing
failed after the fix             | BUILT fix          | failed 1            | reviewing
no iteration recorded, fixing    | CLEARED fix        | fixing              | fixing
no iteration recorded, reviewing | BUILT fix          | reviewing           | reviewing
only failed, while fixing        | CLEARED fix        | failed              | fixing
a request of no iteration        | CLEARED fix        | reviewing 0         | implementing
first review failed              | BUILT logic-       | reviewing 0         | reviewing
capped                           | BUILT fix logic-   | completing 3 capped | completing
capped and failed                | BUILT fix logic-   | failed 3 capped     | completing
capped, marker lost              | CLEARED fix logic- | completing 3 capped | completing
capped at none                   | BUILT logic-       | completing 0 capped | completing
second cycle, planned            | arch plan          | implementing 0 c2   | implementing
second cycle, old copy           | arch plan kept     | implementing 0 c2   | implementing
second cycle, fixing             | CLEARED kept:2     | fixing 1 c2         | fixing
second cycle, begun              |                    | architecting 0 c2   | architecting
asked for a product manager      | arch plan          | implementing pm     | product_management
product manager done             | pm arch plan       | implementing pm     | implementing
"""
WORDS: dict[str, dict[str, Any]] = {
    "c2": {"cycle": 2},
    "capped": {"review_outcome": "capped"},
    "pm": {"product_manager": True},
}


def iterations() -> list[tuple[str, ...]]:
    return [
        tuple(cell.strip() for cell in line.split("|")) for line in ITERATIONS.strip().splitlines()
    ]


@pytest.mark.parametrize(
    ("name", "files", "said", "answer"), iterations(), ids=[row[0] for row in iterations()]
)
def test_iterations_and_cycles(name: str, files: str, said: str, answer: str) -> None:
    phase, *words = said.split()
    values: dict[str, Any] = {}
    for word in words:
        values |= {"review_iteration": int(word)} if word.isdecimal() else WORDS[word]
    found = disk(files.replace("BUILT", BUILT).replace("CLEARED", CLEARED))
    assert infer(state(phase, found, **values), artifacts(found)).phase == answer


def test_what_is_waiting_to_be_archived_does_not_count() -> None:
    files = disk(f"{BUILT} logic+")
    assert infer(state("completing"), artifacts(files)).phase == Phase.COMPLETING
    absent = PIPELINE[Phase.PLANNING].archives
    assert infer(state("planning"), artifacts(files, absent)).phase == Phase.PLANNING


# -- the evidence --------------------------------------------------------------------------------


def test_the_evidence_is_the_walk_up_to_the_first_gap() -> None:
    seen = walk(state("implementing"), artifacts(disk("arch plan done_1")))
    assert [(each.phase, each.complete, each.because, each.paths) for each in seen] == [
        ("product_management", True, "not requested", ()),
        ("architecting", True, "architecture.md, 3 B", ("02_architecting/architecture.md",)),
        (
            "planning", True, "execution_plan.yaml, 2 sub-plans",
            ("04_planning/execution_plan.yaml",),
        ),
        ("designing", True, "no design needed", ()),
        (
            "implementing", False,
            "1 of 2 sub-plans are done; open: 2", ("06_implementation/done_2",),
        ),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("values", "because"),
    [
        ({"phase": "planning"}, "the recorded phase, confirmed by the artifacts"),
        ({"phase": "done"}, "by the recorded phase"),
        ({"phase": "failed"}, "by the artifacts, since the recorded phase is failed"),
        (
            {"phase": "reviewing"},
            "the recorded phase is reviewing, the artifacts show planning: the earlier one counts",
        ),
    ],
)
def test_the_rule_that_chose_is_named(values: dict[str, Any], because: str) -> None:
    session = state(**values)
    assert infer(session, artifacts(disk("arch"))).because == because


# -- properties ----------------------------------------------------------------------------------

NONSENSE = st.sampled_from(["", " ", "\x00", "{", "[]", "verdict: fail", "null", '{"groups": []}'])


def damaged(text: str) -> st.SearchStrategy[str]:
    """Draw the text unchanged, cut off anywhere, or replaced by nonsense."""
    return st.just(text) | NONSENSE | st.integers(0, len(text)).map(lambda length: text[:length])


WHOLE = disk(f"pm {BUILT} design logic+ quality+ fix summary approval") | {
    "07_review/review.md": "Verdict: pass",
    "history/1.0/07_review/fix_request.md": "mend it",
}
DAMAGED = st.fixed_dictionaries(
    {},
    optional={path: damaged(text) for path, text in WHOLE.items()},
)
ANY_STATE = st.builds(
    state_of,
    asked=st.sampled_from([None, False, True]),
    phase=st.sampled_from(Phase),
    cycle=st.integers(0, 3),
    review_iteration=st.none() | st.integers(0, 4),
    review_outcome=st.sampled_from([None, "passed", "capped"]),
    max_review_iterations=st.just(3),
    product_manager=st.booleans(),
    needs_design=st.sampled_from([None, False, True]),
    subplan_count=st.integers(0, 3),
    reviewer_nominations=st.sampled_from([(), (LOGIC,), ("quality", "expert"), ("nobody",)]),
    interruption=st.none()
    | st.builds(Interruption, cause=st.just("c"), phase=st.sampled_from(["planning", "nowhere"])),
)


def first_gap(session: SessionState, on_disk: Artifacts, behind: str | None = None) -> str:
    order = list(PIPELINE)
    phases = order[order.index(behind) :] if behind is not None else order
    return next(each for each in phases if not PIPELINE[each].check(session, on_disk).complete)


@given(ANY_STATE, DAMAGED, st.booleans(), st.integers(0, 2))
def test_no_work_is_skipped_and_none_is_repeated(
    session: SessionState, files: dict[str, str], known: bool, pending: int
) -> None:
    on_disk = artifacts(files)
    inferred = infer(session, on_disk, state_is_known=known, pending=pending)
    gap = first_gap(session, on_disk)
    said = working_phase(session) if pending else session.phase
    if known and session.phase == Phase.DONE:
        assert inferred.phase == Phase.DONE
        return
    order = list(PIPELINE)
    assert inferred.artifacts_phase == gap
    assert inferred.evidence[-1].phase in {inferred.phase, gap}
    if not known or said not in PIPELINE:
        assert inferred.phase == gap
    elif said == gap:
        assert inferred.phase == said
    elif is_decided(session, on_disk, said):
        assert inferred.phase in {said, first_gap(session, on_disk, said), Phase.COMPLETING}
        assert order.index(inferred.phase) >= order.index(said)
    else:
        assert inferred.phase in {said, gap}
        assert order.index(inferred.phase) <= order.index(said)
        walked = [each.complete for each in inferred.evidence]
        assert walked == [True] * order.index(gap) + [False]


def at_work(session: SessionState, *seats: str, phase: str = "", **more: Any) -> SessionState:
    """Return the session with seats that were launched in its phase and have not handed in."""
    place = {
        "phase": phase or session.phase,
        "cycle": session.cycle,
        "iteration": session.iteration,
    }
    records = {seat: {"place": place, "handed_in": False, **more} for seat in seats}
    return replace(session, agents={**session.agents, **records})


PLAYERS = [
    (each.phase, seat)
    for each in PHASE_REGISTRY
    for seat in (("coder", "coder-1", "coder-2") if each.roles == ("coder",) else each.roles)
]


@given(ANY_STATE, DAMAGED, st.sampled_from(PLAYERS), st.integers(0, 1))
def test_what_its_seat_did_not_hand_in_decides_nothing(
    session: SessionState, files: dict[str, str], player: tuple[Phase, str], pending: int
) -> None:
    phase, seat = player
    session = replace(session, phase=phase, reviewer_nominations=(), results={})
    on_disk = artifacts(files)
    inferred = infer(at_work(session, seat), on_disk, pending=pending)
    working = {"coder-2": subplan_count(session, on_disk) > 1}.get(seat, True)
    nominated = seat in nominations(session, on_disk) or seat not in REVIEWERS
    if phase == Phase.FIXING and seat != "coder":
        return
    if phase == Phase.IMPLEMENTING and session.fix is not None and session.fix.sender:
        return
    if phase == Phase.REVIEWING and review_outcome(session, on_disk) is Verdict.FAIL:
        return  # another reviewer's fail decides
    if working and nominated:
        assert earlier(inferred.phase, phase) is inferred.phase


DRAFTS = [
    # phase, files, seats at work, values, answer
    ("product_management", "pm", ["product-manager"], {"product_manager": True}, ""),
    ("architecting", "arch plan", ["architect"], {}, ""),
    ("planning", "arch plan", ["planner"], {}, ""),
    ("designing", "arch plan:design design", ["designer"], {}, ""),
    ("implementing", BUILT, ["coder-2"], {"completed_subplans": (1,)}, ""),
    ("implementing", BUILT, ["coder-1", "coder-2"], {"completed_subplans": (1, 2)}, "reviewing"),
    ("implementing", BUILT, ["coder"], {"completed_subplans": (1,)}, ""),
    ("implementing", BUILT, [], {}, "reviewing"),
    ("fixing", f"{BUILT} fix", ["coder"], {"review_iteration": 1}, ""),
    ("reviewing", f"{BUILT} logic+", [LOGIC], {}, ""),
    ("reviewing", f"{BUILT} long+", [LOGIC], {}, ""),
    ("reviewing", f"{BUILT} short+", [LOGIC], {}, ""),
    ("reviewing", f"{BUILT} review.md+", [LOGIC], {}, ""),
    ("reviewing", f"{BUILT} logic+", [LOGIC], {"verdicts": {LOGIC: "pass"}}, "completing"),
    ("reviewing", f"{BUILT} logic+", [QUALITY], {}, "completing"),
    # work of an earlier cycle, iteration or phase is no draft
    ("architecting", "arch", [], {"cycle": 2}, "planning"),
    ("reviewing", f"{BUILT} fix logic+", [], {"review_iteration": 2}, "completing"),
    ("planning", "arch plan done_1", [], {}, "implementing"),
]


@pytest.mark.parametrize("older", [False, True], ids=["new", "0.1.0"])
@pytest.mark.parametrize(
    ("said", "files", "seats", "values", "answer"), DRAFTS, ids=[f"{r[0]}: {r[1]}" for r in DRAFTS]
)
def test_a_draft_decides_nothing(
    said: str, files: str, seats: list[str], values: dict[str, Any], answer: str, older: bool
) -> None:
    session = state(said, disk(files), **values)
    session = at_work(session, "architect", LOGIC, "planner", phase="elsewhere")
    session = at_work(session, *seats)
    if older:
        agents = {seat: {"epoch": each["place"]} for seat, each in session.agents.items()}
        session = replace(session, agents=agents)
    inferred = infer(session, artifacts(disk(files)))
    assert inferred.phase == (answer or said)


def test_a_draft_is_named_as_one() -> None:
    inferred = infer(at_work(state("architecting"), "architect"), artifacts(disk("arch plan")))
    assert inferred.evidence[-1].because == "architecture.md is a draft that was not handed in"
    assert inferred.disagreement is None


def test_what_was_handed_in_once_is_no_draft_when_it_comes_back() -> None:
    """The session went back because an artifact was lost; then the user restored the artifact."""
    session = at_work(state("architecting"), "architect", handed_in=True)
    assert infer(session, artifacts(disk("arch plan done_1"))).phase == Phase.IMPLEMENTING


LOST = [
    # the outcome of the state's phase exists, but an earlier artifact is lost
    ("planning", "plan", "implementing"),
    ("implementing", "plan done_1 done_2", "reviewing"),
    ("reviewing", "arch plan done_1 logic+", "completing"),
    ("designing", "arch design", "planning"),
    ("completing", "arch plan done_1 logic+", "implementing"),
]


@pytest.mark.parametrize(("said", "files", "answer"), LOST)
def test_work_that_is_done_is_not_done_again_for_what_came_before_it(
    said: str, files: str, answer: str
) -> None:
    inferred = infer(state(said, needs_design=said == "designing" or None), artifacts(disk(files)))
    assert inferred.phase == answer
    assert inferred.disagreement is not None


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("product_management", {"product_manager": True}),
        ("designing", {"needs_design": True}),
        ("fixing", {"review_iteration": 1}),
    ],
)
def test_only_a_phase_that_a_session_has_is_gone_back_to(name: str, values: dict[str, Any]) -> None:
    without = state("completing", needs_design=False, review_iteration=0)
    there = infer(without, artifacts({}))
    completing = replace(there, phase=Phase.COMPLETING)
    with pytest.raises(UsageError, match=f"has no phase `{name}`"):
        chosen_phase(name, without, completing)
    there_too = state("completing", **{"review_iteration": 0, "needs_design": False, **values})
    assert chosen_phase(name, there_too, completing) == name
