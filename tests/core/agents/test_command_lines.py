"""The command lines of agents: launch, resume, prompt, MCP and hooks."""

from __future__ import annotations

import json

import pytest

from agentmux.core.agents.command_lines import (
    checkpoint_path,
    dir_words,
    hook_document,
    hook_words,
    launch_argv,
    mcp_document,
    mcp_words,
    needs_hook_file,
    needs_mcp_file,
    prompt_words,
    resume_argv,
)
from agentmux.core.agents.spec import (
    NO_STRATEGY,
    SESSION_ID,
    AddDir,
    AgentSpec,
    HookFormat,
    Hooks,
    Mcp,
    ProbeResult,
    PromptBy,
    Strategy,
    StrategyKind,
    is_session_ref,
)
from tests.core.agent_specs import ASSIGN, CHECKPOINT, CONTINUE, LEARN, SPEC, UUID


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
    assert checkpoint_path(strategy, "id-1", folder) == f"{folder}/id-1.md"
    assert checkpoint_path(ASSIGN, "id-1", folder) is None
    for no_id in (None, "", "--help", "../x"):
        assert checkpoint_path(strategy, no_id, folder) is None


@pytest.mark.parametrize("ref", ["", "--yolo", "-x", "a b", "a/b", "../x", "a\nb", "é", "x" * 129])
def test_what_is_no_id_never_gets_into_an_argv(ref: str) -> None:
    assert not is_session_ref(ref)
    with pytest.raises(ValueError, match="is not a conversation id"):
        resume_argv(SPEC, ASSIGN, session_ref=ref)


def test_an_id_that_is_not_known_yet_keeps_its_place() -> None:
    argv = resume_argv(SPEC, ASSIGN, args=["--x={session_id}"], session_ref=SESSION_ID)
    assert argv[-2:] == ("--resume", "{session_id}")
    assert "--x={session_id}" in argv


def test_a_missing_value_is_a_bug_not_an_empty_word() -> None:
    with pytest.raises(ValueError, match=r"no value for \{session_id\}"):
        launch_argv(SPEC, ASSIGN)
    with pytest.raises(ValueError, match="has no words to resume by"):
        resume_argv(SPEC, NO_STRATEGY)


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

    assert hook_words(SPEC, command, "/l/hooks.json") == ()
    told = AgentSpec(name="x", command=("x",), hooks=claude)
    assert hook_words(told, command, "/l/hooks.json") == ("--settings", "/l/hooks.json")
    assert (needs_hook_file(told), needs_hook_file(SPEC)) == (True, False)
    entry = {"hooks": [{"type": "command", "command": "'/a b/agentmux' hook"}]}
    assert json.loads(hook_document(claude, command))["hooks"]["Stop"] == [entry]
    assert json.loads(hook_document(argv, command))["hooks"]["SessionStart"] == list(command)


def test_a_notification_is_a_setting_on_the_command_line() -> None:
    notify = Hooks(flag="-c", format=HookFormat.NOTIFY)
    spec = AgentSpec(name="x", command=("x",), hooks=notify)
    words = hook_words(spec, ("/a b/agentmux", "hook"), "/l/hooks.json")
    assert words == ("-c", 'notify=["/a b/agentmux", "hook"]')
    assert not needs_hook_file(spec)


@pytest.mark.parametrize(
    ("knows", "words"),
    [(None, ("--dir=/a b{dir}",)), (True, ("--dir=/a b{dir}",)), (False, ())],
)
def test_a_directory_elsewhere_is_named_unless_the_program_cannot_be_told(
    knows: bool | None, words: tuple[str, ...]
) -> None:
    spec = AgentSpec(name="x", command=("x",), add_dir=AddDir(args=("--dir={dir}",)))
    probe = ProbeResult(installed=True, add_dir=knows)
    assert dir_words(spec, probe, "/a b{dir}") == words
    assert dir_words(AgentSpec(name="y", command=("y",)), probe, "/a") == ()
