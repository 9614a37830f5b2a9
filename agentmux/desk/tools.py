"""The objects with which the desk reads sessions and runs commands."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from agentmux.adapters.system.processes.command_runs import CommandRuns
from agentmux.core.codec.frozen import dataclass
from agentmux.core.terminal.keys.key_table import KEYS, KeyTable
from agentmux.desk.list.reading import SessionReader
from agentmux.desk.list.session_feed import SessionFeed
from agentmux.ports.fleet import Fleet


@dataclass(frozen=True, slots=True, kw_only=True)
class DeskTools:
    """The objects with which the desk reads sessions and runs commands.

    Attributes:
        reader: Reads sessions.
        feed: Keeps the rows of the list up to date.
        commands: Runs commands of AgentMux.
        foreground: Runs a command line in this terminal, and returns its exit code. If that is
            not 0, or with True as the second argument, it then waits for Enter so that the output
            can be read.
        now: Returns the current time.
        here: The project of the working directory; None if the directory is in no project.
        fleet: Reads the fleet; None if no fleet is set up.
        keys: The keys of the desk.
        theme: The name of a theme of Textual; None for the terminal's own colours.
        agent: If an agent runs the desk, the message that refuses decisions; empty for a person.
    """

    reader: SessionReader
    feed: SessionFeed
    commands: CommandRuns
    foreground: Callable[[tuple[str, ...], bool], int]
    now: Callable[[], datetime]
    here: Path | None
    fleet: Fleet | None = None
    agent: str = ""
    keys: KeyTable = KEYS
    theme: str | None = None
