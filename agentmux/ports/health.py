"""What `agentmux doctor` is told about this machine: facts only, no opinion."""

from __future__ import annotations

from collections.abc import Mapping

from agentmux.core.codec.frozen import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class TmuxFacts:
    """The tmux program, and the server that AgentMux would use.

    Attributes:
        version: As ``tmux -V`` prints it.
        socket: The path of the server's socket.
        pid: Of the server; 0 if none runs.
        options: The server's global options, by name; empty if none runs.
        hooks: The user's global hooks: names with their commands.
        plain_keys: The keys without Ctrl or Alt that tmux takes before any program sees them.
    """

    version: str
    socket: str
    pid: int = 0
    options: Mapping[str, str] = field(default_factory=dict)
    hooks: tuple[tuple[str, str], ...] = ()
    plain_keys: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TerminalFacts:
    """The terminal of this command.

    Attributes:
        term: ``TERM``; empty if it is not set.
        colour_term: ``COLORTERM``.
        is_utf8: Whether the locale's characters are UTF-8.
        size: Columns and rows; None without a terminal.
    """

    term: str
    colour_term: str
    is_utf8: bool
    size: tuple[int, int] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemFacts:
    """What the system allows.

    Attributes:
        user: The name of the user.
        kills_at_logout: Whether logind ends a user's processes at the end of the login session.
        lingers: Whether the user's processes are kept all the same.
        watches: The limits of inotify: instances used and allowed by user, and watches allowed;
            None where the system has no such limits.
    """

    user: str
    kills_at_logout: bool
    lingers: bool
    watches: tuple[int, int, int] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class DiskFacts:
    """The file system on which the sessions of the project are.

    Attributes:
        path: The directory that was looked at: the sessions', or the nearest one that exists.
        network: The type of a network file system; empty for a local disk.
        is_writable: Whether a file can be made there.
        free_bytes: What the user may still write.
        free_files: How many files can still be made; None where the file system has no limit.
    """

    path: str
    network: str
    is_writable: bool
    free_bytes: int
    free_files: int | None
