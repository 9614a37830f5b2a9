"""tmux, as the operations see it: sessions, panes, screens, and typing into them."""

from __future__ import annotations

import os
import shlex
from collections.abc import Collection, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from agentmux.core.codec.frozen import dataclass, field
from agentmux.errors import MissingError

if TYPE_CHECKING:  # what only looks at tmux does without the core
    from agentmux.core.agents.spec import AgentSpec


class TerminalError(MissingError):
    """tmux said no, with its own words in the message."""


class TerminalUnreachableError(TerminalError):
    """The tmux server does not answer: what is live there is unknown, and unknown means refuse."""


class ScreensUnreadableError(TerminalUnreachableError):
    """The server answers, and its answer cannot be read: what its panes show is unknown."""


class TerminalGoneError(TerminalError):
    """What was ours there is gone: the tmux session, or its whole server."""


class HiddenServerError(TerminalUnreachableError):
    """Our tmux server lives, and its socket is gone or leads to another server."""

    def __init__(self, socket: str, pid: int, *, taken: int) -> None:
        """``taken``: another server answers at the socket."""
        self.socket, self.pid = socket, pid
        other = "; another tmux server answers there" if taken else ""
        super().__init__(
            f"the tmux server {pid} runs without its socket {socket}{other}",
            hints=way_back(socket, pid, taken=taken),
        )


def way_back(socket: str, pid: int, *, taken: int) -> tuple[str, ...]:
    """Return what brings back the socket of a server; the one that is there now keeps answering."""
    word, folder = shlex.quote(socket), shlex.quote(os.path.dirname(socket))  # noqa: PTH120
    aside = shlex.quote(f"{socket}.{taken}")
    room = f"mv {word} {aside}" if taken else f"mkdir -p -m 700 {folder}"
    back = f"bring the socket back: {room} && kill -USR1 {pid}"
    return (back, f"the other one is at `tmux -S {aside}` then") if taken else (back,)


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """One tmux server, told apart from a later one under the same pid by its start time.

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
        attached: How many clients show it.
        path: Real path of the session's directory, as noted on it; empty where there is no note.
    """

    id: str
    name: str
    uuid: str
    path: str = ""
    attached: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """The server that answers at a socket (pid 0: none), and its sessions."""

    server: Server
    sessions: tuple[TmuxSession, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A tmux session of ours, as it was made or found: every call to it checks all three.

    Attributes:
        session: Its id (``$3``), unique within its server only.
        uuid: The mark that we set on it.
    """

    server: Server
    session: str
    uuid: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CreatedSession:
    """What creating a session made: the session and its first pane."""

    session: TmuxSession
    pane: str
    server: Server

    @property
    def target(self) -> Target:
        """Where it is."""
        return Target(server=self.server, session=self.session.id, uuid=self.session.uuid)


@dataclass(frozen=True, slots=True, kw_only=True)
class NewPane:
    """A pane to open.

    Attributes:
        launch: The launch id, set as a pane option in the same call that makes the pane.
        label: Shown in the border; no user text.
        argv: Two words or more, so that no shell takes part.
    """

    seat: str
    launch: str
    label: str
    argv: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pane:
    """One pane of the session, as tmux has it now.

    The monitor's pane is among them, with an empty launch and seat.

    Attributes:
        id: ``%7``; stable for the pane's life.
        pid: Of the program tmux started there; 0 where that has ended and tmux no longer knows it.
        dead: The program has gone and the pane shows its last screen.
        seat: Empty for panes that are not ours.
        launch: The launch id; empty for panes that are not ours.
        visible: It lies in the window of the monitor.
        activity: Unix time, whole seconds, of the last output in the pane's window.
    """

    id: str
    window: str
    pid: int
    dead: bool
    seat: str
    launch: str
    visible: bool
    activity: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Screen:
    """What a pane shows.

    Attributes:
        ansi: Rows joined by newlines, with SGR sequences; the state runs on across rows. Blanks at
            the end of a row are left out where they show nothing, up to the cursor.
        text: The same rows as plain text; without any blanks at their ends, up to the cursor.
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
    """A tmux server: who answers, what is there, and making a session of ours.

    Every method raises `TerminalUnreachableError` when the server does not answer in time, and
    `TerminalError` when it refuses. A mutating call that timed out may have happened: look again.
    """

    @property
    def socket(self) -> str:
        """Absolute path of the server's socket."""

    def server(self) -> Server:
        """The server that answers here; pid 0 when none runs."""

    def sessions(self) -> tuple[TmuxSession, ...]:
        """Every session of the server; empty when no server runs."""

    def listing(self) -> Listing:
        """The server that answers and its sessions; in one call."""

    def own(self, target: Target) -> OwnSession:
        """The session of ours that is ``target``; nothing is asked yet."""

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
        """Make a detached session whose first pane, the monitor, runs ``argv``; all in one call.

        Args:
            name: As tmux is to name it.
            uuid: Marks it as ours.
            path: Real path of the session's directory, noted on it.
            cwd: Where ``argv`` runs.
            size: Columns and rows.
            argv: Two words or more.

        Raises:
            BlockedError: The name is taken (reason `NAME_TAKEN`).
        """


class Panes(Protocol):
    """Panes of a session of ours, by their ids."""

    def label(self, labels: Mapping[str, str]) -> None:
        """Set the text in the border of each pane (pane id to label)."""

    def capture(self, panes: Sequence[str], *, colours: bool = True) -> Mapping[str, Screen]:
        """The screens of these panes in one call; panes that are gone are left out.

        Without ``colours`` the ``ansi`` of each screen is its plain text, at half the cost.

        Raises:
            ScreensUnreadableError: What the server answers cannot be read.
        """

    def paste(self, pane: str, text: str) -> None:
        """Put ``text`` into the pane as one bracketed paste, newlines kept; no Enter."""

    def press_enter(self, pane: str) -> None:
        """Send one Enter."""

    def close_panes(self, panes: Sequence[str], *, vacate: Collection[str] = ()) -> None:
        """Kill these panes; those already gone are fine.

        Args:
            panes: By id.
            vacate: Of these the place beside the monitor stays, empty, until `arrange` gives it
                to another pane, or takes it away.
        """


class OwnSession(Panes, Protocol):
    """One tmux session of ours; every call makes sure that it is this one which answers.

    Every method raises `TerminalGoneError` where it, or its server, is not there any more and the
    method does not say that this is fine; `TerminalUnreachableError` where its server lives and
    does not answer in time, or another one answers in its place (`HiddenServerError`);
    `TerminalError` where tmux refuses. A mutating call that timed out may have happened: look
    again.
    """

    @property
    def target(self) -> Target:
        """Which session of which server this is."""

    def attached(self) -> int:
        """How many clients show it."""

    def reopen_monitor(self, *, cwd: Path, argv: Sequence[str]) -> str:
        """Run ``argv`` as the monitor of a session that lives on without its orchestrator.

        What still runs in the monitor's pane is ended; where that pane is gone, another is made.
        Only who holds the session's lock may do that.

        Returns:
            The id of the monitor's pane.
        """

    def panes(self) -> tuple[Pane, ...]:
        """Every pane of the session."""

    def open_panes(self, panes: Sequence[NewPane]) -> Mapping[str, str]:
        """Open each pane in a window of its own; the user's focus stays where it is.

        Returns:
            Launch id to pane id.
        """

    def arrange(self, visible: Sequence[str]) -> None:
        """Show these panes at the right of the monitor, park every other pane of ours.

        Does nothing while the user has zoomed a pane, and touches no pane that is not ours.
        """

    def kill(self) -> None:
        """Kill the session; one that is gone already is fine."""


class DeliveryResult(StrEnum):
    """What became of a text that was to be typed into a pane.

    After ``typed_not_submitted`` and ``unknown`` the text may be in the pane: never type it again.
    """

    SUBMITTED = "submitted"
    QUEUED = "queued"
    TYPED_NOT_SUBMITTED = "typed_not_submitted"
    REFUSED_DRAFT = "refused_draft"
    REFUSED_DIALOG = "refused_dialog"
    PANE_GONE = "pane_gone"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """The result of typing into a pane, and in words what it rests on."""

    result: DeliveryResult
    evidence: str


class Typist(Protocol):
    """Types into panes and proves that the text arrived."""

    async def __call__(
        self,
        panes: Panes,
        pane: str,
        text: str,
        spec: AgentSpec,
        *,
        deadline_s: float,
        once: bool = False,
    ) -> Delivery:
        """Type ``text`` to the agent of a pane, press Enter, and say what became of it.

        Args:
            panes: Where the pane is.
            pane: Its id.
            text: What to type.
            spec: The agent that runs there.
            deadline_s: For all of it.
            once: The text is like no other: it is not typed where it is on the screen already.
        """
