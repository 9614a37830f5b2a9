"""The repository of a feature on this host: a folder of the user, or a clone of ours."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

from agentmux.adapters.disk import files
from agentmux.adapters.git.program import GitProgram, decoded
from agentmux.core.fleet.repositories import clone_name, is_url
from agentmux.errors import AgentmuxError, UsageError
from agentmux.wiring import machine


def project_at(repository: str, clones: Path, environ: Mapping[str, str]) -> Path:
    """Return the project of a repository; clone it if it is named by a URL and not here yet.

    Raises:
        UsageError: The folder does not exist on this host.
        AgentmuxError: It could not be cloned.
    """
    folder = clones / clone_name(repository) if is_url(repository) else Path(repository)
    if is_url(repository) and not folder.is_dir():
        _clone(repository, folder, environ)
    if not folder.is_dir():
        raise UsageError(f"`{folder}` does not exist on this host")
    return machine.project_of(folder)


def fetched_base(project: Path, repository: str, base: str, environ: Mapping[str, str]) -> str:
    """Return what a new session begins on; of a clone it is fetched first.

    Args:
        project: The project.
        repository: As it was submitted.
        base: As it was submitted; empty: the default branch of a clone, else as configured.
        environ: The environment of git.
    """
    if not is_url(repository):
        return base
    git = GitProgram(project, environ)
    reply = git.run("fetch", "-q", "--prune", "origin")
    if reply.status:
        raise AgentmuxError(f"`{repository}` could not be fetched: {_last(reply.err)}")
    git.run("remote", "set-head", "origin", "--auto")
    if not base:
        head = git.read("rev-parse", "--abbrev-ref", "origin/HEAD")
        return decoded(head.out).strip() if head.status == 0 else ""
    remote = git.read("rev-parse", "-q", "--verify", f"refs/remotes/origin/{base}")
    return f"origin/{base}" if remote.status == 0 else base


def _clone(url: str, folder: Path, environ: Mapping[str, str]) -> None:
    files.make_dir(folder.parent)
    made = folder.with_name(f".making-{folder.name}")
    shutil.rmtree(made, ignore_errors=True)  # left by a killed worker
    git = GitProgram(folder.parent, environ)
    reply = git.run("clone", "-q", "--", url, str(made))
    if reply.status:
        shutil.rmtree(made, ignore_errors=True)
        raise AgentmuxError(f"`{url}` could not be cloned: {_last(reply.err)}")
    made.rename(folder)


def _last(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1].strip() if lines else "git says no reason"
