"""The runtime note of a session: what is true only while its orchestrator runs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict
from typing import Final

from agentmux.app.loop.dependencies import LoopDependencies
from agentmux.app.loop.panes.observed_panes import ObservedPanes
from agentmux.app.session.writer import Session
from agentmux.core.agents.screens import question_in
from agentmux.core.decisions.tree_checkpoints import UNSAVED
from agentmux.core.names import layout
from agentmux.errors import AgentmuxError, DataError
from agentmux.ports.tmux.terminal import Pane

_NOTE_ROOM: Final = 2048
"""Minimum size of the runtime note in bytes, so that a full disk can be reported inside it."""

_PROBLEM_MAX: Final = 800


class RuntimeNote:
    """Writes the runtime note, and knows the programs in the panes.

    The note is a JSON file in the session's directory with what is true only while its orchestrator
    runs: the orchestrator's process, the panes, the statuses of the seats, and the two attributes.

    Attributes:
        problem: The problem to show to the user; None if there is none.
        left_branch: The warning that HEAD has left the session's branch; empty if it has not.
    """

    def __init__(
        self,
        session: Session,
        tools: LoopDependencies,
        sight: ObservedPanes,
        identity: Mapping[str, object],
    ) -> None:
        """Take the session; write nothing yet.

        Args:
            session: The session.
            tools: The parts of the outside world that only the loop needs.
            sight: What was last seen of the panes.
            identity: The fields of the note that describe this process: its version, the pids and
                start times of the orchestrator and the tmux server, the server's socket.
        """
        self._session = session
        self._tools = tools
        self._sight = sight
        self._identity = identity
        self.problem: str | None = None
        self.left_branch = ""
        self._written: object = None
        self._started: dict[tuple[str, int], int] = {}

    def write(self) -> None:
        """Write the note if it has changed.

        Raises:
            DataError: The note cannot be written; if possible, the existing note then says so.
        """
        sight, lines = self._sight, self._sight.last_lines
        fields = {
            **self._identity,
            "session": self._tools.terminal.target.session,
            "panes": {
                pane.seat: {
                    "pane": pane.id,
                    "pid": pane.pid,
                    "started": self._start_of(pane),
                    "launch": launch,
                    "visible": pane.visible,
                }
                for launch, pane in sight.panes.items()
            },
            "statuses": {
                name: {**asdict(each), "asks": question_in(each.status, lines.get(name, ""))}
                for name, each in sight.statuses.items()
            },
            "problem": self.problem,
            "left_branch": self.left_branch,
        }
        if fields != self._written:
            try:
                text = json.dumps(fields, indent=1).ljust(_NOTE_ROOM)
                self._session.files.write(layout.RUNTIME, text)
            except DataError:
                self._say_in_place()
                raise
            self._written = fields

    def processes(self) -> tuple[tuple[int, int], ...]:
        """Return pid and start time of the programs that ran in the panes at the last look.

        Start times are in the units of `ProcessWatch.start_time`. Programs with an unknown one are
        left out: the pid may be another program's by now.
        """
        panes = self._sight.panes.values()
        programs = ((pane.pid, self._start_of(pane)) for pane in panes if not pane.dead)
        return tuple((pid, started) for pid, started in programs if started)

    def tell_unsaved(self, reason: str) -> None:
        """Say to the command that stops the session why its files were not saved.

        A problem that `leave_behind` has told stays.
        """
        if self._identity.get("server_pid") != 0:
            self.problem = f"{UNSAVED}: {reason}"

    def leave_behind(self, problem: str) -> None:
        """Write the note for a session whose tmux server runs, but cannot be reached; ends nothing.

        The agents must have ended: the note then has no panes and no server. ``problem`` tells the
        user what to do.

        Raises:
            DataError: The note cannot be written.
        """
        self._identity = {**self._identity, "server_pid": 0, "server_started": 0}
        self._sight.panes, self.problem = {}, problem
        self.write()

    def _say_in_place(self) -> None:
        """Report in the existing note that nothing can be written; that needs no disk space."""
        self._written = None
        if self.problem is None:
            return
        fields = {
            **self._identity,
            "session": self._tools.terminal.target.session,
            "problem": self.problem[:_PROBLEM_MAX],
        }
        with suppress(AgentmuxError, OSError):
            self._session.files.write_over(layout.RUNTIME, json.dumps(fields))

    def _start_of(self, pane: Pane) -> int:
        """Return when a pane's program started, 0 if unknown; asks the system once per program."""
        key = (pane.id, pane.pid)
        if key not in self._started:
            self._started[key] = self._tools.deaths.start_time(pane.pid)
        return self._started[key]
