"""DBOS: which workflows wait in which queues. No other module knows its API.

A feature's workflows are ``<uuid>:admit:<k>`` and ``<uuid>:drive:<k>``, and take the feature's id
and ``k``. *Admit* waits for a slot and gives the feature to a host; *drive* runs it there. They are
enqueued in the transaction that changes the feature's row, so neither can be without the other.
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
NEW: Final = "agentmux-new"
ADMIT: Final = "admit"
DRIVE: Final = "drive"
APP_VERSION: Final = f"contract-{CONTRACT}"
POLL_S: Final = 0.5
"""How often a queue is looked at."""
_NEW_AT_ONCE: Final = 4
"""How many new features one host may hold that wait for a slot."""
_MANY: Final = 1_000_000
_NEVER_S: Final = 3600.0
_FORGET_MAX: Final = 1000
_LISTEN_S: Final = 1.0
"""How often a thread of DBOS wakes that looks for notifications; without any it asks nothing."""


def host_queue(host: str) -> str:
    """Return the name of the queue of a host."""
    return f"agentmux-host-{host}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A workflow of a feature.

    Attributes:
        kind: `ADMIT` or `DRIVE`.
        feature: The feature's id.
        number: Of the workflow among those of the feature.
        priority: The lowest is taken first; it always has one, since DBOS puts none before 1.
        host: The id of the host that has to run it; None for any.
        delay_s: It is not run before this time has passed.
    """

    kind: str
    feature: str
    number: int
    priority: int
    host: str | None = None
    delay_s: float = 0.0


class Enqueuer:
    """Enqueues workflows in the transactions of others; runs none."""

    def __init__(self, engine: sa.Engine) -> None:
        self._client = DBOSClient(
            system_database_engine=engine,
            serializer=DBOSPortableJSONSerializer(),
            application_name=NAME,
            lazy=True,
            retry_connection_errors=False,
        )

    def enqueue(self, connection: sa.Connection, job: Job) -> None:
        """Enqueue a workflow; it exists once the transaction of ``connection`` is committed."""
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
        """Return the ids of the workflows that a host has taken from a queue and not ended."""
        workflows = self._client.list_workflows(
            status="PENDING", executor_id=host, load_input=False, load_output=False
        )
        return frozenset(each.workflow_id for each in workflows)

    def forget(self, before: datetime) -> int:
        """Delete the oldest workflows that ended before that time; return how many.

        Nothing looks at them again: each workflow of a feature has a number of its own.
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
    """Make or migrate the tables of DBOS."""
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


def launch(engine: sa.Engine, host: str, log: logging.Handler, *, admit: Body, drive: Body) -> None:
    """Begin to run the workflows of a host, and those that are new.

    What this host was running when its last worker was killed is run again.
    """
    _configure(engine, host, log, run_migrations=False)
    DBOS.workflow(name=ADMIT, max_recovery_attempts=_MANY)(admit)
    DBOS.workflow(name=DRIVE, max_recovery_attempts=_MANY)(drive)
    DBOS.listen_queues([NEW, host_queue(host)])
    DBOS.launch()
    DBOS.register_queue(host_queue(host), polling_interval_sec=POLL_S, on_conflict="always_update")


def end(wait_s: int) -> None:
    """Take nothing more from the queues, and wait so many seconds for what runs."""
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
