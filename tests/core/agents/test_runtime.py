"""Which program a command runs, and how to tell an update from another program."""

from __future__ import annotations

import pytest

from agentmux.core.agents.runtime import (
    Runtime,
    decode_runtime,
    encode_runtime,
    runtime_of,
    update_of,
)

NAMES = [
    # command, real path, name
    ("claude", "/home/u/.local/share/claude/versions/2.1.330", "claude"),
    ("claude", "/usr/lib/node_modules/@anthropic-ai/claude-code/cli.js", "claude"),
    ("/opt/bin/claude", "/opt/bin/claude", "claude"),
    ("codex", "/usr/lib/node_modules/@openai/codex/bin/codex.js", "codex"),
    ("codex", "/opt/codex-x86_64-unknown-linux-musl", "codex"),
    ("codex", "/opt/codex-0.169.0", "codex"),
    ("python3", "/usr/bin/python3.11", "python3"),
    ("pi", "/usr/lib/node_modules/pi/dist/index.mjs", "pi"),
    ("robot", "/home/u/ver/1.1/robot", "robot"),
    ("robot", "/home/u/ver/1.1/other", "other"),
    ("robot", "/home/u/robots", "robots"),
    ("claude", "/opt/claude-flow", "claude-flow"),
    ("my robot", "/opt/my robot", "my-robot"),
]


@pytest.mark.parametrize(("command", "path", "name"), NAMES)
def test_the_base_name_behind_a_command(command: str, path: str, name: str) -> None:
    made = runtime_of(command, "", f"{path}:10:20")
    assert (made.name, made.path) == (name, path)
    assert decode_runtime(encode_runtime(made), "anything") == made
    assert decode_runtime(f"{path}:10:20", command) == made  # as 0.1.0 recorded it


@pytest.mark.parametrize(
    ("said", "path", "version"),
    [
        ("2.1.330 (Claude Code)", "/bin/claude", "2.1.330_(Claude_Code)"),
        ("", "/home/u/claude/versions/2.1.331", "2.1.331"),
        ("", "/opt/v22.3.1/lib/codex/1.2.3-beta.4/bin/codex.js", "1.2.3-beta.4"),
        ("", "/usr/bin/claude", ""),
    ],
)
def test_the_version_is_its_own_word_else_that_of_its_path(
    said: str, path: str, version: str
) -> None:
    assert runtime_of("claude", said, f"{path}:1:2").version == version


def test_one_file_under_two_commands_is_one_program() -> None:
    one, other = (runtime_of(name, "", "/opt/agent-2.0/run:1:2") for name in ("a", "b"))
    assert one.is_same_program(other)
    assert not Runtime(name="a").is_same_program(Runtime(name="b"))


def test_what_did_not_change_is_not_noted() -> None:
    one = runtime_of("claude", "2.1", "/bin/claude:1:2")
    assert update_of(one, one) == ""
    assert update_of(one, runtime_of("claude", "2.1", "/bin/claude:1:3")) == "claude was updated"
    assert update_of(one, runtime_of("claude", "2.2", "/bin/claude:1:3")) == "claude 2.1 → 2.2"
