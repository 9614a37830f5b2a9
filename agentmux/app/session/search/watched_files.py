"""The files and folders to watch for changes of sessions."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from agentmux.app.session.search.lookup import sessions_dir
from agentmux.core.names import layout

WATCHED_FILES: Final = frozenset({layout.STATE, layout.JOURNAL, layout.RUNTIME, layout.LOCK_HOLDER})
"""The files of a session whose changes matter to a viewer of the session."""

ENDED_S: Final = 0.05
"""How long the lock of an orchestrator may stay held after its process has ended, in seconds."""


def folder_to_watch(project: Path) -> Path:
    """Return the project's sessions folder; if it does not exist yet, the folder to watch for it.

    That is the nearest existing folder in which it will be created.
    """
    sessions = sessions_dir(project)
    places = (sessions, sessions.parent, project)
    return next((each for each in places if each.is_dir()), project)


def changed_ns(path: Path) -> int:
    """Return when an entry of the directory ``path`` was last created, replaced or removed.

    The time is in nanoseconds since 1970; 0 if it is unknown.
    """
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0
