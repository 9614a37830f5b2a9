"""A terminal without tmux: real processes on ptys, everything else in memory.

It meets the contract in ``tests/adapters/tmux/test_terminal_contract.py``, as the real one does.
The screen supports text, newlines, carriage returns, clearing and SGR, but no cursor movement.
"""

from __future__ import annotations

import itertools
import os
import pty
import re
import signal
import subprocess
import threading
import time
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from agentmux.adapters.system.processes.processes import is_alive, start_time
from agentmux.errors import BlockedError
from agentmux.ports.tmux.terminal import (
    Arranged,
    Client,
    CreatedSession,
    HiddenServerError,
    LeaveKeys,
    NewPane,
    Pane,
    Screen,
    Server,
    ServerListing,
    Target,
    TerminalError,
    TerminalGoneError,
    TerminalUnreachableError,
    TmuxSession,
)

_SGR = re.compile(r"\x1b\[[0-9;]*m")
_CLEAR = re.compile(r"\x1b\[[0-3]?J|\x1bc|\x1b\[\?1049[hl]")
_OTHER = re.compile(
    r"\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b\[[0-9;?]*[@-ln-~]|\x1b[()].|\x1b[^\[\]]"
)
_STATUS_REPORT = b"\x1b[5n"  # ECMA-48 DSR: the answer tells a program that its output was read
_END_OF_PASTE = "\x1b[201~"


@dataclass(slots=True, kw_only=True, eq=False)
class FakePane:
    """A process, its pty, and its output."""

    id: str
    window: str
    program: subprocess.Popen[bytes]
    master: int
    size: tuple[int, int]
    seat: str = ""
    launch: str = ""
    label: str = ""
    options: dict[str, str] = field(default_factory=dict)
    output: bytes = b""
    typed: list[str] = field(default_factory=list)
    activity: int = 0
    killed: bool = False
    reader: threading.Thread | None = None

    def is_dead(self) -> bool:
        """Return whether the program has ended; if so, its last output is on the screen."""
        if self.program.poll() is None:
            return False
        if self.reader is not None:
            self.reader.join(timeout=0.05)  # the program's child may still have the pty open
        return True

    def read(self) -> None:
        """Read the program's output until its end; runs in its own thread."""
        while True:
            try:
                more = os.read(self.master, 65536)
            except OSError:
                more = b""
            if not more:
                return
            if _STATUS_REPORT in more:
                os.write(self.master, b"\x1b[0n")
            self.output = (self.output + more)[-1_000_000:]
            self.activity = int(time.time())

    def lines(self) -> list[str]:
        """Return the rows on the screen."""
        text = _CLEAR.split(self.output.decode(errors="replace"))[-1]
        rows = [
            row.rpartition("\r")[2]
            for row in _OTHER.sub("", text).replace("\r\n", "\n").split("\n")
        ]
        return rows[-self.size[1] :]


@dataclass(slots=True, kw_only=True, eq=False)
class FakeSession:
    """A session and its panes, the monitor first."""

    facts: TmuxSession
    panes: dict[str, FakePane]
    monitor: str
    size: tuple[int, int]
    options: dict[str, str] = field(default_factory=dict)
    current: str = ""


class FakeTerminal:
    """`agentmux.ports.tmux.terminal.Terminal` in memory."""

    def __init__(self, socket: str = "/nowhere/fake", env: Mapping[str, str] | None = None) -> None:
        self._socket = socket
        self._env = dict(os.environ if env is None else env)
        self._sessions: dict[str, FakeSession] = {}
        self._numbers = itertools.count()
        self._server: subprocess.Popen[bytes] | None = None
        self.frozen = False
        self.zoomed = False
        self.messages: list[str] = []

    # Methods for tests.

    def freeze(self) -> None:
        """Answer nothing from now on."""
        self.frozen = True

    def thaw(self) -> None:
        """Answer again."""
        self.frozen = False

    def kill_server(self) -> None:
        """End every session at once, as kill -9 of a tmux server does."""
        for session in self._sessions.values():
            for pane in session.panes.values():
                _hang_up(pane)
        self._sessions.clear()
        if self._server is not None:
            self._server.kill()
            self._server.wait()
            self._server = None

    def close(self) -> None:
        """End all sessions and processes; a process that does not end in time is killed."""
        panes = [pane for session in self._sessions.values() for pane in session.panes.values()]
        self.thaw()
        self.kill_server()
        for pane in panes:
            try:
                pane.program.wait(timeout=5)
            except subprocess.TimeoutExpired:
                pane.program.kill()
                pane.program.wait()

    def pane(self, pane: str) -> FakePane:
        """Return the fake pane with this id.

        Raises:
            StopIteration: There is no such pane.
        """
        return next(one.panes[pane] for one in self._sessions.values() if pane in one.panes)

    # The protocol `Terminal`; the methods of `OwnSession` take the session's id here.

    @property
    def socket(self) -> str:
        return self._socket

    def server(self) -> Server:
        self._answer()
        pid = self._server.pid if self._server else 0
        return Server(socket=self._socket, pid=pid, started=start_time(pid))

    def sessions(self) -> tuple[TmuxSession, ...]:
        self._answer()
        return tuple(session.facts for session in self._sessions.values())

    def listing(self) -> ServerListing:
        return ServerListing(server=self.server(), sessions=self.sessions())

    def own(self, target: Target) -> FakeOwn:
        return FakeOwn(self, target)

    def create_session(
        self,
        *,
        name: str,
        uuid: str,
        path: str = "",
        cwd: Path,
        size: tuple[int, int],
        argv: Sequence[str],
    ) -> CreatedSession:
        self._answer()
        if any(session.facts.name == name for session in self._sessions.values()):
            raise BlockedError(f"a tmux session named {name} exists already", reason="name_taken")
        if self._server is None:
            self._server = subprocess.Popen(["sleep", "1000000"], start_new_session=True)
        facts = TmuxSession(id=f"${next(self._numbers)}", name=name, uuid=uuid, path=path)
        monitor = self._start(argv, size=size, cwd=cwd)
        self._sessions[facts.id] = FakeSession(
            facts=facts, panes={monitor.id: monitor}, monitor=monitor.id, size=size
        )
        return CreatedSession(session=facts, pane=monitor.id, server=self.server())

    def reopen_monitor(self, session: str, *, cwd: Path, argv: Sequence[str]) -> str:
        self._answer()
        found = self._session(session)
        old = found.panes.pop(found.monitor, None)
        if old is not None:
            _hang_up(old)
        made = self._start(argv, size=found.size, cwd=cwd)
        if old is not None:
            made.id, made.window = old.id, old.window
        found.panes = {made.id: made} | found.panes
        found.monitor = made.id
        return made.id

    def panes(self, session: str) -> tuple[Pane, ...]:
        self._answer()
        found = self._sessions.get(session)
        if found is None:
            return ()
        window = found.panes[found.monitor].window if found.monitor in found.panes else ""
        return tuple(
            Pane(
                id=pane.id,
                window=pane.window,
                pid=pane.program.pid,
                dead=pane.is_dead(),
                seat=pane.seat,
                launch=pane.launch,
                visible=pane.window == window,
                activity=pane.activity,
                is_monitor=pane.id == found.monitor,
            )
            for pane in found.panes.values()
        )

    def open_panes(self, session: str, panes: Sequence[NewPane]) -> Mapping[str, str]:
        self._answer()
        found = self._session(session)
        for new in panes:
            made = self._start(new.argv, size=found.size, cwd=None)
            made.seat, made.launch, made.label = new.seat, new.launch, new.label
            found.panes[made.id] = made
        launches = {new.launch for new in panes}
        return {pane.launch: pane.id for pane in found.panes.values() if pane.launch in launches}

    def arrange(self, session: str, visible: Sequence[str]) -> Arranged:
        self._answer()
        found = self._sessions.get(session)
        if found is None or found.monitor not in found.panes or self.zoomed:
            return Arranged(later=self.zoomed)
        window = found.panes[found.monitor].window
        for pane in found.panes.values():
            if pane.launch and pane.id in visible:
                pane.window = window
            elif pane.launch and pane.window == window:
                pane.window = f"@{next(self._numbers)}"
        return Arranged()

    def go_to(self, session: str, pane: str) -> bool:
        self._answer()
        found = self._session(session)
        found.current = pane if pane in found.panes else found.current
        return pane in found.panes

    def options(self, session: str) -> Mapping[str, str]:
        """Return the options that were set on a session."""
        return self._session(session).options

    def set_options(
        self, session: str, options: Mapping[str, str], panes: Mapping[str, Mapping[str, str]]
    ) -> None:
        self._answer()
        found = self._session(session)
        found.options.update(options)
        for pane in panes.keys() & found.panes.keys():
            found.panes[pane].options.update(panes[pane])

    def tell_clients(self, session: str, text: str) -> None:
        self._answer()
        self.messages.append(text)

    def label(self, labels: Mapping[str, str]) -> None:
        self._answer()
        for pane in self._all():
            pane.label = labels.get(pane.id, pane.label)

    def capture(self, panes: Sequence[str], *, colours: bool = True) -> Mapping[str, Screen]:
        self._answer()
        return {pane.id: _screen(pane, colours=colours) for pane in self._all() if pane.id in panes}

    def type_text(self, pane: str, text: str) -> None:
        self._type(pane, text)

    def paste(self, pane: str, text: str) -> None:
        framed = b"\x1b[?2004h" in self._write_to(pane).output
        self._type(pane, f"\x1b[200~{text}{_END_OF_PASTE}" if framed else text)
        self._write_to(pane).typed.append(text)

    def press_enter(self, pane: str) -> None:
        self._type(pane, "\r")
        self._write_to(pane).typed.append("\r")

    def press_keys(self, pane: str, keys: Sequence[str]) -> None:
        """Press keys; of those with names only Enter is known."""
        for key in keys:
            self._type(pane, "\r" if key == "Enter" else key)

    def close_panes(self, panes: Sequence[str], *, vacate: Collection[str] = ()) -> None:
        self._answer()
        for session in tuple(self._sessions.values()):
            for pane in panes:
                if pane in session.panes:
                    _hang_up(session.panes.pop(pane))
            if not session.panes:
                del self._sessions[session.facts.id]
        self._exit_when_empty()

    def kill_session(self, session: str) -> None:
        self._answer()
        if session in self._sessions:
            self.close_panes(tuple(self._sessions[session].panes))

    def _exit_when_empty(self) -> None:
        if not self._sessions:
            self.kill_server()

    def _answer(self) -> None:
        if self.frozen:
            raise TerminalUnreachableError("the fake server does not answer")

    def _session(self, session: str) -> FakeSession:
        if not self._sessions:
            raise TerminalUnreachableError("no server running")
        if session not in self._sessions:
            raise TerminalError(f"tmux refused: can't find session: {session}")
        return self._sessions[session]

    def _all(self) -> list[FakePane]:
        return [pane for session in self._sessions.values() for pane in session.panes.values()]

    def _start(self, argv: Sequence[str], *, size: tuple[int, int], cwd: Path | None) -> FakePane:
        master, slave = pty.openpty()
        number = next(self._numbers)
        program = subprocess.Popen(
            argv,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
            cwd=cwd,
            env=self._env | {"TERM": "screen", "AGENTMUX_SESSION_ID": ""},
        )
        os.close(slave)
        pane = FakePane(
            id=f"%{number}",
            window=f"@{number}",
            program=program,
            master=master,
            size=size,
            activity=int(time.time()),
        )
        pane.reader = threading.Thread(target=pane.read, daemon=True)
        pane.reader.start()
        return pane

    def _write_to(self, pane: str) -> FakePane:
        self._answer()
        found = next((one for one in self._all() if one.id == pane), None)
        if found is None:
            raise TerminalError(f"tmux refused: can't find pane: {pane}")
        return found

    def _type(self, pane: str, keys: str) -> None:
        os.write(self._write_to(pane).master, keys.encode())


class FakeOwn:
    """`agentmux.ports.tmux.terminal.OwnSession` in memory."""

    def __init__(self, terminal: FakeTerminal, target: Target) -> None:
        self._terminal = terminal
        self._target = target

    @property
    def target(self) -> Target:
        return self._target

    def count_clients(self) -> int:
        return self._checked().sessions()[0].attached

    def clients(self) -> tuple[Client, ...]:
        return tuple(
            Client(name=f"/dev/pts/{number}", came_from="")
            for number in range(self.count_clients())
        )

    def leave_keys(self) -> LeaveKeys:
        self._checked()
        return LeaveKeys(detach="C-b d", back="C-b L")

    def reopen_monitor(self, *, cwd: Path, argv: Sequence[str]) -> str:
        return self._checked().reopen_monitor(self._target.session, cwd=cwd, argv=argv)

    def panes(self) -> tuple[Pane, ...]:
        return self._checked().panes(self._target.session)

    def find_pane(self, launch: str) -> str:
        return next((each.id for each in self.panes() if each.launch == launch), "")

    def open_panes(self, panes: Sequence[NewPane]) -> Mapping[str, str]:
        return self._checked().open_panes(self._target.session, panes)

    def arrange(self, visible: Sequence[str]) -> Arranged:
        return self._checked().arrange(self._target.session, visible)

    def go_to(self, pane: str) -> bool:
        return self._checked().go_to(self._target.session, pane)

    def set_options(
        self, session: Mapping[str, str], panes: Mapping[str, Mapping[str, str]]
    ) -> None:
        self._checked().set_options(self._target.session, session, panes)

    def tell_clients(self, text: str) -> None:
        self._checked().tell_clients(self._target.session, text)

    def label(self, labels: Mapping[str, str]) -> None:
        self._checked().label(labels)

    def capture(self, panes: Sequence[str], *, colours: bool = True) -> Mapping[str, Screen]:
        with suppress(TerminalGoneError):
            return self._checked().capture(panes, colours=colours)
        return {}

    def type_text(self, pane: str, text: str) -> None:
        self._checked().type_text(pane, text)

    def paste(self, pane: str, text: str) -> None:
        self._checked().paste(pane, text)

    def press_enter(self, pane: str) -> None:
        self._checked().press_enter(pane)

    def press_keys(self, pane: str, keys: Sequence[str]) -> None:
        self._checked().press_keys(pane, keys)

    def close_panes(self, panes: Sequence[str], *, vacate: Collection[str] = ()) -> None:
        with suppress(TerminalGoneError):
            self._checked().close_panes(panes, vacate=vacate)

    def kill(self, words: str = "") -> str:
        with suppress(TerminalGoneError):
            self._checked().kill_session(self._target.session)
        return ""

    def _checked(self) -> FakeTerminal:
        """Return the terminal if it still has the same server and our session.

        Raises:
            HiddenServerError: Another server has the socket, but ours is still alive.
            TerminalGoneError: Our server or our session is gone.
        """
        server, ours = self._terminal.server(), self._target.server
        if server != ours:
            if is_alive(ours.pid, ours.started):
                raise HiddenServerError(ours.socket, ours.pid, taken=server.pid)
            raise TerminalGoneError("the tmux server is gone")
        mine = (self._target.session, self._target.uuid)
        if mine not in [(each.id, each.uuid) for each in self._terminal.sessions()]:
            raise TerminalGoneError("the tmux session is gone")
        return self._terminal


def _screen(pane: FakePane, *, colours: bool) -> Screen:
    *above, last = pane.lines()
    rows = [*(row.rstrip(" ") for row in above), last]  # the cursor is in the last one
    plain = [_SGR.sub("", row) for row in rows]
    blank = [""] * (pane.size[1] - len(rows))
    text = "\n".join(plain + blank)
    return Screen(
        ansi="\n".join(rows + blank) if colours else text,
        text=text,
        cols=pane.size[0],
        rows=pane.size[1],
        cursor_row=len(rows) - 1,
        cursor_col=len(plain[-1]),
    )


def _hang_up(pane: FakePane) -> None:
    """End the pane's program as closing its terminal does, with SIGHUP."""
    if pane.killed:
        return
    pane.killed = True
    pane.program.send_signal(signal.SIGHUP)
    threading.Thread(target=_reap, args=(pane,), daemon=True).start()


def _reap(pane: FakePane) -> None:
    pane.program.wait()
    os.close(pane.master)
