"""The file of an exported session, and the bundle of commits in it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

from agentmux.core.codec.frozen import dataclass
from agentmux.core.journal.events import Event
from agentmux.core.moving.manifest import Manifest, Member


@dataclass(frozen=True, slots=True, kw_only=True)
class Packed:
    """What goes into the file of an exported session.

    Attributes:
        manifest: Says what is in it.
        journal: The content of the journal.
        home: The session's directory, which has the other files.
        bundle: The bundle; None for none.
    """

    manifest: Manifest
    journal: bytes
    home: Path
    bundle: Path | None


class SessionArchive(Protocol):
    """An exported session's file that is open; nothing in it is trusted."""

    @property
    def manifest(self) -> Manifest:
        """What the file says first."""

    @property
    def digest(self) -> str:
        """The SHA-256 of the manifest, in hex."""

    def events(self) -> tuple[Event, ...]:
        """Return the events of the journal in the file.

        Raises:
            DataError: As from `unpack`; or a newer version wrote one of them.
        """

    def unpack(self, home: Path, bundle: Path) -> None:
        """Write the session's files below ``home``, without the journal.

        The bundle, if there is one, is written to ``bundle``. Every hash is compared. Nothing is
        written elsewhere, and over nothing.

        Raises:
            DataError: The file is damaged, or was made to do harm.
        """

    def verify(self) -> None:
        """Compare every hash; writes nothing.

        Raises:
            DataError: As from `unpack`.
        """


class SessionArchives(Protocol):
    """The files of exported sessions."""

    def members(self, home: Path) -> tuple[tuple[Member, ...], tuple[str, ...]]:
        """Return the files of a session that come along, without the journal.

        Also those that would and cannot: too large, no regular file, or a name that not every
        machine has.
        """

    def of_bytes(self, path: str, data: bytes) -> Member:
        """Return the member of a file with this content."""

    def bundle_digest(self, bundle: Path) -> tuple[str, int]:
        """Return the SHA-256 of a file, in hex, and its size."""

    def require_free(self, target: Path, *, force: bool) -> None:
        """Check that a file may be written at ``target``, as `write` does.

        Raises:
            UsageError: There is a file, and no ``force``; or there is no such directory.
        """

    def journal(self, events: Iterable[Event]) -> bytes:
        """Return the content of a journal with these events."""

    def sweep(self, target: Path) -> None:
        """Remove what killed exports to this file have left beside it."""

    def write(self, target: Path, packed: Packed, *, force: bool) -> str:
        """Write a file whole, read it again, and only then give it its name.

        Args:
            target: Absolute.
            packed: The content.
            force: Replace a file that is there.

        Returns:
            Its `SessionArchive.digest`.

        Raises:
            UsageError: There is a file already.
            DataError: It cannot be written; nothing is there then.
        """

    def drop(self, path: Path) -> None:
        """Remove a file that was only needed for a moment."""

    def open_archive(self, path: Path) -> AbstractContextManager[SessionArchive]:
        """Open a file for a ``with`` block.

        Raises:
            NotFoundError: There is no such file.
            DataError: It is not the file of an exported session, or of a newer version.
        """


class Bundles(Protocol):
    """Bundles of commits, in the repository of one project."""

    def make_bundle(
        self, home: Path, refs: Mapping[str, str]
    ) -> AbstractContextManager[Path | None]:
        """Make a bundle of all that no remote-tracking branch has, for a ``with`` block.

        It is verified. It is None where the remotes have everything.

        Args:
            home: The session's directory, whose objects it may need.
            refs: The commits in it, by the names that they get there.

        Raises:
            GitError: Git refuses.
        """

    def has(self, home: Path, commit: str) -> bool:
        """Return whether the repository, or the session's directory, has a commit."""

    def unpack(self, home: Path, bundle: Path, refs: frozenset[str]) -> None:
        """Put the objects of a bundle into a session's directory, checked by git.

        Args:
            home: The session's directory.
            bundle: The file, which somebody else may have made.
            refs: The names that it may have.

        Raises:
            MissingError: The repository lacks commits on which it builds.
            DataError: It is damaged.
        """

    def share_history(self, home: Path, commit: str) -> bool:
        """Return whether the repository has a commit in common with this one, or is empty."""

    def bring(self, home: Path, commit: str) -> None:
        """Copy a commit, with all that it builds on, from a session into the repository."""

    def diff(self, home: Path, since: str, until: str, limit: int) -> str:
        """Return the difference between two commits as text, cut after ``limit`` bytes."""
