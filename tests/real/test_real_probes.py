"""The registry's entries agree with the real programs."""

import re
import uuid
from itertools import takewhile
from typing import Any

import pytest

from agentmux.adapters.config.agent_registry import probe
from agentmux.core.agents.command_lines import (
    dir_words,
    hook_words,
    launch_argv,
    mcp_words,
    prompt_words,
    resume_argv,
)
from agentmux.core.agents.screens import is_rejection
from agentmux.core.agents.spec import ProbeResult, StrategyKind, choose_strategy
from tests.real.clis import of
from tests.real.conftest import Real

EXPECTED = {
    "claude": {StrategyKind.ASSIGN, StrategyKind.CONTINUE},
    "codex": {StrategyKind.LEARN, StrategyKind.CONTINUE},
    "gemini": {StrategyKind.ASSIGN, StrategyKind.CONTINUE},
    "qwen": {StrategyKind.ASSIGN, StrategyKind.CONTINUE},
    "copilot": {StrategyKind.ASSIGN, StrategyKind.CONTINUE},
    "opencode": {StrategyKind.CONTINUE},
    "pi": {StrategyKind.ASSIGN, StrategyKind.CONTINUE},
    "aider": {StrategyKind.ASSIGN},
    "amp": {StrategyKind.CONTINUE},
}

TOLD = {"claude", "codex", "gemini", "qwen", "copilot"}
"""Those that can be told of a directory outside of the one they work in."""

PROMPT = "Read the file /nowhere and do what it says."

NAMED = {
    # Arguments that only a user would give, by hand or in the configuration.
    "opencode": ("-s", "ses_00000000000000000000000000"),
    "pi": ("--session", str(uuid.uuid4())),
}


def ask(real: Real, *, path_env: str | None = None) -> ProbeResult:
    path = path_env or real.environment["PATH"]
    return probe(real.spec, path_env=path, cache_dir=None, timeout_s=60)


@pytest.mark.parametrize("name", of("probe"))
@pytest.mark.proves("probe")
def test_the_probe_finds_what_the_program_has(
    name: str, real: Real, monkeypatch: pytest.MonkeyPatch
) -> None:
    for key, value in real.env.items():
        monkeypatch.setenv(key, value)
    found = ask(real)

    assert found.problem is None
    assert found.path == real.program
    assert {StrategyKind(kind) for kind, holds in found.strategies.items() if holds} == EXPECTED[
        name
    ], found.missing
    assert choose_strategy(real.spec, found).kind is real.spec.strategies[0].kind
    assert found.add_dir is (True if name in TOLD else None)

    (report,) = real.asked("agents", "probe", name)["agents"]
    assert (report["installed"], report["resumes"]) == (True, True)
    assert report["version"] == real.version


@pytest.mark.parametrize("name", of("flags"))
@pytest.mark.proves("flags")
def test_every_flag_of_our_command_lines_is_in_its_help(name: str, real: Real) -> None:
    lines = list(command_lines(real))
    assert len(lines) >= len(real.spec.strategies) * 2
    for argv in lines:
        said = help_for(real, argv)
        missing = [
            word for word in flags(argv) if not re.search(rf"(?<![\w-]){word}(?![\w-])", said)
        ]
        assert missing == [], f"{argv} has what its help has not:\n{said}"


@pytest.mark.parametrize("name", of("rejection"))
@pytest.mark.proves("rejection")
def test_it_rejects_a_conversation_that_it_does_not_know(name: str, real: Real, in_pane) -> None:
    argv = (real.spec.command[0], *by_id(real), *prompt_words(real.spec, PROMPT, resuming=True))

    status, screen = in_pane(real, argv)

    assert status not in {0, None}
    assert is_rejection(real.spec, screen), f"exit {status}, screen:\n{screen}"
    assert real.model.turns == []


def by_id(real: Real) -> tuple[str, ...]:
    """Return arguments that resume an unknown conversation."""
    if real.name in NAMED:
        return NAMED[real.name]
    unknown, strategy = str(uuid.uuid4()), real.spec.strategies[0]
    return resume_argv(real.spec, strategy, args=words(real), session_ref=unknown)[1:]


# -- command lines -------------------------------------------------------------------------------


def words(real: Real) -> tuple[str, ...]:
    """Return the MCP and hook arguments that AgentMux adds to every command line of the agent.

    That of an added directory is not among them: some agents ask about it before anything else.
    """
    server = ("agentmux", "mcp")
    mcp, hooks = real.folder / "mcp.json", real.folder / "hooks.json"
    mcp.write_text('{"mcpServers": {}}')
    hooks.write_text("{}")
    return (
        *mcp_words(real.spec, server, str(mcp)),
        *hook_words(real.spec, ("agentmux", "hook"), str(hooks)),
    )


def command_lines(real: Real):
    """Yield the launch and the resume argv of each strategy, with all possible arguments."""
    outside = dir_words(real.spec, ProbeResult(installed=True), str(real.folder))
    more = (*words(real), *outside, *real.spec.unattended_args)
    for strategy in real.spec.strategies:
        given: dict[str, Any] = {
            "model": "m",
            "args": more,
            "session_ref": "CONVERSATION",
            "checkpoint_dir": "/kept",
            "prompt": "PROMPT",
        }
        yield launch_argv(real.spec, strategy, **given)
        yield resume_argv(real.spec, strategy, **given)


def flags(argv: tuple[str, ...]) -> list[str]:
    return [word.partition("=")[0] for word in argv if word.startswith("-")]


def has_word(text: str, word: str) -> bool:
    return re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", text) is not None


def help_for(real: Real, argv: tuple[str, ...]) -> str:
    """Return the help of the program, or of the subcommand if the command line has one."""
    own = real.spec.command
    subcommands = takewhile(lambda word: re.fullmatch("[a-z]+", word), argv[len(own) :])
    done = real.run(*own, *subcommands, "--help")
    assert done.returncode == 0, done.stderr
    return re.sub(r"\x1b\[[0-9;]*m", "", done.stdout + done.stderr)
