"""A session's directory: its journal, state and artifacts."""

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
        started: The wrapper, which runs the agent in the pane, has started.
        exit: Its exit record; None while there is none.
        choice: How to go on, as the user chose in the pane of a stopped agent; None while nothing
            is chosen.
    """

    started: bool
    exit: Exit | None
    choice: LaunchChosen | None = None


class Transaction(Protocol):
    """Access to a session while no other writer can append to its journal."""

    @property
    def loaded_session(self) -> LoadedSession:
        """State and journal as they were when the lock was taken."""

    def append(self, event: Event) -> None:
        """Append one line; it is on the disk when this method returns."""


class SignalFiles(Protocol):
    """What accepting a signal needs of a session's directory; `SessionFiles` has the rest."""

    @property
    def path(self) -> Path:
        """The directory, absolute."""

    def load(self) -> LoadedSession:
        """Read state and journal; changes nothing.

        Raises:
            DataError: They are unreadable, were written by a newer version, or the journal belongs
                to another session.
        """

    def transact(self) -> AbstractContextManager[Transaction]:
        """Lock the journal for a ``with`` block that gets the session as it is then.

        Every other writer waits until the block ends, so the block must take only milliseconds.

        Raises:
            NotFoundError: There is no such session.
            DataError: As in `load`; or the session has an older format and was not imported yet.
            BlockedError: Another process kept the journal locked for too long.
        """

    def read_artifact(self, path: str, limit: int) -> tuple[bytes | None, str]:
        """Return a regular file's content and an empty text; else None and the reason in words.

        Args:
            path: Relative to the session.
            limit: A file with more bytes is not read.
        """

    def read_yaml(self, data: bytes) -> tuple[object, tuple[str, ...]]:
        """Decode one YAML document strictly; return its value, and a sentence for each problem."""

    def frozen(self, digest: str, name: str) -> str:
        """Return a text that the session froze at its start.

        Args:
            digest: Its SHA-256, in hex.
            name: What the session's pipeline calls it, for messages.

        Raises:
            DataError: The file is gone, or is not the one that was frozen.
        """

    def schema_problems(self, schema: str, value: object) -> tuple[str, ...]:
        """Return a sentence for each rule of a JSON Schema that plain values break."""

    def turn(self, launch: str) -> Turn:
        """Return what an agent's hooks last reported about its turn, such as begun or ended.

        `Turn.UNKNOWN` if the hooks of this launch have reported nothing.
        """

    def note_turn(self, launch: str, turn: Turn) -> None:
        """Store what a hook reported, for `turn`; does nothing if the launch has no folder."""

    def read_front_matter(self, text: str) -> tuple[Mapping[str, object], tuple[str, ...]]:
        """Return the front matter of a Markdown text, and a sentence for each problem."""


class SessionFiles(SignalFiles, Protocol):
    """The directory of one session. A failed write raises `DataError` and keeps the old file."""

    def make(
        self,
        events: Sequence[Event],
        texts: Mapping[str, str],
        *,
        last: Callable[[Path], object] = lambda _: None,
    ) -> None:
        """Create the directory with all its files under a temporary name, then rename it.

        Args:
            events: The first events of the journal; the first state results from them.
            texts: Further files: their content by path, relative to the session.
            last: Called with the directory just before the rename; if it raises, the directory is
                removed.

        Raises:
            BlockedError: Another process has taken the name; the reason is `NAME_TAKEN`.
        """

    def discard(self) -> None:
        """Remove the directory of a session that never started."""

    def tail(self, offset: int) -> tuple[tuple[Event, int], ...]:
        """Return the complete events after the byte ``offset``, each with the offset of its end.

        Waits for a writer that is appending.

        Raises:
            UnknownEventError: A line has an unknown kind or a newer version.
        """

    def take_skipped(self) -> tuple[str, ...]:
        """Return a sentence for each line that `tail` skipped because it does not parse.

        Each line is reported once, here or as a warning of `load`.
        """

    def append(self, event: Event) -> None:
        """Append one line to the journal, durably."""

    def save(self, state: SessionState, *, after: int | None) -> None:
        """Write ``state`` to ``state.json``, then its cursor to the cursor file.

        Args:
            state: The new state.
            after: The revision that the state replaces; None replaces whatever is there.

        Raises:
            SupersededError: Another process has saved a state since that revision.
        """

    def set_aside_corrupt_state(self, now: datetime) -> None:
        """Rename a corrupt ``state.json``, so that `save` does not replace it.

        ``now`` is put into the new name.
        """

    def import_session(self, state: SessionState, events: Sequence[Event]) -> SessionState:
        """Start a new journal with ``events`` for a session with an older format.

        The old journal is kept under another name.

        Returns:
            The state that the new journal gives, already saved.
        """

    def artifacts(self, state: SessionState) -> Artifacts:
        """Read the artifacts, except those that ``state`` wants moved to history."""

    def add(self, implied: Implied) -> None:
        """Write the file that ``implied`` describes, unless it exists with this content.

        Some events of the journal require that such a file exists.
        """

    def to_archive(self, archive: ArchivedArtifacts) -> tuple[str, ...]:
        """Return the files that the method `archive` would move, relative to the session."""

    def archive(self, archive: ArchivedArtifacts) -> None:
        """Move the files of ``archive`` to history, one by one.

        Files that were moved already, or never were there, are no error.
        """

    def write(self, path: str, data: str) -> Path:
        """Write a private file at a path relative to the session; return its absolute path."""

    def write_over(self, path: str, data: str) -> None:
        """Overwrite a file in place, padded to its size: not durable, but needs no disk space.

        Raises:
            DataError: The file does not exist, is too small, or cannot be written.
        """

    def make_folder(self, path: str) -> None:
        """Create a private folder at a path relative to the session, unless it exists."""

    def sweep(self, *, all_ended: bool = False) -> None:
        """Remove files that killed writers left half-written; call it under the session's lock.

        Args:
            all_ended: Whether every agent has ended. If so, even the newest half-written files of
                launches are removed, and so are the `Handover` pipes that killed commands left.
        """

    def digest(self, path: str) -> str:
        """Return the SHA-256 of a file of the session, in hex.

        It is empty where the file is not regular, or too large.
        """

    def launch_record(self, launch: str) -> LaunchRecord:
        """Read what a launch left in its folder."""

    def launch_output(self, launch: str) -> bytes:
        """Return the end of what the command of a launch wrote; empty if nothing was kept."""

    def checkpoint_state(self, path: str, model: str | None) -> CheckpointState:
        """Return the state of an agent's checkpoint file.

        Args:
            path: Absolute, inside the session.
            model: The model that would resume; `CheckpointState.OTHER_MODEL` is returned for a
                checkpoint that another model wrote.
        """

    def has_file(self, path: str) -> bool:
        """Return whether a non-empty regular file is at an absolute path; does not open it."""
