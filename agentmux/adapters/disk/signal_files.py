"""What a signal needs of a session's directory: judge it and append it under one lock.

`session_files.FileSession` is this and the rest. It stands apart because ``agentmux submit`` runs
all day: what is imported here is paid for by every signal.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from agentmux.adapters.disk import files
from agentmux.adapters.disk.front_matter import read_front_matter
from agentmux.adapters.disk.journal import FileJournal, HeldJournal, JournalLine, parse_line
from agentmux.adapters.disk.state_store import StateStore
from agentmux.core.codec.frozen import replace
from agentmux.core.codec.records import FieldError
from agentmux.core.fold.loaded_session import LoadedSession
from agentmux.core.journal.events import (
    VERSION,
    Event,
    JournalCreated,
    UnknownEventError,
    encode,
    parse,
)
from agentmux.core.journal.state import SessionState
from agentmux.core.journal.state import decode as decode_state
from agentmux.core.names import layout
from agentmux.core.names.phase import Phase
from agentmux.core.names.turn import Turn
from agentmux.errors import DataError, NotFoundError

BLANK: Final = SessionState(phase=Phase.FAILED)
"""What a journal is folded over."""

_FEATURE_MAX: Final = 1 << 20


class FileTransaction:
    """A session while no other writer can append; implements `ports.session_files.Transaction`."""

    def __init__(self, held: HeldJournal, loaded: LoadedSession) -> None:
        self._held = held
        self._loaded = loaded

    @property
    def loaded(self) -> LoadedSession:
        """What state and journal said when the lock was taken."""
        return self._loaded

    def append(self, event: Event) -> None:
        """Append one line; when this returns, it is on the disk."""
        self._held.append(encode(event))


class FileSignals:
    """The files of the session at ``path``; implements `ports.session_files.SignalFiles`."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._store = StateStore(path)
        self.journal = FileJournal(path / layout.JOURNAL)
        self._told: set[int] = set()  # where lines begin that were skipped and reported

    @property
    def path(self) -> Path:
        """The directory, absolute."""
        return self._path

    @contextmanager
    def transact(self) -> Iterator[FileTransaction]:
        """Read state and journal and keep every other writer out; for milliseconds only.

        Raises:
            NotFoundError: There is no such session.
            DataError: As `load`; also for a session of an older form that nobody has resumed yet.
            BlockedError: Another process kept the journal for long.
        """
        if not files.is_folder(self._path):
            raise NotFoundError(
                f"there is no session at `{self._path}`", hints=("see all: agentmux list",)
            )
        with self.journal.exclusive() as held:
            loaded = self._load(held)
            if loaded.foreign:
                raise DataError(
                    f"`{self._path}` was made by an older version and takes no signals yet",
                    hints=(f"take it over: agentmux resume {self._path.name}",),
                )
            yield FileTransaction(held, loaded)

    def read_artifact(self, path: str, limit: int) -> tuple[bytes | None, str]:
        """Return a regular file's content and, where there is none that counts, why."""
        try:
            data = files.read_strict(self._path / path, limit)
        except (ValueError, DataError) as error:
            return None, str(error)
        return data, "" if data is not None else "missing"

    def read_yaml(self, data: bytes) -> tuple[object, tuple[str, ...]]:
        """Decode one YAML document strictly; the value, and every problem with its line."""
        from agentmux.adapters.yaml.documents import load_yaml  # noqa: PLC0415 (yaml costs 20 ms)

        loaded = load_yaml(data)
        return loaded.value, loaded.problems

    def read_front_matter(self, text: str) -> tuple[Mapping[str, object], tuple[str, ...]]:
        """Return the mapping at the head of a Markdown text, and every problem with its line."""
        return read_front_matter(text)

    def turn(self, launch: str) -> Turn:
        """Return what a launch's hooks have told of its turn; see `ports.session_files`."""
        said = files.read_limited(self._path / layout.turn(launch), 64) or b""
        try:
            return Turn(said.decode("ascii", "replace").strip())
        except ValueError:
            return Turn.UNKNOWN

    def note_turn(self, launch: str, turn: Turn) -> None:
        """Keep what a hook has told; see `ports.session_files`."""
        path = files.inside(self._path, layout.turn(launch))
        if layout.is_launch(launch) and path.parent.is_dir():
            files.put(path, f"{turn}\n".encode())

    def load(self) -> LoadedSession:
        """Read state and journal; see `ports.session_files`."""
        return self._load(self.journal)

    def _load(self, journal: FileJournal | HeldJournal) -> LoadedSession:
        loaded = self._store.load()
        warnings = [loaded.problem] if loaded.problem else []
        first = self.journal.first()
        if loaded.fields is None:
            return self._from_journal(journal, first, warnings)
        state, known = self._decoded(loaded.fields)
        if not known:
            warnings.append(f"no phase can be read from `{self._path / layout.STATE}`")
        if not state.journal_id and not _is_header(first):
            return self._foreign(state, loaded.fields, known=known, warnings=warnings)
        if not state.journal_id:
            # Taken over, and killed before the new state was committed: the new journal has it.
            return self._from_journal(journal, first, warnings)
        self._check_journal(state, first)
        tail = self._events(journal.read(state.applied_offset).lines, warnings)
        return LoadedSession(
            state=state, known=known, source=loaded.source, tail=tail, warnings=tuple(warnings)
        )

    def _decoded(self, fields: dict[str, object]) -> tuple[SessionState, bool]:
        where = str(self._path / layout.STATE)
        known = fields.get("phase") in [phase.value for phase in Phase]
        return decode_state(fields if known else {**fields, "phase": "failed"}, where=where), known

    def _check_journal(self, state: SessionState, first: JournalLine | None) -> None:
        path = self.journal.path
        if first is None:
            raise DataError(f"`{path}` is missing, and its lines were applied to the state")
        fields = parse_line(first.raw) or {}
        payload = fields.get("payload")
        found = payload.get("journal_id") if isinstance(payload, dict) else None
        if fields.get("event") != JournalCreated.kind or found != state.journal_id:
            raise DataError(f"`{path}` was replaced: it is not the journal of this state")

    def _from_journal(
        self, journal: FileJournal | HeldJournal, first: JournalLine | None, warnings: list[str]
    ) -> LoadedSession:
        """No state can be read: fold the whole journal, or let the artifacts alone decide."""
        lines = journal.read().lines if first is not None else ()
        events = self._events(lines, warnings, older=not _is_header(first))
        if not events or not isinstance(events[0][0].fact, JournalCreated):
            warnings.append(f"`{self._path}` has no readable state: the artifacts alone decide")
            return LoadedSession(
                state=self._with_feature(BLANK), known=False, source="none", tail=(), foreign=True,
                warnings=tuple(warnings),
            )  # fmt: skip
        from agentmux.core.fold.lost_state import rebuild  # noqa: PLC0415 (a signal needs none)

        state, implied = rebuild(BLANK, events)
        warnings.append(f"`{layout.STATE}` was rebuilt from the journal")
        return LoadedSession(
            state=state,
            known=True,
            source="journal",
            tail=(),
            open=tuple(each for each in implied if not self._lies(each.path, state)),
            warnings=tuple(warnings),
        )

    def _lies(self, path: str, state: SessionState) -> bool:
        """Whether anything is at ``path``, or where an unfinished move takes it."""
        moved = (f"{each.to}/{path}" for each in state.pending_archive if each.takes(path))
        return any(os.path.lexists(self._path / place) for place in (path, *moved))

    def _foreign(
        self, state: SessionState, fields: dict[str, object], *, known: bool, warnings: list[str]
    ) -> LoadedSession:
        """An older session: the cursor file tells how far its journal was applied."""
        cursor = self._store.load_cursor()
        offset = state.applied_offset
        if "applied_offset" not in fields and cursor is not None:
            offset = cursor.applied_offset
        lines = self.journal.read(offset).lines if self.journal.exists() else ()
        tail = self._events(lines, warnings, older=True)
        return LoadedSession(
            state=self._with_feature(replace(state, applied_offset=offset)),
            known=known,
            source="state.json",
            tail=tail,
            foreign=True,
            warnings=tuple(warnings),
        )

    def _with_feature(self, state: SessionState) -> SessionState:
        """An older state may not say what was asked for; the file that agents read does."""
        data = None if state.feature else self.read_artifact(layout.REQUIREMENTS, _FEATURE_MAX)[0]
        return replace(state, feature=data.decode("utf-8", "replace").strip()) if data else state

    def _events(
        self, lines: Iterable[JournalLine], warnings: list[str], *, older: bool = False
    ) -> tuple[tuple[Event, int], ...]:
        """Return what the lines say, and add to ``warnings`` which ones say nothing."""
        found, skipped = self._sorted_out(lines, older=older)
        warnings += skipped.values()
        self._told.update(skipped)
        return found

    def _sorted_out(
        self, lines: Iterable[JournalLine], *, older: bool = False
    ) -> tuple[tuple[tuple[Event, int], ...], dict[int, str]]:
        """Return the events, and for every line that is none, by where it begins, why not."""
        read = _older_event if older else _event
        found: list[tuple[Event, int]] = []
        skipped: dict[int, str] = {}
        for line in lines:
            try:
                found.append((read(line), line.end))
            except FieldError as error:
                place = f"`{layout.JOURNAL}`, byte {line.start}"
                skipped[line.start] = f"{place}: a line was skipped: {error.message}"
        return tuple(found), skipped


def _event(line: JournalLine) -> Event:
    fields = parse_line(line.raw)
    if fields is None:
        raise FieldError("not a JSON object")
    return parse(fields)


def _older_event(line: JournalLine) -> Event:
    """Read a line of a session of an older form, whose lines may not say which version they are.

    Raises:
        FieldError: It says none, and is none of ours.
        UnknownEventError: It says one, and is of an unknown kind or a newer version.
    """
    fields = parse_line(line.raw)
    if fields is None or "v" in fields:
        return _event(line)
    try:
        return parse({**fields, "v": VERSION})
    except UnknownEventError as error:
        raise FieldError(error.message) from None


def _is_header(first: JournalLine | None) -> bool:
    """Whether a journal begins as ours do; older ones do not."""
    fields = parse_line(first.raw) if first is not None else None
    return fields is not None and fields.get("event") == JournalCreated.kind
