"""Watches the files of this host's sessions, and reports changes to the drives and the worker."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from agentmux.adapters.wake.flat_watch import FlatWatch
from agentmux.core.fleet import lease
from agentmux.core.names import layout

_QUIET = frozenset({lease.NAME, layout.LOCK, layout.LOCK_HOLDER, layout.LOG, layout.SNAPSHOTS})


class HostWatch:
    """Watches the directories of all sessions of a host.

    A change of a session that a drive follows sets that drive's event. A change of another watched
    session is reported to a callback, in another thread.
    """

    def __init__(self, moved: Callable[[Path], object]) -> None:
        """Create a watch on no session.

        Args:
            moved: Called with the directory of each session that changed and that no drive follows.
                The call comes from another thread; its errors are ignored.
        """
        self._moved = moved
        self._drives: dict[Path, threading.Event] = {}
        self._at_rest: frozenset[Path] = frozenset()
        self._lock = threading.Lock()
        self._watch = FlatWatch(self._notify_drives)

    def begin(self, session: Path) -> threading.Event:
        """Start to watch the directory ``session`` for a drive.

        Returns:
            An event that is set already, and is set again each time the session may have changed,
            until `end`; the drive clears it.
        """
        with self._lock:
            event = self._drives.setdefault(session, threading.Event())
            event.set()
            self._again()
            return event

    def end(self, session: Path) -> None:
        """Stop watching the directory ``session`` for its drive.

        Nothing happens if it is not watched for a drive. If `rest` names the session, it is still
        watched, and its changes go to the callback.
        """
        with self._lock:
            self._drives.pop(session, None)
            self._again()

    def rest(self, sessions: frozenset[Path]) -> None:
        """Set which sessions are watched although no drive follows them; do not wait.

        A drive carries out one turn of a feature, from the start or resume of its session until it
        rests. The constructor's callback is called when one of these sessions changes, except while
        a drive follows it (`begin`). ``sessions`` are their directories, which replace those of the
        last call.
        """
        with self._lock:
            self._at_rest = sessions
            self._again()

    def wake_drives(self) -> None:
        """Set the event of every drive, so that it looks at its session and its feature's row."""
        with self._lock:
            for each in self._drives.values():
                each.set()

    def close(self) -> None:
        """Stop watching all sessions."""
        self._watch.close()

    def _again(self) -> None:
        self._watch.watch({*self._drives, *self._at_rest})

    def _notify_drives(self, paths: frozenset[Path]) -> None:
        changed = {path.parent for path in paths if path.name not in _QUIET}
        with self._lock:
            for session in changed & self._drives.keys():
                self._drives[session].set()
            others = changed & self._at_rest - self._drives.keys()
        for session in others:
            with suppress(Exception):  # the next change is reported again
                self._moved(session)
