"""The setup of a session's worktree, as recorded when the session began or was last repinned."""

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
    """Return the setup of a new session, with no step done; None if there are no steps."""
    recorded = recorded_steps(steps)
    return Setup(steps=recorded) if recorded else None


def recorded_steps(steps: Iterable[SetupStep]) -> tuple[Json, ...]:
    """Return setup steps as mappings, in the form that the state and the journal record.

    The keys are ``name``, ``run`` (the words of the command) and ``timeout_s``, which is rounded to
    whole seconds.
    """
    return tuple(
        to_fields(_RecordedStep(name=each.name, run=each.run, timeout_s=round(each.timeout_s)))
        for each in steps
    )


def repin_setup(
    setup: Setup | None, steps: tuple[Json, ...], dirty: tuple[str, ...]
) -> Setup | None:
    """Return the setup with its steps replaced; None if there was no setup and there are no steps.

    The first steps stay done as far as they have succeeded and are unchanged.

    Args:
        setup: The setup before; None if there was none.
        steps: The new steps, as `recorded_steps` returns them.
        dirty: The files that have uncommitted changes now, relative to the worktree. For a new
            setup, or a finished one that has to run again, they become `Setup.before`, so that
            changes by agents are not taken for changes by the setup.
    """
    if setup is None:
        return Setup(steps=steps, before=dirty) if steps else None
    done = min(setup.done, _common(setup.steps, steps))
    if setup.finished and done == len(steps):
        return replace(setup, steps=steps, done=done)
    before = dirty if setup.finished else setup.before
    return Setup(steps=steps, done=done, before=before)


def _common(old: tuple[Json, ...], new: tuple[Json, ...]) -> int:
    """Return how many steps at the beginning of both are the same."""
    pairs = zip(old, new, strict=False)
    return next(
        (n for n, (one, other) in enumerate(pairs) if one != other), min(len(old), len(new))
    )


def recorded_step(state: SessionState, name: str) -> SetupStep:
    """Return the step called ``name`` of the session's setup.

    Raises:
        DataError: There is no such step, or its record is not valid.
    """
    for fields in state.setup.steps if state.setup is not None else ():
        if fields.get("name") == name:
            return step_from(fields)
    raise DataError(f"the session has no setup step `{name}`")


def step_from(fields: Json) -> SetupStep:
    """Return the setup step in ``fields``, a mapping as `recorded_steps` returns it.

    Raises:
        FieldError: ``fields`` is not valid.
    """
    record = from_fields(_RecordedStep, fields, where="state: setup")
    return SetupStep(name=record.name, run=record.run, timeout_s=float(record.timeout_s))


def names_ahead(setup: Setup | None, *, anew: bool) -> tuple[str, ...]:
    """Return the names of the setup steps that still have to run, in order.

    Args:
        setup: The setup; None if there is none.
        anew: Whether the worktree will be created again, so that all steps have to run.
    """
    ahead = () if setup is None else setup.steps[0 if anew else setup.done :]
    return tuple(str(each.get("name", "")) for each in ahead)
