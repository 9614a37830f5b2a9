"""The edits that only a work-tree checkpoint from before a rewind has.

They are what was done after the last work that was handed in. A rewind names the command that gets
them back, but after an approval there is nothing to rewind, and they go with the session.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from agentmux.app.session.workplace.branch_mismatch import keep_as
from agentmux.app.session.workplace.own_worktree import with_workplace, worktree_of
from agentmux.core.decisions.tree_checkpoints import checkpoint_words, rewound_since
from agentmux.core.names.words.counts import abbreviate_names, format_count
from agentmux.ports.git.worktrees import RewoundEdits

if TYPE_CHECKING:
    from agentmux.app.world import World
    from agentmux.core.journal.state import SessionState


def list_rewound_edits(world: World, state: SessionState, home: Path) -> tuple[RewoundEdits, ...]:
    """Return, for each checkpoint from before a rewind, the files whose content only it has.

    That content is neither in the work tree, nor in the commit with the result, nor in the
    session's branch or the base branch, nor in the commit that was checked out at the checkpoint,
    nor in an earlier checkpoint from before a rewind. Left out are checkpoints without such files,
    and those that a branch ``kept-…`` has by now (`ways_to_keep_edits`).

    Raises:
        GitError: Git cannot read the work tree.
    """
    spec = worktree_of(world, state, home)
    pairs = rewound_since(state.tree_checkpoints)
    if spec is None or not pairs:
        return ()
    is_made = world.git.worktrees.is_made(spec)
    inside = with_workplace(world, state) if is_made else world
    store = inside.git.checkpoints(inside.tree, home.resolve(), state.session_id)
    names = (state.branch, state.base.branch if state.base is not None else None)
    known = [f"refs/heads/{each}" for each in names if each]
    known += [state.commit.commit] if state.commit is not None and state.commit.commit else []
    edits = []
    for since, saved in pairs:
        others = [saved.head, *known] if saved.head is not None else known
        paths = store.list_unique(saved.commit, (since or saved.head or "", *others))
        if paths and is_made:
            paths = tuple(sorted(set(paths).intersection(store.changed_since(saved.commit))))
        if paths and keep_as(world, saved.commit):
            edits.append(RewoundEdits(saved=saved, paths=paths))
        known.append(saved.commit)
    return tuple(edits)


def edits_words(each: RewoundEdits) -> str:
    """Return the files that only a checkpoint from before a rewind has, in words."""
    files = format_count(len(each.paths), "file")
    names = abbreviate_names(each.paths)
    return f"{files} that only work-tree checkpoint {checkpoint_words(each.saved)}, has ({names})"


def ways_to_keep_edits(
    world: World, state: SessionState, home: Path, edits: Iterable[RewoundEdits]
) -> Iterator[str]:
    """Yield hints how to make a branch of each checkpoint in ``edits``; its objects come along."""
    store = world.git.checkpoints(world.tree, home.resolve(), state.session_id)
    objects, project = shlex.quote(store.objects()), shlex.quote(str(world.project))
    for each in edits:
        commit = each.saved.commit
        branch = f"refs/heads/{keep_as(world, commit)}"
        yield (
            f"keep it on a branch: env GIT_ALTERNATE_OBJECT_DIRECTORIES={objects} git -C {project}"
            f" push --no-verify . {commit}:{branch}"
        )
