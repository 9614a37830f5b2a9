"""Builds the next workflow of a feature."""

from __future__ import annotations

from agentmux.fleet.engine.rows import Feature
from agentmux.fleet.engine.workflows import Job


def next_job(row: Feature, kind: str, host: str | None, *, delay_s: float = 0.0) -> Job:
    """Return a feature's next workflow, with the number ``row.drive + 1``; enqueue nothing.

    The caller passes it to `Enqueuer.enqueue`, and in the same transaction writes its number to the
    column ``drive`` of the feature's row.

    Args:
        row: The feature, with the number of its newest workflow in ``drive``.
        kind: `workflows.ADMIT`, which assigns the feature to a host, or `workflows.DRIVE`, which
            runs it there.
        host: The id of the only host that may run the workflow; None if any host may.
        delay_s: How many seconds the workflow waits in the queue at least.
    """
    return Job(
        kind=kind,
        feature=row.id,
        number=row.drive + 1,
        priority=row.priority,
        host=host,
        delay_s=delay_s,
    )
