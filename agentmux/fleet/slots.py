"""The slots of a host: how many features run there at once, over all of its queues."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Final

_LOOK_S: Final = 1.0


class Slots:
    """Counts the features that run, each once; who waits is served in turn."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._held: set[str] = set()
        self._waiting: list[tuple[int, int, str]] = []
        self._turn = 0
        self._changed = threading.Condition()

    def take(self, feature: str, rank: int, gives_up: Callable[[], bool]) -> bool:
        """Wait for a slot; return whether the feature has one.

        A feature that has one keeps it: so the slot that its admission took is that of its drive.

        Args:
            feature: Its id.
            rank: Who waits with a lower one is served first, then who came first.
            gives_up: Is asked now and then whether to wait no longer.
        """
        with self._changed:
            self._turn += 1
            mine = (rank, self._turn, feature)
            self._waiting.append(mine)
        try:
            while not self._taken(mine):
                if gives_up():  # without the lock: it may ask the database
                    return False
            return True
        finally:
            with self._changed:
                self._waiting.remove(mine)
                self._changed.notify_all()

    def _taken(self, mine: tuple[int, int, str]) -> bool:
        """Return whether the feature has a slot; wait a moment for its turn."""
        feature = mine[2]
        with self._changed:
            if not self._is_next(mine):
                self._changed.wait(_LOOK_S)
            if self._is_next(mine):
                self._held.add(feature)
            return feature in self._held

    def _is_next(self, mine: tuple[int, int, str]) -> bool:
        free = len(self._held) < self._count and min(self._waiting) == mine
        return free or mine[2] in self._held

    def free(self, feature: str) -> None:
        """Give the feature's slot to another."""
        with self._changed:
            self._held.discard(feature)
            self._changed.notify_all()

    @property
    def busy(self) -> int:
        """How many slots are taken."""
        with self._changed:
            return len(self._held)
