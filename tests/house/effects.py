"""What the commands in our messages do: those that only look, and the tests that follow the others.

`tests/hints/test_looks.py` runs the commands that only look, and compares every file and branch. A
message with any other command is followed to the letter by a test that carries its text in
``@pytest.mark.follows(…)``, from the state in which the message is shown.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from tests.house.messages import Message
from tests.house.sources import ROOT

LOOKS: Final = frozenset({
    "agentmux --help",
    "agentmux --version",
    "agentmux agents",
    "agentmux agents probe",
    "agentmux agents show",
    "agentmux config schema",
    "agentmux config show --origin",
    "agentmux diff",
    "agentmux help",
    "agentmux list",
    "agentmux list --all",
    "agentmux list --json",
    "agentmux logs",
    "agentmux pipelines",
    "agentmux pipelines show",
    "agentmux research --help",
    "agentmux resume --all --dry-run",
    "agentmux resume --all --dry-run --json",
    "agentmux show",
    "agentmux show --role",
    "agentmux status",
    "agentmux trust --help",
    "agentmux trust --show",
    "git branch --all",
    "git branch --all --list",
    "git diff --cached",
    "git log --all --oneline -n",
    "git log --left-right --oneline",
    "git log --oneline",
    "git log -p",
    "git remote --verbose",
    "git status",
    "git status --ignore-submodules --untracked-files",
    "git status --short --untracked-files",
})  # fmt: skip
"""Commands that `tests/hints/test_looks.py` runs: they change nothing of anybody's."""

HARMLESS: Final = {
    "agentmux attach": "shows a live session; a key that changes something is a decision there",
    "agentmux fleet attach": "shows a live session on its host",
    "agentmux fleet list": "reads the board (tests/fleet/test_listing.py)",
    "agentmux fleet list --stale": "reads the board",
    "agentmux fleet show": "reads the board",
    "agentmux notify --test": "sends one notification that says that it is a test",
    "agentmux completion": "prints a script",
    "agentmux demo": "works in a folder of its own (tests/e2e/test_demo.py)",
    "df -h": "a program of the system that only looks",
    "env -u": "an attach without $TMUX",
    "tmux": "names the program",
    "tmux -V": "a program of the system that only looks",
    "tmux attach -t": "shows a session",
    "tmux attach-session -t": "shows a session",
    "tmux detach -s": "ends no program: the session goes on without a client",
    "tmux list-sessions": "only looks",
    "tmux show-hooks -g": "only looks",
    "tmux switch-client -l": "shows the session that was shown before",
    "agentmux web": "serves the page; only who signs in there acts",
    "agentmux web --behind-proxy --host": "serves the page; only who signs in there acts",
    "agentmux web --host --listen": "serves the page; only who signs in there acts",
    "agentmux web --listen": "serves the page; only who signs in there acts",
    "agentmux web --listen --tls-cert --tls-key": "serves the page; only who signs in there acts",
    "agentmux fleet worker": "works on features that were submitted, in clones of its own",
    "agentmux fleet worker --name": "works on features that were submitted, in clones of its own",
    "git config": "sets the key that the message names, which has no value yet",
    "git config --global": "sets the key that the message names, which has no value yet",
    "git remote add": "adds a remote",
    "git remote rename": "renames a remote with its remote-tracking branches",
    "git remote --auto": "asks a remote for its main branch",
    "git worktree repair": "writes git's own links between a repository and a worktree",
    "kill -CONT": "continues a process that was stopped",
    "apt install": "installs tmux",
    "brew install": "installs tmux",
    "dnf install": "installs tmux",
    "pip install": "installs into the environment that the message names",
    "pip install --python": "installs into the environment that the message names",
    "pipx inject": "installs into the environment that the message names",
    "git fetch --all": "moves remote-tracking branches alone",
    "loginctl": "a setting of the system, which the message names",
    "sudo": "a setting of the system, which the message names",
    "mount -o": "makes a volume writable, which the message names",
}
"""Commands that reach nothing of a session, a repository or an edit, each with the reason."""


DESCRIBES: Final = {
    "`agentmux …` gave no answer that can be read",
    "`agentmux …` ended with exit code …",
    "`agentmux …` is for a person; it was called by the agent in seat … (launch …, process …)",
    "agentmux … ended with exit code …",
    "agentmux … in …",
    "the fleet has contract …, and this agentmux … speaks …",
    "the file has version …, but this agentmux reads up to … (agentmux … wrote it)",
    "# The sessions of AgentMux: without this line `git add -A` fails",
    "The same as: agentmux resume --reattach …",
    "agentmux resume --reattach",
    "its branch may be left: git log … --",
    "see it: agentmux … …",  # `attach` or `status`
    "try again: agentmux start …",  # what was just typed, and made nothing
}
"""Texts that say what a command did, or what it is for: nobody is told to type it.

The desk names what its own key does, and tmux's status bar what `agentmux status` says as well."""

_DESCRIBES_BY_BEGINNING: Final = (
    "The work could not be merged into branch `…`:",
    "This repository is empty. AgentMux made it so that `git clean -fdx`",
    "Usage: ",
    "… on … now, not on …, on which the session began: `agentmux approve` says",
)
"""How longer texts begin that tell a person to type nothing."""


def changing(message: Message) -> tuple[str, ...]:
    """Return the commands of a message that may change something, as they stand in it."""
    if message.text in DESCRIBES or message.text.startswith(_DESCRIBES_BY_BEGINNING):
        return ()
    known = LOOKS | HARMLESS.keys()
    return tuple(each.text for each in message.commands if each.shape not in known)


def followed() -> dict[str, list[str]]:
    """Return the messages that tests follow, each with these tests."""
    found: dict[str, list[str]] = {}
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        source = path.read_text(encoding="utf-8")
        if "mark.follows" in source:
            name = path.relative_to(ROOT).as_posix()
            for test, text in _marked(ast.parse(source)):
                found.setdefault(text, []).append(f"{name}::{test}")
    return found


def _marked(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Yield each test with ``@pytest.mark.follows``, once for each message that it names."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            for mark in node.decorator_list:
                if isinstance(mark, ast.Call) and ast.unparse(mark.func).endswith("mark.follows"):
                    yield from ((node.name, ast.literal_eval(each)) for each in mark.args)
