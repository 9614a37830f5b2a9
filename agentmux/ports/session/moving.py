"""Archives: the files in which sessions are exported and imported, and their commit bundles."""

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
    """The content of an archive to be written.

    Attributes:
        manifest: The list of what the archive contains.
        journal: The content of the journal file.
        home: The session's directory, which has the other files.
        bundle: The path of the git bundle with the session's commits; None if there is no bundle.
    """

    manifest: Manifest
    journal: bytes
    home: Path
    bundle: Path | None


class SessionArchive(Protocol):
    """An open archive of an exported session; nothing in it is trusted."""

    @property
    def manifest(self) -> Manifest:
        """The manifest, which is the first file of the archive."""

    @property
    def digest(self) -> str:
        """The SHA-256 of the manifest, in hex."""

    def events(self) -> tuple[Event, ...]:
        """Return the events of the journal in the archive.

        Raises:
            DataError: The archive is damaged or malicious, or a newer version of AgentMux wrote one
                of the events.
        """

    def unpack(self, home: Path, bundle: Path) -> None:
        """Write the session's files into a directory, without the journal.

        Every file is checked against its recorded hash. No file is overwritten, and none is written
        elsewhere.

        Args:
            home: The directory for the session's files.
            bundle: Where to write the git bundle, if the archive has one.

        Raises:
            DataError: The archive is damaged or malicious.
        """

    def verify(self) -> None:
        """Check every file in the archive against its recorded hash, without writing anything.

        Raises:
            DataError: The archive is damaged or malicious.
        """


class SessionArchives(Protocol):
    """Writes and opens the archives of exported sessions."""

    def members(self, home: Path) -> tuple[tuple[Member, ...], tuple[str, ...]]:
        """Return the files of a session that an archive contains, without the journal.

        Args:
            home: The session's directory.

        Returns:
            A pair: the files, each with path, size and SHA-256; and the paths of the files that are
            left out because they are too large, are no regular files, or have a name that is not
            valid on every machine. Paths are relative to ``home``.
        """

    def make_member(self, path: str, data: bytes) -> Member:
        """Return the manifest's entry for a file with this content; writes nothing.

        ``path`` is relative to the session's directory.
        """

    def bundle_digest(self, bundle: Path) -> tuple[str, int]:
        """Return the SHA-256 of the file ``bundle``, in hex, and its size in bytes."""

    def require_free(self, target: Path, *, force: bool) -> None:
        """Check that `write` may write an archive at ``target``; changes nothing.

        Raises:
            UsageError: There is a file at ``target`` and ``force`` is false, or ``target`` is a
                directory, or its parent directory does not exist.
        """

    def journal(self, events: Iterable[Event]) -> bytes:
        """Return the content of a journal file with these events; writes nothing."""

    def sweep(self, target: Path) -> None:
        """Remove temporary files that killed exports to ``target`` have left beside it."""

    def write(self, target: Path, packed: Packed, *, force: bool) -> str:
        """Write an archive under a temporary name, verify it, then rename it to ``target``.

        Args:
            target: The absolute path of the archive.
            packed: The content.
            force: Whether to replace a file at ``target``.

        Returns:
            The `SessionArchive.digest` of the archive.

        Raises:
            UsageError: There is a file at ``target``, and ``force`` is false.
            DataError: The archive cannot be written, or a file of the session has changed since
                the manifest was made; no file is left behind.
        """

    def delete(self, path: Path) -> None:
        """Delete the file ``path``, such as an unpacked bundle; no error if it does not exist."""

    def open_archive(self, path: Path) -> AbstractContextManager[SessionArchive]:
        """Open the archive at ``path`` for the time of a ``with`` block.

        Raises:
            NotFoundError: The file does not exist.
            DataError: The file is no archive of a session, or a newer version wrote it.
        """


class Bundles(Protocol):
    """Creates and unpacks git bundles with the commits of sessions, in a project's repository."""

    def make_bundle(
        self, home: Path, refs: Mapping[str, str]
    ) -> AbstractContextManager[Path | None]:
        """Create a temporary bundle of the commits that no remote-tracking branch contains.

        The bundle is verified. It exists until the ``with`` block ends. The block gets its path, or
        None if the remotes have all commits.

        Args:
            home: The session's directory, which may contain some of the git objects.
            refs: The commits to include, by their ref names in the bundle, which begin with
                ``refs/agentmux/``.

        Raises:
            GitError: Git refuses.
        """

    def has(self, home: Path, commit: str) -> bool:
        """Return whether a commit is in the repository or in the session's directory ``home``."""

    def unpack(self, home: Path, bundle: Path, refs: frozenset[str]) -> None:
        """Write the git objects of a bundle into a session's directory; git checks them.

        Args:
            home: The session's directory.
            bundle: The path of the bundle, which is not trusted.
            refs: The ref names that the bundle may contain.

        Raises:
            MissingError: The repository lacks commits that the bundle requires.
            DataError: The bundle is damaged, or contains another ref.
        """

    def share_history(self, home: Path, commit: str) -> bool:
        """Return whether the commit's history and the repository have a commit in common.

        True as well if the repository has no commits. ``home`` is the session's directory, which
        may contain the commit.
        """

    def bring(self, home: Path, commit: str) -> None:
        """Copy a commit and its history from the session's directory ``home`` to the repository.

        Nothing happens if the repository has the commit already.

        Raises:
            GitError: Git refuses.
        """

    def diff(self, home: Path, since: str, until: str, limit: int) -> str:
        """Return git's diff from the commit ``since`` to ``until``, cut after ``limit`` bytes.

        It begins with the output of ``--stat``; if it is cut, it ends in ``[…]``. ``home`` is the
        session's directory, which may contain the commits.
        """
