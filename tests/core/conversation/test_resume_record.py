from __future__ import annotations

import json
from dataclasses import replace

import pytest

from agentmux.core.agents.spec import StrategyKind
from agentmux.core.codec.records import to_fields
from agentmux.core.conversation.resume_record import (
    decode_record,
    next_previous,
    resolved,
    restated,
    standing_record,
)
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


def test_other_words_change_how_and_nothing_else() -> None:
    made = restated(ASSIGN, StrategyKind.CONTINUE, lambda each: (str(each.model), "-c"))
    assert made == replace(
        ASSIGN, strategy="continue", resume_argv=("opus", "-c"), argv_ref=ASSIGN.session_ref
    )


@pytest.mark.parametrize("rejected", [True, False])
def test_other_words_are_for_the_conversation_that_stands(rejected: bool) -> None:
    attempt = replace(ASSIGN, reached=0, rejected=rejected, restart="fresh", previous=good())
    made = restated(attempt, StrategyKind.ASSIGN, lambda _: ("claude", "-r", "{session_id}"))
    standing = standing_record(made)
    assert standing is not None
    assert (made.reached, made.resume_argv) == (0, ASSIGN.resume_argv)
    assert resolved(standing).resume_argv == ("claude", "-r", REF)
    assert (standing.rejected, standing.restart) == (rejected, "fresh")
    unreached = replace(attempt, previous=None)
    assert restated(unreached, StrategyKind.NONE, lambda _: ()).resume_argv == ()


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
