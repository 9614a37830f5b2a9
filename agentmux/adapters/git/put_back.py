"""Hints for restoring what was put aside with ``git stash``."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping
from contextlib import suppress
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple

from agentmux.adapters.git.program import GitProgram, decode_output
from agentmux.core.codec.frozen import dataclass, field
from agentmux.core.codec.records import FieldError, from_fields, to_fields
from agentmux.core.names.words import git_commands


@dataclass(frozen=True, slots=True)
class StashNote:
    """What was done to files so that git could stash them; it is undone when they are restored.

    It stands in the message of the stash, and so it is there as long as the stash.

    Attributes:
        flags: The files whose changes git was told not to show, with their letters in
            ``git ls-files -v``. The flags were taken away.
        staged: The files of a sparse checkout that were staged.
        written: Those that the user had staged, and that were on the disk as they were staged.
    """

    flags: Mapping[str, str] = field(default_factory=dict)
    staged: tuple[str, ...] = ()
    written: tuple[str, ...] = ()

    def add_to(self, message: str) -> str:
        """Return the message of the stash with this note; as it is if the note is empty."""
        facts = {name: value for name, value in to_fields(self).items() if value}
        return f"{message} {json.dumps(facts)}" if facts else message


class _Stash(NamedTuple):
    name: str
    commit: str
    below: str
    made_on: str
    note: StashNote


def _stashes(git: GitProgram, *asides: str) -> Iterator[_Stash]:
    """Yield the stashes with one of these messages, with or without a note, the newest first."""
    listed = git.must_read("list stashes", "stash", "list", "--format=%gd %H %P%x09%gs").out
    for line in decode_output(listed).splitlines():
        ids, _, message = line.partition("\t")
        name, commit, below, *_ = ids.split(" ")
        parts = (message.removeprefix("On ").partition(f": {aside}") for aside in asides)
        made_on, _, text = next((each for each in parts if each[1]), ("", "", "null"))
        with suppress(ValueError, FieldError):
            facts = json.loads(text or "{}")
            if isinstance(facts, dict):
                note = from_fields(StashNote, facts, where=name)
                yield _Stash(name, commit, below, made_on, note)


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
    here = git.read("symbolic-ref", "--quiet", "--short", "HEAD").text
    stashes = [
        (each.made_on != here, each)
        for each in _stashes(git, *asides)
        if on in {"", each.below} and _is_made_on(git, branch, each.made_on, each.commit)
    ]
    place = shlex.quote(str(top))
    for number, (is_other, stash) in enumerate(sorted(stashes, key=itemgetter(0))):
        # Of another branch, and so perhaps of another worktree: it must stay for that.
        is_elsewhere = is_other and git.commit(f"refs/heads/{stash.made_on}") is not None
        is_kept = number > 0 or is_elsewhere
        name, note = stash.commit[:12] if is_kept else stash.name, stash.note
        then = git_commands.after_put_back(
            top=str(top), to_unstage=note.staged, to_write=note.written, flags=note.flags
        )
        if is_kept:
            back = f"git -C {place} stash apply --index {name}"
            yield f"another one, maybe of an earlier time, on {stash.made_on}: {back}{then}"
        else:
            back = f"git -C {place} stash pop --index {name}"
            yield f"put back what was put aside on {stash.made_on}: {back}{then}"
        yield f"where git refuses, see it: {_look(top, name)}"


def _look(top: Path, stash: str) -> str:
    return f"git -C {shlex.quote(str(top))} stash show -p --include-untracked {stash}"


def transfer_hints(git: GitProgram, made_on: str, to: Path | None) -> Iterator[str]:
    """Yield hints how to make what was changed in a trial in the session's worktree.

    There is one for each stash of that trial, the newest first, and one how to see each stash of
    any trial. Changes nothing.

    Args:
        git: Runs git in the checkout in which the trial was.
        made_on: The commit of the trial; changes of other commits may not fit the worktree.
        to: The top of the worktree; None if there is none.
    """
    top = git.root()
    for stash in _stashes(git, git_commands.IN_TRIAL):
        commit = stash.commit[:12]
        if to is not None and stash.below == made_on:
            has_new = git.commit(f"{commit}^3") is not None
            there = git_commands.apply_stash(
                commit, top=str(top), to=str(to), has_new_files=has_new
            )
            yield f"bring what you changed into the session's worktree (the stash stays): {there}"
        yield f"see what you changed in a trial: {_look(top, commit)}"


def _is_made_on(git: GitProgram, branch: str, made_on: str, stash: str) -> bool:
    """Return whether a stash was made on ``branch``; True if that is empty.

    Git may name the branch of a submodule instead: then the commit below the stash tells.
    """
    if branch in {"", made_on}:
        return True
    if git.commit(f"refs/heads/{made_on}") is not None:
        return False
    return git.read("merge-base", "--is-ancestor", f"{stash}^1", f"refs/heads/{branch}").status == 0
