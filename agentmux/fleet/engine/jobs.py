"""The workflow that follows a feature's newest one."""

from __future__ import annotations

from agentmux.fleet.engine.rows import Feature
from agentmux.fleet.engine.workflows import Job


def next_job(row: Feature, kind: str, host: str | None, *, delay_s: float = 0.0) -> Job:
    """Return the next workflow of a feature, whose row has to get its number in the same change.

    Args:
        row: The feature before the change.
        kind: `engine.ADMIT` or `engine.DRIVE`.
        host: The id of the host that has to run it; None for any.
        delay_s: It is not run before this time has passed.
    """
    return Job(
        kind=kind,
        feature=row.id,
        number=row.drive + 1,
        priority=row.priority,
        host=host,
        delay_s=delay_s,
    )
