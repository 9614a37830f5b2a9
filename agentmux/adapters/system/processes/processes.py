"""Other processes: whether they are alive, which have outlived tmux, and how to end them."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Final

from agentmux.adapters.system.polling import pause
from agentmux.adapters.system.processes import kernel
from agentmux.core.agents.environment import agent_launch
from agentmux.core.codec.frozen import dataclass

if TYPE_CHECKING:
    import asyncio

_POLL_S: Final = 0.5
"""The interval between checks of a process on systems without pidfds (macOS)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Survivor:
    """A process whose environment contains the id of a session.

    Attributes:
        session: The session's id.
        pid: The process.
        started: The process's start time, which distinguishes it from a later process with this
            pid.
        launch: The launch id in its environment; empty if there is none.
        seat: The seat in its environment; empty if there is none.
        argv0: The first word of its command line.
        folder: The session's directory in its environment; empty if there is none.
    """

    session: str
    pid: int
    started: int
    launch: str
    seat: str
    argv0: str
    folder: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Carrier:
    """A process whose environment contains an agent's launch id.

    Attributes:
        pid: The process.
        launch: The launch id in its environment.
        seat: The seat in its environment; empty if there is none.
    """

    pid: int
    launch: str
    seat: str


def start_time(pid: int) -> int:
    """Return when a process started, in ticks since boot (macOS: Unix time); 0 if unknown.

    It is meant for comparison only: with the pid it identifies a process.
    """
    return kernel.state_and_start(pid)[1] if pid > 0 else 0


def is_alive(pid: int, started: int = 0) -> bool:
    """Return whether the process is running; a zombie is not.

    Args:
        pid: The process; the result is False for any number below 1.
        started: The process's `start_time`, so that a later process with the same pid does not
            count; 0 accepts any process with this pid.
    """
    state, now = kernel.state_and_start(pid) if pid > 0 else ("", 0)
    return state not in {"", "Z", "X"} and started in {0, now}


class PidWatch:
    """Calls a function once when a process has ended; the process need not be a child of this one.

    The function is called from the event loop ``loop``. The watch uses pidfds: they reported all of
    300 ends of panes' programs, while tmux's own hook missed 2 to 42 in 100.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._descriptors: dict[int, int] = {}
        self._timers: dict[int, asyncio.TimerHandle] = {}

    def watch(self, pid: int, ended: Callable[[int], object]) -> None:
        """Call ``ended(pid)`` once, from the event loop, after the process has ended.

        The process may have ended already. If the pid is watched already, this does nothing: the
        first callback stays.
        """
        if pid in self._descriptors or pid in self._timers:
            return
        try:
            descriptor = open_descriptor(pid)
        except ProcessLookupError:
            self._loop.call_soon(ended, pid)
            return
        if descriptor is None:
            self._poll(pid, ended)
            return
        self._descriptors[pid] = descriptor
        self._loop.add_reader(descriptor, self._report_end, pid, ended)

    def start_time(self, pid: int) -> int:
        return start_time(pid)

    def _forget(self, pid: int) -> None:
        descriptor = self._descriptors.pop(pid, None)
        if descriptor is not None:
            self._loop.remove_reader(descriptor)
            os.close(descriptor)
        timer = self._timers.pop(pid, None)
        if timer is not None:
            timer.cancel()

    def close(self) -> None:
        """Stop watching all processes."""
        for pid in (*self._descriptors, *self._timers):
            self._forget(pid)

    def _report_end(self, pid: int, ended: Callable[[int], object]) -> None:
        self._forget(pid)
        ended(pid)

    def _poll(self, pid: int, ended: Callable[[int], object]) -> None:
        if is_alive(pid):
            self._timers[pid] = self._loop.call_later(_POLL_S, self._poll, pid, ended)
        else:
            self._timers.pop(pid, None)
            self._loop.call_soon(ended, pid)


def open_descriptor(pid: int) -> int | None:
    """Open a descriptor that becomes readable when the process ends (a pidfd).

    The caller must close it. Return None if the system has no pidfds: on macOS, on old kernels and
    in some containers.

    Raises:
        ProcessLookupError: The process has ended, or ``pid`` is below 1 (tmux 3.8 reports such a
            pid for a dead pane).
    """
    if pid < 1:
        raise ProcessLookupError
    if not hasattr(os, "pidfd_open"):
        return None
    try:
        return os.pidfd_open(pid)
    except ProcessLookupError:
        raise
    except OSError:  # ENOSYS before Linux 5.3, EPERM under an old seccomp profile
        return None


def survivors(*session_ids: str) -> tuple[Survivor, ...]:
    """Return the user's processes whose environment has one of these session ids, oldest first.

    An empty id finds nothing. This process and its ancestors are left out; so are tmux servers,
    which an agent may have started for other work.
    """
    wanted = frozenset(session_ids) - {""}
    if not wanted:
        return ()
    processes = (_survivor(pid, wanted) for pid in _others())
    return tuple(sorted(filter(None, processes), key=lambda one: (one.started, one.pid)))


def processes_with_variable(word: str) -> tuple[tuple[int, int], ...]:
    """Return pid and start time of each process of the user with ``word`` in its environment.

    ``word`` is ``NAME=value``. Start times are those of `start_time`. Tmux servers are included;
    this process and its ancestors are not.
    """
    name, _, value = word.partition("=")
    pids = (pid for pid in _others() if environment(pid).get(name) == value)
    return tuple((pid, start_time(pid)) for pid in pids if is_alive(pid))


def agent_above(environ: Mapping[str, str]) -> Carrier | None:
    """Return the agent in which this process runs; None if it runs in none.

    It is the nearest process, of this one and its ancestors, that has an agent's launch id in its
    environment. The search ends at a tmux server, because the programs in tmux do not belong to the
    process that started the server.

    Args:
        environ: The environment of this process.
    """
    for pid in _line_of(os.getpid()):
        try:
            if kernel.is_tmux_server(pid):
                return None
        except OSError:  # another user's, or it ended meanwhile
            continue
        above = environ if pid == os.getpid() else environment(pid)
        launch = agent_launch(above)
        if launch:
            return Carrier(pid=pid, launch=launch, seat=above.get("AGENTMUX_SEAT", ""))
    return None


def environment(pid: int) -> Mapping[str, str]:
    """Return the environment with which a process was started; empty if it cannot be read."""
    try:
        return kernel.environment(pid)
    except OSError:  # another user's, or it ended meanwhile
        return {}


def _others() -> Iterator[int]:
    """Yield the pids of the user's processes without this one and its ancestors."""
    ours = set(_line_of(os.getpid()))
    return (pid for pid in kernel.own_pids() if pid not in ours)


def _line_of(pid: int) -> Iterator[int]:
    """Yield ``pid`` and the pids of its ancestors, nearest first, without process 1."""
    while pid > 1:
        yield pid
        pid = kernel.parent(pid)


def _survivor(pid: int, wanted: frozenset[str]) -> Survivor | None:
    environ = environment(pid)
    session = environ.get("AGENTMUX_SESSION_ID", "")
    if session not in wanted:
        return None
    try:
        if kernel.is_tmux_server(pid):
            return None
        argv0 = kernel.argv(pid)[0]
    except (OSError, IndexError):  # it ended meanwhile
        return None
    if not is_alive(pid):
        return None
    return Survivor(
        session=session,
        pid=pid,
        started=start_time(pid),
        launch=environ.get("AGENTMUX_LAUNCH_ID", ""),
        seat=environ.get("AGENTMUX_SEAT", ""),
        argv0=argv0,
        folder=environ.get("AGENTMUX_SESSION_DIR", ""),
    )


def end(processes: Iterable[tuple[int, int]], *, grace_s: float) -> tuple[int, ...]:
    """End processes with TERM, and with KILL those that are still alive after ``grace_s`` seconds.

    Args:
        processes: Pairs of pid and start time (0 if unknown). With a known start time, a later
            process with the same pid is not touched.
        grace_s: At least 0.

    Returns:
        The pids of the processes that were still alive one second after KILL.
    """
    left = [(pid, started) for pid, started in processes if is_alive(pid, started)]
    left = _signal_and_wait(left, signal.SIGTERM, grace_s)
    left = _signal_and_wait(left, signal.SIGKILL, 1.0)
    return tuple(pid for pid, _ in left)


def _signal_and_wait(
    processes: list[tuple[int, int]], number: signal.Signals, wait_s: float
) -> list[tuple[int, int]]:
    """Send a signal to all processes, wait for their end, and return those that are still alive.

    ``wait_s`` is the longest time to wait for all of them together.
    """
    for pid, started in processes:
        if is_alive(pid, started):
            _signal(pid, number)
    return list(left_after(processes, wait_s=wait_s))


def left_after(
    processes: Iterable[tuple[int, int]], *, wait_s: float
) -> tuple[tuple[int, int], ...]:
    """Wait at most ``wait_s`` seconds for all these processes to end; return those still alive.

    Each process is a pair of pid and start time (0 if unknown).
    """
    waited = tuple(processes)
    deadline = time.monotonic() + wait_s
    for pid, started in waited:
        _wait(pid, started, deadline)
    return tuple((pid, started) for pid, started in waited if is_alive(pid, started))


def _signal(pid: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)


def _wait(pid: int, started: int, deadline: float) -> None:
    """Wait until the process has ended, at most until ``deadline`` on the monotonic clock."""
    try:
        descriptor = open_descriptor(pid)
    except ProcessLookupError:
        return
    if descriptor is None:
        while is_alive(pid, started) and time.monotonic() < deadline:
            pause(0.02)  # no event for the end of a process here
        return
    try:
        poll = select.poll()
        poll.register(descriptor, select.POLLIN)
        if is_alive(pid, started):
            poll.poll(max(0.0, deadline - time.monotonic()) * 1000)
    finally:
        os.close(descriptor)
