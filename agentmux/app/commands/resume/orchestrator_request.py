"""What a command asks of the orchestrator that it starts, and what the orchestrator answers."""

from __future__ import annotations

import json
from dataclasses import asdict
from enum import StrEnum
from typing import Literal

from agentmux.core.codec.frozen import dataclass, field
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
    """How a worktree that is gone is made again.

    That is from its last checkpoint: ``careful`` only if git keeps nothing more for its folder,
    ``anyway`` also then. ``branch`` is from its branch alone.
    """

    CAREFUL = "careful"
    ANYWAY = "anyway"
    BRANCH_ALONE = "branch"


@dataclass(frozen=True, slots=True, kw_only=True)
class OrchestratorRequest:
    """What a command asks of the orchestrator that it starts.

    Attributes:
        ready: Path of the pipe in which the orchestrator reports that it is ready, or why not;
            empty for none.
        fresh: Seats that start a new conversation; ``*`` means all of them.
        phase: For ``resume``: an earlier phase to go back to, instead of the inferred one.
        policy: For ``resume``: how panes come back, if a flag sets it; else empty.
        rebuild: For ``resume``: how a worktree that is gone is made again.
        session_id: The id for a session whose older format has none.
        session_name: The tmux session's name for a session whose older format has none.
    """

    mode: RequestMode
    ready: str = ""
    fresh: tuple[str, ...] = ()
    phase: str | None = None
    policy: str | None = None
    rebuild: Rebuild = Rebuild.CAREFUL
    session_id: str = ""
    session_name: str = ""

    def encode(self) -> str:
        """Return the request as one word of argv."""
        return json.dumps(asdict(self))


def decode_request(text: str) -> OrchestratorRequest:
    """Return the request that `OrchestratorRequest.encode` wrote."""
    fields = json.loads(text)
    return OrchestratorRequest(**{**fields, "fresh": tuple(fields.get("fresh", ()))})


@dataclass(frozen=True, slots=True, kw_only=True)
class OrchestratorReport:
    """What an orchestrator reports when it is ready, or why it cannot start.

    ``sets_up``: it prepares the worktree first, before the work of ``phase``.
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
    """Return the report that `OrchestratorReport.encode` wrote."""
    fields = json.loads(data)
    return OrchestratorReport(
        **{**fields, "hints": tuple(fields["hints"]), "warnings": tuple(fields["warnings"])}
    )


def failure(error: AgentmuxError) -> OrchestratorReport:
    """Return the report of an orchestrator that cannot start."""
    return OrchestratorReport(
        ok=False, exit_code=error.exit_code, message=error.message, hints=error.hints
    )
