"""Temporary folders that are deleted at the latest when the process ends."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

_FOLDERS: Final[set[Path]] = set()


@contextmanager
def scratch_folder(prefix: str) -> Iterator[Path]:
    """Create a private temporary folder for the ``with`` block; its name begins with ``prefix``.

    Raises:
        OSError: The folder cannot be created.
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
    """Delete all folders of `scratch_folder` that are in use.

    Call it right before the process exits.
    """
    for folder in tuple(_FOLDERS):
        shutil.rmtree(folder, ignore_errors=True)
