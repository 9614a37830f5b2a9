"""The directory of one session: its state, journal, artifacts and launches."""

from __future__ import annotations

import errno
import json
import os
import shutil
import stat
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Final

from agentmux.adapters.disk import files, inner_repository
from agentmux.adapters.disk.session.artifacts import read_artifacts
from agentmux.adapters.disk.session.handover import discard_pipes
from agentmux.adapters.disk.session.journal import encode_line
from agentmux.adapters.disk.session.session_folders import IGNORE, IGNORED
from agentmux.adapters.disk.session.signal_files import BLANK, FileSignals
from agentmux.adapters.system.ids import new_id
from agentmux.core.checks.tail import KEEP_BYTES
from agentmux.core.codec.digests import sha256
from agentmux.core.codec.frozen import replace
from agentmux.core.codec.records import FieldError, from_fields
from agentmux.core.conversation.resume_choice import CheckpointState
from agentmux.core.decisions.next_actions import Exit
from agentmux.core.fold.apply import fold
from agentmux.core.fold.implied_file import Implied
from agentmux.core.journal.events import VERSION, Event, LaunchChosen, encode
from agentmux.core.journal.state import ArchivedArtifacts, SessionState
from agentmux.core.journal.state import encode as encode_state
from agentmux.core.names import layout
from agentmux.core.pipeline.artifacts import TEXT_MAX, Artifacts
from agentmux.errors import NAME_TAKEN, BlockedError, DataError
from agentmux.ports.session.session_files import LaunchRecord

_DIGEST_MAX: Final = 64 << 20

_WRAPPER_S: Final = 60.0
"""The age in seconds from which a temporary file counts as left by a killed wrapper (the program in
an agent's pane): writing a small file takes less time."""


class FileSession(FileSignals):
    """The files of the session whose directory is ``path``; it need not exist before `make`.

    Implements `ports.session.session_files.SessionFiles`.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._untold: list[str] = []
        self._made_around: tuple[Path, ...] = ()

    # -- reading -----------------------------------------------------------------------------

    def tail(self, offset: int) -> tuple[tuple[Event, int], ...]:
        with self.journal.exclusive() as held:
            lines = held.read(offset).lines
        events, skipped = self._sorted_out(lines)
        self._untold += [text for start, text in skipped.items() if start not in self._told]
        self._told.update(skipped)
        return events

    def take_skipped(self) -> tuple[str, ...]:
        untold, self._untold = tuple(self._untold), []
        return untold

    def artifacts(self, state: SessionState) -> Artifacts:
        """Return the artifacts of the session.

        ``state`` is the session's present state. Left out are files that no longer count, but have
        not been moved to the folder ``history`` yet: those in ``state.pending_archive``.

        Raises:
            DataError: The system does not let us read one of the files.
        """
        return read_artifacts(self._path, state)

    def digest(self, path: str) -> str:
        """Return the SHA-256 of the session's file ``path`` in hex.

        ``path`` is relative to the session's directory. The result is empty if the file is missing,
        not regular, unreadable or larger than 64 MiB.
        """
        data = files.read_limited(f"{self._path}/{path}", _DIGEST_MAX)
        return "" if data is None else sha256(data).hexdigest()

    def launch_record(self, launch: str) -> LaunchRecord:
        """Return what is recorded in a launch's folder: start, exit record, the user's choice.

        ``launch`` is the launch's id. In the result, ``exit`` is None if there is no exit record,
        and an `Exit` without facts if the record is not valid. ``choice`` is None if there is no
        valid one.
        """
        folder = self._path / layout.launch(launch)
        data = files.read_limited(folder / "exit.json", 1 << 16)
        stopped = os.path.lexists(folder / "stopped")
        started = data is not None or stopped or os.path.lexists(folder / "started")
        chosen = files.read_limited(folder / "choice.json", 1 << 20) if stopped else None
        return LaunchRecord(
            started=started,
            exit=None if data is None else _exit(data),
            choice=None if chosen is None else _choice(chosen),
        )

    def launch_output(self, launch: str) -> bytes:
        folder = self._path / layout.launch(launch)
        return files.read_limited(folder / "output", KEEP_BYTES) or b""

    def checkpoint_state(self, path: str, model: str | None) -> CheckpointState:
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

    def has_file(self, path: str) -> bool:
        try:
            facts = os.lstat(path)
        except OSError:
            return False
        return stat.S_ISREG(facts.st_mode) and facts.st_size > 0

    # -- making ------------------------------------------------------------------------------

    def make(
        self,
        events: Sequence[Event],
        texts: Mapping[str, str],
        *,
        last: Callable[[Path], object] = lambda _: None,
    ) -> None:
        sessions = self._path.parent
        around = (sessions.parent, sessions, sessions / IGNORE)
        self._made_around = tuple(each for each in around if not os.path.lexists(each))
        new_session = FileSession(sessions / f"{layout.MAKING_PREFIX}{new_id()}")
        try:
            files.make_dir(sessions)
            files.put(sessions / IGNORE, IGNORED)
            files.make_dir(new_session.path)
            new_session.journal.create(*map(encode, events))
            for path, text in texts.items():
                new_session.write(path, text)
            new_session.save(fold(BLANK, new_session.tail(0)), after=None)
            last(new_session.path)
            with files.explain_errors(self._path):
                _rename_to_free(new_session.path, self._path)
        except BaseException:
            new_session.discard()
            self._discard_around()
            raise
        files.sync_dir(sessions)

    def discard(self) -> None:
        """Remove the directory of a session that never began.

        Parent folders and the ``.gitignore`` that `make` created are removed, too, unless they are
        in use. What cannot be removed stays, without an error.
        """
        shutil.rmtree(self._path, ignore_errors=True)
        self._discard_around()

    def _discard_around(self) -> None:
        """Remove the parent folders and files that `make` created, unless they are in use."""
        ours = {IGNORE, inner_repository.NAME}
        with suppress(OSError):
            for path in reversed(self._made_around):
                if path.name != IGNORE:
                    path.rmdir()
                elif ours.issuperset(each.name for each in path.parent.iterdir()):
                    inner_repository.remove_repository(path.parent)
                    path.unlink()

    # -- writing -----------------------------------------------------------------------------

    def append(self, event: Event) -> None:
        """Append the event to the journal as one line, durably.

        Raises:
            DataError: The journal is missing or cannot be written.
            BlockedError: Another process has kept the journal locked for too long.
        """
        self.journal.append(encode(event, self._lines))

    def save(self, state: SessionState, *, after: int | None) -> None:
        self._store.save(encode_state(state), after=after)
        self._lines = VERSION
        self._store.save_cursor(
            applied_offset=state.applied_offset,
            last_event_id=state.last_event_id,
            revision=state.revision,
        )

    def set_aside_corrupt_state(self, now: datetime) -> None:
        """Rename ``state.json`` if it is corrupt, so that the next `save` does not overwrite it.

        ``now`` becomes part of the new name.
        """
        self._store.set_aside_corrupt(now)

    def import_session(self, state: SessionState, events: Sequence[Event]) -> SessionState:
        """Import a session from an older version: replace its journal by one with ``events``.

        The state that follows from the events is saved and returned; its revision is one more than
        that of the old ``state``. The old journal is kept under another name
        (``tool_events.imported-…``).

        Raises:
            DataError: A file cannot be written.
        """
        path = self.journal.path
        if self.journal.exists():
            kept = path.with_name(f"tool_events.imported-{new_id()[:8]}.jsonl")
            with files.explain_errors(kept):
                os.link(path, kept)
        files.replace(path, b"".join(encode_line(encode(event)) for event in events))
        imported = fold(BLANK, self._sorted_out(self.journal.read().lines)[0])
        self._told.clear()
        self.save(replace(imported, revision=state.revision + 1), after=None)
        return replace(imported, revision=state.revision + 1)

    def add(self, implied: Implied) -> None:
        """Write the file ``implied``, which follows from an event, durably; replace other content.

        Only in the folder ``history``, a file with other content is first renamed to a free name. A
        file that has this content already is left alone, so this is safe to repeat. If the file is
        to be restored from a copy (``implied.copy_of``), an existing file is never overwritten, and
        nothing is written if the copy cannot be read.

        Raises:
            DataError: The file cannot be written, or a folder on the way to it is a link.
        """
        target = self._place(implied.path)
        data = self._content(implied)
        if data is None:
            return
        files.make_dir(target.parent)
        # An abandoned attempt may have left another file there.
        files.put(target, data, keep=implied.path.startswith(f"{layout.HISTORY}/"))

    def _content(self, implied: Implied) -> bytes | None:
        if implied.copy_of is not None:
            if os.path.lexists(self._path / implied.path):
                return None
            return files.read_limited(self._path / implied.copy_of, TEXT_MAX)
        if implied.fields is not None:
            return files.json_bytes(implied.fields)
        return (implied.text or "").encode("utf-8", "surrogatepass")

    def to_archive(self, archive: ArchivedArtifacts) -> tuple[str, ...]:
        return tuple(name for path in archive.paths for name in _files_below(self._path, path))

    def archive(self, archive: ArchivedArtifacts) -> None:
        for name in self.to_archive(archive):
            source = files.path_without_links(self._path, name)
            files.move(source, self._place(f"{archive.to}/{name}"))

    def write(self, path: str, data: str) -> Path:
        target = self._place(path)
        files.make_dir(target.parent)
        files.replace(target, data.encode("utf-8", "surrogatepass"))
        return target

    def write_over(self, path: str, data: str) -> None:
        target = files.path_without_links(self._path, path)
        files.write_over(target, data.encode("utf-8", "surrogatepass"))

    def make_folder(self, path: str) -> None:
        files.make_dir(self._place(path, whole=True))

    def _place(self, path: str, *, whole: bool = False) -> Path:
        """Return the absolute form of a path in the session, for writing.

        ``whole``: the last part must not be a link either.

        Raises:
            DataError: The session's directory is gone, or a folder on the way is a link.
        """
        if not self._path.is_dir():
            raise DataError(f"the session's directory `{self._path}` is gone")
        return files.path_without_links(self._path, path, whole=whole)

    def sweep(self, *, all_ended: bool = False) -> None:
        # Only the lock's holder and hooks make temporary files; losing a hook's does no harm.
        files.sweep(self._path, older_than_s=0)
        # Wrappers that are still alive may be writing a file.
        age_s = 0.0 if all_ended else _WRAPPER_S
        files.sweep_named(self._path / layout.LAUNCHES, "*/*.tmp", older_than_s=age_s)
        if all_ended:
            discard_pipes(self._path)


def _rename_to_free(made: Path, path: Path) -> None:
    """Rename the folder ``made`` to ``path``, where no folder with content may be.

    Raises:
        BlockedError: There is a folder with content at ``path`` (reason `NAME_TAKEN`).
    """
    try:
        made.rename(path)
    except OSError as error:
        if error.errno in {errno.ENOTEMPTY, errno.EEXIST}:
            raise BlockedError(
                f"another process has just created `{path}`",
                reason=NAME_TAKEN,
                hints=("try again: agentmux start …",),
            ) from None
        raise


def _files_below(session: Path, path: str) -> list[str]:
    """Return all files, links and other entries at or below ``path``, but no folders; sorted.

    ``path`` and the results are relative to ``session``.
    """
    top = session / path
    if not top.is_dir() or top.is_symlink():
        return [path] if os.path.lexists(top) else []
    paths: list[str] = []
    for folder, folders, names in os.walk(top):
        links = [name for name in folders if (Path(folder) / name).is_symlink()]
        paths += [str((Path(folder) / name).relative_to(session)) for name in (*names, *links)]
    return sorted(paths)


def _choice(data: bytes) -> LaunchChosen | None:
    """Parse the user's choice in a stopped pane, as the wrapper wrote it.

    The result is None if it is not valid.
    """
    try:
        return from_fields(LaunchChosen, json.loads(data), where="choice")
    except (ValueError, TypeError, FieldError, RecursionError):
        return None


def _exit(data: bytes) -> Exit:
    try:
        fields = json.loads(data)
        known = {name: fields[name] for name in Exit.__slots__ if name in fields}
        return from_fields(Exit, known, where="exit record")
    except (ValueError, TypeError, FieldError):
        return Exit()
