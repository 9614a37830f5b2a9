from __future__ import annotations

import json
from dataclasses import replace

import pytest

from agentmux.core.records import to_fields
from agentmux.core.resume_record import decode_record, next_previous, resolved
from tests.core.resume_records import (
    ASSIGN,
    CHECKPOINT,
    CONTINUE,
    LEARN,
    LEARNING,
    OTHER_REF,
    REF,
    good,
)


def test_a_value_that_looks_like_a_place_stays_a_value() -> None:
    record = replace(
        CHECKPOINT, checkpoint="/s/{session_id}", session_ref=REF, resume_argv=("d", "{checkpoint}")
    )
    assert resolved(record).resume_argv == ("d", "/s/{session_id}")


def test_what_the_next_record_keeps() -> None:
    older = {**good(), "session_ref": OTHER_REF, "previous": None}
    assert next_previous({**good(), "previous": older, "x": 1}) == {
        key: value for key, value in {**good(), "x": 1}.items() if key != "previous"
    }
    assert next_previous({**good(), "reached": 0, "previous": older}) == older
    assert next_previous({**good(), "rejected": True, "previous": older}) == older
    assert next_previous({**good(), "rejected": True, "previous": good()}) is None
    assert next_previous({**good(), "reached": 0}) is None
    assert next_previous({"agent": 3}) is None
    assert next_previous(None) is None


def test_a_record_survives_its_fields() -> None:
    for record in (ASSIGN, LEARN, LEARNING, CONTINUE, CHECKPOINT, replace(ASSIGN, previous=good())):
        assert decode_record(json.loads(json.dumps(to_fields(record)))) == record


@pytest.mark.parametrize(
    "value",
    [
        None,
        [],
        {},
        {"agent": "claude"},
        {**good(), "resume_argv": "claude"},
        {**good(), "reached": -1},
    ],
)
def test_what_is_no_record_is_none(value: object) -> None:
    assert decode_record(value) is None
