# ruff: noqa: RUF001 (the screens of agents hold such signs)
from __future__ import annotations

import json

import pytest

from agentmux.core.agents import (
    NO_STRATEGY,
    AgentSpec,
    HookFormat,
    Hooks,
    Mcp,
    ProbeResult,
    PromptBy,
    Strategy,
    StrategyKind,
    choose_strategy,
    home_of,
    is_session_ref,
    spec_for,
    unset_names,
    with_resume,
)
from agentmux.core.command_lines import (
    hook_document,
    hook_words,
    kept_file,
    launch_argv,
    mcp_document,
    mcp_words,
    needs_mcp_file,
    prompt_words,
    resume_argv,
    strategy_env,
)
from agentmux.core.screens import LAST_ROWS, ScreenMark, is_rejection, read_screen, shows_prompt
from agentmux.errors import UsageError

UUID = "6f1b0c8e-0a4f-4f57-9d4e-0d6f3a1f9a10"
ASSIGN = Strategy(
    kind=StrategyKind.ASSIGN,
    launch=("--session-id", "{session_id}"),
    resume=("--resume", "{session_id}"),
    probe={"assign": "--session-id", "resume": "--resume"},
)
LEARN = Strategy(
    kind=StrategyKind.LEARN,
    resume=("resume", "{session_id}"),
    resume_first=True,
    learn="THREAD",
    probe={"resume": "resume"},
)
CONTINUE = Strategy(kind=StrategyKind.CONTINUE, resume=("--continue",), probe={"c": "--continue"})
CHECKPOINT = Strategy(
    kind=StrategyKind.CHECKPOINT,
    launch=("--checkpoint-dir", "{checkpoint_dir}"),
    resume=("--checkpoint-dir", "{checkpoint_dir}", "--resume", "{checkpoint}"),
)
SPEC = AgentSpec(
    name="robot",
    match=("robot",),
    command=("robot",),
    args=("--quiet",),
    model_flag="--model",
    prompt=PromptBy.ARGV,
    permission_args=("--allow",),
    strategies=(ASSIGN, CONTINUE),
)


def test_launch_words_come_in_their_order() -> None:
    argv = launch_argv(SPEC, ASSIGN, model="big", args=["--x"], session_ref=UUID, prompt="Go.")

    assert argv == (
        *("robot", "--quiet", "--model", "big", "--allow", "--x"),
        *("--session-id", UUID, "Go."),
    )


def test_resume_words_replace_launch_words() -> None:
    argv = resume_argv(SPEC, ASSIGN, model="big", args=["--x"], session_ref=UUID, prompt="Go on.")

    assert argv == (
        *("robot", "--quiet", "--model", "big", "--allow", "--x"),
        *("--resume", UUID, "Go on."),
    )


def test_a_subcommand_comes_right_behind_the_command() -> None:
    argv = resume_argv(SPEC, LEARN, model="big", session_ref="T-1", prompt="Go on.")

    assert argv == (*("robot", "resume", "T-1", "--quiet", "--model", "big", "--allow", "Go on."),)


def test_a_checkpoint_is_found_by_its_folder_and_its_file() -> None:
    launched = launch_argv(SPEC, CHECKPOINT, checkpoint_dir="/s/c p")
    resumed = resume_argv(SPEC, CHECKPOINT, checkpoint_dir="/s/c p", checkpoint="/s/c p/l.json")

    assert launched[-2:] == ("--checkpoint-dir", "/s/c p")
    assert resumed[-4:] == ("--checkpoint-dir", "/s/c p", "--resume", "/s/c p/l.json")


def test_without_a_model_there_is_no_flag_and_without_a_flag_no_model() -> None:
    plain = AgentSpec(name="x", command=("x",))

    assert launch_argv(SPEC, NO_STRATEGY) == ("robot", "--quiet", "--allow")
    assert launch_argv(plain, NO_STRATEGY, model="big") == ("x",)


@pytest.mark.parametrize(
    ("flag", "by", "expected"),
    [
        (None, PromptBy.ARGV, ("Go; $(x) 'y'",)),
        ("-i", PromptBy.ARGV, ("-i", "Go; $(x) 'y'")),
        ("-i", PromptBy.PASTE, ()),
        (None, PromptBy.STDIN, ()),
    ],
)
def test_the_prompt_is_one_word_or_none(
    flag: str | None, by: PromptBy, expected: tuple[str, ...]
) -> None:
    spec = AgentSpec(name="x", command=("x",), prompt=by, prompt_flag=flag)

    assert prompt_words(spec, "Go; $(x) 'y'", resuming=False) == expected


def test_a_resumed_agent_may_want_its_prompt_in_another_way() -> None:
    spec = AgentSpec(name="x", command=("x",), prompt=PromptBy.ARGV, resume_prompt=PromptBy.PASTE)

    assert launch_argv(spec, CONTINUE, prompt="Go.") == ("x", "Go.")
    assert resume_argv(spec, CONTINUE, prompt="Go on.") == ("x", "--continue")


def test_a_value_is_filled_in_once_and_stays_one_word() -> None:
    strategy = Strategy(
        kind=StrategyKind.ASSIGN,
        launch=("--s={checkpoint_dir}/{session_id}.md",),
        resume=("{checkpoint_dir}/{session_id}.md",),
    )
    folder = "/a b/{session_id}/$(x)"

    assert launch_argv(SPEC, strategy, session_ref="id-1", checkpoint_dir=folder)[-1] == (
        f"--s={folder}/id-1.md"
    )
    assert kept_file(strategy, "id-1", folder) == f"{folder}/id-1.md"
    assert kept_file(ASSIGN, "id-1", folder) is None


@pytest.mark.parametrize("ref", ["", "--yolo", "-x", "a b", "a/b", "../x", "a\nb", "é", "x" * 129])
def test_what_is_no_id_never_gets_into_an_argv(ref: str) -> None:
    assert not is_session_ref(ref)
    with pytest.raises(ValueError, match="is not a conversation id"):
        resume_argv(SPEC, ASSIGN, session_ref=ref)


@pytest.mark.parametrize("ref", [UUID, "ses_1AbC", "T-5928a90d", "thread:1.2"])
def test_ids_of_the_field_are_ids(ref: str) -> None:
    assert is_session_ref(ref)


def test_a_missing_value_is_a_bug_not_an_empty_word() -> None:
    with pytest.raises(ValueError, match=r"no value for \{session_id\}"):
        launch_argv(SPEC, ASSIGN)
    with pytest.raises(ValueError, match="has no resume words"):
        resume_argv(SPEC, NO_STRATEGY)


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


@pytest.mark.parametrize(
    ("screen", "mark"),
    [
        ("❯ ", ScreenMark.READY),
        ("Working… (esc to interrupt)\n❯ ", ScreenMark.BUSY),
        ("Proceed?\n ❯ 1. Yes\n❯ ", ScreenMark.WAITING),
        ("Proceed?\n ❯ 1. Yes\n(esc to interrupt)\n❯ ", ScreenMark.WAITING),
        ("Do you trust the files here?\n ❯ 1. No", ScreenMark.TRUST),
        ("usage limit reached\n❯ ", ScreenMark.LIMIT),
        ("usage limit reached\n(esc to interrupt)\n❯ ", ScreenMark.BUSY),
        ("hello\n", ScreenMark.UNKNOWN),
        ("", ScreenMark.UNKNOWN),
    ],
)
def test_a_screen_says_what_the_agent_does(screen: str, mark: ScreenMark) -> None:
    spec = AgentSpec(
        name="x",
        command=("x",),
        ready="^❯ ",
        waiting=r"^ ❯ \d",
        trust="Do you trust",
        limit="usage limit",
        rejected="No conversation found",
    )

    assert read_screen(spec, screen) is mark
    assert not is_rejection(spec, screen)
    assert is_rejection(spec, f"{screen}\nNo conversation found with session ID: x")


SERVER = ("/usr/bin/my python", "-m", "agentmux", "mcp")


def test_our_server_is_named_in_a_file_in_json_or_in_words() -> None:
    by_file = AgentSpec(name="x", command=("x",), mcp=Mcp(args=("--mcp={mcp_file}",)))
    by_text = AgentSpec(name="x", command=("x",), mcp=Mcp(args=("--mcp", "{mcp_json}")))
    by_words = AgentSpec(
        name="x", command=("x",), mcp=Mcp(args=("c={mcp_command}", "a={mcp_args}"))
    )

    assert mcp_words(by_file, SERVER, "/l/mcp.json") == ("--mcp=/l/mcp.json",)
    assert mcp_words(by_text, SERVER, "/l/mcp.json") == ("--mcp", mcp_document(SERVER))
    assert mcp_words(by_words, SERVER, "") == (
        'c="/usr/bin/my python"',
        'a=["-m", "agentmux", "mcp"]',
    )
    assert mcp_words(SPEC, SERVER, "/l/mcp.json") == ()
    assert [needs_mcp_file(spec) for spec in (by_file, by_text, SPEC)] == [True, False, False]
    assert json.loads(mcp_document(SERVER)) == {
        "mcpServers": {"agentmux": {"command": SERVER[0], "args": list(SERVER[1:])}}
    }


def test_hooks_name_our_command_in_the_agents_form() -> None:
    claude = Hooks(flag="--settings")
    argv = Hooks(flag="--settings", format=HookFormat.ARGV)
    command = ("/a b/agentmux", "hook")

    assert hook_words(SPEC, "/l/hooks.json") == ()
    assert hook_words(AgentSpec(name="x", command=("x",), hooks=claude), "/l/hooks.json") == (
        "--settings",
        "/l/hooks.json",
    )
    entry = {"hooks": [{"type": "command", "command": "'/a b/agentmux' hook"}]}
    assert json.loads(hook_document(claude, command))["hooks"]["Stop"] == [entry]
    assert json.loads(hook_document(argv, command))["hooks"]["SessionStart"] == list(command)


PROMPTED = "> Read the file /p/launches/0123456\n789ab/prompt.md and do what it says.\n\nDone.\n"


@pytest.mark.parametrize(
    ("screen", "shows"),
    [
        (f"{PROMPTED}\n❯ \n", True),
        (f"{PROMPTED}\n✻ Working… (1s · esc to interrupt)\n❯ \n", False),  # the busy mark tells
        ("Welcome\n\n❯ Read the file /p/launches/0123456789ab/prompt.md\n", False),  # not submitted
        ("Welcome\n\n❯ \n", False),
        (PROMPTED, False),
        (f"{PROMPTED}\n ❯ 1. Yes\n", False),
    ],
)
def test_a_prompt_is_shown_above_an_empty_composer(screen: str, shows: bool) -> None:
    spec = AgentSpec(name="a", command=("a",), ready="^❯ ", waiting=r"^ ❯ \d")
    assert shows_prompt(spec, screen, "0123456789ab") is shows


def test_only_the_end_of_a_screen_says_what_an_agent_does() -> None:
    spec = AgentSpec(name="a", command=("a",), ready="^❯ ")
    old = "✻ Working… (1s · esc to interrupt)\n" + "talk\n" * LAST_ROWS
    assert read_screen(spec, f"{old}❯ \n") is ScreenMark.READY


def test_blank_rows_do_not_push_a_dialog_out_of_sight() -> None:
    """Some agents fill the whole screen: the question at its top, a line of keys at its end."""
    spec = AgentSpec(name="a", command=("a",), trust="Do you trust")
    shown = "Do you trust the files here?\n" + "  \n" * LAST_ROWS + "enter: yes\n\n\n"
    assert read_screen(spec, shown) is ScreenMark.TRUST


def test_an_agent_without_marks_says_nothing() -> None:
    spec = AgentSpec(name="a", command=("a",), busy=None)
    assert read_screen(spec, "esc to interrupt\n❯ ") is ScreenMark.UNKNOWN
