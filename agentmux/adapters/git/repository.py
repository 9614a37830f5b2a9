"""The git repository of a project: HEAD, uncommitted changes, and commits of chosen paths only.

Paths have git's form: relative to the top level, with ``/`` between parts, and undecodable bytes as
surrogates. They are never interpreted as patterns.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import stat
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, Literal

from agentmux.adapters.disk.scratch import scratch_folder
from agentmux.adapters.git.clean_protection import protect_from_clean
from agentmux.adapters.git.lost_work.hidden_changes import hidden_changes
from agentmux.adapters.git.lost_work.left_commits import end_before_root, left_commits
from agentmux.adapters.git.lost_work.submodules import modules_with_work
from agentmux.adapters.git.program import (
    LOG,
    PATIENT,
    GitProgram,
    Patience,
    decode_output,
    encode_text,
    join_paths,
    split,
    to_git_error,
    to_refused_error,
)
from agentmux.adapters.git.put_aside import aside_hints
from agentmux.adapters.git.put_back import stash_hints, transfer_hints
from agentmux.adapters.git.session_objects import (
    copy_index,
    places,
    variables_to_read,
    variables_to_write,
)
from agentmux.adapters.git.work_tree import work_tree
from agentmux.adapters.system.processes.child import end, start
from agentmux.core.names import layout
from agentmux.errors import AgentmuxError, UsageError
from agentmux.ports.git.repository import (
    ChangeRange,
    GitError,
    GitRefusedError,
    Head,
    HeadMovedError,
    IndexBusyError,
    InProgress,
    LeftCommits,
    ResultChangedError,
    UnsavedWork,
    finish_it,
)

HEADS: Final = "refs/heads/"
"""The prefix of a branch's full ref name: git puts it before the short name."""
_WHOLE_PATHS: Final = ("--src-prefix=a/", "--dst-prefix=b/", "--submodule=short")
_STAT_COLUMNS: Final = 76
_PATCH_BYTES: Final = 2_000_000
_STAT_FILES: Final = "--stat-count=40"
_SCRATCH: Final = "agentmux-commit-"
_TREE: Final = "agentmux-tree-"
_MARK: Final = "lock"
_LOCK: Final = "index.lock"
_SETTLE_TRIES: Final = 2
_SPLIT: Final = frozenset("AMDT")
"""The letters of ``git status`` for a file that is staged and has changed again."""
"""How often to try to update the user's index after a commit: git may be killed during a try."""

_FILE: Final = "100644"
"""The mode of a regular file in the index."""

# Not for `git commit`: its hooks would inherit the variable, and they may use patterns.
_LITERAL: Final = {"GIT_LITERAL_PATHSPECS": "1"}

# What each operation leaves in the git directory while it waits for the user; see git-status(1).
_IN_PROGRESS: Final[tuple[tuple[str, InProgress], ...]] = (
    ("rebase-merge", "rebase"),
    ("rebase-apply", "rebase"),
    ("MERGE_HEAD", "merge"),
    ("CHERRY_PICK_HEAD", "cherry-pick"),
    ("REVERT_HEAD", "revert"),
)


class Git:
    """The git repository around a project; implements `Repository`.

    The project may also lie outside any repository.
    """

    def __init__(
        self, project: Path, environment: Mapping[str, str], patience: Patience = PATIENT
    ) -> None:
        """Prepare to run git; this starts nothing.

        Args:
            project: An existing directory.
            environment: The environment of git, its hooks and its signing programs.
            patience: The time limit of commands that only read, and whom to tell that one is slow.
        """
        self._project = project
        self._git = GitProgram(project, environment, patience)

    def with_environment(self, environ: Mapping[str, str]) -> Git:
        return type(self)(self._project, environ, self._git.patience)

    # --- reading -----------------------------------------------------------------------------

    def top_level(self) -> Path | None:
        """Return the root of the working tree; None outside one or in a bare repository.

        Raises:
            MissingError: Git is not installed, or does not answer.
            GitError: Git refuses, for example in a directory that another user owns.
        """
        return self._git.top_level()

    def is_bare(self) -> bool:
        """Return whether the project is in a bare repository, which has no work tree of its own.

        False outside a repository.
        """
        return self._git.is_bare()

    def head(self) -> Head:
        both = self._git.read("rev-parse", "HEAD^{commit}", "--symbolic-full-name", "HEAD")
        lines = decode_output(both.out).splitlines()
        if both.status or len(lines) != 2 or not lines[1].startswith(HEADS):
            return self._odd_head()
        branch = lines[1].removeprefix(HEADS)
        return Head(commit=lines[0], branch=branch, in_progress=self._in_progress())

    def _odd_head(self) -> Head:
        """Return a HEAD that is detached, or that names a branch without commits."""
        branch = self._git.read("symbolic-ref", "-q", "HEAD")
        return Head(
            commit=self._git.commit("HEAD"),
            branch=branch.text.removeprefix(HEADS) if branch.status == 0 else None,
            in_progress=self._in_progress(),
        )

    def is_bisecting(self) -> bool:
        return os.path.lexists(self._git_dir() / "BISECT_LOG")

    def contains(self, commit: str, *, tip: str = "HEAD") -> bool:
        reply = self._git.read("merge-base", "--is-ancestor", commit, tip)
        if reply.status not in {0, 1}:
            raise to_git_error(f"compare {tip} with {commit}", reply)
        return reply.status == 0

    def fork(self, base: str, *, since: str, head: str = "HEAD") -> str:
        """Return the commit at which the history of ``head`` diverged from that of ``base``.

        This is the merge base, as in ``git diff BASE...HEAD``: if ``base`` was merged into
        ``head`` meanwhile, the last commit of ``base`` that was merged. The result is the commit's
        id, unless it is ``since``.

        Args:
            base: A branch or commit.
            since: The commit on which the work began. It is returned, as it was given, if the
                histories diverged earlier, or if ``base`` no longer exists.
            head: The branch or commit with the work.
        """
        reply = self._git.read("merge-base", "--end-of-options", base, head)
        fork = reply.text
        if reply.status != 0 or not fork:
            return since
        later = self._git.read("merge-base", "--is-ancestor", since, fork)
        return fork if later.status == 0 else since

    def committed_since(self, commit: str) -> tuple[str, ...]:
        reply = self._git.must_read(
            "compare the work tree",
            *("diff-tree", "-r", "-z", "--no-renames", "--name-only", commit, "HEAD"),
        )
        return tuple(path for path in split(reply.out) if not _is_of_session(path))

    def list_undone(self, commit: str) -> tuple[str, ...]:
        committed = self.committed_since(commit)
        if not committed:
            return ()
        words = ("diff", "--no-ext-diff", "--no-renames", "--name-only", "-z", commit, "--")
        differing = {*split(self._git.must_read("compare the work tree", *words).out)}
        return tuple(path for path in committed if path not in differing)

    def list_dropped_commits(self, commit: str, branch: str) -> tuple[str, ...]:
        return self._only_in(commit, f"{HEADS}{branch}")

    def is_related(self, commit: str) -> bool:
        return self._git.read("merge-base", "HEAD", commit).status == 0

    def end_before_root(self) -> str | None:
        return end_before_root(self._git)

    def left_commits(
        self, *, since: str, known: Collection[str] = (), also: Collection[str] = ()
    ) -> tuple[LeftCommits, ...]:
        return left_commits(self._git, since=since, known=known, also=also)

    def subjects(self, since: str) -> tuple[str, ...]:
        reply = self._git.must_read("list the commits", *LOG, f"{since}..HEAD")
        return tuple(decode_output(reply.out).splitlines())

    def show_changes(self, found: ChangeRange, *, paths: Collection[str], stat: bool) -> int:
        words = ("diff", *(("--stat",) if stat else ()), found.since)
        extra = variables_to_read(found.home) if found.home is not None else {}
        if found.until is not None:
            specs = _pathspecs(paths, found.leave_out)
            return self._git.show(*words, found.until, "--", *specs, extra=extra)
        with scratch_folder("agentmux-diff-") as scratch:
            index = self._with_new_files(scratch)
            specs = _pathspecs(paths, (*found.leave_out, *self.list_internal_changes()))
            extra = {**extra, "GIT_INDEX_FILE": str(index)}
            return self._git.show(*words, "--", *specs, extra=extra)

    def stat(self, found: ChangeRange) -> tuple[str, ...]:
        return self._run_diff(found, f"--stat={_STAT_COLUMNS}", _STAT_FILES)

    def patch(self, found: ChangeRange) -> tuple[str, ...]:
        """Return the lines of ``git diff`` for the changes, without colours; cut after about 2 MB.

        File names have the prefixes ``a/`` and ``b/`` and are relative to the top level, whatever
        the user's configuration says. The lines have no newline. Empty if nothing differs.

        Args:
            found: The two states to compare, and the paths to leave out.

        Raises:
            GitError: Git cannot compare them.
        """
        return self._run_diff(found, *_WHOLE_PATHS)

    def _run_diff(self, found: ChangeRange, *options: str) -> tuple[str, ...]:
        words = ("-c", "core.quotePath=false", "diff", "--no-color", "--no-ext-diff", *options)
        extra = dict(variables_to_read(found.home)) if found.home is not None else {}
        if found.until is not None:
            specs = _pathspecs((), found.leave_out)
            return self._lines(*words, found.since, found.until, "--", *specs, extra=extra)
        with scratch_folder("agentmux-diff-") as scratch:
            index = self._with_new_files(scratch)
            extra["GIT_INDEX_FILE"] = str(index)
            specs = _pathspecs((), (*found.leave_out, *self.list_internal_changes()))
            return self._lines(*words, found.since, "--", *specs, extra=extra)

    def _lines(self, *words: str, extra: Mapping[str, str]) -> tuple[str, ...]:
        reply = self._git.run(
            *words, extra=extra, limit_s=self._git.patience.limit_s, out=start(_PATCH_BYTES)
        )
        if reply.status != 0:
            raise to_git_error("show the changes", reply)
        return tuple(decode_output(reply.out).split("\n")[:-1])

    def _with_new_files(self, scratch: Path) -> Path:
        """Return a copy of the index, in ``scratch``, that lists the untracked files, too."""
        index = scratch / "index"
        copy_index(self._git_dir() / "index", index)
        reply = self._git.must_read(
            "list new files", "ls-files", "-z", "--others", "--exclude-standard"
        )
        # A path that ends in a slash is a nested repository, whose files no commit has.
        new = (each for each in split(reply.out) if not each.endswith("/"))
        paths = [each for each in new if not layout.is_ours(each)]
        # Not `add --intent-to-add`: it leaves out files outside of a sparse checkout, and a commit
        # does not; and git 2.39 damages a sparse index by it. Contents are compared on the disk.
        about = f"{_FILE} {self._empty('blob')}"
        lines = "".join(f"{about}\t{path}\0" for path in paths)
        reply = self._git.run(
            *("update-index", "-z", "--index-info"),
            stdin=encode_text(lines),
            extra={"GIT_INDEX_FILE": str(index)},
            limit_s=self._git.patience.limit_s,
        )
        if reply.status != 0:
            raise to_git_error("list new files", reply)
        return index

    def missing_hooks(self) -> str | None:
        reply = self._git.read("config", "--type=path", "--get", "core.hooksPath")
        path = decode_output(reply.out).removesuffix("\n")
        top = self._git.top_level()
        if reply.status != 0 or not path or top is None or (top / path).is_dir():
            return None
        return path

    def index_lock(self) -> Path | None:
        """Remove our own stale lock file of the user's index; return the path of any other one.

        Ours is one that a killed AgentMux process left. If there is another one, a git command is
        using the index, or was killed. None if there is no lock file any more.
        """
        git_dir = self._git_dir()
        _unlock(git_dir)
        lock = git_dir / _LOCK
        return lock if os.path.lexists(lock) else None

    def require_head(self, expected: Head) -> None:
        """Check that HEAD still equals ``expected``, and that no git operation is unfinished.

        Raises:
            HeadMovedError: HEAD is at another commit or branch.
            GitRefusedError: A rebase, merge, cherry-pick or revert is in progress.
        """
        current_head = self.head()
        if current_head.in_progress:
            raise GitRefusedError(
                f"a {current_head.in_progress} is in progress in this repository",
                hints=finish_it(current_head),
            )
        if (current_head.commit, current_head.branch) != (expected.commit, expected.branch):
            raise HeadMovedError(expected, current_head)

    def changes(self) -> tuple[str, ...]:
        """Return all paths with uncommitted changes, then the repositories nested in this one.

        Both are sorted, and relative to the top level. The first are the paths of `dirty`; the
        others, those of `list_nested`, end in ``/``. It runs a single git command.
        """
        paths = self._changes()
        return (*_files(paths), *_folders(paths))

    def ignored_and_internal(self) -> tuple[str, ...]:
        """Return the paths that `changes` omits: ignored ones, and changes below ``.agentmux``.

        They are relative to the top level. A folder whose files are all ignored or untracked is one
        entry that ends in ``/``.
        """
        reply = self._git.must_read(
            "list what it ignores",
            *("status", "--porcelain=v1", "-z", "--untracked-files=normal", "--no-renames"),
            *("--ignored=traditional", "--ignore-submodules=all"),
        )
        return tuple(
            each[3:] for each in split(reply.out) if each[:2] == "!!" or layout.is_ours(each[3:])
        )

    def list_internal_changes(self) -> tuple[str, ...]:
        words = ("status", "--porcelain=v1", "-z", "--untracked-files=all", "--no-renames")
        reply = self._git.must_read("list changes", *words, "--ignore-submodules=all")
        paths = (entry[3:] for entry in split(reply.out))
        ours = (path for path in paths if layout.is_ours(path))
        return tuple(path for path in ours if not _is_of_session(path))

    def list_unsaved(self) -> UnsavedWork:
        tree = work_tree(self._git.root())
        words = ("status", "--porcelain=v1", "-z", "--untracked-files=no", "--no-renames")
        reply = self._git.must_read("list changes", *words, "--ignore-submodules=all")
        changed = [(each[:2], each[3:]) for each in split(reply.out)]
        ignored = self.ignored_and_internal()
        return UnsavedWork(
            hidden=hidden_changes(self._git),
            modules=() if tree is None else modules_with_work(self._git, tree.git_dir),
            staged=tuple(path for status, path in changed if _SPLIT.issuperset(status)),
            ignored=tuple(path for path in ignored if not layout.is_ours(path)),
        )

    def dirty(self) -> tuple[str, ...]:
        """Return every path with uncommitted changes, sorted: staged, unstaged and untracked ones.

        Paths are relative to the top level. Ignored files, anything in a ``.agentmux`` folder, and
        repositories nested in this one are left out. A rename yields both the old and the new path.
        """
        return _files(self._changes())

    def list_nested(self) -> tuple[str, ...]:
        return _folders(self._changes())

    def list_tracked_files(self, paths: Collection[Path]) -> tuple[str, ...]:
        """Return the tracked files at or below these paths, relative to the top level.

        Links in ``paths`` are resolved, and upper and lower case are not distinguished. Paths
        outside the work tree are skipped. The result is empty if no file is tracked there, or
        outside a repository. If git refuses to list, as it does for files in a submodule, all given
        paths in the work tree count as tracked, and are returned themselves.
        """
        top = self.top_level()
        real = [path.resolve() for path in paths]
        names = [each.relative_to(top) for each in real if top and each.is_relative_to(top)]
        if not names:
            return ()
        words = (f":(top,icase,literal){name}" for name in names)
        reply = self._git.read("ls-files", "-z", "--", *words, cwd=top)
        # Git refuses paths in a submodule, whose files came with the repository, too.
        return tuple(map(str, names)) if reply.status else tuple(split(reply.out))

    def protect_from_clean(self, sessions: Path) -> bool:
        return protect_from_clean(self._git, sessions)

    def changed_since(self, dirty_at_start: Collection[str]) -> tuple[str, ...]:
        """Return the paths of `dirty` that were not dirty when the session started, sorted.

        They are the files that a commit of the session's work contains.

        Args:
            dirty_at_start: The result of `dirty` at the start; those changes are the user's.
        """
        left_out = set(dirty_at_start)
        return tuple(path for path in self.dirty() if path not in left_out)

    def aside_hints(
        self, paths: Collection[str], why: str, *, is_all: bool = False
    ) -> tuple[str, ...]:
        return tuple(aside_hints(self._git, paths, why, is_all=is_all))

    def stash_hints(self, *asides: str, on: str = "") -> tuple[str, ...]:
        with suppress(GitError):
            return tuple(stash_hints(self._git, self._git.root(), *asides, on=on))
        return ()

    def transfer_hints(self, made_on: str, to: Path | None) -> tuple[str, ...]:
        with suppress(GitError):
            return tuple(transfer_hints(self._git, made_on, to))
        return ()

    def find_commit(
        self, trailer: tuple[str, str], *, since: str | None, also: Collection[str] = ()
    ) -> str | None:
        if self.head().commit is None:
            return None
        key, value = trailer
        wanted = {value, *also}
        reply = self._git.must_read(
            "search the history",
            *("log", "--no-show-signature", "--no-color", "--fixed-strings"),
            *(f"--grep={key}: {each}" for each in wanted),
            f"--format=%H %(trailers:key={key},valueonly,separator=%x20)",
            *("--end-of-options", f"{since}..HEAD" if since else "HEAD", "--"),
        )
        for line in decode_output(reply.out).splitlines():
            commit, _, values = line.partition(" ")
            if wanted.intersection(values.split()):
                return commit
        return None

    def has_branch(self, name: str) -> bool:
        reply = self._git.read("show-ref", "--", name)
        refs = {line.partition(" ")[2] for line in decode_output(reply.out).splitlines()}
        # Like git's own search, except for remotes whose name contains a slash.
        return f"refs/heads/{name}" in refs or any(
            ref.startswith("refs/remotes/") and ref.split("/", 3)[3:] == [name] for ref in refs
        )

    def list_unnamed_commits(self, commit: str) -> tuple[str, ...]:
        return self._only_in(commit, "--exclude=refs/agentmux/*", "--all")

    def _only_in(self, commit: str, *others: str) -> tuple[str, ...]:
        """List the commits up to ``commit`` that are not reachable from ``others``.

        Each is a short hash and a subject; the oldest is first. The result is empty if git fails.
        """
        reply = self._git.read(*LOG, commit, "--not", *others, "--")
        return tuple(decode_output(reply.out).splitlines()) if reply.status == 0 else ()

    def require_author(self) -> None:
        require_identity(self._git)

    def require_new_branch(self, name: str) -> None:
        checked = self._git.read("check-ref-format", "--branch", name)
        # Shortcuts such as `@{-1}` pass the check, but git prints another name for them.
        if checked.status != 0 or checked.text != name:
            raise UsageError(f"`{name}` is not a valid branch name")
        reply = self._git.read("show-ref", "--verify", "--quiet", f"refs/heads/{name}")
        if reply.status == 0:
            raise UsageError(
                f"branch `{name}` exists already",
                hints=("choose another name, or have one chosen: --branch",),
            )

    # --- writing -----------------------------------------------------------------------------

    def create_branch(self, name: str) -> None:
        """Create a branch at HEAD and check it out; files and index stay as they are.

        Raises:
            UsageError: The name is not valid, or a branch already has it.
            GitRefusedError: Git refuses to switch.
        """
        self.require_new_branch(name)
        reply = self._git.run("checkout", "-q", "--no-track", "-b", name)
        if reply.status != 0:
            raise to_refused_error(f"git could not create branch `{name}`", reply)

    def take_back_branch(self, name: str, before: Head) -> None:
        with suppress(GitError):
            if self.head() == Head(commit=before.commit, branch=name):
                self._git.run(*_way_back(before))
            if before.commit is not None and self.head().branch != name:
                self._git.run("update-ref", "-d", f"refs/heads/{name}", before.commit)

    def take_branch(self, name: str, head: Head) -> Head:
        self.require_head(head)
        ref, tip = f"{HEADS}{name}", head.commit or ""
        old = decode_output(self._git.read("rev-parse", "-q", "--verify", ref).out).strip()
        if not self.contains(ref):
            raise GitRefusedError(f"branch `{name}` has commits that HEAD does not have")
        message = "agentmux: forward to HEAD"
        for words in (
            ("update-ref", "-m", message, ref, tip, old),
            ("symbolic-ref", "-m", message, "HEAD", ref),
        ):
            reply = self._git.run(*words)
            if reply.status != 0:
                raise to_refused_error(f"git could not move branch `{name}` to HEAD", reply)
        return Head(commit=tip, branch=name)

    def result_tree(self, paths: Collection[str]) -> str:
        git_places = places(self._git)
        with scratch_folder(_TREE) as scratch:
            index, objects = scratch / "index", scratch / "objects"
            objects.mkdir()
            copy_index(git_places.index, index)
            extra = {
                "GIT_INDEX_FILE": str(index),
                **variables_to_write(objects, git_places.objects),
            }
            self._fill(paths, extra, unborn=self.head().commit is None)
            return self._tree_in(extra)

    def commit(
        self,
        message: str,
        paths: Collection[str],
        *,
        trailer: tuple[str, str],
        onto: Head | None = None,
        tree: str = "",
    ) -> str:
        """Commit exactly these paths, as they are on disk; return the commit's id.

        Hooks run, and signing is as configured. A path that is not on disk is committed as deleted.
        What the user had staged stays staged. A failure leaves the index and HEAD unchanged, unless
        it happened in or after git's last hook: then `find_commit` tells whether the commit exists.

        Args:
            message: Must not be blank.
            paths: The paths to commit, relative to the top level, for example the result of
                `changed_since`.
            trailer: Key and value of a line to add at the end of the message, for `find_commit`.
            onto: What HEAD must be; None accepts any HEAD.
            tree: The id of the tree that the commit must have, as `result_tree` returned it for
                the paths; empty accepts any files.

        Raises:
            ResultChangedError: The files do not match ``tree``.
            IndexBusyError: The user's index is locked. Either nothing was committed, or the commit
                exists and `settle_index` must still be called.
            HeadMovedError: HEAD is not at ``onto``.
            GitRefusedError: There is nothing to commit, no author is configured, or git or a hook
                refused.
        """
        lock = self.index_lock()
        if lock is not None:
            raise IndexBusyError(lock)
        if onto is not None:
            self.require_head(onto)
        if not message.strip():
            raise GitRefusedError("the commit message is empty")
        require_identity(self._git)
        text = with_trailer(self._git, message, trailer)
        git_dir = self._git_dir()
        with _scratch(git_dir) as (scratch, in_use):
            index = scratch / "index"
            # Copied to keep git's cached file data (stat); the entries themselves are replaced.
            copy_index(git_dir / "index", index)
            self._stage(paths, index)
            if tree not in {"", self._tree_in({"GIT_INDEX_FILE": str(index)})}:
                raise ResultChangedError
            # In a file, not on stdin: git reads it after the first hook, and this process may have
            # been killed by then.
            wording = scratch / "message"
            wording.write_bytes(text)
            reply = self._git.run(
                *("commit", "--quiet", "--cleanup=whitespace", f"--file={wording}"),
                extra={"GIT_INDEX_FILE": str(index)},
                keep_open=(in_use,),
                out=end(),
            )
        if reply.status != 0:
            raise to_refused_error("git refused the commit", reply)
        commit_id = self.head().commit
        if commit_id is None:  # a hook deleted the branch it ran on
            raise GitError("the commit was made, but HEAD does not point to it")
        self.settle_index(commit_id)
        return commit_id

    def settle_index(self, commit: str) -> None:
        """Set each path that ``commit`` changed to its state in HEAD, in the user's index.

        Other paths stay as they are. `commit` does this as its last step; call it yourself for a
        commit that was made just before a crash and was found afterwards. It is safe to repeat.

        Raises:
            IndexBusyError: Another process has locked the index, or git cannot write it (after two
                attempts).
        """
        problem = ""
        for _ in range(_SETTLE_TRIES):
            try:
                self._settle(commit)
            except IndexBusyError:
                raise
            except (AgentmuxError, OSError) as error:
                problem = str(error)
            else:
                return
        raise IndexBusyError(None, said=problem)

    # --- inside ------------------------------------------------------------------------------

    def _settle(self, commit: str) -> None:
        git_dir = self._git_dir()
        _sweep(git_dir)
        listed = self._git.must_read(
            "list the commit's files",
            *("diff-tree", "--root", "-r", "-z", "--no-renames", "--no-commit-id", "--name-only"),
            commit,
        )
        if not listed.out:
            return
        with _scratch(git_dir) as (scratch, _), _lock_index(git_dir, scratch):
            index, theirs = scratch / "index", git_dir / "index"
            copy_index(theirs, index)
            reply = self._git.run(
                *("reset", "-q", "--pathspec-from-file=-", "--pathspec-file-nul", "HEAD"),
                stdin=listed.out,
                extra={**_LITERAL, "GIT_INDEX_FILE": str(index)},
            )
            if reply.status != 0:
                raise to_git_error("update the index after the commit", reply)
            with suppress(FileNotFoundError):
                index.chmod(stat.S_IMODE(theirs.stat().st_mode))
            index.replace(theirs)

    def _changes(self) -> list[str]:
        reply = self._git.must_read(
            "list changes",
            *("status", "--porcelain=v1", "-z", "--untracked-files=all", "--no-renames"),
            "--ignore-submodules=dirty",
        )
        # One that is not tracked any more, and still there, is listed as deleted and as untracked.
        paths = {entry[3:] for entry in split(reply.out)}
        # A path that ends in a slash is a repository nested in this one.
        return sorted(path for path in paths if not layout.is_ours(path))

    def _in_progress(self) -> InProgress | None:
        return in_progress(self._git_dir())

    def _git_dir(self) -> Path:
        tree = work_tree(self._git.root())
        if tree is not None and tree.top == self._git.root():
            return Path(os.path.realpath(tree.git_dir))
        reply = self._git.must_read("find the git directory", "rev-parse", "--absolute-git-dir")
        return Path(decode_output(reply.out).removesuffix("\n"))

    def _stage(self, paths: Collection[str], index: Path) -> None:
        """Fill the file ``index`` with HEAD's files, replaced by these paths as they are on disk.

        Raises:
            GitRefusedError: Git cannot add a path, or nothing differs from HEAD.
        """
        extra = {"GIT_INDEX_FILE": str(index)}
        unborn = self.head().commit is None
        self._fill(paths, extra, unborn=unborn)
        base = self._empty("tree") if unborn else "HEAD"
        if self._git.run("diff-index", "--cached", "--quiet", base, extra=extra).status == 0:
            raise GitRefusedError("there is nothing to commit")

    def _fill(self, paths: Collection[str], extra: Mapping[str, str], *, unborn: bool) -> None:
        """Fill the index that ``extra`` names with HEAD's files, replaced by the paths as on disk.

        ``unborn`` says that HEAD has no commit yet: the index then begins empty.
        """
        steps: tuple[tuple[tuple[str, ...], bytes], ...] = (
            (("read-tree", "--empty") if unborn else ("read-tree", "--reset", "HEAD"), b""),
            (
                ("update-index", "-z", "--add", "--remove", "--replace", "--stdin"),
                join_paths(paths),
            ),
        )
        for argv, stdin in steps:
            reply = self._git.run(*argv, stdin=stdin, extra=extra)
            if reply.status != 0:
                raise to_refused_error("git could not add the files", reply)

    def _tree_in(self, extra: Mapping[str, str]) -> str:
        """Write the index that ``extra`` names as a git tree and return the tree's id."""
        reply = self._git.run("write-tree", extra=extra)
        if reply.status != 0:
            raise to_refused_error("git could not name the files", reply)
        return reply.text

    def _empty(self, kind: Literal["blob", "tree"]) -> str:
        """Return the id of the empty object, which depends on the repository's hash algorithm."""
        words = ("hash-object", "-t", kind, "--stdin")
        reply = self._git.must_read(f"name the empty {kind}", *words)
        return reply.text


def in_progress(git_dir: Path) -> InProgress | None:
    """Return the name of the git operation that is unfinished in a work tree, such as ``rebase``.

    None if there is none. The user must finish it before AgentMux can commit there. ``git_dir`` is
    the git directory of the work tree.
    """
    for name, operation in _IN_PROGRESS:
        if os.path.lexists(git_dir / name):
            return operation
    return None


def require_identity(git: GitProgram) -> None:
    """Check that git has an author and a committer for a commit.

    Raises:
        GitRefusedError: No name or no e-mail is configured.
    """
    for name in ("GIT_AUTHOR_IDENT", "GIT_COMMITTER_IDENT"):
        reply = git.read("var", name)
        if reply.status != 0:
            raise GitRefusedError(
                "git has no author for the commit: no name or e-mail is configured",
                output=reply.err,
                hints=(
                    'git config --global user.name "Your Name"',
                    "git config --global user.email you@example.com",
                ),
            )


def with_trailer(git: GitProgram, message: str, trailer: tuple[str, str]) -> bytes:
    """Return the message with the trailer line ``key: value`` at its end, encoded for git.

    A line with the same key and value is not added twice. It commits nothing.

    Args:
        git: Runs git in the repository.
        message: The commit message.
        trailer: Key and value.

    Raises:
        GitError: Git cannot add the line.
    """
    key, value = trailer
    reply = git.must_read(
        "add the trailer",
        *("interpret-trailers", "--no-divider", "--if-exists=addIfDifferent"),
        *("--trailer", f"{key}: {value}"),
        stdin=encode_text(message.strip() + "\n"),
    )
    return reply.out


def _pathspecs(paths: Collection[str], leave_out: Collection[str] = ()) -> list[str]:
    """Return the pathspecs that limit a command to ``paths`` (all if empty).

    They exclude ``leave_out`` and the files of sessions.
    """
    only = [f":(top,literal){path}" for path in paths] or [":(top)"]
    without = [f":(top,exclude,literal){path.rstrip('/')}" for path in leave_out]
    return [*only, f":(top,exclude,glob)**/{layout.SESSIONS_DIR}/**", *without]


def _is_of_session(path: str) -> bool:
    """Whether ``path`` is a file of a session, which is part of no result."""
    return f"{layout.SESSIONS_DIR}/" in path


def _way_back(before: Head) -> tuple[str, ...]:
    if before.branch is None:
        return ("checkout", "-q", "--detach", before.commit or "HEAD")
    if before.commit is None:
        return ("symbolic-ref", "HEAD", f"refs/heads/{before.branch}")
    return ("checkout", "-q", before.branch, "--")


@contextmanager
def _scratch(git_dir: Path) -> Iterator[tuple[Path, int]]:
    """Yield a temporary folder in ``git_dir``, and a descriptor that git must inherit.

    While any process has the descriptor open, `_sweep` removes nothing. So a git process that
    outlives this process can still commit from the index in the folder. A process that a hook
    leaves running keeps the descriptor open, too.
    """
    import tempfile

    _sweep(git_dir)
    with _open_folder(git_dir) as in_use:
        with suppress(OSError):  # on a file system without locks, `_sweep` does nothing either
            fcntl.flock(in_use, fcntl.LOCK_SH)
        with tempfile.TemporaryDirectory(prefix=_SCRATCH, dir=git_dir) as scratch:
            yield Path(scratch), in_use


def _sweep(git_dir: Path) -> None:
    """Remove the scratch folders and index locks of killed commits.

    It does nothing while a commit of ours is running.
    """
    with suppress(OSError), _open_folder(git_dir) as alone:
        fcntl.flock(alone, fcntl.LOCK_EX | fcntl.LOCK_NB)
        _unlock(git_dir)
        for left in git_dir.glob(f"{_SCRATCH}*"):
            shutil.rmtree(left, ignore_errors=True)


@contextmanager
def _lock_index(git_dir: Path, scratch: Path) -> Iterator[None]:
    """Lock the user's index during the ``with`` block, by creating the lock file that git uses.

    ``scratch`` is the folder from `_scratch`. A file in it lets `_unlock` recognise our lock file.

    Raises:
        IndexBusyError: Another process has locked the index.
    """
    lock, mark = git_dir / _LOCK, scratch / _MARK
    with mark.open("xb") as held:
        with suppress(OSError):
            fcntl.flock(held, fcntl.LOCK_EX)
        try:
            _link(lock, mark)
        except FileExistsError:
            raise IndexBusyError(lock) from None
        try:
            yield
        finally:
            lock.unlink(missing_ok=True)


def _link(lock: Path, mark: Path) -> None:
    try:
        lock.hardlink_to(mark)
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links
        lock.touch(exist_ok=False)


def _unlock(git_dir: Path) -> None:
    """Remove the lock file of the index if a killed process of ours left it.

    Such a lock file is a hard link to the file ``lock`` in that process's scratch folder, on which
    no process holds a kernel lock any more.
    """
    lock = git_dir / _LOCK
    for mark in git_dir.glob(f"{_SCRATCH}*/{_MARK}"):
        with suppress(OSError), mark.open("rb") as left:
            fcntl.flock(left, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if lock.samefile(mark):
                lock.unlink()


@contextmanager
def _open_folder(folder: Path) -> Iterator[int]:
    descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _files(paths: list[str]) -> tuple[str, ...]:
    return tuple(path for path in paths if not path.endswith("/"))


def _folders(paths: list[str]) -> tuple[str, ...]:
    return tuple(path for path in paths if path.endswith("/"))
