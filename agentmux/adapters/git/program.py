"""Run git, and decode its output.

Git runs in a process session of its own, without a shell or a terminal. Output bytes that are not
UTF-8 become surrogates.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Thread
from typing import IO, Final, Self

from agentmux.adapters.system.processes import wait_child
from agentmux.core.codec.frozen import dataclass
from agentmux.errors import MissingError, NotInstalledError
from agentmux.ports.repository import GitError, GitRefusedError

READ_TIMEOUT_S: Final = 30.0
WRITE_TIMEOUT_S: Final = 600.0
"""The time limit of a commit, which runs the project's hooks; those may run its tests."""

_GRACE_S: Final = 2.0
"""How long git may take to remove its lock files when it is ended."""

# Output that git wrote before it ended may still be in the pipe.
_LAST_WORDS_S: Final = 0.5
_PIECE: Final = 65536

# `git rev-parse --local-env-vars`, except the two with `-c` settings. Git sets them for hooks and
# aliases; with them our git would use another repository or index.
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
class GitReply:
    """The result of a git command: exit status, stdout as bytes, stderr as text."""

    status: int
    out: bytes
    err: str


MERGE_TREE: Final = (2, 38)
"""The first git with ``merge-tree --write-tree``; see its release notes."""


class GitProgram:
    """Runs git commands in the repository of one project."""

    def __init__(self, project: Path, environment: Mapping[str, str]) -> None:
        """Prepare to run git; this starts nothing.

        Args:
            project: An existing directory.
            environment: The environment of git, its hooks and its signing programs.
        """
        self._project = project
        self._environment = {
            name: value for name, value in environment.items() if name not in _LOCAL_ENV
        } | {"GIT_TERMINAL_PROMPT": "0", "GIT_EDITOR": ":"}
        self._top_level: Path | None = None

    def at(self, folder: Path) -> Self:
        """Return the same git for the repository, or the work tree, around another directory."""
        return type(self)(folder, self._environment)

    def also(self, extra: Mapping[str, str]) -> Self:
        """Return the same git with more variables, which may name other places of its objects."""
        made = self.at(self._project)
        made._environment = {**made._environment, **extra}  # noqa: SLF001 (of the same class)
        return made

    @property
    def environment(self) -> Mapping[str, str]:
        """The environment of git."""
        return self._environment

    def top_level(self) -> Path | None:
        """Return the root of the working tree; None outside one or in a bare repository.

        Raises:
            MissingError: Git is not installed, or does not answer in time.
            GitError: Git refuses, for example in a directory that another user owns.
        """
        reply = self.read("rev-parse", "--show-toplevel", cwd=self._project)
        if reply.status == 0:
            return Path(decoded(reply.out).removesuffix("\n"))
        if "not a git repository" in reply.err or "must be run in a work tree" in reply.err:
            return None
        raise failed("look for a repository", reply)

    def must_read(self, purpose: str, *argv: str, stdin: bytes = b"") -> GitReply:
        """Run a command that changes nothing, at the top level; return its result.

        ``purpose`` is for the error message, after "git could not" (such as "list changes").

        Raises:
            GitError: The exit status is not 0.
        """
        reply = self.read(*argv, stdin=stdin)
        if reply.status != 0:
            raise failed(purpose, reply)
        return reply

    def read(self, *argv: str, stdin: bytes = b"", cwd: Path | None = None) -> GitReply:
        """Run a command that changes nothing, at the top level or in ``cwd``.

        Any exit status is returned.

        Raises:
            MissingError: Git is not installed, or does not answer within `READ_TIMEOUT_S`.
            GitError: The project is not in a repository, or the directory does not exist.
        """
        # Messages in English, because we match two; no locks, because the user may be using
        # git at the same time.
        extra = {"LC_ALL": "C", "GIT_OPTIONAL_LOCKS": "0"}
        process = self._start(argv, cwd=cwd or self.root(), extra=extra)
        with process, _ended_in(process, READ_TIMEOUT_S, self._project):
            out, err = process.communicate(stdin, timeout=READ_TIMEOUT_S)
        return GitReply(status=process.returncode, out=out, err=decoded(err))

    def run(
        self,
        *argv: str,
        stdin: bytes = b"",
        extra: Mapping[str, str] | None = None,
        keep_open: tuple[int, ...] = (),
        limit_s: float = WRITE_TIMEOUT_S,
        most: int | None = None,
        began: Callable[[int], object] = lambda _: None,
    ) -> GitReply:
        """Run a command that may change the repository, at the top level.

        Any exit status is returned.

        Args:
            argv: The words after ``git``.
            stdin: Its whole input.
            extra: Variables to add to git's environment.
            keep_open: Descriptors that git and its child processes inherit.
            limit_s: Git is killed, with the processes that it started, if it takes longer.
            most: About how many bytes of the output to keep; all if None.
            began: Called with git's pid, which is also the id of its process group.

        Raises:
            MissingError: Git is not installed, or does not end within ``limit_s``.
            GitError: The project is not in a repository, or the directory does not exist.
        """
        process = self._start(argv, cwd=self.root(), extra=extra or {}, keep_open=keep_open)
        began(process.pid)
        out: list[bytes] = []
        err: list[bytes] = []
        # A process that a hook leaves running keeps the pipes open, and may still write into them.
        talk = [
            Thread(target=_feed, args=(process.stdin, stdin), daemon=True),
            Thread(target=_drain, args=(process.stdout, out, most), daemon=True),
            Thread(target=_drain, args=(process.stderr, err), daemon=True),
        ]
        for each in talk:
            each.start()
        with _ended_in(process, limit_s, self._project):
            wait_child(process, limit_s)
        for each in talk:
            each.join(_LAST_WORDS_S)
        return GitReply(status=process.returncode, out=b"".join(out), err=decoded(b"".join(err)))

    def clone(self, url: str, *, limit_s: float) -> GitReply:
        """Clone a repository into the project, an empty directory in no repository.

        Raises:
            MissingError: As of `run`.
        """
        self._top_level = self._project
        return self.run("clone", "-q", "--", url, str(self._project), limit_s=limit_s)

    def show(self, *argv: str, extra: Mapping[str, str] | None = None) -> int:
        """Run a command on the terminal of this process, as the user would; return its status."""
        environment = {**self._environment, **(extra or {})}
        try:
            return subprocess.run(
                ("git", *argv), cwd=self.root(), env=environment, check=False
            ).returncode
        except KeyboardInterrupt:  # the pager has had it, too
            return 0

    def version(self) -> tuple[int, ...]:
        """Return the first two numbers of git's version; empty where it is unknown."""
        found = re.search(r"(\d+)\.(\d+)", decoded(self.read("version").out))
        return (int(found[1]), int(found[2])) if found else ()

    def root(self) -> Path:
        """Return the root of the working tree; it is looked up once.

        Raises:
            GitError: The project is not in a git repository.
        """
        if self._top_level is None:
            self._top_level = self.top_level()
        if self._top_level is None:
            raise GitError(f"{self._project} is not in a git repository")
        return self._top_level

    def _start(
        self,
        argv: tuple[str, ...],
        *,
        cwd: Path,
        extra: Mapping[str, str],
        keep_open: tuple[int, ...] = (),
    ) -> subprocess.Popen[bytes]:
        try:
            return subprocess.Popen(
                ("git", *argv),
                cwd=cwd,
                env=self._environment | dict(extra),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
                pass_fds=keep_open,
            )
        except FileNotFoundError as error:
            if not cwd.is_dir():
                raise GitError(f"{cwd} does not exist") from error
            raise NotInstalledError(
                "git is not installed", hints=("install git, then run this again",)
            ) from error


@contextmanager
def _ended_in(process: subprocess.Popen[bytes], limit_s: float, project: Path) -> Iterator[None]:
    """Kill git and its children if git is still running when the ``with`` block ends.

    Raises:
        MissingError: The block raised `subprocess.TimeoutExpired`. The message gives ``limit_s``
            as the time limit in seconds.
    """
    try:
        yield
    except subprocess.TimeoutExpired as error:
        raise MissingError(
            f"git {_command(error.cmd)} did not answer within {limit_s:.0f} s in {project}"
        ) from None
    finally:
        if process.returncode is None:
            _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    """End git, and whatever its hooks have started: the whole group."""
    # Asked first, because git then removes its lock files, which would be in everybody's way.
    os.killpg(process.pid, signal.SIGTERM)
    with suppress(subprocess.TimeoutExpired):
        process.wait(_GRACE_S)
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _command(argv: Sequence[str]) -> str:
    """Return git's command in ``argv``, which may begin with settings (``-c NAME=VALUE``)."""
    words = iter(argv[1:])
    for word in words:
        if word != "-c":
            return word
        next(words, "")
    return ""


def _feed(stream: IO[bytes], data: bytes) -> None:
    with suppress(BrokenPipeError), stream:
        stream.write(data)


def _drain(stream: IO[bytes], into: list[bytes], most: int | None = None) -> None:
    with stream:
        while piece := os.read(stream.fileno(), _PIECE):
            if most is None or len(into) * _PIECE < most:
                into.append(piece)


def failed(purpose: str, reply: GitReply) -> GitError:
    """Return the error for a command that failed; ``purpose`` says what git could not do."""
    words = reply.err.strip() or f"exit {reply.status}"
    return GitError(f"git could not {purpose}: {words}")


def refused(what: str, reply: GitReply) -> GitRefusedError:
    """Return the error for a command that git or a hook refused; ``what`` begins its message."""
    output = "\n".join(part for part in (decoded(reply.out).strip(), reply.err.strip()) if part)
    return GitRefusedError(f"{what}: {output or f'exit {reply.status}'}", output=output)


def decoded(data: bytes) -> str:
    """Decode git's output; bytes that are not UTF-8 become surrogates."""
    return data.decode("utf-8", "surrogateescape")


def encoded(text: str) -> bytes:
    """Encode text from `decoded` to the same bytes again."""
    return text.encode("utf-8", "surrogateescape")


def split(data: bytes) -> Iterator[str]:
    """Return the decoded entries of an output in which a NUL byte ends each (option ``-z``)."""
    return (decoded(part) for part in data.split(b"\0") if part)


def joined(paths: Iterable[str]) -> bytes:
    """Encode paths for git's input with option ``-z``, in which a NUL byte ends each path."""
    return b"".join(encoded(path) + b"\0" for path in paths)
