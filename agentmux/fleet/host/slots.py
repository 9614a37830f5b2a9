"""The slots of a host, which limit how many features run there at once."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Final

_LOOK_S: Final = 1.0


class Slots:
    """Hands out a fixed number of slots to holders, and lets others wait for one.

    A holder is a string: the id of a running feature, or the name of an admission. A holder has one
    slot at most. All methods may be called from any thread.
    """

    def __init__(self, count: int) -> None:
        self._count = count
        self._held: set[str] = set()
        self._waiting: list[tuple[int, int, str]] = []
        self._turn = 0
        self._changed = threading.Condition()

    def take(self, holder: str, rank: int, gives_up: Callable[[], bool]) -> bool:
        """Wait until the holder has a slot, and return True; False if ``gives_up`` ended the wait.

        It returns at once if the holder has a slot already, for example one that was handed over.

        Args:
            holder: Who asks for a slot.
            rank: The lowest rank is served first, and for equal ranks whoever has waited longest.
            gives_up: A function that returns whether to end the wait. It is called about once a
                second, and not at all if a slot is free at once.
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
        """Return whether the holder has a slot; first wait up to a second if others are next."""
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
        """Release the slot of ``holder``, so that another can have it.

        A holder without a slot is ignored.
        """
        with self._changed:
            self._held.discard(holder)
            self._changed.notify_all()

    def hand_over(self, holder: str, other: str) -> None:
        """Give the slot of ``holder`` to ``other``, even if others have waited longer.

        ``holder`` must have a slot, which is not checked. If ``other`` has one already, that of
        ``holder`` becomes free.
        """
        with self._changed:
            self._held.discard(holder)
            self._held.add(other)
            self._changed.notify_all()

    @property
    def busy(self) -> int:
        """How many slots are in use."""
        with self._changed:
            return len(self._held)
