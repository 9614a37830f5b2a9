"""Writes the files of a commit into a work tree, without a change of HEAD, refs or the index."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from agentmux.adapters.git.program import GitProgram, encoded, failed, joined, split
from agentmux.adapters.git.session_objects import QUIET
from agentmux.core.codec.frozen import dataclass
from agentmux.core.names import layout

_NONE: Final = "000000"
_REPOSITORY: Final = "160000"
_ATTRIBUTES: Final = ".gitattributes"


@dataclass(frozen=True, slots=True, kw_only=True)
class FileChange:
    """One file that differs between two commits.

    Attributes:
        mode: Its mode in the second one, as git writes it; `_NONE` if the file is not there.
        blob: Its content there.
    """

    path: str
    mode: str
    blob: str


def changes(
    git: GitProgram, extra: Mapping[str, str], since: str, until: str
) -> tuple[FileChange, ...]:
    """Return the files that differ, without repositories and files in ``.agentmux``.

    Args:
        git: Runs git in the repository.
        extra: The variables with which git finds both commits, or trees.
        since: One commit.
        until: The other one, whose files are returned.

    Raises:
        GitError: Git refuses, for example because a commit is gone.
    """
    words = ("diff-tree", "-r", "-z", "--raw", "--no-renames", since, until)
    reply = git.run(*words, extra=extra)
    if reply.status != 0:
        raise failed("compare two checkpoints", reply)
    return tuple(_parsed(split(reply.out)))


def _parsed(entries: Iterator[str]) -> Iterator[FileChange]:
    for facts in entries:
        old, mode, _, blob, _ = facts.removeprefix(":").split(" ")
        path = next(entries)
        if _REPOSITORY not in {old, mode} and layout.PROJECT_FOLDER not in path.split("/"):
            yield FileChange(path=path, mode=mode, blob=blob)


def write(
    git: GitProgram,
    extra: Mapping[str, str],
    changed: Iterable[FileChange],
    *,
    scratch: Path,
    leave: Collection[str] = (),
) -> tuple[str, ...]:
    """Make the files in the work tree as in ``changed``; return those that could not be written.

    Args:
        git: Runs git in the work tree.
        extra: The variables with which git finds their contents.
        changed: The files, as from `changes`.
        scratch: A directory for an index.
        leave: Files, and directories that end in ``/``, to leave as they are.
    """
    found = [each for each in changed if not _is_left(each.path, leave)]
    top = git.root()
    for each in found:
        if each.mode == _NONE:
            _delete(top, each.path)
    kept = [each for each in found if each.mode != _NONE]
    # Attributes first: git reads them from the work tree to know how to write the others.
    first = [each for each in kept if Path(each.path).name == _ATTRIBUTES]
    rest = [each for each in kept if Path(each.path).name != _ATTRIBUTES]
    more = {**extra, "GIT_INDEX_FILE": str(scratch / "index")}
    _list(git, more, kept)
    return (*_check_out(git, more, first), *_check_out(git, more, rest))


def _is_left(path: str, leave: Collection[str]) -> bool:
    return any(path == each or (each.endswith("/") and path.startswith(each)) for each in leave)


def _list(git: GitProgram, extra: Mapping[str, str], found: list[FileChange]) -> None:
    """Make an index of just these files."""
    lines = b"".join(encoded(f"{e.mode} {e.blob}\t{e.path}") + b"\0" for e in found)
    words = ("update-index", "-z", "--index-info")
    reply = git.run(*QUIET, *words, stdin=lines, extra=extra)
    if reply.status != 0:
        raise failed("list the files of the checkpoint", reply)


def _check_out(
    git: GitProgram, extra: Mapping[str, str], found: list[FileChange]
) -> tuple[str, ...]:
    """Write the files; return those that git refuses, such as by a filter that fails."""
    if not found:
        return ()
    words = ("checkout-index", "--force", "-z", "--stdin")
    stdin = joined(each.path for each in found)
    if git.run(*QUIET, *words, stdin=stdin, extra=extra).status == 0:
        return ()
    if len(found) == 1:
        return (found[0].path,)
    half = len(found) // 2
    return (*_check_out(git, extra, found[:half]), *_check_out(git, extra, found[half:]))


def _delete(top: Path, path: str) -> None:
    """Delete a file, and the directories that it leaves empty; follow no link."""
    place = top / path
    if os.path.realpath(place.parent) != str(place.parent):
        return  # through a link, so it is not the file that is meant
    with suppress(FileNotFoundError, NotADirectoryError, IsADirectoryError):
        place.unlink()
    for above in place.relative_to(top).parents:
        if above == Path():
            return
        with suppress(OSError):  # not empty, or gone
            (top / above).rmdir()
