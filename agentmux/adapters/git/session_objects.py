"""The git objects that belong to one session, stored in the session's directory.

Git writes them there and reads the repository's own objects as alternates. So the user's mirrors,
bundles and ``git gc`` never see them.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from agentmux.adapters.disk import files
from agentmux.adapters.git.program import GitProgram, decode_output, to_git_error
from agentmux.core.codec.frozen import dataclass
from agentmux.core.names import layout

QUIET: Final = (
    *("-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false"),
    *("-c", "core.splitIndex=false", "-c", "core.safecrlf=false"),
    *("-c", "core.logAllRefUpdates=false", "-c", "status.aheadBehind=false"),
    *("-c", "core.fsync=objects", "-c", "core.fsyncMethod=batch"),
)
"""Settings for AgentMux's own git commands: no hooks, no daemon, no files beside the copied index.
"""

PRIVATE: Final = ("-c", "core.sharedRepository=0600")
"""Settings with which git writes objects that only the user can read, whatever the umask is.

Only for objects of a session: the modes of the user's repository are those that git gives it.
"""

IDENTITY: Final = {
    f"GIT_{who}_{what}": value
    for who in ("AUTHOR", "COMMITTER")
    for what, value in (("NAME", "AgentMux"), ("EMAIL", "agentmux@localhost"))
}
"""Variables that set author and committer of AgentMux's own commits: the user may have none."""

REF_PREFIX: Final = "refs/agentmux/"
_SCRATCH: Final = "taking-"


@dataclass(frozen=True, slots=True, kw_only=True)
class RepositoryPlaces:
    """Where git keeps the files of a work tree.

    Attributes:
        objects: The directory of the repository's objects.
        index: The work tree's own index file; it may not exist.
    """

    objects: Path
    index: Path


def places(git: GitProgram) -> RepositoryPlaces:
    """Return where git keeps the objects and the index of the work tree in which it runs.

    Raises:
        GitError: The project is not in a repository.
    """
    reply = git.must_read(
        "find its files", "rev-parse", "--git-path", "objects", "--git-path", "index"
    )
    objects, _, index = decode_output(reply.out).removesuffix("\n").partition("\n")
    return RepositoryPlaces(objects=git.root() / objects, index=git.root() / index)


def copy_index(index: Path, to: Path) -> None:
    """Copy the index file ``index`` to ``to``; do nothing if it does not exist.

    The copy has its time stamp, from which git knows which files may have changed since: it reads
    those that are as young as the index, and goes by size and time for the others.
    """
    with suppress(FileNotFoundError), index.open("rb") as source, to.open("wb") as copy:
        facts = os.fstat(source.fileno())
        shutil.copyfileobj(source, copy)
        copy.flush()  # a later write would set the time stamp again
        os.utime(copy.fileno(), ns=(facts.st_atime_ns, facts.st_mtime_ns))


def folder(home: Path) -> Path:
    """Return the folder for work-tree checkpoints in the session's directory ``home``.

    A work-tree checkpoint is a commit with the files of the session's work tree as they were. The
    folder may not exist.
    """
    return home / layout.WORK_TREE


def objects(home: Path) -> Path:
    """Return the directory of the session's git objects; it may not exist.

    ``home`` is the session's directory.
    """
    return folder(home) / "objects"


def variables_to_read(home: Path, *others: Path) -> dict[str, str]:
    """Return the environment variables with which git also reads the objects of a session.

    Pass them as ``extra`` to `GitProgram.run`. ``home`` is the session's directory; ``others`` are
    more directories of git objects to read. Directories that do not exist are left out, because git
    warns about them: a session without checkpoints has no objects yet.
    """
    stores = [each for each in (objects(home), *others) if each.is_dir()]
    return {"GIT_ALTERNATE_OBJECT_DIRECTORIES": ":".join(map(_quote_path, stores))}


def variables_to_write(target: Path, *others: Path) -> dict[str, str]:
    """Return the environment variables with which git writes objects to ``target``.

    With them it reads objects in ``target`` and ``others``. Pass them as ``extra`` to
    `GitProgram.run`. All are directories of git objects; git does not read those of the repository
    itself unless they are among ``others``.
    """
    return {
        "GIT_OBJECT_DIRECTORY": str(target),
        "GIT_ALTERNATE_OBJECT_DIRECTORIES": ":".join(map(_quote_path, others)),
    }


def _quote_path(path: Path) -> str:
    """Return a path for git's list of directories, quoted if it contains the separator ``:``."""
    text = str(path)
    if ":" not in text and not text.startswith('"'):
        return text
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def make_objects_folder(home: Path) -> Path:
    """Create the directory of the session's git objects if it is missing, and return it.

    Raises:
        DataError: It cannot be created, or a link leads out of the session's directory.
    """
    return _make_folder(home, objects(home))


def _make_folder(home: Path, place: Path) -> Path:
    files.make_dir(files.path_without_links(home, str(place.relative_to(home)), whole=True))
    return place


@contextmanager
def scratch(home: Path) -> Iterator[Path]:
    """Create a temporary directory for the ``with`` block, and delete it afterwards.

    It is inside ``home``, the session's directory. Those that killed processes left are removed
    first; so no two may be in use at once.

    Raises:
        DataError: It cannot be created, or a link leads out of the session's directory.
    """
    place = _make_folder(home, folder(home))
    for left in place.glob(f"{_SCRATCH}*"):
        shutil.rmtree(left, ignore_errors=True)
    directory = Path(tempfile.mkdtemp(prefix=_SCRATCH, dir=place))
    try:
        yield directory
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def must_run(
    git: GitProgram,
    purpose: str,
    *argv: str,
    stdin: bytes = b"",
    extra: Mapping[str, str] | None = None,
) -> bytes:
    """Run ``git ARGV`` without hooks (settings `QUIET`); return its output, or raise an error.

    Args:
        git: The program, for the repository in which to run.
        purpose: Completes the error message "git could not …".
        argv: The words after ``git`` and the settings.
        stdin: The bytes to write to its standard input.
        extra: Variables to add to git's environment.

    Raises:
        GitError: The exit status is not 0.
    """
    reply = git.run(*QUIET, *argv, stdin=stdin, extra=extra)
    if reply.status != 0:
        raise to_git_error(purpose, reply)
    return reply.out
