"""Enqueues and runs the fleet's workflows with DBOS. No other module uses the API of DBOS.

A feature's workflows have the ids ``<uuid>:admit:<k>`` and ``<uuid>:drive:<k>``. Their arguments
are the feature's id and the number ``k``. *Admit* waits for a slot and assigns the feature to a
host; *drive* runs the feature there. A workflow is enqueued in the transaction that changes the
feature's row, so that both happen or neither does.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING, Final

from dbos import DBOS, DBOSClient, EnqueueOptions
from dbos._serialization import DBOSPortableJSONSerializer

from agentmux.core.codec.frozen import dataclass
from agentmux.fleet.engine.tables import CONTRACT

if TYPE_CHECKING:
    import sqlalchemy as sa

NAME: Final = "agentmux-fleet"
"""The name under which AgentMux registers with DBOS."""
NEW: Final = "agentmux-new"
"""The name of the queue that all hosts take from."""
ADMIT: Final = "admit"
"""The kind of a workflow that assigns a feature to a host."""
DRIVE: Final = "drive"
"""The kind of a workflow that runs a feature on its host."""
APP_VERSION: Final = f"contract-{CONTRACT}"
"""The version of AgentMux for DBOS, which takes only workflows of the same version."""
POLL_S: Final = 0.5
"""How many seconds pass between two looks at a queue."""
_NEW_AT_ONCE: Final = 4
"""How many admissions of new features may wait for a slot on one host at once."""
_MANY: Final = 1_000_000
_NEVER_S: Final = 3600.0
_FORGET_MAX: Final = 1000
_LISTEN_S: Final = 1.0
"""How often the DBOS thread for notifications wakes; the fleet has none, so it makes no query."""


def host_queue(host: str) -> str:
    """Return the name of the queue of the host with the id ``host``."""
    return f"agentmux-host-{host}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A workflow of a feature (its admission or a drive), to be enqueued with `Enqueuer.enqueue`.

    Attributes:
        kind: `ADMIT`, which assigns the feature to a host, or `DRIVE`, which runs it there.
        feature: The feature's id.
        number: The workflow's number; a feature's workflows of both kinds are counted together.
        priority: The feature's priority, from 1 to 1000; the lowest number is taken first. It is
            required, because DBOS takes a workflow without a priority before all others.
        host: The id of the only host that may run the workflow; None if any host may.
        delay_s: How many seconds the workflow waits in the queue at least.
    """

    kind: str
    feature: str
    number: int
    priority: int
    host: str | None = None
    delay_s: float = 0.0


class Enqueuer:
    """Enqueues workflows in a transaction that the caller has begun. It never runs workflows."""

    def __init__(self, engine: sa.Engine) -> None:
        self._client = DBOSClient(
            system_database_engine=engine,
            serializer=DBOSPortableJSONSerializer(),
            application_name=NAME,
            lazy=True,
            retry_connection_errors=False,
        )

    def enqueue(self, connection: sa.Connection, job: Job) -> None:
        """Enqueue a workflow in the transaction of ``connection``, which the caller commits.

        No host sees the workflow before the commit.
        """
        options: EnqueueOptions = {
            "workflow_name": job.kind,
            "queue_name": NEW if job.host is None else host_queue(job.host),
            "workflow_id": f"{job.feature}:{job.kind}:{job.number}",
            "priority": job.priority,
            "app_version": APP_VERSION,
        }
        if job.delay_s > 0:
            options["delay_seconds"] = job.delay_s
        self._client.enqueue_in_transaction(connection, options, job.feature, job.number)

    def list_taken(self, host: str) -> frozenset[str]:
        """Return the ids of the workflows that a host has taken from a queue and not finished.

        ``host`` is the host's id. The ids have the form ``<feature>:<kind>:<number>``.
        """
        workflows = self._client.list_workflows(
            status="PENDING", executor_id=host, load_input=False, load_output=False
        )
        return frozenset(each.workflow_id for each in workflows)

    def forget(self, before: datetime) -> int:
        """Delete the records of workflows that ended before ``before``, at most 1000 per call.

        The records are not needed: no workflow of a feature reuses the number of another.

        Returns:
            How many workflows were deleted.
        """
        ended = self._client.list_workflows(
            status=["SUCCESS", "ERROR", "CANCELLED"],
            completed_before=before.isoformat(),
            limit=_FORGET_MAX,
            load_input=False,
            load_output=False,
        )
        self._client.delete_workflows([each.workflow_id for each in ended])
        return len(ended)


def migrate(engine: sa.Engine, log: logging.Handler) -> None:
    """Create or migrate the tables of DBOS, the workflow library; run no workflow.

    It also registers the queue of new features.

    Args:
        engine: The engine of the fleet's database.
        log: The handler that receives the log of DBOS.
    """
    _configure(engine, "migration", log, run_migrations=True)
    DBOS.launch()
    try:
        DBOS.register_queue(
            NEW,
            worker_concurrency=_NEW_AT_ONCE,
            polling_interval_sec=POLL_S,
            on_conflict="always_update",
        )
    finally:
        DBOS.destroy(destroy_registry=True)


Body = Callable[[str, int], str]
"""A workflow's function: takes a feature's id and the workflow's number, returns its result."""


def launch(engine: sa.Engine, host: str, log: logging.Handler, *, admit: Body, drive: Body) -> None:
    """Start to run the workflows of a host, and those of new features, in threads of DBOS.

    It returns at once; `stop_workflows` ends it. Workflows that this host was running when its last
    worker was killed are run again.

    Args:
        engine: The engine of the fleet's database.
        host: The host's id.
        log: The handler that receives the log of DBOS.
        admit: Runs a workflow of kind `ADMIT`; takes the feature's id and the workflow's number,
            and returns what was done, in words.
        drive: Runs a workflow of kind `DRIVE`; takes and returns the same.
    """
    _configure(engine, host, log, run_migrations=False)
    DBOS.workflow(name=ADMIT, max_recovery_attempts=_MANY)(admit)
    DBOS.workflow(name=DRIVE, max_recovery_attempts=_MANY)(drive)
    DBOS.listen_queues([NEW, host_queue(host)])
    DBOS.launch()
    DBOS.register_queue(host_queue(host), polling_interval_sec=POLL_S, on_conflict="always_update")


def stop_workflows(wait_s: int) -> None:
    """Take no more workflows, and wait up to ``wait_s`` seconds for those that run.

    It returns nothing: whether they ended in that time is not reported.
    """
    DBOS.destroy(workflow_completion_timeout_sec=wait_s)


def _configure(engine: sa.Engine, host: str, log: logging.Handler, *, run_migrations: bool) -> None:
    logger = logging.getLogger("dbos")
    logger.propagate = False
    logger.handlers = [log]  # else DBOS would write to stderr
    DBOS(
        config={
            "name": NAME,
            "system_database_engine": engine,
            "application_version": APP_VERSION,
            "executor_id": host,
            "serializer": DBOSPortableJSONSerializer(),
            "enable_otlp": False,
            "run_migrations": run_migrations,
            "log_level": "INFO",
            # The fleet uses no notifications and no schedules.
            "use_listen_notify": False,
            "notification_listener_polling_interval_sec": _LISTEN_S,
            "scheduler_polling_interval_sec": _NEVER_S,
        }
    )
