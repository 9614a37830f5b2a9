"""Which parts of a project's files need trust, are trusted, and are used by a command."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from agentmux.core.config.trust import (
    TrustState,
    find_needed_parts,
    parts_of,
    prompt_part,
    select_trusted,
    select_usable,
    trust_state,
    without,
)

VALUES: Mapping[str, Any] = {
    "version": 1,
    "defaults": {"agent": "robot", "model": None, "session_name": "mine"},
    "roles": {"coder": {"agent": "claude", "args": ("-x",)}, "planner": {"model": "big"}},
    "agents": {"robot": {"like": "base"}, "base": {"command": ("./evil",)}, "other": {}},
    "resume": {"native": False, "commands": {"claude": ("--continue",)}},
    "stall": {"nudge_after": 1.0},
}
KEYS = [
    "defaults.agent",
    "defaults.model",
    "roles.coder",
    "roles.planner",
    "agents.robot",
    "agents.base",
    "agents.other",
    "resume.commands.claude",
]


def test_what_runs_or_is_told_needs_trust_and_nothing_else_does() -> None:
    assert [part.key for part in parts_of(VALUES)] == KEYS
    assert parts_of({}) == parts_of({"tmux": {"size": (80, 24)}, "agents": None}) == ()


def test_without_its_parts_a_configuration_keeps_the_rest() -> None:
    assert without(VALUES, parts_of(VALUES)) == {
        "version": 1,
        "defaults": {"session_name": "mine"},
        "roles": {},
        "agents": {},
        "resume": {"native": False, "commands": {}},
        "stall": {"nudge_after": 1.0},
    }
    assert without(VALUES, ()) == VALUES


def test_a_part_is_trusted_as_it_was_and_no_other_way() -> None:
    known = {part.key: part.digest for part in parts_of(VALUES)}
    changed = {**VALUES, "roles": {**VALUES["roles"], "coder": {"agent": "codex"}}}
    found = {part.key: trust_state(part, known) for part in parts_of(changed)}
    assert found.pop("roles.coder") is TrustState.CHANGED
    assert set(found.values()) == {TrustState.TRUSTED}
    assert trust_state(prompt_part("coder", "do it"), known) is TrustState.NEW
    assert prompt_part("coder", "do it").digest != prompt_part("coder", "do it ").digest
    assert prompt_part("coder", "a").digest != prompt_part("planner", "a").digest


def test_an_agent_goes_with_the_one_that_it_is_like() -> None:
    parts = parts_of(VALUES)
    keys = frozenset(KEYS)
    assert select_usable(parts, keys) == keys
    assert select_usable(parts, keys - {"agents.base"}) == keys - {"agents.base", "agents.robot"}
    assert select_usable(parts, keys - {"agents.other"}) == keys - {"agents.other"}
    known = {part.key: part.digest for part in parts if part.key != "agents.base"}
    assert "agents.robot" not in select_trusted(parts, known)


def effect(*used: str) -> Any:
    return lambda keys: sorted(keys.intersection(used))


@pytest.mark.parametrize(
    ("kept", "used", "asked"),
    [
        ([], [], []),
        ([], ["roles.coder"], ["roles.coder"]),
        (["roles.coder"], ["roles.coder"], []),
        (["roles.coder"], ["roles.coder", "agents.base"], ["agents.base"]),
        (KEYS, KEYS, []),
    ],
)
def test_only_what_would_be_used_is_asked_about(
    kept: list[str], used: list[str], asked: list[str]
) -> None:
    found = find_needed_parts(parts_of(VALUES), frozenset(kept), effect(*used))
    assert [part.key for part in found] == asked


def test_where_one_part_stands_in_for_another_both_are_asked_about() -> None:
    def either(keys: frozenset[str]) -> bool:
        return bool(keys & {"defaults.agent", "roles.coder"})

    found = {part.key for part in find_needed_parts(parts_of(VALUES), frozenset(), either)}
    assert found >= {"defaults.agent", "roles.coder"}
