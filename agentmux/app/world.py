"""The outside world as operations see it: a value that the package `wiring` builds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentmux.core.codec.frozen import dataclass

if TYPE_CHECKING:  # these names cost more than all that `agentmux list` does
    from collections.abc import Callable, Iterator, Mapping
    from datetime import datetime
    from pathlib import Path

    from agentmux.core.agents.reset_times import Zones
    from agentmux.core.agents.spec import AgentSpec
    from agentmux.core.config.settings import Settings
    from agentmux.ports.claims import Claims
    from agentmux.ports.forge import Forges, RemoteBranches
    from agentmux.ports.git.checkpoints import TreeCheckpoints
    from agentmux.ports.git.merging import Merging
    from agentmux.ports.git.remotes import Remotes
    from agentmux.ports.git.repository import Head, Repository
    from agentmux.ports.git.trials import Trials
    from agentmux.ports.git.worktrees import Worktrees
    from agentmux.ports.processes import Lock, TreeLock
    from agentmux.ports.programs import Programs
    from agentmux.ports.session.moving import Bundles, SessionArchives
    from agentmux.ports.session.pipelines import Pipelines
    from agentmux.ports.session.session_files import SessionFiles
    from agentmux.ports.session.session_folders import SessionFolders
    from agentmux.ports.session.session_traces import SessionTraces
    from agentmux.ports.session.templates import Templates
    from agentmux.ports.session.trust import Trust
    from agentmux.ports.tmux.terminal import Terminal


@dataclass(frozen=True, slots=True, kw_only=True)
class Locks:
    """The locks of sessions and work trees, and whether their holders are alive.

    Attributes:
        session: Returns the lock of a session, given the session's directory.
        tree: Returns the lock of the work tree that contains the given directory.
        is_alive: Returns whether a process with this pid and start time runs; a start time of 0
            matches any process with the pid.
    """

    session: Callable[[Path], Lock]
    tree: Callable[[Path], TreeLock]
    is_alive: Callable[[int, int], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Repositories:
    """Facts about the repository around a directory; only ``nested`` runs git.

    Attributes:
        nested: Returns the paths of the repositories inside the directory, as
            `Repository.list_nested` does; empty if git fails.
        branch_at: Returns the branch that is checked out; empty if HEAD is detached, None if the
            branch cannot be determined.
        is_branch_gone: Takes the directory and the short name of a branch. Returns whether the
            repository has no such branch; False if that cannot be determined.
        last_commit_at: Returns the last commit of HEAD, even if its branch is gone; None if it
            is not known.
        is_half_made: Returns whether the directory is a linked worktree that no session has marked
            as complete.
        around: Returns the git directory that all worktrees of the repository share; None outside
            of a repository.
        tops_of: Takes such a git directory. Yields the top directory of each worktree that the
            repository has registered, whether or not the directory exists.
    """

    nested: Callable[[Path], tuple[str, ...]]
    branch_at: Callable[[Path], str | None]
    is_branch_gone: Callable[[Path, str], bool]
    last_commit_at: Callable[[Path], str | None]
    is_half_made: Callable[[Path], bool]
    around: Callable[[Path], Path | None]
    tops_of: Callable[[Path], Iterator[Path]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """Everything that is needed to look at the sessions of a project; quick to build.

    Attributes:
        project: The project directory, absolute, with symbolic links resolved.
        now: Returns the current time, aware UTC.
        folders: The directories of sessions.
        files: Returns the files of a session, given the session's directory.
        network: Returns the type of the network file system that contains a path; empty if the
            path is on a local disk.
        follow: Takes a directory and a number of seconds. Yields at each change directly in the
            directory, and without a change after that time at the latest. Never ends: the caller
            stops iterating.
        terminal: Returns the tmux server at a socket path; None stands for the configured socket.
        default_name: Returns the configured name of tmux sessions, for sessions whose state does
            not record a name.
        traces: The records of unfinished sessions that are stored outside of session directories.
        locks: The locks of sessions and work trees.
        repositories: Facts about the repository around a directory.
        remotes: Takes a directory and the environment for git. Returns the remotes of the
            repository there; a push runs the repository's hooks in that directory.
    """

    project: Path
    now: Callable[[], datetime]
    folders: SessionFolders
    files: Callable[[Path], SessionFiles]
    network: Callable[[Path], str]
    follow: Callable[[Path, float], Iterator[None]]
    terminal: Callable[[str | None], Terminal]
    default_name: Callable[[], str]
    traces: SessionTraces
    locks: Locks
    repositories: Repositories
    remotes: Callable[[Path, Mapping[str, str]], Remotes]


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnCommands:
    """The command lines of AgentMux's own programs that run in an agent's pane.

    Each begins with the program.

    Attributes:
        wrapper: The argv of the wrapper, without its last argument, the launch folder.
        mcp_server: The argv of AgentMux's MCP server.
        hook: The argv that an agent's hook runs to report to AgentMux.
    """

    wrapper: tuple[str, ...]
    mcp_server: tuple[str, ...]
    hook: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """The machine on which this process runs.

    Attributes:
        host: The host name.
        boot: An id that changes with each boot; empty if unknown.
        zones: Returns the time zone with a name, None if it is unknown; the empty name stands for
            the machine's own zone.
    """

    host: str
    boot: str
    zones: Zones


@dataclass(frozen=True, slots=True, kw_only=True)
class Agents:
    """The agents that can play roles, and what is needed to run them.

    Attributes:
        spec: Returns the description of an agent, by its name or its command, with the
            configuration's overrides applied. Raises `UsageError` if the text is neither.
        names: Returns the names in the agent registry.
        programs: The programs that are installed on this machine.
        own: The command lines of AgentMux's own programs.
        claims: The locks of conversations: they record which pane holds which one.
    """

    spec: Callable[[str], AgentSpec]
    names: Callable[[], tuple[str, ...]]
    programs: Programs
    own: OwnCommands
    claims: Claims


@dataclass(frozen=True, slots=True, kw_only=True)
class Texts:
    """The texts that a session is made from.

    Attributes:
        templates: The templates of prompts, with the project's additions to them.
        pipelines: The definitions of pipelines: built in, the project's and the user's.
    """

    templates: Templates
    pipelines: Pipelines


@dataclass(frozen=True, slots=True, kw_only=True)
class GitTools:
    """The git operations that go beyond the repository around a session's work tree.

    Attributes:
        repository_at: Returns the repository around a directory.
        head_at: Returns what is checked out in the repository around a directory; None if there
            is no repository.
        worktrees: The worktrees of sessions, in the project's repository.
        checkpoints: Takes a directory in a work tree, the directory of a session, and the session's
            uuid. Returns the session's work-tree checkpoints.
        merging: Takes the environment for git. Returns the merge operations for the project's
            repository.
        bundles: Bundles of commits of the project's repository.
        trials: Shows the state of a session in the project's checkout, for a trial.
        remote_branches: The remotes of the project's repository, and branches on them.
    """

    repository_at: Callable[[Path], Repository]
    head_at: Callable[[Path], Head | None]
    worktrees: Worktrees
    checkpoints: Callable[[Path, Path, str], TreeCheckpoints]
    merging: Callable[[Mapping[str, str]], Merging]
    bundles: Bundles
    trials: Trials
    remote_branches: RemoteBranches


@dataclass(frozen=True, slots=True, kw_only=True)
class Consent:
    """Which parts of the project's files have effect; untrusted parts have none.

    Attributes:
        trust: The record of what the user trusts.
        allow: Takes keys of parts that need trust, such as ``agents.claude``. Returns a copy of the
            world in which these parts have effect, too; records no trust.
        preview: Returns a copy of the world in which all parts have effect, but no agent's program
            is run.
    """

    trust: Trust
    allow: Callable[[frozenset[str]], World]
    preview: Callable[[], World]


@dataclass(frozen=True, slots=True, kw_only=True)
class World(Site):
    """Everything outside of AgentMux that an operation may read or change.

    Attributes:
        tree: The directory in which agents work: the project, or the project's folder inside the
            worktree of the session that this world was made for (`own_worktree.with_workplace`).
        machine: This machine.
        environment: The environment variables of this process, which agents inherit.
        new_id: Returns a new uuid, as text.
        settings: The settings; those that need trust are included only if they are trusted.
        agents: The agents, and what is needed to run them.
        texts: The templates of prompts, and the pipelines.
        repository: The repository around ``tree``.
        git: The other git operations.
        archives: The files of exported sessions.
        forge: Takes the environment for programs. Returns an object that queries forges (GitHub,
            …) with the forges' command-line programs.
        secrets: Returns the values in those ``.env`` files around a directory that git does not
            track.
        consent: Which parts of the project's files have effect.
    """

    tree: Path
    machine: Machine
    environment: Mapping[str, str]
    new_id: Callable[[], str]
    settings: Settings
    agents: Agents
    texts: Texts
    repository: Repository
    git: GitTools
    archives: SessionArchives
    forge: Callable[[Mapping[str, str]], Forges]
    secrets: Callable[[Path], frozenset[str]]
    consent: Consent


def as_if_trusted(world: World) -> World:
    """Return the world in which all of the project's files have effect.

    If some of them need trust, the returned world runs no agent's program.
    """
    return world.consent.preview() if world.consent.trust.parts() else world
