"""What is said to tmux and how its answers are read: pure, tested without a server."""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from agentmux.core.environment import Change
from agentmux.ports.terminal import NewPane, Pane, Screen, TmuxSession

Command = tuple[str, ...]
"""One tmux command, a word per element; not yet escaped."""

MAX_BYTES: Final = 12_000
"""Of all words in one call: tmux 3.3a refuses what goes beyond about 16.3 kB (one imsg)."""

MONITOR_COLUMNS: Final = 44
"""Width of the monitor at the left of its window."""

NARROW_COLUMNS: Final = 30
"""The same, where 44 columns would leave the agents less than as many again and a half."""

_MONITOR_WIDTH: Final = f"#{{?#{{e|<|:#{{window_width}},110}},{NARROW_COLUMNS},{MONITOR_COLUMNS}}}"

RS: Final = "\x1e"
"""Stands before each screen in an answer; no program's C0 byte ever reaches a capture."""

SEAT: Final = "@agentmux_seat"
LAUNCH: Final = "@agentmux_launch"
LABEL: Final = "@agentmux_label"
UUID: Final = "@agentmux_id"
MONITOR: Final = "@agentmux_monitor"

SESSION_FORMAT: Final = f"#{{session_id}}\t#{{{UUID}}}\t#{{session_attached}}\t#{{session_name}}"
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
_SCREEN_FORMAT: Final = (
    f"{RS}#{{pane_id}}\t#{{pane_width}}\t#{{pane_height}}\t#{{cursor_y}}\t#{{cursor_x}}"
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

_SGR = re.compile(r"\x1b\[[0-9;:]*m")
_SHIFTED = re.compile(r"\x0e([^\x0f]*)\x0f?")
# The DEC special graphics set, which tmux hands out between SO and SI (terminfo's acsc).
_ACS: Final = str.maketrans(
    "`afgijklmnopqrstuvwxyz{|}~+,-.0",
    "◆▒°±␋┘┐┌└┼⎺⎻─⎼⎽├┤┴┬│≤≥π≠£·→←↑↓█",
)


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


def batches(groups: Iterable[Sequence[Command]]) -> Iterator[list[str]]:
    """Chain groups of commands into as few calls as fit; a group is never torn apart."""
    words: list[str] = []
    size = 0
    for group in groups:
        more = join(group)
        more_size = sum(len(word.encode()) + 1 for word in more) + 2
        if words and size + more_size > MAX_BYTES:
            yield words
            words, size = [], 0
        words += [";", *more] if words else more
        size += more_size
    if words:
        yield words


def guarded(pane: str, command: str) -> Command:
    """Run ``command`` only where the pane exists: a chain ends at its first failure."""
    return ("if-shell", "-F", "-t", pane, "#{pane_id}", command)


def window_options(target: str, options: Iterable[tuple[str, str]] = ()) -> Iterator[Command]:
    """What every window of ours needs, whatever the user's configuration says."""
    for name, value in (*_WINDOW_OPTIONS, *options):
        yield ("set-option", "-w", "-t", target, name, value)


def create(
    *, name: str, uuid: str, cwd: str, size: tuple[int, int], argv: Sequence[str]
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
    options = (
        *_PANE_OPTIONS,
        # Its "Pane is dead" would push a row of the last screen out, and can lack the status.
        ("remain-on-exit-format", ""),
        (LAUNCH, pane.launch),
        (SEAT, pane.seat),
        (LABEL, printable(pane.label)),
    )
    return [
        (*made, "-P", "-F", "#{window_name}\t#{pane_id}", "--", *pane.argv),
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


def capture(pane: str, *, colours: bool) -> Command:
    """Print the facts and the screen of a pane that may be gone; blanks at the ends stay."""
    how = "-peN" if colours else "-pN"
    says = f'display-message -p -t {pane} "{_SCREEN_FORMAT}"'
    return guarded(pane, f"{says} ; capture-pane {how} -t {pane}")


def parse_listing(reply: str) -> tuple[int, tuple[TmuxSession, ...]]:
    """Read the server's pid and the lines of `SESSION_FORMAT`; the name may hold anything."""
    *lines, pid = reply.rstrip("\n").split("\n")
    rows = (line.split("\t", 3) for line in lines if line.count("\t") >= 3)
    return int(pid), tuple(
        TmuxSession(id=row[0], uuid=row[1], attached=int(row[2] or 0), name=row[3]) for row in rows
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


def parse_screens(reply: str, *, colours: bool) -> Mapping[str, Screen]:
    """Read what a chain of `capture` printed; keys are pane ids."""
    screens: dict[str, Screen] = {}
    for part in reply.split(RS)[1:]:
        head, _, body = part.partition("\n")
        pane, cols, rows, cursor_row, cursor_col = head.split("\t")
        ansi = _unshifted(body.removesuffix("\n"))
        screens[pane] = Screen(
            ansi=ansi,
            text=_SGR.sub("", ansi) if colours else ansi,
            cols=int(cols),
            rows=int(rows),
            cursor_row=int(cursor_row),
            cursor_col=int(cursor_col),
        )
    return screens


def parse_version(text: str) -> tuple[int, int] | None:
    """Read ``tmux 3.3a`` or ``tmux next-3.6``; None for a build without a number (``master``)."""
    match = re.search(r"tmux (?:next-)?(\d+)\.(\d+)", text)
    return (int(match[1]), int(match[2])) if match else None


def _unshifted(ansi: str) -> str:
    """Give line drawing its own characters: between SO and SI a ``q`` is a line."""
    if "\x0e" not in ansi:
        return ansi
    return _SHIFTED.sub(lambda match: _shifted(match[1]), ansi)


def _shifted(text: str) -> str:
    parts = re.split(f"({_SGR.pattern})", text)
    return "".join(part if part.startswith("\x1b") else part.translate(_ACS) for part in parts)
