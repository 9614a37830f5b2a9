"""What is written for a launch."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from agentmux.core.agents.spec import NO_STRATEGY, ProbeResult, Strategy
from agentmux.core.launch.facts import LaunchFacts
from agentmux.core.launch.plan import plan_launch
from agentmux.core.launch.writing import launch_files, planned_key, record_fields, worktree_env
from tests.core.agent_specs import ASSIGN, CHECKPOINT, CONTINUE, LEARN
from tests.core.launches import FACTS, LAUNCH, NEW, OLD, PLAYER, STATE, again

GONE = replace(PLAYER, probe=ProbeResult(installed=False))


def launch_file(facts: LaunchFacts, *, waits: str = "") -> dict[str, Any]:
    files = launch_files(STATE, plan_launch(STATE, facts), waits=waits)
    assert list(files)[-1] == "launch.json"
    found: dict[str, Any] = json.loads(files["launch.json"])
    return found


def test_the_record_finds_the_conversation_again() -> None:
    fields = record_fields(plan_launch(STATE, FACTS))
    assert (fields["session_ref"], fields["argv_ref"], fields["reached"]) == (NEW, NEW, 0)
    assert fields["place"] == {key: FACTS.epoch[key] for key in FACTS.epoch if key != "files"}
    assert not {"rewound", "moved_from"} & set(fields)


def test_a_conversation_that_comes_back_keeps_its_record() -> None:
    fields = record_fields(plan_launch(STATE, again()))
    assert (fields["session_ref"], fields["reached"], fields["launch"]) == (OLD, 3, LAUNCH)
    assert fields["resume_argv"] == ["robot", "--resume", OLD]


def test_without_an_agent_the_present_record_is_kept() -> None:
    facts = again(player=GONE)
    fields = record_fields(plan_launch(STATE, facts))
    assert {**fields, "place": None, "handed_in": None} == {
        **(facts.history.fields or {}),
        "place": None,
        "handed_in": None,
    }
    assert fields["place"] == {key: FACTS.epoch[key] for key in FACTS.epoch if key != "files"}


@pytest.mark.parametrize(
    ("strategy", "claim"),
    [
        (ASSIGN, f"/claims/{NEW}"),
        (LEARN, f"/claims/{LAUNCH}"),
        (CONTINUE, f"/claims/{LAUNCH}"),
        (CHECKPOINT, None),
        (NO_STRATEGY, None),
    ],
)
def test_a_launch_claims_its_conversation_or_stands_for_it(
    strategy: Strategy, claim: str | None
) -> None:
    new = NEW if strategy is ASSIGN else None
    player = replace(PLAYER, strategy=strategy)
    assert launch_file(replace(FACTS, player=player, new_conversation=new))["claim"] == claim


def test_a_pane_that_waits_offers_what_differs() -> None:
    gate = launch_file(again(), waits="it changed")["gate"]
    choices = gate["choices"]
    assert gate["says"] == "it changed"
    assert list(choices) == ["resume", "fresh", "shell"]
    assert [each["claim"] for each in choices.values()] == [
        f"/claims/{OLD}", f"/claims/{NEW}", None,
    ]  # fmt: skip
    own = {name: bool(each["fact"]["record"]) for name, each in choices.items()}
    assert own == {"resume": False, "fresh": True, "shell": False}
    titles = ["Resume", "Restart fresh", "Shell"]
    assert [each["title"] for each in choices.values()] == titles
    assert choices["resume"]["key"] == planned_key("native")
    choices = launch_file(FACTS, waits="first")["gate"]["choices"]
    assert [(name, each["title"]) for name, each in choices.items()] == [
        ("fresh", "Start"),
        ("shell", "Shell"),
    ]
    assert choices["fresh"]["key"] == planned_key("fresh")


def test_a_pane_without_any_program_shows_the_last_screen() -> None:
    around = replace(FACTS.session_facts, has_shell=False)
    gate = launch_file(replace(FACTS, player=GONE, session_facts=around))["gate"]
    assert (gate["choices"], gate["snapshot"]) == ({}, "/p/s/snapshots/coder-2.json")


def test_only_a_worktree_has_variables() -> None:
    assert worktree_env(None, 4000) == {}
    assert worktree_env("/w", 0) == {"AGENTMUX_WORKTREE": "/w"}
    assert worktree_env("/w", 4000) == {"AGENTMUX_WORKTREE": "/w", "AGENTMUX_PORT_BASE": "4000"}
