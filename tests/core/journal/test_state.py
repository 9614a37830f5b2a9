"""Encoding and decoding of the state."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentmux.core.codec.records import FieldError
from agentmux.core.definitions.definition import (
    Expect,
    Kind,
    Leaf,
    PhaseDefinition,
    PipelineDefinition,
    Result,
    When,
    definition_fields,
)
from agentmux.core.definitions.feature import FEATURE
from agentmux.core.journal.older_form import shown_form
from agentmux.core.journal.results import BaseChecks, CheckResult, Fix, PhaseResult
from agentmux.core.journal.state import (
    ArchivedArtifacts,
    Arrived,
    Base,
    Commit,
    Delivery,
    Input,
    Interruption,
    Issue,
    Moved,
    Options,
    Parked,
    Request,
    Research,
    Reviewed,
    Rewind,
    Seat,
    SessionState,
    Setup,
    StepState,
    TreeCheckpoint,
    decode,
    encode,
)
from agentmux.core.names.layout import SCHEMA_VERSION
from agentmux.core.names.phase import Phase, ResearchKind
from tests.core.builders import seat

_TEXT = st.text(max_size=6)
_NUMBER = st.integers(min_value=0, max_value=2**63 - 1)
_JSON = st.dictionaries(_TEXT, _NUMBER | _TEXT | st.lists(_TEXT, max_size=2), max_size=2)
_TEXTS = st.lists(_TEXT, max_size=3).map(tuple)
_MAP = st.dictionaries(_TEXT, _TEXT, max_size=2)


def values_of(record: type[Any]) -> st.SearchStrategy[Any]:
    return st.builds(record, **{each.name: BY_TYPE[str(each.type)] for each in fields(record)})


def maps_of(record: type[Any]) -> st.SearchStrategy[Any]:
    return st.dictionaries(_TEXT, values_of(record), max_size=2)


_NAME = st.text("abc-_/.", min_size=1, max_size=5)
_NAMES = st.lists(_NAME, max_size=2).map(tuple)
PIPELINES = st.builds(
    PipelineDefinition,
    name=_NAME,
    result=st.sampled_from(Result),
    phases=st.lists(
        st.builds(
            PhaseDefinition,
            phase=_NAME,
            kind=st.sampled_from(Kind),
            folder=_NAME,
            roles=_NAMES,
            prompt=_TEXT,
            leaves=st.lists(st.builds(Leaf, file=_NAME, schema=_TEXT), max_size=2).map(tuple),
            when=st.sampled_from(When),
            on_fail=_TEXT,
            run=_NAMES,
            expect=st.sampled_from(Expect),
        ),
        max_size=2,
    ).map(tuple),
)
BY_TYPE: dict[str, st.SearchStrategy[Any]] = {
    "str": _TEXT,
    "str | None": st.none() | _TEXT,
    "int": _NUMBER,
    "int | None": st.none() | _NUMBER,
    "bool": st.booleans(),
    "bool | None": st.none() | st.booleans(),
    "tuple[str, ...]": _TEXTS,
    "tuple[int, ...]": st.lists(_NUMBER, max_size=3).map(tuple),
    "tuple[Json, ...]": st.lists(_JSON, max_size=2).map(tuple),
    "Mapping[str, str]": _MAP,
    "Mapping[str, Json]": st.dictionaries(_TEXT, _JSON, max_size=2),
}
BY_TYPE |= {"Mapping[str, StepState]": maps_of(StepState)}
BY_TYPE |= {
    "Mapping[str, int]": st.dictionaries(_TEXT, _NUMBER, max_size=2),
    "Mapping[str, CheckResult]": maps_of(CheckResult),
}
BY_TYPE |= {
    "Mapping[str, PhaseResult]": maps_of(PhaseResult),
    "Fix | None": st.none() | values_of(Fix),
    "BaseChecks | None": st.none() | values_of(BaseChecks),
}
BY_TYPE |= {
    "PipelineDefinition": st.just(FEATURE) | PIPELINES,
    "Mapping[str, Research]": maps_of(Research),
    "Mapping[str, Seat]": maps_of(Seat),
    "Mapping[str, Parked]": maps_of(Parked),
    "Base | None": st.none() | values_of(Base),
    "Setup | None": st.none() | values_of(Setup),
    "Delivery | None": st.none() | values_of(Delivery),
    "Rewind | None": st.none() | values_of(Rewind),
    "Moved | None": st.none() | values_of(Moved),
    "Arrived | None": st.none() | values_of(Arrived),
    "Request | None": st.none() | values_of(Request),
    "Reviewed | None": st.none() | values_of(Reviewed),
    "Issue | None": st.none() | values_of(Issue),
    "Commit | None": st.none() | values_of(Commit),
    "Interruption | None": st.none() | values_of(Interruption),
    "tuple[Input, ...]": st.lists(values_of(Input), max_size=2).map(tuple),
    "tuple[ArchivedArtifacts, ...]": st.lists(values_of(ArchivedArtifacts), max_size=2).map(tuple),
    "tuple[TreeCheckpoint, ...]": st.lists(values_of(TreeCheckpoint), max_size=2).map(tuple),
    "Options": values_of(Options),
    # A field that this version knows is not an unknown field.
    "Json": st.dictionaries(_TEXT.map(lambda name: f"x_{name}"), _NUMBER | _TEXT, max_size=2),
}


@given(values_of(SessionState), st.sampled_from(Phase))
def test_decode_is_the_inverse_of_encode(state: SessionState, phase: str) -> None:
    ends = (Phase.DONE, Phase.FAILED)  # a session with any pipeline may be there
    state = replace(
        state, phase=phase if state.pipeline == FEATURE or phase in ends else Phase.DONE
    )
    assert decode(json.loads(json.dumps(encode(state))), where="state.json") == state


def test_an_issue_is_written_with_its_words_only_if_there_are_any() -> None:
    issue = Issue(url="u", number=1, title="t")
    state = SessionState(phase=Phase.DONE, feature="t\n\nbody", issue=issue)
    assert encode(state)["issue"] == {"url": "u", "number": 1, "title": "t"}
    assert state.subject == "t"
    with_words = replace(state, issue=replace(issue, words="w"))
    assert encode(with_words)["issue"] == {"url": "u", "number": 1, "title": "t", "words": "w"}
    assert encode(replace(state, issue=None))["issue"] is None


def test_of_results_and_a_fix_only_what_is_set_is_written() -> None:
    state = SessionState(phase=Phase.REVIEWING)
    assert (encode(state)["results"], encode(state)["fix"]) == ({}, None)
    given = replace(
        state,
        fix=Fix(sender="verifying", iteration=2, sent={"verifying": 2}),
        results={
            "verifying": PhaseResult(iteration=2, checks={"tests": CheckResult(outcome="passed")}),
            "reviewing": PhaseResult(iteration=2, verdicts={"logic": "pass"}),
        },
    )
    written = encode(given)
    assert written["fix"] == {"from": "verifying", "iteration": 2, "sent": {"verifying": 2}}
    assert written["results"] == {
        "verifying": {"iteration": 2, "checks": {"tests": {"outcome": "passed"}}},
        "reviewing": {"iteration": 2, "verdicts": {"logic": "pass"}},
    }
    assert not {"verdicts", "reviews", "review_iteration", "review_outcome"} & written.keys()
    assert given.iteration == 2


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("results", 7),
        ("results", {"reviewing": 7}),
        ("results", {"reviewing": {"iteration": "1"}}),
        ("results", {"reviewing": {"reviews": {"logic": 7}}}),
        ("results", {"verifying": {"checks": {"tests": {}}}}),
        ("base_checks", 7),
        ("base_checks", {"checks": {"tests": {}}}),
        ("fix", 7),
        ("fix", {"iteration": 1}),
        ("fix", {"from": "x", "iteration": 1, "sent": 7}),
    ],
)
def test_results_of_another_form_are_refused(name: str, wrong: object) -> None:
    with pytest.raises(FieldError, match=name):
        decode({**encode(SessionState(phase=Phase.PLANNING)), name: wrong}, where="state.json")


def test_every_state_has_the_same_fields() -> None:
    plain = encode(SessionState(phase=Phase.PLANNING))
    assert decode({"phase": "planning"}, where="x") == SessionState(phase=Phase.PLANNING)
    assert plain["schema_version"] == SCHEMA_VERSION
    assert plain["pipeline"] == definition_fields(FEATURE)
    assert plain.keys() == {each.name for each in fields(SessionState)} - {"extra"}


@pytest.mark.parametrize(
    "wrong",
    [
        7,
        {},
        {"version": 2, "name": "x", "result": "commit", "phases": []},
        {"version": 1, "name": "x", "result": "nothing", "phases": []},
        {"version": 1, "name": "x", "result": "commit", "phases": [7]},
        {"version": 1, "name": "x", "result": "commit", "phases": [{"phase": "p", "kind": "q"}]},
        {
            "version": 1, "name": "x", "result": "commit",
            "phases": [{"phase": "p", "kind": "work", "roles": "coder"}],
        },
    ],
)  # fmt: skip
def test_a_damaged_pipeline_is_told(wrong: object) -> None:
    with pytest.raises(FieldError, match=r"state\.json: pipeline"):
        decode({"phase": "planning", "pipeline": wrong}, where="state.json")


def test_the_phase_alone_is_a_state() -> None:
    assert decode({"phase": "failed"}, where="state.json") == SessionState(phase=Phase.FAILED)


def test_fields_of_another_version_survive_a_rewrite() -> None:
    read = decode({"phase": "planning", "mood": {"of": "the day"}}, where="state.json")
    written = encode(replace(read, phase=Phase.DESIGNING))
    assert written["mood"] == {"of": "the day"}
    assert written["phase"] == "designing"
    assert "extra" not in written


OLDER = [
    # phase, fields of an older state, whether a file asks for a fix, its fix now
    ("planning", {}, False, None),
    ("planning", {"review_iteration": 0}, True, None),  # no fix is known of in iteration 0
    ("reviewing", {}, True, Fix(sender="reviewing", iteration=0, sent={"reviewing": 0})),
    ("fixing", {"review_iteration": 2}, False, Fix(sender="", iteration=2, sent={"reviewing": 2})),
    (
        "fixing", {"review_iteration": 2}, True,
        Fix(sender="reviewing", iteration=2, sent={"reviewing": 2}),
    ),
    ("fixing", {}, None, Fix(sender="reviewing", iteration=0, sent={"reviewing": 0})),
    ("reviewing", {}, None, None),
]  # fmt: skip


@pytest.mark.parametrize(("phase", "older", "asked", "fix"), OLDER)
def test_the_iteration_of_an_older_state_is_that_of_a_fix(
    phase: str, older: dict[str, int], asked: bool | None, fix: Fix | None
) -> None:
    read = decode({"phase": phase, **older}, where="state.json", fix_requested=asked)
    assert read.fix == fix
    assert read.extra == {}
    assert read.iteration == older.get("review_iteration", 0)


def test_what_the_review_of_an_older_state_found_is_its_result() -> None:
    given = {
        "phase": "completing", "schema_version": 1, "review_iteration": 1,
        "verdicts": {"reviewer_logic": "pass"}, "reviews": {"reviewer_logic": {"verdict": "pass"}},
        "review_outcome": "passed",
    }  # fmt: skip
    read = decode(given, where="state.json")
    assert read.results == {
        "reviewing": PhaseResult(
            iteration=1, outcome="passed", verdicts={"reviewer_logic": "pass"},
            reviews={"reviewer_logic": {"verdict": "pass"}},
        )
    }  # fmt: skip
    assert read.schema_version == SCHEMA_VERSION
    assert decode({"phase": "completing", "review_outcome": None}, where="x").results == {}


def test_an_older_state_is_shown_whatever_the_types_of_its_fields() -> None:
    odd = {"phase": "fixing", "review_iteration": "1", "review_outcome": 7, "verdicts": [1]}
    shown = shown_form(odd)
    assert shown["fix"] == {"from": "", "iteration": "1", "sent": {}}
    assert shown["results"] == {"reviewing": {"outcome": 7}}
    assert "verdicts" not in shown
    assert shown_form(shown) is shown


def test_tasks_are_kept_by_kind() -> None:
    state = SessionState(
        phase=Phase.PLANNING, research_tasks={"a": "done"}, web_research_tasks={"b": "dispatched"}
    )
    assert state.tasks(ResearchKind.CODE) == {"a": "done"}
    assert state.tasks(ResearchKind.WEB) == {"b": "dispatched"}


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({}, "`phase` is missing"),
        ({"phase": "sleeping"}, "phase: `sleeping` is not a phase"),
        ({"phase": None}, "`phase` is not text"),
        ({"cycle": "2"}, "`cycle` is not a non-negative whole number"),
        ({"cycle": True}, "`cycle` is not a non-negative whole number"),
        ({"applied_offset": -1}, "`applied_offset` is not a non-negative whole number"),
        ({"applied_offset": 2**63}, "`applied_offset` is not a non-negative whole number"),
        ({"review_iteration": 1.5}, "`review_iteration` is not a non-negative whole number"),
        ({"product_manager": 1}, "`product_manager` is not true or false"),
        ({"signals": "abc"}, "`signals` is not a list of texts"),
        ({"signals": [1]}, "`signals` is not text"),
        ({"completed_subplans": ["1"]}, "`completed_subplans` is not a non-negative whole number"),
        ({"research_tasks": ["a"]}, "`research_tasks` is not a mapping"),
        ({"research_tasks": {"a": 1}}, "`research_tasks` is not text"),
        ({"implementation_groups": {"a": 1}}, "`implementation_groups` is not a list of mappings"),
        ({"seats": []}, "seats is not a mapping"),
        ({"seats": {"coder-1": {"role": "coder"}}}, "seats.coder-1: `launch` is missing"),
        ({"agents": {"coder-1": "claude"}}, "agents is not a mapping of mappings"),
        ({"interruption": "crash"}, "interruption is not a mapping"),
        ({"interruption": {"seat": "a"}}, "interruption: `cause` is missing"),
        ({"pending_archive": "all"}, "pending_archive is not a list"),
        ({"pending_archive": [{"to": "h"}]}, r"pending_archive\[0\]: `paths` is missing"),
        ({"options": {"commit": "yes"}}, "options: `commit` is not true or false"),
        ({"commit": {"status": 1}}, "commit: `status` is not text"),
    ],
)
def test_a_wrong_value_names_its_field(wrong: dict[str, object], named: str) -> None:
    values = wrong if "phase" in wrong or not wrong else {"phase": "planning", **wrong}
    with pytest.raises(FieldError, match=named):
        decode(values, where="state.json")


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({}, True),
        ({"status": "launched", "exit_status": None}, False),
        ({"exit_status": None, "exit_signal": 9}, False),
        ({"exit_status": 0, "status": "finished"}, False),
        ({"mode": "native", "status": "rejected"}, False),
        ({"mode": "native"}, False),
        ({"reached": True}, False),
        ({"heard": True}, False),
    ],
)
def test_what_fails_before_anything_reached_it_has_failed_at_once(
    changed: dict[str, Any], expected: bool
) -> None:
    assert seat(**{"status": "crashed", "exit_status": 2, **changed}).failed_at_once is expected
