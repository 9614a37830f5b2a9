"""The fleet's folder on one host: the URL of the database, the host's id, the log, the clones."""

from __future__ import annotations

import json
import os
import re
import stat
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from filelock import FileLock, Timeout

from agentmux.adapters.disk import files
from agentmux.core.codec.frozen import dataclass
from agentmux.errors import BlockedError, DataError, MissingError, UsageError
from agentmux.wiring import machine

_URL_MAX: Final = 4096
_SQLITE: Final = "sqlite:///"
_SCHEMES: Final = (_SQLITE, "postgresql://")
_SECRET: Final = re.compile(r"(?<=://)([^:@/]*):[^@]*@")
_ONE_AT: Final = re.compile(r"postgresql://([^@/?]*@)?[^@]*")
"""A URL with at most one ``@``, so that every parser agrees where the password ends."""


@dataclass(frozen=True, slots=True)
class FleetHome:
    """The fleet's folder in the user's state home.

    Attributes:
        folder: The path, ``$XDG_STATE_HOME/agentmux/fleet``. The folder may not exist yet.
    """

    folder: Path

    @property
    def identity_file(self) -> Path:
        """The path of the JSON file with this host's id."""
        return self.folder / "host.json"

    @property
    def log(self) -> Path:
        """The path of the log file of the worker and of DBOS, its workflow library."""
        return self.folder / "worker.log"

    @property
    def clones(self) -> Path:
        """The folder with the repositories that the worker has cloned."""
        return self.folder / "clones"

    @property
    def drives(self) -> Path:
        """The folder with a lock file for each feature, held while commands run for it."""
        return self.folder / "drives"

    @property
    def default_url(self) -> str:
        """The URL of a SQLite database in this folder, for a fleet with one host."""
        return f"{_SQLITE}{self.folder / 'fleet.sqlite'}"

    def is_set_up(self) -> bool:
        """Return whether a fleet has been set up for this user on this host.

        That is so if the file with the database's URL exists; it is not read.
        """
        return (self.folder / "url").is_file()

    def url(self) -> str:
        """Read and return the URL of the fleet's database, as `keep_url` stored it.

        Raises:
            MissingError: No fleet has been set up here.
            UsageError: The file holds no URL that the fleet can use.
        """
        data = files.read_limited(self.folder / "url", _URL_MAX)
        if data is None:
            raise MissingError("the fleet is not set up here", hints=("agentmux fleet init",))
        return require_url(data.decode("utf-8", "replace").strip())

    def keep_url(self, url: str) -> None:
        """Store the URL of the fleet's database in a file that only the user can read.

        The URL is not checked here: see `require_url`. An earlier URL is replaced.

        Raises:
            DataError: The file cannot be written.
        """
        files.make_dir(self.folder)
        files.replace(self.folder / "url", f"{url}\n".encode())

    def identity(self) -> str:
        """Return this host's id, a UUID; create and store one if there is none yet.

        Raises:
            DataError: The file with the id is damaged.
        """
        path = self.identity_file
        data = files.read_limited(path, _URL_MAX)
        if data is not None:
            try:
                return str(uuid.UUID(json.loads(data)["id"]))
            except (ValueError, TypeError, LookupError):
                raise DataError(
                    f"{path} is damaged", hints=("restore it, or remove it to be a new host",)
                ) from None
        files.make_dir(self.folder)
        host_id = str(uuid.uuid4())
        files.replace(path, files.json_bytes({"id": host_id}))
        return host_id

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Context manager that holds the worker lock of this host, which allows one worker only.

        Raises:
            BlockedError: Another worker holds the lock; it is not waited for.
        """
        files.make_dir(self.folder)
        lock = FileLock(self.folder / "worker.lock", timeout=0, mode=files.FILE_MODE)
        try:
            lock.acquire()
        except Timeout:
            raise BlockedError(
                "a worker of this host runs already",
                reason="worker_running",
                hints=("agentmux fleet list",),
            ) from None
        try:
            yield
        finally:
            lock.release()


def place_of(environ: Mapping[str, str]) -> FleetHome:
    """Return the fleet's folder for the user whose environment variables are ``environ``."""
    return FleetHome(machine.fleet_dir(environ))


def require_url(text: str) -> str:
    """Return ``text`` unchanged if it is the URL of a database that the fleet can use.

    Raises:
        UsageError: It is not. The message does not quote the URL, which may contain a password.
    """
    if not text.startswith(_SCHEMES) or not text.isprintable() or len(text) > _URL_MAX:
        raise UsageError(
            "the URL of the fleet's database is sqlite:///PATH or postgresql://…, on one line"
        )
    if not text.startswith(_SQLITE) and _ONE_AT.fullmatch(text) is None:
        raise UsageError(
            "in the URL of the fleet's database, an @ that does not end the password is written as"
            " %40; in the password, / as %2F and ? as %3F"
        )
    path = text.removeprefix(_SQLITE)
    if path != text and not path.startswith("/"):
        raise UsageError("the path of a database of SQLite has to be absolute: sqlite:////PATH")
    return text


def shown_url(url: str) -> str:
    """Return ``url`` as it may be shown: with ``…`` in place of its password, without its query."""
    return _SECRET.sub(r"\1:…@", url.partition("?")[0])


def is_private(path: Path) -> bool:
    """Return whether a file belongs to the user or root, and no one but its owner can access it.

    Raises:
        OSError: The file does not exist, or the system does not let us look.
    """
    info = path.stat()
    return info.st_uid in {os.getuid(), 0} and not info.st_mode & (stat.S_IRWXG | stat.S_IRWXO)
