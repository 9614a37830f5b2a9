"""The request with which a command starts an orchestrator, and the orchestrator's report."""

from __future__ import annotations

import json
from dataclasses import asdict
from enum import StrEnum
from typing import Literal

from agentmux.core.codec.frozen import dataclass, field
from agentmux.core.codec.records import from_fields, to_fields
from agentmux.core.conversation.launch_policy import ORDINARY, LaunchPolicy
from agentmux.errors import AgentmuxError, NotFoundError

RequestMode = Literal["start", "resume", "reattach"]


class SessionDoneError(NotFoundError):
    """A session that is done cannot be resumed."""

    def __init__(self, session: str) -> None:
        super().__init__(
            f"session {session} is done, there is nothing to resume",
            hints=(f"agentmux show {session}", 'agentmux start "FEATURE"'),
        )


class Rebuild(StrEnum):
    """How a missing worktree is made again.

    ``careful`` and ``anyway`` use its last checkpoint; ``careful`` refuses if git still keeps work
    for the old folder. ``branch`` uses its branch alone.
    """

    CAREFUL = "careful"
    ANYWAY = "anyway"
    BRANCH_ALONE = "branch"


@dataclass(frozen=True, slots=True, kw_only=True)
class OrchestratorRequest:
    """What a command asks of the orchestrator that it starts.

    Attributes:
        mode: ``start`` starts a new session, ``resume`` resumes a stopped one, and ``reattach``
            takes over the agents of a session that still run.
        ready: The path of the pipe in which the orchestrator reports that it is ready, or why it is
            not; empty if nobody waits for a report.
        panes: For ``resume``: how panes are opened.
        phase: For ``resume``: an earlier phase to go back to; None resumes in the inferred phase.
        rebuild: For ``resume``: how a missing worktree is made again.
        session_id: The id for a session whose older format has none.
        session_name: The tmux session's name for a session whose older format has none.
    """

    mode: RequestMode
    ready: str = ""
    panes: LaunchPolicy = ORDINARY
    phase: str | None = None
    rebuild: Rebuild = Rebuild.CAREFUL
    session_id: str = ""
    session_name: str = ""

    def encode(self) -> str:
        """Return the request as JSON, in one argument of a command line."""
        return json.dumps({**asdict(self), "panes": to_fields(self.panes)})


def decode_request(text: str) -> OrchestratorRequest:
    """Return the request from ``text``, the result of `OrchestratorRequest.encode`."""
    fields = json.loads(text)
    panes = from_fields(LaunchPolicy, fields["panes"], where="panes")
    return OrchestratorRequest(**{**fields, "panes": panes})


@dataclass(frozen=True, slots=True, kw_only=True)
class OrchestratorReport:
    """What an orchestrator reports when it is ready, or why it cannot start.

    Attributes:
        ok: Whether it is ready.
        phase: The phase in which work goes on.
        sets_up: Whether it first prepares the worktree, before the work of ``phase``.
        exit_code: The exit code of its error; 0 if it is ready.
        message: The message of its error.
        hints: The hints of its error.
        warnings: What the user should know, one sentence each.
    """

    ok: bool
    phase: str = ""
    sets_up: bool = False
    exit_code: int = 0
    message: str = ""
    hints: tuple[str, ...] = ()
    warnings: tuple[str, ...] = field(default=())

    def encode(self) -> bytes:
        """Return the report as JSON."""
        return json.dumps(asdict(self)).encode()


def decode_report(data: bytes) -> OrchestratorReport:
    """Return the report from ``data``, the result of `OrchestratorReport.encode`."""
    fields = json.loads(data)
    return OrchestratorReport(
        **{**fields, "hints": tuple(fields["hints"]), "warnings": tuple(fields["warnings"])}
    )


def failure(error: AgentmuxError) -> OrchestratorReport:
    """Return the report of an orchestrator that cannot start because of ``error``."""
    return OrchestratorReport(
        ok=False, exit_code=error.exit_code, message=error.message, hints=error.hints
    )
