"""The program in every agent's pane: starts the agent, and writes a record of the agent's end.

It runs as ``python -IS wrapper.py <launch dir>``. To start fast it imports nothing of agentmux,
except `gate` for a stopped pane: a pane in which the user first chooses from a menu. It reads
``launch.json``, and writes ``started`` just before the agent runs and ``exit.json`` after the agent
has ended; for a stopped pane ``stopped`` and ``choice.json`` come first. For a command that runs
without a person (``keep_output``) it also writes ``output``, just before ``exit.json``. The record
is needed because tmux loses the exit status of up to 42 in 100 programs (it drops a SIGCHLD around
its utempter helper).
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import signal
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

CLAIM_TAKEN = 75  # EX_TEMPFAIL of sysexits.h
UNREADABLE = 78  # EX_CONFIG of sysexits.h
NOT_FOUND = 127  # what every shell says
NOT_STARTED = 126

UMASK = "AGENTMUX_UMASK"
"""Equals `agentmux.core.agents.environment.UMASK`: the umask of the person who started."""

PR_SET_PDEATHSIG = 1  # linux/prctl.h

LINGER_S = 0.05
"""The seconds between closing the terminal and the wrapper's exit, so that tmux handles EOF before
the SIGCHLD."""

DRAIN_S = 2.0
"""Seconds to wait for a command's last output; a program that it left running may hold it."""

SETTLE_S = 1.0
"""Seconds to wait for a terminal's answer; some terminals never answer."""

_FORWARDED = (signal.SIGHUP, signal.SIGTERM)
_IGNORED = (signal.SIGINT, signal.SIGQUIT, signal.SIGTSTP, signal.SIGTTOU, signal.SIGTTIN)


class NotStartedError(Exception):
    """The agent could not be started.

    Attributes:
        says: The reason, as a sentence for the pane.
        status: The exit status of the wrapper.
    """

    def __init__(self, status: int, says: str) -> None:
        self.status = status
        self.says = says
        super().__init__(says)


class EndedEarlyError(Exception):
    """The signal HUP or TERM came before the user chose in the menu, so no agent was started.

    Attributes:
        number: The signal's number.
    """

    def __init__(self, number: int) -> None:
        self.number = number
        super().__init__(number)


class Wrapper:
    """One launch (a start of an agent), from reading ``launch.json`` to writing the exit record.

    ``folder`` is the launch's folder, which has both files. Call `run`; it calls the other methods.
    """

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.agent = 0
        self.name = "agent"
        self.grace_s = 3.0
        self.limit_s = 0.0
        self.keep_output = 0
        self.output: Output | None = None
        self.timed_out = False
        self.hup = False
        self.ending = False
        self.claim = -1
        self.started_at: str | None = None

    def run(self) -> int:
        """Start the agent, wait for its end, and write the exit record; return the exit status.

        If the launch has a menu, the agent starts only after the user's choice there.

        The exit status is the agent's; 128 + N if signal N ended the agent, or ended the menu (then
        no agent was started); or the status of a `NotStartedError`.
        """
        status: int | None = None
        number: int | None = None
        try:
            self.start()
            status, number = self.wait()
            says = (
                f"{self.name} ended by {_signal_name(number)}"
                if number
                else f"{self.name} exited with {status}"
            )
        except NotStartedError as refusal:
            status, says = refusal.status, refusal.says
        except EndedEarlyError as ended:
            number, self.hup = ended.number, ended.number == signal.SIGHUP
            says = "nothing was chosen"
        # Before the record: its reader may look at the screen and start the next agent at once.
        self.drop_claim()
        if self.output is not None:
            self.write_or_show_error("output", self.output.end())
        _say(says)
        self.settle()
        self.record(status, number)
        return 128 + number if number else status or 0

    def start(self) -> None:
        """Start the agent in the foreground, as ``launch.json`` says.

        If the file has a menu, the user chooses first. The agent's conversation is locked, and the
        file ``started`` is written.

        Raises:
            NotStartedError: The agent cannot be started.
            EndedEarlyError: HUP or TERM came while the menu was shown.
        """
        launch = self.read()
        if launch.get("gate"):
            launch = self.choose(launch, launch["gate"])
        self.take_claim(launch.get("claim"))
        try:
            os.chdir(launch["cwd"])
        except OSError as error:
            raise NotStartedError(
                NOT_STARTED, f"cannot enter {launch['cwd']}: {error.strerror}"
            ) from None
        for number in _IGNORED:
            signal.signal(number, signal.SIG_IGN)
        # Signals are blocked until the agent's pid is known, so that they can be forwarded.
        signal.pthread_sigmask(signal.SIG_BLOCK, _FORWARDED)
        for number in _FORWARDED:
            signal.signal(number, self.forward)
        signal.signal(signal.SIGALRM, self.kill)
        self.started_at = _now()
        self.write_or_show_error("started", self.started_at + "\n")
        _tell(launch.get("notice") or [])
        self.fork(launch["argv"], environment(launch))
        if self.limit_s and not self.ending:
            signal.setitimer(signal.ITIMER_REAL, self.limit_s)

    def read(self) -> dict[str, Any]:
        """Return the content of ``launch.json``, checked as far as the wrapper needs it.

        Its keys are ``argv``, ``env``, ``unset``, ``cwd``, ``claim`` (the claim file's path or
        None) and ``notice`` (lines to show first). In a pane with a menu, there is also ``gate``,
        and ``argv`` may be missing. The agent's ``name``, the time limits ``grace_s`` and
        ``limit_s``, and ``keep_output`` are also set on this object.

        Raises:
            NotStartedError: The file cannot be read, or is not valid.
        """
        try:
            with open(self.folder + "/launch.json", encoding="utf-8") as file:
                launch: dict[str, Any] = json.load(file)
            self.grace_s = float(launch.get("grace_s", self.grace_s))
            self.limit_s = float(launch.get("limit_s", self.limit_s))
            self.keep_output = int(launch.get("keep_output", 0))
            self.name = str(launch.get("name", self.name))
            _ = launch.get("gate") or launch["argv"][0], launch["cwd"][0]
        except (OSError, ValueError, LookupError, TypeError) as error:
            raise NotStartedError(UNREADABLE, f"cannot read launch.json: {error}") from None
        return launch

    def choose(self, launch: dict[str, Any], gate: dict[str, Any]) -> dict[str, Any]:
        """Show a menu until the user has chosen, write ``choice.json``, and return what to run.

        The file ``stopped`` is written before the menu is shown.

        Args:
            launch: The content of ``launch.json``; it is not changed.
            gate: The menu, the field ``gate`` in it; see `agentmux.adapters.pane.gate.hold`.

        Returns:
            A copy of ``launch`` in which the choice's fields (``argv``, ``env``, ``claim`` and
            ``notice``, and others for the menu) replace those of the same names.

        Raises:
            EndedEarlyError: HUP or TERM came before the user chose.
        """
        sys.path.append(os.path.realpath(f"{__file__}/../../../.."))  # the folder of `agentmux`
        from agentmux.adapters.pane.gate import GateClosedError, hold

        self.write_or_show_error("stopped", _now() + "\n")

        def commit(name: str) -> str:
            fact = gate["choices"][name].get("fact") or {}
            try:
                self.write("choice.json", json.dumps({**fact, "choice": name, "at": _now()}) + "\n")
            except OSError as error:
                return f"cannot write choice.json: {error.strerror}"
            _poke(gate.get("wake") or "")
            return ""

        try:
            return {**launch, **gate["choices"][hold(gate, commit)]}
        except GateClosedError as ended:
            raise EndedEarlyError(ended.number) from None

    def take_claim(self, path: str | None) -> None:
        """Lock the conversation's claim file ``path`` until `drop_claim` or this process's end.

        Do nothing if ``path`` is None or empty.

        Raises:
            NotStartedError: Another process has locked it, or it cannot be locked.
        """
        if not path:
            return
        try:
            os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
            self.claim = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
            fcntl.flock(self.claim, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise NotStartedError(CLAIM_TAKEN, "another pane uses this conversation") from None
        except OSError as error:
            raise NotStartedError(NOT_STARTED, f"cannot lock {path}: {error.strerror}") from None

    def drop_claim(self) -> None:
        """Unlock the claim file, so that another launch can use the conversation."""
        if self.claim >= 0:
            os.close(self.claim)
            self.claim = -1

    def fork(self, argv: list[str], env: dict[str, str]) -> None:
        """Start the agent as a child process; return once its program runs.

        ``argv`` is its command line, the program first; ``env`` is its whole environment.

        Raises:
            NotStartedError: The program cannot be run.
        """
        prctl = _prctl()
        reads, writes = os.pipe()  # exec closes it; a failed exec writes its errno
        parent = os.getpid()
        self.output = Output(self.keep_output) if self.keep_output > 0 else None
        self.agent = os.fork()
        if self.agent == 0:
            try:
                _become(argv, env, prctl, parent, self.output)
            except OSError as error:
                os.write(writes, str(error.errno).encode())
            finally:
                os._exit(NOT_FOUND)
        os.close(writes)
        _to_foreground(self.agent)
        if self.output is not None:
            self.output.begin()
        why = os.read(reads, 16)
        os.close(reads)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _FORWARDED)
        if why:
            os.waitpid(self.agent, 0)
            self.agent = 0
            code = int(why)
            status = NOT_FOUND if code in {errno.ENOENT, errno.ENOTDIR} else NOT_STARTED
            raise NotStartedError(status, f"cannot start {argv[0]}: {os.strerror(code)}")

    def wait(self) -> tuple[int | None, int | None]:
        """Wait until the agent ends; whenever it is suspended (as by Ctrl-Z), continue it.

        What it leaves running in its process group is killed if its output is kept, or if it was
        told to end.

        Returns:
            Its exit status and None, or None and the number of the signal that ended it.
        """
        while True:
            status = os.waitid(os.P_PID, self.agent, os.WEXITED | os.WSTOPPED | os.WNOWAIT)
            if status is None or status.si_code != os.CLD_STOPPED:
                break
            # There is no shell to continue a stopped agent: Ctrl-Z must not freeze the pane.
            os.waitid(os.P_PID, self.agent, os.WSTOPPED)
            self.signal_agent(signal.SIGCONT)
        signal.setitimer(signal.ITIMER_REAL, 0)
        if self.ending or self.output is not None:
            # Ends its children, too; its group id stays valid until it is reaped.
            self.signal_agent(signal.SIGKILL)
        signal.pthread_sigmask(signal.SIG_BLOCK, (*_FORWARDED, signal.SIGALRM))
        code = os.waitstatus_to_exitcode(os.waitpid(self.agent, 0)[1])
        return (code, None) if code >= 0 else (None, -code)

    def forward(self, number: int, _frame: object) -> None:
        """Handle HUP or TERM: forward it to the agent, and start the agent's grace time.

        After ``grace_s`` seconds `kill` ends an agent that is still running.
        """
        self.hup = self.hup or number == signal.SIGHUP
        self.signal_agent(number)
        if not self.ending:
            self.ending = True
            signal.setitimer(signal.ITIMER_REAL, max(self.grace_s, 0.001))

    def kill(self, _number: int, _frame: object) -> None:
        """Handle the alarm of the time limit or of the grace time.

        At the end of its time limit, the agent gets TERM; at the end of the grace time after a
        signal, KILL.
        """
        if self.ending:
            self.signal_agent(signal.SIGKILL)
        else:
            self.timed_out = True
            _say(f"{self.name} took longer than {self.limit_s:g} s")
            self.forward(signal.SIGTERM, _frame)

    def signal_agent(self, number: int) -> None:
        """Send a signal to the agent's process group, if the agent is running."""
        if self.agent:
            _try(os.killpg, self.agent, number)  # the group is gone, or only zombies

    def settle(self) -> None:
        """Wait until tmux has read all output, at most a second, by asking for a status report.

        When a program ends, tmux drops output that it has not read yet; a busy server lost the last
        lines of 2 in 100 programs.
        """
        import select
        import termios

        try:
            os.tcsetpgrp(0, os.getpgrp())
            mode = termios.tcgetattr(0)
            mode[3] &= ~(termios.ECHO | termios.ICANON)
            termios.tcsetattr(0, termios.TCSAFLUSH, mode)
            os.write(1, b"\x1b[5n")
            select.select([0], [], [], SETTLE_S)
        except (OSError, termios.error):
            return  # there is no terminal any more
        if self.agent:  # the agent's children get a HUP when we end
            _try(os.tcsetpgrp, 0, self.agent)

    def record(self, status: int | None, number: int | None) -> None:
        """Write the exit record ``exit.json``; a failure is shown in the pane.

        Args:
            status: The agent's exit status, or that of a `NotStartedError`; None if it has none.
            number: The number of the signal that ended the agent; None if none did.
        """
        self.write_or_show_error(
            "exit.json",
            json.dumps(
                {
                    "status": status,
                    "signal": number,
                    "hup": self.hup,
                    "claim_taken": status == CLAIM_TAKEN and self.started_at is None,
                    **({"timed_out": True} if self.timed_out else {}),
                    "started_at": self.started_at,
                    "ended_at": _now(),
                }
            )
            + "\n",
        )

    def write_or_show_error(self, name: str, text: str | bytes) -> None:
        """Write the file ``name`` in the launch's folder durably; show a failure in the pane.

        It does not raise for a failure.
        """
        try:
            self.write(name, text)
        except OSError as error:
            _say(f"cannot write {name}: {error.strerror}")

    def write(self, name: str, text: str | bytes) -> None:
        """Write the file ``name`` in the launch's folder durably and atomically.

        Raises:
            OSError: It cannot be written, or the folder or its parent is a link.
        """
        path, data = f"{self.folder}/{name}", text.encode() if isinstance(text, str) else text
        for place in (os.path.dirname(self.folder), self.folder):
            if os.path.islink(place):
                raise OSError(errno.ELOOP, f"{place} is a link")
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW
        file = os.open(path + ".tmp", flags, 0o600)
        while data:
            data = data[os.write(file, data) :]
        os.fsync(file)
        os.close(file)
        os.rename(path + ".tmp", path)
        folder = os.open(self.folder, os.O_RDONLY)
        os.fsync(folder)
        os.close(folder)


class Output:
    """The output of a command: it is shown in the pane, and its last part is kept.

    The command's output goes to a pipe instead of the terminal, and it has no input. So it uses no
    pager, and waits for no answer.
    """

    def __init__(self, keep: int) -> None:
        """Create the pipe; ``keep`` is the number of bytes to keep, from the end of the output."""
        import threading

        self.keep = keep
        self.tail = b""
        self.reads, self.writes = os.pipe()
        self.thread = threading.Thread(target=self.relay, daemon=True)

    def begin(self) -> None:
        """Start a thread that reads the pipe; call this in the parent, after the fork."""
        os.close(self.writes)
        self.thread.start()

    def take_over(self) -> None:
        """Make the pipe this process's output, and give it no input; call this in the child."""
        nothing = os.open(os.devnull, os.O_RDONLY)
        for number, replaced in ((nothing, 0), (self.writes, 1), (self.writes, 2)):
            os.dup2(number, replaced)

    def relay(self) -> None:
        """Copy the output to the pane until its last writer ends; keep the last part.

        Only the thread that `begin` starts calls this. It blocks signals in its thread.
        """
        # Signals are for the main thread, which waits for the end of the command.
        signal.pthread_sigmask(signal.SIG_BLOCK, (*_FORWARDED, signal.SIGALRM))
        while data := os.read(self.reads, 1 << 16):
            self.tail = (self.tail + data)[-self.keep :]
            _try(self.show, data)

    def show(self, data: bytes) -> None:
        """Write all of ``data`` to the pane."""
        while data:
            data = data[os.write(1, data) :]

    def end(self) -> bytes:
        """Wait up to `DRAIN_S` for the last output; return the part that was kept."""
        if self.thread.is_alive():
            self.thread.join(DRAIN_S)
        return self.tail


def environment(launch: dict[str, Any]) -> dict[str, str]:
    """Return the agent's environment: the wrapper's, without ``unset`` and with ``env`` added.

    Both are fields of ``launch``, the content of ``launch.json``: ``unset`` is a list of names, of
    which one that ends in ``*`` is a prefix; ``env`` maps names to values.
    """
    unset = launch.get("unset") or []
    names = {name for name in unset if not name.endswith("*")}
    prefixes = tuple(name[:-1] for name in unset if name.endswith("*"))
    kept = {
        name: value
        for name, value in os.environ.items()  # noqa: TID251 (it is ours to hand on)
        if name not in names and not (prefixes and name.startswith(prefixes))
    }
    return kept | (launch.get("env") or {})


def _become(
    argv: list[str], env: dict[str, str], prctl: object, parent: int, output: Output | None
) -> None:
    """Run the agent's program in this child process: own group, foreground, default signals.

    It gets the umask that ``env`` passes on; the wrapper keeps that of the tmux server.

    ``prctl`` (from `_prctl`) makes the kernel kill the agent when the wrapper ``parent`` ends.
    ``output`` receives its output; None leaves it the terminal.

    Raises:
        OSError: The program cannot be run.
    """
    os.setpgid(0, 0)
    _to_foreground(os.getpid())
    if callable(prctl):
        prctl(PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
        if os.getppid() != parent:
            os._exit(NOT_STARTED)
    for number in (*_IGNORED, *_FORWARDED, signal.SIGALRM, signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _FORWARDED)
    if UMASK in env:
        os.umask(int(env[UMASK], 8))
    if output is not None:
        output.take_over()
    os.execvpe(argv[0], argv, env)  # noqa: S606 (that is what this program is for)


def _to_foreground(group: int) -> None:
    """Make ``group`` the terminal's foreground group.

    Parent and child both call this, to be in time.
    """
    _try(os.setpgid, group, group)  # the other process did it, or exec has happened
    _try(os.tcsetpgrp, 0, group)  # no terminal here


def _try(call: Callable[..., object], *arguments: object) -> None:
    """Make a call and ignore an `OSError` from it (importing contextlib would take time)."""
    try:  # noqa: SIM105 (without contextlib)
        call(*arguments)
    except OSError:
        pass


def _prctl() -> object:
    """Return C's ``prctl``, by which the agent dies with the wrapper; None if not on Linux."""
    if sys.platform != "linux":
        return None
    import ctypes

    return getattr(ctypes.CDLL(None), "prctl", None)


def _now() -> str:
    moment = time.time()
    return (
        time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(moment)) + f".{int(moment % 1 * 1000):03d}Z"
    )


def _signal_name(number: int | None) -> str:
    try:
        return signal.Signals(number or 0).name
    except ValueError:
        return f"signal {number}"


def _say(text: str) -> None:
    """Show one dim line in the pane, in place of what stands there.

    Never wait for the terminal, since the exit record matters more.
    """
    clean = "".join(char if char.isprintable() else "?" for char in text)
    line = f"\r\n\x1b[0m\x1b[K\x1b[2m[{clean}]\x1b[0m\x1b[?25h\r\n"
    _try(os.set_blocking, 1, False)
    _try(os.write, 1, line.encode())


def _tell(lines: list[str]) -> None:
    """Show each of ``lines`` as one dim line in the pane; call this before the agent starts."""
    for text in lines:
        clean = "".join(char if char.isprintable() else "?" for char in text)
        _try(os.write, 1, f"\x1b[0;2m[{clean}]\x1b[0m\r\n".encode())


def _poke(path: str) -> None:
    """Wake the orchestrator through its pipe ``path``.

    A failure does not matter: the orchestrator also finds the user's choice by itself.
    """
    try:
        pipe = os.open(path, os.O_WRONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
    except OSError:
        return
    _try(os.write, pipe, b"w\n")
    os.close(pipe)


def main() -> int:
    """Run the launch whose folder is the first argument; return the exit status."""
    status = Wrapper(sys.argv[1]).run()
    os.closerange(0, 3)
    time.sleep(LINGER_S)  # noqa: TID251 (see LINGER_S)
    return status


if __name__ == "__main__":
    os._exit(main())
