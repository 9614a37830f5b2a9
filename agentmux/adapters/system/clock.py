"""The wall clock, for records only; what measures time uses the monotonic one."""

from __future__ import annotations

import time


def utc_now() -> str:
    """Return the instant as the journal writes it: UTC, ISO 8601, milliseconds, ``Z``.

    Without ``datetime``, which costs a signal more time to import than all of this.
    """
    seconds, rest = divmod(time.time_ns(), 10**9)
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds)) + f".{rest // 10**6:03d}Z"
