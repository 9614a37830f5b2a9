"""Run git, and decode its output.

Git runs in a process session of its own, without a shell or a terminal. Output bytes that are not
UTF-8 become surrogates.
"""

from __future__ import annotations

import re
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
"""After how many seconds the user is told that a command of git is still at work."""

READ_TIMEOUT_S: Final = GitSettings().timeout_s
WRITE_TIMEOUT_S: Final = 600.0
"""The time limit of a commit, which runs the project's hooks; those may run its tests."""

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
class Patience:
    """How long a command of git may look at a repository.

    Attributes:
        limit_s: It is ended if it takes longer.
        slow: Called in another thread, with a sentence for people, once it has taken
            ``slow_after_s``; None to tell nobody.
    """

    limit_s: float = READ_TIMEOUT_S
    slow_after_s: float = SLOW_S
    slow: Callable[[str], object] | None = None

    @contextmanager
    def telling(self, what: str) -> Iterator[None]:
        """Tell that ``what`` is still at work if the ``with`` block takes long."""
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
    """The result of a git command: exit status, stdout as bytes, stderr as text."""

    status: int
    out: bytes
    err: str

    @property
    def text(self) -> str:
        """Stdout as text, without the white space around it; see `decode_output`."""
        return decode_output(self.out).strip()


LOG: Final = ("log", "--reverse", "--no-show-signature", "--no-color", "--format=%h %s")
"""Lists commits, the oldest first, each as its short hash and its subject."""

MERGE_TREE: Final = (2, 38)
"""The first git with ``merge-tree --write-tree``; see its release notes."""


class GitProgram:
    """Runs git commands in the repository of one project."""

    def __init__(
        self, project: Path, environment: Mapping[str, str], patience: Patience = PATIENT
    ) -> None:
        """Prepare to run git; this starts nothing.

        Args:
            project: An existing directory.
            environment: The environment of git, its hooks and its signing programs.
            patience: How long a command may take that changes nothing.
        """
        self._project = project
        self.patience: Final = patience
        self._environment = {
            name: value for name, value in environment.items() if name not in _LOCAL_ENV
        } | {"GIT_TERMINAL_PROMPT": "0", "GIT_EDITOR": ":"}
        self._top_level: Path | None = None

    def at(self, folder: Path) -> Self:
        """Return the same git for the repository, or the work tree, around another directory."""
        return type(self)(folder, self._environment, self.patience)

    def also(self, extra: Mapping[str, str]) -> Self:
        """Return the same git with more variables, which may name other places of its objects."""
        program = self.at(self._project)
        # `__init__` leaves such names out.
        program._environment = {**self._environment, **extra}  # noqa: SLF001 (of the same class)
        return program

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
            return Path(decode_output(reply.out).removesuffix("\n"))
        if "not a git repository" in reply.err or "must be run in a work tree" in reply.err:
            return None
        raise to_git_error("look for a repository", reply)

    def is_bare(self) -> bool:
        """Whether the project is in a bare repository, which has no work tree of its own."""
        reply = self.read("rev-parse", "--is-bare-repository", cwd=self._project)
        return reply.status == 0 and reply.out.strip() == b"true"

    def exists(self) -> bool:
        """Whether the project is in a repository, with a work tree or bare."""
        return self.top_level() is not None or self.is_bare()

    def must_read(self, purpose: str, *argv: str, stdin: bytes = b"") -> GitReply:
        """Run a command that changes nothing, at the top level; return its result.

        ``purpose`` is for the error message, after "git could not" (such as "list changes").

        Raises:
            GitError: The exit status is not 0.
        """
        reply = self.read(*argv, stdin=stdin)
        if reply.status != 0:
            raise to_git_error(purpose, reply)
        return reply

    def commit(self, name: str, *, cwd: Path | None = None) -> str | None:
        """Return the id of the commit of this name, such as a ref; None if there is none."""
        reply = self.read("rev-parse", "-q", "--verify", f"{name}^{{commit}}", cwd=cwd)
        return decode_output(reply.out).strip() if reply.status == 0 else None

    def read(
        self,
        *argv: str,
        stdin: bytes = b"",
        cwd: Path | None = None,
        extra: Mapping[str, str] | None = None,
    ) -> GitReply:
        """Run a command that changes nothing, at the top level or in ``cwd``.

        Any exit status is returned. ``extra`` are variables to add to git's environment.

        Raises:
            MissingError: Git is not installed, or does not answer in time (see `Patience`).
            GitError: The project is not in a repository, or the directory does not exist.
        """
        # Messages in English, because we match two; no locks, because the user may be using
        # git at the same time.
        ours = {"LC_ALL": "C", "GIT_OPTIONAL_LOCKS": "0"}
        return self._run(
            Child(
                argv=_git(argv),
                cwd=cwd or self.root(),
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
        """Run a command that may change the repository, at the top level.

        Any exit status is returned, and the end of what it says on standard error.

        Args:
            argv: The words after ``git``.
            stdin: Its whole input.
            extra: Variables to add to git's environment.
            keep_open: Descriptors that git and its child processes inherit.
            limit_s: Git is ended, with the processes that it started, if it takes longer.
            out: What to keep of its output; all by default.

        Raises:
            MissingError: Git is not installed, does not end within ``limit_s``, or writes too much.
            GitError: The project is not in a repository, or the directory does not exist.
        """
        return self._run(
            Child(
                argv=_git(argv),
                cwd=self.root(),
                env=self._environment | dict(extra or {}),
                stdin=stdin,
                limit_s=limit_s,
                out=out,
                keep_open=keep_open,
            )
        )

    def clone(self, url: str, *, limit_s: float) -> GitReply:
        """Clone a repository into the project, an empty directory in no repository.

        Raises:
            MissingError: As of `run`.
        """
        self._top_level = self._project
        words = ("clone", "-q", "--", url, str(self._project))
        return self.run(*words, limit_s=limit_s, out=end())

    def show(self, *argv: str, extra: Mapping[str, str] | None = None) -> int:
        """Run a command on the terminal of this process, as the user would; return its status."""
        environment = {**self._environment, **(extra or {})}
        try:
            return subprocess.run(  # noqa: TID251 (on the user's terminal, with a pager)
                _git(argv), cwd=self.root(), env=environment, check=False
            ).returncode
        except KeyboardInterrupt:  # the pager has had it, too
            return 0

    def version(self) -> tuple[int, ...]:
        """Return the first two numbers of git's version; empty where it is unknown."""
        match = re.search(r"(\d+)\.(\d+)", decode_output(self.read("version").out))
        return (int(match[1]), int(match[2])) if match else ()

    def root(self) -> Path:
        """Return the root of the working tree, else of the bare repository; looked up once.

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
            with self.patience.telling(f"{command} in {self._project}"):
                result = git.run()
        except subprocess.TimeoutExpired:
            raise MissingError(
                f"{command} did not answer within {git.limit_s:.0f} s in {self._project}",
                hints=hints,
            ) from None
        except FileNotFoundError as error:
            if git.cwd is not None and not git.cwd.is_dir():
                raise GitError(f"{git.cwd} does not exist") from error
            raise NotInstalledError(
                "git is not installed", hints=("install git, then run this again",)
            ) from error
        return GitReply(status=result.status, out=result.out, err=decode_output(result.err))


def _git(argv: Sequence[str]) -> tuple[str, ...]:
    """Return the words of a command; a comparison sees each submodule as a commit would have it.

    Without this, git leaves out those that ``.gitmodules`` tells it to ignore.
    """
    words, name = ("git", *argv), _command(("git", *argv))
    at = words.index(name) + 1 if name in {"diff", "diff-tree", "diff-index"} else 0
    return (*words[:at], "--ignore-submodules=dirty", *words[at:]) if at else words


def _command(argv: Sequence[object]) -> str:
    """Return git's command in ``argv``, which may begin with settings (``-c NAME=VALUE``)."""
    words = iter(argv[1:])
    for word in words:
        if word != "-c":
            return str(word)
        next(words, "")
    return ""


def to_git_error(purpose: str, reply: GitReply) -> GitError:
    """Return the error for a command that failed; ``purpose`` says what git could not do."""
    words = tail(encode_text(reply.err)) or f"exit {reply.status}"
    return GitError(f"git could not {purpose}: {words}")


def to_refused_error(what: str, reply: GitReply) -> GitRefusedError:
    """Return the error for a command that git or a hook refused; ``what`` begins its message."""
    parts = (tail(reply.out), tail(encode_text(reply.err)))
    output = "\n".join(part for part in parts if part)
    return GitRefusedError(f"{what}: {output or f'exit {reply.status}'}", output=output)


def decode_output(data: bytes) -> str:
    """Decode git's output; bytes that are not UTF-8 become surrogates."""
    return data.decode("utf-8", "surrogateescape")


def encode_text(text: str) -> bytes:
    """Encode text from `decode_output` to the same bytes again."""
    return text.encode("utf-8", "surrogateescape")


def split(data: bytes) -> Iterator[str]:
    """Return the decoded entries of an output in which a NUL byte ends each (option ``-z``)."""
    return (decode_output(part) for part in data.split(b"\0") if part)


def join_paths(paths: Iterable[str]) -> bytes:
    """Encode paths for git's input with option ``-z``, in which a NUL byte ends each path."""
    return b"".join(encode_text(path) + b"\0" for path in paths)
