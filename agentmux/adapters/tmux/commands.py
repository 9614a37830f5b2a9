"""What is said to tmux and how its answers are read: pure, tested without a server."""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from agentmux.core.agents.environment import Change
from agentmux.core.terminal.captured_screen import line_drawing, trimmed
from agentmux.core.terminal.text_width import cell_width, width
from agentmux.ports.terminal import NewPane, Pane, Screen, Target, TmuxSession

Command = tuple[str, ...]
"""One tmux command, a word per element; not yet escaped."""

MAX_BYTES: Final = 12_000
"""Of all words in one call: every tmux refuses what goes beyond 16.3 kB (one imsg)."""

MAX_WORDS: Final = 900
"""In one call: tmux refuses more than 1000 from 3.7 on (its CHANGES: "Limit MSG_COMMAND argument to
between 0 and 1000"); 3.2 to 3.6 count bytes only."""

MONITOR_COLUMNS: Final = 44
"""Width of the monitor at the left of its window."""

NARROW_COLUMNS: Final = 30
"""The same, where 44 columns would leave the agents less than as many again and a half."""

_MONITOR_WIDTH: Final = f"#{{?#{{e|<|:#{{window_width}},110}},{NARROW_COLUMNS},{MONITOR_COLUMNS}}}"

SEAT: Final = "@agentmux_seat"
LAUNCH: Final = "@agentmux_launch"
LABEL: Final = "@agentmux_label"
UUID: Final = "@agentmux_id"
PATH: Final = "@agentmux_path"
MONITOR: Final = "@agentmux_monitor"

ELSEWHERE: Final = "agentmux-elsewhere"
"""In what tmux says when `guard` does not hold, followed by ``-`` and the pid of who answered."""

# Between the fields of an answer stands a tab: with ``-u`` every tmux from 3.2 to 3.8 prints it as
# it is. Any other control character is printed as ``\036`` by 3.5a.
SESSION_FORMAT: Final = (
    f"#{{session_id}}\t#{{{UUID}}}\t#{{session_attached}}\t#{{{PATH}}}\t#{{session_name}}"
)
LISTING: Final = (("list-sessions", "-F", SESSION_FORMAT), ("display-message", "-p", "#{pid}"))
CREATED_FORMAT: Final = "\t".join(
    f"#{{{name}}}"
    for name in ("session_id", "session_name", "window_id", "pane_id", "pid", "exit-unattached")
)
PANE_FORMAT: Final = "\t".join(
    f"#{{{name}}}"
    for name in (
        "pane_id",
        "window_id",
        "pane_pid",
        "pane_dead",
        SEAT,
        LAUNCH,
        MONITOR,
        "window_activity",
        "window_zoomed_flag",
    )
)
CLIENT_FORMAT: Final = "\t".join(
    f"#{{{name}}}"
    for name in ("client_name", "client_created", "session_created", "client_last_session")
)
_SCREEN_FORMAT: Final = "\t".join(
    f"#{{{name}}}" for name in ("pane_id", "pane_width", "pane_height", "cursor_y", "cursor_x")
)

_WINDOW_OPTIONS: Final = (
    ("window-size", "latest"),
    ("aggressive-resize", "off"),
    ("automatic-rename", "off"),
    ("allow-rename", "off"),
)
_WORK_OPTIONS: Final = (
    ("pane-border-status", "top"),
    # A value read by #{} is shown and not expanded again, whatever it holds.
    ("pane-border-format", f" #{{{LABEL}}} "),
)

_PANE_OPTIONS: Final = (
    ("remain-on-exit", "on"),
    # What is typed is for one pane.
    ("synchronize-panes", "off"),
)

_LAUNCHING: Final = "launch-"

_TAB: Final = 8
_SPELLED = re.compile(rb"%([0-9a-f]{2})")
_SGR = re.compile(r"\x1b\[[0-9;:]*m")
_SHIFTED = re.compile(r"\x0e([^\x0f]*)\x0f?")


def escape(word: str) -> str:
    """Keep tmux from reading a word that ends in ``;`` as the end of the command."""
    return word[:-1] + "\\;" if word.endswith(";") else word


def literal(text: str) -> str:
    """Keep text as it is where tmux expands formats (``-n``, ``-c``, …): ``#(command)`` runs."""
    return text.replace("#", "##")


def printable(text: str) -> str:
    """Drop control characters, so that a label stays on its line."""
    return "".join(char for char in text if not unicodedata.category(char).startswith("C"))


def join(commands: Iterable[Command]) -> list[str]:
    """Chain commands into the words of one tmux call."""
    words: list[str] = []
    for command in commands:
        if words:
            words.append(";")
        words.extend(escape(word) for word in command)
    return words


def batches(groups: Iterable[Sequence[Command]]) -> Iterator[list[Sequence[Command]]]:
    """Put groups of commands into as few calls as fit; a group is never torn apart."""
    batch: list[Sequence[Command]] = []
    words = size = 0
    for group in groups:
        more = [word for command in group for word in (*command, ";")]
        more_size = sum(len(escape(word).encode()) + 1 for word in more)
        if batch and (size + more_size > MAX_BYTES or words + len(more) > MAX_WORDS):
            yield batch
            batch, words, size = [], 0, 0
        batch.append(group)
        words, size = words + len(more), size + more_size
    if batch:
        yield batch


def guarded(pane: str, command: str, *otherwise: str) -> Command:
    """Run ``command`` only where the pane exists: a chain ends at its first failure."""
    return ("if-shell", "-F", "-t", pane, "#{pane_id}", command, *otherwise)


def ways_back(clients: str) -> Iterator[Command]:
    """Return how each client of a session, in `CLIENT_FORMAT`, leaves it for where it was before.

    To its last session; to any other, where that is gone, which a client that is older than the
    session must have had. One without either came from a shell, and goes back there by itself.
    """
    for line in clients.splitlines():
        name, created, began, last = line.split("\t", 3)
        if last or int(created) < int(began):
            yield ("switch-client", "-c", name, "-l" if last else "-n")


def window_options(target: str, options: Iterable[tuple[str, str]] = ()) -> Iterator[Command]:
    """What every window of ours needs, whatever the user's configuration says."""
    for name, value in (*_WINDOW_OPTIONS, *options):
        yield ("set-option", "-w", "-t", target, name, value)


def is_ours(target: Target) -> str:
    """Return a format that is true in the session of ours, on its own server, and nowhere else."""
    there = f"#{{pid}} #{{session_id}} #{{{UUID}}}"
    here = f"{target.server.pid} {target.session} {target.uuid}"
    return f"#{{==:{there},{re.sub('[#,}]', lambda match: f'#{match[0]}', here)}}}"


def guard(target: Target) -> Command:
    """Print our mark, or end the chain: what follows is for this session of this server alone.

    Of all commands that fail where a format says so, this one changes nothing. tmux expands the
    name of an option (since 3.0), and what it expands to where the session is another one's is
    none. Tried with 3.3a, 3.5a and 3.8.
    """
    name = f"#{{?{is_ours(target)},{UUID},{ELSEWHERE}-#{{pid}}}}"
    return ("show-options", "-v", "-t", target.session, name)


def client_of(socket: str) -> Command:
    """Return a tmux client of the server at ``socket``."""
    return ("tmux", "-u", "-S", socket)


def goes_to(target: Target, command: str) -> Command:
    """Show the session of ours to the client that says this; ends it where it is not that one."""
    # Nothing is printed, which would stand on the user's screen: hence not `guard`.
    nobody = f"show-options -v {ELSEWHERE}"
    return (
        "if-shell",
        "-F",
        "-t",
        target.session,
        is_ours(target),
        f"{command} -t {target.session}",
        nobody,
    )


def kill_on(pid: int, session: str) -> Command:
    """Kill a session that bears no mark of ours yet, on the server with this pid only."""
    return (
        "if-shell",
        "-F",
        "-t",
        session,
        f"#{{==:#{{pid}},{pid}}}",
        f"kill-session -t {session}",
    )


def mark_path(target: str, path: str) -> Command:
    """Note where the directory of the session lies."""
    return ("set-option", "-t", target, PATH, spelled(path))


def spelled(path: str) -> str:
    """Spell a path so that every tmux, in every locale, prints it as it is."""
    plain = (chr(byte) if 0x20 < byte < 0x7F and byte != 0x25 else f"%{byte:02x}"
             for byte in os.fsencode(path))  # fmt: skip
    return "".join(plain)


def unspelled(text: str) -> str:
    """Read what `spelled` wrote."""
    return os.fsdecode(_SPELLED.sub(lambda match: bytes([int(match[1], 16)]), text.encode()))


def create(
    *, name: str, uuid: str, path: str, cwd: str, size: tuple[int, int], argv: Sequence[str]
) -> list[Command]:
    """Make the session and mark it.

    Its name says where the marks go: without ``-t`` they fall on the session that this is called
    in, where it is called inside tmux, and that is the user's.
    """
    columns, rows = size
    target = f"={re.sub('[:.]', '_', name)}:"  # as tmux names it
    made = ("new-session", "-d", "-P", "-F", CREATED_FORMAT, "-s", literal(name), "-n", "agentmux")
    # The server may have been started by an agent of another session: its id must not go on.
    place = ("-c", literal(cwd), "-x", str(columns), "-y", str(rows), "-e", "AGENTMUX_SESSION_ID=")
    return [
        (*made, *place, "--", *argv),
        ("set-option", "-t", target, "destroy-unattached", "off"),
        ("set-option", "-t", target, UUID, uuid),
        mark_path(target, path),
        *_monitor_options(target),
    ]


def monitor_window(session: str, cwd: str, argv: Sequence[str]) -> list[Command]:
    """Make a new monitor in a window of its own, for a session that has lost its own."""
    target = f"{session}:"  # where the new window is now the current one
    made = ("new-window", "-P", "-F", "#{pane_id}", "-n", "agentmux", "-t", target)
    return [(*made, "-c", literal(cwd), "--", *argv), *_monitor_options(target)]


def _monitor_options(target: str) -> Iterator[Command]:
    for name, value in ((MONITOR, "1"), *_PANE_OPTIONS, (LABEL, "agentmux")):
        yield ("set-option", "-p", "-t", target, name, value)
    yield from window_options(target, _WORK_OPTIONS)


def set_environment(session: str, change: Change) -> str:
    """Return the lines of a configuration file; every byte of a value as an octal escape."""
    values = (
        (name, "".join(f"\\{byte:03o}" for byte in os.fsencode(value)))
        for name, value in change.values.items()
    )
    lines = [f'set-environment -t {session} {name} "{value}"' for name, value in values]
    lines += [f"set-environment -r -t {session} {name}" for name in change.unset]
    return "\n".join(lines) + "\n"


def repair_hook(window: str) -> Command:
    """Bring the monitor back to its width when a client attaches or changes its size."""
    lines = (" ".join(f'"{word}"' for word in command) for command in layout(window))
    hook = f"if-shell -F -t {window} '#{{window_zoomed_flag}}' '' '{' ; '.join(lines)}'"
    return ("set-hook", "-w", "-t", window, "window-resized", hook)


def open_pane(session: str, pane: NewPane) -> list[Command]:
    """Make a pane in a window that bears its launch id until it is marked.

    With ``-d`` the user's focus stays, but the later commands would fall on the window in use:
    the name, which nobody else has, tells them where to go. The letters in it keep tmux from
    taking an id of digits for the index of a window, which it does even after ``=``.
    """
    name = f"{_LAUNCHING}{pane.launch}"
    target = f"{session}:={name}"
    made = ("new-window", "-d", "-n", name, "-t", f"{session}:")
    return [
        (*made, "-P", "-F", "#{window_name}\t#{pane_id}", "--", *pane.argv),
        *mark_pane(target, pane),
    ]


def mark_pane(target: str, pane: NewPane) -> list[Command]:
    """Set on a new pane what tells it, and name its window."""
    options = (
        *_PANE_OPTIONS,
        # Its "Pane is dead" would push a row of the last screen out, and can lack the status.
        ("remain-on-exit-format", ""),
        (LAUNCH, pane.launch),
        (SEAT, pane.seat),
        (LABEL, printable(pane.label)),
    )
    return [
        *(("set-option", "-pq", "-t", target, option, value) for option, value in options),
        *window_options(target),
        ("rename-window", "-t", target, literal(pane.seat)),
    ]


def park(pane: Pane) -> list[Command]:
    """Move a pane to a window of its own, so that it keeps the full size."""
    return [
        ("break-pane", "-d", "-n", literal(pane.seat), "-s", pane.id),
        *window_options(pane.id),
    ]


def vacate(pane: str) -> Command:
    """End what runs in a pane that may be gone, and leave its place empty: `is_vacant`."""
    commands = (
        f"respawn-pane -k -t {pane} -- sh -c :",
        f"set-option -pu -t {pane} {LAUNCH}",
        f"set-option -p -t {pane} {LABEL} ''",
    )
    return guarded(pane, " ; ".join(commands))


def is_vacant(pane: Pane) -> bool:
    """Whether it only keeps a place: it has a seat, and no launch any more."""
    return bool(pane.seat) and not pane.launch


def follow(pane: str, before: Pane) -> list[Command]:
    """Put a pane into the place of another, which goes to a window of its own, or ends."""
    swap = ("swap-pane", "-d", "-s", pane, "-t", before.id)
    if is_vacant(before):
        return [swap, ("kill-pane", "-t", before.id)]
    return [swap, ("rename-window", "-t", before.id, literal(before.seat))]


def show(pane: str, *, monitor: str, below: str) -> list[Command]:
    """Move a pane into the monitor's window, under ``below`` or at the right of the monitor."""
    direction = "-h" if below == monitor else "-v"
    return [("join-pane", "-d", direction, "-s", pane, "-t", below), *layout(monitor)]


def layout(target: str) -> list[Command]:
    """The monitor at the left of its window, all others in one column."""
    return [
        ("set-option", "-w", "-F", "-t", target, "main-pane-width", _MONITOR_WIDTH),
        ("select-layout", "-t", target, "main-vertical"),
    ]


def capture(pane: str, *, mark: str, colours: bool) -> Command:
    """Print ``mark``, and behind it the facts and the screen of the pane where it exists.

    Args:
        mark: Printable, and what no program can have on its screen: fresh for each call.
    """
    how = "-peN" if colours else "-p"  # without -N coloured blanks at the ends of rows are lost
    says = f'display-message -p -t {pane} "{mark}{_SCREEN_FORMAT}"'
    there = f"{says} ; capture-pane {how} -t {pane}"
    return guarded(pane, there, f"display-message -p {mark}")


def parse_listing(reply: str) -> tuple[int, tuple[TmuxSession, ...]]:
    """Read the server's pid and the lines of `SESSION_FORMAT`; the name may hold anything."""
    *lines, pid = reply.rstrip("\n").split("\n")
    rows = (line.split("\t", 4) for line in lines if line.count("\t") >= 4)
    return int(pid), tuple(
        TmuxSession(
            id=row[0],
            uuid=row[1],
            attached=int(row[2] or 0),
            path=unspelled(row[3]),
            name=row[4],
        )
        for row in rows
    )


def parse_panes(reply: str) -> tuple[tuple[Pane, ...], str, bool]:
    """Read the lines of `PANE_FORMAT`.

    Returns:
        The panes in tmux's order, the monitor's id (else empty), and whether its window is zoomed.
    """
    rows = [line.split("\t") for line in reply.splitlines() if line.count("\t") == 8]
    monitor = next((row for row in rows if row[6] == "1"), None)
    window = monitor[1] if monitor else ""
    panes = tuple(
        Pane(
            id=row[0],
            window=row[1],
            pid=int(row[2] or 0),
            dead=row[3] == "1",
            seat=row[4],
            launch=row[5],
            visible=row[1] == window,
            activity=int(row[7] or 0),
        )
        for row in rows
    )
    return panes, monitor[0] if monitor else "", bool(monitor and monitor[8] == "1")


def parse_opened(reply: str) -> Mapping[str, str]:
    """Read what a chain of `open_pane` printed: launch id to pane id."""
    rows = (line.removeprefix(_LAUNCHING).split("\t") for line in reply.splitlines())
    return {row[0]: row[1] for row in rows if len(row) == 2}


def parse_screens(
    reply: str, *, mark: str, asked: Sequence[str], colours: bool
) -> Mapping[str, Screen]:
    """Read what a chain of `capture` printed, one for each of the panes ``asked``.

    Returns:
        Pane id to screen, of those that exist.

    Raises:
        ValueError: It is no answer to that question: nothing is known of any of the panes.
    """
    before, *parts = reply.split(mark)
    answers = [part.partition("\n") for part in parts]
    fits = (
        head.split("\t")[0] in {pane, ""}
        for pane, (head, _, _) in zip(asked, answers, strict=False)
    )
    if before or len(answers) != len(asked) or not all(fits):
        raise ValueError(f"{len(answers)} of {len(asked)} panes are in the answer")
    return dict(_screen(head, body, colours=colours) for head, _, body in answers if head)


def _screen(head: str, body: str, *, colours: bool) -> tuple[str, Screen]:
    """Read a screen in the one form that every tmux gives the same.

    From 3.4 ``capture-pane -N`` fills rows up with blanks that no program wrote, and earlier ones
    keep those that were written: neither is told apart from the other, so both are taken away, up
    to the cursor: a prompt ``> `` that waits for its user keeps its blank. From 3.6 a tab that was
    written comes as a tab.
    """
    pane, *numbers = head.split("\t")
    cols, rows, cursor_row, cursor_col = map(int, numbers)
    ansi = trimmed(_untabbed(_unshifted(body.removesuffix("\n")))).split("\n")
    text = [(_SGR.sub("", row) if colours else row).rstrip(" ") for row in ansi]
    if cursor_row < len(text):
        blanks = " " * (cursor_col - width(text[cursor_row], cells=cell_width))
        text[cursor_row] += blanks
        ansi[cursor_row] += blanks
    return pane, Screen(
        ansi="\n".join(ansi),
        text="\n".join(text),
        cols=cols,
        rows=rows,
        cursor_row=cursor_row,
        cursor_col=cursor_col,
    )


def parse_version(text: str) -> tuple[int, int] | None:
    """Read ``tmux 3.3a`` or ``tmux next-3.6``; None for a build without a number (``master``)."""
    match = re.search(r"tmux (?:next-)?(\d+)\.(\d+)", text)
    return (int(match[1]), int(match[2])) if match else None


def _untabbed(ansi: str) -> str:
    """Put blanks for tabs, as many as they show while nobody moves the stops."""
    if "\t" not in ansi:
        return ansi
    return "\n".join(map(_row_untabbed, ansi.split("\n")))


def _row_untabbed(row: str) -> str:
    done = ""
    for number, part in enumerate(row.split("\t")):
        if number:
            done += " " * (_TAB - width(_SGR.sub("", done), cells=cell_width) % _TAB)
        done += part
    return done


def _unshifted(ansi: str) -> str:
    """Give line drawing its own characters: between SO and SI a ``q`` is a line."""
    if "\x0e" not in ansi:
        return ansi
    return _SHIFTED.sub(lambda match: _shifted(match[1]), ansi)


def _shifted(text: str) -> str:
    parts = re.split(f"({_SGR.pattern})", text)
    return "".join(part if part.startswith("\x1b") else line_drawing(part) for part in parts)
