"""Trials: the user's checkout temporarily shows a session's state, with a detached HEAD.

A note in the git directory says where to return. It is written first, so that a trial that was
killed can still be ended.
"""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Final

from agentmux.adapters.disk import files
from agentmux.adapters.git.program import GitProgram, decode_output, to_refused_error
from agentmux.adapters.git.repository import HEADS
from agentmux.adapters.git.work_tree import work_tree
from agentmux.adapters.trees.checkout_sides import CheckoutSides, undo_and_report
from agentmux.core.codec.records import FieldError, from_fields, to_fields
from agentmux.ports.git.repository import GitError
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

    def begin(self, trial: Trial) -> None:
        note = self._note()
        with files.explain_errors(note):
            files.replace(note, json.dumps(to_fields(trial)).encode())
        # Ignored files are the user's, too: none may be overwritten.
        words = ("checkout", "--quiet", "--no-overwrite-ignore", "--detach", trial.commit)
        reply = self._git.run(*words, extra={"GIT_REFLOG_ACTION": _LOGGED})
        if reply.status != 0 and self._head() != trial.commit:
            self.delete_record()
            left = undo_and_report(CheckoutSides(self._git, trial.head, trial.commit))
            raise to_refused_error(f"git could not check the session's files out{left}", reply)

    def end(self, trial: Trial) -> None:
        if self._head() == trial.commit:
            back = (trial.branch,) if trial.branch is not None else ("--detach", trial.head)
            words = ("checkout", "--quiet", "--no-overwrite-ignore", *back, "--")
            reply = self._git.run(*words, extra={"GIT_REFLOG_ACTION": _LOGGED})
            if reply.status != 0 and self._head() == trial.commit:
                left = undo_and_report(CheckoutSides(self._git, trial.commit, self._tip(trial)))
                raise to_refused_error(f"git could not go back{left}", reply)
        self._clean_log()
        self.delete_record()

    def delete_record(self) -> None:
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
