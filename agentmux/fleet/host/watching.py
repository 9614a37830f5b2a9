"""Tells drives when the files of their sessions change, and the worker when others' do."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from agentmux.adapters.wake.flat_watch import FlatWatch
from agentmux.core.fleet import lease
from agentmux.core.names import layout

_QUIET = frozenset({lease.NAME, layout.LOCK, layout.LOCK_HOLDER, layout.LOG, layout.SNAPSHOTS})


class Watching:
    """One flat watch over the sessions of a host."""

    def __init__(self, moved: Callable[[Path], object]) -> None:
        """``moved`` is called, in a thread, with each session that changed and has no drive."""
        self._moved = moved
        self._drives: dict[Path, threading.Event] = {}
        self._at_rest: frozenset[Path] = frozenset()
        self._lock = threading.Lock()
        self._watch = FlatWatch(self._notify_drives)

    def begin(self, session: Path) -> threading.Event:
        """Return an event that is set whenever the session may have changed, until `end`."""
        with self._lock:
            event = self._drives.setdefault(session, threading.Event())
            event.set()
            self._again()
            return event

    def end(self, session: Path) -> None:
        """Follow the session no more."""
        with self._lock:
            self._drives.pop(session, None)
            self._again()

    def rest(self, sessions: frozenset[Path]) -> None:
        """Watch exactly these sessions beside those that have a drive."""
        with self._lock:
            self._at_rest = sessions
            self._again()

    def look(self) -> None:
        """Have every drive look at its session, and at its row."""
        with self._lock:
            for each in self._drives.values():
                each.set()

    def close(self) -> None:
        """Watch nothing more."""
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
            with suppress(Exception):  # the next change tells again
                self._moved(session)
