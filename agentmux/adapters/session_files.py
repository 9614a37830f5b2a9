"""The directory of one session: state, journal, artifacts and launches behind one door."""

from __future__ import annotations

import hashlib
import json
import os
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from agentmux.adapters import files
from agentmux.adapters.journal import FileJournal, Line, parse_line
from agentmux.adapters.state_store import StateStore
from agentmux.core import layout
from agentmux.core.apply import fold
from agentmux.core.artifacts import Artifacts
from agentmux.core.decide import Exit
from agentmux.core.events import Event, JournalCreated, encode, parse
from agentmux.core.implied import Implied
from agentmux.core.phase import Phase
from agentmux.core.records import FieldError, from_fields
from agentmux.core.resume import CheckpointState
from agentmux.core.state import Archive, SessionState
from agentmux.core.state import decode as decode_state
from agentmux.core.state import encode as encode_state
from agentmux.errors import DataError
from agentmux.ports import LaunchRecord, LoadedSession

_DIGEST_MAX: Final = 64 << 20
_BLANK: Final = SessionState(phase=Phase.FAILED)


class FileSession:
    """The files of the session at ``path``; implements `ports.SessionFiles`."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._store = StateStore(path)
        self.journal = FileJournal(path / layout.JOURNAL)

    @property
    def path(self) -> Path:
        """The directory, absolute."""
        return self._path

    # -- reading -----------------------------------------------------------------------------

    def load(self) -> LoadedSession:
        """Read state and journal; see `ports.SessionFiles`."""
        loaded = self._store.load()
        warnings = [loaded.problem] if loaded.problem else []
        first = self.journal.first()
        if loaded.fields is None:
            return self._from_journal(first, warnings)
        state, known = self._decoded(loaded.fields)
        if not known:
            warnings.append(f"no phase can be read from `{self._path / layout.STATE}`")
        if not state.journal_id:
            return self._foreign(state, loaded.fields, known=known, warnings=warnings)
        self._check_journal(state, first)
        tail = self._events(self.journal.read(state.applied_offset).lines, warnings)
        return LoadedSession(
            state=state, known=known, source=loaded.source, tail=tail, warnings=tuple(warnings)
        )

    def _decoded(self, fields: dict[str, object]) -> tuple[SessionState, bool]:
        where = str(self._path / layout.STATE)
        known = fields.get("phase") in set(Phase)
        return decode_state(fields if known else {**fields, "phase": "failed"}, where=where), known

    def _check_journal(self, state: SessionState, first: Line | None) -> None:
        path = self.journal.path
        if first is None:
            raise DataError(f"`{path}` is missing, and its lines were applied to the state")
        fields = parse_line(first.raw) or {}
        payload = fields.get("payload")
        found = payload.get("journal_id") if isinstance(payload, dict) else None
        if fields.get("event") != JournalCreated.kind or found != state.journal_id:
            raise DataError(f"`{path}` was replaced: it is not the journal of this state")

    def _from_journal(self, first: Line | None, warnings: list[str]) -> LoadedSession:
        """No state can be read: fold the whole journal, or let the artifacts alone decide."""
        lines = self.journal.read().lines if first is not None else ()
        events = self._events(lines, warnings)
        if not events or not isinstance(events[0][0].fact, JournalCreated):
            warnings.append(f"`{self._path}` has no readable state: the artifacts alone decide")
            return LoadedSession(
                state=_BLANK, known=False, source="none", tail=(), foreign=True,
                warnings=tuple(warnings),
            )  # fmt: skip
        state = fold(_BLANK, events)
        warnings.append(f"`{layout.STATE}` was rebuilt from the journal")
        return LoadedSession(
            state=state, known=True, source="journal", tail=(), warnings=tuple(warnings)
        )

    def _foreign(
        self, state: SessionState, fields: dict[str, object], *, known: bool, warnings: list[str]
    ) -> LoadedSession:
        """An older session: the cursor file tells how far its journal was applied."""
        cursor = self._store.load_cursor()
        offset = state.applied_offset
        if "applied_offset" not in fields and cursor is not None:
            offset = cursor.applied_offset
        lines = self.journal.read(offset).lines if self.journal.exists() else ()
        tail = self._events(lines, warnings)
        return LoadedSession(
            state=replace(state, applied_offset=offset),
            known=known,
            source="state.json",
            tail=tail,
            foreign=True,
            warnings=tuple(warnings),
        )

    def _events(
        self, lines: Iterable[Line], warnings: list[str] | None = None
    ) -> tuple[tuple[Event, int], ...]:
        found: list[tuple[Event, int]] = []
        for line in lines:
            try:
                found.append((_event(line), line.end))
            except FieldError as error:
                if warnings is not None:
                    place = f"`{self.journal.path}`, byte {line.start}"
                    warnings.append(f"{place}: a line was skipped: {error.message}")
        return tuple(found)

    def tail(self, offset: int) -> tuple[tuple[Event, int], ...]:
        """Return the acknowledged events behind ``offset``; see `ports.SessionFiles`."""
        with self.journal.exclusive() as held:
            lines = held.read(offset).lines
        return self._events(lines)

    def artifacts(self, state: SessionState) -> Artifacts:
        """Read what lies in the phase folders; see `ports.SessionFiles`."""
        from agentmux.adapters.artifacts import read_artifacts  # noqa: PLC0415 (submit needs none)

        return read_artifacts(self._path, state)

    def digest(self, path: Path) -> str:
        """SHA-256 of a file in hex; see `ports.SessionFiles`."""
        data = files.read_limited(path, _DIGEST_MAX)
        return "" if data is None else hashlib.sha256(data).hexdigest()

    def launch_record(self, launch: str) -> LaunchRecord:
        """Read what a launch left; see `ports.SessionFiles`."""
        folder = self._path / layout.launch(launch)
        data = files.read_limited(folder / "exit.json", 1 << 16)
        started = data is not None or os.path.lexists(folder / "started")
        return LaunchRecord(started=started, exit=None if data is None else _exit(data))

    def checkpoint_state(self, path: str, model: str | None) -> CheckpointState:
        """Look at an agent's checkpoint file; see `ports.SessionFiles`."""
        if not os.path.lexists(path):
            return CheckpointState.MISSING
        data = files.read_limited(Path(path), _DIGEST_MAX)
        try:
            fields = json.loads(data or b"")
        except (ValueError, RecursionError):
            return CheckpointState.CORRUPT
        made_with = fields.get("model") if isinstance(fields, dict) else None
        if model and made_with and made_with != model:
            return CheckpointState.OTHER_MODEL
        return CheckpointState.OK

    # -- writing -----------------------------------------------------------------------------

    def append(self, event: Event) -> None:
        """Append one line to the journal, durably."""
        self.journal.append(encode(event))

    def save(self, state: SessionState, *, after: int | None) -> None:
        """Commit ``state``, then mirror the cursor; see `ports.SessionFiles`."""
        self._store.save(encode_state(state), after=after)
        self._store.save_cursor(
            applied_offset=state.applied_offset,
            last_event_id=state.last_event_id,
            revision=state.revision,
        )

    def set_aside_corrupt_state(self, now: object) -> None:
        """Keep a corrupt ``state.json`` before the next commit writes over it."""
        self._store.set_aside_corrupt(now)  # type: ignore[arg-type]  # the clock's datetime

    def import_session(self, state: SessionState, events: Sequence[Event]) -> SessionState:
        """Begin a new journal with ``events``; the old one is kept aside."""
        if self.journal.exists():
            kept = self.journal.path.with_name(f"tool_events.imported-{uuid.uuid4().hex[:8]}.jsonl")
            files.move(self.journal.path, kept)
        self.journal.create(*(encode(event) for event in events))
        imported = fold(_BLANK, self._events(self.journal.read().lines))
        self.save(replace(imported, revision=state.revision + 1), after=None)
        return replace(imported, revision=state.revision + 1)

    def add(self, implied: Implied) -> None:
        """Add a file whole; see `ports.SessionFiles`."""
        target = self._path / implied.path
        data = self._content(implied)
        if data is None:
            return
        files.make_dir(target.parent)
        files.put(target, data)

    def _content(self, implied: Implied) -> bytes | None:
        if implied.copy_of is not None:
            if os.path.lexists(self._path / implied.path):
                return None
            return files.read_limited(self._path / implied.copy_of, 8 << 20)
        if implied.fields is not None:
            return files.json_bytes(implied.fields)
        return (implied.text or "").encode("utf-8", "surrogatepass")

    def archive(self, archive: Archive) -> None:
        """Move files one by one into history; see `ports.SessionFiles`."""
        for path in archive.paths:
            for found in _files_below(self._path, path):
                files.move(self._path / found, self._path / archive.to / found)

    def write(self, path: str, data: str) -> Path:
        """Write a private file; see `ports.SessionFiles`."""
        target = self._path / path
        files.make_dir(target.parent)
        files.replace(target, data.encode("utf-8", "surrogatepass"))
        return target

    def make_folder(self, path: str) -> None:
        """Make a private folder; see `ports.SessionFiles`."""
        files.make_dir(self._path / path)


def _files_below(session: Path, path: str) -> list[str]:
    """Every file, link or other thing at or below ``path``; folders stay where they are."""
    top = session / path
    if not top.is_dir() or top.is_symlink():
        return [path] if os.path.lexists(top) else []
    found: list[str] = []
    for folder, folders, names in os.walk(top):
        links = [name for name in folders if (Path(folder) / name).is_symlink()]
        found += [str((Path(folder) / name).relative_to(session)) for name in (*names, *links)]
    return sorted(found)


def _event(line: Line) -> Event:
    fields = parse_line(line.raw)
    if fields is None:
        raise FieldError("not a JSON object")
    return parse(fields)


def _exit(data: bytes) -> Exit:
    try:
        fields = json.loads(data)
        known = {name: fields[name] for name in Exit.__slots__ if name in fields}
        return from_fields(Exit, known, where="exit record")
    except (ValueError, TypeError, FieldError):
        return Exit()
