"""Keeps host name and port of the page across a restart, so that an open page finds it again."""

from __future__ import annotations

import fcntl
import os
import re
import secrets
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from agentmux.adapters.disk import files
from agentmux.errors import BlockedError, DataError

if TYPE_CHECKING:
    from collections.abc import Callable

_FILE: Final = "last-address"
_LINE: Final = re.compile(rb"(agentmux-[0-9a-f]{10}\.localhost):([1-9]\d{0,4})\n")
_LINE_MAX: Final = 80
_NAME_BYTES: Final = 5
_OPEN: Final = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW

Sockets = tuple[socket.socket, ...]
"""The listening sockets of a server."""


def new_name() -> str:
    """Return a host name that no other server has: browsers send cookies to every port of a host.

    It is random, and below ``.localhost``.
    """
    return f"agentmux-{secrets.token_hex(_NAME_BYTES)}.localhost"


@contextmanager
def keep_address(
    folder: Path, port: int, listen: Callable[[int], Sockets]
) -> Iterator[tuple[Sockets, str]]:
    """Context manager that listens, if it can at the last address; gives sockets and host name.

    The last host name is given only with its port. Both are new if that port is not free, if
    ``port`` is another one, or if a server that runs holds the record of the last address: two
    servers with one host name would get each other's cookies. The caller must close the sockets.

    Args:
        folder: The folder of the record; created if it is missing.
        port: The port to listen at; 0 for the last one, or else any free one.
        listen: Returns sockets that listen at a port, at any free one for 0.

    Raises:
        BlockedError: The port is in use, or this machine does not have the address.
    """
    record = _take_record(folder)
    try:
        line = _LINE.fullmatch(os.pread(record, _LINE_MAX, 0)) if record is not None else None
        name, last = (line[1].decode(), int(line[2])) if line is not None else ("", 0)
        sockets: Sockets = ()
        if port in {0, last} and name:
            with suppress(BlockedError, OverflowError):
                sockets = listen(last)
        if not sockets:
            sockets, name = listen(port), new_name()
        if record is not None:
            os.ftruncate(record, 0)
            os.pwrite(record, f"{name}:{sockets[0].getsockname()[1]}\n".encode(), 0)
        yield sockets, name
    finally:
        if record is not None:
            os.close(record)


def _take_record(folder: Path) -> int | None:
    """Return the descriptor of the locked record; None if a server has it, or it cannot be kept."""
    try:
        files.make_dir(folder)
        record = os.open(folder / _FILE, _OPEN, files.FILE_MODE)
    except (DataError, OSError):
        return None
    try:
        fcntl.flock(record, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(record)
        return None
    return record
