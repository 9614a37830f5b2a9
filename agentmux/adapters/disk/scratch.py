"""Temporary folders that do not outlive their process, whichever of its threads uses them."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

_FOLDERS: Final[set[Path]] = set()


@contextmanager
def scratch_folder(prefix: str) -> Iterator[Path]:
    """Make a private temporary folder whose name begins with ``prefix``; delete it at the end.

    Raises:
        OSError: It cannot be made.
    """
    import tempfile

    folder = Path(tempfile.mkdtemp(prefix=prefix))
    _FOLDERS.add(folder)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        _FOLDERS.discard(folder)


def delete_scratch_folders() -> None:
    """Delete the folders that are in use: the process is about to end, with its threads."""
    for folder in tuple(_FOLDERS):
        shutil.rmtree(folder, ignore_errors=True)
