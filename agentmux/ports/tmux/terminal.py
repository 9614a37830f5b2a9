"""tmux, as the operations see it: sessions, panes, screens, and typing into panes."""

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
"""The most bytes of a line: a program in canonical mode loses everything after byte 4096, also
the Enter."""


class TerminalError(MissingError):
    """tmux refused a command; the message contains what it printed."""


class TerminalUnreachableError(TerminalError):
    """The tmux server does not answer: what is live there is unknown, so callers must not go on."""


class ScreensUnreadableError(TerminalUnreachableError):
    """The server answers, but its answer cannot be read: what its panes show is unknown."""


class TerminalGoneError(TerminalError):
    """Our tmux session is gone, or its whole server."""


class HiddenServerError(TerminalUnreachableError):
    """Our tmux server runs, but its socket is gone or leads to another server."""

    def __init__(self, socket: str, pid: int, *, taken: int) -> None:
        """Take the path of the lost socket and the pid of our server.

        ``taken`` is the pid of another server that answers at the socket now; 0 for none.
        """
        self.socket, self.pid = socket, pid
        other = "; another tmux server answers there" if taken else ""
        super().__init__(
            f"the tmux server {pid} runs without its socket {socket}{other}",
            hints=way_back(socket, pid, taken=taken),
        )


def way_back(socket: str, pid: int, *, taken: int) -> tuple[str, ...]:
    """Return hints: the shell commands that bring back the lost socket of a running tmux server.

    Args:
        socket: Path of the lost socket.
        pid: Of the server that lost it.
        taken: Pid of another server that answers at ``socket`` now, and is moved to a new path; 0
            for none.
    """
    word, folder = shlex.quote(socket), shlex.quote(os.path.dirname(socket))  # noqa: PTH120 (a text)
    aside = shlex.quote(f"{socket}.{taken}")
    room = f"mv {word} {aside}" if taken else f"mkdir -p -m 700 {folder}"
    back = f"bring the socket back: {room} && kill -USR1 {pid}"
    return (back, f"the other server is then at: tmux -S {aside}") if taken else (back,)


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """One tmux server; its start time distinguishes it from a later one with the same pid.

    Attributes:
        socket: Absolute path.
        pid: 0 where no server runs.
        started: Clock ticks since boot (``/proc/<pid>/stat``, field 22); 0 where unknown.
    """

    socket: str
    pid: int
    started: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TmuxSession:
    """One session of a server: its id (``$3``), name, and the uuid we set on it (else empty).

    Attributes:
        attached: How many clients are attached to it.
        path: Real path of the session's directory, as we noted it on the tmux session; else empty.
    """

    id: str
    name: str
    uuid: str
    path: str = ""
    attached: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerListing:
    """The server that answers at a socket (pid 0: none), and its sessions."""

    server: Server
    sessions: tuple[TmuxSession, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """The address of one tmux session of ours; every call checks server, id and uuid.

    Attributes:
        session: Its id (``$3``), unique within its server only.
        uuid: The uuid that we set on it.
    """

    server: Server
    session: str
    uuid: str


class StatusOption(StrEnum):
    """The tmux options from which tmux's status line and the borders of panes are made.

    All but ``WAITS`` are options of the session: anybody may use them in a ``status-right``.
    ``GUESTS`` is `Client.guest` of all clients, separated by blanks, for the end of the session.
    ``LEFT`` and ``WINDOW`` are the keys that go back to the monitor from an agent's pane, beside it
    and in a window of its own.
    ``BACK`` and ``DETACH`` are the keys that leave the session: to the session that the client
    showed before, and to a shell.
    ``NEEDS_YOU`` and ``WAITS``, which is an option of a pane, are ``1`` or empty.
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
    """A tmux client that shows our session to somebody.

    Attributes:
        name: Its name on its server.
        came_from: Name of the session that it showed before; empty for none: it came from a shell,
            or that session is gone.
        guest: A word for this very client, if it showed another session before; empty for one from
            a shell.
    """

    name: str
    came_from: str
    guest: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaveKeys:
    """The keys of the user's tmux by which one leaves a session or a pane; empty where unbound.

    Attributes:
        detach: Ends the client, such as ``C-b d``.
        back: Shows the session again that the client showed before, such as ``C-b L``.
        left: Goes to the pane at the left, which is the monitor, such as ``C-b Left``.
        window: Goes to the window before, such as ``C-b l``.
    """

    detach: str
    back: str
    left: str = ""
    window: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CreatedSession:
    """A session that was just created, with its first pane.

    Attributes:
        warnings: What the user should know of their tmux, one sentence each.
    """

    session: TmuxSession
    pane: str
    server: Server
    warnings: tuple[str, ...] = ()

    @property
    def target(self) -> Target:
        """The target for calls to this session."""
        return Target(server=self.server, session=self.session.id, uuid=self.session.uuid)


@dataclass(frozen=True, slots=True, kw_only=True)
class NewPane:
    """A pane to open.

    Attributes:
        launch: The launch id, set as a pane option in the same call that makes the pane.
        label: Shown in the border; no user text.
        argv: Two words or more, so that tmux starts no shell.
    """

    seat: str
    launch: str
    label: str
    argv: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pane:
    """One pane of the session, as tmux reports it now.

    Launch and seat are empty for the monitor's pane, too.

    Attributes:
        id: ``%7``; stable for the pane's life.
        pid: Of the program that tmux started there; 0 where it ended and tmux has no pid any more.
        dead: The program has ended, and the pane shows its last screen.
        seat: Empty for panes that are not ours.
        launch: The launch id; empty for panes that are not ours.
        visible: It is in the monitor's window.
        activity: Unix time, whole seconds, of the last output in the pane's window.
        is_monitor: It shows the monitor.
        has_focus: A client that shows the session types into it.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Arranged:
    """What became of an arrangement of the panes beside the monitor.

    Attributes:
        size: The columns and rows of the monitor's pane afterwards; None where unknown.
        later: Nothing was done, since the user has zoomed the window: try it again.
    """

    size: tuple[int, int] | None = None
    later: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Screen:
    """What a pane shows.

    Attributes:
        ansi: Rows joined by newlines, with SGR sequences; attributes carry over to the next row.
            Invisible blanks at the end of a row are left out, except before the cursor.
        text: The same rows as plain text; blanks at the end of a row are left out, except before
            the cursor.
        cursor_row: From 0 at the top.
        cursor_col: From 0 at the left.
    """

    ansi: str
    text: str
    cols: int
    rows: int
    cursor_row: int
    cursor_col: int


class Terminal(Protocol):
    """A tmux server: lists its sessions, and creates and finds ours.

    Every method raises `TerminalUnreachableError` when the server does not answer in time, and
    `TerminalError` when it refuses. A change that timed out may have happened: look again.
    """

    @property
    def socket(self) -> str:
        """Absolute path of the server's socket."""

    def server(self) -> Server:
        """Return the server that answers; pid 0 when none runs."""

    def sessions(self) -> tuple[TmuxSession, ...]:
        """Return every session of the server; empty when no server runs."""

    def listing(self) -> ServerListing:
        """Return the server that answers and its sessions, by one call of tmux."""

    def own(self, target: Target) -> OwnSession:
        """Return access to our session ``target``; does not call tmux."""

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
        """Create a detached session whose first pane, the monitor, runs ``argv``; in one call.

        Args:
            name: The tmux session's name.
            uuid: Set on the tmux session, to mark it as ours.
            path: Real path of the session's directory, noted on the tmux session.
            cwd: Directory in which ``argv`` runs.
            size: Columns and rows.
            argv: Two words or more.

        Raises:
            BlockedError: The name is taken (reason `NAME_TAKEN`).
        """


class Panes(Protocol):
    """Reads, changes and types into panes of one tmux session of ours; panes are named by id."""

    def label(self, labels: Mapping[str, str]) -> None:
        """Set the text in the border of panes (pane id to label)."""

    def capture(self, panes: Sequence[str], *, colours: bool = True) -> Mapping[str, Screen]:
        """Return the screen of each pane by pane id, by one call of tmux.

        Panes that are gone are left out. Without ``colours`` the ``ansi`` of each screen is its
        plain text, at half the cost.

        Raises:
            ScreensUnreadableError: The server's answer cannot be read.
        """

    def type_text(self, pane: str, text: str) -> None:
        """Send the characters of ``text``, one after the other, as somebody who types them."""

    def paste(self, pane: str, text: str) -> None:
        """Paste ``text`` into the pane as one bracketed paste, with its newlines, without Enter."""

    def press_enter(self, pane: str) -> None:
        """Send one Enter."""

    def press_keys(self, pane: str, keys: Sequence[str]) -> None:
        """Press these keys, by tmux's names for them (``Enter``, ``Down``, ``r``), in one call."""

    def close_panes(self, panes: Sequence[str], *, vacate: Collection[str] = ()) -> None:
        """Kill these panes; panes already gone are no error.

        An empty pane takes the place of each killed pane that is also in ``vacate``. Whoever types
        into one of them is shown the monitor.

        Args:
            panes: By id.
            vacate: Panes whose place beside the monitor stays empty, until `arrange` gives it to
                another pane or removes it.
        """


class OwnSession(Panes, Protocol):
    """One tmux session of ours; every call checks that it reaches this very session.

    Unless it says otherwise, every method raises `TerminalGoneError` where the session or its
    server is gone, `TerminalUnreachableError` where the server runs but does not answer in time,
    `HiddenServerError` where another server answers in its place, and `TerminalError` where tmux
    refuses. A change that timed out may have happened: look again.
    """

    @property
    def target(self) -> Target:
        """The tmux session that this object gives access to."""

    def count_clients(self) -> int:
        """Return how many clients show the session to somebody."""

    def clients(self) -> tuple[Client, ...]:
        """Return the clients that show the session to somebody."""

    def leave_keys(self) -> LeaveKeys:
        """Return the keys by which a client leaves the session, as they are bound now."""

    def reopen_monitor(self, *, cwd: Path, argv: Sequence[str]) -> str:
        """Run ``argv`` as the monitor of a session that has lost its orchestrator.

        Whatever runs in the monitor's pane is ended; if the pane is gone, a new one is created.
        Only the holder of the session's lock may call this.

        Returns:
            The id of the monitor's pane.
        """

    def panes(self) -> tuple[Pane, ...]:
        """Return every pane of the session."""

    def open_panes(self, panes: Sequence[NewPane]) -> Mapping[str, str]:
        """Open each pane in its own window; the user's focus stays where it is.

        Returns:
            Launch id to pane id.
        """

    def arrange(self, visible: Sequence[str]) -> Arranged:
        """Show these panes at the right of the monitor, and park every other pane of ours.

        Does nothing while the user has zoomed a pane, and never changes a pane that is not ours.
        """

    def go_to(self, pane: str) -> bool:
        """Show this pane to every client of the session, whichever window it is in.

        It gets the keys then; a zoomed pane beside it is unzoomed.

        Returns:
            Whether the session has this pane; if not, nothing changes.
        """

    def set_options(
        self, session: Mapping[str, str], panes: Mapping[str, Mapping[str, str]]
    ) -> None:
        """Set tmux options of the session and of its panes, by one call; none are global.

        Panes that are gone are skipped.

        Args:
            session: The session's own options and their values; no value is expanded when it is
                set.
            panes: Options and their values, by pane id.
        """

    def tell_clients(self, text: str) -> None:
        """Show one line for some seconds to every client of the server, also of other sessions.

        A client that shows this session's monitor is left out: it sees there what the line tells.
        """

    def kill(self, words: str = "") -> None:
        """Kill the session; a session already gone is no error.

        A client that came from another session goes back there, and is shown ``words``.
        """


NO_FIELD: Final = "no input field was recognised on its screen"
"""The evidence if a text was not typed because the screen does not show where to."""


class DeliveryResult(StrEnum):
    """What happened to a text or to keys that were to be sent to a pane.

    After ``typed_not_submitted`` and ``unknown`` the text may be in the pane: never type it again.
    A text whose beginning is a command to the agent is a ``refused_command``.
    Only keys can be ``sent``, or be kept back since the screen is another one: ``screen_changed``.
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
    """The result of typing into a pane, and the evidence for it in words.

    ``typed`` is False only if it is certain that nothing was typed.
    """

    result: DeliveryResult
    evidence: str
    typed: bool = True


class TextSender(Protocol):
    """A function that types a text into a pane, and proves that it arrived."""

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
        hands: asyncio.Lock | None = None,
    ) -> TypingResult:
        """Type ``text`` to the agent of a pane, press Enter, and return what happened to it.

        Args:
            panes: Where the pane is.
            pane: Its id.
            text: What to type.
            spec: The agent that runs there.
            deadline_s: Seconds for the whole call.
            once: The text is unique: do not type it if it is on the screen already.
            begins: Called right before the text is typed; if it raises, nothing is typed.
            hands: Held from the look that allows the text until Enter has sent it. It is free
                while the agent shows no input field, so that a person's keys can pass a text that
                waits for them.
        """


class KeySender(Protocol):
    """A function that presses keys in a pane, for a person who has seen what it shows."""

    async def __call__(
        self, panes: Panes, pane: str, keys: Sequence[str], *, screen: str
    ) -> TypingResult:
        """Press the keys once, and only if the pane shows the screen with this digest.

        Args:
            panes: Where the pane is.
            pane: Its id.
            keys: As `answer_keys.read_keys` returns them.
            screen: The digest of the screen, as `screen_digest` returns it.
        """
