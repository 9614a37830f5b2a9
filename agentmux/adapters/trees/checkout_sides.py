"""Compares the files of a checkout with an old and a new commit.

A fast-forward that is killed leaves some files as in the old commit, and others as in the new one.
It is safe to finish only if every file matches one of the two: any other content is the user's.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Iterable, Mapping
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Final, NamedTuple

from agentmux.adapters.disk import files
from agentmux.adapters.git.lost_work.file_hashes import file_hashes
from agentmux.adapters.git.lost_work.hidden_changes import hidden_changes
from agentmux.adapters.git.program import (
    GitProgram,
    GitReply,
    decode_output,
    encode_text,
    join_paths,
    split,
    to_refused_error,
)
from agentmux.adapters.git.put_aside import parents_of, repository_around
from agentmux.adapters.git.work_tree import work_tree
from agentmux.adapters.trees.differences import delete_file
from agentmux.core.codec.frozen import dataclass
from agentmux.core.names.words.counts import abbreviate_names
from agentmux.ports.git.repository import GitRefusedError


class StoredFile(NamedTuple):
    """A file as git stores it: its mode, such as ``100644``, and the id of its content."""

    mode: str
    blob: str


@dataclass(frozen=True, slots=True)
class Sides:
    """The file at one path in the old and in the new commit; None where a commit has none."""

    old: StoredFile | None
    new: StoredFile | None


_LINK: Final = "120000"
_FILE: Final = "100644"
_PROGRAM: Final = "100755"
_MODULE: Final = "160000"
_PAGE: Final = 4096
_UNKNOWN: Final = StoredFile("", "")
"""Stands for something on the disk that is neither a regular file nor a link."""


class CheckoutSides:
    """The files of one checkout, compared with an old and a new commit.

    The files are read when they are first needed, and then kept: make another object to read again.
    """

    def __init__(
        self,
        git: GitProgram,
        old: str,
        new: str,
        *,
        has_failed: bool = False,
        was_interrupted: bool = False,
    ) -> None:
        """Compare the checkout in which ``git`` runs; its HEAD must be at ``old``.

        Git removes a file before it writes it. So missing files, and files with the beginning of
        the new content, may be git's, if it was stopped on the way from ``old``.

        Args:
            git: Runs git in the checkout.
            old: The commit at which its HEAD is.
            new: The commit to compare with.
            has_failed: Whether git has failed right now, with nothing of the user in its way: all
                such files are its own.
            was_interrupted: Whether a note says that git was stopped some time ago. The user may
                have worked since: a single such file is git's if other files are still as in
                ``new``, or if it ends with a page.
        """
        self._git = git
        self._old, self._new = old, new
        self._has_failed, self._was_interrupted = has_failed, was_interrupted

    @cached_property
    def _sides(self) -> Mapping[str, Sides]:
        """The paths in which the commits differ."""
        words = ("diff-tree", "-r", "-z", "--no-renames", self._old, self._new)
        fields = split(self._git.must_read("compare the commits", *words).out)
        sides: dict[str, Sides] = {}
        for about, path in zip(fields, fields, strict=True):
            before, after, one, other, _ = about.removeprefix(":").split(" ")
            sides[path] = Sides(_entry(before, one), _entry(after, other))
        return sides

    @property
    def paths(self) -> Collection[str]:
        """The paths in which the commits differ, relative to the top of the checkout."""
        return self._sides.keys()

    @cached_property
    def _changed_paths(self) -> tuple[str, ...]:
        """The tracked paths that differ from HEAD, on the disk or in the index.

        Changes that git was told not to show are included where the commits differ.
        """
        words = ("status", "--porcelain=v1", "-z", "--untracked-files=no", "--no-renames")
        reply = self._git.must_read("list changes", *words, "--ignore-submodules=dirty")
        hidden = (path for path in hidden_changes(self._git) if path in self._sides)
        return (*(entry[3:] for entry in split(reply.out)), *hidden)

    @cached_property
    def _there(self) -> Mapping[str, StoredFile | None]:
        """What is on the disk at each path that matters; None if nothing is there."""
        added = (path for path, each in self._sides.items() if each.old is None)
        asked = dict.fromkeys((*(p for p in self._changed_paths if p in self._sides), *added))
        return self._on_disk(asked)

    def in_way(self) -> tuple[str, ...]:
        """Return the paths at which a fast-forward would overwrite something of the user, sorted.

        Their content, on disk or in the index, is in neither commit. Paths are relative to the top
        of the checkout. If a file of the user is where the new commit has a folder, the file's path
        is returned; if it is in a repository nested in the checkout, the path of that repository,
        with a ``/`` at the end. Empty if nothing is in the way.

        Raises:
            GitError: Git cannot compare the files.
        """
        return tuple(sorted({self._in_place_of(path) for path in self._wrong()}))

    def _in_place_of(self, path: str) -> str:
        above, root = parents_of(path), self._git.root()
        file = next((e for e in above if (root / e).is_symlink() or (root / e).is_file()), path)
        return repository_around(root, path) or file

    def _wrong(self) -> set[str]:
        wrong = {path for path in self._changed_paths if path not in self._sides}
        wrong |= {path for path in self._sides if self._is_in_repository(path)}
        for path, entry in self._there.items():
            ours = path in self._unfinished_paths
            if not (ours or _is_side(entry, self._sides[path], modes=self._has_modes)):
                wrong.add(path)
        return wrong | {path for path in self._index_entries if not self._is_staged_well(path)}

    def _is_in_repository(self, path: str) -> bool:
        """Whether the new commit adds a file in a repository nested in the checkout."""
        sides, around = self._sides[path], repository_around(self._git.root(), path)
        if around is None or sides.old is not None or sides.new is None:
            return False
        if sides.new.mode == _MODULE and around == f"{path}/":
            return False  # git leaves what is checked out there
        module = self._sides.get(around.removesuffix("/"))
        return module is None or module.old is None

    @cached_property
    def _unfinished_paths(self) -> frozenset[str]:
        """The files that git has removed or begun to write, for example because the disk was full.

        What is there is the beginning of the new content, so nothing else is lost with it.
        """
        if not (self._has_failed or self._was_interrupted):
            return frozenset()
        unfinished = frozenset(
            path
            for path, entry in self._there.items()
            if self._is_missing(path, entry) or self._is_partial(path, entry)
        )
        is_one = len(unfinished) == 1 and (
            any(self._has_pages(path) for path in unfinished)
            or any(self._is_written(path, entry) for path, entry in self._there.items())
        )
        return unfinished if self._has_failed or is_one else frozenset()

    def _has_pages(self, path: str) -> bool:
        """Whether a file that is there has whole pages, as the kernel writes them."""
        if self._there[path] is None:
            return False
        size = (self._git.root() / path).stat().st_size
        return size > 0 and size % _PAGE == 0

    def _is_missing(self, path: str, entry: StoredFile | None) -> bool:
        sides = self._sides[path]
        return entry is None and sides.old is not None and sides.new is not None

    def _is_partial(self, path: str, entry: StoredFile | None) -> bool:
        sides = self._sides[path]
        if entry is None or sides.new is None or _is_side(entry, sides, modes=False):
            return False
        if not {entry.mode, sides.new.mode} <= {_FILE, _PROGRAM}:
            return False
        words = ("cat-file", "--filters", f"--path={path}", sides.new.blob)
        content = self._git.must_read("read a file of the commit", *words).out
        there = files.read_limited(self._git.root() / path, len(content))
        return there is not None and content.startswith(there)

    @cached_property
    def _has_modes(self) -> bool:
        reply = self._git.read("config", "--type=bool", "--get", "core.fileMode")
        return reply.text != "false"

    @cached_property
    def _index_entries(self) -> Mapping[str, StoredFile]:
        """The index entries of the changed paths that differ between the commits."""
        reply = self._git.must_read("read the index", "ls-files", "-z", "--stage")
        wanted = {path for path in self._changed_paths if path in self._sides}
        entries: dict[str, StoredFile] = {}
        for each in split(reply.out) if wanted else ():
            about, _, path = each.partition("\t")
            mode, blob, stage = about.split(" ")
            if path in wanted:
                entries[path] = StoredFile(mode, blob) if stage == "0" else _UNKNOWN
        return entries

    def _is_staged_well(self, path: str) -> bool:
        return self._index_entries[path] in {self._sides[path].old, self._sides[path].new}

    def update_index(self) -> None:
        """Update the index for files that already have the new commit's content.

        Call this before git continues a fast-forward that was killed: it would otherwise take such
        files for the user's changes, and refuse. Files that it has only begun to write are restored
        to the old commit.

        Raises:
            GitRefusedError: Git cannot update the index, or cannot restore such files.
        """
        self._delete_partial()
        lines = []
        for path, entry in self._there.items():
            sides = self._sides[path]
            if entry is None and path not in self._changed_paths:
                continue
            is_new = _is_same(entry, sides.new, modes=self._has_modes)
            target = sides.new if is_new else sides.old
            if target is None:
                lines.append(f"0 {'0' * len(self._old)}\t{path}\0")
            else:
                lines.append(f"{target.mode} {target.blob}\t{path}\0")
        if not lines:
            return
        reply = self._git.run(
            "update-index", "-z", "--index-info", stdin=encode_text("".join(lines))
        )
        if reply.status != 0:
            raise to_refused_error("git could not update the index", reply)
        self._git.run("update-index", "-q", "--refresh")  # its exit status only tells of changes
        reply = self._restore(path for path in self._partial_paths() if self._sides[path].old)
        if reply.status != 0:
            raise to_refused_error("git could not restore the files that it began to write", reply)

    def _delete_partial(self) -> None:
        """Delete the files that git has only begun to write; on a full disk that makes room.

        While the index is locked, they stay: they could not be restored.
        """
        root = self._git.root()
        tree = work_tree(root)
        if tree is not None and not os.path.lexists(tree.git_dir / "index.lock"):
            for path in self._partial_paths():
                delete_file(root, path)

    def _partial_paths(self) -> list[str]:
        return [path for path in self._unfinished_paths if self._there[path] is not None]

    def _restore(self, paths: Iterable[str]) -> GitReply:
        """Write the files, which must be missing, as they are in the index."""
        return self._git.run("checkout-index", "-z", "--stdin", stdin=join_paths(paths))

    def list_written(self) -> tuple[str, ...]:
        """Return the paths that git has changed on the way from the old commit to the new one.

        They are relative to the top of the checkout. Empty before git begins. HEAD must still be at
        the old commit.

        Raises:
            GitError: Git cannot compare the files.
        """
        return tuple(
            path
            for path, entry in self._there.items()
            if path in self._unfinished_paths or self._is_written(path, entry)
        )

    def undo(self) -> tuple[str, ...]:
        """Restore files and index to the old commit, at which HEAD still is.

        Call it if git or a hook refused to move HEAD after the files were written, or if git was
        killed. Files that the user has changed meanwhile are not touched; if there is one, nothing
        is restored.

        Returns:
            The files that git has written, relative to the top of the checkout; empty if all were
            restored.

        Raises:
            GitRefusedError: Git cannot update the index, for example because a git that was killed
                has left its lock.
            GitError: Git cannot compare the files.
        """
        left = self.list_written()
        if not left or self._wrong() & self._sides.keys():
            return left
        self.update_index()
        words = ("read-tree", "-m", "-u", self._new, self._old)
        if self._git.run(*words).status != 0:
            return left
        # Git takes a file that it had removed, and not yet written, for one that the user deleted.
        missing = (path for path in left if self._there[path] is None and self._sides[path].old)
        return () if self._restore(missing).status == 0 else left

    def _is_written(self, path: str, entry: StoredFile | None) -> bool:
        is_changed = entry is not None or path in self._changed_paths
        return is_changed and _is_same(entry, self._sides[path].new, modes=self._has_modes)

    def _on_disk(self, paths: Iterable[str]) -> dict[str, StoredFile | None]:
        entries: dict[str, StoredFile | None] = {}
        plain: dict[str, str] = {}
        for path in paths:
            place = self._git.root() / path
            entry = self._kind(place, path)
            entries[path] = entry
            if entry is not None and entry.mode == _LINK:
                entries[path] = StoredFile(_LINK, self._hash(os.fsencode(place.readlink())))
            elif entry is not None and entry.mode in {_FILE, _PROGRAM}:
                plain[path] = entry.mode
        blobs = file_hashes(self._git, plain)
        return {**entries, **{path: StoredFile(mode, blobs[path]) for path, mode in plain.items()}}

    def _kind(self, place: Path, path: str) -> StoredFile | None:
        """Return what is at a path, without its content; None if nothing is.

        A directory counts as nothing if the new commit deletes all files in it; so does a file in
        place of one of the path's parents, if the new commit deletes it.
        """
        try:
            mode = place.lstat().st_mode
        except FileNotFoundError:
            return None
        except NotADirectoryError:
            above = (str(each) for each in PurePosixPath(path).parents)
            return None if any(map(self._gives_way, above)) else _UNKNOWN
        if stat.S_ISLNK(mode):
            return StoredFile(_LINK, "")
        if stat.S_ISREG(mode):
            return StoredFile(_PROGRAM if mode & stat.S_IXUSR else _FILE, "")
        below = place.rglob("*") if stat.S_ISDIR(mode) else (place,)
        inside = (each for each in below if each.is_symlink() or not each.is_dir())
        root = self._git.root()
        return None if all(self._gives_way(str(e.relative_to(root))) for e in inside) else _UNKNOWN

    def _gives_way(self, path: str) -> bool:
        """Whether the old commit has a file at this path and the new one has not."""
        sides = self._sides.get(path)
        return sides is not None and sides.old is not None and sides.new is None

    def _hash(self, data: bytes) -> str:
        words = ("hash-object", "-t", "blob", "--stdin")
        return decode_output(self._git.must_read("read a link", *words, stdin=data).out).strip()


def undo_and_report(sides: CheckoutSides) -> str:
    """Undo a refused checkout with `CheckoutSides.undo`; return what stays, for an error message.

    The result is a clause that begins with ``; ``, to append to the message; empty if all was
    undone.

    Raises:
        GitError: Git cannot compare the files.
    """
    try:
        left = sides.undo()
    except GitRefusedError:
        left = sides.list_written()
    return f"; what it wrote stays there, uncommitted: {abbreviate_names(left)}" if left else ""


def _entry(mode: str, blob: str) -> StoredFile | None:
    return None if mode == "000000" else StoredFile(mode, blob)


def _is_side(entry: StoredFile | None, sides: Sides, *, modes: bool) -> bool:
    return any(_is_same(entry, each, modes=modes) for each in (sides.old, sides.new))


def _is_same(entry: StoredFile | None, side: StoredFile | None, *, modes: bool) -> bool:
    """Return whether a file on disk is as in a commit; ``modes`` says to compare the mode, too."""
    if side is not None and side.mode == _MODULE:
        return True  # git does not touch the files of a submodule here
    if entry is None or side is None or modes:
        return entry == side
    return entry.blob == side.blob and (entry.mode == _LINK) == (side.mode == _LINK)
