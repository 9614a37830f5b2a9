"""tmux as operations use it: its sessions, panes and screens, and typing into panes."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Collection, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

from agentmux.core.codec.frozen import dataclass, field
from agentmux.errors import MissingError

if TYPE_CHECKING:  # who only needs tmux must not import the core, nor what it never runs
    import asyncio

    from agentmux.core.agents.spec import AgentSpec


LINE_MAX: Final = 4000
"""The longest line, in bytes, that is typed into a pane.

A program that reads its terminal in canonical mode loses everything after byte 4096, even Enter.
"""


class TerminalError(MissingError):
    """tmux refused a command; the message contains what tmux printed."""


class TerminalUnreachableError(TerminalError):
    """The tmux server does not answer in time.

    Callers must not go on, because it is unknown which sessions are live there.
    """


class ScreensUnreadableError(TerminalUnreachableError):
    """The tmux server's answer cannot be read, so it is unknown what its panes show."""


class TerminalGoneError(TerminalError):
    """The tmux session of AgentMux, or its whole server, is gone."""


class HiddenServerError(TerminalUnreachableError):
    """The tmux server still runs, but its socket is deleted or now leads to another server."""

    def __init__(self, socket: str, pid: int, *, taken: int) -> None:
        """Create the error.

        Args:
            socket: Path of the lost socket.
            pid: Pid of the server that lost its socket.
            taken: Pid of another server that now answers at ``socket``; 0 if none does.
        """
        self.socket, self.pid = socket, pid
        other = "; another tmux server answers there" if taken else ""
        super().__init__(
            f"the tmux server {pid} runs without its socket {socket}{other}",
            hints=way_back(socket, pid, taken=taken),
        )


def way_back(socket: str, pid: int, *, taken: int) -> tuple[str, ...]:
    """Return hints how to bring back the lost socket of a running tmux server.

    Each hint has a shell command.

    Args:
        socket: Path of the lost socket.
        pid: Pid of the server that lost its socket.
        taken: Pid of another server that now answers at ``socket``, whose socket is to be moved
            aside; 0 if none does.
    """
    word, folder = shlex.quote(socket), shlex.quote(os.path.dirname(socket))  # noqa: PTH120 (a text)
    aside = shlex.quote(f"{socket}.{taken}")
    room = f"mv {word} {aside}" if taken else f"mkdir -p -m 700 {folder}"
    back = f"bring the socket back: {room} && kill -USR1 {pid}"
    return (back, f"the other server is then at: tmux -S {aside}") if taken else (back,)


def quote_target(name: str) -> str:
    """Return a tmux session's exact name as a target in a command that users type in a shell.

    It is always quoted: zsh replaces a bare ``=NAME`` by the path of the program NAME.
    """
    word = shlex.quote(f"={name}:")
    return word if word.startswith("'") else f"'{word}'"


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """A tmux server; its start time distinguishes it from a later one with the same pid.

    Attributes:
        socket: Absolute path of its socket.
        pid: Its pid; 0 if no server runs at the socket.
        started: When it started, in clock ticks since boot (``/proc/<pid>/stat``, field 22); 0 if
            unknown.
    """

    socket: str
    pid: int
    started: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TmuxSession:
    """A tmux session.

    Attributes:
        id: Its tmux id, such as ``$3``.
        name: Its tmux name.
        uuid: The uuid that AgentMux has set on it; empty for the user's own sessions.
        path: Real path of the AgentMux session's directory, as recorded on the tmux session; empty
            for the user's own sessions.
        attached: The number of attached clients.
    """

    id: str
    name: str
    uuid: str
    path: str = ""
    attached: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerListing:
    """The server that answers at a socket, and its sessions.

    Attributes:
        server: The server; its pid is 0 if none runs.
        sessions: All sessions of the server.
    """

    server: Server
    sessions: tuple[TmuxSession, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """The address of a tmux session that AgentMux created; every call checks all of its parts.

    Attributes:
        server: The tmux server.
        session: The session's tmux id, such as ``$3``; unique within its server only.
        uuid: The uuid that AgentMux has set on the session.
    """

    server: Server
    session: str
    uuid: str


class StatusOption(StrEnum):
    """The tmux user options that AgentMux sets for tmux's status line and for pane borders.

    All are options of the session, which users may show in their ``status-right``, except
    ``WAITS``, which is an option of a pane. ``NEEDS_YOU`` is the `Occasion` for which the session
    waits for its user, such as ``question``; empty if it does not wait. ``WAITS`` is ``1`` if the
    pane's agent waits for the user, else empty.

    ``LEFT`` and ``WINDOW`` are the keys that lead from an agent's pane to the monitor: ``LEFT`` if
    the pane is beside the monitor, ``WINDOW`` if it is in a window of its own. ``BACK`` and
    ``DETACH`` are the keys that leave the session: ``BACK`` to the session that the client showed
    before, ``DETACH`` to the shell. ``GUESTS`` is `Client.guest` of every client, separated by
    spaces; it is used when the session ends.
    """

    FEATURE = "@agentmux_feature"
    PHASE = "@agentmux_phase"
    STATUS = "@agentmux_status"
    NEEDS_YOU = "@agentmux_needs_you"
    WAITS = "@agentmux_waits"
    LEFT = "@agentmux_key_left"
    WINDOW = "@agentmux_key_window"
    BACK = "@agentmux_key_back"
    DETACH = "@agentmux_key_detach"
    GUESTS = "@agentmux_guests"


@dataclass(frozen=True, slots=True, kw_only=True)
class Client:
    """A tmux client that displays the session to a person.

    Attributes:
        name: The client's name on its server.
        came_from: Name of the session that the client showed before; empty if it was started from a
            shell, or that session is gone.
        guest: A text that identifies the client, if it showed another session before; empty if it
            was started from a shell.
    """

    name: str
    came_from: str
    guest: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaveKeys:
    """The keys that leave a session or a pane in the user's tmux; each is empty if unbound.

    Attributes:
        detach: The keys that detach the client, such as ``C-b d``.
        back: The keys that switch to the session that the client showed before, such as ``C-b L``.
        left: The keys that select the pane at the left, which is the monitor, such as ``C-b Left``.
        window: The keys that select the window that was selected before, such as ``C-b l``.
    """

    detach: str
    back: str
    left: str = ""
    window: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CreatedSession:
    """A tmux session that was just created.

    Attributes:
        session: The session.
        pane: The id of its first pane, the monitor.
        server: The server on which it was created.
        warnings: Sentences about problems with the user's tmux.
    """

    session: TmuxSession
    pane: str
    server: Server
    warnings: tuple[str, ...] = ()

    @property
    def target(self) -> Target:
        """The address of this session, for `Terminal.own`."""
        return Target(server=self.server, session=self.session.id, uuid=self.session.uuid)


@dataclass(frozen=True, slots=True, kw_only=True)
class NewPane:
    """A pane to be opened for a launch.

    Attributes:
        seat: The seat of the agent.
        launch: The launch id; it is set as a pane option in the call that creates the pane.
        label: The text in the pane's border; it must not contain text from a user.
        argv: The command to run; two words or more, so that tmux does not pass it to a shell.
    """

    seat: str
    launch: str
    label: str
    argv: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pane:
    """A pane of the session, as tmux reports it.

    Attributes:
        id: The pane's tmux id, such as ``%7``; stable as long as the pane exists.
        window: The tmux id of the window that contains the pane.
        pid: The pid of the program that tmux started in the pane; 0 if the program has ended and
            tmux no longer knows its pid.
        dead: Whether the program has ended; the pane then still shows its last screen.
        seat: The seat of the agent; empty for the monitor, and for panes that the user opened.
        launch: The launch id; empty if ``seat`` is empty.
        visible: Whether the pane is in the monitor's window.
        activity: When there was last output in the pane's window: Unix time, in whole seconds.
        is_monitor: Whether the pane shows the monitor.
        has_focus: Whether a client has the pane selected, so that keys pressed there go to it.
    """

    id: str
    window: str
    pid: int
    dead: bool
    seat: str
    launch: str
    visible: bool
    activity: int
    is_monitor: bool = False
    has_focus: bool = False

    @property
    def is_ours(self) -> bool:
        """Whether AgentMux opened the pane; if not, the user did."""
        return self.is_monitor or bool(self.seat or self.launch)


@dataclass(frozen=True, slots=True, kw_only=True)
class Arranged:
    """The result of arranging the panes beside the monitor.

    Attributes:
        size: The columns and rows of the monitor's pane afterwards; None if they are unknown, or
            the panes could not be arranged.
        later: Whether nothing was done because the user has zoomed a pane; the caller should try
            again later.
    """

    size: tuple[int, int] | None = None
    later: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Screen:
    """The content of a pane's screen.

    Attributes:
        ansi: The rows, joined by newlines, with SGR sequences; attributes carry over to the next
            row. Invisible blanks at the end of a row are left out, except before the cursor.
        text: The same rows as plain text; blanks at the end of a row are left out, except before
            the cursor.
        cols: The width of the pane.
        rows: The height of the pane.
        cursor_row: The row of the cursor; 0 is the top row.
        cursor_col: The column of the cursor; 0 is the leftmost column.
    """

    ansi: str
    text: str
    cols: int
    rows: int
    cursor_row: int
    cursor_col: int


class Terminal(Protocol):
    """A tmux server, which may not run yet: lists all sessions, and creates those of AgentMux.

    Every method that calls tmux raises `TerminalUnreachableError` if the server does not answer in
    time, and `TerminalError` if tmux refuses. After a timeout, a change may have happened
    nevertheless, so callers must look again.
    """

    @property
    def socket(self) -> str:
        """Absolute path of the server's socket."""

    def server(self) -> Server:
        """Return the server that answers at the socket; its pid is 0 if none runs."""

    def sessions(self) -> tuple[TmuxSession, ...]:
        """Return every session of the server; empty if no server runs."""

    def listing(self) -> ServerListing:
        """Return the server that answers at the socket, and its sessions; calls tmux once."""

    def own(self, target: Target) -> OwnSession:
        """Return an object that works with AgentMux's session ``target``; does not call tmux."""

    def create_session(
        self,
        *,
        name: str,
        uuid: str,
        path: str,
        cwd: Path,
        size: tuple[int, int],
        argv: Sequence[str],
    ) -> CreatedSession:
        """Create a detached session whose first pane, the monitor, runs ``argv``.

        Args:
            name: The name of the tmux session.
            uuid: The uuid to set on the tmux session, which marks it as AgentMux's.
            path: Real path of the AgentMux session's directory, to be recorded on the tmux session.
            cwd: The directory in which ``argv`` runs.
            size: Columns and rows of the session.
            argv: The command to run; two words or more, so that tmux does not pass it to a shell.

        Raises:
            BlockedError: A session of this name exists; the reason is `NAME_TAKEN`.
        """


class Panes(Protocol):
    """Reads, closes and types into the panes of one tmux session; panes are given by their ids."""

    def label(self, labels: Mapping[str, str]) -> None:
        """Set the text in the borders of panes; ``labels`` maps pane ids to texts.

        Panes that no longer exist are skipped.
        """

    def capture(self, panes: Sequence[str], *, colours: bool = True) -> Mapping[str, Screen]:
        """Return the screen of each pane, by pane id; calls tmux once, or again for many panes.

        Panes that no longer exist are left out.

        Args:
            panes: The ids of the panes.
            colours: Whether `Screen.ansi` contains SGR sequences; without them it is plain text,
                and the call costs half as much.

        Raises:
            ScreensUnreadableError: The server's answer cannot be read.
        """

    def type_text(self, pane: str, text: str) -> None:
        """Type the characters of ``text`` into the pane with the id ``pane``, without Enter."""

    def paste(self, pane: str, text: str) -> None:
        """Paste ``text`` into the pane as one bracketed paste, with its newlines, without Enter.

        ``pane`` is the id of the pane.
        """

    def press_enter(self, pane: str) -> None:
        """Press Enter once in the pane with the id ``pane``."""

    def press_keys(self, pane: str, keys: Sequence[str]) -> None:
        """Press keys in the pane, in one call of tmux.

        ``pane`` is the id of the pane. ``keys`` are tmux's names of the keys, such as ``Enter``,
        ``Down`` or ``r``.
        """

    def close_panes(self, panes: Sequence[str], *, vacate: Collection[str] = ()) -> None:
        """Kill panes; it is no error if some no longer exist.

        Clients that have one of the killed panes selected are shown the monitor.

        Args:
            panes: The ids of the panes.
            vacate: Those of the panes that are replaced by an empty pane, so that their place
                beside the monitor stays free until `arrange` uses it for another pane or removes
                it.
        """


class OwnSession(Panes, Protocol):
    """A tmux session that AgentMux created; every call checks that it reaches this very session.

    Unless a method says otherwise, it raises `TerminalGoneError` if the session or its server is
    gone, `TerminalUnreachableError` if the server runs but does not answer in time,
    `HiddenServerError` if another server answers at the socket, and `TerminalError` if tmux
    refuses. After a timeout, a change may have happened nevertheless, so callers must look again.
    """

    @property
    def target(self) -> Target:
        """The address of the tmux session."""

    def count_clients(self) -> int:
        """Return the number of clients that display the session to a person."""

    def clients(self) -> tuple[Client, ...]:
        """Return the clients that display the session to a person."""

    def leave_keys(self) -> LeaveKeys:
        """Return the keys that leave the session or a pane, as they are bound in tmux now."""

    def reopen_monitor(self, *, cwd: Path, argv: Sequence[str]) -> str:
        """Run ``argv`` in the monitor's pane of a session that has lost its orchestrator.

        A program that still runs in that pane is ended. If the pane no longer exists, a new one is
        created. Only the holder of the session's lock may call this.

        Args:
            cwd: The directory in which ``argv`` runs.
            argv: The command to run; two words or more, so that tmux does not pass it to a shell.

        Returns:
            The id of the monitor's pane.
        """

    def panes(self) -> tuple[Pane, ...]:
        """Return every pane of the session, including those that the user opened."""

    def find_pane(self, launch: str) -> str:
        """Return the id of a launch's pane, also if the user moved it to another tmux session.

        ``launch`` is the id of the launch. Empty if the server has no such pane any more.
        """

    def open_panes(self, panes: Sequence[NewPane]) -> Mapping[str, str]:
        """Open each pane in a new window of its own; the user's focus does not change.

        Returns:
            The id of each new pane, by launch id.
        """

    def arrange(self, visible: Sequence[str]) -> Arranged:
        """Show these panes to the right of the monitor, and every other agent's pane elsewhere.

        The other agents' panes get windows of their own, and so do panes for which there is no
        room. Panes that no longer exist are skipped. Nothing happens while the user has zoomed a
        pane, or if there is no monitor. Panes that the user opened are never changed.

        Args:
            visible: The ids of the panes to show beside the monitor.

        Returns:
            ``size`` is the size of the monitor's pane afterwards (columns and rows); None if the
            panes were not arranged. ``later`` is true if that is because the user has zoomed a
            pane: then the caller should try again later.
        """

    def go_to(self, pane: str) -> bool:
        """Select a pane, in whichever window it is, for every client of the session.

        If another pane of its window is zoomed, the zoom ends.

        Returns:
            Whether the session has this pane; if not, nothing changes.
        """

    def set_options(
        self, session: Mapping[str, str], panes: Mapping[str, Mapping[str, str]]
    ) -> None:
        """Set options of the session and of its panes; sets no global options.

        Panes that no longer exist are skipped.

        Args:
            session: The values of the session's options, by name; tmux does not expand formats in
                them.
            panes: The values of each pane's options, by pane id and then by name.
        """

    def tell_clients(self, text: str) -> None:
        """Show a one-line message for some seconds to every client of the server.

        Clients of other sessions see it, too. Clients that show this session's monitor do not,
        because the monitor already displays the same information.
        """

    def kill(self, words: str = "") -> str:
        """End the session, but no pane that the user opened; it is no error if it is gone already.

        Without such a pane, tmux ends the session. Clients that came from another session are
        switched back to it, or to another session if that is gone, and shown the message ``words``,
        unless that is empty. If there is no other session, the clients end, and ``words`` are
        printed in their terminals.

        With such a pane, only the other panes are killed. The tmux session goes on as one of the
        user's: it gets a name of its own (`layout.users_tmux_name`) and loses our marks, so that
        this object reaches it no more. Clients stay in it, and are shown that name.

        Returns:
            The name with which the tmux session goes on; empty if it ended.
        """


NO_FIELD: Final = "no input field was recognised on its screen"
"""The ``evidence`` of a `TypingResult` if the screen does not show where to type."""


class DeliveryResult(StrEnum):
    """What happened to a text or to keys that were to be sent to a pane.

    ``submitted``: the agent took the text. ``queued``: it took the text while it was busy, and
    reads it after its present work. ``pane_gone``: the pane has ended, before or after typing.

    After ``typed_not_submitted`` and ``unknown`` the text may be in the pane, so it must never be
    typed again. ``refused_draft`` and ``refused_dialog`` mean that nothing was typed because the
    input field contains other text, or a dialog is open. ``refused_command`` means that the text
    begins like a command to the agent. ``sent`` and ``screen_changed`` are results of `KeySender`
    only; with ``screen_changed``, no key was sent because the screen is not the expected one.
    """

    SUBMITTED = "submitted"
    QUEUED = "queued"
    TYPED_NOT_SUBMITTED = "typed_not_submitted"
    REFUSED_DRAFT = "refused_draft"
    REFUSED_DIALOG = "refused_dialog"
    REFUSED_COMMAND = "refused_command"
    PANE_GONE = "pane_gone"
    UNKNOWN = "unknown"
    SENT = "sent"
    SCREEN_CHANGED = "screen_changed"


@dataclass(frozen=True, slots=True, kw_only=True)
class TypingResult:
    """The result of typing into a pane.

    Attributes:
        result: What happened.
        evidence: How that is known, in words.
        typed: False only if it is certain that nothing was typed.
    """

    result: DeliveryResult
    evidence: str
    typed: bool = True


class TextSender(Protocol):
    """An async function that types a text into an agent's pane, and checks that it was accepted.

    It is called with the session's panes, the id of the agent's pane, the text, and the description
    of the agent; ``deadline_s`` is the most seconds that it takes. It returns what happened to the
    text. The method ``__call__`` describes the other parameters.
    """

    async def __call__(  # noqa: PLR0913 (what a delivery needs)
        self,
        panes: Panes,
        pane: str,
        text: str,
        spec: AgentSpec,
        *,
        deadline_s: float,
        once: bool = False,
        begins: Callable[[], object] | None = None,
        keyboard_lock: asyncio.Lock | None = None,
    ) -> TypingResult:
        """Type ``text`` into a pane, press Enter, and return what happened to the text.

        Args:
            panes: The panes of the session.
            pane: The id of the agent's pane.
            text: The text to type.
            spec: The agent that runs in the pane.
            deadline_s: How many seconds the call may take.
            once: Whether the text is unique, so that it is not typed if the screen shows it
                already.
            begins: Called just before the text is typed; if it raises, nothing is typed.
            keyboard_lock: The lock that keeps others from pressing keys in the pane. It is held
                from the check of the screen until Enter was pressed, but not while the agent shows
                no input field, so that a person can press keys meanwhile. None uses no shared lock.
        """


class KeySender(Protocol):
    """An async function that presses keys in a pane for a person who has seen the pane's screen.

    It is called with the session's panes, the id of a pane, and the keys as `answer_keys.read_keys`
    returns them; ``screen`` is the digest of the screen that the person saw, as `screen_digest`
    returns it. It returns what happened to the keys; none are pressed on another screen.
    """

    async def __call__(
        self, panes: Panes, pane: str, keys: Sequence[str], *, screen: str
    ) -> TypingResult:
        """Press keys once, and only if the pane still shows the screen that the person saw.

        Args:
            panes: The panes of the session.
            pane: The id of the pane.
            keys: The keys, as `answer_keys.read_keys` returns them.
            screen: The digest of the expected screen, as `screen_digest` returns it.
        """
