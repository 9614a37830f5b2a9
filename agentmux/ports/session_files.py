"""A session's directory: its journal, state and artifacts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from agentmux.core.codec.frozen import dataclass

if TYPE_CHECKING:  # what only looks at tmux does without the core
    from agentmux.core.conversation.resume_choice import CheckpointState
    from agentmux.core.decisions.next_actions import Exit
    from agentmux.core.fold.implied import Implied
    from agentmux.core.fold.loaded_session import LoadedSession
    from agentmux.core.journal.events import Event, LaunchChosen
    from agentmux.core.journal.state import Archive, SessionState
    from agentmux.core.names.turn import Turn
    from agentmux.core.pipeline.artifacts import Artifacts


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchRecord:
    """What a launch left in its folder.

    Attributes:
        started: Its wrapper ran.
        exit: Its exit record.
        choice: What the user chose while its pane was stopped.
    """

    started: bool
    exit: Exit | None
    choice: LaunchChosen | None = None


class Transaction(Protocol):
    """A session while no other writer can append to its journal."""

    @property
    def loaded(self) -> LoadedSession:
        """What state and journal said when the lock was taken."""

    def append(self, event: Event) -> None:
        """Append one line; when this returns, it is on the disk."""


class SignalFiles(Protocol):
    """What a signal needs of a session's directory."""

    @property
    def path(self) -> Path:
        """The directory, absolute."""

    def load(self) -> LoadedSession:
        """Read state and journal; changes nothing.

        Raises:
            DataError: Unreadable, from a newer version, or the journal is not this session's.
        """

    def transact(self) -> AbstractContextManager[Transaction]:
        """Read state and journal and keep every other writer out; for milliseconds only.

        Raises:
            NotFoundError: There is no such session.
            DataError: As `load`; also for a session of an older form that nobody has resumed yet.
            BlockedError: Another process kept the journal for long.
        """

    def read_artifact(self, path: str, limit: int) -> tuple[bytes | None, str]:
        """Return a regular file's content and, where there is none that counts, why."""

    def read_yaml(self, data: bytes) -> tuple[object, tuple[str, ...]]:
        """Decode one YAML document strictly; the value, and every problem with its line."""

    def turn(self, launch: str) -> Turn:
        """Return what a launch's hooks have told of its turn."""

    def note_turn(self, launch: str, turn: Turn) -> None:
        """Keep what a hook has told; does nothing where the launch has no folder here."""

    def read_front_matter(self, text: str) -> tuple[Mapping[str, object], tuple[str, ...]]:
        """Return the mapping at the head of a Markdown text, and every problem with its line."""


class SessionFiles(SignalFiles, Protocol):
    """The directory of one session. Writing raises `DataError` and leaves the old file intact."""

    def make(
        self,
        events: Sequence[Event],
        texts: Mapping[str, str],
        *,
        last: Callable[[Path], object] = lambda _: None,
    ) -> None:
        """Make the directory whole under a temporary name, and rename it.

        Args:
            events: They begin the journal and are folded into the first state.
            texts: Paths relative to the session, and what lies there.
            last: Called with the directory when all but the name is there; what it raises takes
                all away again.

        Raises:
            BlockedError: Another process was quicker with this name; the reason is `NAME_TAKEN`.
        """

    def discard(self) -> None:
        """Take away a session that never began."""

    def tail(self, offset: int) -> tuple[tuple[Event, int], ...]:
        """Return the acknowledged events behind ``offset``; waits for a writer at work.

        Raises:
            UnknownEventError: A line is of an unknown kind or a newer version.
        """

    def skipped(self) -> tuple[str, ...]:
        """Return, one sentence each, which lines `tail` passed over because they do not parse.

        Each is told once: not again by the next call, and not if it is a warning of `load`.
        """

    def append(self, event: Event) -> None:
        """Append one line to the journal, durably."""

    def save(self, state: SessionState, *, after: int | None) -> None:
        """Commit ``state``, then mirror the cursor; ``after`` is the revision that it follows.

        Raises:
            SupersededError: Somebody else has committed since.
        """

    def set_aside_corrupt_state(self, now: datetime) -> None:
        """Keep a corrupt state file before the next commit writes over it."""

    def import_session(self, state: SessionState, events: Sequence[Event]) -> SessionState:
        """Begin a new journal with ``events`` for an older session; the old one is kept aside."""

    def artifacts(self, state: SessionState) -> Artifacts:
        """Read what lies in the phase folders, without what ``state`` wants archived."""

    def add(self, implied: Implied) -> None:
        """Add a file whole, unless it is there already with this content."""

    def to_archive(self, archive: Archive) -> tuple[str, ...]:
        """Return the files that `archive` would move, by path relative to the session."""

    def archive(self, archive: Archive) -> None:
        """Move files one by one; those already moved, or never there, are fine."""

    def write(self, path: str, data: str) -> Path:
        """Write a private file at a path relative to the session; returns where it lies."""

    def write_over(self, path: str, data: str) -> None:
        """Write over a file where it lies, padded to its size: not durable, but takes no room.

        Raises:
            DataError: It is not there, is too small, or cannot be written.
        """

    def make_folder(self, path: str) -> None:
        """Make a private folder at a path relative to the session, unless it is there."""

    def sweep(self, *, all_ended: bool = False) -> None:
        """Remove what killed writers left half-written; call it under the session's lock.

        With ``all_ended`` no agent lives any more, and what its last moments left goes too.
        """

    def digest(self, path: Path) -> str:
        """SHA-256 of a file, in hex; empty where there is no regular file of a readable size."""

    def launch_record(self, launch: str) -> LaunchRecord:
        """Read what a launch left."""

    def checkpoint_state(self, path: str, model: str | None) -> CheckpointState:
        """Look at an agent's checkpoint file (absolute path, inside the session)."""

    def has_file(self, path: str) -> bool:
        """Whether a regular file with content is at an absolute path; it is not opened."""
