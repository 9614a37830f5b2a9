"""The messages of the program that name a command which a person can type.

They are found in the source: every text of ``agentmux`` outside docstrings in which a program
stands where a command can begin. A hole of a formatted text is written as ``…``.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Final

from agentmux.cli.command_table import GROUPS
from tests.house import sources

HOLE: Final = "…"

PASSED_OVER: Final = (
    "cli/examples.py",  # the examples of `--help`: nobody is in a state that they answer
    "cli/fast/help.py",
    "core/prompts/",  # what agents read, who type nothing on behalf of a person
    "core/definitions/",
    "demo/",  # works in a folder of its own, which it deletes
    "demo_agent/",
    "adapters/git/lost_work/submodules.py",  # a script that git runs, not a message
)
"""Files whose texts are no messages to a person about what to type next."""

_GIT: Final = (
    "add|am|apply|bisect|branch|checkout|cherry-pick|clean|clone|commit|config|diff|fetch|gc|init|log"
    "|merge|mv|pull|push|rebase|reflog|remote|reset|restore|revert|rm|show|stash|status|submodule"
    "|switch|tag|update-index|update-ref|worktree"
)
_TMUX: Final = (
    "attach|attach-session|detach|detach-client|kill-pane|kill-server|kill-session|list-sessions|new"
    "|rename-session|set|set-option|show-hooks|show-options|source-file|switch-client"
)
_AGENTMUX: Final = "|".join(
    sorted({name for group in GROUPS.values() for name in group} | {"research"})
)
_OTHERS: Final = (
    "apt|brew|chmod|chown|cp|df|dnf|env|git-lfs|kill|loginctl|ln|mkdir|mount|mv|npm|pip|pipx|rm|rmdir"
    "|sudo|systemctl|uv"
)
_FILLED: Final = rf"(?:{HOLE}|-[CSL]\s\S+|--?[a-zA-Z][\w-]*(?:=\S+|\s{HOLE}|\s[A-Z]+)?)"
_COMMAND: Final = re.compile(
    rf"""(?<![\w/.$'-])(?:
        agentmux(?:\ {_FILLED})*\ (?:{_AGENTMUX}|{HOLE})(?![\w-])
        |agentmux\ --[a-z-]+
        |git(?:\ {_FILLED})*\ (?:{_GIT}|--[a-z]+)(?![\w-])
        |git\ {HOLE}\ --[a-z]+
        |tmux(?:\ {_FILLED})*\ (?:{_TMUX})(?![\w-])
        |tmux\ -[A-Z]\b
        |(?:{_OTHERS})(?=\ [-{HOLE}/~'A-Z])
        |(?:apt|brew|dnf|npm|pip|pipx)\ (?:install|inject)
        |(?:sudo|systemctl|loginctl)(?=\ [a-z])
    )""",
    re.VERBOSE,
)
_END: Final = re.compile(r"`|; |, then |, and |, or |, but | && |  #| \(|\)|\n|, $|: |$")
_QUOTED: Final = re.compile(r"'[^'\n]*'|\"[^\"\n]*\"")
_OPTION: Final = re.compile(r"(?<!\S)--?[a-zA-Z][\w-]*")


@dataclass(frozen=True, slots=True)
class Command:
    """A command in a message.

    Attributes:
        text: As it stands there, with ``…`` for what is filled in.
        shape: Its program, its subcommand and its options, by which its effect is known.
    """

    text: str
    shape: str


@dataclass(frozen=True, slots=True)
class Message:
    """A text of the program that names commands.

    Attributes:
        text: The text, with ``…`` for what is filled in.
        place: Its file and line.
        commands: The commands in it, in order.
    """

    text: str
    place: str
    commands: tuple[Command, ...]


@cache
def messages() -> tuple[Message, ...]:
    """Return every message of the program that names a command, by file and line."""
    found = []
    for path, source in sources.texts():
        name = path.removeprefix("agentmux/")
        if not name.startswith(PASSED_OVER):
            found += list(messages_of(source, name))
    return tuple(found)


@cache
def texts() -> tuple[tuple[str, int, str], ...]:
    """Return each text of the program outside docstrings, after its file and line."""
    return tuple(_texts())


def _texts() -> Iterator[tuple[str, int, str]]:
    for path, tree in sources.modules():
        name = path.removeprefix("agentmux/")
        if not name.startswith(PASSED_OVER):
            passed_over = set(_docstrings_and_parts(tree))
            for node in ast.walk(tree):
                text = None if node in passed_over else _template(node)
                if text is not None and isinstance(node, ast.Constant | ast.JoinedStr):
                    yield name, node.lineno, text


def messages_of(source: str, name: str) -> Iterator[Message]:
    """Yield the messages that name a command in a module's ``source``."""
    tree = ast.parse(source)
    passed_over = set(_docstrings_and_parts(tree))
    for node in ast.walk(tree):
        text = None if node in passed_over else _template(node)
        if text is not None and isinstance(node, ast.Constant | ast.JoinedStr):
            commands = tuple(commands_of(text))
            if commands:
                yield Message(text=text, place=f"{name}:{node.lineno}", commands=commands)


def commands_of(text: str) -> Iterator[Command]:
    """Yield the commands that a message names, in order."""
    position = 0
    while match := _COMMAND.search(text, position):
        end = _END.search(_QUOTED.sub(lambda each: "x" * len(each.group()), text), match.end())
        words = text[match.start() : end.start() if end else len(text)].strip()
        yield Command(text=words, shape=_shape(match.group(), words))
        position = match.start() + max(len(words), len(match.group()))


def _shape(begin: str, words: str) -> str:
    """Return the program, its subcommand and all options, each once, in a fixed order."""
    names = [
        each
        for each in begin.split()
        if each != HOLE and not each.startswith("-") and each.islower()
    ]
    rest = words[len(begin) :].split()
    if begin in _GROUPED and rest and rest[0].islower() and rest[0].isalpha():
        names.append(rest[0])
    options = sorted(set(_OPTION.findall(words)) - {"-C", "-S", "-L"})
    return " ".join([*names, *options])


_GROUPED: Final = ("agentmux fleet", "agentmux agents", "agentmux pipelines", "agentmux config",
                   "git worktree", "git remote", "git stash", "git submodule")  # fmt: skip
"""Commands whose next word names what they do."""


def _docstrings_and_parts(tree: ast.AST) -> Iterator[ast.AST]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            yield node.value
        if isinstance(node, ast.JoinedStr):
            yield from node.values


def _template(node: ast.AST) -> str | None:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(
            str(each.value) if isinstance(each, ast.Constant) else HOLE for each in node.values
        )
    return None
