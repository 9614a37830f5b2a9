"""The log of a worker and of DBOS, which stays off the terminal."""

from __future__ import annotations

import logging
import os

from agentmux.adapters.disk import files
from agentmux.fleet.place import Place


def log_to(place: Place) -> logging.Handler:
    """Return the handler for the log of the worker and of DBOS, which stays off the terminal."""
    files.make_dir(place.folder)
    stream = os.fdopen(files.append_only(place.log), "a", encoding="utf-8", errors="replace")
    handler = logging.StreamHandler(stream)
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    ours = logging.getLogger("agentmux")
    ours.addHandler(handler)
    ours.setLevel(logging.INFO)
    return handler
