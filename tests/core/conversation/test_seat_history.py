"""A seat's earlier launches: which resume record decides, and which data the next one keeps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from agentmux.core.agents.spec import StrategyKind
from agentmux.core.codec.records import to_fields
from agentmux.core.conversation.resume_record import ResumeRecord, resolve_record
from agentmux.core.conversation.seat_history import SeatHistory, seat_history
from tests.core.resume_records import ASSIGN, OTHER_REF, REF, good


def history_of(record: ResumeRecord) -> SeatHistory:
    return seat_history(to_fields(record))


def next_previous(fields: object) -> Mapping[str, object] | None:
    return seat_history(fields).next_previous()


def test_before_the_first_launch_nothing_is_known() -> None:
    history = seat_history(None)
    assert history == SeatHistory()
    assert history.with_command(StrategyKind.NONE, ()) is history


def test_a_record_that_cannot_be_read_is_kept_as_it_is() -> None:
    fields = {"agent": 3}
    assert seat_history(fields) == SeatHistory(fields=fields)


def test_how_the_last_launch_went_is_part_of_it() -> None:
    history = seat_history(good(), failed_at_once=True, never_ran=True)
    assert (history.failed_at_once, history.never_ran) == (True, True)
    assert history.record == ASSIGN


def test_a_good_record_stands_and_its_previous_one_is_not_even_decoded() -> None:
    history = seat_history({**good(), "previous": good()})
    assert history.deciding_record is history.record
    assert history.previous is None


@pytest.mark.parametrize("rejected", [True, False])
def test_over_an_attempt_that_reached_nothing_the_previous_record_stands(rejected: bool) -> None:
    attempt = replace(ASSIGN, reached=0, rejected=rejected, restart="fresh", previous=good())
    history = history_of(attempt)
    assert history.record == attempt
    assert history.previous == ASSIGN
    assert history.deciding_record == replace(ASSIGN, rejected=rejected, restart="fresh")


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


def test_another_command_changes_how_and_nothing_else() -> None:
    history = history_of(ASSIGN).with_command(StrategyKind.CONTINUE, (str(ASSIGN.model), "-c"))
    assert history.record == replace(
        ASSIGN, strategy="continue", resume_argv=("opus", "-c"), argv_ref=ASSIGN.session_ref
    )
    assert history.deciding_record is history.record
    assert history.next_previous() == history_of(ASSIGN).next_previous()


@pytest.mark.parametrize("rejected", [True, False])
def test_another_command_is_for_the_conversation_that_stands(rejected: bool) -> None:
    attempt = replace(ASSIGN, reached=0, rejected=rejected, restart="fresh", previous=good())
    history = history_of(attempt).with_command(
        StrategyKind.ASSIGN, ("claude", "-r", "{session_id}")
    )
    standing = history.deciding_record
    assert standing is not None
    assert history.record == attempt
    assert resolve_record(standing).resume_argv == ("claude", "-r", REF)
    assert (standing.rejected, standing.restart) == (rejected, "fresh")
    alone = history_of(replace(attempt, previous=None)).with_command(StrategyKind.NONE, ())
    assert alone.record is not None
    assert alone.record.resume_argv == ()
