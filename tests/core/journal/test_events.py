"""Encoding and parsing of journal events."""

from __future__ import annotations

import json
from dataclasses import fields
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentmux.core.codec.records import FieldError
from agentmux.core.journal.events import (
    FACTS,
    OLDER_VERSION,
    SIGNALS,
    USER_DECISIONS,
    Approved,
    CodeDone,
    Event,
    Fact,
    Resumed,
    ReviewDone,
    SessionFailed,
    UnknownEventError,
    encode,
    parse,
)
from tests.core.builders import AT, event

_TEXT = st.text(max_size=8)
_NUMBER = st.integers(min_value=0, max_value=2**63 - 1)
_JSON = st.dictionaries(
    _TEXT, _NUMBER | _TEXT | st.none() | st.lists(_NUMBER, max_size=2), max_size=2
)
BY_TYPE: dict[str, st.SearchStrategy[Any]] = {
    "str": _TEXT,
    "str | None": st.none() | _TEXT,
    "int": _NUMBER,
    "int | None": st.none() | _NUMBER,
    "bool": st.booleans(),
    "bool | None": st.none() | st.booleans(),
    "Json": _JSON,
    "tuple[str, ...]": st.lists(_TEXT, max_size=3).map(tuple),
    "tuple[int, ...]": st.lists(st.integers(min_value=0, max_value=9), max_size=3).map(tuple),
    "Mapping[str, str]": st.dictionaries(_TEXT, _TEXT, max_size=2),
    "tuple[Json, ...]": st.lists(_JSON, max_size=2).map(tuple),
}


def facts_of(kind: type[Fact]) -> st.SearchStrategy[Fact]:
    return st.builds(kind, **{each.name: BY_TYPE[str(each.type)] for each in fields(kind)})


EVENTS = st.builds(
    Event,
    id=_TEXT,
    at=_TEXT,
    seat=_TEXT,
    launch=_TEXT,
    cycle=_NUMBER,
    fact=st.one_of(*(facts_of(kind) for kind in FACTS.values())),
)


@given(EVENTS)
def test_parse_is_the_inverse_of_encode(made: Event) -> None:
    assert parse(json.loads(json.dumps(encode(made)))) == made


@pytest.mark.parametrize("kind", sorted(FACTS))
def test_every_kind_survives_its_journal_line(kind: str) -> None:
    """This covers every class in every run, whatever hypothesis draws."""
    smallest = {each.name: _SMALLEST[str(each.type)] for each in fields(FACTS[kind])}
    made = event(FACTS[kind](**smallest), "coder-1", "l1")
    line = json.loads(json.dumps(encode(made)))
    assert line["event"] == kind
    assert set(line["payload"]) == set(smallest)
    assert parse(line) == made


_SMALLEST: dict[str, Any] = {
    "str": "x", "str | None": None, "int": 0, "int | None": None, "bool": True,
    "bool | None": None, "Json": {"a": [1]}, "tuple[str, ...]": ("a", "b"),
    "tuple[int, ...]": (1, 2),
    "Mapping[str, str]": {"a": "b"},
    "tuple[Json, ...]": ({"a": [1]},),
}  # fmt: skip


def test_the_envelope_is_the_documented_one() -> None:
    made = event(CodeDone(subplan_index=2), "coder-2", "l7", id="i", cycle=3)
    assert encode(made) == {
        "v": 2, "id": "i", "at": AT, "event": "submit_done", "seat": "coder-2", "launch": "l7",
        "cycle": 3, "payload": {"subplan_index": 2},
    }  # fmt: skip


def test_signals_are_named_like_their_tools() -> None:
    assert {
        "submit_pm_done", "submit_architecture", "submit_plan", "submit_design", "submit_done",
        "submit_review", "submit_research_done", "submit_summary", "submit_hello", "submit_phase",
        "research_dispatch_code", "research_dispatch_web",
    } == SIGNALS  # fmt: skip
    assert {"approve", "request_changes"} == USER_DECISIONS


@pytest.mark.parametrize("version", [3, 0, None, "1", True])
def test_another_version_stops_everything(version: object) -> None:
    line = {**encode(event(Approved(), "user")), "v": version}
    with pytest.raises(UnknownEventError, match="version"):
        parse(line)


def test_lines_of_both_versions_are_read_alike() -> None:
    made = event(Approved(), "user")
    assert [encode(made)["v"], encode(made, OLDER_VERSION)["v"]] == [2, 1]
    assert parse(encode(made, OLDER_VERSION)) == parse(encode(made)) == made


@pytest.mark.parametrize(
    ("found", "read"),
    [
        ({"subplan_count": 1}, {"subplan_count": 1}),
        (
            {"subplan_count": 1, "verdicts": {"reviewer_logic": "pass"}, "reviews": {}},
            {
                "subplan_count": 1,
                "results": {"reviewing": {"verdicts": {"reviewer_logic": "pass"}, "reviews": {}}},
            },
        ),
    ],
)
def test_what_an_older_line_found_of_the_review_is_its_result(
    found: dict[str, Any], read: dict[str, Any]
) -> None:
    payload = {"phase": "reviewing", "cycle": 1, "review_iteration": 2, "found": found}
    line = {
        **encode(event(Resumed(phase="x", cycle=1, found={})), OLDER_VERSION),
        "payload": payload,
    }
    assert parse(line).fact == Resumed(phase="reviewing", cycle=1, found=read)


def test_an_unknown_kind_stops_everything() -> None:
    line = {**encode(event(Approved(), "user")), "event": "agent_teleported"}
    with pytest.raises(UnknownEventError, match="`agent_teleported`") as caught:
        parse(line)
    assert caught.value.hints == ("update agentmux",)


def test_a_field_of_a_newer_minor_version_is_passed_over() -> None:
    made = event(CodeDone(subplan_index=2), "coder-2", "l7")
    line = encode(made)
    newer = {**line, "host": "h", "payload": {"subplan_index": 2, "mood": "good"}}
    assert parse(newer) == made


def test_a_failure_of_an_older_journal_names_no_phase() -> None:
    made = event(SessionFailed(cause="lost twice"), "planner", "l7")
    assert parse({**encode(made), "payload": {"cause": "lost twice"}}) == made


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"id": 7}, "`id` is not text"),
        ({"at": None}, "`at` is not text"),
        ({"cycle": "1"}, "`cycle` is not a non-negative whole number"),
        ({"cycle": True}, "`cycle` is not a non-negative whole number"),
        ({"cycle": -1}, "`cycle` is not a non-negative whole number"),
        ({"payload": []}, "`payload` is not a mapping"),
        ({"payload": {"verdict": "pass"}}, "`role` is missing"),
        ({"payload": {"role": "r", "verdict": 1}}, "`verdict` is not text"),
        ({"payload": {"role": "r", "verdict": "pass", "review": 1}}, "`review` is not a mapping"),
    ],
)
def test_a_wrong_type_names_its_field(changed: dict[str, object], named: str) -> None:
    line = encode(event(ReviewDone(role="r", verdict="pass"), "r", "l1"))
    with pytest.raises(FieldError, match=named):
        parse({**line, **changed})


def test_a_missing_id_is_an_error() -> None:
    line = encode(event(Approved(), "user"))
    del line["id"]
    with pytest.raises(FieldError, match="`id` is missing"):
        parse(line)
