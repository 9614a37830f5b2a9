"""The check of a definition: everything that cannot work is refused, with its line."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import agentmux.prompts
from agentmux.adapters.yaml.located import load_located
from agentmux.core.codec.frozen import replace
from agentmux.core.codec.shape import quote_names
from agentmux.core.definitions.definition import (
    Expect,
    Kind,
    Leaf,
    PhaseDefinition,
    PipelineDefinition,
    When,
    definition_fields,
    definition_from,
    first_after_fix,
)
from agentmux.core.definitions.definition_check import (
    NAME_FORM,
    PHASES_MAX,
    CheckedDefinition,
    check_definition,
    names,
)
from agentmux.core.definitions.feature import FEATURE
from agentmux.core.definitions.located import PROBLEMS_MAX, Located
from agentmux.core.definitions.rules import RESERVED, Surroundings
from agentmux.core.names.phase import ROLES
from agentmux.core.prompts.prompt import NAMES

PROMPTS = Path(agentmux.prompts.__file__).parent
AROUND = Surroundings(
    roles=frozenset(ROLES),
    prompts={each.stem: each.read_text(encoding="utf-8") for each in PROMPTS.glob("*.md")}
    | {"mine/threats.md": "Look at {{feature}}.\nThen at {{featur}} and {{ }}."},
    schemas={"threats.json": "", "broken.json": "it is not JSON"},
    commands=("tests", "types"),
    variables=frozenset(NAMES),
)
GOOD = """\
version: 1
name: mine
phases:
  - phase: threats
    kind: document
    roles: [architect]
    leaves: [threats.md, {file: threats.yaml, schema: threats.json}]
  - phase: implementing
    kind: work
    roles: [coder]
  - phase: verifying
    kind: check
    run: [tests]
    on_fail: fixing
  - phase: reviewing
    kind: review
    roles: [reviewer_logic]
    on_fail: fixing
  - phase: fixing
    kind: fix
    folder: implementing
    roles: [coder]
    prompt: coder-fix
  - phase: completing
    kind: complete
    roles: [reviewer_logic]
    prompt: summary
"""


def checked(text: str) -> CheckedDefinition:
    item, problems = load_located(text.encode())
    assert problems == ()
    return check_definition(item, AROUND)


def said(text: str) -> list[str]:
    return [f"{each.line}: {each.what}" for each in checked(text).problems]


def test_a_good_definition_is_what_it_says() -> None:
    pipeline = checked(GOOD).pipeline
    assert pipeline is not None
    assert checked(GOOD).problems == ()
    assert [each.phase for each in pipeline.walk] == [
        "threats", "implementing", "verifying", "reviewing", "completing",
    ]  # fmt: skip
    assert pipeline.phases[0] == PhaseDefinition(
        phase="threats",
        kind=Kind.DOCUMENT,
        folder="threats",
        roles=("architect",),
        leaves=(Leaf(file="threats.md"), Leaf(file="threats.yaml", schema="threats.json")),
    )
    assert pipeline.phases[4].folder == "implementing"


# what is changed in GOOD, what it is changed into, and what is said of it
WRONG = [
    ("version: 1", "version: 2", ["1: version: expected 1"]),
    ("version: 1", "version: true", ["1: version: expected 1"]),
    ("version: 1\n", "", ["1: version: expected 1"]),
    ("name: mine", "name: My Own", [
        "2: name: `My Own`: it must begin with a letter and have up to 32 of a-z, 0-9 and `-`",
    ]),
    ("name: mine\n", "", ["1: name: missing"]),
    ("name: mine", "name: mine\nphase: []", [
        "3: phase: unknown field; did you mean `phases`?",
    ]),
    ("name: mine", "name: mine\nresult: none", [
        "3: result: no result `none`; choose one of `commit`, `report`",
    ]),
    ("kind: work", "kind: wrok", [
        (
            "9: phases[1].kind: no kind `wrok`; did you mean `work`?;"
            f" choose one of {quote_names(Kind)}"
        ),
    ]),
    ("    kind: work\n", "", ["8: phases[1].kind: missing"]),
    ("phase: threats", "phase: ../threats", [
        f"4: phases[0].phase: `../threats`: {NAME_FORM}",
    ]),
    ("phase: threats", "phase: plan", ["4: `plan` is a name of AgentMux's own"]),
    ("phase: threats", "phase: hello", ["4: `hello` is a name of AgentMux's own"]),
    ("phase: threats", "phase: reviewing", [
        "15: two phases have the name `reviewing`, the first in line 4",
    ]),
    ("roles: [architect]", "folder: 03_research\n    roles: [architect]", [
        "6: `03_research` is a name of AgentMux's own",
    ]),
    ("roles: [architect]", "folder: history\n    roles: [architect]", [
        "6: `history` is a name of AgentMux's own",
    ]),
    ("roles: [architect]", "folder: /tmp\n    roles: [architect]", [
        "6: phases[0].folder: `/tmp`: it must be one name of up to 48 of a-z, 0-9, `_` and `-`",
    ]),
    ("run: [tests]", "folder: implementing", [
        "13: the folder `implementing` is that of `implementing`",
    ]),
    ("roles: [architect]", "roles: [architekt]", [
        "6: no role `architekt`; did you mean `architect`?",
    ]),
    ("roles: [architect]", "roles: architect", [
        "6: phases[0].roles: expected a list, found text", "6: a document needs `roles`",
    ]),
    ("roles: [architect]", "roles: [architect, planner]", ["6: a document has one role, not 2"]),
    ("prompt: summary", "prompt: sumary", ["27: no prompt `sumary`"]),
    ("prompt: summary", "prompt: ../../x.md", [
        ("27: phases[5].prompt: `../../x.md`: it must be a name,"
        " or a path below the folder of the file"),
    ]),
    ("prompt: summary", "prompt: mine/threats.md", [
        "27: prompt `mine/threats.md`, line 2: no variable `{{featur}}`; did you mean `feature`?",
        "27: prompt `mine/threats.md`, line 2: no variable `{{ }}`",
    ]),
    ("schema: threats.json", "schema: other.json", ["7: no schema `other.json`"]),
    ("schema: threats.json", "schema: broken.json", ["7: schema `broken.json`: it is not JSON"]),
    ("file: threats.yaml", "file: threats.txt", [
        "7: phases[0].leaves[1].schema: only a `.yaml` file has a schema, not `threats.txt`",
    ]),
    ("leaves: [threats.md,", "leaves: [plan.yaml,", [
        "7: `plan.yaml` is a file of AgentMux's own",
    ]),
    ("leaves: [threats.md,", "leaves: [threats.yaml,", [
        "7: phases[0].leaves[1]: `threats.yaml` is there twice",
    ]),
    ("    leaves: [threats.md, {file: threats.yaml, schema: threats.json}]\n", "", [
        "4: a document needs `leaves`: the files that its agent leaves",
    ]),
    ("run: [tests]", "run: [test]", [
        "13: `verify` has no command `test`; did you mean `tests`?",
    ]),
    ("run: [tests]", "prompt: coder", ["13: a check has no `prompt`"]),
    ("kind: work", "kind: work\n    when: requested", ["10: a work cannot be left out"]),
    ("kind: work", "kind: work\n    expect: fail", ["10: a work has no `expect`"]),
    ("run: [tests]", "when: plan.needs_design", ["13: `plan.needs_design` needs a plan before it"]),
    ("run: [tests]", "run: [tests, tests]", ["13: phases[2].run[1]: `tests` is there twice"]),
    ("    run: [tests]\n    on_fail: fixing", "    on_fail: implementing", [
        "13: `on_fail` must name a fix, not `implementing`",
    ]),
    ("    run: [tests]\n    on_fail: fixing", "    on_fail: fixin", [
        "13: `on_fail` must name a fix, not `fixin`; did you mean `fixing`?",
    ]),
    ("on_fail: fixing", "on_fail: null", [
        "14: phases[2].on_fail: expected text, found nothing",
        "18: phases[3].on_fail: expected text, found nothing",
        "19: no `on_fail` names the fix `fixing`",
    ]),
    ("kind: complete", "kind: document\n    leaves: [a.md]", [
        "1: no phase is of the kind `complete`",
    ]),
    ("kind: document", "kind: complete", [
        "7: a complete has no `leaves`",
        "25: two phases are of the kind `complete`, the first in line 4",
    ]),
    ("    prompt: summary\n", "    prompt: summary\n  - {phase: x, kind: check}\n", [
        "28: a phase comes after `completing`, the last one",
    ]),
    ("    prompt: summary\n", "    prompt: summary\n  - none\n", [
        "28: phases[6]: expected a mapping, found text",
    ]),
    ("kind: document", "kind: work", [
        "7: a work has no `leaves`",
    ]),
    ("folder: implementing", "folder: reviewing", [
        "21: a fix can share only the folder of a work",
    ]),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "expected"), WRONG, ids=lambda each: str(each)[:40])
def test_what_cannot_work_is_refused_with_its_line(old: str, new: str, expected: list[str]) -> None:
    assert old in GOOD
    assert said(GOOD.replace(old, new)) == expected
    assert checked(GOOD.replace(old, new)).pipeline is None


def test_a_fix_shares_no_folder_that_is_cleared_before_it_is_looked_at() -> None:
    work = "  - phase: more\n    kind: work\n    roles: [coder]\n"
    later = GOOD.replace("  - phase: reviewing\n", f"{work}  - phase: reviewing\n")
    assert said(later) == []
    assert said(later.replace("folder: implementing", "folder: more")) == [
        "24: a fix can share only the folder of a work that comes before `verifying`",
    ]


def test_all_problems_are_told_at_once() -> None:
    text = GOOD.replace("kind: work", "kind: wrok").replace("[architect]", "[nobody]")
    assert len(said(text.replace("coder-fix", "coder-fixes"))) == 3


def test_a_plan_comes_once_and_before_all_work() -> None:
    plan = "  - {phase: planning, kind: plan, roles: [planner]}\n"
    at = GOOD.index("  - phase: implementing")
    assert said(GOOD[:at] + plan + GOOD[at:]) == []
    twice = plan + plan.replace("planning", "again")
    assert said(GOOD[:at] + twice + GOOD[at:]) == ["9: a second plan: the work can follow only one"]
    at = GOOD.index("  - phase: verifying")
    assert said(GOOD[:at] + plan + GOOD[at:]) == ["11: a plan must come before all work"]


def test_too_many_phases_and_too_long_ones_are_refused() -> None:
    many = "".join(f"  - {{phase: p{n}, kind: check}}\n" for n in range(1000))
    at = GOOD.index("  - phase: completing")
    assert (
        said(GOOD[:at] + many + GOOD[at:])[-1]
        == f"59: phases[{PHASES_MAX}]: more than {PHASES_MAX} phases"
    )
    leaves = ", ".join(f"{'a' * 40}{n}.md" for n in range(500))
    assert "the pipeline is longer than 16000 bytes, as JSON" in "".join(
        said(GOOD.replace("[threats.md,", f"[{leaves},"))
    )


@pytest.mark.parametrize("text", ["", "null", "# nothing\n"])
def test_an_empty_file_is_refused(text: str) -> None:
    assert said(text) == ["1: the file is empty"]


def test_the_built_in_pipeline_passes_the_check_of_everybodys() -> None:
    item = located(definition_fields(FEATURE))
    assert names(item).prompts <= set(AROUND.prompts)
    assert check_definition(item, AROUND) == CheckedDefinition(pipeline=FEATURE)


def test_names_are_those_that_have_to_exist_beside_the_file() -> None:
    item, _ = load_located(GOOD.replace("prompt: summary", "prompt: /etc/shadow").encode())
    found = names(item)
    assert found.prompts == {"architect", "coder", "reviewer_logic", "coder-fix"}
    assert found.schemas == {"threats.json"}
    assert names(None).prompts == frozenset()


# -- hostile definitions ------------------------------------------------------------------------


def located(value: object) -> Located:
    """Return a plain value as if each of its items stood in a line of its own."""
    lines: dict[str, int] = {}

    def read(value: object, place: str) -> object:
        lines[place] = len(lines) + 1
        if isinstance(value, Mapping):
            dot = "." if place else ""
            return {key: read(each, f"{place}{dot}{key}") for key, each in value.items()}
        if isinstance(value, (list, tuple)):
            return [read(each, f"{place}[{number}]") for number, each in enumerate(value)]
        return value

    return Located(value=read(value, ""), lines=lines)


WORDS = st.sampled_from(
    [
        *("threats", "fixing", "done", "plan", "03_research", "history", "../x", "/etc", "a.md"),
        *("\x1b[31m", "\u202egnp", "\ud800", "", "x" * 500, "{{feature}}", "always", "requested"),
        *("coder", "architect", "reviewer_logic", "coder-fix", "summary", "tests", "pass", "fail"),
        *(each.value for each in Kind),
        *(each.value for each in When),
    ]
)
KEYS = st.sampled_from(
    [
        *("phase", "kind", "folder", "roles", "prompt", "leaves", "when", "on_fail", "run"),
        *("expect", "file", "schema", "version", "name", "result", "phases", "\x1b]0;x\x07"),
    ]
)
ANYTHING = st.recursive(
    WORDS | st.integers() | st.booleans() | st.none() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)
PHASE = st.fixed_dictionaries(
    {"phase": WORDS | st.text("abc", min_size=1, max_size=2), "kind": st.sampled_from([*Kind])},
    optional={
        "folder": WORDS | ANYTHING,
        "roles": st.lists(WORDS, max_size=2) | ANYTHING,
        "prompt": WORDS,
        "leaves": st.lists(WORDS, max_size=2) | ANYTHING,
        "when": WORDS,
        "on_fail": WORDS,
        "run": st.lists(WORDS, max_size=2) | ANYTHING,
        "expect": WORDS | ANYTHING,
    },
)
HOSTILE = ANYTHING | st.fixed_dictionaries(
    {"version": st.just(1) | ANYTHING, "name": WORDS, "phases": st.lists(PHASE | ANYTHING)},
)


def refuses_or_can_run(item: Located) -> None:
    """Assert what holds for every definition, however it looks."""
    found = check_definition(item, AROUND)
    assert (found.pipeline is None) == bool(found.problems)
    assert len(found.problems) <= PROBLEMS_MAX
    for each in found.problems:
        assert 1 <= each.line <= len(item.lines)
        assert len(each.what) < 400
        assert not [c for c in each.what if unicodedata.category(c)[0] == "C"]
    for path in names(item).prompts | names(item).schemas:
        assert not PurePosixPath(path).is_absolute()
        assert ".." not in PurePosixPath(path).parts
    if found.pipeline is not None:
        can_run(found.pipeline)


def can_run(pipeline: PipelineDefinition) -> None:
    phases, walk = pipeline.phases, pipeline.walk
    assert len({each.phase for each in phases}) == len(phases)
    assert len({each.folder for each in walk}) == len(walk)
    assert not {name for each in phases for name in (each.phase, each.folder)} & RESERVED
    assert [each for each in walk if each.kind is Kind.COMPLETE] == [walk[-1]]
    fixes = {each.phase for each in phases if each.kind is Kind.FIX}
    assert fixes == {each.on_fail for each in phases if each.on_fail}
    for each in phases:
        assert each.roles or each.kind is Kind.CHECK
        if each.on_fail:
            assert first_after_fix(pipeline, each.phase) in {one.phase for one in walk}


@given(item=HOSTILE)
def test_no_definition_is_accepted_that_cannot_run(item: object) -> None:
    refuses_or_can_run(located(item))


@given(
    place=st.integers(0, 7),
    key=KEYS,
    value=WORDS | ANYTHING,
    moved=st.none() | st.integers(0, 7),
)
def test_a_change_of_a_good_definition_is_refused_or_can_run(
    place: int, key: str, value: object, moved: int | None
) -> None:
    fields: Any = definition_fields(FEATURE)
    phases: list[Any] = fields["phases"]
    phases[place] = {**phases[place], key: value}
    if moved is not None:
        phases.insert(moved, phases.pop(place))
    refuses_or_can_run(located(fields))


@st.composite
def pipelines(draw: st.DrawFn) -> PipelineDefinition:
    """Return a pipeline that can run."""
    count = draw(st.integers(0, 6))
    fix = PhaseDefinition(phase="mend", kind=Kind.FIX, folder="mend", roles=("coder",))
    made = []
    for n in range(count):
        kind = draw(st.sampled_from([Kind.DOCUMENT, Kind.WORK, Kind.CHECK, Kind.REVIEW]))
        one = PhaseDefinition(
            phase=f"p{n}", kind=kind, folder=draw(st.sampled_from([f"p{n}", f"0{n}-x"]))
        )
        if kind is Kind.CHECK:
            run = draw(st.sampled_from([(), ("tests",), ("types", "tests")]))
            one = replace(one, run=run, expect=draw(st.sampled_from(Expect)))
        else:
            one = replace(one, roles=("reviewer_logic",))
        if kind in {Kind.CHECK, Kind.REVIEW}:
            one = replace(one, on_fail=draw(st.sampled_from(["", "mend"])))
        if kind is Kind.DOCUMENT:
            schema = draw(st.sampled_from(["", "threats.json"]))
            one = replace(one, leaves=(Leaf(file="a.md"), Leaf(file="b.yaml", schema=schema)))
        made.append(one)
    if any(each.on_fail for each in made):
        made.insert(draw(st.integers(0, count)), fix)
    end = PhaseDefinition(phase="end", kind=Kind.COMPLETE, folder="end", roles=("coder",))
    return PipelineDefinition(name="mine", phases=(*made, end))


@given(pipeline=pipelines())
def test_what_a_pipeline_writes_is_read_as_the_same(pipeline: PipelineDefinition) -> None:
    found = check_definition(located(definition_fields(pipeline)), AROUND)
    assert found == CheckedDefinition(pipeline=pipeline)
    recorded = json.loads(json.dumps(definition_fields(pipeline)))
    assert definition_from(recorded, "state.json") == pipeline
    can_run(pipeline)
