"""The repository of a feature on this host: a folder of the user, or a clone of ours."""

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
from agentmux.errors import AgentmuxError, UsageError, of_system
from agentmux.wiring import machine

_CLONE_S: Final = 3600.0


def named_repository(text: str, folder: Path, environ: Mapping[str, str]) -> str:
    """Return the repository that a person names: a URL, or the absolute path of one.

    Args:
        text: A URL, or a path; a relative one begins at ``folder``.
        folder: An absolute path.
        environ: Says where the user's home directory is.
    """
    if is_url(text):
        return text
    place = folder / text
    is_project = place.is_dir() and not is_bare(place)
    return str(machine.project_of(place, environ) if is_project else place.resolve())


def clone_of(repository: str, clones: Path) -> Path | None:
    """Return the folder of the clone that a host makes; None where it works in place.

    It works in place in a checkout. A URL is cloned, and so is a bare repository at a path.
    """
    if is_url(repository) or is_bare(Path(repository)):
        return clones / clone_name(repository)
    return None


def project_at(repository: str, clones: Path, environ: Mapping[str, str]) -> Path:
    """Return the project of a repository; make the clone that it needs.

    Raises:
        UsageError: The folder does not exist on this host.
        AgentmuxError: It could not be cloned, or the system does not let us look.
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
    except OSError as error:  # such as a file system that is away
        raise of_system(error) from None
    if not is_here:
        raise UsageError(f"`{folder}` does not exist on this host")
    return machine.project_of(folder, environ)


def fetched_base(project: Path, repository: str, base: str, environ: Mapping[str, str]) -> str:
    """Return what a new session begins on; of a clone it is fetched first.

    Args:
        project: The project.
        repository: As it was submitted.
        base: As it was submitted; empty: the default branch of a clone, else as configured.
        environ: The environment of git.
    """
    if clone_of(repository, project.parent) is None:
        return base
    git = GitProgram(project, environ)
    with _alone(project):  # two fetches at a time fail where both change a branch
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
    """Hold the lock of a clone in the block: several features may begin in it at once."""
    files.make_dir(clone.parent)
    with FileLock(clone.with_name(f".{clone.name}.lock"), mode=files.FILE_MODE):
        yield


def _clone(url: str, folder: Path, environ: Mapping[str, str]) -> None:
    begin = f".making-{folder.name}-"
    for left in folder.parent.glob(f"{begin}*"):  # by a killed worker
        shutil.rmtree(left, ignore_errors=True)
    # A name of its own: a git that a killed worker has left may still write into the other.
    temp_folder = Path(tempfile.mkdtemp(prefix=begin, dir=folder.parent))
    reply = GitProgram(temp_folder, environ).clone(url, limit_s=_CLONE_S)
    if reply.status:
        shutil.rmtree(temp_folder, ignore_errors=True)
        raise AgentmuxError(f"`{url}` could not be cloned: {_last(reply.err)}")
    temp_folder.rename(folder)


def _last(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1].strip() if lines else "git says no reason"
