"""The program in every agent's pane: starts the agent and leaves a record of how it ended.

Runs alone (``python -IS wrapper.py <launch dir>``) and imports nothing of agentmux, save `gate` for
a pane that comes up stopped: its start-up stands between tmux and the agent. What it is told stands
in ``launch.json``; what it leaves is ``started`` just before the agent runs, and ``exit.json`` when
the agent has gone. A stopped pane leaves ``stopped`` and ``choice.json`` before that. tmux itself
loses the status of up to 42 in 100 programs (it drops a SIGCHLD around its utempter helper), the
record none.
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

CLAIM_TAKEN = 75  # EX_TEMPFAIL of sysexits.h
UNREADABLE = 78  # EX_CONFIG of sysexits.h
NOT_FOUND = 127  # what every shell says
NOT_STARTED = 126

PR_SET_PDEATHSIG = 1  # linux/prctl.h

LINGER_S = 0.05
"""Between closing the terminal and the exit: lets tmux get over EOF before the SIGCHLD comes."""

SETTLE_S = 1.0
"""How long to wait for the answer of a terminal that may have none."""

_FORWARDED = (signal.SIGHUP, signal.SIGTERM)
_IGNORED = (signal.SIGINT, signal.SIGQUIT, signal.SIGTSTP, signal.SIGTTOU, signal.SIGTTIN)


class Refusal(Exception):  # noqa: N818 (not an error: the agent was not started, for this reason)
    """The agent was not started."""

    def __init__(self, status: int, says: str) -> None:
        self.status = status
        self.says = says
        super().__init__(says)


class EndedEarly(Exception):  # noqa: N818 (not an error: a signal came before the agent)
    """A signal ended a pane that was stopped."""

    def __init__(self, number: int) -> None:
        self.number = number
        super().__init__(number)


class Wrapper:
    """One launch, from its file to its record."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.agent = 0
        self.grace_s = 3.0
        self.hup = False
        self.ending = False
        self.claim = -1
        self.started_at: str | None = None

    def run(self) -> int:
        """Start the agent, wait for its end, write the record; returns our own exit status."""
        status: int | None = None
        number: int | None = None
        try:
            self.start()
            status, number = self.wait()
            says = (
                f"agent ended by {_signal_name(number)}"
                if number
                else f"agent exited with {status}"
            )
        except Refusal as refusal:
            status, says = refusal.status, refusal.says
        except EndedEarly as ended:
            number, self.hup = ended.number, ended.number == signal.SIGHUP
            says = "nothing was chosen"
        # Who reads the record may look at the screen and start the next agent at once.
        self.drop_claim()
        _say(says)
        self.settle()
        self.record(status, number)
        return 128 + number if number else status or 0

    def start(self) -> None:
        """Do all that can refuse, then start the agent in the terminal's foreground."""
        launch = self.read()
        if launch.get("gate"):
            launch = self.choose(launch, launch["gate"])
        self.take_claim(launch.get("claim"))
        try:
            os.chdir(launch["cwd"])
        except OSError as error:
            raise Refusal(NOT_STARTED, f"cannot enter {launch['cwd']}: {error.strerror}") from None
        for number in _IGNORED:
            signal.signal(number, signal.SIG_IGN)
        # Until the agent's pid is known there is nobody to forward a signal to.
        signal.pthread_sigmask(signal.SIG_BLOCK, _FORWARDED)
        for number in _FORWARDED:
            signal.signal(number, self.forward)
        signal.signal(signal.SIGALRM, self.kill)
        self.started_at = _now()
        self.leave("started", self.started_at + "\n")
        _tell(launch.get("notice") or [])
        self.fork(launch["argv"], environment(launch))

    def read(self) -> dict:  # type: ignore[type-arg]  # fields are used right here
        """Read the launch file."""
        try:
            with open(self.folder + "/launch.json", encoding="utf-8") as file:  # noqa: PTH123 (without pathlib)
                launch = json.load(file)
            self.grace_s = float(launch.get("grace_s", self.grace_s))
            _ = launch.get("gate") or launch["argv"][0], launch["cwd"][0]
        except (OSError, ValueError, LookupError, TypeError) as error:
            raise Refusal(UNREADABLE, f"cannot read launch.json: {error}") from None
        return launch  # type: ignore[no-any-return]  # checked above as far as it matters

    def choose(self, launch: dict, gate: dict) -> dict:  # type: ignore[type-arg]  # JSON
        """Hold the pane until its user has chosen; return the launch that was chosen."""
        sys.path.append(os.path.realpath(f"{__file__}/../../../.."))  # where `agentmux` lies
        from agentmux.adapters.pane.gate import Ended, hold  # noqa: PLC0415 (only for stopped panes)

        self.leave("stopped", _now() + "\n")

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
        except Ended as ended:
            raise EndedEarly(ended.number) from None

    def take_claim(self, path: str | None) -> None:
        """Hold the conversation for as long as this process lives, or refuse."""
        if not path:
            return
        try:
            os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)  # noqa: PTH103, PTH120 (without pathlib)
            self.claim = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
            fcntl.flock(self.claim, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Refusal(CLAIM_TAKEN, "another pane holds this conversation") from None
        except OSError as error:
            raise Refusal(NOT_STARTED, f"cannot take {path}: {error.strerror}") from None

    def drop_claim(self) -> None:
        """Let the conversation go."""
        if self.claim >= 0:
            os.close(self.claim)
            self.claim = -1

    def fork(self, argv: list[str], env: dict[str, str]) -> None:
        """Start the agent; returns when it runs."""
        prctl = _prctl()
        reads, writes = os.pipe()  # closed by exec: what comes through is why exec failed
        parent = os.getpid()
        self.agent = os.fork()
        if self.agent == 0:
            try:
                _become(argv, env, prctl, parent)
            except OSError as error:
                os.write(writes, str(error.errno).encode())
            finally:
                os._exit(NOT_FOUND)
        os.close(writes)
        _to_foreground(self.agent)
        why = os.read(reads, 16)
        os.close(reads)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _FORWARDED)
        if why:
            os.waitpid(self.agent, 0)
            self.agent = 0
            code = int(why)
            status = NOT_FOUND if code in {errno.ENOENT, errno.ENOTDIR} else NOT_STARTED
            raise Refusal(status, f"cannot start {argv[0]}: {os.strerror(code)}")

    def wait(self) -> tuple[int | None, int | None]:
        """Wait for the agent; returns its exit status, or the signal that ended it."""
        while True:
            found = os.waitid(os.P_PID, self.agent, os.WEXITED | os.WSTOPPED | os.WNOWAIT)
            if found is None or found.si_code != os.CLD_STOPPED:
                break
            # No shell is here to bring a stopped agent back: Ctrl-Z must not freeze the pane.
            os.waitid(os.P_PID, self.agent, os.WSTOPPED)
            self.signal_agent(signal.SIGCONT)
        signal.setitimer(signal.ITIMER_REAL, 0)
        if self.ending:  # what it left behind goes too; its group id is ours until it is reaped
            self.signal_agent(signal.SIGKILL)
        signal.pthread_sigmask(signal.SIG_BLOCK, (*_FORWARDED, signal.SIGALRM))
        code = os.waitstatus_to_exitcode(os.waitpid(self.agent, 0)[1])
        return (code, None) if code >= 0 else (None, -code)

    def forward(self, number: int, _frame: object) -> None:
        """Hand HUP or TERM to the agent, and give it its time."""
        self.hup = self.hup or number == signal.SIGHUP
        self.signal_agent(number)
        if not self.ending:
            self.ending = True
            signal.setitimer(signal.ITIMER_REAL, max(self.grace_s, 0.001))

    def kill(self, _number: int, _frame: object) -> None:
        """End an agent that did not go in its time."""
        self.signal_agent(signal.SIGKILL)

    def signal_agent(self, number: int) -> None:
        """Signal the agent and all it has in its process group."""
        if self.agent:
            _try(os.killpg, self.agent, number)  # gone, or all of it a zombie

    def settle(self) -> None:
        """Wait until tmux shows all that was printed: it answers a status report in its turn.

        When a program ends, tmux drops what it has not read yet; a busy server lost the last words
        of 2 in 100.
        """
        import select  # noqa: PLC0415 (not needed at start-up)
        import termios  # noqa: PLC0415 (as above)

        try:
            os.tcsetpgrp(0, os.getpgrp())
            mode = termios.tcgetattr(0)
            mode[3] &= ~(termios.ECHO | termios.ICANON)
            termios.tcsetattr(0, termios.TCSAFLUSH, mode)
            os.write(1, b"\x1b[5n")
            select.select([0], [], [], SETTLE_S)
        except (OSError, termios.error):
            return  # no terminal, or gone
        if self.agent:  # what the agent left behind gets its HUP when we go
            _try(os.tcsetpgrp, 0, self.agent)

    def record(self, status: int | None, number: int | None) -> None:
        """Leave the exit record; a launch folder that is gone wants none."""
        self.leave(
            "exit.json",
            json.dumps(
                {
                    "status": status,
                    "signal": number,
                    "hup": self.hup,
                    "claim_taken": status == CLAIM_TAKEN and self.started_at is None,
                    "started_at": self.started_at,
                    "ended_at": _now(),
                }
            )
            + "\n",
        )

    def leave(self, name: str, text: str) -> None:
        """Write a file of the launch whole: temporary, flushed, renamed, folder flushed."""
        try:
            self.write(name, text)
        except OSError as error:
            _say(f"cannot write {name}: {error.strerror}")

    def write(self, name: str, text: str) -> None:
        """As `leave`, but let the caller hear of what goes wrong."""
        path, data = f"{self.folder}/{name}", text.encode()
        for place in (os.path.dirname(self.folder), self.folder):  # noqa: PTH120 (without pathlib)
            if os.path.islink(place):  # noqa: PTH114 (without pathlib)
                raise OSError(errno.ELOOP, f"{place} is a link")
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW
        file = os.open(path + ".tmp", flags, 0o600)
        while data:
            data = data[os.write(file, data) :]
        os.fsync(file)
        os.close(file)
        os.rename(path + ".tmp", path)  # noqa: PTH104 (without pathlib)
        folder = os.open(self.folder, os.O_RDONLY)
        os.fsync(folder)
        os.close(folder)


def environment(launch: dict) -> dict[str, str]:  # type: ignore[type-arg]  # JSON
    """Our environment without what is to be unset (a ``*`` ends a prefix), under the overlay."""
    unset = launch.get("unset") or []
    names = {name for name in unset if not name.endswith("*")}
    prefixes = tuple(name[:-1] for name in unset if name.endswith("*"))
    kept = {
        name: value
        for name, value in os.environ.items()  # noqa: TID251 (it is ours to hand on)
        if name not in names and not (prefixes and name.startswith(prefixes))
    }
    return kept | (launch.get("env") or {})


def _become(argv: list[str], env: dict[str, str], prctl: object, parent: int) -> None:
    """Turn the child into the agent: own group, in the foreground, signals as at login."""
    os.setpgid(0, 0)
    _to_foreground(os.getpid())
    if callable(prctl):
        prctl(PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
        if os.getppid() != parent:
            os._exit(NOT_STARTED)
    for number in (*_IGNORED, *_FORWARDED, signal.SIGALRM, signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _FORWARDED)
    os.execvpe(argv[0], argv, env)  # noqa: S606 (that is what this program is for)


def _to_foreground(group: int) -> None:
    """Give the terminal to ``group``; both sides of the fork do it, so neither can be late."""
    _try(os.setpgid, group, group)  # done by the other side, or past exec
    _try(os.tcsetpgrp, 0, group)  # no terminal here


def _try(call: Callable[..., object], *arguments: object) -> None:
    """Call what may fail for a good reason (contextlib would be one import more at start-up)."""
    try:  # noqa: SIM105 (without contextlib)
        call(*arguments)
    except OSError:
        pass


def _prctl() -> object:
    """The function that ties the agent's life to ours; None where the system has none."""
    if sys.platform != "linux":
        return None
    import ctypes  # noqa: PLC0415 (Linux only)

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
    """Show one dim line; the record matters more than a terminal that does not take it."""
    clean = "".join(char if char.isprintable() else "?" for char in text)
    line = f"\r\n\x1b[0;2m[{clean}]\x1b[0m\x1b[?25h\r\n"
    _try(os.set_blocking, 1, False)
    _try(os.write, 1, line.encode())


def _tell(lines: list[str]) -> None:
    """Show what the user is to know, above what the agent shows."""
    for text in lines:
        clean = "".join(char if char.isprintable() else "?" for char in text)
        _try(os.write, 1, f"\x1b[0;2m[{clean}]\x1b[0m\r\n".encode())


def _poke(path: str) -> None:
    """Wake the orchestrator, if one is there; it looks for what was chosen by itself too."""
    try:
        pipe = os.open(path, os.O_WRONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
    except OSError:
        return
    _try(os.write, pipe, b"w\n")
    os.close(pipe)


def main() -> int:
    """Run the launch named on the command line."""
    status = Wrapper(sys.argv[1]).run()
    os.closerange(0, 3)
    time.sleep(LINGER_S)  # noqa: TID251 (see LINGER_S)
    return status


if __name__ == "__main__":
    os._exit(main())
