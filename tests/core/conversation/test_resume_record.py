"""The resume record, and its encoding."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from agentmux.core.codec.records import to_fields
from agentmux.core.conversation.resume_record import decode_record, resolve_record
from tests.core.resume_records import (
    ASSIGN,
    CHECKPOINT,
    CONTINUE,
    LEARN,
    LEARNING,
    REF,
    good,
)


def test_a_value_that_looks_like_a_place_stays_a_value() -> None:
    record = replace(
        CHECKPOINT, checkpoint="/s/{session_id}", session_ref=REF, resume_argv=("d", "{checkpoint}")
    )
    assert resolve_record(record).resume_argv == ("d", "/s/{session_id}")


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
