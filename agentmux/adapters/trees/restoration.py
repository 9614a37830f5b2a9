"""Restores the files of a work-tree checkpoint into a worktree that is created again.

If the branch has moved since the checkpoint, git merges: the checkpoint's changes relative to its
HEAD are applied to the branch's present tip. The merge is made in a temporary object directory.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from agentmux.adapters.disk.scratch import scratch_folder
from agentmux.adapters.git import session_objects
from agentmux.adapters.git.program import (
    MERGE_TREE,
    GitProgram,
    GitReply,
    decode_output,
    split,
    to_git_error,
)
from agentmux.adapters.trees import differences
from agentmux.core.codec.frozen import dataclass
from agentmux.core.journal.state import TreeCheckpoint
from agentmux.ports.git.worktrees import CheckpointUnusableError, WorktreeSpec

_NAMED: Final = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoredTree:
    """The files to write into a worktree after ``git worktree add``.

    Attributes:
        tip: The id of the commit that ``git worktree add`` checks out.
        tree: The id of the commit or tree that contains the files.
        extra: The environment variables with which git finds ``tree``.
        scratch: A directory for temporary files.
        missing: The files that the checkpoint could not save, relative to the worktree's top.
    """

    tip: str
    tree: str
    extra: Mapping[str, str]
    scratch: Path
    missing: tuple[str, ...]


def why_not_restored(git: GitProgram, spec: WorktreeSpec) -> CheckpointUnusableError | None:
    """Return the error that prevents restoring the checkpoint of ``spec``; None if nothing does.

    None also if ``spec`` has no checkpoint. Nothing is written to the worktree or the repository.

    Raises:
        GitError: The branch does not exist, or git refuses.
    """
    try:
        with restored_tree(git, spec):
            return None
    except CheckpointUnusableError as error:
        return error


@contextmanager
def restored_tree(git: GitProgram, spec: WorktreeSpec | None) -> Iterator[RestoredTree | None]:
    """Yield the files saved in the checkpoint of ``spec``, applied to the tip of its branch.

    Yields None if ``spec`` is None or has no checkpoint. The files exist during the ``with`` block.

    Raises:
        CheckpointUnusableError: The checkpoint is incomplete, or conflicts with the branch.
        GitError: The branch does not exist, or git refuses.
    """
    saved = spec.checkpoint if spec is not None else None
    if spec is None or saved is None or saved.head is None:
        yield None
        return
    with scratch_folder("agentmux-merge-") as scratch:
        store = session_objects.objects(spec.home)
        mine = session_objects.places(git).objects
        extra = {
            **session_objects.variables_to_write(scratch, mine, store),
            **session_objects.IDENTITY,
        }
        tip = _tip(git, spec)
        yield RestoredTree(
            tip=tip,
            tree=_merge_checkpoint(git, extra, spec, saved, tip),
            extra=session_objects.variables_to_read(spec.home, scratch),
            scratch=scratch,
            missing=saved.missing,
        )


def write_restored(git: GitProgram, saved: RestoredTree | None) -> tuple[str, ...]:
    """Write the files into the worktree in which ``git`` runs; ``saved`` None writes nothing.

    Returns:
        A warning for each file that could not be written.
    """
    if saved is None:
        return ()
    changed = differences.changes(git, saved.extra, saved.tip, saved.tree)
    left = differences.write(git, saved.extra, changed, scratch=saved.scratch)
    return tuple(f"{path} could not be written from the checkpoint" for path in left)


def _tip(git: GitProgram, spec: WorktreeSpec) -> str:
    """Return the commit that ``git worktree add`` will check out for ``spec``."""
    if not spec.branch:
        return spec.commit
    words = ("rev-parse", "-q", "--verify", f"refs/heads/{spec.branch}^{{commit}}")
    return decode_output(git.must_read("find the branch", *words).out).strip()


def _merge_checkpoint(
    git: GitProgram,
    extra: Mapping[str, str],
    spec: WorktreeSpec,
    saved: TreeCheckpoint,
    tip: str,
) -> str:
    """Return the commit or tree that has the checkpoint's changes applied to ``tip``.

    Raises:
        CheckpointUnusableError: The checkpoint is incomplete, or conflicts with ``tip``.
    """
    after = git.run("merge-base", "--is-ancestor", tip, saved.commit, extra=extra)
    complete = git.run(
        "rev-list", "--objects", "--quiet", saved.commit, f"^{saved.head}", extra=extra
    )
    if after.status not in {0, 1} or complete.status != 0:
        raise _incomplete(spec, saved)
    if after.status == 0:
        return saved.commit
    if git.version() < MERGE_TREE:
        raise _conflict(spec, saved, "to merge them needs git 2.38")
    ours = _based_on_its_head(git, extra, spec, saved, tip)
    words = ("merge-tree", "--write-tree", "-z", "--name-only", "--no-messages")
    reply = git.run(*words, ours, saved.commit, extra=extra)
    if reply.status not in {0, 1}:
        raise to_git_error("apply the checkpoint to the branch", reply)
    return _clean(spec, saved, reply)


def _clean(spec: WorktreeSpec, saved: TreeCheckpoint, reply: GitReply) -> str:
    tree, *paths = split(reply.out)
    if reply.status == 0:
        return tree
    more = f" and {len(paths) - _NAMED} more" if len(paths) > _NAMED else ""
    raise _conflict(spec, saved, f"both changed {', '.join(paths[:_NAMED])}{more}")


def _based_on_its_head(
    git: GitProgram,
    extra: Mapping[str, str],
    spec: WorktreeSpec,
    saved: TreeCheckpoint,
    tip: str,
) -> str:
    """Return a commit with the files of ``tip`` whose merge base with the checkpoint is its HEAD.

    Otherwise, if the branch's history was rewritten, the merge would bring back its old commits.
    """
    head = saved.head or ""
    ancestry = git.run("merge-base", "--is-ancestor", head, tip, extra=extra)
    if ancestry.status == 0 or saved.branch != spec.branch:
        return tip
    reply = git.run("commit-tree", f"{tip}^{{tree}}", "-p", head, "-m", "x", extra=extra)
    if reply.status != 0:
        raise to_git_error("apply the checkpoint to the branch", reply)
    return reply.text


def _incomplete(spec: WorktreeSpec, saved: TreeCheckpoint) -> CheckpointUnusableError:
    return CheckpointUnusableError(
        f"work-tree checkpoint {saved.number} is not complete: git does not find all of its files",
        reason="checkpoint_incomplete",
        hints=(_without(spec),),
    )


def _conflict(spec: WorktreeSpec, saved: TreeCheckpoint, why: str) -> CheckpointUnusableError:
    head = (saved.head or "")[:12]
    if not spec.branch:
        return CheckpointUnusableError(
            f"work-tree checkpoint {saved.number} was taken on {head}, but the worktree is made on"
            f" {spec.commit[:12]}, and {why}",
            reason="checkpoint_conflict",
            hints=(_without(spec),),
        )
    branch = shlex.quote(spec.branch)
    # Not `git branch -f`, which refuses: the deleted worktree still counts as a checkout. The full
    # ref name, because a tag of the same name would take precedence.
    keep = f"git branch NAME refs/heads/{branch} && git update-ref refs/heads/{branch} {head}"
    return CheckpointUnusableError(
        f"branch {spec.branch} has moved since work-tree checkpoint {saved.number} was taken on "
        f"{head}, and {why}",
        reason="checkpoint_conflict",
        hints=(
            f"see what the branch got since then: git log -p {head}..{branch}",
            f"keep that in another branch, and go back: {keep}",
            _without(spec),
        ),
    )


def _without(spec: WorktreeSpec) -> str:
    name = shlex.quote(spec.home.name)
    return f"lose what was not committed: agentmux resume --without-checkpoint {name}"
