"""Work-tree checkpoints: commits of a work tree's files, made from a copy of the index.

It is a copy because a new index would drop the files that a sparse checkout leaves out, and would
run every clean filter. The objects are in the session's directory; see `session_objects`.
"""

from __future__ import annotations

import os
import stat
import time
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from agentmux.adapters.disk.scratch import scratch_folder
from agentmux.adapters.git import session_objects
from agentmux.adapters.git.program import (
    GitProgram,
    GitReply,
    decode_output,
    join_paths,
    split,
    to_git_error,
)
from agentmux.adapters.git.session_objects import PRIVATE, QUIET, REF_PREFIX, RepositoryPlaces
from agentmux.adapters.trees import differences
from agentmux.adapters.trees.absent_folder import unique_files
from agentmux.core.codec.frozen import dataclass
from agentmux.core.names import layout
from agentmux.errors import MissingError
from agentmux.ports.git.checkpoints import SavedTree
from agentmux.ports.git.repository import GitError

FILE_MAX: Final = 32 << 20
"""The size limit of a saved file, in bytes; larger files are not saved."""

TOTAL_MAX: Final = 256 << 20
"""The limit for all changed files together, in bytes.

Beyond it, only the smallest ones are saved.
"""

_STATUS_S: Final = 30.0
_LOOK_S: Final = 120.0
_STEP_S: Final = 10.0
_NAMED_MAX: Final = 200
_STATUS: Final = (
    *("status", "--porcelain=v2", "--branch", "-z", "--untracked-files=all", "--no-renames"),
    *("--no-ahead-behind", "--ignore-submodules=dirty"),
)
_TAGS: Final = ("ls-files", "-v", "-z")
_SEEN: Final = "H"
"""The mark of ``git ls-files -v`` for a file whose changes ``git status`` shows."""
# How many fields come before the path in an entry of `git status --porcelain=v2`.
_FIELDS: Final = {"1": 8, "u": 10, "?": 1}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    """The result of ``git status``: HEAD, and the paths that differ from the index."""

    head: str | None
    branch: str | None
    paths: tuple[str, ...]


class GitCheckpoints:
    """Saves and restores the files of one session's work tree, as work-tree checkpoints.

    A checkpoint is a commit with the files as they were; it is kept in the session's directory.
    Implements `agentmux.ports.git.checkpoints.TreeCheckpoints`.
    """

    def __init__(
        self,
        git: GitProgram,
        home: Path,
        session: str,
        *,
        file_max: int = FILE_MAX,
        total_max: int = TOTAL_MAX,
    ) -> None:
        """Save the work tree in which ``git`` runs; this starts nothing.

        Args:
            git: Runs git in the work tree.
            home: The session's directory.
            session: The session's uuid, from which its ref is named.
            file_max: The size limit of a saved file, in bytes.
            total_max: The limit for all saved files together, in bytes.
        """
        self._git = git
        self._home = home
        self._session = session
        self._file_max, self._total_max = file_max, total_max
        self._places: RepositoryPlaces | None = None

    # --- saving ------------------------------------------------------------------------------

    def take(
        self, message: str, *, limit_s: float, replaced_by: str | None = None
    ) -> SavedTree | None:
        deadline = time.monotonic() + limit_s
        places = self._places or self._look()
        if places is None:
            return None
        store = session_objects.make_objects_folder(self._home)
        with session_objects.scratch(self._home) as scratch:
            extra = session_objects.variables_to_write(store, places.objects)
            run = self._on_a_copy(places, scratch, extra, deadline)
            return self._save(message, run, replaced_by=replaced_by)

    def _on_a_copy(
        self, found: RepositoryPlaces, scratch: Path, extra: Mapping[str, str], deadline: float
    ) -> _Runner:
        """Copy the index to ``scratch``; return a runner of git commands that use the copy."""
        index = scratch / "index"
        session_objects.copy_index(found.index, index)
        more = {**extra, "GIT_INDEX_FILE": str(index)}
        return _Runner(self._git, more, deadline)

    def _look(self) -> RepositoryPlaces | None:
        if self._git.top_level() is not None:
            self._places = session_objects.places(self._git)
        return self._places

    def _save(
        self,
        message: str,
        run: _Runner,
        leave_out: frozenset[str] = frozenset(),
        replaced_by: str | None = None,
    ) -> SavedTree:
        state, missing = self._add_all(run, leave_out)
        tree = _tree(run)
        if replaced_by is not None and self._add_replaced(run, tree, replaced_by, missing):
            tree = _tree(run)
        parent = ("-p", state.head) if state.head else ()
        commit = run.must("save the files", "commit-tree", tree, *parent, "-m", message)
        if state.head is not None and state.branch is None:
            self._keep(state.head)
        return SavedTree(
            commit=_text(commit),
            head=state.head,
            branch=state.branch,
            missing=_shorten_paths(missing),
        )

    def _add_all(self, run: _Runner, leave_out: frozenset[str]) -> tuple[_Found, list[str]]:
        """Add all files to the index.

        Return git's status, and the files that could not be added.
        """
        state = _parse_status(split(_with_or_without_filters(run, *_STATUS)))
        wanted, missing = self._split_by_size(path for path in state.paths if path not in leave_out)
        return state, missing + _add(run, wanted)

    def _add_replaced(self, run: _Runner, tree: str, by: str, missing: list[str]) -> bool:
        """Add the files that exist only on disk and that writing the commit ``by`` would replace.

        They are ignored, or git was told to take them for unchanged. Files that cannot be added,
        and nested repositories, are appended to ``missing``.

        Returns:
            Whether there was any such file.
        """
        top, changed = self._git.root(), differences.changes(self._git, run.extra, tree, by)
        there = set(differences.in_the_way(top, changed)).difference(missing)
        around = differences.repositories_around(top, changed)
        if not there and not around:
            return False
        tags = {each[2:]: each[0] for each in split(run.must("list the files", *_TAGS))}
        # Like git, take a folder with files in the index for no repository of its own.
        own = tuple(each for each in around if not any(path.startswith(each) for path in tags))
        missing += sorted(set(own).difference(missing))
        unseen = sorted(e for e in there if tags.get(e) != _SEEN and not e.startswith(own))
        wanted, left = self._split_by_size(unseen)
        run("update-index", "-z", "--force-remove", "--stdin", stdin=join_paths(wanted))
        missing += left + _add(run, wanted)
        return bool(unseen)

    def _split_by_size(self, found: Iterable[str]) -> tuple[list[str], list[str]]:
        """Return the paths to save, and those that are too large or not files."""
        top, total, paths = self._git.root(), 0, tuple(found)
        wanted: list[str] = []
        missing: list[str] = []
        sizes = {path: _size(top / path) for path in paths if not path.endswith("/")}
        for path, size in sorted(sizes.items(), key=lambda each: each[1]):
            total += max(size, 0)
            fits = 0 <= size <= self._file_max and total <= self._total_max
            (wanted if fits else missing).append(path)
        return wanted, [*missing, *(path for path in paths if path.endswith("/"))]

    def _keep(self, head: str) -> None:
        """Create a ref for a commit that no branch or tag contains, so that git keeps it."""
        words = ("for-each-ref", "--count=1", "--contains", head)
        if not self._git.must_read("look for the commit", *words).out:
            ref = f"{REF_PREFIX}{self._session}"
            session_objects.must_run(self._git, "keep the commit", "update-ref", ref, head)

    def tree(self, *, limit_s: float) -> str | None:
        places = self._places or self._look()
        if places is None:
            return None
        with scratch_folder("agentmux-look-") as folder:
            store = Path(folder, "objects")
            store.mkdir()
            extra = session_objects.variables_to_write(
                store, places.objects, session_objects.objects(self._home)
            )
            run = self._on_a_copy(places, Path(folder), extra, time.monotonic() + limit_s)
            self._add_all(run, frozenset())
            return _tree(run)

    # --- using them --------------------------------------------------------------------------

    def differing(self, since: str, until: str) -> tuple[str, ...]:
        extra = session_objects.variables_to_read(self._home)
        return tuple(each.path for each in differences.changes(self._git, extra, since, until))

    def list_unique(self, commit: str, others: Sequence[str]) -> tuple[str, ...]:
        return unique_files(self._git, self._home, commit, others, "--diff-filter=d")

    def objects(self) -> str:
        return session_objects.variables_to_read(self._home)["GIT_ALTERNATE_OBJECT_DIRECTORIES"]

    def changed_since(self, commit: str) -> tuple[str, ...]:
        """Return the paths whose files in the work tree differ from the checkpoint ``commit``.

        ``commit`` is the id of the checkpoint's commit. Paths are relative to the top of the work
        tree. Left out are files that the checkpoint does not have because its ``.gitignore`` files
        ignore them, and files that no checkpoint can save, such as very large ones.

        Raises:
            GitError: The session is outside a git repository, or git refuses.
        """
        with self._saved_for_now(replaced_by=commit) as (saved, extra):
            changed = self._to_write(extra, saved.commit, commit)
        return tuple(
            e.path for e in changed if not differences.is_left_unchanged(e.path, saved.missing)
        )

    def _to_write(
        self, extra: Mapping[str, str], since: str, until: str
    ) -> tuple[differences.FileChange, ...]:
        """Return the files to write or delete to turn the tree ``since`` into ``until``."""
        changed = differences.changes(self._git, extra, since, until)
        with scratch_folder("agentmux-rules-") as folder:
            return differences.without_ignored(self._git, extra, changed, until, Path(folder))

    def list_ignored(self, since: str, until: str | None) -> tuple[str, ...]:
        if until is not None:
            return self._find_ignored(session_objects.variables_to_read(self._home), since, until)
        with self._saved_for_now() as (saved, extra):
            paths = self._find_ignored(extra, since, saved.commit)
        return tuple(path for path in paths if os.path.lexists(self._git.root() / path))

    def _find_ignored(self, extra: Mapping[str, str], since: str, until: str) -> tuple[str, ...]:
        changed = differences.changes(self._git, extra, since, until)
        kept = set(self._to_write(extra, since, until))
        return tuple(each.path for each in changed if each not in kept)

    @contextmanager
    def _saved_for_now(
        self, replaced_by: str | None = None
    ) -> Iterator[tuple[SavedTree, Mapping[str, str]]]:
        """Save the work tree in a temporary directory.

        Yield it and the variables for reading it.
        """
        with self.temporary_checkpoint(replaced_by=replaced_by) as (saved, extra):
            yield (
                saved,
                session_objects.variables_to_read(self._home, Path(extra["GIT_OBJECT_DIRECTORY"])),
            )

    @contextmanager
    def temporary_checkpoint(
        self, leave_out: Collection[str] = (), *, replaced_by: str | None = None
    ) -> Iterator[tuple[SavedTree, Mapping[str, str]]]:
        """Save the work tree in a temporary directory for the ``with`` block; keep nothing.

        Args:
            leave_out: Paths that are saved with their content in the index, not on disk.
            replaced_by: The commit of the checkpoint that would be written to the work tree next:
                files that it would replace are saved even if git ignores them. None if nothing
                would be written.

        Yields:
            The saved tree, and the environment variables with which git reads it and writes new
            objects there.

        Raises:
            GitError: The session is outside a git repository, or git refuses.
        """
        places = self._places or self._look()
        if places is None:
            raise GitError(f"{self._home} belongs to a session outside of git")
        with scratch_folder("agentmux-look-") as folder:
            store = Path(folder, "objects")
            store.mkdir()
            theirs = session_objects.objects(self._home)
            extra = session_objects.variables_to_write(store, places.objects, theirs)
            deadline = time.monotonic() + _LOOK_S
            run = self._on_a_copy(places, Path(folder), extra, deadline)
            yield self._save("a look", run, frozenset(leave_out), replaced_by), extra

    def hand_over(self, commit: str | None) -> str:
        if commit is not None:
            return self._handed_over(commit, session_objects.variables_to_read(self._home))
        with self._saved_for_now() as (saved, extra):
            return self._handed_over(saved.commit, extra)

    def _handed_over(self, commit: str, extra: Mapping[str, str]) -> str:
        # The repository has the objects of the checkpoint's HEAD already.
        wanted = f"{commit}\n^{commit}^@\n".encode()
        words = ("pack-objects", "--quiet", "--revs", "--stdout")
        packed = session_objects.must_run(
            self._git, "pack the files", *words, stdin=wanted, extra=extra
        )
        session_objects.must_run(
            self._git, "unpack the files", "unpack-objects", "-q", stdin=packed
        )
        return commit

    def write_files(self, since: str, until: str, *, leave: Collection[str]) -> tuple[str, ...]:
        extra = session_objects.variables_to_read(self._home)
        changed = self._to_write(extra, since, until)
        with session_objects.scratch(self._home) as scratch:
            return differences.write(self._git, extra, changed, scratch=scratch, leave=leave)

    def forget(self) -> None:
        ref = f"{REF_PREFIX}{self._session}"
        if self._git.top_level() is not None and self._git.read("show-ref", "--verify", ref).out:
            session_objects.must_run(self._git, "delete a ref", "update-ref", "-d", ref)


class _Runner:
    """Runs the git commands of one checkpoint until its deadline."""

    def __init__(self, git: GitProgram, extra: Mapping[str, str], deadline: float) -> None:
        self._git = git
        self.extra: Final = {**extra, **session_objects.IDENTITY, "LC_ALL": "C"}
        self._index_lock = Path(f"{extra['GIT_INDEX_FILE']}.lock")
        self._deadline = deadline

    def __call__(self, *argv: str, stdin: bytes = b"", limit_s: float = _STATUS_S) -> GitReply:
        left_s = self._deadline - time.monotonic()
        if left_s <= 0:
            raise MissingError("the work-tree checkpoint took too long")
        self._index_lock.unlink(missing_ok=True)  # left by a git that was killed
        words = (*QUIET, *PRIVATE, *argv)
        return self._git.run(*words, stdin=stdin, extra=self.extra, limit_s=min(limit_s, left_s))

    def must(self, purpose: str, *argv: str) -> bytes:
        reply = self(*argv)
        if reply.status != 0:
            raise to_git_error(purpose, reply)
        return reply.out

    def works(self, *argv: str, stdin: bytes = b"", limit_s: float = _STEP_S) -> bool:
        """Run git with ``argv``; return whether it succeeded within ``limit_s`` seconds.

        It gets less time if the deadline of the whole checkpoint comes earlier. It never raises
        `MissingError`: without time or git, the result is False.
        """
        try:
            return self(*argv, stdin=stdin, limit_s=limit_s).status == 0
        except MissingError:
            return False


def _tree(run: _Runner) -> str:
    """Write the index as a tree; return the tree's id."""
    return _text(_with_or_without_filters(run, "write-tree", "--missing-ok"))


def _with_or_without_filters(run: _Runner, *words: str) -> bytes:
    """Run a command that may call clean filters; return its output.

    If it fails, run it again without filters; files that need a filter then count as changed.
    """
    try:
        reply = run(*words)
    except MissingError:
        reply = None
    if reply is None or reply.status != 0:
        reply = run(*_without_filters(run), *words)
    if reply.status != 0:
        raise to_git_error("save the files", reply)
    return reply.out


def _without_filters(run: _Runner) -> list[str]:
    """Return git settings that disable all filters; files are then compared byte by byte."""
    reply = run("config", "-z", "--name-only", "--get-regexp", r"^filter\.")
    drivers = {name.rpartition(".")[0] for name in split(reply.out)}
    return [
        word
        for driver in sorted(drivers)
        for setting in ("clean=", "process=", "required=false")
        for word in ("-c", f"{driver}.{setting}")
    ]


def _parse_status(entries: Iterable[str]) -> _Found:
    facts = {"branch.oid": "", "branch.head": ""}
    paths: list[str] = []
    for entry in entries:
        kind, _, rest = entry.partition(" ")
        if kind == "#":
            name, _, value = rest.partition(" ")
            facts[name] = value
        elif kind in _FIELDS:
            *words, path = entry.split(" ", _FIELDS[kind])
            if not layout.is_ours(path) and _differs(kind, words):
                paths.append(f"{path}/" if _is_repository(kind, words) else path)
    oid, branch = facts["branch.oid"], facts["branch.head"]
    return _Found(
        head=None if oid in {"", "(initial)"} else oid,
        branch=None if branch in {"", "(detached)"} else branch,
        paths=tuple(paths),
    )


def _differs(kind: str, words: list[str]) -> bool:
    """Whether a path differs from the index.

    Changes that are only staged are in the copy already.
    """
    return kind != "1" or words[1][1] != "."


def _is_repository(kind: str, words: list[str]) -> bool:
    return kind != "?" and words[2].startswith("S")


def _add(run: _Runner, paths: list[str]) -> list[str]:
    """Add the paths to the index; return those that git refuses."""
    if not paths or _adds(run, paths, limit_s=_STATUS_S):
        return []
    reply = run("check-attr", "-z", "--stdin", "filter", stdin=join_paths(paths))
    words = list(split(reply.out))
    filtered = {
        path
        for path, value in zip(words[::3], words[2::3], strict=False)
        if value not in {"unspecified", "unset"}
    }
    plain = [path for path in paths if path not in filtered]
    # Filters are off for these: git might call the filter of another file that may have changed.
    off = _without_filters(run)
    return _added_in_parts(run, plain, off) + _added_in_parts(run, sorted(filtered), [])


def _adds(run: _Runner, paths: list[str], settings: Sequence[str] = (), *, limit_s: float) -> bool:
    words = ("update-index", "-z", "--add", "--remove", "--replace", "--stdin")
    return run.works(*settings, *words, stdin=join_paths(paths), limit_s=limit_s)


def _added_in_parts(run: _Runner, paths: list[str], settings: Sequence[str]) -> list[str]:
    """Add all paths that git accepts, splitting the list on failure.

    Return those that it refuses.
    """
    if not paths or _adds(run, paths, settings, limit_s=_STEP_S):
        return []
    if len(paths) == 1:
        return paths
    half = len(paths) // 2
    first = _added_in_parts(run, paths[:half], settings)
    return first + _added_in_parts(run, paths[half:], settings)


def _size(path: Path) -> int:
    """Return a file's size in bytes; 0 for a link or a missing file, -1 for anything else."""
    try:
        facts = path.lstat()
    except OSError:
        return 0
    if stat.S_ISREG(facts.st_mode):
        return facts.st_size
    return 0 if stat.S_ISLNK(facts.st_mode) else -1


def _shorten_paths(paths: list[str]) -> tuple[str, ...]:
    """Return the paths, sorted; if there are many, their top-level directories instead."""
    if len(paths) <= _NAMED_MAX:
        return tuple(sorted(paths))
    tops = Counter(f"{path.split('/')[0]}/" if "/" in path else path for path in paths)
    return tuple(sorted(tops))


def _text(out: bytes) -> str:
    return decode_output(out).strip()
