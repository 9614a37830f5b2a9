"""A file lock that a git process inherits, so that it is held until that process has ended."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from agentmux.adapters.disk import files
from agentmux.adapters.git.program import WRITE_TIMEOUT_S
from agentmux.adapters.system.polling import lock_within
from agentmux.ports.git.repository import GitError

_POLL_S: Final = 0.05


@contextmanager
def inherited_lock(path: Path, busy: str, *, wait_s: float = WRITE_TIMEOUT_S) -> Iterator[int]:
    """Hold a lock on the file ``path`` during the ``with`` block; yield the file's descriptor.

    The file is created if it is missing, and stays. Pass the descriptor to `GitProgram.run` as
    ``keep_open``: if an orchestrator is killed, the git that it started goes on and holds the lock
    until it ends. ``wait_s``, in seconds, is therefore as long as a git command may take.

    Raises:
        GitError: Another process still holds the lock after ``wait_s`` seconds; the message is
            ``busy``.
        DataError: The file cannot be created, or the file system has no locks.
    """
    with files.explain_errors(path):
        held = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, files.FILE_MODE)
    try:
        try:
            is_ours = lock_within(held, wait_s, every_s=_POLL_S)
        except OSError as error:  # the file system has no locks
            raise files.unwritable(path, error) from error
        if not is_ours:
            raise GitError(busy)
        yield held
    finally:
        os.close(held)
