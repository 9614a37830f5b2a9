"""Our commands that messages name together for one session."""

from __future__ import annotations

import shlex


def stop_and_resume(session: str) -> str:
    """Return the shell commands that end a session's agents and resume it; the user runs them.

    They are one line that can be pasted as it is. ``session`` is the session's name.
    """
    name = shlex.quote(session)
    return f"agentmux stop {name} && agentmux resume {name}"
