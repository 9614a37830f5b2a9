"""Commands of agentmux without the time that it takes to import agentmux.

A server imports agentmux once, and forks for each command. Such a command is a process of its own,
with its own pid, folder, environment, streams and exit code, as one that a shell starts; it runs
``agentmux.__main__.main``, which ends it. Only the start of Python and the imports are not
repeated, which are more than half of what most commands cost.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import io
import json
import os
import pkgutil
import select
import selectors
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

_FREE = ("AGENTMUX_", "GIT_", "HOME", "PATH", "PYTEST_", "TERM", "TMUX", "XDG_")
"""Names that begin so are of variables that Python and its libraries do not read at their start."""

_OWN_PROGRAMS = ("agentmux.demo", "agentmux.demo_agent", "agentmux.fleet", "agentmux.mcp")
_HEADER = struct.Struct("!Q")
_STREAMS = 3


class Preloaded:
    """Runs commands through a server, which starts with the first command."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._control: socket.socket | None = None
        self._environ: dict[str, str] = {}

    def can_run(self, env: Mapping[str, str]) -> bool:
        """Return whether a command with this environment would start as the server did."""
        self._connected()
        names = {name for name, _ in env.items() ^ self._environ.items()}
        return all(name.startswith(_FREE) for name in names)

    def run(
        self, words: Sequence[str], *, cwd: Path, env: Mapping[str, str], timeout_s: float
    ) -> subprocess.CompletedProcess[str]:
        """Run ``python -m agentmux WORDS`` to its end, with an empty standard input.

        Raises:
            subprocess.TimeoutExpired: It, or a process that has its output, runs too long.
        """
        argv = [sys.executable, "-m", "agentmux", *words]
        request = json.dumps({"argv": argv, "cwd": str(cwd), "env": dict(env)}).encode()
        pipes = [os.pipe() for _ in range(_STREAMS)]  # for output, errors, and pid with status
        given = [os.open(os.devnull, os.O_RDONLY), *(writes for _, writes in pipes)]
        try:
            self._send(request, given)
            _close(given)
            said = [bytearray() for _ in pipes]
            found = {reads: data for (reads, _), data in zip(pipes, said, strict=True)}
            if not _collect(found, time.monotonic() + timeout_s):
                # Without a process id the server was too busy to start it: there is none to kill.
                with suppress(ProcessLookupError):
                    for begun in said[2].split()[:1]:
                        os.kill(int(begun), signal.SIGKILL)
                raise subprocess.TimeoutExpired(argv, timeout_s, bytes(said[0]), bytes(said[1]))
        finally:
            _close(reads for reads, _ in pipes)
        pid, status = map(int, said[2].split())
        assert pid
        return subprocess.CompletedProcess(
            argv, status, _text(bytes(said[0])), _text(bytes(said[1]))
        )

    def _send(self, request: bytes, descriptors: Sequence[int]) -> None:
        control = self._connected()
        with self._lock:
            socket.send_fds(control, [_HEADER.pack(len(request))], descriptors)
            control.sendall(request)

    def _connected(self) -> socket.socket:
        with self._lock:
            if self._control is None:
                self._control = self._start()
            return self._control

    def _start(self) -> socket.socket:
        """Start the server, which ends when this process ends or closes the socket."""
        ours, theirs = socket.socketpair()
        with theirs:
            # The programs of one test are found by their environment; the server serves all tests.
            self._environ = {k: v for k, v in os.environ.items() if not k.startswith("AGENTMUX_")}
            server = subprocess.Popen(
                [sys.executable, __file__, str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,  # as that of the commands, since Python sees what it is
                env=self._environ,
                pass_fds=[theirs.fileno()],
            )

        def stop() -> None:
            ours.close()
            server.communicate()

        atexit.register(stop)
        return ours


def _close(descriptors: Iterable[int]) -> None:
    for descriptor in descriptors:
        os.close(descriptor)


def _collect(found: Mapping[int, bytearray], deadline: float) -> bool:
    """Read from all descriptors until each ends; return False at the deadline."""
    with selectors.DefaultSelector() as selector:
        for reads in found:
            selector.register(reads, selectors.EVENT_READ)
        while selector.get_map():
            ready = selector.select(max(0.0, deadline - time.monotonic()))
            if not ready:
                return False
            for key, _ in ready:
                data = os.read(key.fd, 65536)
                found[key.fd].extend(data)
                if not data:
                    selector.unregister(key.fd)
    return True


def _text(data: bytes) -> str:
    return io.TextIOWrapper(io.BytesIO(data), errors="surrogateescape").read()


# -- the server ----------------------------------------------------------------------------------


def serve(control: socket.socket) -> None:
    """Serve requests until the other end of ``control`` is closed."""
    _load()
    wake, woken = os.pipe()
    os.set_blocking(woken, False)
    signal.set_wakeup_fd(woken)
    signal.signal(signal.SIGCHLD, lambda _number, _frame: None)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # it ends with the process that started it
    running: dict[int, int] = {}
    while True:
        ready, _, _ = select.select([control.fileno(), wake], [], [])
        if wake in ready:
            os.read(wake, 4096)
            _reap(running)
        if control.fileno() in ready:
            request = _receive(control)
            if request is None:
                return
            fields, descriptors = request
            pid = os.fork()
            if pid == 0:
                _become(fields, descriptors)
            *streams, answer = descriptors
            _close(streams)
            with suppress(BrokenPipeError):  # the test gave up before the command began
                os.write(answer, f"{pid} ".encode())
            running[pid] = answer


def _load() -> None:
    import agentmux

    for module in pkgutil.walk_packages(agentmux.__path__, "agentmux."):
        if not module.name.startswith(_OWN_PROGRAMS):
            importlib.import_module(module.name)
    gc.collect()
    gc.freeze()  # so that commands share the memory of what was imported


def _reap(running: dict[int, int]) -> None:
    for pid in [*running]:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            answer = running.pop(pid)
            with suppress(BrokenPipeError):  # the test gave up
                os.write(answer, str(os.waitstatus_to_exitcode(status)).encode())
            os.close(answer)


def _receive(control: socket.socket) -> tuple[dict[str, object], list[int]] | None:
    header, descriptors, _, _ = socket.recv_fds(control, _HEADER.size, _STREAMS + 1)
    if not header:
        return None
    (left,) = _HEADER.unpack(header)
    data = bytearray()
    while len(data) < left:
        data += control.recv(left - len(data))
    return json.loads(data), descriptors


def _become(fields: dict[str, object], descriptors: Sequence[int]) -> NoReturn:
    """Be the command: run it in this process, and end."""
    try:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        for number, descriptor in enumerate(descriptors[:_STREAMS]):
            os.dup2(descriptor, number)
        os.closerange(_STREAMS, 256)
        os.chdir(str(fields["cwd"]))
        os.environ.clear()
        os.environ.update(fields["env"])  # type: ignore[call-overload]  # as it was sent
        from agentmux import __main__ as program

        sys.orig_argv[:] = fields["argv"]  # type: ignore[call-overload]  # as it was sent
        sys.argv[:] = [program.__file__, *sys.orig_argv[3:]]
        sys.path[0] = str(fields["cwd"])  # as `python -m` does
        program.main()
    except BaseException:  # noqa: BLE001 (as a Python that ends with an exception)
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(1)


if __name__ == "__main__":
    serve(socket.socket(fileno=int(sys.argv[1])))
