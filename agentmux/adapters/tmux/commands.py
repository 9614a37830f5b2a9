"""Builds the words of tmux commands and parses tmux's output; it runs nothing."""

from __future__ import annotations

import os
import re
import shlex
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from agentmux.core.agents.environment import Change
from agentmux.core.names import statuses
from agentmux.core.names.layout import users_tmux_name
from agentmux.core.names.status_labels import status_label
from agentmux.core.terminal.text.captured_screen import expand_tabs, line_drawing, trim_screen
from agentmux.core.terminal.text.sgr import SEQUENCE
from agentmux.core.terminal.text.text_width import cell_width, width
from agentmux.ports.tmux.terminal import (
    Client,
    LeaveKeys,
    NewPane,
    Pane,
    Screen,
    StatusOption,
    Target,
    TmuxSession,
)

Command = tuple[str, ...]
"""The words of one tmux command, not yet escaped (see `join`)."""

MAX_BYTES: Final = 12_000
"""The maximum number of bytes of all words in one call: tmux refuses more than 16.3 kB."""

MAX_WORDS: Final = 900
"""The maximum number of words in one call: tmux refuses more than 1000 from 3.7 on (its CHANGES:
"Limit MSG_COMMAND argument to between 0 and 1000"); 3.2 to 3.6 only limit the bytes."""

MONITOR_COLUMNS: Final = 44
"""The width of the monitor, which is at the left of its window, in columns."""

NARROW_COLUMNS: Final = 30
"""The width of the monitor, in columns, in a window with fewer than 110 columns."""

WIDE_COLUMNS: Final = 64
"""The width of the monitor, in columns, in a window with 160 or more columns."""

_MONITOR_WIDTH: Final = (
    f"#{{?#{{e|<|:#{{window_width}},110}},{NARROW_COLUMNS},"
    f"#{{?#{{e|<|:#{{window_width}},160}},{MONITOR_COLUMNS},{WIDE_COLUMNS}}}}}"
)

SEAT: Final = "@agentmux_seat"
LAUNCH: Final = "@agentmux_launch"
LABEL: Final = "@agentmux_label"
UUID: Final = "@agentmux_id"
PATH: Final = "@agentmux_path"
MONITOR: Final = "@agentmux_monitor"
_DIED: Final = "@agentmux_died"
_KILLED_MARK: Final = "@agentmux_killed"

ELSEWHERE: Final = "agentmux-elsewhere"
"""The beginning of tmux's error if a `guard` fails; ``-`` and the pid of the server that answered
follow it."""

# Tabs separate the fields of an output: with ``-u`` every tmux from 3.2 to 3.8 prints a tab
# unchanged, while 3.5a escapes other control characters, for example as ``\036``.
SESSION_FORMAT: Final = (
    f"#{{session_id}}\t#{{{UUID}}}\t#{{session_attached}}\t#{{{PATH}}}\t#{{session_name}}"
)
LISTING: Final = (("list-sessions", "-F", SESSION_FORMAT), ("display-message", "-p", "#{pid}"))
CREATED_FORMAT: Final = "\t".join(
    f"#{{{name}}}"
    for name in (
        *("session_id", "session_name", "window_id", "pane_id", "pid", "exit-unattached"),
        *("pane_mode", "config_files"),
    )
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
        "pane_active",
        "window_active",
    )
)
LAUNCHES: Final = ("list-panes", "-a", "-F", f"#{{?{LAUNCH},#{{{LAUNCH}}},-}} #{{pane_id}}")
"""The command that lists every pane of the server, one per line: its launch id, or ``-``, and its
id."""

_SHOWS_MONITOR: Final = f"#{{?window_zoomed_flag,#{{{MONITOR}}},#{{P:#{{{MONITOR}}}}}}}"
CLIENTS: Final = (
    *("list-clients", "-F"),
    f"#{{version}} #{{session_id}}:{_SHOWS_MONITOR} #{{client_name}}",
)
"""The command that lists every client of the server, one per line: tmux's version; the id of the
session that the client shows, a colon, and ``1`` if that session's monitor is visible; the client's
name."""
CLIENT_FORMAT: Final = "\t".join(
    f"#{{{name}}}"
    for name in (
        "client_name",
        "client_created",
        "session_created",
        "client_flags",
        StatusOption.GUESTS,
        "client_last_session",
    )
)
UNSEEN: Final = "no-output"
"""The flag of a client that has no screen: it only listens for events."""

LEAVE_KEYS: Final = (("display-message", "-p", "#{prefix}\t#{prefix2}"), ("list-keys",))
_DETACH: Final = ["detach-client"]
_BACK: Final = ["switch-client", "-l"]
_TO_THE_LEFT: Final = ["select-pane", "-L"]
_LAST_WINDOW: Final = ["last-window"]
_SCREEN_FORMAT: Final = "\t".join(
    f"#{{{name}}}" for name in ("pane_id", "pane_width", "pane_height", "cursor_y", "cursor_x")
)

_WINDOW_OPTIONS: Final = (
    ("window-size", "latest"),
    ("aggressive-resize", "off"),
    ("automatic-rename", "off"),
    ("allow-rename", "off"),
)
# tmux does not expand the value of an option in #{} again.
_YOURS: Final = "#[fg=black]#[bg=yellow]#[bold]"
_WAITING_LABEL: Final = f"{_YOURS} ! waits for you: #{{{LABEL}}} #[default]"
_HAS_NO_STATUS: Final = "#{&&:#{pane_dead},#{==:#{pane_dead_status},}}"
_KILLED: Final = f"#{{&&:#{{{MONITOR}}},#{{||:#{{{_KILLED_MARK}}},{_HAS_NO_STATUS}}}}}"
"""A tmux format that is true in the pane of a monitor that was killed.

Only the missing exit status reveals it: tmux sometimes loses the signal. The pane option
`_KILLED_MARK` stays set while another program writes `_LEFT_WORDS` there, and after that.
"""
_IS_NARROW: Final = f"#{{e|<|:#{{pane_width}},{MONITOR_COLUMNS}}}"
_KILLED_WHO: Final = f"#{{?{_IS_NARROW},,orchestrator }}"  # a border has 4 columns less
_LEAVE_KEY: Final = f"#{{?client_last_session,#{{{StatusOption.BACK}}},#{{{StatusOption.DETACH}}}}}"
_KILLED_HOW: Final = f"#{{?{_LEAVE_KEY},{_LEAVE_KEY} leaves,the agents go on}}"
_KILLED_LABEL: Final = f"{_YOURS}! {_KILLED_WHO}killed; {_KILLED_HOW}#[default]"
_NEEDS_USER: Final = f"#{{||:#{{{StatusOption.WAITS}}},{_KILLED}}}"
_SEAT_LABEL: Final = f"#{{?{StatusOption.WAITS},{_WAITING_LABEL}, #{{{LABEL}}} }}"
_WORK_OPTIONS: Final = (
    ("pane-border-status", "top"),
    ("pane-border-format", f"#{{?{_KILLED},{_KILLED_LABEL},{_SEAT_LABEL}}}"),
    ("pane-border-style", f"#{{?{_NEEDS_USER},fg=yellow,default}}"),
    ("pane-active-border-style", f"#{{?{_NEEDS_USER},fg=yellow,fg=green}}"),
)

_FEATURE: Final = (
    f"#{{?#{{e|<|:#{{client_width}},110}},#{{=/20/…:{StatusOption.FEATURE}}},"
    f"#{{?#{{e|<|:#{{client_width}},160}},#{{=/36/…:{StatusOption.FEATURE}}},"
    f"#{{=/60/…:{StatusOption.FEATURE}}}}}}}"
)
_BACK_KEY: Final = (
    f"#{{?#{{==:#{{window_panes}},1}},#{{{StatusOption.WINDOW}}},#{{{StatusOption.LEFT}}}}}"
)
_DRIVEN: Final = f"#{{W:#{{P:#{{?{MONITOR},#{{?pane_dead,,#{{?{_KILLED_MARK},,1}}}},}}}}}}"
"""A tmux format that is true in a session whose monitor is running, not killed."""

_REATTACH: Final = "agentmux resume --reattach"

# True if the options are still right: after an orchestrator has ended, nobody updates them.
_ENDED: Final = "|".join(map(status_label, (statuses.FAILED, statuses.DONE)))
_HOLDS: Final = f"#{{||:{_DRIVEN},#{{m/r:^({_ENDED})$,#{{{StatusOption.STATUS}}}}}}}"
_INTERRUPTED: Final = f" · {status_label(statuses.INTERRUPTED)}: {_REATTACH}"
_LEFT: Final = (
    f"#{{?#{{&&:#{{{StatusOption.NEEDS_YOU}}},{_HOLDS}}},{_YOURS},#[bold]}} "
    f"#{{?{StatusOption.FEATURE},{_FEATURE},agentmux}} #[default]"
    f"#{{?{SEAT}, {_BACK_KEY} goes to the monitor |,}}"
    f" #{{{StatusOption.PHASE}}}"
    f"#{{?{_HOLDS},#{{?#{{==:#{{{StatusOption.PHASE}}},#{{{StatusOption.STATUS}}}}},"
    f", · #{{{StatusOption.STATUS}}}}},{_INTERRUPTED}}} | "
)
_STATUS_LINE: Final = (("status-left-length", "160"), ("status-left", _LEFT))
"""Session options that make tmux's status line name the feature, its phase and its status."""

_PANE_OPTIONS: Final = (
    ("remain-on-exit", "on"),
    # Text that is typed into a pane must not reach the others.
    ("synchronize-panes", "off"),
)

HAS_USERS_PANES: Final = "agentmux-has-panes-of-its-user"
"""The part of tmux's error if `end_session` kills nothing."""

_IS_OURS: Final = f"#{{||:#{{{MONITOR}}},#{{||:#{{{SEAT}}},#{{{LAUNCH}}}}}}}"
_ANY_USERS_PANE: Final = f"#{{W:#{{P:#{{?{_IS_OURS},,1}}}}}}"
"""A tmux format that is true in a session with a pane that does not have our marks."""

_MAIN_WIDTH: Final = "main-pane-width"

_LEFT_WORDS: Final = (
    "",
    "The orchestrator was killed.",
    "The agents go on.",
    "",
    "To go on, type in a shell:",
    f"  {_REATTACH}",
)
"""The lines shown in place of a killed monitor, whose last picture would be out of date."""

SHORT_NAMES: Final[Mapping[str, str]] = {
    "attach-session": "attach",
    "break-pane": "breakp",
    "capture-pane": "capturep",
    "copy-mode": "copy-m",
    "delete-buffer": "deleteb",
    "detach-client": "detach",
    "display-message": "display",
    "if-shell": "if",
    "join-pane": "joinp",
    "kill-pane": "killp",
    "kill-session": "kill-ses",
    "list-clients": "lsc",
    "list-panes": "lsp",
    "list-sessions": "ls",
    "load-buffer": "loadb",
    "new-session": "new",
    "new-window": "neww",
    "paste-buffer": "pasteb",
    "rename-window": "renamew",
    "respawn-pane": "respawnp",
    "select-layout": "selectl",
    "select-pane": "selectp",
    "select-window": "selectw",
    "send-keys": "send",
    "set-environment": "setenv",
    "set-hook": "set-h",
    "set-option": "set",
    "show-options": "show",
    "source-file": "source",
    "swap-pane": "swapp",
    "switch-client": "switchc",
}
"""Maps a tmux command's name to the short name that we use: tmux's own alias, or a unique prefix.

A user's ``command-alias`` may redefine full names, for example ``kill-pane='kill-pane -a'``; so
they are not used.
"""

VIEW: Final = "view-mode"
"""The mode of a pane that tmux covers with text of its own, such as errors in a ``tmux.conf``."""

_LAUNCHING: Final = "launch-"
_LONG_MESSAGE: Final = ("-C", "-d", "10000")
_SHORT_MESSAGE: Final = ("-d", "3000")

_DRAWS: Final = (3, 6)
"""The first version of tmux that can draw panes while a message is shown."""

_HOOK = re.compile(r"(after-[a-z-]+|session-[a-z-]+|window-[a-z-]+)\[\d+\]$")
_ENDING = re.compile(r"kill-|kill[a-z]* |destroy-unattached|exit-")
_SPELLED = re.compile(rb"%([0-9a-f]{2})")
_SHIFTED = re.compile(r"\x0e([^\x0f]*)\x0f?")


def escape(word: str) -> str:
    """Return the word with a ``;`` at its end escaped, which would otherwise end the command."""
    return word[:-1] + "\\;" if word.endswith(";") else word


def in_short(words: Iterable[str]) -> Iterator[str]:
    """Yield the words of one call, with each command's name replaced by its short name.

    ``words`` have a ``;`` as a word of its own between two commands, as `join` returns them. Names
    without an entry in `SHORT_NAMES` stay.
    """
    is_name = True
    for word in words:
        yield SHORT_NAMES.get(word, word) if is_name else word
        is_name = word == ";"


def text_of(*commands: str) -> str:
    """Join commands, each given as one string, into one argument for commands such as ``if-shell``.

    Command names are replaced by their short names.
    """
    named = (command.partition(" ") for command in commands)
    return " ; ".join(SHORT_NAMES.get(name, name) + blank + rest for name, blank, rest in named)


def literal(text: str) -> str:
    """Return ``text`` with ``#`` escaped, for an argument that tmux expands as a format.

    Unescaped, ``#(…)`` would run a command.
    """
    return text.replace("#", "##")


def printable(text: str) -> str:
    """Return ``text`` without control and format characters, so that it stays on one line."""
    return "".join(char for char in text if not unicodedata.category(char).startswith("C"))


def join(commands: Iterable[Command]) -> list[str]:
    """Join commands into the words of one call of tmux, separated by ``;`` and escaped."""
    words: list[str] = []
    for command in commands:
        if words:
            words.append(";")
        words.extend(escape(word) for word in command)
    return words


def batches(groups: Iterable[Sequence[Command]]) -> Iterator[list[Sequence[Command]]]:
    """Divide groups of commands into batches, one per call, without splitting a group.

    There are as few batches as `MAX_BYTES` and `MAX_WORDS` allow. A group that exceeds a limit
    alone is a batch of its own.
    """
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


def run_if_exists(pane: str, *commands: str, otherwise: str = "") -> Command:
    """Return a command that runs ``commands`` if the pane exists, and otherwise ``otherwise``.

    If a plain command named a missing pane, it would fail, and tmux would drop the rest of the
    call.

    Args:
        pane: The pane's id, such as ``%7``.
        commands: tmux commands, each as one string.
        otherwise: One such command; empty for none.
    """
    last = (text_of(otherwise),) if otherwise else ()
    return ("if-shell", "-F", "-t", pane, "#{pane_id}", text_of(*commands), *last)


def end_session(session: str) -> list[Command]:
    """Return the commands that kill a session unless it has a pane that its user opened.

    If it has one, they fail with an error that contains `HAS_USERS_PANES`, and kill nothing.
    ``session`` is the session's id.
    """
    name = f"#{{?{_ANY_USERS_PANE},{HAS_USERS_PANES},{UUID}}}"
    return [("show-options", "-v", "-t", session, name), ("kill-session", "-t", session)]


def rename_for_user(session: str, number: int) -> list[Command]:
    """Return the commands that give a session its `users_tmux_name`, and print that name.

    A session that already has such a name gets no second beginning. ``session`` is the session's
    id, ``number`` the number for the name.
    """
    name = users_tmux_name("#{s/^yours-([0-9]+-)?//:session_name}", number)
    return [
        ("rename-session", "-t", session, name),
        ("display-message", "-p", "-t", session, "#{session_name}"),
    ]


def forget_window(window: str) -> Iterator[Command]:
    """Yield commands that remove our options from a window; nothing happens if it is gone."""
    for name, _ in (*_WINDOW_OPTIONS, *_WORK_OPTIONS, (_MAIN_WIDTH, "")):
        yield ("set-option", "-wuq", "-t", window, name)


def forget_session(session: str) -> Iterator[Command]:
    """Yield commands that remove our options from a session; it is the user's own from then on.

    ``destroy-unattached`` stays off: with the user's own value, tmux might end it at once.
    """
    options = (each for each in StatusOption if each is not StatusOption.WAITS)
    for name in (*options, *dict(_STATUS_LINE), PATH, UUID):
        yield ("set-option", "-uq", "-t", session, name)


HOMES: Final = (
    "list-sessions", "-F", f"#{{session_last_attached}}\t#{{session_id}}\t#{{{UUID}}}"
)  # fmt: skip


def ways_back(clients: str, homes: str, *, ours: str, words: str = "") -> Iterator[list[Command]]:
    """Yield, for each client that came from another session, the commands that switch it back.

    Each item is the list of commands of one call.

    A client goes to the session that it showed before. If that is gone, it goes to the most
    recently attached other session, preferably one of the user's own. If there is no other session,
    it is detached. A client from a shell needs no command: it returns to the shell when the session
    ends.

    Args:
        clients: The clients of the session that ends, as lines in `CLIENT_FORMAT`.
        homes: The output of `HOMES`.
        ours: The id of the session that ends.
        words: A message for each of these clients; empty for none.
    """
    rows = [line.split("\t") for line in homes.splitlines() if line.count("\t") == 2]
    others = [row for row in rows if row[1] != ours]
    home = max(others, key=lambda row: (not row[2], int(row[0] or 0)), default=None)
    for client in parse_clients(clients):
        to = ("-l",) if client.came_from else ("-t", home[1]) if home else ()
        if client.guest and to:
            commands = [message(client.name, words)] if words else []
            yield [("switch-client", "-c", client.name, *to), *commands]
        elif client.guest and words:
            says = f"printf '%s\\n' {shlex.quote(printable(words))}"
            yield [("detach-client", "-t", client.name, "-E", says)]


def message(client: str, text: str, *, draws: bool = False) -> Command:
    """Return a command that shows ``text`` in a client's status line for some seconds.

    Args:
        client: The client's name.
        text: The message.
        draws: Whether tmux can draw panes while the message is shown (3.6 or later). If so, the
            message is shown for 10 seconds, else for 3.
    """
    plain = literal(printable(text).replace("#[", "# [")).replace("%", "%%")
    stands = _LONG_MESSAGE if draws else _SHORT_MESSAGE
    return ("display-message", "-c", client, *stands, "--", plain)


def messages(clients: str, text: str, *, about: str = "") -> Iterator[list[str]]:
    """Yield, for each client, the words of a call that shows it a text as `message` does.

    Each client gets a call of its own, because a client that left meanwhile would make tmux drop
    the rest of the call.

    Args:
        clients: The output of `CLIENTS`.
        text: The message.
        about: The id of the session that the text is about: clients that show its monitor are left
            out. Empty to include every client.
    """
    for line in clients.splitlines():
        number, shown, name = line.split(" ", 2)
        if about and shown == f"{about}:1":
            continue
        draws = (parse_version(f"tmux {number}") or _DRAWS) >= _DRAWS
        yield join([message(name, text, draws=draws)])


def parse_clients(reply: str) -> tuple[Client, ...]:
    """Return the clients in lines of `CLIENT_FORMAT`, without those that have no screen.

    `Client.guest` of the result is set for each client that showed another session before, and is
    empty for all others. A client that is older than the session counts as one that did.

    Raises:
        ValueError: A time in a line is no number.
    """
    rows = (line.split("\t", 5) for line in reply.splitlines() if line.count("\t") >= 5)
    return tuple(
        Client(
            name=name,
            came_from=last,
            guest=mark if last or int(created) < int(began) or mark in guests.split() else "",
        )
        for name, created, began, flags, guests, last in rows
        if UNSEEN not in flags.split(",") and (mark := f"{name}@{created}")
    )


def parse_leave_keys(reply: str) -> LeaveKeys:
    """Return the keys by which the user leaves a session or a pane, from tmux's list of keys.

    ``reply`` is the output of `LEAVE_KEYS`. A key that is not bound is an empty text.
    """
    first, *lines = reply.splitlines() or [""]
    prefix = next((key for key in first.split("\t") if key not in {"", "None"}), "")
    bound = [binding for line in lines if (binding := _binding(line, prefix))]
    return LeaveKeys(
        detach=_key_of(_DETACH, bound, "d"),
        back=_key_of(_BACK, bound, "L"),
        left=_key_of(_TO_THE_LEFT, bound, "Left"),
        window=_key_of(_LAST_WINDOW, bound, "l"),
    )


def _binding(line: str, prefix: str) -> tuple[str, list[str]] | None:
    """Return the keys to press and the command in a line of ``list-keys``; None if unusable.

    A binding is unusable if it belongs to another key table (such as copy mode), or needs a prefix
    key and none is set.
    """
    _, table, rest = line.partition(" -T ")
    words = rest.split()
    if not table or len(words) < 3 or words[0] not in {"prefix", "root"}:
        return None
    key = re.sub(r"\\(.)", r"\1", words[1])
    if words[0] == "prefix":
        return (f"{prefix} {key}", words[2:]) if prefix else None
    return key, words[2:]


def _key_of(command: list[str], bound: list[tuple[str, list[str]]], usual: str) -> str:
    """Return the keys that run ``command``: tmux's default if still bound, else the first.

    Or empty.
    """
    keys = [key for key, does in bound if does == command]
    return next((key for key in keys if key.endswith(f" {usual}")), next(iter(keys), ""))


def window_options(target: str, options: Iterable[tuple[str, str]] = ()) -> Iterator[Command]:
    """Yield commands that set the options our windows need, overriding the user's configuration.

    ``target`` is the window or a pane in it; ``options`` are further names and values to set.
    """
    for name, value in (*_WINDOW_OPTIONS, *options):
        yield ("set-option", "-w", "-t", target, name, value)


def is_ours(target: Target) -> str:
    """Return a tmux format that is true only in the session ``target`` on its own server.

    In it, tmux compares the server's pid, the session's id and our uuid with those in ``target``;
    it expands to ``1`` or ``0``.
    """
    there = f"#{{pid}} #{{session_id}} #{{{UUID}}}"
    here = f"{target.server.pid} {target.session} {target.uuid}"
    return f"#{{==:{there},{re.sub('[#,}]', lambda match: f'#{match[0]}', here)}}}"


def guard(target: Target) -> Command:
    """Return a command that prints the uuid of the session ``target``, and fails in any other.

    A failed command ends the call, so the commands after it run in no other session.
    ``show-options`` is used because it changes nothing, and tmux expands its option name as a
    format (since 3.0): elsewhere the format yields the name of an option that does not exist.
    Tested with 3.3a, 3.5a and 3.8.
    """
    name = f"#{{?{is_ours(target)},{UUID},{ELSEWHERE}-#{{pid}}}}"
    return ("show-options", "-v", "-t", target.session, name)


def client_argv(socket: str) -> Command:
    """Return the words that start a tmux client for the server at the path ``socket``."""
    return ("tmux", "-u", "-S", socket)


def show_session_command(target: Target, command: str) -> Command:
    """Return the words of a command that shows the session ``target`` to the calling client.

    ``command`` is ``attach-session`` or ``switch-client``. If tmux covers the monitor's pane with
    text of its own, such as the output of a user's hook, the command removes it before and after,
    because it would take all keys. The command fails if the server now has another session with the
    id in ``target``.
    """
    # Unlike `guard`, this prints nothing: output would appear on the user's screen.
    nobody = text_of(f"show-options -v {ELSEWHERE}")
    monitor = f"{target.session}:"
    covered = f"if-shell -F -t {monitor} '#{{==:#{{pane_mode}},{VIEW}}}'"
    uncover = f"{covered} '{text_of(f'copy-mode -q -t {monitor}')}'"
    # tmux 3.5a, unlike 3.3a, shows mistakes in its configuration when the first client attaches.
    shown = text_of(uncover, f"{command} -t {target.session}", uncover)
    words = ("if-shell", "-F", "-t", target.session, is_ours(target), shown, nobody)
    return tuple(in_short(words))


def kill_on(pid: int, session: str) -> Command:
    """Return a command that kills a session by its id, if the server has the pid ``pid``.

    It is for a new session that does not have our uuid yet, so that `guard` cannot check it.
    """
    return (
        "if-shell",
        "-F",
        "-t",
        session,
        f"#{{==:#{{pid}},{pid}}}",
        text_of(f"kill-session -t {session}"),
    )


def mark_path(target: str, path: str) -> Command:
    """Return a command that stores a session's directory ``path`` in the option `PATH`.

    ``target`` is the tmux session.
    """
    return ("set-option", "-t", target, PATH, encode_path(path))


def encode_path(path: str) -> str:
    """Encode a path in printable ASCII, which every tmux prints unchanged in every locale.

    `decode_path` reverses it.
    """
    plain = (chr(byte) if 0x20 < byte < 0x7F and byte != 0x25 else f"%{byte:02x}"
             for byte in os.fsencode(path))  # fmt: skip
    return "".join(plain)


def decode_path(text: str) -> str:
    """Decode a path that `encode_path` encoded."""
    return os.fsdecode(_SPELLED.sub(lambda match: bytes([int(match[1], 16)]), text.encode()))


def create(
    *, name: str, uuid: str, path: str, cwd: str, size: tuple[int, int], argv: Sequence[str]
) -> list[Command]:
    """Return the commands that create one of our sessions with its monitor, and set its options.

    They print the server's global hooks, then a line in `CREATED_FORMAT`. The options are set with
    ``-t`` and the session's name: without it, inside tmux, they would be set on the user's session.

    Args:
        name: The tmux session's name.
        uuid: Set on the tmux session, to mark it as ours.
        path: The session's directory; stored in an option of the tmux session.
        cwd: The directory in which the monitor runs.
        size: Columns and rows.
        argv: The monitor's command line.
    """
    columns, rows = size
    target = f"={re.sub('[:.]', '_', name)}:"  # as tmux names it
    words = ("new-session", "-d", "-P", "-F", CREATED_FORMAT, "-s", literal(name), "-n", "agentmux")
    # An agent of another session may have started the server; its session id must not be inherited.
    place = ("-c", literal(cwd), "-x", str(columns), "-y", str(rows), "-e", "AGENTMUX_SESSION_ID=")
    return [
        ("show-hooks", "-g"),
        (*words, *place, "--", *argv),
        ("set-option", "-t", target, UUID, uuid),
        mark_path(target, path),
        *_own_options(target),
        _LET_HOOKS_RUN,
        ("copy-mode", "-q", "-t", target),
        *_own_options(target),
    ]


# Hooks such as `session-created` run only once the client that triggered them waits or has ended.
_LET_HOOKS_RUN: Final = ("run-shell", "-d", "0")


def _own_options(target: str) -> Iterator[Command]:
    """Yield the commands that set a new session's options, whatever hooks have set meanwhile."""
    yield ("set-option", "-t", target, "destroy-unattached", "off")
    yield from _monitor_options(target)


def created_line(created: str) -> str:
    """Return the line that describes a new session (`CREATED_FORMAT`); empty if there is none.

    ``created`` is what the commands of `create` printed.
    """
    return next((line for line in created.splitlines() if line.startswith("$")), "")


def ending_hooks(created: str) -> Iterator[tuple[str, str]]:
    """Yield name and command of each global hook that may have ended a session during its creation.

    Args:
        created: What the commands of `create` printed.
    """
    for line in created.splitlines():
        name, _, command = line.partition(" ")
        if _HOOK.match(name) and _ENDING.search(command):
            yield name, command


def monitor_window(session: str, cwd: str, argv: Sequence[str]) -> list[Command]:
    """Return the commands that create a window for a new monitor in a session that lost its own.

    They print the id of the monitor's pane. The monitor runs ``argv`` in the directory ``cwd``;
    ``session`` is the session's id.
    """
    target = f"{session}:"  # the new window is the current one
    words = ("new-window", "-P", "-F", "#{pane_id}", "-n", "agentmux", "-t", target)
    return [(*words, "-c", literal(cwd), "--", *argv), *_monitor_options(target)]


def show_status(target: str) -> Iterator[Command]:
    """Yield commands that make tmux show our session as one with a running orchestrator.

    They remove the mark of a killed monitor, and set the status line and the panes' borders.
    ``target`` is the monitor's pane.
    """
    yield ("set-option", "-pu", "-t", target, _KILLED_MARK)
    for name, value in _STATUS_LINE:
        yield ("set-option", "-t", target, name, value)
    yield from window_options(target, _WORK_OPTIONS)


def _monitor_options(target: str) -> Iterator[Command]:
    for name, value in ((MONITOR, "1"), *_PANE_OPTIONS, (LABEL, "agentmux")):
        yield ("set-option", "-p", "-t", target, name, value)
    # tmux before 3.3 does not know this option.
    yield ("set-option", "-pq", "-t", target, "remain-on-exit-format", "")
    # tmux redraws borders and status line when any option is set, but not when a pane dies.
    lines = "\\n".join(_LEFT_WORDS)
    # The `sleep` is needed: under load, output may arrive after its writer has ended, and tmux then
    # drops it.
    says = f'respawn-pane -- sh -c "printf %s \\"\\$0\\"; sleep 1" "{lines}"'
    left = text_of(f"set-option -p {_KILLED_MARK} 1", says)
    is_new = f"#{{&&:{_KILLED},#{{==:#{{{_KILLED_MARK}}},}}}}"
    died = text_of(f"set-option -p {_DIED} 1", f"if-shell -F '{is_new}' '{left}'")
    yield ("set-hook", "-p", "-t", target, "pane-died", died)
    yield from show_status(target)


def set_environment(session: str, change: Change) -> str:
    """Return lines for ``source-file`` that change the environment of the session's new panes.

    Values are written as octal escapes. ``session`` is the session's id; ``change`` names the
    variables to set and to unset.
    """
    values = (
        (name, "".join(f"\\{byte:03o}" for byte in os.fsencode(value)))
        for name, value in change.values.items()
    )
    lines = [f'set-environment -t {session} {name} "{value}"' for name, value in values]
    lines += [f"set-environment -r -t {session} {name}" for name in change.unset]
    return "".join(f"{text_of(line)}\n" for line in lines)


def repair_hook(window: str) -> Command:
    """Return a command by which tmux repairs the layout whenever the window's size changes.

    It sets a hook that runs the commands of `layout`. The hook does nothing while a pane is zoomed.
    ``window`` is the id of the monitor's window.
    """
    lines = (" ".join(f'"{word}"' for word in in_short(command)) for command in layout(window))
    body = " ; ".join(lines)
    hook = text_of(f"if-shell -F -t {window} '#{{window_zoomed_flag}}' '' '{body}'")
    return ("set-hook", "-w", "-t", window, "window-resized", hook)


def forget_repair(window: str) -> Command:
    """Return the command that removes the hook of `repair_hook` from a window."""
    return ("set-hook", "-wu", "-t", window, "window-resized")


def open_pane(session: str, pane: NewPane) -> list[Command]:
    """Return the commands that create a pane in a window of its own, and mark it.

    They print a line that `parse_opened` reads. ``session`` is the session's id.

    ``-d`` keeps the user's focus, so the new window is not the current one. Until the pane is
    marked, its window is named after the launch id, and the other commands use this unique name as
    their target. The name begins with letters, because tmux takes a number for a window's index
    even after ``=``.
    """
    name = f"{_LAUNCHING}{pane.launch}"
    target = f"{session}:={name}"
    words = ("new-window", "-d", "-n", name, "-t", f"{session}:")
    return [
        (*words, "-P", "-F", "#{window_name}\t#{pane_id}", "--", *pane.argv),
        *mark_pane(target, pane),
    ]


def mark_pane(target: str, pane: NewPane) -> list[Command]:
    """Return the commands that set the options by which we identify a pane, and name its window.

    ``target`` is the pane, or its window while it has no other pane; ``pane`` says what to set.
    """
    options = (
        *_PANE_OPTIONS,
        # tmux's "Pane is dead" would push a row off the last screen, and may omit the status.
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
    """Return the commands that move a pane to a window of its own, where it has the full size."""
    return [
        ("break-pane", "-d", "-n", literal(pane.seat), "-s", pane.id),
        *window_options(pane.id),
    ]


def vacate(pane: str) -> Command:
    """Return a command that vacates a pane: ends the program in it, but keeps the pane.

    `is_vacant` is then true for the pane. It does nothing if the pane does not exist.
    """
    return run_if_exists(
        pane,
        f"respawn-pane -k -t {pane} -- sh -c :",
        f"set-option -pu -t {pane} {LAUNCH}",
        f"set-option -pu -t {pane} {StatusOption.WAITS}",
        f"set-option -p -t {pane} {LABEL} ''",
    )


def focus_monitor(session: str, pane: str, monitor: Pane) -> list[Command]:
    """Return commands that move the focus to the monitor for every client that types into ``pane``.

    ``session`` is the id of the tmux session, ``pane`` that of the pane.

    Run them before ``pane`` is moved or killed: otherwise the pane that takes its place, perhaps
    another agent's, would get what is typed next. Clients that have another pane in focus are not
    affected. If ``pane`` was zoomed, the zoom ends.
    """
    beside = f"#{{==:#{{window_id}},{monitor.window}}}"
    has_focus = f"#{{&&:#{{pane_active}},#{{||:#{{window_active}},{beside}}}}}"
    is_shown = "#{&&:#{pane_active},#{window_active}}"
    return [
        ("if-shell", "-F", "-t", pane, has_focus, text_of(f"select-pane -t {monitor.id}")),
        ("if-shell", "-F", "-t", pane, is_shown,
         text_of(f"select-window -t {session}:{monitor.window}")),
    ]  # fmt: skip


def is_vacant(pane: Pane) -> bool:
    """Return whether `vacate` emptied the pane: it still has a seat, but no launch."""
    return bool(pane.seat) and not pane.launch


def swap_in(pane: str, before: Pane) -> list[Command]:
    """Return the commands that put ``pane``, a pane's id, where the pane ``before`` is now.

    ``before`` moves to the window of ``pane``, or is killed if it is vacant (see `is_vacant`).
    """
    swap = ("swap-pane", "-d", "-s", pane, "-t", before.id)
    if is_vacant(before):
        return [swap, ("kill-pane", "-t", before.id)]
    return [swap, ("rename-window", "-t", before.id, literal(before.seat))]


def show(pane: str, *, monitor: str, below: str) -> list[Command]:
    """Return the commands that move a pane into the monitor's window, below the pane ``below``.

    If ``below`` is the monitor, the pane goes to its right. All three are ids of panes.
    """
    direction = "-h" if below == monitor else "-v"
    return [("join-pane", "-d", direction, "-s", pane, "-t", below), *layout(monitor)]


def go_to(session: str, pane: Pane) -> list[Command]:
    """Return the commands that show ``pane`` to every client of the session ``session``.

    ``session`` is the session's id. The window is selected within that session, because other
    sessions may contain it, too.
    """
    return [
        ("select-window", "-t", f"{session}:{pane.window}"),
        ("select-pane", "-t", pane.id),
    ]


def set_options(
    session: str, options: Mapping[str, str], panes: Mapping[str, Mapping[str, str]]
) -> Iterator[Command]:
    """Yield commands that set options of a session and of its panes; missing panes are skipped.

    In session options, ``#[`` becomes ``# [``, because the status line would take it for a style.

    Args:
        session: The session's id.
        options: Maps names of session options to their values.
        panes: Maps the id of a pane to names and values of its options.
    """
    for name, value in options.items():
        yield ("set-option", "-t", session, name, printable(value).replace("#[", "# ["))
    for pane, values in panes.items():
        for name, value in values.items():
            yield ("set-option", "-pq", "-t", pane, name, printable(value))


def layout(target: str) -> list[Command]:
    """Return the commands that put the monitor at the left, and all other panes in one column.

    ``target`` is the monitor's window, or a pane in it.
    """
    return [
        ("set-option", "-w", "-F", "-t", target, _MAIN_WIDTH, _MONITOR_WIDTH),
        ("select-layout", "-t", target, "main-vertical"),
    ]


def size_of(pane: str) -> Command:
    """Return a command that prints the size of a pane in the form that `parse_size` reads."""
    return ("display-message", "-p", "-t", pane, "#{pane_width} #{pane_height}")


def parse_size(reply: str) -> tuple[int, int] | None:
    """Return the columns and rows that `size_of` printed as the last line of ``reply``.

    None if the last line is not a size.
    """
    match = re.search(r"(?:^|\n)(\d+) (\d+)\n?$", reply)
    return (int(match[1]), int(match[2])) if match else None


def capture(pane: str, *, mark: str, colours: bool) -> Command:
    """Return a command that prints ``mark``, then size, cursor and screen of a pane.

    If the pane does not exist, it prints ``mark`` alone.

    Args:
        mark: A printable text that no screen contains; use a new random one for each call.
        colours: Whether to include SGR sequences in the screen.
    """
    how = "-peN" if colours else "-p"  # without -N, coloured blanks at the ends of rows are lost
    says = f'display-message -p -t {pane} "{mark}{_SCREEN_FORMAT}"'
    screen = f"capture-pane {how} -t {pane}"
    return run_if_exists(pane, says, screen, otherwise=f"display-message -p {mark}")


def parse_listing(reply: str) -> tuple[int, tuple[TmuxSession, ...]]:
    """Parse the output of `LISTING`; return the server's pid and its sessions.

    A session's name may contain anything but a newline.

    Raises:
        ValueError: The output does not end with a pid.
    """
    *lines, pid = reply.rstrip("\n").split("\n")
    rows = (line.split("\t", 4) for line in lines if line.count("\t") >= 4)
    return int(pid), tuple(
        TmuxSession(
            id=row[0],
            uuid=row[1],
            attached=int(row[2] or 0),
            path=decode_path(row[3]),
            name=row[4],
        )
        for row in rows
    )


def parse_panes(reply: str) -> tuple[tuple[Pane, ...], str, bool]:
    """Parse lines in `PANE_FORMAT`.

    Returns:
        The panes in tmux's order; the id of the monitor's pane, or an empty string if there is
        none; whether the monitor's window is zoomed.
    """
    rows = [line.split("\t") for line in reply.splitlines() if line.count("\t") == 10]
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
            is_monitor=row is monitor,
            has_focus=row[9:] == ["1", "1"],
        )
        for row in rows
    )
    return panes, monitor[0] if monitor else "", bool(monitor and monitor[8] == "1")


def parse_opened(reply: str) -> Mapping[str, str]:
    """Parse the output of `open_pane` commands; return a mapping from launch ids to pane ids."""
    rows = (line.removeprefix(_LAUNCHING).split("\t") for line in reply.splitlines())
    return {row[0]: row[1] for row in rows if len(row) == 2}


def parse_screens(
    reply: str, *, mark: str, asked: Sequence[str], colours: bool
) -> Mapping[str, Screen]:
    """Parse the output of one `capture` for each pane in ``asked``.

    ``asked`` are ids of panes; ``mark`` and ``colours`` are those that `capture` was given.

    Returns:
        The screens by pane id; panes that do not exist are left out.

    Raises:
        ValueError: The output does not have one part for each pane in ``asked``, in this order.
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
    """Parse one pane's part of the output; return the pane's id and its screen.

    The result does not depend on tmux's version. From 3.4 on, ``capture-pane -N`` fills rows with
    blanks that no program wrote and that cannot be told from written ones. So all blanks at the end
    of a row are removed, except before the cursor: a prompt ``> `` keeps its blank. From 3.6 on,
    tmux prints a tab as a tab; it is replaced by blanks.
    """
    pane, *numbers = head.split("\t")
    cols, rows, cursor_row, cursor_col = map(int, numbers)
    ansi = trim_screen(expand_tabs(_replace_line_drawing(body.removesuffix("\n")))).split("\n")
    text = [(SEQUENCE.sub("", row) if colours else row).rstrip(" ") for row in ansi]
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
    """Return the version numbers in text such as ``tmux 3.3a`` or ``tmux next-3.6``.

    None if the text has no numbers, as for some development builds.
    """
    match = re.search(r"tmux (?:next-)?(\d+)\.(\d+)", text)
    return (int(match[1]), int(match[2])) if match else None


def _replace_line_drawing(ansi: str) -> str:
    """Replace line-drawing characters by Unicode: ``q`` between SO and SI becomes ``─``."""
    if "\x0e" not in ansi:
        return ansi
    return _SHIFTED.sub(lambda match: _to_line_drawing(match[1]), ansi)


def _to_line_drawing(text: str) -> str:
    parts = SEQUENCE.split(text)
    return "".join(part if part.startswith("\x1b") else line_drawing(part) for part in parts)
