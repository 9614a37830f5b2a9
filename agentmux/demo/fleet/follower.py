"""Follows the fleet with ``agentmux fleet list``, whenever its database has changed."""

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
"""After this time it asks again, although nothing has changed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FollowedFeature:
    """A feature as ``agentmux fleet list --json`` has it.

    Attributes:
        key: Its key in the backlog.
        decision: Whether a decision is asked for.
    """

    key: str
    status: str
    phase: str
    host: str
    decision: bool
    reason: str

    @property
    def status_text(self) -> str:
        """What to tell of it: where it is, or what is wrong."""
        words = self.status
        if self.status == "running" and self.phase:
            words = self.phase
        elif self.decision:
            words = "waiting for a decision"
        return f"{words}: {self.reason}" if self.reason else words


class FleetFollower:
    """Knows the features of a fleet, and tells what changes.

    Attributes:
        features: By their keys, as they were seen last.
    """

    def __init__(
        self, commands: DemoCommands, database: Path, tell: Callable[[FollowedFeature], object]
    ) -> None:
        """Look at nothing yet.

        Args:
            commands: The commands of the person.
            database: The database, in a folder of its own.
            tell: Called with each feature when something that it says has changed.
        """
        self.features: Mapping[str, FollowedFeature] = {}
        self._commands, self._database, self._tell = commands, database, tell
        self._looked = 0.0

    def until(self, condition: Callable[[], bool], what: str, *, deadline_s: float) -> None:
        """Follow the fleet until ``condition`` is true.

        Args:
            condition: Checked after each look.
            what: What is waited for, for messages.
            deadline_s: How many seconds to wait at most.

        Raises:
            TimedOutError: The condition was not true in time.
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
        """Ask for the features once, and tell what has changed.

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
        """Return what differs after somebody has written into the database."""
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
