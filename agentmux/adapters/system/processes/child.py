"""Runs a program to its end: without a terminal, in its own process group, with bounded output.

Every program that AgentMux runs for its output or its effect is run here. So none of them can fill
the memory, exceed its time limit, or continue after the work that it belongs to was ended.
"""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from threading import Thread
from typing import IO, Final, Literal, Self

from agentmux.adapters.system.processes.lost_work import WORK, work_mark
from agentmux.adapters.system.processes.processes import open_descriptor
from agentmux.core.agents.environment import umask_of
from agentmux.core.codec.frozen import dataclass
from agentmux.errors import MissingError
from agentmux.threads import (
    GRACE_S,
    WorkEndedError,
    ended_by,
    require_going_on,
    work_label_here,
)

ANSWER_MAX: Final = 256 << 20
"""The size limit of an output that is needed as a whole, such as git's list of changed files, in
bytes."""
LAST_WORDS: Final = 64_000
"""The number of bytes kept from the end of an output that is only shown, such as error messages."""

# A process that the program left running keeps the pipes open, and may still write into them.
_AFTER_END_S: Final = 0.5
_POLL_S: Final = 0.02
_PIECE: Final = 65536


class TooMuchOutputError(MissingError):
    """A program wrote more than the limit of its output, and was ended."""


@dataclass(frozen=True, slots=True)
class Keep:
    """Which part of an output to keep; `whole`, `start` and `end` make one.

    Attributes:
        part: ``all``, ``start`` (its first ``most`` bytes) or ``end`` (its last ``most`` bytes).
        most: The number of bytes. For ``all``, a program that writes more is ended with an error.
    """

    part: Literal["all", "start", "end"]
    most: int


def whole(most: int = ANSWER_MAX) -> Keep:
    """Return a `Keep` for all of the output.

    A program that writes more than ``most`` bytes is ended with an error.
    """
    return Keep("all", most)


def start(most: int) -> Keep:
    """Return a `Keep` for the first ``most`` bytes of the output; the rest is dropped."""
    return Keep("start", most)


def end(most: int = LAST_WORDS) -> Keep:
    """Return a `Keep` for the last ``most`` bytes of the output; the rest is dropped."""
    return Keep("end", most)


class _Kept:
    """The part of an output that was kept so far."""

    def __init__(self, keep: Keep) -> None:
        self.keep = keep
        self._data = bytearray()

    def add(self, piece: bytes) -> bool:
        """Add a piece of the output; return False if the output exceeds its limit."""
        keep = self.keep
        if keep.part == "start":
            piece = piece[: keep.most - len(self._data)]
        self._data += piece
        if keep.part == "end" and len(self._data) > 2 * keep.most:
            del self._data[: -keep.most]
        return keep.part != "all" or len(self._data) <= keep.most

    def as_bytes(self) -> bytes:
        """Return the part that was kept."""
        return bytes(self._data[-self.keep.most :] if self.keep.part == "end" else self._data)


@dataclass(frozen=True, slots=True)
class ChildEnd:
    """How a program ended.

    Attributes:
        status: The exit status; -N if signal N ended it.
        out: What was kept of its standard output.
        err: What was kept of its standard error; empty if that was merged into ``out``.
    """

    status: int
    out: bytes
    err: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Child:
    """A program to run.

    Attributes:
        argv: Its command line, the program first.
        env: Its whole environment; None to inherit that of this process.
        cwd: The directory in which it runs; None for that of this process.
        stdin: The bytes to write to its standard input.
        limit_s: Seconds after which it is ended, with its whole process group.
        out: What to keep of its standard output.
        err: What to keep of its standard error; None to merge it into ``out``.
        keep_open: Descriptors that it and its child processes inherit.
        leaves_none: Whether to kill processes of its group that are still running when it ends.
    """

    argv: Sequence[str | bytes]
    limit_s: float
    env: Mapping[str, str] | None = None
    cwd: Path | None = None
    stdin: bytes = b""
    out: Keep = whole()
    err: Keep | None = end()
    keep_open: tuple[int, ...] = ()
    leaves_none: bool = False

    def run(self) -> ChildEnd:
        """Run the program to its end; return its exit status and output.

        An exit status other than 0 does not raise.

        Raises:
            OSError: It cannot be started.
            subprocess.TimeoutExpired: It took longer than ``limit_s``, and was ended.
            TooMuchOutputError: It wrote more than ``out`` or ``err`` allows, and was ended.
            WorkEndedError: The `WorkGroup` of this thread was ended, and so was the program.
        """
        require_going_on()
        process = self._start_process()
        ask, kill = (
            partial(_signal, process.pid, each) for each in (signal.SIGTERM, signal.SIGKILL)
        )
        with (
            process,
            _end_at_exit(process),
            ended_by(ask, kill),
            _Talk(process, self) as talk,
        ):
            return talk.finish()

    def _environment(self) -> Mapping[str, str] | None:
        """Return the program's environment, marked with the work that it is run for."""
        label = work_label_here()
        if not label:
            return self.env
        own = os.environ if self.env is None else self.env  # noqa: TID251 (as a child inherits it)
        return {**own, WORK: work_mark(label, self.argv)}

    def _start_process(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            self.argv,
            bufsize=0,
            cwd=self.cwd,
            env=self._environment(),
            stdin=subprocess.PIPE if self.stdin else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT if self.err is None else subprocess.PIPE,
            start_new_session=True,
            pass_fds=self.keep_open,
            umask=umask_of(self.env or {}),
        )


class _Talk:
    """What is said between us and a program, until the program has ended."""

    def __init__(self, process: subprocess.Popen[bytes], child: Child) -> None:
        self._process = process
        self._child = child
        self._unsaid = memoryview(child.stdin)
        self._out, self._err = _Kept(child.out), _Kept(child.err or start(0))
        self._pipes = selectors.DefaultSelector()
        self._open = {each for each in (process.stdout, process.stderr) if each is not None}
        self._death = open_descriptor(process.pid)

    def __enter__(self) -> Self:
        """Begin to listen."""
        if self._process.stdin is not None:
            os.set_blocking(self._process.stdin.fileno(), False)
            self._pipes.register(
                self._process.stdin, selectors.EVENT_WRITE, partial(self._say, self._process.stdin)
            )
        for stream, kept in ((self._process.stdout, self._out), (self._process.stderr, self._err)):
            if stream is not None:
                self._pipes.register(
                    stream, selectors.EVENT_READ, partial(self._hear, stream, kept)
                )
        if self._death is not None:
            self._pipes.register(self._death, selectors.EVENT_READ, self._process.poll)
        return self

    def __exit__(self, *_: object) -> None:
        """Listen no more."""
        self._pipes.close()
        if self._death is not None:
            os.close(self._death)

    def finish(self) -> ChildEnd:
        """Write the input and read the output until the program has ended; return its end.

        Programs that it left running may keep its output open: that is read for at most half a
        second more.

        Raises:
            subprocess.TimeoutExpired: The program takes longer than its limit; it still runs.
            TooMuchOutputError: It writes more than its limit; it still runs.
        """
        deadline = time.monotonic() + self._child.limit_s
        ended = False
        while self._open or not ended:
            left_s = deadline - time.monotonic()
            if left_s <= 0 and not ended:
                raise subprocess.TimeoutExpired(self._child.argv, self._child.limit_s)
            if left_s <= 0:
                break
            for key, _ in self._pipes.select(left_s if self._death is not None else _POLL_S):
                key.data()
            if not ended and self._process.poll() is not None:
                ended = True
                deadline = time.monotonic() + _AFTER_END_S
                if self._child.leaves_none:
                    _signal(self._process.pid, signal.SIGKILL)
                self._drop(self._death)
        self._leave()
        return ChildEnd(self._process.returncode, self._out.as_bytes(), self._err.as_bytes())

    def _leave(self) -> None:
        """Keep reading from programs that were left running: a closed pipe would end them."""
        for stream in self._open:
            Thread(target=_swallow, args=(stream,), daemon=True).start()
        if self._process.stdout in self._open:
            self._process.stdout = None
        if self._process.stderr in self._open:
            self._process.stderr = None

    def _say(self, stdin: IO[bytes]) -> None:
        """Write the next part of the input; after the last part, close the stream."""
        with suppress(BlockingIOError):
            try:
                self._unsaid = self._unsaid[os.write(stdin.fileno(), self._unsaid) :]
            except BrokenPipeError:
                self._unsaid = self._unsaid[:0]
        if not self._unsaid:
            self._drop(stdin)
            stdin.close()

    def _hear(self, stream: IO[bytes], kept: _Kept) -> None:
        """Read the next part of an output.

        Raises:
            TooMuchOutputError: The output exceeds its limit.
        """
        piece = os.read(stream.fileno(), _PIECE)
        if not piece:
            self._drop(stream)
            self._open.discard(stream)
        elif not kept.add(piece):
            raise TooMuchOutputError(
                f"`{describe_command(self._child.argv)}` wrote more than {kept.keep.most} bytes,"
                " and was ended"
            )

    def _drop(self, what: IO[bytes] | int | None) -> None:
        if what is not None:
            self._pipes.unregister(what)


def _swallow(stream: IO[bytes]) -> None:
    with stream:
        while os.read(stream.fileno(), _PIECE):
            pass


@contextmanager
def _end_at_exit(process: subprocess.Popen[bytes]) -> Iterator[None]:
    """End the program if it is still running after the ``with`` block.

    If the work was ended, the program's group is killed, too.
    """
    try:
        yield
    except WorkEndedError:
        if process.returncode is not None:
            _signal(process.pid, signal.SIGKILL)
        raise
    finally:
        if process.returncode is None:
            _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a program and its whole process group."""
    # TERM first: git then removes its lock files, which would block other commands.
    _signal(process.pid, signal.SIGTERM)
    with suppress(subprocess.TimeoutExpired):
        process.wait(GRACE_S)
    _signal(process.pid, signal.SIGKILL)
    process.wait()


def _signal(group: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)


def pipes_of(process: subprocess.Popen[bytes]) -> tuple[IO[bytes], IO[bytes]]:
    """Return the program's standard input and output.

    Raises:
        ValueError: It was started without these pipes.
    """
    if process.stdin is None or process.stdout is None:
        raise ValueError(f"process {process.pid} was started without pipes")
    return process.stdin, process.stdout


def describe_command(argv: Sequence[str | bytes]) -> str:
    """Return the program's name and its subcommand, such as ``git commit``, for messages.

    Only the first two words of the command line are used, and the second one only if it begins with
    a letter: so the result contains no values of options.
    """
    program, *words = (os.fsdecode(word) for word in argv[:2])
    return " ".join((Path(program).name, *(each for each in words if each[:1].isalpha())))
