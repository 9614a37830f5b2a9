"""Builds the `World` or `Site` of one operation: everything it needs from the outside world.

Adapters that only some commands need are imported at their first use, to keep short commands fast.
"""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from agentmux.adapters.disk.session import session_folders
from agentmux.adapters.disk.session.session_traces import TraceFolder
from agentmux.adapters.git import work_tree
from agentmux.adapters.system.ids import new_id
from agentmux.app.world import (
    Agents,
    Consent,
    GitTools,
    Locks,
    Machine,
    OwnCommands,
    Repositories,
    Site,
    Texts,
    World,
)
from agentmux.core.codec.frozen import replace
from agentmux.core.names import layout
from agentmux.errors import AgentmuxError
from agentmux.wiring.machine import (
    PACKAGE,
    cache_dir,
    config_dir,
    now,
    program,
    scripts,
    state_dir,
)

if TYPE_CHECKING:
    from datetime import tzinfo

    from agentmux.adapters.config.effective import SettingValue
    from agentmux.adapters.config.project_files import ProjectFiles
    from agentmux.adapters.disk.trust_store import TrustStore
    from agentmux.adapters.git.program import Patience
    from agentmux.core.agents.reset_times import Zones
    from agentmux.core.agents.spec import AgentSpec
    from agentmux.core.config.settings import Settings
    from agentmux.ports.forge import Forges
    from agentmux.ports.git.merging import Merging
    from agentmux.ports.git.remotes import Remotes
    from agentmux.ports.git.repository import Head, Repository
    from agentmux.ports.processes import Lock, TreeLock
    from agentmux.ports.programs import Programs
    from agentmux.ports.session.session_files import SessionFiles
    from agentmux.ports.tmux.terminal import Terminal

_GLANCE_S: Final = 30.0
"""How many seconds git may take to look for facts that are shown only as a warning."""

_BOOT_ID: Final = Path("/proc/sys/kernel/random/boot_id")


def _project_files(project: Path, config: Path | None, environ: Mapping[str, str]) -> ProjectFiles:
    """Read the configuration files of the user and the project.

    Args:
        project: The project's directory.
        config: The configuration file of ``--config``; None without this option.
        environ: Says where the user's files are.

    Raises:
        ConfigError: The configuration is invalid.
    """
    from agentmux.adapters.config.project_files import ProjectFiles

    def top() -> Path:

        tree = work_tree.work_tree(project)
        return project if tree is None else tree.top

    user = config_dir(environ)
    known = _trust_store(project, environ).read
    places = (user / "config.yaml", project / layout.PROJECT_CONFIG)
    if config is None and not any(os.path.lexists(path) for path in places):
        return ProjectFiles(project, (), known, top, user)
    from agentmux.adapters.config.layers import read_layers

    return ProjectFiles(project, read_layers(user, project, config), known, top, user)


def configuration(
    project: Path, *, config: Path | None, environ: Mapping[str, str]
) -> tuple[tuple[SettingValue, ...], tuple[str, ...]]:
    """Return every effective value of the configuration, and the keys of its untrusted parts.

    The keys are dotted names, such as ``agents.claude``; there are none if all parts are trusted.
    Untrusted parts have no effect, so their values are not among the values.

    Args:
        project: The project's directory.
        config: The configuration file of ``--config``; None without this option.
        environ: Says where the user's files are.

    Raises:
        ConfigError: The configuration is invalid.
    """
    from agentmux.adapters.config.effective import effective_values

    layers, left_out = _project_files(project, config, environ).trusted_layers()
    places = config_paths(project, config=config, environ=environ)
    names = {path: name for name, path in places if name in _LAYERS}
    return effective_values(layers, names), left_out


_LAYERS: Final = ("user", "project", "--config")


def config_paths(
    project: Path, *, config: Path | None, environ: Mapping[str, str]
) -> tuple[tuple[str, Path], ...]:
    """Return the files and folders that ``config path`` shows, as pairs of purpose and path.

    They are the main ones that AgentMux uses for a project, not all, and need not exist. The first
    are the layers of the configuration, lowest first: ``user``, ``project`` and, if it is given,
    ``--config``. Then come ``prompts``, ``pipelines``, ``user's pipelines``, ``sessions``, ``trust,
    locks of conversations`` and ``cache``.

    Args:
        project: The project's directory.
        config: The configuration file of ``--config``; None without this option.
        environ: Says where the user's files are.
    """
    user, own = config_dir(environ), project / layout.PROJECT_CONFIG
    return (
        ("user", user / "config.yaml"),
        ("project", own),
        *((("--config", config),) if config is not None else ()),
        ("prompts", own.parent / "prompts"),
        ("pipelines", own.parent / "pipelines"),
        ("user's pipelines", user / "pipelines"),
        ("sessions", project / layout.SESSIONS_DIR),
        ("trust, locks of conversations", state_dir(environ)),
        ("cache", cache_dir(environ)),
    )


def _trust_store(project: Path, environ: Mapping[str, str]) -> TrustStore:
    from agentmux.adapters.disk.trust_store import TrustStore

    return TrustStore(state_dir(environ) / "trust", project)


def site(project: Path, *, config: Path | None, environ: Mapping[str, str]) -> Site:
    """Build the `Site` of a project: the part of a `World` that commands need to look at sessions.

    The configuration is read only when a value of it is needed.

    Args:
        project: The project's directory, absolute and without symbolic links.
        config: The configuration file of ``--config``; None without this option.
        environ: The environment of the operation.
    """

    @functools.cache
    def chosen() -> Settings:
        # The settings that are used to look at sessions need no trust.
        return _project_files(project, config, environ).settings(None)

    return Site(
        project=project,
        now=now,
        folders=session_folders,
        files=_files,
        network=_network,
        follow=_follow,
        terminal=functools.cache(_terminal_at(environ, chosen)),
        default_name=lambda: chosen().defaults.session_name,
        traces=TraceFolder(state_dir(environ) / "sessions"),
        locks=_LOCKS,
        repositories=_repositories(environ),
        remotes=_remotes,
    )


def world(
    project: Path,
    *,
    config: Path | None = None,
    environ: Mapping[str, str],
    read_only: bool = False,
    slow: Callable[[str], object] | None = None,
) -> World:
    """Build the `World` of one operation in a project, with all that it may read or change.

    The configuration is read at once.

    Args:
        project: The project's directory, absolute and without symbolic links.
        config: The configuration file of ``--config``; None without this option.
        environ: The environment of the operation.
        read_only: Whether to write no file, not even the cache of agent probes.
        slow: Called with a sentence for the user, in another thread, if git takes long; None tells
            nobody.

    Raises:
        ConfigError: The configuration is invalid.
    """
    from agentmux.adapters.config.project_files import ProjectTrust
    from agentmux.adapters.disk.session import session_archive
    from agentmux.adapters.git.program import Patience
    from agentmux.adapters.git.repository import Git

    files = _project_files(project, config, environ)
    chosen = files.settings(None)
    patience = Patience(limit_s=chosen.git.timeout_s, slow=slow)

    def allow(keys: frozenset[str], *, runs: bool = True) -> World:
        there = files.trusted_and(keys)
        chosen = files.settings(there)
        spec, names = _specs(chosen)
        programs = result.agents.programs if runs else _programs(environ, keep=False, runs=False)
        return replace(
            result,
            settings=chosen,
            agents=replace(result.agents, spec=spec, names=names, programs=programs),
            texts=_texts(files, there),
        )

    @functools.cache  # each session asks, and the files are read once
    def preview() -> World:
        return allow(frozenset(part.key for part in files.parts), runs=False)

    result = World(
        project=project,
        tree=project,
        machine=Machine(host=os.uname().nodename, boot=_boot(), zones=_zones(environ)),
        environment=environ,
        now=now,
        new_id=new_id,
        settings=chosen,
        agents=_agents(chosen, environ, keep=not read_only),
        texts=_texts(files, None),
        folders=session_folders,
        files=_files,
        network=_network,
        follow=_follow,
        terminal=functools.cache(_terminal_at(environ, lambda: chosen)),
        default_name=lambda: chosen.defaults.session_name,
        traces=TraceFolder(state_dir(environ) / "sessions"),
        locks=_LOCKS,
        repositories=_repositories(environ),
        remotes=_remotes,
        repository=Git(project, environ, patience),
        git=_git_tools(project, environ, patience),
        archives=session_archive,
        forge=lambda given: _forge(project, environ, given),
        secrets=lambda folder: _secrets(folder, environ),
        consent=Consent(
            trust=ProjectTrust(files, _trust_store(project, environ)),
            allow=allow,
            preview=preview,
        ),
    )
    return result


def _texts(files: ProjectFiles, keys: frozenset[str] | None) -> Texts:
    """Return the templates and pipelines; of the project's parts, only those that are allowed.

    ``keys`` are the keys of the allowed parts; None allows those that the user trusts.
    """
    from agentmux.adapters.config.project_files import ProjectPipelines

    return Texts(templates=files.templates(keys), pipelines=ProjectPipelines(files, keys))


def _agents(chosen: Settings, environ: Mapping[str, str], *, keep: bool) -> Agents:
    """Return the agents that the settings describe; ``keep`` says whether to cache their probes."""
    from agentmux.adapters.pane.claims import ClaimFolder

    spec, names = _specs(chosen)
    return Agents(
        spec=spec,
        names=names,
        programs=_programs(environ, keep=keep),
        own=_own_commands(),
        claims=ClaimFolder(state_dir(environ) / "claims"),
    )


def _git_tools(project: Path, environ: Mapping[str, str], patience: Patience) -> GitTools:
    """Return the tools that work with git; they run it with the environment ``environ``."""
    from agentmux.adapters.git.bundles import GitBundles
    from agentmux.adapters.git.program import GitProgram
    from agentmux.adapters.git.remote_branches import GitRemoteBranches
    from agentmux.adapters.git.repository import Git
    from agentmux.adapters.trees.checkpoints import GitCheckpoints
    from agentmux.adapters.trees.trials import GitTrials
    from agentmux.adapters.trees.worktrees import LinkedWorktrees

    def git(folder: Path) -> GitProgram:
        return GitProgram(folder, environ, patience)

    def repository(folder: Path) -> Git:
        return Git(folder, environ, patience)

    return GitTools(
        repository_at=repository,
        head_at=lambda folder: _head_of(repository(folder)),
        worktrees=LinkedWorktrees(git(project)),
        checkpoints=lambda tree, home, session: GitCheckpoints(git(tree), home, session),
        merging=lambda given: _merging(project, given, patience),
        bundles=GitBundles(git(project)),
        trials=GitTrials(git(project), project),
        remote_branches=GitRemoteBranches(git(project)),
    )


def _head_of(repository: Repository) -> Head | None:
    return repository.head() if repository.top_level() is not None else None


def _zones(environ: Mapping[str, str]) -> Zones:
    def find(name: str) -> tzinfo | None:
        from agentmux.adapters.system.time_zones import zones

        return zones(environ.get("TZ", ""))(name)

    return find


def _boot() -> str:
    try:
        return _BOOT_ID.read_text("ascii").strip()
    except OSError:
        return ""


@functools.cache  # each call reads all mounts, and a project may have many sessions
def _network(path: Path) -> str:
    from agentmux.adapters.system.processes.mounts import network_type

    return network_type(path)


def _follow(path: Path, timeout_s: float) -> Iterator[None]:
    from agentmux.adapters.wake.file_changes import follow

    return follow(path, timeout_s)


def _files(path: Path) -> SessionFiles:
    from agentmux.adapters.disk.session.session_files import FileSession

    return FileSession(path)


def _terminal_at(
    environ: Mapping[str, str], chosen: Callable[[], Settings]
) -> Callable[[str | None], Terminal]:
    def terminal(socket: str | None) -> Terminal:
        from agentmux.adapters.tmux.server import TmuxTerminal

        if socket:
            return TmuxTerminal(socket)
        name = chosen().tmux.socket_name
        return TmuxTerminal(name=name, tmux_tmpdir=environ.get("TMUX_TMPDIR"))

    return terminal


def _lock(path: Path) -> Lock:
    from agentmux.adapters.disk.lock import SessionLock

    return SessionLock(path)


def _tree_lock(folder: Path) -> TreeLock:
    from agentmux.adapters.disk.lock import WorkTreeLock

    tree = work_tree.work_tree(folder)
    if tree is None or not os.access(tree.git_dir, os.W_OK):
        return WorkTreeLock(folder if tree is None else tree.top, folder / layout.SESSIONS_DIR)
    return WorkTreeLock(tree.top, tree.git_dir)


def _is_alive(pid: int, started: int) -> bool:
    from agentmux.adapters.system.processes.processes import is_alive

    return is_alive(pid, started)


def _find_nested(folder: Path, environ: Mapping[str, str]) -> tuple[str, ...]:
    from agentmux.adapters.git.program import Patience
    from agentmux.adapters.git.repository import Git

    try:
        return Git(folder, environ, Patience(limit_s=_GLANCE_S)).list_nested()
    except AgentmuxError:
        return ()


_LOCKS: Final = Locks(session=_lock, tree=_tree_lock, is_alive=_is_alive)


def _repositories(environ: Mapping[str, str]) -> Repositories:
    return Repositories(
        nested=lambda folder: _find_nested(folder, environ),
        branch_at=work_tree.branch_at,
        is_branch_gone=work_tree.is_branch_gone,
        last_commit_at=work_tree.last_commit_at,
        is_half_made=work_tree.is_half_made,
        around=work_tree.repository_around,
        tops_of=work_tree.worktree_tops,
    )


def _specs(
    chosen: Settings,
) -> tuple[Callable[[str], AgentSpec], Callable[[], tuple[str, ...]]]:
    """Return a function that finds an agent by name, and one that returns all registered names."""

    @functools.cache
    def registry() -> Mapping[str, AgentSpec]:
        from agentmux.adapters.config.agent_registry import load_registry

        return load_registry(chosen)

    @functools.cache
    def spec(name: str) -> AgentSpec:
        from agentmux.core.agents.spec import spec_for

        return spec_for(name, registry(), resume_commands=chosen.resume.commands)

    return spec, lambda: tuple(registry())


def _merging(project: Path, environ: Mapping[str, str], patience: Patience) -> Merging:
    from agentmux.adapters.git.program import GitProgram
    from agentmux.adapters.trees.merging import Merges

    return Merges(GitProgram(project, environ, patience))


def _remotes(folder: Path, environ: Mapping[str, str]) -> Remotes:
    from agentmux.adapters.git.program import GitProgram
    from agentmux.adapters.git.remotes import ConfiguredRemotes

    return ConfiguredRemotes(GitProgram(folder, environ))


def _secrets(folder: Path, environ: Mapping[str, str]) -> frozenset[str]:
    from agentmux.adapters.git.secret_files import secret_values

    return secret_values(folder, environ)


def _forge(project: Path, environ: Mapping[str, str], given: Mapping[str, str]) -> Forges:
    """Return the forges that the user's files describe; their programs run with ``given``."""
    from agentmux.adapters.config.forge_registry import load_forges
    from agentmux.adapters.forge.command_line import ForgeCommandLine

    return ForgeCommandLine(lambda: load_forges(config_dir(environ)), given, project)


def _programs(environ: Mapping[str, str], *, keep: bool, runs: bool = True) -> Programs:
    from agentmux.adapters.config.installed_programs import InstalledPrograms

    return InstalledPrograms(
        path=os.pathsep.join((str(scripts()), environ.get("PATH", os.defpath))),
        shell=environ.get("SHELL") or "/bin/sh",
        cache_dir=cache_dir(environ),
        keep=keep,
        runs=runs,
    )


def _own_commands() -> OwnCommands:
    return OwnCommands(
        wrapper=(sys.executable, "-IS", str(PACKAGE / "adapters" / "pane" / "wrapper.py")),
        mcp_server=(*program(), "mcp"),
        hook=(*program(), "hook"),
    )
