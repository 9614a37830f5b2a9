"""Follows the fleet: runs ``agentmux fleet list`` whenever the fleet's database has changed."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, Final

from agentmux.adapters.wake import file_changes
from agentmux.core.codec.frozen import dataclass
from agentmux.demo.commands import DemoCommands
from agentmux.errors import AgentmuxError, TimedOutError

_LOOK_S: Final = 0.5
_LONGEST_S: Final = 5.0
"""The seconds after which the command is run again even if the database has not changed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FollowedFeature:
    """A feature, as ``agentmux fleet list --json`` shows it.

    Attributes:
        key: The feature's key in the backlog.
        status: The feature's status in the fleet: a value of `FleetStatus`, such as ``running``.
        phase: The phase of its session; empty if there is no session yet.
        host: The name of its host; empty if it has none.
        decision: Whether the feature waits for a decision of the user.
        reason: Why it has this status, in words; may be empty.
    """

    key: str
    status: str
    phase: str
    host: str
    decision: bool
    reason: str

    @property
    def status_text(self) -> str:
        """The feature's phase or status in words, with the reason if there is one."""
        words = self.status
        if self.status == "running" and self.phase:
            words = self.phase
        elif self.decision:
            words = "waiting for a decision"
        return f"{words}: {self.reason}" if self.reason else words


class FleetFollower:
    """Reads the features of a fleet when asked, and passes those that changed to a callback.

    Attributes:
        features: The features when they were last read, by key; empty before the first read.
    """

    def __init__(
        self, commands: DemoCommands, database: Path, tell: Callable[[FollowedFeature], object]
    ) -> None:
        """Prepare to follow the fleet. Nothing is read yet.

        Args:
            commands: Runs commands as the demo's user.
            database: The fleet's database file, alone in its folder.
            tell: A function that is called with each feature whose `status_text` has changed.
        """
        self.features: Mapping[str, FollowedFeature] = {}
        self._commands, self._database, self._tell = commands, database, tell
        self._looked = 0.0

    def wait_for(self, condition: Callable[[], bool], what: str, *, deadline_s: float) -> None:
        """Read the features after each change of the database, until ``condition`` is true.

        Args:
            condition: A function without arguments, called each time the features were read.
            what: Describes the condition in error messages.
            deadline_s: How many seconds to wait at most.

        Raises:
            TimedOutError: The condition did not become true in time.
            AgentmuxError: A feature failed.
        """
        deadline = time.monotonic() + deadline_s
        with closing(file_changes.follow(self._database.parent, _LOOK_S)) as changes:
            before: object = None
            while True:
                now = self._stamp()
                if now != before or time.monotonic() - self._looked > _LONGEST_S:
                    before = now
                    self.look()
                    if condition():
                        return
                if time.monotonic() > deadline:
                    raise TimedOutError(f"{what}: did not happen within {deadline_s:g} s")
                next(changes)

    def look(self) -> None:
        """Read the features once, and pass those with a new `status_text` to the callback.

        Raises:
            AgentmuxError: A feature failed.
        """
        self._looked = time.monotonic()
        words = ("fleet", "list", "--json")
        answer = json.loads(self._commands.run(*words, announced=False, shown=False))
        before, self.features = (
            self.features,
            {each["key"]: _feature(each) for each in answer["features"]},
        )
        for key, each in self.features.items():
            if key not in before or before[key].status_text != each.status_text:
                self._tell(each)
        failed = next((each for each in self.features.values() if each.status == "failed"), None)
        if failed is not None:
            raise AgentmuxError(f"the feature {failed.key} failed: {failed.reason}")

    def _stamp(self) -> object:
        """Return a value that is different after each write to the database."""
        stats = [entry.stat() for entry in os.scandir(self._database.parent)]
        return sorted((each.st_ino, each.st_size, each.st_mtime_ns) for each in stats)


def _feature(fields: Mapping[str, Any]) -> FollowedFeature:
    return FollowedFeature(
        key=fields["key"],
        status=fields["status"],
        phase=fields["phase"] or "",
        host=fields["host"] or "",
        decision=fields["decision"],
        reason=fields["reason"] or "",
    )
