"""Whether an agent's conversation is resumed, and for which reason."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import fields, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentmux.core.agents.spec import StrategyKind
from agentmux.core.codec.records import to_fields
from agentmux.core.config.settings import Policy, ResumeSettings
from agentmux.core.conversation import resume_choice
from agentmux.core.conversation.resume_choice import (
    CheckpointState,
    Fresh,
    Guard,
    Native,
    PaneStart,
    ResumeChoice,
    ResumeFacts,
    choose_resume,
    epoch_differences,
    plan_rung,
)
from agentmux.core.conversation.resume_record import ResumeRecord, decode_record, resolve_record
from agentmux.core.conversation.seat_history import SeatHistory, seat_history
from agentmux.core.names.conversations import NO_EARLIER
from tests.core.resume_records import (
    ASSIGN,
    CHECKPOINT,
    CONTINUE,
    EPOCH,
    LEARN,
    LEARNING,
    OTHER_REF,
    REF,
    RUNTIME,
    good,
)

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
DAY_S = 86400.0
OFF = ResumeSettings(native=False)
NEVER = ResumeSettings(policy=Policy.NEVER)
NO_WORDS = ResumeSettings(commands={"claude": ()})
NONE_SHOWN: Mapping[str, bool] = dict.fromkeys(StrategyKind, False)

FACTS = ResumeFacts(
    agent="claude",
    program="claude",
    model="opus",
    host="a",
    cwd="/work",
    home="/home/u/.claude",
    runtime=RUNTIME,
    probed=dict.fromkeys(StrategyKind, True),
    epoch=EPOCH,
    now=NOW,
    settings=ResumeSettings(),
)
KEPT = replace(FACTS, checkpoint=CheckpointState.OK)


def facts_for(record: ResumeRecord) -> ResumeFacts:
    return KEPT if record.strategy == StrategyKind.CHECKPOINT else FACTS


def epoch(**changed: object) -> Mapping[str, object]:
    return {**EPOCH, **changed}


def choice_of(record: ResumeRecord | None, facts: ResumeFacts) -> ResumeChoice:
    return choose_resume(history_of(record), facts)


def history_of(record: ResumeRecord | None) -> SeatHistory:
    return seat_history(None if record is None else to_fields(record))


def files(**changed: object) -> Mapping[str, object]:
    return epoch(files={"04_planning/plan_2.md": "aa", "context.md": "bb", **changed})


@pytest.mark.parametrize(
    ("record", "argv", "reason"),
    [
        (ASSIGN, ASSIGN.resume_argv, "conversation 5f2c1111… got 3 prompts; every check passed"),
        (
            LEARN,
            ("codex", "resume", REF, "-m", "opus"),
            "conversation 5f2c1111… got 3 prompts; every check passed",
        ),
        (
            LEARNING,
            ("codex", "resume", "--last", "-m", "opus"),
            "the latest conversation got 3 prompts; every check passed",
        ),
        (
            replace(CONTINUE, reached=1),
            ("amp", "--continue"),
            "the latest conversation got 1 prompt; every check passed",
        ),
        (
            CHECKPOINT,
            ("demo", "--checkpoint-dir", "/s/c", "--resume", "/s/c/7.json"),
            "the conversation of the checkpoint got 3 prompts; every check passed",
        ),
    ],
    ids=["assign", "learn", "learn-unknown", "continue", "checkpoint"],
)
def test_a_conversation_comes_back_when_every_guard_holds(
    record: ResumeRecord, argv: tuple[str, ...], reason: str
) -> None:
    assert choice_of(record, facts_for(record)) == Native(
        argv=argv, env={"CLAUDE_CONFIG_DIR": "/home/u/.claude"}, reason=reason
    )


Change = Mapping[str, Any]
# guard, record, changes to the record, changes to the facts, reason
FLIPS: list[tuple[Guard, ResumeRecord, Change, Change, str]] = [
    (Guard.SWITCH, ASSIGN, {}, {"fresh_flag": True}, "a fresh start was asked for"),
    (Guard.SWITCH, ASSIGN, {"restart": "fresh"}, {}, "a fresh start was asked for"),
    (
        Guard.SWITCH,
        ASSIGN,
        {},
        {"settings": OFF},
        "`resume.native` is off",
    ),
    (
        Guard.SWITCH,
        ASSIGN,
        {},
        {"settings": NEVER},
        "the resume policy is `never`",
    ),
    (
        Guard.SWITCH,
        ASSIGN,
        {},
        {"settings": NO_WORDS, "strategies": ()},
        "`resume.commands.claude` is empty, so nothing is resumed",
    ),
    (Guard.RECORD, ASSIGN, {"strategy": "none"}, {}, "no conversation was recorded"),
    (Guard.RECORD, ASSIGN, {"strategy": "telepathy"}, {}, "no conversation was recorded"),
    (
        Guard.RECORD,
        ASSIGN,
        {"resume_argv": ()},
        {},
        "no command that resumes its conversation was recorded",
    ),
    (
        Guard.RECORD,
        LEARNING,
        {"latest_argv": ()},
        {},
        "the id of its conversation was never learned",
    ),
    (
        Guard.RECORD,
        ASSIGN,
        {"reached": 0},
        {},
        "no prompt had reached its last conversation",
    ),
    (Guard.RECORD, ASSIGN, {"unsure": True}, {}, "the id of its conversation is unsure"),
    (
        Guard.RECORD,
        LEARNING,
        {"unsure": True},
        {},
        "the id of its conversation is unsure",
    ),
    (
        Guard.RECORD,
        ASSIGN,
        {"session_ref": None},
        {},
        "`none` is not the id of a conversation",
    ),
    (
        Guard.RECORD,
        LEARN,
        {"session_ref": "--dangerous"},
        {},
        "no value for {session_id} in its resume command",
    ),
    (
        Guard.RECORD,
        ASSIGN,
        {"session_ref": "--dangerous"},
        {},
        "`--dangerous` is not the id of a conversation",
    ),
    (
        Guard.RECORD,
        ASSIGN,
        {"resume_argv": ("claude", "--continue")},
        {},
        "its resume command names the conversation 0 times",
    ),
    (
        Guard.RECORD,
        ASSIGN,
        {"resume_argv": ("claude", REF, f"--resume={REF}")},
        {},
        "its resume command names the conversation 2 times",
    ),
    (
        Guard.RECORD,
        CHECKPOINT,
        {"checkpoint": ""},
        {},
        "no value for {checkpoint} in its resume command",
    ),
    (
        Guard.RECORD,
        CHECKPOINT,
        {},
        {"checkpoint": CheckpointState.MISSING},
        "the checkpoint /s/c/7.json is missing",
    ),
    (
        Guard.RECORD,
        CHECKPOINT,
        {},
        {"checkpoint": CheckpointState.CORRUPT},
        "the checkpoint /s/c/7.json is corrupt",
    ),
    (
        Guard.RECORD,
        CHECKPOINT,
        {},
        {"checkpoint": CheckpointState.OTHER_MODEL},
        "the checkpoint /s/c/7.json was made with another model",
    ),
    (
        Guard.RECORD,
        CHECKPOINT,
        {},
        {"checkpoint": CheckpointState.NONE},
        "no checkpoint was left",
    ),
    (
        Guard.RECORD,
        ASSIGN,
        {},
        {"checkpoint": CheckpointState.MISSING},
        "the checkpoint of the conversation is missing",
    ),
    (
        Guard.AGENT,
        ASSIGN,
        {},
        {"agent": "codex"},
        "the seat was played by `claude`, now it is `codex`",
    ),
    (
        Guard.AGENT,
        ASSIGN,
        {},
        {"binds_model": True, "model": None},
        "the conversation belongs to model `opus`, now it is `the default`",
    ),
    (Guard.HOST, ASSIGN, {}, {"host": "b"}, "recorded on host `a`, this is `b`"),
    (
        Guard.CWD,
        ASSIGN,
        {},
        {"cwd": "/moved"},
        "recorded in the directory `/work`, this is `/moved`",
    ),
    (
        Guard.HOME,
        ASSIGN,
        {},
        {"home": "/other"},
        "recorded with the config home `/home/u/.claude`, now it is `/other`",
    ),
    (
        Guard.HOME,
        ASSIGN,
        {},
        {"home_exists": False},
        "the config home `/home/u/.claude` is gone",
    ),
    (
        Guard.RUNTIME,
        ASSIGN,
        {},
        {"runtime": "other 2.1.330 /bin/other:1:2"},
        "another program answers: `claude` then, `other` now",
    ),
    (
        Guard.RUNTIME,
        ASSIGN,
        {},
        {"strategies": ("continue",)},
        "`claude` is not resumed by `assign` any more",
    ),
    (Guard.RUNTIME, ASSIGN, {}, {"runtime": ""}, "no program answers as `claude`"),
    (
        Guard.RUNTIME,
        ASSIGN,
        {},
        {"probed": NONE_SHOWN},
        "the installed program does not show that it can resume",
    ),
    (
        Guard.RUNTIME,
        ASSIGN,
        {},
        {"probed": NONE_SHOWN, "runtime_problem": "`claude --help` did not end"},
        "the installed program does not show that it can resume: `claude --help` did not end",
    ),
    (
        Guard.REWOUND,
        ASSIGN,
        {"rewound": 3},
        {},
        "it went on after work-tree checkpoint 3, to which the files went back",
    ),
    (Guard.EPOCH, ASSIGN, {}, {"epoch": epoch(cycle=2)}, "the earlier one was for cycle 1"),
    (Guard.EPOCH, ASSIGN, {}, {"epoch": epoch(iteration=1)}, "the earlier one was for iteration 0"),
    (Guard.EPOCH, ASSIGN, {}, {"epoch": epoch(subplan=None)}, "the earlier one was for sub-plan 2"),
    (
        Guard.EPOCH,
        ASSIGN,
        {},
        {"epoch": epoch(phase="fixing", iteration=1)},
        "the earlier one was for phase implementing, iteration 0",
    ),
    (
        # Other work reads other files; a file that its prompt does not name is not missing.
        Guard.EPOCH,
        ASSIGN,
        {},
        {"epoch": {**epoch(cycle=2), "files": {}}},
        "the earlier one was for cycle 1",
    ),
    (
        Guard.EPOCH,
        ASSIGN,
        {},
        {"epoch": files(**{"04_planning/plan_2.md": "ab"})},
        "04_planning/plan_2.md changed since the prompt",
    ),
    (
        Guard.EPOCH,
        ASSIGN,
        {},
        {"epoch": files(**{"context.md": None})},
        "context.md is gone since the prompt",
    ),
    (
        Guard.EPOCH,
        ASSIGN,
        {},
        {"epoch": files(**{"notes.md": "cc"})},
        "notes.md came after the prompt",
    ),
    *(
        (
            Guard.AMBIGUOUS,
            record,
            {},
            {"ambiguous": True},
            (
                "`claude` ran beside it or since in the same directory and home, "
                "so its latest conversation may be another one"
            ),
        )
        for record in (CONTINUE, LEARNING)
    ),
    (
        Guard.CLAIM,
        ASSIGN,
        {},
        {"claim_held_by": "process 71"},
        "the conversation is in use by process 71 on this host",
    ),
    (
        Guard.CLAIM,
        ASSIGN,
        {},
        {"claim_held_by": ""},
        "the conversation is in use by another pane on this host",
    ),
    (
        Guard.AGE,
        ASSIGN,
        {},
        {"now": NOW + timedelta(days=6, hours=12)},
        "recorded 7.5 days ago, `resume.max_age` is 7 days",
    ),
    (
        Guard.AGE,
        ASSIGN,
        {},
        {"settings": ResumeSettings(max_age_s=3600.0)},
        "recorded 1 day ago, `resume.max_age` is 1 hour",
    ),
    (Guard.AGE, ASSIGN, {"captured_at": "yesterday"}, {}, "no time was recorded"),
    (
        Guard.HEALTH,
        ASSIGN,
        {"rejected": True},
        {},
        "the agent has rejected this conversation before",
    ),
]


@pytest.mark.parametrize(
    ("guard", "record", "then", "now", "reason"),
    FLIPS,
    ids=[f"{i}-{row[0]}" for i, row in enumerate(FLIPS)],
)
def test_one_guard_alone_makes_it_fresh_and_is_named(
    guard: Guard, record: ResumeRecord, then: Change, now: Change, reason: str
) -> None:
    facts = facts_for(record)
    assert isinstance(choice_of(record, facts), Native)
    choice = choice_of(replace(record, **then), replace(facts, **now))
    assert choice == Fresh(
        reason=reason, guard=guard, warns="the checkpoint " in reason or "no checkpoint " in reason
    )


def test_every_guard_has_a_row_and_its_place() -> None:
    assert {row[0] for row in FLIPS} == set(Guard)
    assert tuple(guard for guard, _ in resume_choice.GUARDS) == tuple(Guard)


# For each guard, changes that make only this guard fail, on a `continue` conversation.
_ALONE: Mapping[Guard, tuple[Change, Change]] = {
    Guard.SWITCH: ({}, {"fresh_flag": True}),
    Guard.RECORD: ({"unsure": True}, {}),
    Guard.AGENT: ({}, {"agent": "codex"}),
    Guard.HOST: ({}, {"host": "b"}),
    Guard.CWD: ({}, {"cwd": "/moved"}),
    Guard.HOME: ({}, {"home_exists": False}),
    Guard.RUNTIME: ({}, {"probed": NONE_SHOWN}),
    Guard.EPOCH: ({}, {"epoch": epoch(cycle=2)}),
    Guard.REWOUND: ({"rewound": 3}, {}),
    Guard.AMBIGUOUS: ({}, {"ambiguous": True}),
    Guard.CLAIM: ({}, {"claim_held_by": "process 71"}),
    Guard.AGE: ({}, {"settings": ResumeSettings(max_age_s=1.0)}),
    Guard.HEALTH: ({"rejected": True}, {}),
}


def broken(*guards: Guard) -> ResumeChoice:
    record, facts = CONTINUE, FACTS
    for guard in guards:
        then, now = _ALONE[guard]
        record, facts = replace(record, **then), replace(facts, **now)
    return choice_of(record, facts)


@pytest.mark.parametrize(("first", "later"), list(itertools.combinations(Guard, 2)))
def test_of_two_guards_the_first_is_named(first: Guard, later: Guard) -> None:
    choice = broken(later, first)
    assert isinstance(choice, Fresh)
    assert choice.guard is first
    assert choice == broken(first)


@given(st.sets(st.sampled_from(Guard), min_size=1))
def test_of_any_guards_the_first_is_named(guards: set[Guard]) -> None:
    choice = broken(*guards)
    assert isinstance(choice, Fresh)
    assert choice.guard is next(guard for guard in Guard if guard in guards)


def test_before_the_first_launch_there_is_no_earlier_conversation() -> None:
    assert choose_resume(history_of(None), None) == Fresh(reason=NO_EARLIER, guard=Guard.RECORD)


def test_without_a_record_nothing_was_recorded() -> None:
    assert choice_of(None, FACTS) == Fresh(
        reason="no conversation was recorded", guard=Guard.RECORD
    )
    switched = choice_of(None, replace(FACTS, fresh_flag=True))
    assert switched == Fresh(reason="a fresh start was asked for", guard=Guard.SWITCH)


@pytest.mark.parametrize(
    "now",
    [
        {"ambiguous": True},
        {"model": "sonnet"},
        {"probed": {}},
        {"settings": ResumeSettings(policy=Policy.CONFIRM)},
        {"now": NOW - timedelta(days=30)},
        {"now": NOW + timedelta(days=6)},
        {"epoch": files(**{"src/unrelated.py": "dd"})},
        {"epoch": files(**{"notes.md": None})},
    ],
    ids=str,
)
def test_what_does_not_concern_the_conversation_keeps_it(now: Change) -> None:
    assert isinstance(choice_of(ASSIGN, replace(FACTS, **now)), Native)


CLAUDES = "/home/u/.local/share/claude/versions"
MOVED = f"claude 2.1.331 {CLAUDES}/2.1.331:7:8"


@pytest.mark.parametrize(
    ("then", "now", "noted"),
    [
        (RUNTIME, RUNTIME, "passed"),
        (RUNTIME, MOVED, "passed (claude 2.1.330 → 2.1.331)"),
        ("claude - /bin/claude:1:2", "claude - /bin/claude:1:3", "passed (claude was updated)"),
        # as 0.1.0 recorded it
        (f"{CLAUDES}/2.1.330:1:2", MOVED, "passed (claude 2.1.330 → 2.1.331)"),
        ("/opt/claude/cli.js:1:2", MOVED, "passed (claude was updated)"),
        ("/bin/claude:1:2", "claude - /bin/claude:1:2", "passed"),
    ],
)
def test_an_update_is_noted_and_never_punished(then: str, now: str, noted: str) -> None:
    choice = choice_of(replace(ASSIGN, runtime=then), replace(FACTS, runtime=now))
    assert isinstance(choice, Native)
    assert choice.reason.endswith(f"every check {noted}")


@pytest.mark.parametrize("then", ["/bin/other:1:2", "other - /bin/other:1:2", "other"])
def test_another_program_is_another_one_in_every_form_of_the_record(then: str) -> None:
    choice = choice_of(replace(ASSIGN, runtime=then), FACTS)
    assert isinstance(choice, Fresh)
    assert choice.reason == "another program answers: `other` then, `claude` now"


def test_no_home_at_all_cannot_be_gone() -> None:
    facts = replace(FACTS, home="", home_exists=False)
    assert isinstance(choice_of(replace(ASSIGN, home=""), facts), Native)


def test_a_time_without_a_zone_is_utc() -> None:
    record = replace(ASSIGN, captured_at="2026-11-20T12:00:00")
    for max_age_s, outcome in ((DAY_S, Native), (DAY_S - 1, Fresh)):
        facts = replace(FACTS, settings=ResumeSettings(max_age_s=max_age_s))
        assert isinstance(choice_of(record, facts), outcome)


# -- the id in the argv --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("was", "now"),
    [
        (("claude", "--resume", REF), ("claude", "--resume", OTHER_REF)),
        (("copilot", f"--resume={REF}"), ("copilot", f"--resume={OTHER_REF}")),
        (("pi", "--session", f"/s/{REF}.jsonl"), ("pi", "--session", f"/s/{OTHER_REF}.jsonl")),
        (("copilot", "--resume={session_id}"), ("copilot", f"--resume={OTHER_REF}")),
        (("a", f"{REF}-2", "{session_id}"), ("a", f"{REF}-2", OTHER_REF)),
    ],
)
def test_the_argv_follows_the_conversation(was: tuple[str, ...], now: tuple[str, ...]) -> None:
    moved = resolve_record(replace(ASSIGN, resume_argv=was, session_ref=OTHER_REF))
    assert moved.resume_argv == now
    assert moved.argv_ref == OTHER_REF
    assert resolve_record(moved) == moved
    choice = choice_of(replace(ASSIGN, resume_argv=was, session_ref=OTHER_REF), FACTS)
    assert isinstance(choice, Native)
    assert choice.argv == now


_refs = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._:-]{0,40}", fullmatch=True)
_words = st.lists(st.text(max_size=12), max_size=5).map(tuple)
_slots = st.sampled_from(["{session_id}", "--resume={session_id}", "/d/{session_id}.jsonl"])


@given(_refs, _words, _words, _slots, st.sampled_from(["assign", "learn"]))
def test_native_by_id_names_its_conversation_in_exactly_one_element(
    ref: str, before: tuple[str, ...], after: tuple[str, ...], slot: str, strategy: str
) -> None:
    record = replace(
        ASSIGN,
        strategy=strategy,
        resume_argv=("agent", *before, slot, *after),
        session_ref=ref,
        argv_ref=None,
    )
    choice = choice_of(record, FACTS)
    word = slot.replace("{session_id}", ref)
    if isinstance(choice, Fresh):
        # Only if another word also contains the id, or has a placeholder.
        assert choice.guard is Guard.RECORD
        assert any(ref in w or "{" in w for w in ("agent", *before, *after))
    else:
        assert choice.argv == ("agent", *before, word, *after)
        assert [w for w in choice.argv if w == word] == [word]


# -- records of failed attempts ------------------------------------------------------------------


def test_an_attempt_that_reached_nothing_leaves_the_last_good_record() -> None:
    attempt = replace(
        ASSIGN,
        session_ref=OTHER_REF,
        argv_ref=None,
        reached=0,
        previous=seat_history(good()).next_previous(),
    )
    choice = choice_of(attempt, FACTS)
    assert isinstance(choice, Native)
    assert choice.argv == ASSIGN.resume_argv
    assert choice.reason == (
        "conversation 5f2c1111… got 3 prompts; every check passed; "
        "a later attempt, which no prompt reached, does not count"
    )
    standing = history_of(attempt).deciding_record
    assert standing == ASSIGN
    assert history_of(standing).deciding_record == standing


def test_an_attempt_that_reached_is_what_counts() -> None:
    attempt = replace(ASSIGN, host="b", previous=good())
    history = history_of(attempt)
    assert history.record == attempt
    assert history.deciding_record is history.record
    assert choice_of(attempt, FACTS) == Fresh(
        reason="recorded on host `b`, this is `a`", guard=Guard.HOST
    )


def test_a_rejection_stays_with_the_conversation() -> None:
    again = replace(ASSIGN, reached=0, rejected=True, previous=good())
    assert choice_of(again, FACTS) == Fresh(
        reason="the agent has rejected this conversation before", guard=Guard.HEALTH
    )
    other = replace(again, session_ref=OTHER_REF)
    assert isinstance(choice_of(other, FACTS), Native)


def test_a_request_for_a_fresh_start_outlives_the_attempt() -> None:
    attempt = replace(ASSIGN, reached=0, restart="fresh", previous=good())
    choice = choice_of(attempt, FACTS)
    assert isinstance(choice, Fresh)
    assert choice.guard is Guard.SWITCH


@pytest.mark.parametrize("previous", [{}, {"agent": "claude"}, {**good(), "reached": 0}, None])
def test_a_previous_record_that_was_not_good_does_not_help(
    previous: Mapping[str, object] | None,
) -> None:
    attempt = replace(ASSIGN, reached=0, previous=previous)
    choice = choice_of(attempt, FACTS)
    assert isinstance(choice, Fresh)
    assert choice.guard is Guard.RECORD


# -- decoding ------------------------------------------------------------------------------------


def test_an_older_record_with_less_in_it_is_read_and_started_afresh() -> None:
    record = decode_record({"agent": "claude", "strategy": "assign", "later_field": [1]})
    assert record == ResumeRecord(agent="claude", strategy="assign")
    choice = choice_of(record, FACTS)
    assert isinstance(choice, Fresh)
    assert choice.guard is Guard.RECORD


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4)
    ),
    max_leaves=12,
)
# Half of the values fit their field, so that decoding often succeeds and the guards are tested.
_kinds: Mapping[str, st.SearchStrategy[object]] = {
    "str": st.text(max_size=20) | st.sampled_from([*StrategyKind, "claude", "2026-11-20T12:00Z"]),
    "str | None": st.none() | st.text(max_size=20) | st.just(REF),
    "int": st.integers(0, 3),
    "bool": st.booleans(),
    "tuple[str, ...]": st.lists(st.text(max_size=9) | st.sampled_from(["{session_id}", REF])),
    "Mapping[str, str]": st.dictionaries(st.text(max_size=5), st.text(max_size=5), max_size=2),
    "Json": st.dictionaries(st.sampled_from(["phase", "cycle", "files", "x"]), _json),
    "Json | None": st.none() | st.dictionaries(st.text(max_size=8), _json, max_size=4),
}
_records = st.fixed_dictionaries(
    {"agent": st.just("claude"), "strategy": _kinds["str"]},
    optional={
        each.name: _kinds[str(each.type)]
        for each in fields(ResumeRecord)
        if each.name not in {"agent", "strategy"}
    },
)


@given(_json | _records | _records.flatmap(lambda r: st.just({**good(), **r})), st.data())
def test_any_json_gets_one_decision_with_a_reason(value: object, data: st.DataObject) -> None:
    then = data.draw(st.none() | _records)
    if isinstance(value, dict) and then is not None:
        value = {**value, "previous": then}
    history = seat_history(value)
    history.next_previous()
    choice = choose_resume(history, data.draw(st.sampled_from([FACTS, KEPT])))
    assert isinstance(choice, Native) != isinstance(choice, Fresh)
    assert choice.reason
    if isinstance(choice, Native):
        assert choice.argv
        assert not any("{session_id}" in word for word in choice.argv)


@given(_records)
def test_filling_in_twice_is_filling_in_once(value: dict[str, object]) -> None:
    record = decode_record(value)
    if record is not None:
        assert resolve_record(resolve_record(record)) == resolve_record(record)


@given(_json, _json)
def test_epochs_of_any_shape_compare(one: object, other: object) -> None:
    then, now = {"cycle": one, "files": one}, {"cycle": other, "files": other}
    assert bool(epoch_differences(then, now)) or one == other or one != one
    assert all(epoch_differences(then, now))


def test_a_long_path_keeps_its_end() -> None:
    path = "/a" * 60 + "/plan_2.md"
    (difference,) = epoch_differences({"files": {path: "a"}}, {"files": {path: "b"}})
    assert difference.startswith("…")
    assert difference.endswith("/plan_2.md changed since the prompt")
    assert len(difference) < 100


# -- the ladder ----------------------------------------------------------------------------------

NATIVE = Native(argv=("claude",), env={}, reason="r")
FRESH = Fresh(reason="r", guard=Guard.HOST)


@pytest.mark.parametrize(
    ("choice", "program", "failed", "shell", "rung"),
    [
        (NATIVE, True, False, True, PaneStart.NATIVE),
        (NATIVE, True, True, True, PaneStart.NATIVE),
        (NATIVE, False, False, True, PaneStart.SHELL),
        (NATIVE, False, False, False, PaneStart.SCREEN),
        (FRESH, True, False, False, PaneStart.FRESH),
        (FRESH, True, True, True, PaneStart.SHELL),
        (FRESH, True, True, False, PaneStart.SCREEN),
        (FRESH, False, False, True, PaneStart.SHELL),
        (FRESH, False, True, False, PaneStart.SCREEN),
    ],
)
def test_the_first_rung_that_holds_is_taken(
    choice: ResumeChoice, program: bool, failed: bool, shell: bool, rung: PaneStart
) -> None:
    taken, why = plan_rung(
        choice,
        is_person=False,
        missing="" if program else "claude",
        failed=failed,
        shell="/bin/sh",
        has_shell=shell,
    )
    assert taken is rung
    assert (why == "r") == (rung in {PaneStart.NATIVE, PaneStart.FRESH})
