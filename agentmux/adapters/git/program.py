"""Runs git, and decodes its output.

Git runs in a process session of its own, without a shell or a terminal. Output bytes that are not
UTF-8 become surrogates.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Timer
from typing import Final, Self

from agentmux.adapters.system.processes.child import Child, Keep, end, whole
from agentmux.core.checks.tail import tail
from agentmux.core.codec.frozen import dataclass
from agentmux.core.config.settings import GitSettings
from agentmux.errors import MissingError, NotInstalledError
from agentmux.ports.git.repository import GitError, GitRefusedError

SLOW_S: Final = 2.0
"""Seconds after which the user is told that a git command is still running."""

READ_TIMEOUT_S: Final = GitSettings().timeout_s
WRITE_TIMEOUT_S: Final = 600.0
"""The time limit of a command that writes. A commit runs the project's hooks, which may run tests.
"""

# The output of `git rev-parse --local-env-vars`, without the two that hold `-c` settings. Git sets
# these variables for hooks and aliases; if our git inherited them, it would use another repository
# or index.
_LOCAL_ENV: Final = frozenset(
    {
        "GIT_ALTERNATE_OBJECT_DIRECTORIES",
        "GIT_COMMON_DIR",
        "GIT_CONFIG",
        "GIT_DIR",
        "GIT_GRAFT_FILE",
        "GIT_IMPLICIT_WORK_TREE",
        "GIT_INDEX_FILE",
        "GIT_INTERNAL_SUPER_PREFIX",
        "GIT_NO_REPLACE_OBJECTS",
        "GIT_OBJECT_DIRECTORY",
        "GIT_PREFIX",
        "GIT_REPLACE_REF_BASE",
        "GIT_SHALLOW_FILE",
        "GIT_WORK_TREE",
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How long a git command that only reads may take, and who is told that it is slow.

    Attributes:
        limit_s: Seconds after which the command is ended.
        slow_after_s: Seconds after which ``slow`` is called.
        slow: Called in another thread with a sentence for the user; None to tell nobody.
    """

    limit_s: float = READ_TIMEOUT_S
    slow_after_s: float = SLOW_S
    slow: Callable[[str], object] | None = None

    @contextmanager
    def report_if_slow(self, what: str) -> Iterator[None]:
        """Call ``slow`` once if the ``with`` block takes longer than ``slow_after_s``.

        ``what`` names the command; the sentence for the user begins with it.
        """
        if self.slow is None:
            yield
            return
        timer = Timer(self.slow_after_s, self.slow, (f"{what} is still at work (Ctrl-C ends it)",))
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()


_TOO_SLOW: Final = (
    "make git faster: git config core.untrackedCache true",
    "and, where git has it: git config core.fsmonitor true",
    "or allow it more time: `git.timeout` in the configuration",
)

PATIENT: Final = Patience()


@dataclass(frozen=True, slots=True, kw_only=True)
class GitReply:
    """The result of a git command that ended: exit status, stdout as bytes, stderr as text.

    A status other than 0 is the caller's to handle, or to turn into an error by `to_git_error`.
    """

    status: int
    out: bytes
    err: str

    @property
    def text(self) -> str:
        """Stdout as text, without the white space around it; odd bytes become surrogates."""
        return decode_output(self.out).strip()


LOG: Final = ("log", "--reverse", "--no-show-signature", "--no-color", "--format=%h %s")
"""The command that lists commits, oldest first, each as its short hash and its subject."""

MERGE_TREE: Final = (2, 38)
"""The first git version with ``merge-tree --write-tree``; see its release notes."""


class GitProgram:
    """Runs git commands in the repository of one project.

    `read` and `must_read` run commands that change nothing, `run` any other; each returns a
    `GitReply`.
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
        self.patience: Final = patience
        self._environment = {
            name: value for name, value in environment.items() if name not in _LOCAL_ENV
        } | {"GIT_TERMINAL_PROMPT": "0", "GIT_EDITOR": ":"}
        self._top_level: Path | None = None

    def at(self, folder: Path) -> Self:
        """Return a `GitProgram` with the same settings for the repository around ``folder``."""
        return type(self)(folder, self._environment, self.patience)

    def with_variables(self, extra: Mapping[str, str]) -> Self:
        """Return a copy whose git has these environment variables, too.

        Unlike ``environment`` of the constructor, they may name git's own places, such as
        ``GIT_OBJECT_DIRECTORY``.
        """
        program = self.at(self._project)
        # `__init__` leaves such names out.
        program._environment = {**self._environment, **extra}  # noqa: SLF001 (of the same class)
        return program

    @property
    def environment(self) -> Mapping[str, str]:
        """The environment in which git runs."""
        return self._environment

    def top_level(self) -> Path | None:
        """Return the root of the working tree; None outside one or in a bare repository.

        Raises:
            MissingError: Git is not installed, or does not answer in time.
            GitError: Git refuses, for example in a directory that another user owns.
        """
        reply = self.read("rev-parse", "--show-toplevel", cwd=self._project)
        if reply.status == 0:
            return Path(decode_output(reply.out).removesuffix("\n"))
        if "not a git repository" in reply.err or "must be run in a work tree" in reply.err:
            return None
        raise to_git_error("look for a repository", reply)

    def is_bare(self) -> bool:
        """Return whether the project is in a bare repository, which has no work tree of its own.

        False outside a repository.
        """
        reply = self.read("rev-parse", "--is-bare-repository", cwd=self._project)
        return reply.status == 0 and reply.out.strip() == b"true"

    def exists(self) -> bool:
        """Return whether the project is in a repository, bare or not."""
        return self.top_level() is not None or self.is_bare()

    def must_read(self, purpose: str, *argv: str, stdin: bytes = b"") -> GitReply:
        """Run a command that changes nothing, at the top level; return its result.

        ``argv`` are the words after ``git``, and ``stdin`` is the command's whole input.
        ``purpose`` completes the error message "git could not …" (for example "list changes").

        Raises:
            GitError: The exit status is not 0.
            MissingError: Git is not installed, or does not answer in time.
        """
        reply = self.read(*argv, stdin=stdin)
        if reply.status != 0:
            raise to_git_error(purpose, reply)
        return reply

    def common_dir(self) -> Path:
        """Return the repository's git directory, which all its worktrees share.

        Raises:
            GitError: Git cannot tell.
        """
        reply = self.must_read("find the repository", "rev-parse", "--git-common-dir")
        return self.root() / decode_output(reply.out).removesuffix("\n")

    def commit(self, name: str, *, cwd: Path | None = None) -> str | None:
        """Return the id of the commit that ``name`` (a ref, hash or expression) means.

        None if there is no such commit. It creates no commit: see `Git.commit`.

        Args:
            name: As for ``git rev-parse``, for example ``HEAD`` or ``refs/heads/main``.
            cwd: The directory in which to look; None for the top level.
        """
        reply = self.read("rev-parse", "-q", "--verify", f"{name}^{{commit}}", cwd=cwd)
        return decode_output(reply.out).strip() if reply.status == 0 else None

    def read(
        self,
        *argv: str,
        stdin: bytes = b"",
        cwd: Path | None = None,
        extra: Mapping[str, str] | None = None,
    ) -> GitReply:
        """Run a command that changes nothing, at the top level or in ``cwd``; return its result.

        It does not raise for an exit status other than 0. ``argv`` are the words after ``git``;
        ``extra`` are variables to add to git's environment. ``stdin`` is the command's whole input.

        Raises:
            MissingError: Git is not installed, or does not answer in time (see `Patience`).
            GitError: The project is not in a repository, or the directory does not exist.
        """
        # LC_ALL: two messages are matched in English. GIT_OPTIONAL_LOCKS: the user may be using
        # git at the same time.
        ours = {"LC_ALL": "C", "GIT_OPTIONAL_LOCKS": "0"}
        place = cwd or self.root()
        return self._run(
            Child(
                argv=_git(argv, place),
                cwd=place,
                env=self._environment | dict(extra or {}) | ours,
                stdin=stdin,
                limit_s=self.patience.limit_s,
            ),
            hints=_TOO_SLOW,
        )

    def run(
        self,
        *argv: str,
        stdin: bytes = b"",
        extra: Mapping[str, str] | None = None,
        keep_open: tuple[int, ...] = (),
        limit_s: float = WRITE_TIMEOUT_S,
        out: Keep = whole(),
    ) -> GitReply:
        """Run a command that may change the repository, at the top level; return its result.

        It does not raise for an exit status other than 0. The result has only the end of stderr.

        Args:
            argv: The words after ``git``.
            stdin: The bytes to write to git's standard input.
            extra: Variables to add to git's environment.
            keep_open: Descriptors that git and its child processes inherit.
            limit_s: Seconds after which git is ended, with the processes that it started.
            out: How much of its standard output to keep; all by default.

        Raises:
            MissingError: Git is not installed, does not end within ``limit_s``, or writes too much.
            GitError: The project is not in a repository, or the directory does not exist.
        """
        return self._run(
            Child(
                argv=_git(argv, self.root()),
                cwd=self.root(),
                env=self._environment | dict(extra or {}),
                stdin=stdin,
                limit_s=limit_s,
                out=out,
                keep_open=keep_open,
            )
        )

    def clone(self, url: str, *, limit_s: float) -> GitReply:
        """Clone the repository at ``url`` into the project; return the result of ``git clone``.

        The project must be an empty directory outside any repository. It does not raise if git
        fails to clone: see the result's ``status``.

        Raises:
            MissingError: Git is not installed, does not end within ``limit_s`` seconds, or writes
                too much.
        """
        self._top_level = self._project
        words = ("clone", "-q", "--", url, str(self._project))
        return self.run(*words, limit_s=limit_s, out=end())

    def show(self, *argv: str, extra: Mapping[str, str] | None = None) -> int:
        """Run a git command on this terminal, with the user's pager; return its exit status.

        ``argv`` are the words after ``git``. It has no time limit. The status is 0 also if the user
        ended it with Ctrl-C, or left the pager before its end. ``extra`` are variables to add to
        git's environment.
        """
        environment = {**self._environment, **(extra or {})}
        try:
            git = subprocess.run(  # noqa: TID251 (on the user's terminal, with a pager)
                _git(argv, self.root()), cwd=self.root(), env=environment, check=False
            )
        except KeyboardInterrupt:  # Ctrl-C reaches the pager, too
            return 0
        return 0 if git.returncode == -signal.SIGPIPE else git.returncode

    def version(self) -> tuple[int, ...]:
        """Return the first two numbers of git's version, as ``(2, 39)``; empty if it is unknown.

        Raises:
            GitError: The project is not in a repository.
            MissingError: Git is not installed, or does not answer in time.
        """
        match = re.search(r"(\d+)\.(\d+)", decode_output(self.read("version").out))
        return (int(match[1]), int(match[2])) if match else ()

    def root(self) -> Path:
        """Return the top level of the work tree, or the bare repository's directory.

        It is looked up once, then cached.

        Raises:
            GitError: The project is not in a git repository.
        """
        if self._top_level is None:
            self._top_level = self.top_level() or (self._project if self.is_bare() else None)
        if self._top_level is None:
            raise GitError(f"{self._project} is not in a git repository")
        return self._top_level

    def _run(self, git: Child, hints: tuple[str, ...] = ()) -> GitReply:
        command = f"git {_command(git.argv)}"
        try:
            with self.patience.report_if_slow(f"{command} in {self._project}"):
                result = git.run()
        except subprocess.TimeoutExpired:
            raise MissingError(
                f"{command} did not answer within {git.limit_s:.0f} s in {self._project}",
                hints=hints,
            ) from None
        except (FileNotFoundError, NotADirectoryError) as error:
            if git.cwd is not None and not git.cwd.is_dir():
                raise GitError(f"{git.cwd} does not exist") from error
            raise NotInstalledError(
                "git is not installed", hints=("install git, then run this again",)
            ) from error
        return GitReply(status=result.status, out=result.out, err=decode_output(result.err))


def _git(argv: Sequence[str], cwd: Path) -> tuple[str, ...]:
    """Return the words of the command that runs in ``cwd``, with ``git`` first.

    Comparisons get an option that makes git report each submodule as a commit would record it;
    without it, git skips those that ``.gitmodules`` tells it to ignore. What is checked out in
    submodules stays: there, git overwrites ignored files even with ``--no-overwrite-ignore``. On a
    disk that tells upper from lower case, git has to, too, though the repository's configuration
    may say otherwise, because it came from another system: else it does not see some files.
    """
    case = ("-c", "core.ignorecase=false") if _is_case_sensitive(cwd) else ()
    words, name = ("git", "-c", "submodule.recurse=false", *case, *argv), _command(("git", *argv))
    at = words.index(name) + 1 if name in {"diff", "diff-tree", "diff-index"} else 0
    return (*words[:at], "--ignore-submodules=dirty", *words[at:]) if at else words


def _is_case_sensitive(folder: Path) -> bool:
    """Whether the disk tells upper from lower case; False if ``folder`` has no file of git's."""
    names = [name for name in (".git", "HEAD") if os.path.lexists(folder / name)]
    return bool(names) and not os.path.lexists(folder / names[0].swapcase())


def _command(argv: Sequence[object]) -> str:
    """Return git's subcommand in ``argv``, skipping leading settings (``-c NAME=VALUE``)."""
    words = iter(argv[1:])
    for word in words:
        if word != "-c":
            return str(word)
        next(words, "")
    return ""


def to_git_error(purpose: str, reply: GitReply) -> GitError:
    """Return the error for the failed command that ``reply`` comes from; do not raise it.

    ``purpose`` completes the message "git could not …", which ends with git's own words.
    """
    words = tail(encode_text(reply.err)) or f"exit {reply.status}"
    return GitError(f"git could not {purpose}: {words}")


def to_refused_error(what: str, reply: GitReply, *, hints: tuple[str, ...] = ()) -> GitRefusedError:
    """Return the error for a command that git or a hook refused; do not raise it.

    ``what`` begins its message; the last lines of the output of ``reply`` follow.
    """
    parts = (tail(reply.out), tail(encode_text(reply.err)))
    output = "\n".join(part for part in parts if part)
    end = f"killed by signal {-reply.status}" if reply.status < 0 else f"exit {reply.status}"
    return GitRefusedError(f"{what}: {output or end}", output=output, hints=hints)


def decode_output(data: bytes) -> str:
    """Decode git's output; bytes that are not UTF-8 become surrogates."""
    return data.decode("utf-8", "surrogateescape")


def encode_text(text: str) -> bytes:
    """Encode text from `decode_output` back to the original bytes."""
    return text.encode("utf-8", "surrogateescape")


def split(data: bytes) -> Iterator[str]:
    """Yield the decoded, non-empty entries of NUL-terminated output (git's option ``-z``)."""
    return (decode_output(part) for part in data.split(b"\0") if part)


def join_paths(paths: Iterable[str]) -> bytes:
    """Encode paths as NUL-terminated input for git (option ``-z``)."""
    return b"".join(encode_text(path) + b"\0" for path in paths)
