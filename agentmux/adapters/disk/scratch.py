"""Temporary folders that are deleted at the latest when the process ends, or after its kill.

All are in one folder of the user's. What a killed process left there is deleted by the next process
that makes such a folder while nobody else has one.
"""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

_FOLDERS: Final[set[Path]] = set()


@contextmanager
def scratch_folder(prefix: str) -> Iterator[Path]:
    """Create a private temporary folder for the ``with`` block, and delete it afterwards.

    ``prefix`` is the beginning of its name.

    Raises:
        OSError: The folder cannot be created.
    """
    import tempfile

    root = Path(tempfile.gettempdir(), f"agentmux-{os.getuid()}")
    in_use = _open_private(root)
    try:
        if in_use is not None:
            _take_place(root, in_use)
        folder = Path(tempfile.mkdtemp(prefix=prefix, dir=root if in_use is not None else None))
        _FOLDERS.add(folder)
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)
            _FOLDERS.discard(folder)
    finally:
        if in_use is not None:
            os.close(in_use)


def _open_private(root: Path) -> int | None:
    """Open the folder ``root``, which is made if it is missing; None if it is not ours alone."""
    with suppress(OSError):
        root.mkdir(mode=0o700, exist_ok=True)
        opened = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        about = os.fstat(opened)
        if about.st_uid == os.getuid() and not about.st_mode & 0o077:
            return opened
        os.close(opened)
    return None


def _take_place(root: Path, opened: int) -> None:
    """Lock ``root`` for as long as ``opened`` is open; delete what is there if nobody else is."""
    with suppress(OSError):  # another process uses it, or its file system has no locks
        fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
        for left in root.iterdir():
            shutil.rmtree(left, ignore_errors=True)
    with suppress(OSError):
        fcntl.flock(opened, fcntl.LOCK_SH)


def delete_scratch_folders() -> None:
    """Delete the folders of all `scratch_folder` blocks that this process is still in.

    Call it right before the process exits.
    """
    for folder in tuple(_FOLDERS):
        shutil.rmtree(folder, ignore_errors=True)
