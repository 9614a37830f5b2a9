"""Reads and writes ``state.json``, its backup and the cursor file.

Reading never writes. After a kill at any moment ``state.json`` is either the old or the new state,
and ``state.json.bak`` is a valid earlier one.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from agentmux.adapters.disk import files
from agentmux.core.codec.frozen import dataclass
from agentmux.core.names import layout
from agentmux.errors import DataError, SupersededError

if TYPE_CHECKING:
    from datetime import datetime

SIZE_MAX: Final = 16 << 20
"""The size limit of a state or cursor file in bytes, twice that of a journal line; a larger file
counts as corrupt."""


StateSource = Literal["state.json", "backup", "none"]


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedState:
    """The content of ``state.json``, or of its backup.

    Attributes:
        fields: All fields, including unknown ones; None if neither file can be used.
        source: The file that was used: ``state.json``, ``backup``, or ``none``.
        problem: Why ``state.json`` is corrupt, for people; None if it is valid or missing.
    """

    fields: dict[str, Any] | None
    source: StateSource
    problem: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Cursor:
    """How far the journal has been applied to the state.

    Attributes:
        applied_offset: The offset in the journal, in bytes, up to which it has been applied.
        last_event_id: The id of the last applied event; None if there is none.
        revision: The revision of the state.
    """

    applied_offset: int
    last_event_id: str | None
    revision: int


class StateStore:
    """The files ``state.json``, its backup and the cursor file of one session.

    ``folder`` is the session's directory. If the schema version of a state is above ``supported``,
    the state is from a newer AgentMux, and `load` and `save` refuse it.
    """

    def __init__(self, folder: Path, *, supported: int = layout.SCHEMA_VERSION) -> None:
        self.path = folder / layout.STATE
        self._supported = supported

    @property
    def _backup(self) -> Path:
        return self.path.with_name(layout.STATE_BACKUP)

    @property
    def _cursor(self) -> Path:
        return self.path.with_name(layout.CURSOR)

    def load(self) -> LoadedState:
        """Return the content of ``state.json``, or of its backup if ``state.json`` is corrupt.

        No file is changed.

        Raises:
            DataError: The state is from a newer agentmux, or the system does not let us read it.
        """
        try:
            fields = self._read(self.path)
        except ValueError as error:
            return self._load_backup(f"`{self.path}` is corrupt: {error}")
        return LoadedState(fields=fields, source="none" if fields is None else "state.json")

    def save(self, fields: Mapping[str, Any], *, after: int | None = None) -> None:
        """Write ``fields`` as the state, durably; a valid previous state becomes the backup.

        Args:
            fields: The whole state, JSON-compatible.
            after: The revision that the file on the disk must have. It is not checked if ``after``
                is None, or if that file is missing or corrupt.

        Raises:
            DataError: The state cannot be written, or the file on the disk is from a newer
                agentmux; the old state stays.
            SupersededError: The revision differs: another process has changed the state.
        """
        current = self._read_good()
        if after is not None and current is not None and current.get("revision") != after:
            revision = current.get("revision")
            message = f"another process has changed `{self.path}`: revision {revision}, not {after}"
            raise SupersededError(message)
        # On one line: with an indent Python's encoder is slow, and this is done for every event.
        data = files.json_bytes(fields, indent=None)
        if len(data) > SIZE_MAX:
            raise DataError(f"`{self.path}` would have {len(data)} bytes: the limit is {SIZE_MAX}")
        if current is not None:
            self._keep_backup()
        files.replace(self.path, data)

    def save_cursor(self, *, applied_offset: int, last_event_id: str | None, revision: int) -> None:
        """Write the cursor file, for other tools; AgentMux itself uses the offset in the state."""
        fields = {
            "applied_offset": applied_offset,
            "last_event_id": last_event_id,
            "revision": revision,
        }
        files.replace(self._cursor, files.json_bytes(fields))

    def load_cursor(self) -> Cursor | None:
        """Return how far the journal has been applied to the state, as the cursor file says.

        None if that file is missing or not valid.
        """
        data = files.read_limited(self._cursor, SIZE_MAX)
        try:
            fields = files.json_fields(data) if data is not None else {}
        except ValueError:
            return None
        offset, revision = _count(fields.get("applied_offset")), _count(fields.get("revision", 0))
        if offset is None or revision is None:
            return None
        event = fields.get("last_event_id")
        return Cursor(
            applied_offset=offset,
            last_event_id=event if isinstance(event, str) else None,
            revision=revision,
        )

    def set_aside_corrupt(self, now: datetime) -> Path | None:
        """Rename ``state.json`` if it is corrupt, so that the next `save` does not overwrite it.

        Returns:
            The new path (``state.json.corrupt-<UTC time>``); None if the file is missing or valid.
        """
        try:
            self._read(self.path)
        except ValueError:
            from datetime import UTC

            stamp = now.astimezone(UTC).strftime("%Y%m%dT%H%M%SZ")
            return files.move(self.path, self.path.with_name(f"{layout.STATE}.corrupt-{stamp}"))
        return None

    def _load_backup(self, problem: str) -> LoadedState:
        try:
            fields = self._read(self._backup)
        except ValueError as error:
            also = f"{problem}; `{self._backup.name}` is corrupt, too: {error}"
            return LoadedState(fields=None, source="none", problem=also)
        source: StateSource = "none" if fields is None else "backup"
        return LoadedState(fields=fields, source=source, problem=problem)

    def _read(self, path: Path) -> dict[str, Any] | None:
        """Return the fields of a state file; None if it is missing.

        Raises:
            ValueError: The file is corrupt.
            DataError: It is from a newer agentmux, or the system does not let us read it.
        """
        data = files.read_strict(path, SIZE_MAX)
        if data is None:
            return None
        fields = files.json_fields(data)
        version = _count(fields.get("schema_version", layout.SCHEMA_VERSION))
        if version is None:
            msg = "schema_version is not a whole number"
            raise ValueError(msg)
        if version > self._supported:
            raise DataError(
                f"`{path}` was written by a newer agentmux "
                f"(schema {version}, this one reads up to {self._supported})",
                hints=("upgrade agentmux, then try again",),
            )
        return fields

    def _read_good(self) -> dict[str, Any] | None:
        try:
            return self._read(self.path)
        except ValueError:
            return None

    def _keep_backup(self) -> None:
        """Make ``state.json`` the backup as well; both names have a valid file at every moment."""
        temp = files.temporary(self.path.parent)
        with files.explain_errors(self._backup):
            try:
                os.link(self.path, temp, follow_symlinks=False)
                os.replace(temp, self._backup)
            except OSError:
                # Some file systems have no hard links, or limit their number.
                data = files.read_strict(self.path, SIZE_MAX)
                if data is not None:
                    files.replace(self._backup, data)
            finally:
                # A rename between two names of the same file does nothing.
                with suppress(FileNotFoundError):
                    os.unlink(temp)


def _count(value: object) -> int | None:
    """Return ``value`` if it is an integer of at least 0, else None; a boolean is not one."""
    return value if type(value) is int and value >= 0 else None
