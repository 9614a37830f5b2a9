"""Hints for putting changes aside with ``git stash``, and for restoring what was put aside."""

from __future__ import annotations

import os
import shlex
from collections.abc import Collection, Iterator
from operator import itemgetter
from pathlib import Path, PurePosixPath
from typing import Final

from agentmux.adapters.disk.files import move_away_hint
from agentmux.adapters.git.lost_work.hidden_changes import hidden_changes
from agentmux.adapters.git.program import GitProgram, decode_output, split
from agentmux.core.names import layout
from agentmux.core.names.words import git_commands

_MODULE: Final = "160000"


def aside_hints(
    git: GitProgram, paths: Collection[str], why: str, *, is_all: bool = False
) -> Iterator[str]:
    """Yield hints with the commands that put changes in the work tree aside; changes nothing.

    Git stashes neither a repository nested in the work tree, nor a link in place of a folder, nor
    which commit a submodule has checked out: for each of these, a hint comes before the stash.

    Args:
        git: Runs git in the work tree.
        paths: The paths of the changes, relative to its top, as `CheckoutSides.in_way` returns
            them.
        why: The message of the stash.
        is_all: Whether these are all changes outside ``.agentmux``, so that none need be named.
    """
    top = git.root()
    place = shlex.quote(str(top))
    apart = dict.fromkeys(each for each in (_unstashable(top, path) for path in paths) if each)
    modules = _modules(git) if apart else frozenset()
    for each in apart:
        if each.removesuffix("/") in modules:
            module, message = shlex.quote(each.removesuffix("/")), shlex.quote(f"Update {each}")
            commit = f"git -C {place} commit --message {message} -- {module}"
            yield f"commit the submodule {each}: {commit}"
        else:
            yield move_away_hint(top / each)
    plain = [path for path in paths if repository_around(top, path) is None]
    if plain:
        is_sparse = git.read("config", "--type=bool", "--get", "core.sparseCheckout").text == "true"
        aside = git_commands.put_aside(
            None if is_all or is_sparse else plain,
            top=str(top),
            why=why,
            to_stage=_to_stage(git, None if is_all or is_sparse else plain, is_sparse=is_sparse),
            hidden=sorted({*hidden_changes(git)} & {*plain}),
        )
        yield f"put them aside: {aside}"


def repository_around(top: Path, path: str) -> str | None:
    """Return the repository nested in a work tree that is or contains ``path``; None if none is.

    Its path is relative to ``top``, as ``path`` is, and ends in ``/``. A submodule counts.
    """
    around = (each for each in (*parents_of(path), path) if os.path.lexists(top / each / ".git"))
    return next((f"{each.removesuffix('/')}/" for each in around), None)


def _unstashable(top: Path, path: str) -> str | None:
    link = next((each for each in parents_of(path) if (top / each).is_symlink()), None)
    return link or repository_around(top, path)


def parents_of(path: str) -> list[str]:
    """Return the parents of a relative path, the topmost first."""
    return [str(each) for each in PurePosixPath(path).parents][-2::-1]


def _to_stage(git: GitProgram, paths: Collection[str] | None, *, is_sparse: bool) -> list[str]:
    """Return the paths that ``git stash push`` refuses, or cannot restore, unless they are staged.

    They are intent-to-add files, and folders in place of files. In a sparse checkout, they are all
    whose changes are not staged. Staging them loses nothing: nothing else is staged of them.
    """
    words = ("status", "--porcelain=v1", "-z", "--no-renames", "--ignore-submodules=all")
    which = "--untracked-files=all" if is_sparse else "--untracked-files=no"
    to_stage = []
    for entry in split(git.must_read("list changes", *words, which).out):
        status, path = entry[:2], entry[3:]
        if layout.is_ours(path) or not (paths is None or path in paths):
            continue
        place = git.root() / path
        is_other_kind = status[1] == "D" and place.is_dir()
        if status == " A" or is_other_kind or (is_sparse and status[0] in " ?"):
            to_stage.append(path)
    return to_stage


def _modules(git: GitProgram) -> frozenset[str]:
    """Return the paths of the submodules in the index."""
    listed = split(git.must_read("read the index", "ls-files", "-z", "--stage").out)
    entries = (each.partition("\t") for each in listed)
    return frozenset(path for about, _, path in entries if about.startswith(_MODULE))


def stash_hints(
    git: GitProgram, top: Path, *asides: str, branch: str = "", on: str = ""
) -> Iterator[str]:
    """Yield hints how to restore the stashes that the user made by following one of our hints.

    Each hint is a sentence with a git command. There are two per stash: how to restore it, then how
    to see it. The newest stash that was made on the checked-out branch comes first. The others may
    be left from another time; they are named by their commits, because their numbers change.
    Nothing is restored here.

    Args:
        git: Runs git in the repository.
        top: The top of the work tree in which the stash is to be restored.
        asides: The stash messages in our hints; stashes with other messages are left out.
        branch: Only stashes made on this branch; empty for stashes made anywhere.
        on: Only stashes made on this commit; empty for stashes made anywhere.
    """
    listed = git.must_read("list stashes", "stash", "list", "--format=%gd %H %P%x09%gs").out
    here = git.read("symbolic-ref", "--quiet", "--short", "HEAD").text
    stashes = []
    for line in decode_output(listed).splitlines():
        ids, _, message = line.partition("\t")
        stash, commit, below, *_ = ids.split(" ")
        made_on, _, aside = message.removeprefix("On ").rpartition(": ")
        is_ours = message.startswith("On ") and aside in asides and on in {"", below}
        if is_ours and _is_made_on(git, branch, made_on, commit):
            stashes.append((made_on != here, stash, commit, made_on))
    place = shlex.quote(str(top))
    for number, (_, stash, commit, made_on) in enumerate(sorted(stashes, key=itemgetter(0))):
        name = commit[:12] if number else stash
        if number:
            back = f"git -C {place} stash apply --index {name}"
            yield f"another one, maybe of an earlier time, on {made_on}: {back}"
        else:
            back = f"git -C {place} stash pop --index {name}"
            yield f"put back what was put aside on {made_on}: {back}"
        look = f"git -C {place} stash show -p --include-untracked {name}"
        yield f"where git refuses, see it: {look}"


def _is_made_on(git: GitProgram, branch: str, made_on: str, stash: str) -> bool:
    """Return whether a stash was made on ``branch``; True if that is empty.

    Git may name the branch of a submodule instead: then the commit below the stash tells.
    """
    if branch in {"", made_on}:
        return True
    if git.commit(f"refs/heads/{made_on}") is not None:
        return False
    return git.read("merge-base", "--is-ancestor", f"{stash}^1", f"refs/heads/{branch}").status == 0
