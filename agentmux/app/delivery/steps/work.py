"""What a step of a delivery is given, and what it has to be able to do."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from agentmux.core.codec.frozen import dataclass
from agentmux.errors import AgentmuxError

if TYPE_CHECKING:
    from agentmux.app.world import World
    from agentmux.core.journal.state import SessionState

Record = Mapping[str, str]
"""What is recorded before and after a step: texts by name."""


class OvertakenError(AgentmuxError):
    """The world has changed since the step was prepared; nothing was done: prepare it again."""


class StepError(AgentmuxError):
    """A step cannot be taken, for a reason that the next cycle may have to deal with.

    Attributes:
        record: What to record of it, such as the conflicts.
    """

    def __init__(self, message: str, *, record: Record, hints: tuple[str, ...] = ()) -> None:
        self.record = record
        super().__init__(message, hints=hints)


@dataclass(frozen=True, slots=True, kw_only=True)
class StepWork:
    """The work of one step.

    Attributes:
        world: The outside world; its repository is that in which the session works.
        state: The state of the session; its result is committed.
        home: The session's directory.
        environ: The environment for programs that reach the network or sign: that of the command
            that approved, if it is known.
    """

    world: World
    state: SessionState
    home: Path
    environ: Mapping[str, str]

    @property
    def result(self) -> str:
        """The commit to deliver."""
        commit = self.state.commit.commit if self.state.commit is not None else None
        return commit or ""


class Step(Protocol):
    """One step of a delivery after the commit. Both methods may block for minutes."""

    def prepare(self, work: StepWork) -> Record:
        """Return what the step is about to do; change nothing that anybody sees.

        Raises:
            AgentmuxError: It cannot be done; people read the message and the hints.
        """

    def take(self, work: StepWork, record: Record) -> Record:
        """Do what was prepared, or find that it was done; return what to add to ``record``.

        An orchestrator that was killed may have done it, or a part of it, with this ``record``.

        Raises:
            OvertakenError: It has to be prepared again.
            AgentmuxError: It cannot be done; people read the message and the hints.
        """

    def describe_result(self, record: Record) -> str:
        """Return what people are told when it is done, such as ``merged into main``."""
