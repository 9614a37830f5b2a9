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
    """Create a private temporary folder for the ``with`` block, and delete it afterwards.

    ``prefix`` is the beginning of its name.

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
    """Delete the folders of all `scratch_folder` blocks that this process is still in.

    Call it right before the process exits.
    """
    for folder in tuple(_FOLDERS):
        shutil.rmtree(folder, ignore_errors=True)
