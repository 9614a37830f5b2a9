"""The facts about this machine that `agentmux doctor` checks."""

from __future__ import annotations

from collections.abc import Mapping

from agentmux.core.codec.frozen import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class TmuxFacts:
    """Facts about the tmux program, and about the server that AgentMux would use.

    Attributes:
        version: The version as ``tmux -V`` prints it.
        socket: The path of the server's socket.
        pid: The pid of the server; 0 if no server runs.
        options: The server's global options, by name; empty if no server runs.
        hooks: The server's global hooks that have a command, as pairs of name and command.
        plain_keys: The keys without Ctrl or Alt that are bound in tmux's root table, so that they
            do not reach the program in the pane.
    """

    version: str
    socket: str
    pid: int = 0
    options: Mapping[str, str] = field(default_factory=dict)
    hooks: tuple[tuple[str, str], ...] = ()
    plain_keys: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TerminalFacts:
    """Facts about the terminal in which the command runs.

    Attributes:
        term: The value of ``TERM``; empty if it is not set.
        colour_term: The value of ``COLORTERM``; empty if it is not set.
        is_utf8: Whether the locale's encoding is UTF-8.
        size: Columns and rows; None if the command runs without a terminal.
    """

    term: str
    colour_term: str
    is_utf8: bool
    size: tuple[int, int] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemFacts:
    """Facts about the limits that the operating system sets.

    Attributes:
        user: The name of the user.
        kills_at_logout: Whether logind ends a user's processes when the user logs out.
        lingers: Whether lingering is enabled for the user, which keeps their processes
            nevertheless.
        watches: The inotify limits of the user: instances in use, instances allowed and watches
            allowed. None if the system has no inotify.
    """

    user: str
    kills_at_logout: bool
    lingers: bool
    watches: tuple[int, int, int] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class DiskFacts:
    """Facts about the file system that holds the sessions of the project.

    Attributes:
        path: The directory that was examined: the sessions' directory or, if it does not exist,
            its nearest parent that does.
        network: The type of the network file system, such as ``nfs``; empty for a local disk.
        is_writable: Whether files can be created in ``path``.
        free_bytes: The number of bytes that the user can still write.
        free_files: The number of files that can still be created; None if there is no limit.
    """

    path: str
    network: str
    is_writable: bool
    free_bytes: int
    free_files: int | None
