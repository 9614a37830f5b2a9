"""Writes the files of a commit into a work tree, without changing HEAD, refs or the index."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import takewhile
from pathlib import Path, PurePosixPath
from typing import Final

from agentmux.adapters.git.program import GitProgram, encode_text, join_paths, split, to_git_error
from agentmux.adapters.git.session_objects import QUIET
from agentmux.adapters.git.work_tree import is_bare, is_top, work_tree
from agentmux.core.codec.frozen import dataclass
from agentmux.core.names import layout

_NONE: Final = "000000"
_REPOSITORY: Final = "160000"
_PLAIN: Final = "100"
"""The prefix of the modes of regular files (not links)."""
_ATTRIBUTES: Final = ".gitattributes"
_IGNORES: Final = ".gitignore"


@dataclass(frozen=True, slots=True, kw_only=True)
class FileChange:
    """One file that differs between two commits.

    Attributes:
        path: Its path, relative to the top of the work tree.
        mode: Its mode in the second commit, as git writes it (``100644``); ``000000`` if it does
            not exist there.
        blob: The id of its content in the second commit; zeros if it does not exist there.
    """

    path: str
    mode: str
    blob: str


def changes(
    git: GitProgram, extra: Mapping[str, str], since: str, until: str
) -> tuple[FileChange, ...]:
    """Return the files that differ between two commits (or trees).

    Submodules and files in ``.agentmux`` are left out. A rename yields both paths.

    Args:
        git: Runs git in the repository.
        extra: The environment variables that name the folders with the objects of both commits.
        since: The first commit or tree.
        until: The second one, whose files the result describes.

    Raises:
        GitError: Git refuses, for example because a commit is gone.
    """
    words = ("diff-tree", "-r", "-z", "--raw", "--no-renames", since, until)
    reply = git.run(*words, extra=extra)
    if reply.status != 0:
        raise to_git_error("compare two checkpoints", reply)
    return tuple(_parse_changes(split(reply.out)))


def _parse_changes(entries: Iterator[str]) -> Iterator[FileChange]:
    for facts in entries:
        old, mode, _, blob, _ = facts.removeprefix(":").split(" ")
        path = next(entries)
        if _REPOSITORY not in {old, mode} and not layout.is_ours(path):
            yield FileChange(path=path, mode=mode, blob=blob)


def write(
    git: GitProgram,
    extra: Mapping[str, str],
    changed: Iterable[FileChange],
    *,
    scratch: Path,
    leave: Collection[str] = (),
) -> tuple[str, ...]:
    """Write the content in ``changed`` to files of the work tree; return the paths that failed.

    It writes as much as it can; a file that ``changed`` lists as deleted is deleted. The result has
    the paths that git could not write, and those that something in ``leave`` blocks, such as a file
    where a folder is needed. The paths in ``leave`` themselves are not in it.

    Args:
        git: Runs git in the work tree.
        extra: The environment variables with which git finds the contents.
        changed: The files, for example from `changes`.
        scratch: A directory for a temporary index.
        leave: Files, and directories that end in ``/``, to leave unchanged.

    Raises:
        GitError: Git cannot make the temporary index; the deletions are done by then.
    """
    wanted = tuple(changed)
    files = [each for each in wanted if not is_left_unchanged(each.path, leave)]
    blocked = (e.path for e in wanted if e not in files and not _covers(leave, e.path))
    top = git.root()
    for each in files:
        if each.mode == _NONE:
            delete_file(top, each.path)
    kept = [each for each in files if each.mode != _NONE]
    # Attributes first: git reads them from the work tree to know how to write the others.
    first = [each for each in kept if Path(each.path).name == _ATTRIBUTES]
    rest = [each for each in kept if Path(each.path).name != _ATTRIBUTES]
    more = {**extra, "GIT_INDEX_FILE": str(scratch / "index")}
    _list(git, more, kept)
    return (*blocked, *_check_out(git, more, first), *_check_out(git, more, rest))


def is_left_unchanged(path: str, leave: Collection[str]) -> bool:
    """Return whether `write` would leave the file ``path`` unchanged because of ``leave``.

    That is so if it is in ``leave`` (files, and directories that end in ``/``), or if something in
    ``leave`` is in its way.
    """
    if _covers(leave, path):
        return True
    above = _parents(path)
    return any(each.rstrip("/") in above or f"{each}/".startswith(f"{path}/") for each in leave)


def _covers(leave: Collection[str], path: str) -> bool:
    return any(path == each or (each.endswith("/") and path.startswith(each)) for each in leave)


def _parents(path: str) -> set[str]:
    return {str(each) for each in PurePosixPath(path).parents}


def in_the_way(top: Path, changed: Iterable[FileChange]) -> Iterator[str]:
    """Yield the paths below ``top`` that exist where `write` would write or delete files.

    The paths are relative to ``top``. A path that ends in ``/`` is a repository or a ``.agentmux``
    folder, whose files no checkpoint has.
    """
    for each in changed:
        place = top / each.path
        above = next((p for p in _above(top, place) if p.is_symlink() or p.is_file()), None)
        if above is None and place.is_dir() and not place.is_symlink():
            if each.mode != _NONE:
                yield from _below(top, place)
        elif above is None and os.path.lexists(place):
            yield each.path
        elif above is not None and each.mode != _NONE:
            yield str(above.relative_to(top))


def repositories_around(top: Path, changed: Iterable[FileChange]) -> set[str]:
    """Return the repositories nested below ``top`` into which `write` would write.

    Each is a path relative to ``top`` that ends in ``/``.
    """
    return {
        f"{above.relative_to(top)}/"
        for each in changed
        for above in takewhile(lambda place: not place.is_symlink(), _above(top, top / each.path))
        if is_top(above)
    }


def _above(top: Path, place: Path) -> Iterator[Path]:
    """Yield the directories between ``top`` and ``place``, the topmost first."""
    for each in reversed(place.relative_to(top).parents[:-1]):
        yield top / each


def _below(top: Path, folder: Path) -> Iterator[str]:
    """Yield the files below a folder; repositories and ``.agentmux`` folders are one entry each."""
    name = str(folder.relative_to(top))
    if folder.name == layout.PROJECT_FOLDER or is_top(folder) or is_bare(folder):
        yield f"{name}/"
        return
    for each in sorted(folder.iterdir()):
        if each.is_dir() and not each.is_symlink():
            yield from _below(top, each)
        else:
            yield str(each.relative_to(top))


def without_ignored(
    git: GitProgram,
    extra: Mapping[str, str],
    changed: tuple[FileChange, ...],
    until: str,
    scratch: Path,
) -> tuple[FileChange, ...]:
    """Return ``changed`` without the deletions of files that git ignores by the rules in ``until``.

    A checkpoint has no ignored files: that ``until`` lacks such a file does not mean that the file
    was deleted. A deletion is kept if the file is in the index, or if ``changed`` puts a folder in
    the file's place.

    Args:
        git: Runs git in the work tree.
        extra: The environment variables with which git finds ``until``.
        changed: The files, for example from `changes`.
        until: A commit or tree; its ``.gitignore`` files count, in addition to the user's other
            rules.
        scratch: An empty directory for temporary files.

    Raises:
        GitError: Git cannot tell which files ``until`` ignores.
    """
    files = {each.path for each in changed if each.mode != _NONE}
    gone = [e.path for e in changed if e.mode == _NONE and files.isdisjoint(_parents(e.path))]
    tree = work_tree(git.root())
    if not gone or tree is None:
        return changed
    rules = scratch / "rules"
    rules.mkdir()
    ignore_files = _ignore_files(git, extra, until)
    more = {**extra, "GIT_INDEX_FILE": str(scratch / "index")}
    _list(git, more, ignore_files)
    _check_out(git, more, ignore_files, f"--prefix={rules}/")
    place = (f"--git-dir={tree.git_dir}", f"--work-tree={rules}")
    words = ("check-ignore", "-z", "--stdin")
    reply = git.read(*place, *words, stdin=join_paths(gone), cwd=rules)
    if reply.status not in {0, 1}:  # a path is in a submodule: ask without the index
        reply = git.read(*place, *words, "--no-index", stdin=join_paths(gone), cwd=rules)
    if reply.status not in {0, 1}:
        raise to_git_error("find what the checkpoint ignores", reply)
    ignored = set(split(reply.out))
    return tuple(e for e in changed if e.mode != _NONE or e.path not in ignored)


def _ignore_files(git: GitProgram, extra: Mapping[str, str], until: str) -> list[FileChange]:
    reply = git.run("ls-tree", "-r", "-z", "--full-tree", until, extra=extra)
    if reply.status != 0:
        raise to_git_error("list the files of the checkpoint", reply)
    files = []
    for entry in split(reply.out):
        facts, _, path = entry.partition("\t")
        mode, _, blob = facts.split(" ")
        if PurePosixPath(path).name == _IGNORES and mode.startswith(_PLAIN):
            files.append(FileChange(path=path, mode=mode, blob=blob))
    return files


def _list(git: GitProgram, extra: Mapping[str, str], found: list[FileChange]) -> None:
    """Write an index, which ``extra`` names, of exactly these files."""
    lines = b"".join(encode_text(f"{e.mode} {e.blob}\t{e.path}") + b"\0" for e in found)
    words = ("update-index", "-z", "--index-info")
    reply = git.run(*QUIET, *words, stdin=lines, extra=extra)
    if reply.status != 0:
        raise to_git_error("list the files of the checkpoint", reply)


def _check_out(
    git: GitProgram, extra: Mapping[str, str], found: list[FileChange], *place: str
) -> tuple[str, ...]:
    """Write the files; return those that git refuses, for example because a filter fails.

    ``place`` is empty, or ``--prefix=DIRECTORY/`` to write them elsewhere.
    """
    if not found:
        return ()
    words = ("checkout-index", "--force", "-z", "--stdin", *place)
    stdin = join_paths(each.path for each in found)
    if git.run(*QUIET, *words, stdin=stdin, extra=extra).status == 0:
        return ()
    if len(found) == 1:
        return (found[0].path,)
    half = len(found) // 2
    return (
        *_check_out(git, extra, found[:half], *place),
        *_check_out(git, extra, found[half:], *place),
    )


def delete_file(top: Path, path: str) -> None:
    """Delete a file and the parent directories below ``top`` that it leaves empty; follow no link.

    ``path`` is relative to ``top``. Nothing happens if there is no such file.
    """
    place = top / path
    if os.path.realpath(place.parent) != str(place.parent):
        return  # the path leads through a link to another file
    with suppress(FileNotFoundError, NotADirectoryError, IsADirectoryError):
        place.unlink()
    for above in place.relative_to(top).parents:
        if above == Path():
            return
        with suppress(OSError):  # not empty, or gone
            (top / above).rmdir()
