"""The outside world as one operation sees it: built by the faces, handed down as a value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from agentmux.core.codec.frozen import dataclass

if TYPE_CHECKING:  # these names cost more than all that `agentmux list` does
    from collections.abc import Callable, Iterator, Mapping
    from datetime import datetime
    from pathlib import Path

    from agentmux.core.agents.spec import AgentSpec, ProbeResult
    from agentmux.core.config.settings import Settings
    from agentmux.core.config.trust import Part, TrustedParts
    from agentmux.ports.claims import Claims
    from agentmux.ports.processes import Lock
    from agentmux.ports.repository import Repository
    from agentmux.ports.session_files import SessionFiles
    from agentmux.ports.session_folders import SessionFolders
    from agentmux.ports.templates import Templates
    from agentmux.ports.terminal import Terminal


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """What looking at the sessions of a project takes; quick to build.

    Attributes:
        project: The project directory, absolute and real.
        now: Aware UTC.
        files: The directory of a session.
        network: The type of the network file system that a path is on; empty on a local disk.
        follow: Yields at every change directly in a directory, and at the latest after so many
            seconds, until the caller has had enough.
        terminal: The tmux server at a socket path; None is the configured one.
        lock: The lock of a session directory.
        is_alive: Whether the process with this pid and start time (0: any) runs.
        default_name: The tmux session of a state that names none.
        nested: As `Repository.nested`; empty where git does not tell.
    """

    project: Path
    now: Callable[[], datetime]
    folders: SessionFolders
    files: Callable[[Path], SessionFiles]
    network: Callable[[Path], str]
    follow: Callable[[Path, float], Iterator[None]]
    terminal: Callable[[str | None], Terminal]
    lock: Callable[[Path], Lock]
    is_alive: Callable[[int, int], bool]
    default_name: Callable[[], str]
    nested: Callable[[], tuple[str, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Programs:
    """What is installed here.

    Attributes:
        find: Where a command lies on ``path``; None where it does not.
        probe: What the program of an agent can do, as far as it says so within a second; cached.
        ask: The same, however long it takes to say so, within reason.
        identity: Which program answers under a path: path, size and time of change.
        wrapper: The argv in front of a launch folder.
        path: ``PATH`` for agents: the folder of our own scripts comes first.
        shell: The user's shell.
        exists: Whether there is something at a path.
        mcp_server: The argv of our MCP server.
        hook: The argv that an agent's hook runs to call us.
    """

    find: Callable[[str], Path | None]
    probe: Callable[[AgentSpec], ProbeResult]
    ask: Callable[[AgentSpec], ProbeResult]
    identity: Callable[[str], str]
    wrapper: tuple[str, ...]
    path: str
    shell: str
    exists: Callable[[str], bool]
    mcp_server: tuple[str, ...]
    hook: tuple[str, ...]


class KeepTrust(Protocol):
    """Notes what is trusted from now on."""

    def __call__(self, parts: TrustedParts, *, only: bool = False) -> None:
        """Trust these too; with ``only`` nothing else any more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trust:
    """What the project's files say that needs trust; read once, with the world that it belongs to.

    Attributes:
        parts: All of it.
        known: What was trusted then.
        keep: Trust these too; with ``only`` nothing else any more.
        revoke: Trust nothing any more.
        allow: The same world with the parts of these keys in effect, besides what is trusted.
        preview: The same world with every part in effect, in which no agent's program is asked.
    """

    parts: Callable[[], tuple[Part, ...]]
    known: Callable[[], TrustedParts]
    keep: KeepTrust
    revoke: Callable[[], None]
    allow: Callable[[frozenset[str]], World]
    preview: Callable[[], World]


@dataclass(frozen=True, slots=True, kw_only=True)
class World(Site):
    """Everything an operation may touch.

    Attributes:
        boot: Changes when the machine starts anew; empty where unknown.
        environment: Of this process; also what agents inherit.
        new_id: A uuid, as text.
        settings: What of the project's files needs trust is in them only where it is trusted.
        agents: The names of the agent registry.
        spec: The agent that plays under a name or command, with the configuration's overrides.
    """

    host: str
    boot: str
    environment: Mapping[str, str]
    new_id: Callable[[], str]
    settings: Settings
    spec: Callable[[str], AgentSpec]
    agents: Callable[[], tuple[str, ...]]
    programs: Programs
    claims: Claims
    templates: Templates
    repository: Repository
    trust: Trust
