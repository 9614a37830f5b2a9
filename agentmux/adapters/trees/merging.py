"""Merges a session's commits into its base branch, whether or not that is checked out.

The merge is computed without a work tree (``git merge-tree``), so a conflict changes nothing. A
work tree in which the base branch is checked out is then fast-forwarded.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from contextlib import AbstractContextManager, nullcontext, suppress
from pathlib import Path
from typing import Final

from agentmux.adapters.disk import files
from agentmux.adapters.git.inherited_lock import inherited_lock
from agentmux.adapters.git.lost_work.submodules import correct_listed_top
from agentmux.adapters.git.program import (
    MERGE_TREE,
    GitProgram,
    decode_output,
    encode_text,
    to_git_error,
    to_refused_error,
)
from agentmux.adapters.git.put_aside import aside_hints
from agentmux.adapters.git.put_back import stash_hints
from agentmux.adapters.git.repository import HEADS, in_progress, require_identity, with_trailer
from agentmux.adapters.git.work_tree import work_tree
from agentmux.adapters.trees.checkout_sides import CheckoutSides, undo_and_report
from agentmux.adapters.trees.checkpoints import GitCheckpoints
from agentmux.core.names.words.git_commands import FOR_MERGE
from agentmux.ports.git.merging import (
    BaseMovedError,
    CheckoutBusyError,
    CheckoutDirtyError,
    MergeConflictError,
    MergePlan,
)
from agentmux.ports.git.repository import GitError, Head, IndexBusyError, InProgress, finish_it

_LOCK: Final = "agentmux-merge.lock"
_ATTEMPT: Final = "agentmux-merging"
"""The name of a file in the git directory of a checkout that is being fast-forwarded.

It has the id of the commit from which that began, and stays if git was interrupted.
"""
_REBASED: Final = ("rebase-merge/head-name", "rebase-apply/head-name")


class Merges:
    """Computes merges into branches of one project's repository, and moves the branches.

    Implements `agentmux.ports.git.merging.Merging`.
    """

    def __init__(self, git: GitProgram) -> None:
        """Use ``git``, which runs in the project; this starts nothing."""
        self._git = git

    # --- computing ---------------------------------------------------------------------------

    def plan(self, base: str, result: str, *, branch: str, trailer: tuple[str, str]) -> MergePlan:
        old = self._old(base)
        if self._contains(old, result):
            return MergePlan(base=base, old=old, new=old)
        if self._contains(result, old):
            return MergePlan(base=base, old=old, new=result)
        tree = self._merged_tree(base, old, result)
        message = f"Merge branch '{branch}' into {base}"
        return MergePlan(
            base=base, old=old, new=self._commit(tree, (old, result), message, trailer)
        )

    def _merged_tree(self, base: str, old: str, result: str) -> str:
        if self._git.version() < MERGE_TREE:
            needs = ".".join(map(str, MERGE_TREE))
            raise GitError(
                f"branch `{base}` has commits of its own, and to merge needs git {needs} or newer",
                hints=(
                    "have it merged elsewhere: agentmux approve --pr",
                    "or keep it, and merge it yourself: agentmux approve --keep",
                ),
            )
        reply = self._git.run("merge-tree", "--write-tree", "--name-only", "-z", old, result)
        tree, *rest = decode_output(reply.out).split("\0")
        if reply.status == 0:
            return tree.strip()
        if reply.status != 1:
            raise to_refused_error(f"git could not merge into `{base}`", reply)
        raise _conflict(base, rest)

    def _commit(
        self, tree: str, parents: tuple[str, str], message: str, trailer: tuple[str, str]
    ) -> str:
        require_identity(self._git)
        signed = self._git.read("config", "--type=bool", "--get", "commit.gpgSign")
        sign = ("-S",) if signed.text == "true" else ()
        named = (word for parent in parents for word in ("-p", parent))
        text = with_trailer(self._git, message, trailer)
        reply = self._git.run("commit-tree", *sign, tree, *named, "-F", "-", stdin=text)
        if reply.status != 0:
            raise to_refused_error("git could not make the merge commit", reply)
        return reply.text

    def is_merged(self, plan: MergePlan) -> bool:
        tip = self._tip(plan.base)
        return tip is not None and self._contains(tip, plan.new)

    def _tip(self, base: str) -> str | None:
        return self._git.commit(f"{HEADS}{base}")

    def _contains(self, commit: str, other: str) -> bool:
        reply = self._git.read("merge-base", "--is-ancestor", other, commit)
        if reply.status not in {0, 1}:
            raise to_git_error("compare commits", reply)
        return reply.status == 0

    def check_mergeable(
        self, base: str, tree: Path, home: Path, session: str, *, leave_out: Collection[str] = ()
    ) -> None:
        checkpoints = GitCheckpoints(self._git.at(tree), home, session)
        with checkpoints.temporary_checkpoint(leave_out) as (saved, extra):
            look = Merges(self._git.with_variables(extra))
            look._foresee(base, saved.commit, extra)

    def _foresee(self, base: str, result: str, extra: Mapping[str, str]) -> None:
        old, new = self._old(base), result
        if self._contains(old, result):
            return
        if not self._contains(result, old):
            new = self._merged_tree(base, old, result)
            require_identity(self._git)
        top = self.checkout_of(base)
        if top is None:
            return
        there = self._git.at(top).with_variables(extra)
        _require_idle(there, top, base)
        in_way = _compare(there, old, new).in_way()
        if in_way:
            raise _dirty(base, there, in_way)

    def _old(self, base: str) -> str:
        tip = self._tip(base)
        if tip is None:
            raise GitError(f"branch `{base}`, on which the session began, does not exist any more")
        return tip

    # --- where the base is -------------------------------------------------------------------

    def checkout_of(self, base: str) -> Path | None:
        reply = self._git.must_read("list the worktrees", "worktree", "list", "--porcelain")
        for entry in reply.text.split("\n\n"):
            lines = entry.split("\n")
            top = correct_listed_top(self._git, Path(lines[0].removeprefix("worktree ")))
            if f"branch {HEADS}{base}" in lines:
                if top.is_dir():
                    return top
                if not any(line.startswith("prunable") for line in lines):
                    raise GitError(f"branch `{base}` is checked out in {top}, which is not there")
            elif "detached" in lines:
                _require_no_rebase(top, base)
        return None

    def stash_hints(self, base: str) -> tuple[str, ...]:
        with suppress(GitError):
            top = self.checkout_of(base) or self._git.root()
            return tuple(stash_hints(self._git.at(top), top, FOR_MERGE, branch=base))
        return ()

    # --- moving it ---------------------------------------------------------------------------

    def move(self, plan: MergePlan) -> None:
        with self._alone() as held:
            if self._is_there(plan):
                return
            if self.checkout_of(plan.base) is not None:
                raise BaseMovedError(f"branch `{plan.base}` has just been checked out")
            words = ("update-ref", "-m", f"agentmux: merge {plan.new[:12]}", f"{HEADS}{plan.base}")
            reply = self._git.run(*words, plan.new, plan.old, keep_open=(held,))
            if reply.status != 0 and not self._is_there(plan):
                raise to_refused_error(f"git could not move branch `{plan.base}`", reply)

    def _is_there(self, plan: MergePlan) -> bool:
        """Return whether the base branch contains the plan's new commit.

        False if it is still at the old.

        Raises:
            BaseMovedError: The branch is at another commit that does not contain the new one.
        """
        tip = self._tip(plan.base)
        if tip == plan.old and plan.old != plan.new:
            return False
        if tip is not None and self._contains(tip, plan.new):
            return True
        raise BaseMovedError(f"branch `{plan.base}` has moved")

    def fast_forward(
        self, plan: MergePlan, top: Path, *, keep: AbstractContextManager[None] | None = None
    ) -> None:
        there = self._git.at(top)
        with self._alone() as held, keep or nullcontext():
            if self._is_there(plan):
                return
            _require_idle(there, top, plan.base)
            sides = _compare(there, plan.old, plan.new)
            in_way = sides.in_way()
            if in_way:
                raise _dirty(plan.base, there, in_way)
            attempt = _attempt_in(there)
            with files.explain_errors(attempt):
                files.replace(attempt, plan.old.encode())
            sides.update_index()
            words = ("merge", "--ff-only", "--no-overwrite-ignore", "--quiet", plan.new)
            reply = there.run(*words, keep_open=(held,))
            if reply.status != 0 and not self._is_there(plan):
                # A hook may refuse to move the branch after git has written the files.
                after = CheckoutSides(there, plan.old, plan.new, has_failed=True)
                left = undo_and_report(after)
                if not left:
                    files.remove(attempt)
                raise to_refused_error(
                    f"git could not merge into `{plan.base}` in {top}{left}", reply
                )
            if not self._is_there(plan):
                raise GitError(f"another branch than `{plan.base}` was checked out in {top}")
            files.remove(attempt)

    def _alone(self) -> AbstractContextManager[int]:
        """Keep other orchestrators from merging during the ``with`` block; see `inherited_lock`."""
        path = self._git.common_dir() / _LOCK
        return inherited_lock(path, "another merge of agentmux is under way in this repository")


def _conflict(base: str, rest: list[str]) -> MergeConflictError:
    """Return the error that the output of ``merge-tree -z`` describes.

    ``rest`` is what follows the tree.
    """
    end = rest.index("") if "" in rest else len(rest)
    paths = tuple(dict.fromkeys(rest[:end]))
    texts = []
    left = rest[end + 1 :]
    while left and left[0].isdigit():
        # The number of paths, the paths, the kind of conflict, the message.
        count = int(left[0])
        if left[count + 1].startswith("CONFLICT"):
            texts.append(left[count + 2].strip())
        left = left[count + 3 :]
    return MergeConflictError(
        f"conflicts with branch `{base}` in {', '.join(paths)}", paths=paths, said="\n".join(texts)
    )


def _dirty(base: str, there: GitProgram, paths: tuple[str, ...]) -> CheckoutDirtyError:
    return CheckoutDirtyError(
        f"branch `{base}` is checked out in {there.root()}, which has uncommitted changes in"
        f" {', '.join(paths)}",
        paths=paths,
        hints=tuple(aside_hints(there, paths, FOR_MERGE)),
    )


def _attempt_in(there: GitProgram) -> Path:
    reply = there.must_read("find its files", "rev-parse", "--git-path", _ATTEMPT)
    return there.root() / decode_output(reply.out).removesuffix("\n")


def _compare(there: GitProgram, old: str, new: str) -> CheckoutSides:
    """Compare the files of a checkout; recognise those of an attempt that was interrupted."""
    attempt = files.read_limited(_attempt_in(there), len(old))
    return CheckoutSides(there, old, new, was_interrupted=attempt == old.encode())


def _finish(top: Path, doing: InProgress) -> tuple[str, str]:
    return finish_it(Head(commit=None, branch=None, in_progress=doing), str(top))


def _require_idle(there: GitProgram, top: Path, base: str) -> None:
    """Check that the branch is checked out at ``top``, and that no other git is at work there."""
    tree = work_tree(top)
    if tree is None:
        raise BaseMovedError(f"{top} is gone")
    lock = tree.git_dir / "index.lock"
    if os.path.lexists(lock):
        raise IndexBusyError(lock)
    reply = there.read("symbolic-ref", "-q", "HEAD")
    if reply.out.rstrip(b"\n") != encode_text(f"{HEADS}{base}"):
        raise BaseMovedError(f"branch `{base}` is not checked out in {top} any more")
    doing = in_progress(tree.git_dir)
    if doing is not None:
        raise CheckoutBusyError(
            f"a {doing} is in progress in {top}, where branch `{base}` is checked out",
            hints=_finish(top, doing),
        )


def _require_no_rebase(top: Path, base: str) -> None:
    """Check that the branch is not being rebased at ``top``, which would move it to another commit.

    Raises:
        CheckoutBusyError: It is being rebased.
    """
    tree = work_tree(top)
    for name in _REBASED if tree is not None else ():
        path = tree.git_dir / name if tree is not None else Path()
        if path.is_file() and path.read_bytes().strip() == encode_text(f"{HEADS}{base}"):
            raise CheckoutBusyError(
                f"branch `{base}` is being rebased in {top}",
                hints=_finish(top, "rebase"),
            )
