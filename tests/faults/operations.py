"""Recording and breaking a process's durable operations, which are calls of `os`.

Python audits renames but not writes, so the functions of `os` are wrapped. A wrapped function calls
``before`` first, and then the real function.
"""

# Paths are plain strings here, because they are arguments of recorded calls.
# ruff: noqa: PTH115, PTH118

from __future__ import annotations

import os
import stat
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

NAMES = ("write", "fsync", "replace", "rename", "link", "unlink", "mkdir", "rmdir", "ftruncate")
TWO_PATHS = frozenset({"replace", "rename", "link"})
BY_DESCRIPTOR = frozenset({"write", "fsync", "ftruncate"})


@dataclass(frozen=True, slots=True)
class Operation:
    """One call: ``path`` is the file that it changes, ``target`` the new name if there is one."""

    name: str
    path: str
    target: str = ""
    is_dir: bool = False

    @property
    def place(self) -> str:
        """The name of the file after the operation."""
        return self.target or self.path


class Operations:
    """Wraps functions of `os`; calls ``before`` for each operation below ``root``."""

    def __init__(self, root: Path, before: Callable[[Operation], None]) -> None:
        self._root = f"{root}/"
        self._before = before
        self.lock = threading.RLock()
        """Held while ``before`` and then the operation run."""

    def install(self, put: Callable[[Any, str, Any], None]) -> None:
        """Wrap the functions; ``put`` is `setattr` or a monkeypatch's ``setattr``."""
        for name in NAMES:
            put(os, name, self._wrapped(name, getattr(os, name)))

    def _wrapped(self, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **options: Any) -> Any:
            operation = _operation(name, arguments, options)
            if operation is None or not f"{operation.path}/".startswith(self._root):
                return real(*arguments, **options)
            with self.lock:
                self._before(operation)
                return real(*arguments, **options)

        return call


def _operation(name: str, arguments: tuple[Any, ...], options: dict[str, Any]) -> Operation | None:
    if name in BY_DESCRIPTOR:
        mode = os.fstat(arguments[0]).st_mode
        if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
            return None
        path = os.readlink(f"/proc/self/fd/{arguments[0]}")
        return Operation(name, path, is_dir=stat.S_ISDIR(mode))
    path = os.fspath(arguments[0])
    if options.get("dir_fd") is not None:
        path = os.path.join(os.readlink(f"/proc/self/fd/{options['dir_fd']}"), path)
    target = os.fspath(arguments[1]) if name in TWO_PATHS else ""
    return Operation(name, path, target)
