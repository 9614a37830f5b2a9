"""Lets a person pick one session in a full-screen list, for ``resume`` and ``attach``.

The picker draws on the terminal of stderr and reads keys from stdin, so that stdout stays free for
data. A thread examines the sessions, the selected one first. However the picker ends, it restores
the terminal.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final, Self

from agentmux.adapters.disk.files import read_limited
from agentmux.adapters.system import terminal
from agentmux.app.session.search.lookup import Liveness, SessionEntry, live, sessions_dir
from agentmux.app.session.search.lookup import select_session as only_one
from agentmux.app.views.outlook import Outlook, outlook
from agentmux.app.views.rows import SessionRow, search_words, session_row
from agentmux.app.views.status import session_view
from agentmux.cli import render
from agentmux.cli.picker.view import (
    KnownSession,
    PickerLine,
    PickerScene,
    draw,
    shown_names,
    shows_plan,
)
from agentmux.core.codec.frozen import dataclass, field, replace
from agentmux.core.names.layout import short_names
from agentmux.core.names.status_labels import age, status_label
from agentmux.core.terminal.keys.keys import Key, Keys, Pressed
from agentmux.core.terminal.keys.picker import Choice, Picker, begin, offer, press, refuse, tell
from agentmux.core.terminal.text import sequences

if TYPE_CHECKING:
    from pathlib import Path

    from agentmux.app.world import World
    from agentmux.core.conversation.launch_policy import LaunchPolicy
    from agentmux.core.names.conversations import SeatChoice

_READ_BYTES: Final = 4096
# Seconds within which the bytes of one key arrive; a later byte begins another key.
_ESCAPE_S: Final = 0.05
# Seconds until the screen is drawn again, because the ages on it change.
_REDRAW_S: Final = 30.0
_ENTER: Final = (
    sequences.ALTERNATE_ON + sequences.CURSOR_OFF + sequences.WRAP_OFF + sequences.PASTE_MARKED
) + sequences.ERASE
_LEAVE: Final = (
    sequences.PLAIN + sequences.PASTE_PLAIN + sequences.WRAP_ON + sequences.CURSOR_ON
) + sequences.ALTERNATE_OFF
_ENDING: Final = (signal.SIGTERM, signal.SIGHUP)


@dataclass(frozen=True, slots=True, kw_only=True)
class PickedSession:
    """The session that a person chose.

    Attributes:
        entry: The session.
        fresh: Whether all seats should start new conversations.
        panes: What each seat's pane is started with, as the person saw and chose it; None if they
            did not see the whole plan, so that they agreed to nothing in particular.
        live: Whether the session has a live tmux session, to which the person can attach; False if
            `select_session` returned it without asking.
        left_alone: Whether the session is live but has no running orchestrator, so that it can be
            reattached; also False if `select_session` returned it without asking.
    """

    entry: SessionEntry
    fresh: bool = False
    panes: LaunchPolicy | None = None
    live: bool = False
    left_alone: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownPlans:
    """What the resumes of some sessions would do, as `ask` shows it to a person.

    Attributes:
        entries: The sessions.
        look: A function that takes a session's name and returns what its resume would do. It is
            called in another thread.
        steps: What else would be done before the resumes, one sentence each.
        chosen: What was chosen for single seats before. A key is the session's name and the
            position of the seat in `Outlook.seats`, from 0.
        fresh: Whether new conversations were chosen for all seats before.
    """

    entries: Sequence[SessionEntry]
    look: Callable[[str], Outlook]
    steps: tuple[str, ...] = ()
    chosen: Mapping[tuple[str, int], SeatChoice] = field(default_factory=dict)
    fresh: bool = False


def select_session(
    world: World,
    entries: Sequence[SessionEntry],
    *,
    interactive: bool,
    fresh: bool = False,
    command: str = "resume SESSION",
) -> PickedSession | None:
    """Let a person pick the session to resume; None if they left the picker without a choice.

    A single session is returned without asking, and its name is printed to stderr. Nobody checks
    then whether it is live.

    Args:
        world: The project, with its settings and tools.
        entries: The sessions to choose from.
        interactive: Whether stdin and stderr are a terminal that can show the picker.
        fresh: Whether seats start new conversations; the person can change that in the picker.
        command: The command that hints show, with ``SESSION`` in place of the name.

    Raises:
        NotFoundError: There is no session, or there are several and the picker cannot be shown.
        KeyboardInterrupt: The person pressed Ctrl-C.
    """
    if len(entries) > 1 and interactive:
        return pick(world, entries, fresh=fresh)
    entry = only_one(entries, command=command)
    ago = age(max(0.0, (world.now() - entry.updated).total_seconds()))
    render.note(f"session {entry.name}: {entry.phase or 'unreadable'}, {ago} ago")
    return PickedSession(entry=entry, fresh=fresh)


def can_draw(environ: Mapping[str, str]) -> bool:
    """Whether the terminal can show the picker: ``$TERM`` is set, and is not ``dumb``."""
    return environ.get("TERM", "dumb") != "dumb"


def pick(
    world: World, entries: Sequence[SessionEntry], *, fresh: bool = False, attaches: bool = False
) -> PickedSession | None:
    """Let a person pick a session in the full-screen list; None if they left without a choice.

    Args:
        world: The project, with its settings and tools.
        entries: The sessions, in the order of the list.
        fresh: Whether seats start new conversations; the person can change that.
        attaches: Whether the caller will attach to the session, so that the picker says "attach"
            and offers no new conversations; otherwise the caller will resume it.

    Raises:
        KeyboardInterrupt: The person pressed Ctrl-C.
    """
    by_name = {entry.name: entry for entry in entries}
    known = _describe_known(world, entries)
    sight = _SessionLooks(world, entries)
    with contextlib.closing(SessionExaminer(sight)) as looker:

        def scene(picker: Picker) -> PickerScene:
            looks, now = looker.read_outlooks(), world.now()
            return PickerScene(picker=picker, known=known, outlooks=looks, now=now, rows=sight.rows)

        choices = _choices(world.project.name, entries)
        picker = _run(begin(choices, fresh=fresh, attaches=attaches), scene, looker)
        known_by_now = looker.read_outlooks()
    if picker.interrupted:
        raise KeyboardInterrupt
    if picker.taken is None:
        return None
    # If Enter came before the session was examined, examine it now.
    seen = known_by_now.get(picker.taken) or sight(picker.taken)
    return PickedSession(
        entry=by_name[picker.taken],
        fresh=picker.fresh,
        panes=_make_policy(seen, picker) if picker.shown == picker.taken else None,
        live=seen.is_live,
        left_alone=seen.left_alone,
    )


def ask(world: World, shown: ShownPlans) -> Mapping[str, LaunchPolicy] | None:
    """Ask a person, on the whole screen, whether to resume all of the shown sessions.

    It resumes none of them.

    Args:
        world: The project, with its settings and tools.
        shown: The sessions, and what their resumes would do.

    Returns:
        How to open the panes of each session that can be resumed, by session name; None if the
        person left without agreeing.

    Raises:
        KeyboardInterrupt: The person pressed Ctrl-C.
    """
    known = _describe_known(world, shown.entries)
    with contextlib.closing(SessionExaminer(shown.look)) as looker:

        def scene(picker: Picker) -> PickerScene:
            looks, now = looker.read_outlooks(), world.now()
            return PickerScene(
                picker=picker, known=known, outlooks=looks, now=now, steps=shown.steps
            )

        choices = _choices(world.project.name, shown.entries)
        picker = begin(choices, fresh=shown.fresh, asks=True)
        picker = _run(replace(picker, chosen=shown.chosen), scene, looker)
        looks = looker.read_outlooks()
    if picker.interrupted:
        raise KeyboardInterrupt
    if picker.taken is None:
        return None
    return {name: _make_policy(each, picker) for name, each in looks.items() if not each.refused}


def _make_policy(seen: Outlook, picker: Picker) -> LaunchPolicy:
    choices = picker.seat_choices(seen.name)
    return seen.agree(dict(zip((each.seat for each in seen.seats), choices, strict=False)))


def _describe_known(world: World, entries: Sequence[SessionEntry]) -> Mapping[str, KnownSession]:
    short = short_names(world.folders.names(sessions_dir(world.project)))
    return {
        entry.name: KnownSession(
            name=short.get(entry.name, entry.name),
            phase=entry.phase or "unreadable",
            updated=entry.updated,
            title=entry.title,
            place=_place(entry),
        )
        for entry in entries
    }


def _place(entry: SessionEntry) -> str:
    """Return branch and path of the session's own worktree; empty without one."""
    worktree = entry.text("worktree")
    return f"{entry.text('branch')} in {worktree}".lstrip() if worktree else ""


def _choices(project: str, entries: Sequence[SessionEntry]) -> list[Choice]:
    """Return one line of the list for each session.

    A search looks in the session's slug, title, project, phase and status.
    """
    return [
        Choice(
            name=entry.name,
            words=search_words(entry, project),
            refused=entry.problem.message if entry.problem is not None else "",
        )
        for entry in entries
    ]


class _SessionLooks:
    """A function that examines a session by its name; it asks each tmux server only once.

    Attributes:
        rows: The row of each session by name; empty until the first session was examined.
    """

    def __init__(self, world: World, entries: Sequence[SessionEntry]) -> None:
        self._world = world
        self._entries = {entry.name: entry for entry in entries}
        self._lives: Mapping[Path, Liveness] = {}
        self.rows: Mapping[str, SessionRow] = {}

    def __call__(self, name: str) -> Outlook:
        if not self._lives:
            self._lives = live(self._world, self._entries.values())
            self.rows = {each: self._row(each) for each in self._entries}
        entry = self._entries[name]
        return outlook(self._world, entry, self._lives[entry.path], read_limited)

    def _row(self, name: str) -> SessionRow:
        entry, world = self._entries[name], self._world
        liveness = self._lives[entry.path]
        noted = world.folders.runtime(entry.path) if liveness.locked else {}
        seen = session_view(entry, liveness, noted, project=world.project, now=world.now())
        return session_row(seen)


class SessionExaminer:
    """Examines sessions in a background thread, in the order in which `want` names them.

    The thread begins at once and waits for `want`. To examine a session, it calls ``look``, the
    function passed to the constructor, with the session's name, and keeps the result.

    Attributes:
        wake_read_fd: Read end of a pipe. It becomes readable when a session has been examined, or
            when this process gets a Unix signal with a handler.
        wake_write_fd: Write end of that pipe.
    """

    def __init__(self, look: Callable[[str], Outlook]) -> None:
        self._look = look
        self._wanted: list[str] = []
        self._found: dict[str, Outlook] = {}
        self._changed = threading.Condition()
        self._closed = False
        self._error: BaseException | None = None
        self.wake_read_fd, self.wake_write_fd = os.pipe()
        for each in (self.wake_read_fd, self.wake_write_fd):
            os.set_blocking(each, False)
        # An examination that hangs must not keep the program from ending.
        threading.Thread(target=self._work, daemon=True).start()

    def want(self, names: Sequence[str]) -> None:
        """Replace the list of sessions that are still to be examined, given by name and in order.

        Sessions that were examined before are not examined again.
        """
        with self._changed:
            self._wanted = [name for name in names if name not in self._found]
            self._changed.notify()

    def read_outlooks(self) -> Mapping[str, Outlook]:
        """Return what a resume would do, by session name, for all sessions examined so far.

        Raises:
            BaseException: The thread ended with this error.
        """
        with self._changed:
            if self._error is not None:
                raise self._error
            return dict(self._found)

    def close(self) -> None:
        """Close the pipe, and let the thread end after its current session; does not wait."""
        with self._changed:
            self._closed = True
            self._changed.notify()
            os.close(self.wake_read_fd)
            os.close(self.wake_write_fd)

    def _work(self) -> None:
        while (name := self._next()) is not None:
            try:
                outlook = self._look(name)
            except BaseException as error:  # noqa: BLE001 (raised again where somebody sees it)
                self._publish_outlook(error=error)
                return
            self._publish_outlook(outlook)

    def _next(self) -> str | None:
        with self._changed:
            self._changed.wait_for(lambda: self._wanted or self._closed)
            return None if self._closed else self._wanted.pop(0)

    def _publish_outlook(
        self, outlook: Outlook | None = None, error: BaseException | None = None
    ) -> None:
        with self._changed:
            self._error = error
            if outlook is not None:
                self._found[outlook.name] = outlook
            if not self._closed:
                with contextlib.suppress(BlockingIOError):  # the pipe is full, so readable already
                    os.write(self.wake_write_fd, b"!")


class _EndedError(Exception):
    """This process got a signal to end, such as SIGTERM."""

    def __init__(self, number: int) -> None:
        self.number = number
        super().__init__(number)


def _run(picker: Picker, scene: Callable[[Picker], PickerScene], looker: SessionExaminer) -> Picker:
    """Show the picker until the person has chosen a session or left.

    Args:
        picker: The state of the picker at the beginning.
        scene: Returns everything to draw for a state of the picker.
        looker: Examines the sessions.

    Returns:
        The state of the picker at the end.
    """
    try:
        with _signals(looker.wake_write_fd), _Screen(looker.wake_read_fd) as screen:
            while not picker.is_over:
                picker = _turn(picker, scene, looker, screen)
    except _EndedError as error:
        # The terminal and the signal handlers are restored: let the signal act.
        os.kill(os.getpid(), error.number)
        raise
    return picker


def _turn(
    picker: Picker, scene: Callable[[Picker], PickerScene], looker: SessionExaminer, screen: _Screen
) -> Picker:
    """Draw the picker, wait for keys, and return the state of the picker after these keys."""
    cols, rows = screen.size()
    now = scene(picker)
    picker = refuse(picker, {name: _in_short(each) for name, each in now.outlooks.items()})
    picker = tell(picker, {name: status_label(row.status) for name, row in now.rows.items()})
    picker = offer(picker, {name: _offers(each) for name, each in now.outlooks.items()})
    listed = shown_names(picker, rows)
    others = (each.name for each in picker.choices if picker.asks)
    looker.want([name for name in dict.fromkeys((picker.at, *listed, *others)) if name])
    shows = shows_plan(replace(now, picker=picker), cols, rows)
    picker = replace(picker, page=max(1, len(listed)), shown=picker.at if shows else "")
    screen.show(draw(replace(now, picker=picker), cols, rows), (cols, rows))
    for key in screen.wait_for_keys():
        picker = press(picker, key)
    return picker


def _offers(outlook: Outlook) -> tuple[tuple[SeatChoice, ...], ...]:
    return tuple(tuple(each.digests) for each in outlook.seats)


def _in_short(outlook: Outlook) -> str:
    """Return a short reason why a session cannot be picked; empty if it can."""
    return f"{outlook.kind}: {(*outlook.hints, outlook.refused)[0]}" if outlook.refused else ""


@contextlib.contextmanager
def _signals(wake_fd: int) -> Iterator[None]:
    """In the block, let each Unix signal with a handler write to ``wake_fd``, to wake the picker.

    SIGWINCH and the signals in `_ENDING` get handlers. One of `_ENDING` raises `_EndedError`, so
    that the terminal is restored before this process ends.
    """

    def end(number: int, _frame: object) -> None:
        raise _EndedError(number)

    before = {number: signal.signal(number, end) for number in _ENDING}
    # Python writes to the file descriptor only for signals with a handler.
    before[signal.SIGWINCH] = signal.signal(signal.SIGWINCH, lambda _number, _frame: None)
    woken = signal.set_wakeup_fd(wake_fd, warn_on_full_buffer=False)
    try:
        yield
    finally:
        signal.set_wakeup_fd(woken)
        for number, handler in before.items():
            signal.signal(number, handler)


class _Screen:
    """The terminal while it shows the picker; a ``with`` block around it restores the terminal."""

    def __init__(self, wake_fd: int) -> None:
        self._wake_fd = wake_fd
        self._in, self._out = sys.stdin.fileno(), sys.stderr.fileno()
        self._keys = Keys()
        self._drawn: tuple[PickerLine, ...] = ()
        self._size = (0, 0)
        self._saved = terminal.mode(self._in)

    def __enter__(self) -> Self:
        sys.stderr.flush()
        try:
            terminal.make_raw(self._in, drops_typed=False)
            terminal.write(self._out, _ENTER)
        except BaseException:
            self._restore()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._restore()

    def _restore(self) -> None:
        with contextlib.suppress(OSError):  # the terminal may be gone
            terminal.write(self._out, _LEAVE)
        terminal.restore(self._in, self._saved)

    def size(self) -> tuple[int, int]:
        """Return the terminal's current size: columns, rows."""
        return terminal.size(self._out)

    def show(self, lines: tuple[PickerLine, ...], size: tuple[int, int]) -> None:
        """Draw the lines that differ from the screen; all lines after a change of size.

        Args:
            lines: All lines of the picker, from the top.
            size: Columns and rows of the terminal.
        """
        new = size != self._size
        old = () if new else self._drawn
        changed = "".join(
            f"{sequences.move(row)}{sequences.ERASE_LINE}{line.as_ansi()}"
            for row, line in enumerate(lines, start=1)
            if row > len(old) or old[row - 1] != line
        )
        self._drawn, self._size = lines, size
        if changed:
            terminal.write(self._out, (sequences.ERASE if new else "") + changed)

    def wait_for_keys(self) -> tuple[Pressed, ...]:
        """Wait for keys and return them; empty if something else ended the wait.

        The wait also ends when a session has been examined, when this process gets a Unix signal
        with a handler, and when it is time to draw again.
        """
        wait_s = _ESCAPE_S if self._keys.waiting else _REDRAW_S
        ready = select.select([self._in, self._wake_fd], [], [], wait_s)[0]
        if self._wake_fd in ready:
            os.read(self._wake_fd, _READ_BYTES)
        if self._in in ready:
            return self._read()
        return () if ready else self._keys.flush()

    def _read(self) -> tuple[Pressed, ...]:
        data = terminal.read(self._in)
        # A terminal that is gone gives an empty read, again and again.
        return self._keys.feed(data) if data else (Key.INTERRUPT,)
