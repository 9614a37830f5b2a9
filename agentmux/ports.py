"""What the operations in ``app`` need of the outside world.

Adapters implement these protocols and do not know each other; operations take them as arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import field
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, Protocol

from agentmux.core.frozen import dataclass
from agentmux.errors import AgentmuxError, MissingError

if TYPE_CHECKING:  # the whole core costs more than what a command that only looks at tmux does
    from agentmux.core.agents import AgentSpec
    from agentmux.core.artifacts import Artifacts
    from agentmux.core.decide import Exit
    from agentmux.core.events import Event, LaunchChosen
    from agentmux.core.implied import Implied
    from agentmux.core.keys import Pressed
    from agentmux.core.loaded import LoadedSession
    from agentmux.core.resume import CheckpointState
    from agentmux.core.state import Archive, SessionState


class TerminalError(MissingError):
    """tmux said no, with its own words in the message."""


class TerminalUnreachableError(TerminalError):
    """The tmux server does not answer: what is live there is unknown, and unknown means refuse."""


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
    """

    id: str
    name: str
    uuid: str
    attached: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class CreatedSession:
    """What creating a session made: the session and its first pane."""

    session: TmuxSession
    pane: str
    server: Server


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
        pid: Of the program tmux started there.
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
        ansi: Rows joined by newlines, with SGR sequences; the state runs on across rows.
        text: The same rows as plain text.
        cursor_row: From 0 at the top.
        cursor_col: From 0 at the left.
    """

    ansi: str
    text: str
    cols: int
    rows: int
    cursor_row: int
    cursor_col: int


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


class Terminal(Protocol):
    """All of one tmux server that one session needs.

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

    def listing(self) -> tuple[int, tuple[TmuxSession, ...]]:
        """The pid of the server that answers, 0 for none, and its sessions; in one call."""

    def create_session(
        self, *, name: str, uuid: str, cwd: Path, size: tuple[int, int], argv: Sequence[str]
    ) -> CreatedSession:
        """Make a detached session whose first pane, the monitor, runs ``argv``; all in one call.

        Raises:
            BlockedError: The name is taken (reason ``name_taken``).
        """

    def reopen_monitor(self, session: str, *, cwd: Path, argv: Sequence[str]) -> str:
        """Run ``argv`` as the monitor of a session that lives on without its orchestrator.

        What still runs in the monitor's pane is ended; where that pane is gone, another is made.

        Returns:
            The id of the monitor's pane.
        """

    def panes(self, session: str) -> tuple[Pane, ...]:
        """Every pane of the session with id ``session``; empty when the session is gone."""

    def open_panes(self, session: str, panes: Sequence[NewPane]) -> Mapping[str, str]:
        """Open each pane in a window of its own; the user's focus stays where it is.

        Returns:
            Launch id to pane id.
        """

    def arrange(self, session: str, visible: Sequence[str]) -> None:
        """Show these panes at the right of the monitor, park every other pane of ours.

        Does nothing while the user has zoomed a pane, and touches no pane that is not ours.
        """

    def label(self, labels: Mapping[str, str]) -> None:
        """Set the text in the border of each pane (pane id to label)."""

    def capture(self, panes: Sequence[str], *, colours: bool = True) -> Mapping[str, Screen]:
        """The screens of these panes in one call; panes that are gone are left out.

        Without ``colours`` the ``ansi`` of each screen is its plain text, at half the cost.
        """

    def paste(self, pane: str, text: str) -> None:
        """Put ``text`` into the pane as one bracketed paste, newlines kept; no Enter."""

    def press_enter(self, pane: str) -> None:
        """Send one Enter."""

    def close_panes(self, panes: Sequence[str]) -> None:
        """Kill these panes; those already gone are fine."""

    def kill_session(self, session: str) -> None:
        """Kill the session with id ``session``; a session already gone is fine."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchRecord:
    """What a launch left in its folder.

    Attributes:
        started: Its wrapper ran.
        exit: Its exit record.
        choice: What the user chose while its pane was stopped.
    """

    started: bool
    exit: Exit | None
    choice: LaunchChosen | None = None


class Transaction(Protocol):
    """A session while no other writer can append to its journal."""

    @property
    def loaded(self) -> LoadedSession:
        """What state and journal said when the lock was taken."""

    def append(self, event: Event) -> None:
        """Append one line; when this returns, it is on the disk."""


class SignalFiles(Protocol):
    """What a signal needs of a session's directory."""

    @property
    def path(self) -> Path:
        """The directory, absolute."""

    def load(self) -> LoadedSession:
        """Read state and journal; changes nothing.

        Raises:
            DataError: Unreadable, from a newer version, or the journal is not this session's.
        """

    def transact(self) -> AbstractContextManager[Transaction]:
        """Read state and journal and keep every other writer out; for milliseconds only.

        Raises:
            NotFoundError: There is no such session.
            DataError: As `load`; also for a session of an older form that nobody has resumed yet.
            BlockedError: Another process kept the journal for long.
        """

    def read_artifact(self, path: str, limit: int) -> tuple[bytes | None, str]:
        """Return a regular file's content and, where there is none that counts, why."""

    def read_yaml(self, data: bytes) -> tuple[object, tuple[str, ...]]:
        """Decode one YAML document strictly; the value, and every problem with its line."""

    def read_front_matter(self, text: str) -> tuple[Mapping[str, object], tuple[str, ...]]:
        """Return the mapping at the head of a Markdown text, and every problem with its line."""


NAME_TAKEN: Final = "name_taken"
"""The reason of the `BlockedError` for a name that somebody else has."""


class SessionFiles(SignalFiles, Protocol):
    """The directory of one session. Writing raises `DataError` and leaves the old file intact."""

    def make(self, events: Sequence[Event], texts: Mapping[str, str]) -> None:
        """Make the directory whole under a temporary name, and rename it.

        ``events`` begin the journal and are folded into the first state; ``texts`` maps paths
        relative to the session to what lies there.

        Raises:
            BlockedError: Another process was quicker with this name; the reason is `NAME_TAKEN`.
        """

    def discard(self) -> None:
        """Take away a session that never began."""

    def tail(self, offset: int) -> tuple[tuple[Event, int], ...]:
        """Return the acknowledged events behind ``offset``; waits for a writer at work.

        Raises:
            UnknownEventError: A line is of an unknown kind or a newer version.
        """

    def skipped(self) -> tuple[str, ...]:
        """Return, one sentence each, which lines `tail` passed over because they do not parse.

        Each is told once: not again by the next call, and not if it is a warning of `load`.
        """

    def append(self, event: Event) -> None:
        """Append one line to the journal, durably."""

    def save(self, state: SessionState, *, after: int | None) -> None:
        """Commit ``state``, then mirror the cursor; ``after`` is the revision that it follows.

        Raises:
            BlockedError: Somebody else has committed since.
        """

    def set_aside_corrupt_state(self, now: datetime) -> None:
        """Keep a corrupt state file before the next commit writes over it."""

    def import_session(self, state: SessionState, events: Sequence[Event]) -> SessionState:
        """Begin a new journal with ``events`` for an older session; the old one is kept aside."""

    def artifacts(self, state: SessionState) -> Artifacts:
        """Read what lies in the phase folders, without what ``state`` wants archived."""

    def add(self, implied: Implied) -> None:
        """Add a file whole, unless it is there already with this content."""

    def to_archive(self, archive: Archive) -> tuple[str, ...]:
        """Return the files that `archive` would move, by path relative to the session."""

    def archive(self, archive: Archive) -> None:
        """Move files one by one; those already moved, or never there, are fine."""

    def write(self, path: str, data: str) -> Path:
        """Write a private file at a path relative to the session; returns where it lies."""

    def make_folder(self, path: str) -> None:
        """Make a private folder at a path relative to the session, unless it is there."""

    def sweep(self) -> None:
        """Remove what killed writers left half-written; call it under the session's lock."""

    def digest(self, path: Path) -> str:
        """SHA-256 of a file, in hex; empty where there is no regular file of a readable size."""

    def launch_record(self, launch: str) -> LaunchRecord:
        """Read what a launch left."""

    def checkpoint_state(self, path: str, model: str | None) -> CheckpointState:
        """Look at an agent's checkpoint file (absolute path, inside the session)."""

    def has_file(self, path: str) -> bool:
        """Whether a regular file with content is at an absolute path; it is not opened."""


InProgress = Literal["rebase", "merge", "cherry-pick", "revert"]


class GitError(AgentmuxError):
    """Git failed, with its own words in the message."""


class GitRefusedError(GitError):
    """The commit was not made: a hook, a signature or git itself said no.

    Attributes:
        output: What git and the hooks printed.
    """

    def __init__(self, message: str, *, output: str = "", hints: tuple[str, ...] = ()) -> None:
        self.output = output
        super().__init__(message, hints=hints)


class HeadMovedError(GitError):
    """HEAD is not where the caller expected it.

    Attributes:
        expected: Where it should be.
        found: Where it is.
    """

    def __init__(self, expected: Head, found: Head) -> None:
        self.expected = expected
        self.found = found
        super().__init__(
            f"HEAD moved: expected {expected.describe()}, found {found.describe()}",
            hints=("look at what changed: git log --oneline --all -n 10",),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """Where HEAD is.

    Attributes:
        commit: None before the first commit.
        branch: Short name; None when detached.
        in_progress: What git waits for the user to finish, if anything.
    """

    commit: str | None
    branch: str | None
    in_progress: InProgress | None = None

    def describe(self) -> str:
        """For messages: ``1a2b3c4d5e6f on main``."""
        commit = self.commit[:12] if self.commit else "no commit"
        return f"{commit} on {self.branch}" if self.branch else f"{commit}, detached"


class Repository(Protocol):
    """Git, for one project. Paths are relative to the top level."""

    def top_level(self) -> Path | None:
        """The top of the work tree; None outside a repository."""

    def head(self) -> Head:
        """Where HEAD is."""

    def dirty(self) -> tuple[str, ...]:
        """Files that differ from HEAD or are untracked; never those of ``.agentmux``."""

    def changed_since(self, dirty_at_start: Collection[str]) -> tuple[str, ...]:
        """Dirty files that were not dirty then."""

    def find_commit(self, trailer: tuple[str, str], *, since: str | None) -> str | None:
        """Return the commit after ``since`` that carries the trailer."""

    def settle_index(self, commit: str) -> None:
        """Finish what a kill right after the commit left undone; safe to repeat."""

    def require_new_branch(self, name: str) -> None:
        """Check that a branch of this name can be made."""

    def create_branch(self, name: str) -> None:
        """Make a branch at HEAD and switch to it."""

    def take_back_branch(self, name: str, before: Head) -> None:
        """Undo `create_branch` as far as nothing was done there since; raises nothing of git."""

    def commit(
        self,
        message: str,
        paths: Collection[str],
        *,
        trailer: tuple[str, str],
        onto: Head | None = None,
    ) -> str:
        """Commit exactly these files; what the user has staged stays staged."""


class ProcessWatch(Protocol):
    """Tells when a process has gone, without asking about it again and again."""

    def watch(self, pid: int, ended: Callable[[int], object]) -> None:
        """Call ``ended(pid)`` once when the process has gone (at once if it has already)."""

    def start_time(self, pid: int) -> int:
        """When it was started, in ticks since boot (macOS: Unix time); 0 where unknown."""

    def close(self) -> None:
        """Watch nothing any more."""


class Typist(Protocol):
    """Types into panes and proves that the text arrived."""

    async def __call__(
        self, pane: str, text: str, spec: AgentSpec, *, deadline_s: float, once: bool = False
    ) -> Delivery:
        """Type ``text`` to the agent of a pane, press Enter, and say what became of it.

        Args:
            pane: Its id.
            text: What to type.
            spec: The agent that runs there.
            deadline_s: For all of it.
            once: The text is like no other: it is not typed where it is on the screen already.
        """


class WakePipe(Protocol):
    """Where signals wake the orchestrator."""

    def fileno(self) -> int:
        """For the event loop; readable when somebody poked."""

    def drain(self) -> set[bytes]:
        """Take what was written: ``w`` lines to wake, ``s`` to stop."""

    def close(self) -> None:
        """Let nobody wake us any more."""


class Lock(Protocol):
    """The session's lock, held for an orchestrator's whole life."""

    def acquire(self, timeout_s: float, holder: Mapping[str, object]) -> None:
        """Take it, or raise `BlockedError` with the holder's name."""

    def release(self) -> None:
        """Give it back."""

    def still_mine(self) -> bool:
        """Whether the file that we hold is still the one at the path."""

    def is_held(self) -> bool:
        """Whether somebody holds it; changes nothing."""

    def holder(self) -> Mapping[str, object] | None:
        """Who holds it, by their own word."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SeatStatus:
    """What one seat is seen to do.

    Attributes:
        status: ``starting``, ``busy``, ``idle``, ``waiting_for_user``, ``usage_limit``,
            ``stalled`` or ``unknown``; else the seat's mode, or its status in the state.
        source: What says so: ``screen``, ``journal``, ``exit record`` or ``delivery``.
        since: UTC, ISO 8601.
    """

    status: str
    source: str
    since: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """What the monitor shows.

    Attributes:
        problem: What went wrong last, with no reaction possible by itself; None when all is well.
        messages: What happened, oldest first.
        draft: The changes that the user is writing; None while they write none.
    """

    state: SessionState
    statuses: Mapping[str, SeatStatus]
    problem: str | None
    messages: tuple[str, ...]
    now: datetime
    draft: str | None = None


class Display(Protocol):
    """Where the orchestrator shows what it does, and hears keys."""

    def show(self, picture: Picture) -> None:
        """Draw it; never raises."""

    def fileno(self) -> int | None:
        """Where keys come from; None without a terminal."""

    def keys(self) -> tuple[Pressed, ...]:
        """Return the keys that were pressed since the last call."""

    def resized(self) -> None:
        """The terminal has another size now."""

    def close(self) -> None:
        """Leave the last picture, and give the terminal back."""


class Handover(Protocol):
    """Where an orchestrator reports that it is ready, or why it is not."""

    @property
    def path(self) -> Path:
        """The pipe, to be named to the orchestrator."""

    def wait(self, timeout_s: float, pid: int) -> bytes | None:
        """Return the report; None when the time is up or process ``pid`` ended without one."""

    def close(self) -> None:
        """Remove the pipe."""
