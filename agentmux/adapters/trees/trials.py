"""Trials: the user's checkout temporarily shows a session's state, with a detached HEAD.

A note in the git directory says where to return. It is written first, so that a trial that was
killed can still be ended.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Final

from agentmux.adapters.disk import files
from agentmux.adapters.git.lost_work.hidden_changes import hidden_flags
from agentmux.adapters.git.program import GitProgram, decode_output, to_refused_error
from agentmux.adapters.git.put_aside import aside_hints
from agentmux.adapters.git.repository import HEADS
from agentmux.adapters.git.work_tree import work_tree
from agentmux.adapters.trees.checkout_sides import CheckoutSides, undo_and_report
from agentmux.core.codec.records import FieldError, from_fields, to_fields
from agentmux.core.names.layout import is_ours
from agentmux.core.names.words import git_commands
from agentmux.core.names.words.counts import abbreviate_names
from agentmux.core.names.words.git_commands import FOR_TRIAL, IN_TRIAL
from agentmux.ports.git.merging import CheckoutDirtyError
from agentmux.ports.git.repository import GitError, GitRefusedError
from agentmux.ports.git.trials import Trial

NOTE: Final = "agentmux-try"
_LOGGED: Final = "agentmux: try"
"""The text of our entries in the reflog of HEAD.

Git does not take them for checkouts, so ``git switch -`` keeps its meaning.
"""


class GitTrials:
    """Begins and ends the trial in the checkout in which ``git`` runs.

    A trial temporarily checks out a session's current files there, so that the user can try them.

    Implements `agentmux.ports.git.trials.Trials`.
    """

    def __init__(self, git: GitProgram, folder: Path) -> None:
        """Use ``git``, which runs in ``folder``; this starts nothing."""
        self._git = git
        self._folder = folder

    def current(self) -> Trial | None:
        try:
            return from_fields(Trial, json.loads(self._note().read_bytes()), where=NOTE)
        except (OSError, ValueError, FieldError, GitError):
            return None

    def list_returned(self, trial: Trial) -> tuple[str, ...]:
        return self._way_back(trial).list_written() if trial.is_returning else ()

    def _way_back(self, trial: Trial) -> CheckoutSides:
        """Compare the checkout with the way back from the trial, perhaps an interrupted one."""
        git, tip = self._git, self._tip(trial)
        return CheckoutSides(git, trial.commit, tip, was_interrupted=trial.is_returning)

    def begin(self, trial: Trial) -> None:
        sides = CheckoutSides(self._git, trial.head, trial.commit)
        # Going back would delete files of the user that are like the session's.
        self._require_free((*sides.in_way(), *sides.list_written()), FOR_TRIAL)
        trial = replace(trial, flags=self._flags(sides))
        self._record(trial)
        self._mark("--no-", trial.flags)
        # Ignored files are the user's, too: none may be overwritten.
        words = ("checkout", "--quiet", "--no-overwrite-ignore", "--detach", trial.commit)
        reply = self._git.run(*words, extra={"GIT_REFLOG_ACTION": _LOGGED})
        if reply.status != 0 and self._head() != trial.commit:
            after = CheckoutSides(self._git, trial.head, trial.commit, has_failed=True)
            left = undo_and_report(after)
            if not left:
                self.delete_record()
            raise to_refused_error(
                f"git could not check the session's files out{left}",
                reply,
                hints=("take them back: agentmux try --off",) if left else (),
            )
        self._record(replace(trial, is_shown=True))

    def _require_free(self, in_way: Iterable[str], why: str) -> None:
        paths = tuple(sorted({*in_way}))
        if paths:
            raise CheckoutDirtyError(
                f"your checkout has something else in the way: {abbreviate_names(paths)}",
                paths=paths,
                hints=tuple(aside_hints(self._git, paths, why)),
            )

    def _flags(self, sides: CheckoutSides) -> Mapping[str, str]:
        """Return the flags of the files that a checkout of the new side writes or deletes.

        Files that are not on the disk keep theirs: a sparse checkout lacks them on purpose.
        """
        flags, root = hidden_flags(self._git), self._git.root()
        return {
            path: letter
            for path, letter in flags.items()
            if path in sides.paths and os.path.lexists(root / path)
        }

    def _record(self, trial: Trial) -> None:
        note = self._note()
        with files.explain_errors(note):
            files.replace(note, json.dumps(to_fields(trial)).encode())

    def end(self, trial: Trial) -> None:
        head = self._head()
        if head == trial.commit:
            self._go_back(trial)
        elif head == trial.head and not trial.is_shown:
            # The checkout was killed before HEAD moved.
            sides = CheckoutSides(self._git, trial.head, trial.commit, was_interrupted=True)
            changed = sides.undo()
            if changed:
                raise CheckoutDirtyError(
                    "the checkout of the session's files was interrupted, and cannot be taken back:"
                    f" you have changed some of these: {abbreviate_names(changed)}",
                    paths=changed,
                    hints=tuple(aside_hints(self._git, changed, FOR_TRIAL)),
                )
        self._clean_log()
        self.delete_record()

    def _go_back(self, trial: Trial) -> None:
        sides = self._way_back(trial)
        # If git is stopped after this, all files that it has begun to write are its own.
        in_way = (each for each in sides.in_way() if each in sides.paths or not is_ours(each))
        self._require_free(in_way, IN_TRIAL)
        if trial.is_returning:  # and was killed: the files that are there already count
            with suppress(GitRefusedError):  # git then says what is wrong
                sides.update_index()
        self._record(replace(trial, is_returning=True))
        back = (trial.branch,) if trial.branch is not None else ("--detach", trial.head)
        words = ("checkout", "--quiet", "--no-overwrite-ignore", *back, "--")
        reply = self._git.run(*words, extra={"GIT_REFLOG_ACTION": _LOGGED})
        if reply.status != 0 and self._head() == trial.commit:
            after = CheckoutSides(self._git, trial.commit, self._tip(trial), has_failed=True)
            left = undo_and_report(after)
            if not left:
                self._record(replace(trial, is_returning=False))
            raise to_refused_error(f"git could not go back{left}", reply)

    def _mark(self, option: str, flags: Mapping[str, str]) -> None:
        """Set the flags of the files, or take them away with the option ``--no-``."""
        for flag, paths in git_commands.by_flag(flags):
            for path in paths:  # git would stop at the first one that the index has not
                self._git.run("update-index", f"{option}{flag}", "--", path)

    def delete_record(self) -> None:
        trial = self.current()
        if trial is not None:
            self._mark("--", trial.flags)
        with suppress(FileNotFoundError):
            self._note().unlink()

    def _clean_log(self) -> None:
        reply = self._git.read(
            "log", "--walk-reflogs", "--no-show-signature", "--format=%gs", "HEAD", "--"
        )
        subjects = decode_output(reply.out).splitlines()
        for number in reversed([at for at, text in enumerate(subjects) if text == _LOGGED]):
            self._git.run("reflog", "delete", "--rewrite", f"HEAD@{{{number}}}")

    def _head(self) -> str:
        return decode_output(self._git.must_read("find HEAD", "rev-parse", "HEAD").out).strip()

    def _tip(self, trial: Trial) -> str:
        """Return the commit to which the end of the trial returns."""
        place = trial.head if trial.branch is None else f"{HEADS}{trial.branch}"
        return decode_output(self._git.must_read("find the branch", "rev-parse", place).out).strip()

    def _note(self) -> Path:
        tree = work_tree(self._folder)
        if tree is None:
            raise GitError(f"{self._folder} is not in a git repository")
        return tree.git_dir / NOTE
