"""The wall clock, for timestamps in records; durations are measured with the monotonic clock."""

from __future__ import annotations

import time


def utc_now() -> str:
    """Return the current UTC time as text in the journal's form: ``2026-01-02T03:04:05.678Z``.

    It does not use ``datetime``, whose import would slow down programs that an agent calls often.
    """
    seconds, rest = divmod(time.time_ns(), 10**9)
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds)) + f".{rest // 10**6:03d}Z"
