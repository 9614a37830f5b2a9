"""Hints for putting changes aside with ``git stash``; `put_back` has those to restore them."""

from __future__ import annotations

import os
import shlex
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import Final

from agentmux.adapters.disk.files import move_away_hint, old_name
from agentmux.adapters.git.lost_work.hidden_changes import hidden_changes, hidden_flags
from agentmux.adapters.git.program import GitProgram, split
from agentmux.adapters.git.put_back import StashNote
from agentmux.adapters.git.work_tree import linked_git_dir
from agentmux.core.names import layout
from agentmux.core.names.words import git_commands
from agentmux.core.names.words.git_commands import FOR_TRIAL

_MODULE: Final = "160000"


def aside_hints(
    git: GitProgram, paths: Collection[str], why: str, *, is_all: bool = False
) -> Iterator[str]:
    """Yield hints with the commands that put changes in the work tree aside; changes nothing.

    Git stashes neither a repository nested in the work tree, nor a folder with one, nor a link in
    place of a folder, nor a folder in place of a file with the ignored files in it, nor which
    commit a submodule has checked out: for each of these, a hint comes before the stash.

    Args:
        git: Runs git in the work tree.
        paths: The paths of the changes, relative to its top, as `CheckoutSides.in_way` returns
            them.
        why: The message of the stash.
        is_all: Whether these are all changes outside ``.agentmux``, so that none need be named.
    """
    top, folders = git.root(), _folders_for_files(git)
    unstashable = (_unstashable(top, path, folders) for path in paths)
    apart = tuple(dict.fromkeys(each for each in unstashable if each))
    modules = _modules(git) if apart else frozenset()
    for each in apart:
        name = each.removesuffix("/")
        if name in modules:
            forth, back = _module_hints(top, name)
        else:
            place = top / each
            forth = move_away_hint(place) + link_again(place, old_name(place))
            back = _move_back(place) + link_again(place, str(place))
        yield f"{forth}; after the trial, back: {back}" if why == FOR_TRIAL else forth
    plain = [path for path in paths if not _is_moved(top, path, folders)]
    if plain:
        yield f"put them aside: {_stash(git, plain, why, folders, is_all=is_all)}"


def _module_hints(top: Path, name: str) -> tuple[str, str]:
    place, module = shlex.quote(str(top)), shlex.quote(name)
    commit = f"git -C {place} commit --message {shlex.quote(f'Update {name}/')} -- {module}"
    back = f"git -C {place} reset --soft 'HEAD~' && git -C {place} restore --staged -- {module}"
    return f"commit the submodule {name}/: {commit}", back


def _move_back(path: Path) -> str:
    return f"mv {shlex.quote(old_name(path))} {shlex.quote(str(path))}"


def link_again(folder: Path, new: str) -> str:
    """Return the commands that tell git where the linked worktrees in a folder are after a move.

    Git would forget them one day. Each command begins with `` && ``; empty if there are none. The
    folder ``folder``, which may be such a worktree itself, is then at ``new``.
    """
    links = sorted(folder.rglob(".git")) if folder.is_dir() and not folder.is_symlink() else ()
    tops = (each for each in links if os.path.lexists((linked_git_dir(each) or each) / "commondir"))
    places = (str(Path(new) / each.parent.relative_to(folder)) for each in tops)
    return "".join(f" && git -C {shlex.quote(place)} worktree repair" for place in places)


def _stash(
    git: GitProgram, plain: Sequence[str], why: str, folders: Collection[str], *, is_all: bool
) -> str:
    """Return the command that stashes the changes ``plain``, which are not moved away."""
    top = git.root()
    is_sparse = git.read("config", "--type=bool", "--get", "core.sparseCheckout").text == "true"
    named = None if is_all or is_sparse else plain
    unborn = _unborn_repositories(git) if named is None else ()
    ignored = _ignored_files(git, plain) if is_sparse else ()
    to_stage = [
        path
        for path in (*_to_stage(git, named, is_sparse=is_sparse), *ignored)
        if not _is_moved(top, path, folders)
    ]
    hidden = {*hidden_changes(git)} & {*plain}
    note = StashNote(
        flags={path: letter for path, letter in hidden_flags(git).items() if path in hidden},
        staged=tuple(each for each in to_stage if is_sparse and os.path.lexists(top / each)),
        written=tuple(_staged_files(git)) if is_sparse else (),
    )
    return git_commands.put_aside(
        named,
        top=str(top),
        why=note.add_to(why),
        leave_out=unborn,
        to_stage=to_stage,
        flags=note.flags,
    )


def _staged_files(git: GitProgram) -> Iterator[str]:
    """Yield the files on the disk whose changes are all staged."""
    places = (path for status, path in _changes(git, "no") if status in {"A ", "M ", "T "})
    return (path for path in places if not layout.is_ours(path))


def _ignored_files(git: GitProgram, paths: Collection[str]) -> list[str]:
    """Return the ignored files at or below these paths; a stash that names no path leaves them."""
    words = ("ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--")
    literal = (f":(top,literal){path}" for path in paths)
    return [*split(git.must_read("list ignored files", *words, *literal).out)]


def _unborn_repositories(git: GitProgram) -> list[str]:
    """Return the nested repositories with no commit checked out: git fails when it stages them."""
    places = (path for _, path in _changes(git, "all") if not layout.is_ours(path))
    nested = (path for path in places if path.endswith("/"))
    return [path for path in nested if git.at(git.root() / path).commit("HEAD") is None]


def repository_around(top: Path, path: str) -> str | None:
    """Return the repository nested in a work tree that is or contains ``path``; None if none is.

    Its path is relative to ``top``, as ``path`` is, and ends in ``/``. A submodule counts.
    """
    around = (each for each in (*parents_of(path), path) if os.path.lexists(top / each / ".git"))
    return next((f"{each.removesuffix('/')}/" for each in around), None)


def _unstashable(top: Path, path: str, folders: Collection[str]) -> str | None:
    link = next((each for each in parents_of(path) if (top / each).is_symlink()), None)
    folder = next((each for each in (*parents_of(path), path) if each in folders), None)
    within = path if _has_repository(top / path) else None
    return link or repository_around(top, path) or folder or within


def _is_moved(top: Path, path: str, folders: Collection[str]) -> bool:
    """Whether a hint moves away what is at a path, and nothing is left there to be stashed."""
    is_inside = any(each in folders for each in parents_of(path))
    is_new = path not in folders and _has_repository(top / path)
    return is_inside or is_new or repository_around(top, path) is not None


def _has_repository(folder: Path) -> bool:
    return folder.is_dir() and not folder.is_symlink() and any(folder.rglob(".git"))


def parents_of(path: str) -> list[str]:
    """Return the parents of a relative path, the topmost first."""
    return [str(each) for each in PurePosixPath(path).parents][-2::-1]


def _changes(git: GitProgram, untracked: str) -> list[tuple[str, str]]:
    """Return the status of each changed file, and its path."""
    words = ("status", "--porcelain=v1", "-z", "--no-renames", "--ignore-submodules=all")
    listed = git.must_read("list changes", *words, f"--untracked-files={untracked}").out
    return [(entry[:2], entry[3:]) for entry in split(listed)]


def _folders_for_files(git: GitProgram) -> frozenset[str]:
    """Return the paths at which a folder with files has taken the place of a tracked file."""
    places = (path for status, path in _changes(git, "no") if "D" in status)
    return frozenset(path for path in places if _has_files(git.root() / path))


def _has_files(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink() and any(path.iterdir())


def _to_stage(git: GitProgram, paths: Collection[str] | None, *, is_sparse: bool) -> list[str]:
    """Return the paths that ``git stash push`` refuses, or cannot restore, unless they are staged.

    They are intent-to-add files. In a sparse checkout, they are all whose changes are not staged.
    Staging them loses nothing: nothing else is staged of them.
    """
    return [
        path
        for status, path in _changes(git, "all" if is_sparse else "no")
        if (status == " A" or (is_sparse and status[0] in " ?"))
        and not layout.is_ours(path)
        and (paths is None or path in paths)
    ]


def _modules(git: GitProgram) -> frozenset[str]:
    """Return the paths of the submodules in the index."""
    listed = split(git.must_read("read the index", "ls-files", "-z", "--stage").out)
    entries = (each.partition("\t") for each in listed)
    return frozenset(path for about, _, path in entries if about.startswith(_MODULE))
