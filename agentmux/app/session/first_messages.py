"""The messages of a start, as the first lines of the session's log; the monitor shows them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Final

SAYS: Final = "agentmux.app.loop.orchestrator"
"""The logger of the messages that the monitor shows."""


def first_log(messages: Iterable[str], at: str) -> str:
    """Return the text with which a new session's log begins, so that the monitor shows messages.

    It has one line of JSON for each message. Writes nothing.

    Args:
        messages: The messages, one sentence each.
        at: When the session was started: UTC, ISO 8601.
    """
    head = {"at": at, "level": "info", "logger": SAYS}
    return "".join(f"{json.dumps({**head, 'message': each})}\n" for each in messages)
