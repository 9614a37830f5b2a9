"""The outside world as one operation sees it: built by the faces, handed down as a value."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from agentmux.core.agents import AgentSpec, ProbeResult
from agentmux.core.settings import Settings
from agentmux.ports import Lock, Repository, SessionFiles, Terminal


@dataclass(frozen=True, slots=True, kw_only=True)
class Programs:
    """What is installed here.

    Attributes:
        probe: What the program of an agent can do; cached.
        identity: Which program answers under a path: path, size and time of change.
        wrapper: The argv in front of a launch folder.
        path: ``PATH`` for agents: the folder of our own scripts comes first.
        shell: The user's shell.
        is_folder: Whether a path is a folder.
        mcp_server: The argv of our MCP server.
        hook: The argv that an agent's hook runs to call us.
    """

    probe: Callable[[AgentSpec], ProbeResult]
    identity: Callable[[str], str]
    wrapper: tuple[str, ...]
    path: str
    shell: str
    is_folder: Callable[[str], bool]
    mcp_server: tuple[str, ...]
    hook: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Claims:
    """Where launches of this host say which conversation they hold.

    Attributes:
        path: Claim file of a conversation (agent, config home, conversation).
        holder: Who holds a claim file, in words; None when nobody does.
        latest: The launch that last used "the latest conversation" of (agent, home, directory).
        note_latest: Record that launch.
    """

    path: Callable[[str, str, str], Path]
    holder: Callable[[Path], str | None]
    latest: Callable[[str, str, str], str | None]
    note_latest: Callable[[str, str, str, str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Templates:
    """The texts that prompts are made of."""

    template: Callable[[str, bool], str]
    extension: Callable[[str], str | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """Everything an operation may touch.

    Attributes:
        project: The project directory, absolute and real.
        environment: Of this process; also what agents inherit.
        now: Aware UTC.
        new_id: A uuid, as text.
        spec: The agent that plays under a name or command, with the configuration's overrides.
        files: The directory of a session.
        terminal: The tmux server at a socket path; None is the configured one.
        lock: The lock of a session directory.
    """

    project: Path
    host: str
    boot: str
    environment: Mapping[str, str]
    now: Callable[[], datetime]
    new_id: Callable[[], str]
    settings: Settings
    spec: Callable[[str], AgentSpec]
    programs: Programs
    claims: Claims
    templates: Templates
    files: Callable[[Path], SessionFiles]
    terminal: Callable[[str | None], Terminal]
    lock: Callable[[Path], Lock]
    repository: Repository
