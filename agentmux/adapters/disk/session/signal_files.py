"""Reads a session's directory and appends signals to its journal, under one lock.

`session_files.FileSession` adds the other operations. This module is separate so that ``agentmux
submit`` imports no more than it needs.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from agentmux.adapters.disk import files
from agentmux.adapters.disk.session.front_matter import read_front_matter
from agentmux.adapters.disk.session.journal import FileJournal, HeldJournal, JournalLine, parse_line
from agentmux.adapters.disk.session.state_store import StateStore
from agentmux.core.codec.digests import sha256
from agentmux.core.codec.frozen import replace
from agentmux.core.codec.records import FieldError
from agentmux.core.definitions.feature import FEATURE
from agentmux.core.fold.loaded_session import LoadedSession
from agentmux.core.journal.events import (
    OLDER_VERSION,
    VERSION,
    Event,
    JournalCreated,
    UnknownEventError,
    encode,
    parse,
)
from agentmux.core.journal.older_form import is_older
from agentmux.core.journal.state import SessionState, has_phase
from agentmux.core.journal.state import decode as decode_state
from agentmux.core.names import layout
from agentmux.core.names.phase import Phase
from agentmux.core.names.turn import Turn
from agentmux.core.pipeline.artifacts import TEXT_MAX, fix_request, kept_fix_request
from agentmux.errors import DataError, NotFoundError

FROZEN_MAX: Final = 1 << 18
"""The size limit of one frozen file in bytes."""
BLANK: Final = SessionState(phase=Phase.FAILED)
"""The state before the first event, to which the events of a journal are applied."""

_FEATURE_MAX: Final = 1 << 20


def lines_version(loaded: LoadedSession) -> int:
    """Return the version number to write in new journal lines, so that the orchestrator reads them.

    It is `OLDER_VERSION` for a session of an older version of AgentMux, else `VERSION`.
    """
    return OLDER_VERSION if loaded.older else VERSION


class FileTransaction:
    """A session while its journal is locked.

    Implements `ports.session.session_files.Transaction`.
    """

    def __init__(self, held: HeldJournal, loaded: LoadedSession) -> None:
        self._held = held
        self._loaded = loaded

    @property
    def loaded_session(self) -> LoadedSession:
        """The session as it was read when the journal was locked."""
        return self._loaded

    def append(self, event: Event) -> None:
        """Append the event to the journal; when this returns, its line is on the disk."""
        self._held.append(encode(event, lines_version(self._loaded)))


class FileSignals:
    """The files of the session at ``path``, as far as the handling of a signal needs them.

    Implements `ports.session.session_files.SignalFiles`.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._store = StateStore(path)
        self.journal = FileJournal(path / layout.JOURNAL)
        self._told: set[int] = set()  # offsets of skipped lines that were reported
        self._lines = VERSION  # the version of lines to append; set when the session is loaded

    @property
    def path(self) -> Path:
        """The absolute path of the session's directory."""
        return self._path

    @contextmanager
    def transact(self) -> Iterator[FileTransaction]:
        if not files.is_folder(self._path):
            raise NotFoundError(
                f"there is no session at `{self._path}`", hints=("see all: agentmux list",)
            )
        with self.journal.exclusive() as held:
            loaded = self._load(held)
            if loaded.needs_import:
                raise DataError(
                    f"`{self._path}` was made by an older version and takes no signals yet",
                    hints=(f"import it: agentmux resume {self._path.name}",),
                )
            yield FileTransaction(held, loaded)

    def read_artifact(self, path: str, limit: int) -> tuple[bytes | None, str]:
        try:
            data = files.read_strict(f"{self._path}/{path}", limit)
        except (ValueError, DataError) as error:
            return None, str(error)
        return data, "" if data is not None else "missing"

    def read_yaml(self, data: bytes) -> tuple[object, tuple[str, ...]]:
        """Parse ``data``, one YAML document, strictly; return its value and its problems.

        The problems are sentences, with the line number if it is known. The value is None if there
        are any.
        """
        from agentmux.adapters.yaml.documents import load_yaml

        loaded = load_yaml(data)
        return loaded.value, loaded.problems

    def frozen_text(self, digest: str, name: str) -> str:
        path = layout.frozen(digest)
        data, why = self.read_artifact(path, FROZEN_MAX)
        if data is not None and sha256(data).hexdigest() != digest:
            data, why = None, "it was changed"
        if data is None:
            raise DataError(
                f"`{self._path / path}`, the file `{name}` of the session's pipeline: {why}",
                hints=(f"take the present one: agentmux resume {self._path.name} --repin",),
            )
        return data.decode("utf-8")

    def schema_problems(self, schema: str, value: object) -> tuple[str, ...]:
        from agentmux.adapters.yaml.json_schema import violations

        return violations(schema, value)

    def read_front_matter(self, text: str) -> tuple[Mapping[str, object], tuple[str, ...]]:
        return read_front_matter(text)

    def turn(self, launch: str) -> Turn:
        content = files.read_limited(self._path / layout.turn(launch), 64) or b""
        try:
            return Turn(content.decode("ascii", "replace").strip())
        except ValueError:
            return Turn.UNKNOWN

    def note_turn(self, launch: str, turn: Turn) -> None:
        path = files.path_without_links(self._path, layout.turn(launch))
        if layout.is_launch(launch) and path.parent.is_dir():
            files.put(path, f"{turn}\n".encode())

    def load(self) -> LoadedSession:
        return self._load(self.journal)

    def _load(self, journal: FileJournal | HeldJournal) -> LoadedSession:
        loaded = self._read(journal)
        self._lines = lines_version(loaded)
        return loaded

    def _read(self, journal: FileJournal | HeldJournal) -> LoadedSession:
        loaded = self._store.load()
        warnings = [loaded.problem] if loaded.problem else []
        first = self.journal.first()
        if loaded.fields is None:
            return self._from_journal(journal, first, warnings)
        state, known = self._decode_fields(loaded.fields)
        if not known:
            warnings.append(f"`{self._path / layout.STATE}` has no readable phase")
        if not state.journal_id and not _is_header(first):
            return self._foreign(state, loaded.fields, known=known, warnings=warnings)
        if not state.journal_id:
            # An import was killed before the new state was committed: use the new journal.
            return self._from_journal(journal, first, warnings)
        self._check_journal(state, first)
        tail = self._events(journal.read(state.applied_offset).lines, warnings)
        return LoadedSession(
            state=state,
            known=known,
            source=loaded.source,
            tail=tail,
            older=is_older(loaded.fields),
            warnings=tuple(warnings),
        )

    def _decode_fields(self, fields: dict[str, object]) -> tuple[SessionState, bool]:
        """Return the state of a ``state.json``, and whether it has a phase that we know."""
        known = has_phase(fields)
        given = fields if known else {**fields, "phase": Phase.FAILED.value}
        where, asked = f"{self._path}/{layout.STATE}", None
        if is_older(given):
            asked = self._asks_for_fix(decode_state(given, where=where))
        return decode_state(given, where=where, fix_requested=asked), known

    def _asks_for_fix(self, state: SessionState) -> bool:
        """Return whether a file requests a fix, or did, in a session that does not record it."""
        places = (fix_request(state), kept_fix_request(state))
        return any(self.read_artifact(path, TEXT_MAX)[0] for path in places)

    def _check_journal(self, state: SessionState, first: JournalLine | None) -> None:
        path = self.journal.path
        if first is None:
            raise DataError(f"`{path}` is missing, but the state was made from it")
        fields = parse_line(first.raw) or {}
        payload = fields.get("payload")
        journal_id = payload.get("journal_id") if isinstance(payload, dict) else None
        if fields.get("event") != JournalCreated.kind or journal_id != state.journal_id:
            raise DataError(f"`{path}` was replaced: it is not the journal of this state")

    def _from_journal(
        self, journal: FileJournal | HeldJournal, first: JournalLine | None, warnings: list[str]
    ) -> LoadedSession:
        """Load a session without a readable state: apply its whole journal to `BLANK`.

        If the first readable event is not `JournalCreated`, the session counts as foreign, and its
        phase must be found from its artifacts. ``first`` is the journal's first line; ``warnings``
        gets a sentence about what was done.
        """
        lines = journal.read().lines if first is not None else ()
        older = not _is_header(first)
        events = self._events(lines, warnings, older=older)
        if not events or not isinstance(events[0][0].fact, JournalCreated):
            warnings.append(f"`{self._path}` has no readable state: the artifacts alone decide")
            from agentmux.adapters.disk.session.frozen_pipeline import with_frozen_pipeline

            state = with_frozen_pipeline(self._with_feature(BLANK), self._path)
            if state.pipeline == FEATURE:
                failed_state, _ = self._decode_fields({"phase": Phase.FAILED.value})
                state = replace(state, fix=failed_state.fix)
            return LoadedSession(
                state=state,
                known=False,
                source="none",
                tail=(),
                needs_import=True,
                warnings=tuple(warnings),
            )
        from agentmux.core.fold.lost_state import rebuild

        state, implied = rebuild(BLANK, events)
        warnings.append(f"`{layout.STATE}` was rebuilt from the journal")
        return LoadedSession(
            state=state,
            known=True,
            source="journal",
            tail=(),
            older=_is_older(first),
            implied_files=tuple(each for each in implied if not self._lies(each.path, state)),
            warnings=tuple(warnings),
        )

    def _lies(self, path: str, state: SessionState) -> bool:
        """Return whether the session's file ``path`` exists, in its place or already archived.

        Archived means that an unfinished move in ``state`` has put it into the history.
        """
        moved = (f"{each.to}/{path}" for each in state.pending_archive if each.takes(path))
        return any(os.path.lexists(self._path / place) for place in (path, *moved))

    def _foreign(
        self, state: SessionState, fields: dict[str, object], *, known: bool, warnings: list[str]
    ) -> LoadedSession:
        """Load a session of an older version.

        If ``fields`` has no offset, the cursor file tells how far the journal was applied.

        Args:
            state: The state from ``fields``.
            fields: The content of ``state.json``.
            known: Whether the state has a phase that we know.
            warnings: Gets a sentence for each skipped line.
        """
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
            needs_import=True,
            warnings=tuple(warnings),
        )

    def _with_feature(self, state: SessionState) -> SessionState:
        """Return ``state`` with its feature, which an older session has only in a file."""
        data = None if state.feature else self.read_artifact(layout.REQUIREMENTS, _FEATURE_MAX)[0]
        return replace(state, feature=data.decode("utf-8", "replace").strip()) if data else state

    def _events(
        self, lines: Iterable[JournalLine], warnings: list[str], *, older: bool = False
    ) -> tuple[tuple[Event, int], ...]:
        """Return the events of the lines with the offsets of their ends.

        A sentence for each skipped line is added to ``warnings``. ``older`` reads lines of an older
        session.
        """
        events, skipped = self._sorted_out(lines, older=older)
        warnings += skipped.values()
        self._told.update(skipped)
        return events

    def _sorted_out(
        self, lines: Iterable[JournalLine], *, older: bool = False
    ) -> tuple[tuple[tuple[Event, int], ...], dict[int, str]]:
        """Return the events of the lines with their end offsets, and why lines were skipped.

        The reasons are sentences, by the offset at which the skipped line starts.
        """
        read = _older_event if older else _event
        events: list[tuple[Event, int]] = []
        skipped: dict[int, str] = {}
        for line in lines:
            try:
                events.append((read(line), line.end))
            except FieldError as error:
                place = f"`{layout.JOURNAL}`, byte {line.start}"
                skipped[line.start] = f"{place}: a line was skipped: {error.message}"
        return tuple(events), skipped


def _event(line: JournalLine) -> Event:
    fields = parse_line(line.raw)
    if fields is None:
        raise FieldError("not a JSON object")
    return parse(fields)


def _older_event(line: JournalLine) -> Event:
    """Read a line of an older session as an event; the line may lack a version.

    Raises:
        FieldError: It is not a JSON object, or has no version and is not one of our events.
        UnknownEventError: It has a version, and an unknown kind or a newer version.
    """
    fields = parse_line(line.raw)
    if fields is None or "v" in fields:
        return _event(line)
    try:
        return parse({**fields, "v": OLDER_VERSION})
    except UnknownEventError as error:
        raise FieldError(error.message) from None


def _is_header(first: JournalLine | None) -> bool:
    """Return whether a journal's first line is `JournalCreated`; older versions wrote none."""
    fields = parse_line(first.raw) if first is not None else None
    return fields is not None and fields.get("event") == JournalCreated.kind


def _is_older(first: JournalLine | None) -> bool:
    """Return whether a journal was begun by a version that records no pipeline."""
    fields = parse_line(first.raw) if first is not None else None
    return fields is not None and fields.get("v") == OLDER_VERSION
