"""Where changes of sessions show, for who watches files and processes."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from agentmux.app.session.search.lookup import sessions_dir
from agentmux.core.names import layout

NEWS: Final = frozenset({layout.STATE, layout.JOURNAL, layout.RUNTIME, layout.LOCK_HOLDER})
"""The files of a session whose change may concern who looks at it."""

ENDED_S: Final = 0.05
"""How long the lock of an orchestrator may be held after the end of its process."""


def home_of(project: Path) -> Path:
    """Return the folder in which the sessions of a project come, or in which that folder comes."""
    sessions = sessions_dir(project)
    places = (sessions, sessions.parent, project)
    return next((each for each in places if each.is_dir()), project)


def changed_ns(path: Path) -> int:
    """Return when something directly in a directory was made or replaced last; 0 if unknown."""
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0
