"""The commands of a session's checks, as recorded when it began or was last repinned."""

from __future__ import annotations

from collections.abc import Iterable

from agentmux.core.codec.frozen import dataclass
from agentmux.core.codec.records import Json, from_fields, to_fields
from agentmux.core.config.commands import VerifyCommand
from agentmux.core.journal.state import SessionState


@dataclass(frozen=True, slots=True, kw_only=True)
class _RecordedCommand:
    name: str
    run: tuple[str, ...]
    timeout_s: int
    required: bool


def recorded_commands(commands: Iterable[VerifyCommand]) -> tuple[Json, ...]:
    """Return check commands as mappings, in the form that the state and the journal record.

    The keys are ``name``, ``run`` (the words of the command), ``timeout_s``, which is rounded to
    whole seconds, and ``required``.
    """
    return tuple(
        to_fields(
            _RecordedCommand(
                name=each.name,
                run=each.run,
                timeout_s=round(each.timeout_s),
                required=each.required,
            )
        )
        for each in commands
    )


def check_commands(state: SessionState, run: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names of a check's commands, in the order of the configuration.

    Args:
        state: The session's state.
        run: `PhaseDefinition.run` of the check: the names of its commands; empty means all.
    """
    names = tuple(str(each.get("name", "")) for each in state.verify)
    return tuple(name for name in names if not run or name in run)


def frozen_commands(state: SessionState) -> tuple[VerifyCommand, ...]:
    """Return the commands of the session's checks as the session recorded them, in order.

    The order is that of the configuration from which they were recorded.

    Raises:
        FieldError: The record of a command in the state is not valid.
    """
    records = (from_fields(_RecordedCommand, each, where="state: verify") for each in state.verify)
    return tuple(
        VerifyCommand(
            name=each.name,
            run=each.run,
            timeout_s=float(each.timeout_s),
            required=each.required,
        )
        for each in records
    )
