"""The outside world as operations see it: a value that `wiring` builds."""

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
    from agentmux.ports.forge import Forge, RemoteBranches
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
    """The locks of sessions and work trees, and the processes that hold them.

    Attributes:
        session: Returns the lock of a session's directory.
        tree: Returns the lock of the work tree that contains a directory of a project.
        is_alive: Returns whether the process with this pid and start time (0: any) runs.
    """

    session: Callable[[Path], Lock]
    tree: Callable[[Path], TreeLock]
    is_alive: Callable[[int, int], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Repositories:
    """What is known of the repository around a directory; `list_nested` alone runs git.

    Attributes:
        nested: Returns the repositories inside it (`Repository.list_nested`); empty if git fails.
        branch_at: Returns the branch that is checked out; empty where HEAD is detached, None where
            that is not known.
        is_branch_gone: Returns whether it has no branch of this name; False where that is not
            known.
        around: Returns the git directory that all its worktrees share; None outside of a
            repository.
        tops_of: Takes such a git directory. Yields the top directory of each worktree that the
            repository knows; it need not exist.
    """

    nested: Callable[[Path], tuple[str, ...]]
    branch_at: Callable[[Path], str | None]
    is_branch_gone: Callable[[Path, str], bool]
    around: Callable[[Path], Path | None]
    tops_of: Callable[[Path], Iterator[Path]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """What is needed to look at the sessions of a project; quick to build.

    Attributes:
        project: The project directory, absolute and real.
        now: Returns the current time, aware UTC.
        folders: The directories of sessions.
        files: Returns the files of a session's directory.
        network: Returns the type of the network file system that a path is on; empty on a local
            disk.
        follow: Takes a directory and a number of seconds. Yields at every change directly in the
            directory, and at the latest after that time; the caller stops iterating.
        terminal: Returns the tmux server at a socket path; at the configured socket for None.
        default_name: Returns the configured name of tmux sessions, for a session whose state has
            no name.
        traces: What is known of unfinished sessions outside of their directories.
        remotes: Takes a directory, where hooks run, and the environment of git. Returns the
            remotes of the repository there.
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
    """The command lines of our own programs that run in an agent's pane.

    Attributes:
        wrapper: The argv of the wrapper, before the launch folder.
        mcp_server: The argv of our MCP server.
        hook: The argv that an agent's hook runs to report to us.
    """

    wrapper: tuple[str, ...]
    mcp_server: tuple[str, ...]
    hook: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """This machine.

    Attributes:
        host: Its name.
        boot: Id of this boot; empty where unknown.
        zones: Finds time zones by their names; the machine's own by an empty name.
    """

    host: str
    boot: str
    zones: Zones


@dataclass(frozen=True, slots=True, kw_only=True)
class Agents:
    """What plays the roles, and what it takes to run it.

    Attributes:
        spec: Returns the agent of a name or command, with the configuration's overrides.
        names: Returns the names in the agent registry.
        programs: The programs of this machine.
        own: The command lines of our own programs.
        claims: The conversations that panes hold.
    """

    spec: Callable[[str], AgentSpec]
    names: Callable[[], tuple[str, ...]]
    programs: Programs
    own: OwnCommands
    claims: Claims


@dataclass(frozen=True, slots=True, kw_only=True)
class Texts:
    """What agents are told, and in which order."""

    templates: Templates
    pipelines: Pipelines


@dataclass(frozen=True, slots=True, kw_only=True)
class GitTools:
    """What is done with git beside the repository of a session.

    Attributes:
        repository_at: Returns the repository around a directory.
        head_at: Returns what is checked out in the repository around a directory; None for none.
        worktrees: The worktrees of sessions, in the repository of the project.
        checkpoints: Takes a directory in a work tree, the directory of a session, and the session's
            uuid. Returns the session's work-tree checkpoints.
        merging: Takes the environment of git. Returns what merges in the project's repository.
        bundles: Bundles of commits of the project's repository.
        trials: The trial of a session's state in the checkout of the project.
        remote_branches: The remotes of the project's repository.
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
    """Which parts of the project's files have effect.

    Attributes:
        trust: What the user trusts.
        allow: Takes keys of parts of the project's files that need trust. Returns the same world,
            in which these parts have effect as well.
        preview: Returns the same world, in which all parts have effect, and whose programs are not
            run.
    """

    trust: Trust
    allow: Callable[[frozenset[str]], World]
    preview: Callable[[], World]


@dataclass(frozen=True, slots=True, kw_only=True)
class World(Site):
    """Everything an operation may touch.

    Attributes:
        tree: The directory in which agents work: the project, or its place in the worktree of the
            session that this world is for; see `own_worktree.with_workplace`.
        environment: The environment of this process, which agents inherit.
        new_id: Returns a new uuid, as text.
        settings: The settings; those that need trust are included only where they are trusted.
        repository: The repository around ``tree``.
        archives: The files of exported sessions.
        forge: Takes the environment of programs. Returns what asks forges by them.
        secrets: Returns the values in the ``.env`` files around a directory that git does not
            track.
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
    forge: Callable[[Mapping[str, str]], Forge]
    secrets: Callable[[Path], frozenset[str]]
    consent: Consent


def as_if_trusted(world: World) -> World:
    """Return the world in which all of the project's files have effect.

    Where some of them need trust, it runs no program.
    """
    return world.consent.preview() if world.consent.trust.parts() else world
