"""Watches a changing set of directories, each without its subdirectories.

Watching one directory costs one of the kernel's watches per session; watching it with all its
subdirectories would cost seventeen.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

logger = logging.getLogger(__name__)

STEP_MS: Final = 200
SET_UP_S: Final = 1.0
"""Seconds that it may take until the kernel watches newly added directories."""

_NO_TIMEOUT: Final = 0
_AGAIN_S: Final = 0.5
_UNWATCHABLE: Final = (OSError, RuntimeError)


class FlatWatch:
    """Watches directories in a thread, and reports which files directly in them have changed.

    It calls ``told`` in that thread with the paths of the changed files. A report is only a hint to
    look again: changes while `watch` replaces the set of directories are missed.
    """

    def __init__(
        self, told: Callable[[frozenset[Path]], object], *, step_ms: int = STEP_MS
    ) -> None:
        """Prepare a watch without directories.

        Args:
            told: Called in the thread with the paths of the files that have changed.
            step_ms: The interval of checks, in milliseconds. ``told`` is called after an interval
                without a further change, and after two intervals at the latest.
        """
        self._told, self._step_ms = told, step_ms
        self._watched: frozenset[Path] = frozenset()
        self._halt = threading.Event()

    def watch(self, folders: Iterable[Path]) -> frozenset[Path]:
        """Watch exactly these directories from now on; return those that were not watched before.

        It returns at once: until the kernel watches them, which may take `SET_UP_S`, changes are
        missed.
        """
        wanted = frozenset(folders)
        added = wanted - self._watched
        if wanted != self._watched:
            self._watched = wanted
            self._halt.set()
            self._halt = threading.Event()
            if wanted:
                run = threading.Thread(target=self._run, args=(wanted, self._halt), daemon=True)
                run.start()
        return added

    def close(self) -> None:
        """Stop watching; the thread ends soon afterwards."""
        self._halt.set()
        self._watched = frozenset()

    def _run(self, folders: frozenset[Path], halt: threading.Event) -> None:
        from watchfiles import watch

        while not halt.is_set():
            there = [each for each in folders if each.is_dir()]
            try:
                for changed in watch(
                    *there,
                    watch_filter=None,
                    debounce=2 * self._step_ms,
                    step=self._step_ms,
                    rust_timeout=_NO_TIMEOUT,
                    stop_event=halt,
                    recursive=False,
                    ignore_permission_denied=True,
                ):
                    if halt.is_set():
                        return
                    self._told(frozenset(Path(path) for _, path in changed))
            except _UNWATCHABLE as error:
                logger.warning("could not watch %s folders: %s", len(there), error)
                halt.wait(_AGAIN_S)
