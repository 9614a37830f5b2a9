"""Deletes whole folders, even if a program (such as Go) has made folders in them read-only."""

from __future__ import annotations

import os
import shlex
import shutil
import stat
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from agentmux.adapters.disk import files
from agentmux.errors import DataError, reason_of


def delete_tree(folder: Path) -> None:
    """Delete a folder and everything in it; do nothing if it does not exist.

    Read-only folders in it are made writable. No link is followed: of a folder that is itself a
    link, only the link is deleted. If something cannot be deleted, everything else is deleted
    nevertheless, and another call can continue.

    Raises:
        DataError: Something cannot be deleted; the error names it.
    """
    if folder.is_symlink():
        with files.explain_errors(folder):
            folder.unlink()
        return
    left = _try_delete(folder)
    if left and any(isinstance(error, PermissionError) for _, error in left):
        _make_writable(folder)
        left = _try_delete(folder)
    for path, error in left:
        raise DataError(
            f"cannot delete `{path}`: {reason_of(error)}",
            hints=files.unwritable(path, error).hints
            or (f"see who owns it: ls -ld {shlex.quote(str(path.parent))}",),
        ) from error


def _try_delete(folder: Path) -> list[tuple[Path, OSError]]:
    """Delete what can be deleted.

    Return the paths that could not, deepest first, and the errors.
    """
    left: list[tuple[Path, OSError]] = []

    def note(_: object, path: str, found: object) -> None:
        error = found[1] if isinstance(found, tuple) else found
        if isinstance(error, OSError) and not isinstance(error, FileNotFoundError):
            left.append((Path(path), error))

    handler: dict[str, Any] = {"onexc" if sys.version_info >= (3, 12) else "onerror": note}
    shutil.rmtree(folder, **handler)
    return left


def _make_writable(folder: Path) -> None:
    """Give the user full permissions on the folders below ``folder``, as far as they own them."""
    _open_up(folder)
    for top, folders, _ in os.walk(folder):
        for name in folders:  # each is listed after this
            _open_up(Path(top, name))


def _open_up(folder: Path) -> None:
    with suppress(OSError):
        mode = folder.lstat().st_mode
        if stat.S_ISDIR(mode) and mode & stat.S_IRWXU != stat.S_IRWXU:
            folder.chmod(stat.S_IMODE(mode) | stat.S_IRWXU)
