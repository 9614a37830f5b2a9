"""What the desk is made of, beside Textual."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from agentmux.adapters.system.processes.command_runs import CommandRuns
from agentmux.core.codec.frozen import dataclass
from agentmux.desk.list.reading import SessionReader
from agentmux.desk.list.session_feed import SessionFeed
from agentmux.ports.fleet import Fleet


@dataclass(frozen=True, slots=True, kw_only=True)
class DeskTools:
    """What the desk is made of.

    Attributes:
        commands: Runs the commands behind the keys.
        foreground: Runs an argv in this terminal, and returns its exit code.
        here: The project of the current directory, where new sessions begin; None where none is.
        fleet: The fleet; None where it is not set up.
        agent: Who runs the desk, if it is an agent, in words; empty for a person.
    """

    reader: SessionReader
    feed: SessionFeed
    commands: CommandRuns
    foreground: Callable[[tuple[str, ...]], int]
    now: Callable[[], datetime]
    here: Path | None
    fleet: Fleet | None = None
    agent: str = ""
