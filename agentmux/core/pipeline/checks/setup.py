"""The setup of a session's worktree, as it was configured when the session began, or repinned."""

from __future__ import annotations

from collections.abc import Iterable

from agentmux.core.codec.frozen import dataclass, replace
from agentmux.core.codec.records import Json, from_fields, to_fields
from agentmux.core.config.commands import SetupStep
from agentmux.core.journal.state import SessionState, Setup
from agentmux.errors import DataError


@dataclass(frozen=True, slots=True, kw_only=True)
class _RecordedStep:
    name: str
    run: tuple[str, ...]
    timeout_s: int


def new_setup(steps: Iterable[SetupStep]) -> Setup | None:
    """Return the setup of a new session, none of whose steps is done; None without steps."""
    recorded = recorded_steps(steps)
    return Setup(steps=recorded) if recorded else None


def recorded_steps(steps: Iterable[SetupStep]) -> tuple[Json, ...]:
    """Return steps as state and journal have them."""
    return tuple(
        to_fields(_RecordedStep(name=each.name, run=each.run, timeout_s=round(each.timeout_s)))
        for each in steps
    )


def repin_setup(
    setup: Setup | None, steps: tuple[Json, ...], dirty: tuple[str, ...]
) -> Setup | None:
    """Return the setup with other steps; those that have succeeded and are the same stay done.

    Args:
        setup: The setup so far; None for none.
        steps: The new steps, as `recorded_steps` returns them.
        dirty: The files that are dirty now. What a finished setup runs once more does not hide
            what agents have changed since.
    """
    if setup is None:
        return Setup(steps=steps, before=dirty) if steps else None
    done = min(setup.done, _common(setup.steps, steps))
    if setup.finished and done == len(steps):
        return replace(setup, steps=steps, done=done)
    before = dirty if setup.finished else setup.before
    return Setup(steps=steps, done=done, before=before)


def _common(old: tuple[Json, ...], new: tuple[Json, ...]) -> int:
    """Return how many steps at the beginning are the same."""
    pairs = zip(old, new, strict=False)
    return next(
        (n for n, (one, other) in enumerate(pairs) if one != other), min(len(old), len(new))
    )


def recorded_step(state: SessionState, name: str) -> SetupStep:
    """Return a step of the session's setup.

    Raises:
        DataError: There is no such step, or it is damaged.
    """
    for fields in state.setup.steps if state.setup is not None else ():
        if fields.get("name") == name:
            return step_from(fields)
    raise DataError(f"the session has no setup step `{name}`")


def step_from(fields: Json) -> SetupStep:
    """Return a step as state and journal have it.

    Raises:
        FieldError: It is damaged.
    """
    record = from_fields(_RecordedStep, fields, where="state: setup")
    return SetupStep(name=record.name, run=record.run, timeout_s=float(record.timeout_s))


def names_ahead(setup: Setup | None, *, anew: bool) -> tuple[str, ...]:
    """Return the names of the steps that still have to run; ``anew``: in a worktree made again."""
    ahead = () if setup is None else setup.steps[0 if anew else setup.done :]
    return tuple(str(each.get("name", "")) for each in ahead)
