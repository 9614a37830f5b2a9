"""The setup of a session's worktree, as it was configured when the session began."""

from __future__ import annotations

from collections.abc import Iterable

from agentmux.core.codec.frozen import dataclass
from agentmux.core.codec.records import from_fields, to_fields
from agentmux.core.config.settings import SetupStep
from agentmux.core.journal.state import SessionState, Setup
from agentmux.errors import DataError


@dataclass(frozen=True, slots=True, kw_only=True)
class _Recorded:
    name: str
    run: tuple[str, ...]
    timeout_s: int


def new_setup(steps: Iterable[SetupStep]) -> Setup | None:
    """Return the setup of a new session, none of whose steps is done; None without steps."""
    recorded = tuple(
        to_fields(_Recorded(name=each.name, run=each.run, timeout_s=round(each.timeout_s)))
        for each in steps
    )
    return Setup(steps=recorded) if recorded else None


def recorded_step(state: SessionState, name: str) -> SetupStep:
    """Return a step of the session's setup.

    Raises:
        DataError: There is no such step, or it is damaged.
    """
    steps = state.setup.steps if state.setup is not None else ()
    for fields in steps:
        if fields.get("name") == name:
            found = from_fields(_Recorded, fields, where="state: setup")
            return SetupStep(name=found.name, run=found.run, timeout_s=float(found.timeout_s))
    raise DataError(f"the session has no setup step `{name}`")


def step_names(state: SessionState) -> tuple[str, ...]:
    """Return the names of the steps, in their order."""
    steps = state.setup.steps if state.setup is not None else ()
    return tuple(str(each.get("name", "")) for each in steps)
