"""Parses the offline agent's command line, without argparse, which would double the start time."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from agentmux.demo_agent.errors import WrongArgvError

VERSION: Final = "1.0.0"
"""The version of the offline agent."""

HELP: Final = """\
Usage: agentmux-demo-agent [options] [prompt]

Play a coding agent without an account and without a network

Arguments:
  prompt                      The first prompt; submitted at once

Options:
  --model <name>              Model to show in the banner and in checkpoints
  --session-id <uuid>         Use this id for a new conversation
  -r, --resume <id>           Resume a conversation by its id
                              (with --checkpoint-dir: by the path of a checkpoint file)
  -c, --continue              Resume the latest conversation of this directory
  --learn                     Choose an id itself; commands see it as DEMO_THREAD_ID
  --checkpoint-dir <dir>      Write session-latest.json there after every turn
  --add-dir <dir>             Also write in this directory, not only in the current one
  --settings <file>           JSON file with hooks: SessionStart, UserPromptSubmit, Stop
  --permission-mode <mode>    ask or accept (default) before a command runs
  --ask                       The same as --permission-mode ask
  --scenario <file>           How this agent behaves (default: $AGENTMUX_DEMO_SCENARIO)
  --version                   Show the version
  -h, --help                  Show this help
"""

_VALUES: Final = {
    "--model": "model",
    "--session-id": "session_id",
    "--resume": "resume",
    "-r": "resume",
    "--checkpoint-dir": "checkpoint_dir",
    "--add-dir": "add_dir",
    "--settings": "settings",
    "--permission-mode": "permission_mode",
    "--scenario": "scenario",
}
_SWITCHES: Final = {
    "--continue": "continue_latest",
    "-c": "continue_latest",
    "--learn": "learn",
    "--ask": "ask",
    "--version": "version",
    "--help": "help",
    "-h": "help",
}
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)


class AgentOptions(NamedTuple):
    """The options of the offline agent's command line, as `HELP` describes them to users.

    An option that was not given is None or False; ``permission_mode`` is then ``accept``.

    Attributes:
        prompt: The first prompt, which is submitted at once.
        model: The name of the model to show and to write into checkpoints.
        session_id: The id, a UUID, for a new conversation.
        resume: The id of the conversation to resume; with ``checkpoint_dir``, the path of a
            checkpoint file.
        checkpoint_dir: The folder in which ``session-latest.json`` is written after every turn.
        add_dir: A folder in which the agent may write, besides the current one.
        settings: The path of a JSON file with hooks.
        permission_mode: ``ask`` or ``accept``: whether to ask the user before a command runs.
        scenario: The path of the scenario file, which says how the agent behaves.
        continue_latest: Whether to resume the latest conversation of the current folder.
        learn: Whether the agent chooses the id of its conversation itself, which commands get in
            the variable ``DEMO_THREAD_ID``.
        ask: Whether ``--ask`` was given, which means the same as the permission mode ``ask``.
        version: Whether to show the version.
        help: Whether to show the help.
    """

    prompt: str | None = None
    model: str | None = None
    session_id: str | None = None
    resume: str | None = None
    checkpoint_dir: str | None = None
    add_dir: str | None = None
    settings: str | None = None
    permission_mode: str = "accept"
    scenario: str | None = None
    continue_latest: bool = False
    learn: bool = False
    ask: bool = False
    version: bool = False
    help: bool = False


def parse(argv: list[str]) -> AgentOptions:
    """Parse the command line; return its options, which fit each other.

    Args:
        argv: The arguments, without the program's name.

    Raises:
        WrongArgvError: An option is unknown, lacks a valid value, or contradicts another.
    """
    options: dict[str, Any] = {}
    words = iter(argv)
    for word in words:
        if word == "--":
            for rest in words:
                _add_prompt(options, rest)
        elif word.startswith("-") and len(word) > 1:
            _add_option(options, word, words)
        else:
            _add_prompt(options, word)
    return _check_options(AgentOptions()._replace(**options))


def _add_prompt(found: dict[str, str | bool], word: str) -> None:
    if "prompt" in found:
        raise WrongArgvError("error: more than one prompt; quote it as one word", exit_code=2)
    found["prompt"] = word


def _add_option(found: dict[str, str | bool], word: str, words: Iterator[str]) -> None:
    name, equals, value = word.partition("=")
    if name in _SWITCHES and not equals:
        found[_SWITCHES[name]] = True
        return
    if name not in _VALUES:
        raise WrongArgvError(f"error: unknown option '{name}'", exit_code=2)
    given = value if equals else next(words, None)
    if given is None:
        raise WrongArgvError(f"error: option '{name}' needs a value", exit_code=2)
    found[_VALUES[name]] = given


def _check_options(options: AgentOptions) -> AgentOptions:
    if options.permission_mode not in {"ask", "accept"}:
        raise WrongArgvError("error: --permission-mode must be ask or accept", exit_code=2)
    if options.session_id is not None and not _UUID.fullmatch(options.session_id):
        raise WrongArgvError("Error: Invalid session ID. Must be a valid UUID.")
    if options.session_id is not None and (options.resume or options.continue_latest):
        raise WrongArgvError("Error: --session-id is for a new conversation only.")
    if options.ask:
        return options._replace(permission_mode="ask")
    return options
