"""Finding an agent's entry, and choosing its strategy."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agentmux.core.agents.command_lines import launch_argv, resume_argv, strategy_env
from agentmux.core.agents.spec import (
    NO_STRATEGY,
    AgentSpec,
    ProbeResult,
    PromptBy,
    Strategy,
    StrategyKind,
    assumed_strategy,
    choose_strategy,
    home_of,
    is_session_ref,
    spec_for,
    unset_names,
    with_resume,
)
from agentmux.errors import UsageError
from tests.core.agent_specs import ASSIGN, CONTINUE, SPEC, UUID


@pytest.mark.parametrize("ref", [UUID, "ses_1AbC", "T-5928a90d", "thread:1.2"])
def test_ids_of_the_field_are_ids(ref: str) -> None:
    assert is_session_ref(ref)


@pytest.mark.parametrize(
    ("holds", "expected"),
    [
        ({"assign": True, "continue": True}, ASSIGN),
        ({"assign": False, "continue": True}, CONTINUE),
        ({"assign": False, "continue": False}, NO_STRATEGY),
        ({}, NO_STRATEGY),
    ],
)
def test_the_first_strategy_whose_probe_holds_is_used(
    holds: dict[str, bool], expected: Strategy
) -> None:
    assert choose_strategy(SPEC, ProbeResult(installed=True, strategies=holds)) is expected


def test_without_a_probe_the_first_strategy_is_used() -> None:
    assert choose_strategy(SPEC, None) is ASSIGN


def test_until_the_program_has_answered_it_counts_as_what_the_registry_promises() -> None:
    silent = ProbeResult(installed=True, problem="`robot --help` did not end within 1 s")

    assert choose_strategy(SPEC, silent) is ASSIGN
    assert choose_strategy(SPEC, replace(silent, installed=False)) is NO_STRATEGY


@pytest.mark.parametrize(
    ("last", "failed", "expected"),
    [
        (None, False, ASSIGN),
        ("assign", False, ASSIGN),
        ("continue", False, CONTINUE),
        ("none", False, NO_STRATEGY),
        ("assign", True, NO_STRATEGY),
        (None, True, NO_STRATEGY),
    ],
)
def test_a_guess_that_failed_is_not_made_again(
    last: str | None, failed: bool, expected: Strategy
) -> None:
    assert assumed_strategy(SPEC, last, failed=failed) is expected


def test_a_home_of_its_own_makes_a_strategy_private() -> None:
    own = Strategy(
        kind=StrategyKind.CONTINUE, resume=("-c",), env={"ROBOT_HOME": "{checkpoint_dir}"}
    )

    assert own.private
    assert not CONTINUE.private
    assert strategy_env(SPEC, own, checkpoint_dir="/s/c") == {"ROBOT_HOME": "/s/c"}


REGISTRY = {"robot": SPEC, "robot-2": AgentSpec(name="robot-2", command=("robot",))}


@pytest.mark.parametrize(
    ("typed", "name", "known", "command"),
    [
        ("robot", "robot", True, ("robot",)),
        ("robot-2", "robot-2", True, ("robot",)),
        ("/opt/bin/robot --safe", "robot", True, ("/opt/bin/robot", "--safe")),
        ("mycli 'a b' $HOME ; rm", "mycli", False, ("mycli", "a b", "$HOME", ";", "rm")),
        (("my cli", "x"), "my cli", False, ("my cli", "x")),
    ],
)
def test_an_agent_is_found_by_name_or_command(
    typed: str | tuple[str, ...], name: str, known: bool, command: tuple[str, ...]
) -> None:
    spec = spec_for(typed, REGISTRY)

    assert (spec.name, spec.known, spec.command) == (name, known, command)


def test_an_unknown_command_runs_exactly_as_typed_and_forgets() -> None:
    spec = spec_for("mycli --fast", REGISTRY)
    strategy = choose_strategy(spec, None)

    assert strategy.kind is StrategyKind.NONE
    assert launch_argv(spec, strategy, model="big", prompt="Go.") == ("mycli", "--fast")
    assert spec.prompt is PromptBy.PASTE


@pytest.mark.parametrize("typed", ["", "  ", "mycli 'open", ("",)])
def test_a_command_that_is_none_is_refused(typed: str | tuple[str, ...]) -> None:
    with pytest.raises(UsageError):
        spec_for(typed, REGISTRY)


@pytest.mark.parametrize(
    ("words", "kind", "launch", "resume", "first"),
    [
        (("--continue",), StrategyKind.CONTINUE, (), ("--continue",), False),
        (("resume",), StrategyKind.CONTINUE, (), ("resume",), True),
        (("-r", "{session_id}"), "assign", ASSIGN.launch, ("-r", "{session_id}"), False),
    ],
)
def test_the_shorthand_overrides_resume_words(
    words: tuple[str, ...],
    kind: str,
    launch: tuple[str, ...],
    resume: tuple[str, ...],
    first: bool,
) -> None:
    spec = spec_for("robot", REGISTRY, resume_commands={"robot": words})
    nothing = ProbeResult(installed=True, strategies={"assign": True})
    strategy = choose_strategy(spec, nothing)

    assert (strategy.kind, strategy.launch) == (kind, launch)
    assert (strategy.resume, strategy.resume_first) == (resume, first)


def test_the_shorthand_goes_by_base_name_and_reaches_unknown_commands() -> None:
    commands = {"mycli": ("--last",)}
    spec = spec_for("/opt/mycli -v", REGISTRY, resume_commands=commands)

    assert resume_argv(spec, choose_strategy(spec, None)) == ("/opt/mycli", "-v", "--last")
    assert with_resume(SPEC, commands) is SPEC


@pytest.mark.parametrize("words", [(), ("--resume", "{session_id}")])
def test_a_shorthand_that_cannot_work_resumes_nothing(words: tuple[str, ...]) -> None:
    spec = spec_for("mycli", {}, resume_commands={"mycli": words})

    assert choose_strategy(spec, None) is NO_STRATEGY


def test_marks_of_an_outer_agent_are_taken_away_and_logins_are_not() -> None:
    spec = AgentSpec(name="codex", command=("codex",), home_env="CODEX_HOME")
    names = (
        *("CLAUDECODE", "CLAUDE_CODE_SESSION_ID", "CLAUDE_CODE_ENTRYPOINT", "CODEX_THREAD_ID"),
        *("CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_CODE_USE_BEDROCK", "CODEX_HOME", "CODEX_API_KEY"),
        *("PATH", "HOME", "GEMINI_CLI_HOME", "CLAUDE_CONFIG_DIR", "GEMINI_CLI", "OPENCODE"),
    )

    assert unset_names(spec, names) == (
        *("CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SESSION_ID", "CODEX_THREAD_ID"),
        *("GEMINI_CLI", "OPENCODE"),
    )


def test_the_home_is_the_agents_own_or_the_users() -> None:
    spec = AgentSpec(name="x", command=("x",), home_env="X_HOME")

    assert home_of(spec, {"HOME": "/h", "X_HOME": "/x"}) == "/x"
    assert home_of(spec, {"HOME": "/h", "X_HOME": ""}) == "/h"
    assert home_of(SPEC, {"HOME": "/h", "X_HOME": "/x"}) == "/h"
