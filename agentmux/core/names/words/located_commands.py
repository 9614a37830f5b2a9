"""Commands in our messages, for who reads them in another directory than that of the project.

A message names `agentmux resume X`; who has typed `agentmux --project P …` elsewhere must type
`agentmux --project P resume X`, and `git -C P …` where it names a command of git.
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
"""What stands before a command in a message: a name with the word, or a sentence, stays."""

_GIT: Final = (
    "add|am|apply|branch|checkout|cherry-pick|clean|commit|config|diff|fetch|gc|init|log|merge|mv"
    "|pull|push|rebase|reflog|remote|reset|restore|revert|rm|show|stash|status|submodule|switch|tag"
    "|update-ref|worktree"
)
_GIT_COMMAND: Final = re.compile(rf"{_BEFORE}git (?={_GIT}\b)")
_OUR_COMMAND: Final = re.compile(rf"{_BEFORE}agentmux (?=([a-z][a-z-]*)\b)")

ANYWHERE: Final = frozenset({"completion", "demo", "fleet", "help", "version"})
"""Our commands that are about no project, or have an option of their own for it."""


_MESSAGES: Final = frozenset({"hints", "mend", "message", "next", "problems", "reason", "warnings"})
"""The fields of our answers that hold messages: other texts may be anybody's."""


def locate_messages(answer: object, locate: Callable[[str], str], *, of: str = "") -> object:
    """Return a JSON answer with ``locate`` applied to its messages.

    Args:
        answer: The answer, or what one of its fields holds.
        locate: Completes the commands of a message.
        of: The name of the field.
    """
    if isinstance(answer, Mapping):
        return {name: locate_messages(each, locate, of=name) for name, each in answer.items()}
    if isinstance(answer, list | tuple):
        return [locate_messages(each, locate, of=of) for each in answer]
    return locate(answer) if isinstance(answer, str) and of in _MESSAGES else answer


def at_project(text: str, project: Path, commands: Collection[str]) -> str:
    """Return a message whose commands do in any directory what they do in that of the project.

    Args:
        text: The message. Commands that name their place already stay as they are.
        project: The project's directory.
        commands: The names of our commands.
    """
    place = shlex.quote(str(project))
    known = frozenset(commands) - ANYWHERE

    def ours(found: re.Match[str]) -> str:
        option = f"--project {place} " if found[2] in known else ""
        return "".join((found[1], "agentmux ", option))

    located = _OUR_COMMAND.sub(ours, text) if "agentmux " in text else text
    return _GIT_COMMAND.sub(lambda each: f"{each[1]}git -C {place} ", located)
