"""All talk with one tmux server, over its command line.

Objects of libtmux would cost an import of 148 ms and have no timeout, no stdin and no rule for
words that end in ``;``; they are for tests and cold paths.
"""

from __future__ import annotations

import os
import stat
import subprocess
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Final

from agentmux.adapters import tmux_commands as say
from agentmux.adapters.processes import start_time
from agentmux.core.environment import Change
from agentmux.core.frozen import dataclass
from agentmux.errors import NAME_TAKEN, BlockedError, MissingError
from agentmux.ports.terminal import (
    CreatedSession,
    NewPane,
    Pane,
    Screen,
    ScreensUnreadableError,
    Server,
    TerminalError,
    TerminalUnreachableError,
    TmuxSession,
)

MINIMUM_VERSION: Final = (3, 2)
"""The first with ``new-session -e`` and ``copy-mode -q``."""

SOCKET_PATH_MAX: Final = 107
"""Bytes in ``sun_path`` (unix(7)), less the final NUL."""

_INSTALL = "install it: `apt install tmux`, `dnf install tmux` or `brew install tmux`"

# tmux's own words (client.c, cmd-find.c, spawn.c, cmd-join-pane.c), the same from 3.2 to 3.8.
_NO_SERVER = ("no server running on", "No such file or directory", "Connection refused")
_SERVER_WENT = ("server exited unexpectedly", "lost server", "server exited")
_OTHER_VERSION = "protocol version mismatch"
_UNREACHABLE = ("error connecting to", "access not allowed", _OTHER_VERSION)
_NO_TARGET = ("can't find", "no such session", "no such window", "no such pane", "no current")
_TOO_LONG = ("command too long", "failed to send command")
_NO_SPACE = ("no space for", "too small")

_CREATE_TRIES: Final = 3
_CREATE_WAIT_S: Final = 30.0
"""At least: a session that tmux was told to make it makes, even after we have given up on it."""
_ARRANGE_TRIES: Final = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reply:
    returncode: int
    stdout: str
    stderr: str

    def says(self, words: Sequence[str]) -> bool:
        return self.returncode != 0 and any(word in self.stderr for word in words)


def version(*, timeout_s: float = 5.0) -> str:
    """What ``tmux -V`` says, such as ``tmux 3.3a``.

    Raises:
        MissingError: tmux is not installed, or older than `MINIMUM_VERSION`.
    """
    text = _call(["tmux", "-V"], timeout_s=timeout_s).stdout.strip()
    found = say.parse_version(text)
    if found is not None and found < MINIMUM_VERSION:
        minimum = ".".join(map(str, MINIMUM_VERSION))
        raise MissingError(f"{text} is too old: {minimum} or newer is needed", hints=(_INSTALL,))
    return text


def socket_path(*, name: str | None = None, tmux_tmpdir: str | None = None) -> str:
    """Where tmux keeps the socket of a named server (``-L``), or of the default one."""
    folder = os.path.realpath(tmux_tmpdir) if tmux_tmpdir and Path(tmux_tmpdir).is_dir() else "/tmp"  # noqa: S108 (tmux's own)
    return f"{folder}/tmux-{os.getuid()}/{name or 'default'}"


class TmuxTerminal:
    """`agentmux.ports.terminal.Terminal` on a real tmux server.

    It holds no state of the server's, so any number of them may look at one server.
    """

    def __init__(
        self,
        socket: str | None = None,
        *,
        name: str | None = None,
        config_file: str | None = None,
        timeout_s: float = 5.0,
        tmux_tmpdir: str | None = None,
    ) -> None:
        """Take the socket by path, else by name, else the user's default one.

        Args:
            socket: Absolute path.
            name: As in ``tmux -L``.
            config_file: Read instead of the user's when this starts the server.
            timeout_s: For each call; making a session may take longer.
            tmux_tmpdir: The value of ``TMUX_TMPDIR``, where set.
        """
        self._socket = socket or socket_path(name=name, tmux_tmpdir=tmux_tmpdir)
        self._prefix = ["tmux", "-u", *(["-f", config_file] if config_file else []), "-S"]
        self._prefix.append(self._socket)
        self._timeout_s = timeout_s

    @property
    def socket(self) -> str:
        """Absolute path of the server's socket."""
        return self._socket

    def server(self) -> Server:
        """The server that answers here; pid 0 when none runs."""
        reply = self._ask("display-message", "-p", "#{pid}")
        pid = int(reply.stdout.strip() or 0) if reply else 0
        return Server(socket=self._socket, pid=pid, started=start_time(pid))

    def sessions(self) -> tuple[TmuxSession, ...]:
        """Every session of the server; empty when no server runs."""
        return self.listing()[1]

    def listing(self) -> tuple[int, tuple[TmuxSession, ...]]:
        """The pid of the server that answers, 0 for none, and its sessions; in one call."""
        reply = self._ask(*say.join(say.LISTING))
        return say.parse_listing(reply.stdout) if reply else (0, ())

    def create_session(
        self, *, name: str, uuid: str, cwd: Path, size: tuple[int, int], argv: Sequence[str]
    ) -> CreatedSession:
        """Make a detached session whose first pane, the monitor, runs ``argv``; all in one call."""
        self._make_folder()
        words = say.join(say.create(name=name, uuid=uuid, cwd=str(cwd), size=size, argv=argv))
        reply = self._create(words, uuid)
        if reply.says(("duplicate session",)):
            raise BlockedError(
                f"a tmux session named {name} exists already",
                reason=NAME_TAKEN,
                hints=(f"look at it: `tmux attach -t ={name}`",),
            )
        if reply.returncode != 0 and reply.stdout.startswith("$"):
            # Made, but its marks found no place (a hook renamed it): nobody would know it again.
            self.kill_session(reply.stdout.partition("\t")[0])
        made = self._expect(reply).stdout.rstrip("\n").split("\t")
        session, real_name, window, pane, pid, exits = made
        if exits == "1" and not self.run("list-clients").stdout:
            self.kill_session(session)
            raise TerminalError(
                f"the tmux server at {self._socket} ends while nobody looks at it",
                hints=("take `exit-unattached on` out of your tmux.conf",),
            )
        # Comfort only, and unknown to tmux before 3.3: a refusal changes nothing else.
        self.run(*say.join([say.repair_hook(window)]))
        return CreatedSession(
            session=TmuxSession(id=session, name=real_name, uuid=uuid),
            pane=pane,
            server=Server(socket=self._socket, pid=int(pid), started=start_time(int(pid))),
        )

    def reopen_monitor(self, session: str, *, cwd: Path, argv: Sequence[str]) -> str:
        """Run ``argv`` in the monitor's pane, ending what runs there; make it where it is gone."""
        _, monitor, _ = self._look(session)
        if monitor:
            place = ("-c", say.literal(str(cwd)), "-t", monitor)
            self._must(say.join([("respawn-pane", "-k", *place, "--", *argv)]))
            return monitor
        return self._must(say.join(say.monitor_window(session, str(cwd), argv))).stdout.strip()

    def panes(self, session: str) -> tuple[Pane, ...]:
        """Every pane of the session with id ``session``; empty when the session is gone."""
        return self._look(session)[0]

    def open_panes(self, session: str, panes: Sequence[NewPane]) -> Mapping[str, str]:
        """Open each pane in a window of its own; the user's focus stays where it is."""
        made: dict[str, str] = {}
        for _, reply in self._batched(say.open_pane(session, pane) for pane in panes):
            made.update(say.parse_opened(self._expect(reply).stdout))
        return made

    def arrange(self, session: str, visible: Sequence[str]) -> None:
        """Show these panes at the right of the monitor, park every other pane of ours.

        Panes for which there is no room stay parked.
        """
        for _ in range(_ARRANGE_TRIES):
            panes, monitor, zoomed = self._look(session)
            if not monitor or zoomed:
                return
            groups = _moves(panes, monitor, visible)
            replies = (reply for _, reply in self._batched(groups))
            failed = next((reply for reply in replies if reply.returncode), None)
            if failed is None or failed.says(_NO_SPACE):
                return
            if not failed.says(_NO_TARGET):
                self._expect(failed)
            # A pane went away between the look and the moves: look again.

    def label(self, labels: Mapping[str, str]) -> None:
        """Set the text in the border of each pane; panes that are gone are left out."""
        groups = (
            [("set-option", "-pq", "-t", pane, say.LABEL, say.printable(label))]
            for pane, label in labels.items()
        )
        for _, reply in self._batched(groups):
            self._expect(reply)

    def capture(self, panes: Sequence[str], *, colours: bool = True) -> Mapping[str, Screen]:
        """The screens of these panes in one call; panes that are gone are left out."""
        mark, left = os.urandom(16).hex(), iter(panes)
        screens: dict[str, Screen] = {}
        groups = ([say.capture(pane, mark=mark, colours=colours)] for pane in panes)
        for number, reply in self._batched(groups):
            asked = [*islice(left, number)]
            if not reply.says((*_NO_SERVER, *_NO_TARGET)):
                screens.update(self._screens(self._expect(reply), mark, asked, colours=colours))
        return screens

    def _screens(
        self, reply: _Reply, mark: str, asked: Sequence[str], *, colours: bool
    ) -> Mapping[str, Screen]:
        try:
            return say.parse_screens(reply.stdout, mark=mark, asked=asked, colours=colours)
        except ValueError as error:
            raise ScreensUnreadableError(
                f"the answer of the tmux server at {self._socket} cannot be read: {error}",
                hints=("see its version: `tmux -V` (3.2 to 3.8 are known to work)",),
            ) from error

    def paste(self, pane: str, text: str) -> None:
        """Put ``text`` into the pane as one bracketed paste, newlines kept; no Enter."""
        buffer = f"agentmux-{os.getpid()}-{pane}"
        words = say.join(
            [
                _leave_modes(pane),
                ("load-buffer", "-b", buffer, "-"),
                ("paste-buffer", "-p", "-r", "-d", "-b", buffer, "-t", pane),
            ]
        )
        reply = self.run(*words, stdin=text)
        if reply.returncode:
            self.run("delete-buffer", "-b", buffer)
        self._expect(reply)

    def press_enter(self, pane: str) -> None:
        """Send one Enter."""
        self._must(say.join([_leave_modes(pane), ("send-keys", "-t", pane, "Enter")]))

    def close_panes(self, panes: Sequence[str], *, vacate: Collection[str] = ()) -> None:
        """Kill these panes; those already gone are fine. Some leave their place empty."""
        groups = (
            [say.vacate(pane) if pane in vacate else say.guarded(pane, f"kill-pane -t {pane}")]
            for pane in panes
        )
        for _, reply in self._batched(groups):
            if not reply.says((*_NO_SERVER, *_SERVER_WENT)):
                self._expect(reply)

    def set_environment(self, session: str, change: Change) -> None:
        """Change what panes made from now on have; no value stands in an argument on the way."""
        self._expect(self.run("source-file", "-", stdin=say.set_environment(session, change)))

    def kill_session(self, session: str) -> None:
        """Kill the session with id ``session``; a session already gone is fine.

        Clients that were in another session before go back there, and are not thrown out of tmux.
        """
        clients = self.run("list-clients", "-t", session, "-F", say.CLIENT_FORMAT)
        for words in say.ways_back(clients.stdout):
            self.run(*say.join([words]))
        reply = self.run("kill-session", "-t", session)
        if not reply.says((*_NO_SERVER, *_SERVER_WENT, *_NO_TARGET)):
            self._expect(reply)

    def run(self, *words: str, stdin: str | None = None) -> _Reply:
        """Say something to tmux; words are passed as they are (`tmux_commands.join` escapes).

        Raises:
            TerminalUnreachableError: No answer in time. The command may still be carried out.
        """
        return _call([*self._prefix, *words], stdin=stdin, timeout_s=self._timeout_s)

    def _batched(self, groups: Iterable[Sequence[say.Command]]) -> Iterator[tuple[int, _Reply]]:
        """Say groups of commands in as few calls as fit; how many were in each, and its reply."""
        for batch in say.batches(groups):
            yield from self._halved(batch)

    def _halved(self, batch: Sequence[Sequence[say.Command]]) -> Iterator[tuple[int, _Reply]]:
        """Say them in one call, or in two where this tmux takes less: it refuses a whole call."""
        reply = self.run(*say.join(command for group in batch for command in group))
        if len(batch) > 1 and reply.says(_TOO_LONG):
            half = len(batch) // 2
            yield from self._halved(batch[:half])
            yield from self._halved(batch[half:])
        else:
            yield len(batch), reply

    def _look(self, session: str) -> tuple[tuple[Pane, ...], str, bool]:
        """The panes of a session, its monitor, and whether that is zoomed."""
        reply = self._ask("list-panes", "-s", "-t", session, "-F", say.PANE_FORMAT)
        return say.parse_panes(reply.stdout) if reply else ((), "", False)

    def _ask(self, *words: str) -> _Reply | None:
        """Ask for facts; None where there is no server, or no such session."""
        reply = self.run(*words)
        if reply.says((*_NO_SERVER, *_NO_TARGET)):
            return None
        return self._expect(reply)

    def _must(self, words: Sequence[str]) -> _Reply:
        return self._expect(self.run(*words))

    def _expect(self, reply: _Reply) -> _Reply:
        if reply.returncode == 0:
            return reply
        words = reply.stderr.strip() or f"exit status {reply.returncode}"
        if reply.says((*_NO_SERVER, *_SERVER_WENT, *_UNREACHABLE)):
            hint = f"look at it: `tmux -S {self._socket} list-sessions`"
            if reply.says((_OTHER_VERSION,)):
                hint = "tmux was upgraded: finish what runs there with the version that started it"
            raise TerminalUnreachableError(
                f"the tmux server at {self._socket} cannot be reached: {words}", hints=(hint,)
            )
        raise TerminalError(f"tmux refused: {words}")

    def _create(self, words: Sequence[str], uuid: str) -> _Reply:
        """Create, and again where a server that was just ending took the call with it."""
        argv, limit = [*self._prefix, *words], max(self._timeout_s, _CREATE_WAIT_S)
        reply = _call(argv, timeout_s=limit)
        for _ in range(_CREATE_TRIES):
            if not reply.says(_SERVER_WENT):
                break
            time.sleep(0.05)  # noqa: TID251 (the old server's socket goes away with it, unannounced)
            if any(session.uuid == uuid for session in self.sessions()):
                break
            reply = _call(argv, timeout_s=limit)
        return reply

    def _make_folder(self) -> None:
        """Make the socket's folder, private as tmux wants it, and check the socket's length."""
        if len(os.fsencode(self._socket)) > SOCKET_PATH_MAX:
            raise TerminalError(
                f"the tmux socket's path is longer than {SOCKET_PATH_MAX} bytes: {self._socket}",
                hints=("set a shorter TMUX_TMPDIR",),
            )
        folder = Path(self._socket).parent
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            facts = folder.stat()
        except OSError as error:
            raise TerminalError(f"cannot make {folder}: {error.strerror}") from error
        if facts.st_uid != os.getuid() or facts.st_mode & (stat.S_IWGRP | stat.S_IRWXO):
            raise TerminalError(
                f"{folder} has unsafe permissions", hints=(f"mend it: `chmod 700 {folder}`",)
            )


def _call(argv: list[str], *, timeout_s: float, stdin: str | None = None) -> _Reply:
    """Run tmux once; everything that is said to it goes through here."""
    try:
        done = subprocess.run(
            [_encoded(word) for word in argv],
            input=(stdin or "").encode(),
            capture_output=True,
            timeout=timeout_s,
            check=False,
        )
    except FileNotFoundError:
        raise MissingError("tmux is not installed", hints=(_INSTALL,)) from None
    except subprocess.TimeoutExpired:
        raise TerminalUnreachableError(
            f"tmux did not answer within {timeout_s:g} s: {' '.join(argv[:5])}",
            hints=("a stopped server goes on with `kill -CONT <its pid>`",),
        ) from None
    return _Reply(
        returncode=done.returncode,
        stdout=done.stdout.decode(errors="replace"),
        stderr=done.stderr.decode(errors="replace"),
    )


def _encoded(word: str) -> bytes:
    """Encode as the system does, for paths; what that cannot say is ours, and tmux reads UTF-8."""
    try:
        return os.fsencode(word)
    except UnicodeEncodeError:
        return word.encode()


def _leave_modes(pane: str) -> say.Command:
    """Leave copy mode, where keys would go to tmux and not to the program."""
    return ("if-shell", "-F", "-t", pane, "#{pane_in_mode}", f"copy-mode -q -t {pane}")


def _moves(panes: Sequence[Pane], monitor: str, visible: Sequence[str]) -> list[list[say.Command]]:
    """The moves from the panes as they are to those that shall be seen.

    One takes the place of another where it can: the monitor keeps its width meanwhile.
    """
    ours = {pane.id: pane for pane in panes if pane.launch or say.is_vacant(pane)}
    shown = [pane.id for pane in panes if pane.visible]
    leaving = [ours[pane] for pane in shown if pane in ours and pane not in visible]
    coming = [pane for pane in visible if pane in ours and pane not in shown]
    follows = {before.id: pane for before, pane in zip(leaving, coming, strict=False)}
    groups = [say.follow(follows[each.id], each) for each in leaving if each.id in follows]
    for each in leaving[len(follows) :]:
        vacant = say.is_vacant(each)
        groups.append([("kill-pane", "-t", each.id)] if vacant else say.park(each))
        shown.remove(each.id)
    if shown[0] != monitor:
        groups.append([("swap-pane", "-d", "-s", monitor, "-t", shown[0])])
    groups.append(say.layout(monitor))
    below = next((follows.get(pane, pane) for pane in reversed(shown) if pane != monitor), monitor)
    for pane in coming[len(follows) :]:
        groups.append(say.show(pane, monitor=monitor, below=below))
        below = pane
    return groups
