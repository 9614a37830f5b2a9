"""The directory of one session: its journal, state, artifacts and other files."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from agentmux.core.codec.frozen import dataclass

if TYPE_CHECKING:  # who only needs tmux must not import the core
    from agentmux.core.conversation.resume_choice import CheckpointState
    from agentmux.core.decisions.next_actions import Exit
    from agentmux.core.fold.implied_file import Implied
    from agentmux.core.fold.loaded_session import LoadedSession
    from agentmux.core.journal.events import Event, LaunchChosen
    from agentmux.core.journal.state import ArchivedArtifacts, SessionState
    from agentmux.core.names.turn import Turn
    from agentmux.core.pipeline.artifacts import Artifacts


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchRecord:
    """What the files in a launch's folder say about the launch.

    Attributes:
        started: Whether the wrapper, the process that runs the agent in the pane, has started.
        exit: The exit record of the launch; None until the agent has ended.
        choice: The event with the user's choice to resume, begin fresh or open a shell, which was
            made in the pane of an agent that had stopped; None until the user has chosen.
    """

    started: bool
    exit: Exit | None
    choice: LaunchChosen | None = None


class Transaction(Protocol):
    """Access to a session while its journal is locked, so that no other process can append."""

    @property
    def loaded_session(self) -> LoadedSession:
        """The state and the journal as they were when the lock was taken, even after `append`."""

    def append(self, event: Event) -> None:
        """Append an event to the journal; it is on the disk when this method returns."""


class SignalFiles(Protocol):
    """The part of a session's directory that is needed to accept a signal.

    `SessionFiles` extends it to the whole directory.
    """

    @property
    def path(self) -> Path:
        """The session's directory, as an absolute path."""

    def load(self) -> LoadedSession:
        """Read the state and the journal; changes nothing.

        Raises:
            DataError: They are unreadable, a newer version wrote them, or the journal belongs to
                another session.
        """

    def transact(self) -> AbstractContextManager[Transaction]:
        """Lock the journal for the time of a ``with`` block, and load the session.

        All other writers wait until the block ends, so it must take only milliseconds.

        Raises:
            NotFoundError: The session does not exist.
            DataError: The state or the journal is unreadable, or a newer version wrote it; the
                journal belongs to another session; or the session has an older format and was not
                imported yet.
            BlockedError: Another process kept the journal locked for too long.
        """

    def read_artifact(self, path: str, limit: int) -> tuple[bytes | None, str]:
        """Read a regular file of the session, or return why it cannot be read.

        Args:
            path: The path of the file, relative to the session's directory.
            limit: The size in bytes above which the file is not read.

        Returns:
            A pair: the content and an empty text; or None and the reason why the file cannot be
            read, in words.
        """

    def read_yaml(self, data: bytes) -> tuple[object, tuple[str, ...]]:
        """Decode one YAML document; anchors, tags, repeated keys and more count as problems.

        Returns:
            A pair: the value, of plain types, and a sentence for each problem. The value is None
            if there are problems.
        """

    def frozen_text(self, digest: str, name: str) -> str:
        """Return a text that the session stored when it started.

        Args:
            digest: The SHA-256 of the text, in hex.
            name: The name of the text in the session's pipeline, for messages.

        Raises:
            DataError: The file is gone, or its content has changed.
        """

    def schema_problems(self, schema: str, value: object) -> tuple[str, ...]:
        """Return a sentence for each rule of a JSON Schema that a value breaks; empty if none.

        Args:
            schema: The JSON Schema, as text.
            value: A value of plain types, as decoded from JSON or YAML.
        """

    def turn(self, launch: str) -> Turn:
        """Return what an agent's hooks last reported about its turn, such as begun or ended.

        Hooks are the commands that the agent's program runs when a turn begins or ends. ``launch``
        is the id of the agent's launch. `Turn.UNKNOWN` if its hooks have reported nothing.
        """

    def note_turn(self, launch: str, turn: Turn) -> None:
        """Store what a hook reports about an agent's turn, for the method `turn` to return.

        ``launch`` is the id of the agent's launch. Nothing happens if the launch has no folder.
        """

    def read_front_matter(self, text: str) -> tuple[Mapping[str, object], tuple[str, ...]]:
        """Return the fields of a Markdown text's front matter, and a sentence for each problem.

        The fields are empty if the text has no front matter, or if there are problems.
        """


class SessionFiles(SignalFiles, Protocol):
    """The whole directory of one session.

    Every method that writes raises `DataError` if the write fails, and keeps the old file.
    """

    def make(
        self,
        events: Sequence[Event],
        texts: Mapping[str, str],
        *,
        last: Callable[[Path], object] = lambda _: None,
    ) -> None:
        """Create the directory with all its files under a temporary name, then rename it.

        Args:
            events: The first events of the journal, from which the first state follows.
            texts: The content of further files, by path relative to the session's directory.
            last: Called with the temporary directory just before the rename; if it raises, the
                directory is removed.

        Raises:
            BlockedError: Another process has created a session of this name; the reason is
                `NAME_TAKEN`.
        """

    def discard(self) -> None:
        """Remove the directory of a session that never started.

        Folders around it that `make` created are removed, too, if nothing else is in them. What
        cannot be removed stays; that is no error.
        """

    def tail(self, offset: int) -> tuple[tuple[Event, int], ...]:
        """Return the journal's complete events after the byte ``offset`` (0: all), oldest first.

        Each is a pair: the event, and the byte offset at which its line ends. Empty if there are no
        such events. The call waits while a process is appending.

        Raises:
            UnknownEventError: A line has an unknown kind or a newer version.
        """

    def take_skipped(self) -> tuple[str, ...]:
        """Return a sentence for each line of the journal that `tail` could not parse and skipped.

        Each line is reported only once, here or as a warning of `load`.
        """

    def append(self, event: Event) -> None:
        """Append one event to the journal; it is on the disk when this method returns."""

    def save(self, state: SessionState, *, after: int | None) -> None:
        """Write ``state`` to ``state.json``, and the end of its last event to a cursor file.

        The cursor says up to which byte of the journal the state has taken in the events.

        Args:
            state: The new state.
            after: The revision of the saved state that ``state`` replaces; None replaces any.

        Raises:
            SupersededError: Another process has saved a state since that revision.
        """

    def set_aside_corrupt_state(self, now: datetime) -> None:
        """Rename ``state.json`` if it is corrupt, so that `save` does not overwrite it.

        The new name contains the time ``now``. A valid or missing file is left as it is.
        """

    def import_session(self, state: SessionState, events: Sequence[Event]) -> SessionState:
        """Replace the journal of a session with an older format by one with ``events``.

        The old journal is kept under another name.

        Args:
            state: The state of the session, converted to the present format; only its revision is
                used.
            events: The events of the new journal.

        Returns:
            The state that follows from the new journal; it is saved, with the next revision.
        """

    def artifacts(self, state: SessionState) -> Artifacts:
        """Read and return the session's artifacts, except those still to be moved to history.

        ``state`` is the session's present state; its ``pending_archive`` has the paths that are
        still to be moved.
        """

    def add(self, implied: Implied) -> None:
        """Write a file that an event of the journal requires; overwrite other content.

        ``implied`` has its path and content. Only in the folder ``history``, a file with other
        content is first renamed to a free name. A file that has this content already is left alone.
        If the content comes from a copy (``copy_of``), an existing file is never overwritten, and
        nothing is written if the copy cannot be read.
        """

    def to_archive(self, archive: ArchivedArtifacts) -> tuple[str, ...]:
        """Return the paths of the files that the method `archive` would move; moves nothing.

        ``archive`` names files and folders; of a folder, each file in it is returned. The paths are
        relative to the session's directory.
        """

    def archive(self, archive: ArchivedArtifacts) -> None:
        """Move the artifacts that ``archive`` names to the history folder, one by one.

        Files that do not exist, for example because they were moved before, are no error.
        """

    def write(self, path: str, data: str) -> Path:
        """Write a file that only the user can read, and return its absolute path.

        ``path`` is relative to the session's directory.
        """

    def write_over(self, path: str, data: str) -> None:
        """Overwrite an existing file in place, padding ``data`` to the file's size.

        ``path`` is relative to the session's directory. Unlike `write`, this is not durable, but
        needs no disk space.

        Raises:
            DataError: The file does not exist, is smaller than ``data``, or cannot be written.
        """

    def make_folder(self, path: str) -> None:
        """Create a folder that only the user can read, unless it exists.

        ``path`` is relative to the session's directory.
        """

    def sweep(self, *, all_ended: bool = False) -> None:
        """Remove half-written files of killed processes.

        The caller must hold the session's lock.

        Args:
            all_ended: Whether every agent has ended. If so, even the newest half-written files of
                launches are removed, and so are the `StartReportPipe` pipes that killed commands
                left.
        """

    def digest(self, path: str) -> str:
        """Return the SHA-256 of a file of the session, in hex.

        ``path`` is relative to the session's directory. The digest is empty if the file is missing,
        is not a regular file or is too large.
        """

    def launch_record(self, launch: str) -> LaunchRecord:
        """Return what a launch has left in its folder, even if it has left nothing yet.

        ``launch`` is the id of the launch.
        """

    def launch_output(self, launch: str) -> bytes:
        """Return the last part of the output of a launch's command; empty if none was stored.

        ``launch`` is the id of the launch.
        """

    def checkpoint_state(self, path: str, model: str | None) -> CheckpointState:
        """Return the state of an agent's own checkpoint file; the file is read.

        ``OK`` if it can be used, ``MISSING`` if it does not exist, ``CORRUPT`` if it is damaged,
        ``OTHER_MODEL`` if it was made with another model.

        Args:
            path: The absolute path of the file, in the session's directory.
            model: The model that would resume the conversation; None accepts any model.
        """

    def has_file(self, path: str) -> bool:
        """Return whether ``path``, an absolute path, is a non-empty regular file.

        The file is not opened.
        """
