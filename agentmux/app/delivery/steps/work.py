"""The interface of a delivery step, and what it gets as input."""

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
"""The data recorded before and after a step: texts by name."""


class OvertakenError(AgentmuxError):
    """The repository has changed since the step was prepared; prepare it again."""


class StepError(AgentmuxError):
    """A step cannot be performed, for a reason that the next cycle may have to deal with.

    Attributes:
        record: What to record about the reason, such as the conflicts.
    """

    def __init__(self, message: str, *, record: Record, hints: tuple[str, ...] = ()) -> None:
        self.record = record
        super().__init__(message, hints=hints)


@dataclass(frozen=True, slots=True, kw_only=True)
class StepWork:
    """The input of a delivery step.

    Attributes:
        world: The outside world; its repository is the one in which the session works.
        state: The state of the session; its result has been committed.
        home: The session's directory.
        environ: The environment for programs that reach the network or sign: that of the approving
            command if it is known, else this process's own.
    """

    world: World
    state: SessionState
    home: Path
    environ: Mapping[str, str]

    @property
    def result(self) -> str:
        """The id of the commit to deliver; empty if the result has no commit."""
        commit = self.state.commit.commit if self.state.commit is not None else None
        return commit or ""


class Step(Protocol):
    """One step of a delivery after the commit; `prepare` and `perform` may block for minutes.

    A `Record` is a mapping of names to texts, which the caller writes to the journal.
    """

    def prepare(self, work: StepWork) -> Record:
        """Return a record of what the step is about to do; change nothing that others can see.

        Raises:
            AgentmuxError: The step cannot be done; people read the message and the hints.
        """

    def perform(self, work: StepWork, record: Record) -> Record:
        """Do what was prepared unless it was done already; return what to add to ``record``.

        ``record`` is what `prepare` returned. It is not changed: the caller adds the result to it.
        A killed orchestrator may have performed the step, wholly or in part, with this ``record``.

        Raises:
            OvertakenError: The step has to be prepared again.
            AgentmuxError: The step cannot be done; people read the message and the hints.
        """

    def describe_result(self, record: Record) -> str:
        """Return the phrase that tells people the result, such as ``merged into main``.

        The step must be done: ``record`` has what `perform` returned, too.
        """
