"""The repository of a feature on this host: a folder of the user, or a clone made by AgentMux."""

from __future__ import annotations

import shutil
import stat
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from filelock import FileLock

from agentmux.adapters.disk import files
from agentmux.adapters.git.program import GitProgram
from agentmux.adapters.git.work_tree import is_bare
from agentmux.adapters.system.processes.child import end
from agentmux.core.fleet.repositories import clone_name, is_url
from agentmux.errors import AgentmuxError, UsageError, data_error_from
from agentmux.wiring import machine

_CLONE_S: Final = 3600.0


def named_repository(text: str, folder: Path, environ: Mapping[str, str]) -> str:
    """Return the repository that a person named: a URL unchanged, or a path made absolute.

    For a folder inside a project, it is the path of the project. The path need not exist.

    Args:
        text: A URL or a path; a relative path is relative to ``folder``.
        folder: An absolute path.
        environ: The environment variables, which say where the user's home directory is.
    """
    if is_url(text):
        return text
    place = folder / text
    is_project = place.is_dir() and not is_bare(place)
    return str(machine.project_of(place, environ) if is_project else place.resolve())


def clone_of(repository: str, clones: Path) -> Path | None:
    """Return the folder that a clone of a repository has or would have here; clone nothing.

    None if no clone is made of it: only a URL or a bare repository is cloned, and in a checkout on
    this host sessions work directly.

    Args:
        repository: A URL or an absolute path.
        clones: The folder that contains all clones.
    """
    if is_url(repository) or is_bare(Path(repository)):
        return clones / clone_name(repository)
    return None


def project_at(repository: str, clones: Path, environ: Mapping[str, str]) -> Path:
    """Return the project folder of a repository, after cloning the repository if needed.

    Cloning may take long: up to an hour.

    Args:
        repository: A URL or an absolute path.
        clones: The folder that contains all clones.
        environ: The environment variables for git.

    Raises:
        UsageError: The folder does not exist on this host.
        AgentmuxError: The repository could not be cloned, or its folder cannot be accessed.
    """
    clone = clone_of(repository, clones)
    folder = Path(repository) if clone is None else clone
    if clone is not None:
        with _alone(folder):
            if not folder.is_dir():
                _clone(repository, folder, environ)
    try:  # `is_dir` hides such errors since Python 3.14
        is_here = stat.S_ISDIR(folder.stat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        is_here = False
    except OSError as error:  # such as an unreachable network file system
        raise data_error_from(error) from None
    if not is_here:
        raise UsageError(f"`{folder}` does not exist on this host")
    return machine.project_of(folder, environ)


def fetch_base(project: Path, repository: str, base: str, environ: Mapping[str, str]) -> str:
    """Fetch into a clone, and return the name of the commit or branch that a new session begins on.

    Args:
        project: The project folder, as `project_at` returned it.
        repository: The repository, as it was submitted; it says whether the folder is a clone.
        base: The base, as it was submitted; empty stands for the default branch of a clone.
        environ: The environment variables for git.

    Returns:
        In a clone, ``origin/<branch>`` if ``base`` names a branch of the origin, else ``base``.
        Without a clone, nothing is fetched and it is ``base``. Empty means: as configured.

    Raises:
        AgentmuxError: The clone could not be fetched.
    """
    if clone_of(repository, project.parent) is None:
        return base
    git = GitProgram(project, environ)
    with _alone(project):  # two fetches at once fail if both change the same branch
        reply = git.run("fetch", "-q", "--prune", "origin", out=end())
        if reply.status:
            raise AgentmuxError(f"`{repository}` could not be fetched: {_last(reply.err)}")
        git.run("remote", "set-head", "origin", "--auto")
    if not base:
        head = git.read("rev-parse", "--abbrev-ref", "origin/HEAD")
        return head.text if head.status == 0 else ""
    remote = git.read("rev-parse", "-q", "--verify", f"refs/remotes/origin/{base}")
    return f"origin/{base}" if remote.status == 0 else base


@contextmanager
def _alone(clone: Path) -> Iterator[None]:
    """Context manager that holds a clone's lock, because several features may begin at once."""
    files.make_dir(clone.parent)
    with FileLock(clone.with_name(f".{clone.name}.lock"), mode=files.FILE_MODE):
        yield


def _clone(url: str, folder: Path, environ: Mapping[str, str]) -> None:
    begin = f".making-{folder.name}-"
    for left in folder.parent.glob(f"{begin}*"):  # left by a killed worker
        shutil.rmtree(left, ignore_errors=True)
    # A new name each time: a git process of a killed worker may still write to the old folder.
    temp_folder = Path(tempfile.mkdtemp(prefix=begin, dir=folder.parent))
    reply = GitProgram(temp_folder, environ).clone(url, limit_s=_CLONE_S)
    if reply.status:
        shutil.rmtree(temp_folder, ignore_errors=True)
        raise AgentmuxError(f"`{url}` could not be cloned: {_last(reply.err)}")
    temp_folder.rename(folder)


def _last(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1].strip() if lines else "git says no reason"
