"""Sends the log of the worker and of DBOS to a file instead of the terminal."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager

from agentmux.adapters.disk import files
from agentmux.fleet.engine.fleet_home import FleetHome


@contextmanager
def log_to(place: FleetHome) -> Iterator[logging.Handler]:
    """Context manager that appends AgentMux's log messages to the file `FleetHome.log`.

    It yields the log handler. DBOS, the workflow library, logs to the same file if the caller
    passes that handler to it.
    """
    files.make_dir(place.folder)
    stream = os.fdopen(files.append_only(place.log), "a", encoding="utf-8", errors="replace")
    handler = logging.StreamHandler(stream)
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    ours = logging.getLogger("agentmux")
    ours.addHandler(handler)
    ours.setLevel(logging.INFO)
    try:
        yield handler
    finally:
        for each in (ours, logging.getLogger("dbos")):  # DBOS does not remove its handler
            each.removeHandler(handler)
        stream.close()
