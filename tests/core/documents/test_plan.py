"""The rules of plan.yaml and execution_plan.yaml."""

from __future__ import annotations

import copy
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentmux.core.documents.plan import (
    ExecutionPlan,
    Group,
    GroupMode,
    PlanRef,
    check_execution_plan,
    check_plan,
)
from tests.core.plans import group, parsed, plan, subplan


def problems(value: object) -> tuple[str, ...]:
    found, listed = check_plan(value)
    assert (found is None) == bool(listed)
    return listed


def test_a_valid_plan_is_read() -> None:
    found = parsed(plan())
    assert [part.index for part in found.subplans] == [1, 2, 3]
    assert found.subplan(3).dependencies == ("1", "the parser")
    assert found.subplan(2).isolation_rationale == "own module"
    assert found.execution == ExecutionPlan(
        needs_design=False,
        needs_docs=True,
        doc_files=("README.md",),
        groups=(
            Group(
                group_id="core",
                mode=GroupMode.PARALLEL,
                plans=(PlanRef(index=1, name="part 1"), PlanRef(index=2, name="part 2")),
            ),
            Group(group_id="last", mode=GroupMode.SERIAL, plans=(PlanRef(index=3, name="part 3"),)),
        ),
    )


def test_subplans_are_ordered_by_index() -> None:
    value = plan()
    value["subplans"].reverse()
    assert [part.index for part in parsed(value).subplans] == [1, 2, 3]


def test_every_problem_is_listed_at_once() -> None:
    value = plan(version=1, needs_docs="yes")
    del value["plan_overview"]
    value["subplans"][1]["owned_files"] = ["/etc/passwd"]
    value["subplans"][2]["tasks"] = []
    assert problems(value) == (
        "plan_overview: missing",
        "version: expected 2, found 1",
        "subplans[1].owned_files[0]: `/etc/passwd` is not relative to the project",
        "subplans[2].tasks: expected at least one entry",
        "needs_docs: expected true or false, found text",
    )


@pytest.mark.parametrize("value", [None, [], "plan", 3, True])
def test_a_document_that_is_no_mapping_is_refused(value: object) -> None:
    assert len(problems(value)) == 1
    assert problems(value)[0].startswith("plan.yaml: expected a mapping, found ")


@pytest.mark.parametrize("key", sorted(plan()))
def test_each_field_of_the_plan_is_due(key: str) -> None:
    value = plan()
    del value[key]
    assert f"{key}: missing" in problems(value)


@pytest.mark.parametrize("key", sorted(subplan(1)))
def test_each_field_of_a_subplan_is_due(key: str) -> None:
    value = plan()
    del value["subplans"][1][key]
    assert f"subplans[1].{key}: missing" in problems(value)


@pytest.mark.parametrize("key", ["group_id", "mode", "plans"])
def test_each_field_of_a_group_is_due(key: str) -> None:
    value = plan()
    del value["groups"][1][key]
    assert f"groups[1].{key}: missing" in problems(value)


def test_an_unknown_field_is_refused_with_the_nearest_name() -> None:
    value = plan()
    value["subplans"][0]["isolation_rational"] = "own module"
    assert problems(value) == (
        "subplans[0].isolation_rational: unknown field; did you mean `isolation_rationale`?",
    )


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({"version": "2"}, "version: expected 2, found `2`"),
        ({"version": True}, "version: expected 2, found true or false"),
        ({"version": 16**6000}, "version: expected 2, found a number"),
        ({"plan_overview": " \n"}, "plan_overview: expected text, found only white space"),
        ({"needs_design": 1}, "needs_design: expected true or false, found a number"),
        ({"doc_files": {}}, "doc_files: expected a list, found a mapping"),
        ({"doc_files": ["../x"]}, "doc_files[0]: `../x` contains `..`"),
        ({"groups": []}, "groups: expected at least one entry"),
        ({"subplans": []}, "subplans: expected at least one entry"),
        ({"groups": [3]}, "groups[0]: expected a mapping, found a number"),
        ({7: 1}, "7: unknown field"),
    ],
)
def test_wrong_values_of_the_plan(changed: dict[Any, Any], expected: str) -> None:
    value = plan()
    value.update(changed)
    assert any(line.startswith(expected) for line in problems(value)), problems(value)


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({"index": 0}, "index: expected a whole number from 1, found 0"),
        ({"index": True}, "index: expected a whole number from 1, found true or false"),
        ({"index": 16**6000}, "index: expected a whole number from 1, found a number"),
        ({"title": None}, "title: expected text, found nothing"),
        ({"tasks": [{"fix": "it"}]}, "tasks[0]: expected text, found a mapping"),
        ({"owned_files": "a.py"}, "owned_files: expected a list, found text"),
        ({"owned_files": [""]}, "owned_files[0]: expected text, found only white space"),
        ({"owned_files": ["a/../../b"]}, "owned_files[0]: `a/../../b` contains `..`"),
        ({"owned_files": ["~/b"]}, "owned_files[0]: `~/b` is not relative"),
        ({"owned_files": ["a\nb"]}, "owned_files[0]: 'a\\nb' contains a control character"),
        ({"dependencies": [9]}, "dependencies[0]: 9 is not the index of another sub-plan"),
        ({"dependencies": [2]}, "dependencies[0]: 2 is not the index of another sub-plan"),
        ({"dependencies": "9" * 5000}, "dependencies[0]: 9999"),
        ({"dependencies": [[]]}, "dependencies[0]: expected text, found a list"),
    ],
)
def test_wrong_values_of_a_subplan(changed: dict[str, Any], expected: str) -> None:
    value = plan()
    value["subplans"][1].update(changed)
    assert any(line.startswith(f"subplans[1].{expected}") for line in problems(value)), problems(
        value
    )


def test_indices_are_unique() -> None:
    value = plan()
    value["subplans"][2]["index"] = 2
    assert "subplans: index 2 is used more than once" in problems(value)


def test_indices_have_no_gap() -> None:
    value = plan()
    value["subplans"][2]["index"] = 4
    assert "subplans: indices must run from 1 without gaps, found 1, 2, 4" in problems(value)


def test_a_subplan_in_no_group_is_named() -> None:
    value = plan(groups=[group("core", "serial", 1, 2)])
    assert problems(value) == ("subplans[2]: sub-plan 3 is in no group",)


def test_a_subplan_in_two_groups_is_named() -> None:
    value = plan(groups=[group("core", "serial", 1, 2, 3), group("last", "serial", 3)])
    assert problems(value) == ("subplans[2]: sub-plan 3 is named 2 times in groups, not once",)


def test_a_group_of_an_unknown_subplan_is_named() -> None:
    value = plan(groups=[group("core", "serial", 1, 2, 3, 8)])
    assert problems(value) == ("groups[0].plans[3].index: there is no sub-plan 8",)


def test_group_ids_are_unique_and_may_be_numbers() -> None:
    value = plan(groups=[group("x", "serial", 1, 2), group("x", "serial", 3)])
    value["groups"][0]["group_id"] = value["groups"][1]["group_id"] = 1
    assert problems(value) == ("groups: group_id `1` is used more than once",)


@pytest.mark.parametrize(
    ("mode", "found"), [("paralel", "`paralel`"), (None, "nothing"), ([], "a list")]
)
def test_a_mode_is_serial_or_parallel(mode: object, found: str) -> None:
    value = plan()
    value["groups"][0]["mode"] = mode
    assert problems(value) == (f"groups[0].mode: expected `serial` or `parallel`, found {found}",)


@pytest.mark.parametrize(
    ("mine", "theirs"),
    [
        ("a.py", "a.py"),
        ("./a.py", "a.py"),
        ("src//a.py", "src/./a.py"),
        ("src", "src/a.py"),
        ("src/", "src"),
        ("src/deep/er/a.py", "src/deep"),
        (".", "a.py"),
        ("src/*.py", "src/a.py"),
        ("**/*.py", "a.py"),
    ],
)
def test_an_overlap_in_a_parallel_group_is_refused_in_both_orders(mine: str, theirs: str) -> None:
    for one, other in ((mine, theirs), (theirs, mine)):
        value = plan(subplans=[subplan(1, one), subplan(2, "z.py", other), subplan(3)])
        (problem,) = [line for line in problems(value) if "z.py" not in line]
        assert problem.startswith("groups[0]: sub-plans 1 (`")
        assert "own the same file" in problem


@pytest.mark.parametrize(
    ("mine", "theirs"), [("a.py", "b.py"), ("src/a", "src/ab"), ("a/b", "b/a"), ("A.py", "a.py")]
)
def test_neighbours_do_not_overlap(mine: str, theirs: str) -> None:
    value = plan(subplans=[subplan(1, mine), subplan(2, theirs), subplan(3)])
    assert problems(value) == ()


def test_a_serial_group_and_different_groups_may_share_files() -> None:
    value = plan(
        groups=[group("one", "serial", 1, 2), group("two", "parallel", 3)],
        subplans=[subplan(1, "a.py"), subplan(2, "a.py"), subplan(3, "a.py")],
    )
    assert problems(value) == ()


def test_thousands_of_files_are_checked_at_once() -> None:
    files = [f"src/{number}/a.py" for number in range(20_000)]
    value = plan(subplans=[subplan(1, *files), subplan(2, *files), subplan(3)])
    began = time.process_time()
    assert len(problems(value)) == 20_000
    assert time.process_time() - began < 10


_plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["index", "groups", "plans", "x", "file"]) | st.integers(), inner
        )
    ),
    max_leaves=8,
)


@given(value=_plain, key=st.sampled_from(sorted(plan())), deep=st.booleans())
def test_no_value_breaks_the_check(value: object, key: str, deep: bool) -> None:
    whole = plan()
    if deep:
        whole["subplans"][0][key if key in whole["subplans"][0] else "index"] = value
        whole["groups"][0]["plans"] = value
    else:
        whole[key] = value
    for candidate in (value, whole):
        found, listed = check_plan(candidate)
        assert (found is None) == bool(listed)
        run, told = check_execution_plan(candidate)
        assert (run is None) == bool(told)


def test_an_execution_plan_survives_its_fields() -> None:
    execution = parsed(plan()).execution
    fields = execution.to_fields()
    assert fields["subplan_count"] == 3
    assert fields["groups"] == [
        {
            "group_id": "core",
            "mode": "parallel",
            "plans": [
                {"index": 1, "name": "part 1", "file": "plan_1.md"},
                {"index": 2, "name": "part 2", "file": "plan_2.md"},
            ],
        },
        {
            "group_id": "last",
            "mode": "serial",
            "plans": [{"index": 3, "name": "part 3", "file": "plan_3.md"}],
        },
    ]
    assert check_execution_plan(fields) == (execution, ())


def test_an_older_execution_plan_tells_count_and_index_by_its_files() -> None:
    older = {
        "version": 1,
        "groups": [
            {"group_id": "g", "mode": "parallel", "plans": [{"file": "plan_2.md", "name": "b"}]},
            {"group_id": "h", "plans": [{"file": "04_planning/plan_1.md"}]},
        ],
        "later_field": 1,
    }
    found, told = check_execution_plan(older)
    assert told == ()
    assert found is not None
    assert found.subplan_count == 2
    assert [part.indices for part in found.groups] == [(2,), (1,)]
    assert found.groups[1].mode is GroupMode.SERIAL
    assert (found.name(2), found.name(1), found.name(9)) == ("b", "plan_1.md", "")


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({"version": 3}, "version: expected 2 or older, found 3"),
        ({"subplan_count": 2}, "subplan_count: is 2, but the groups have 3"),
        ({"groups": None}, "groups: expected a list, found nothing"),
        ({"groups": []}, "groups: expected at least one entry"),
        (
            {"groups": [{"plans": [{"file": "x.md"}]}]},
            "groups[0].plans[0]: needs `index` or",
        ),
        ({"groups": [{"plans": [{"index": 2}]}]}, "subplans: indices must run from 1"),
        ({"groups": [{"plans": [{"index": 1}] * 2}]}, "subplans: index 1 is used more than once"),
    ],
)
def test_an_execution_plan_that_cannot_be_run_is_refused(
    changed: dict[str, Any], expected: str
) -> None:
    fields = copy.deepcopy(parsed(plan()).execution.to_fields())
    fields.update(changed)
    if "groups" in changed:
        del fields["subplan_count"]
    found, told = check_execution_plan(fields)
    assert found is None
    assert [line[: len(expected)] for line in told] == [expected]
