"""The slots of a host: how many features run there at once, over all of its queues."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Final

_LOOK_S: Final = 1.0


class Slots:
    """Counts those who hold a slot, each once; who waits is served in turn.

    A holder is the id of a feature that runs, or of an admission.
    """

    def __init__(self, count: int) -> None:
        self._count = count
        self._held: set[str] = set()
        self._waiting: list[tuple[int, int, str]] = []
        self._turn = 0
        self._changed = threading.Condition()

    def take(self, holder: str, rank: int, gives_up: Callable[[], bool]) -> bool:
        """Wait for a slot; return whether the holder has one.

        Who has one keeps it: so the slot that an admission hands over is that of the drive.

        Args:
            holder: Who asks.
            rank: Who waits with a lower one is served first, then who came first.
            gives_up: Is asked now and then whether to wait no longer.
        """
        with self._changed:
            self._turn += 1
            mine = (rank, self._turn, holder)
            self._waiting.append(mine)
        try:
            while not self._try_take(mine):
                if gives_up():  # without the lock: it may ask the database
                    return False
            return True
        finally:
            with self._changed:
                self._waiting.remove(mine)
                self._changed.notify_all()

    def _try_take(self, mine: tuple[int, int, str]) -> bool:
        """Return whether the holder has a slot; wait a moment for its turn."""
        holder = mine[2]
        with self._changed:
            if not self._is_next(mine):
                self._changed.wait(_LOOK_S)
            if self._is_next(mine):
                self._held.add(holder)
            return holder in self._held

    def _is_next(self, mine: tuple[int, int, str]) -> bool:
        free = len(self._held) < self._count and min(self._waiting) == mine
        return free or mine[2] in self._held

    def free(self, holder: str) -> None:
        """Give the holder's slot to another."""
        with self._changed:
            self._held.discard(holder)
            self._changed.notify_all()

    def hand_over(self, holder: str, other: str) -> None:
        """Give the slot of a holder to another, which may wait for it, or have taken one."""
        with self._changed:
            self._held.discard(holder)
            self._held.add(other)
            self._changed.notify_all()

    @property
    def busy(self) -> int:
        """How many slots are taken."""
        with self._changed:
            return len(self._held)
