"""Completes commands in our messages so that they work outside of the project's directory.

If a user in another directory runs ``agentmux --project P …``, a message that names
``agentmux resume X`` must name ``agentmux --project P resume X`` instead, and ``git -C P …`` for a
git command.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Final

_BEFORE: Final = (
    r"(?m)(^\s*|[:;,(`>…]\s*|\b(?:and|or|then|with|by|is|as)\s+|&&\s+|\b[A-Z]+=(?:'[^']*'|\S)+\s+)"
)
"""Matches what precedes a command in a message, so that other uses of the word stay unchanged."""

_GIT: Final = (
    "add|am|apply|bisect|branch|checkout|cherry-pick|clean|commit|config|diff|fetch|gc|init|log"
    "|merge|mv|pull|push|rebase|reflog|remote|reset|restore|revert|rm|show|stash|status|submodule"
    "|switch|tag|update-index|update-ref|worktree"
)
_GIT_COMMAND: Final = re.compile(rf"{_BEFORE}git (?={_GIT}\b)")
_OUR_COMMAND: Final = re.compile(rf"{_BEFORE}agentmux (?=([a-z][a-z-]*)\b)")
COMMAND: Final = re.compile(
    rf"{_BEFORE}(?=agentmux (?:--project |[a-z][a-z-]*\b)|git (?:-C |(?:{_GIT})\b))"
)
"""Matches what precedes any command in a message, so that the command begins where it ends."""

FINAL: Final = ("approve", "remove", "rewind", "stop")
"""Our commands that cannot be taken back; they name a session by its whole name."""

_FINAL_COMMAND: Final = (
    rf"\bagentmux (?:--project (?:'[^']*'|\S+) )?(?:{'|'.join(FINAL)})\b"
    r".*?(?=[;,:)`\n]|\.(?:\s|$)| && |, | (?:and|or|then) |$)"
)
_SESSION_NAME: Final = re.compile(
    rf"{_FINAL_COMMAND}|(?<![\w./=-])(\d{{8}}-\d{{6}}-[a-z0-9][a-z0-9-]*+)(?![\w/]|\.\w)"
)
"""Matches a command that keeps its session's name, or else (group 1) the name of a session.

The name is not part of a path, of a file's name or of the name of a tmux session.
"""

ANYWHERE: Final = frozenset({"completion", "demo", "fleet", "help", "version"})
"""Our commands that do not need a project, or have an option of their own for it."""


_MESSAGES: Final = frozenset({"hints", "mend", "message", "next", "problems", "reason", "warnings"})
"""The fields of our JSON answers that contain our messages; other texts may be from anybody."""


def locate_messages(answer: object, locate: Callable[[str], str], *, of: str = "") -> object:
    """Return a copy of a JSON answer with ``locate`` applied to each of our messages in it.

    Our messages are the texts in the fields ``hints``, ``mend``, ``message``, ``next``,
    ``problems``, ``reason`` and ``warnings``, at any depth; other texts may be from anybody.

    Args:
        answer: The answer, or the value of one of its fields.
        locate: Returns a message with its commands completed, as `at_project` does.
        of: The name of the field that ``answer`` is the value of; empty for a whole answer.
    """
    if isinstance(answer, Mapping):
        return {name: locate_messages(each, locate, of=name) for name, each in answer.items()}
    if isinstance(answer, list | tuple):
        return [locate_messages(each, locate, of=of) for each in answer]
    return locate(answer) if isinstance(answer, str) and of in _MESSAGES else answer


def names_session(text: str) -> bool:
    """Whether a message contains the whole name of a session that `call_sessions` may replace.

    Any text in the form ``20260131-235959-some-words`` counts as a whole name, whether or not there
    is such a session. Names in paths, and in commands that keep the whole name (`FINAL`), do not
    count.
    """
    return any(each[1] for each in _SESSION_NAME.finditer(text))


def call_sessions(text: str, short: Mapping[str, str]) -> str:
    """Return a message with the whole names of sessions replaced by their short names.

    Names in paths stay, and so do those in commands that cannot be taken back (`FINAL`), such as
    ``agentmux remove NAME``.

    Args:
        text: The message.
        short: The short name of each session of the project, by its whole name.
    """
    return _SESSION_NAME.sub(lambda each: short.get(each[1], each[0]), text)


def at_project(text: str, project: Path, commands: Collection[str]) -> str:
    """Return a message with its commands completed so that they work in any directory.

    ``agentmux resume X`` becomes ``agentmux --project P resume X``, and ``git status`` becomes
    ``git -C P status``.

    Args:
        text: The message. Commands that already name a directory stay unchanged.
        project: The directory of the project that the commands are for.
        commands: The names of our commands, such as ``resume``; those that need no project stay
            unchanged.
    """
    place = shlex.quote(str(project))
    known = frozenset(commands) - ANYWHERE

    def ours(found: re.Match[str]) -> str:
        option = f"--project {place} " if found[2] in known else ""
        return "".join((found[1], "agentmux ", option))

    located = _OUR_COMMAND.sub(ours, text) if "agentmux " in text else text
    return _GIT_COMMAND.sub(lambda each: f"{each[1]}git -C {place} ", located)
