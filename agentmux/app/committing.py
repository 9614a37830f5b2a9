"""Commit the approved result: once, on the branch of the start, without the user's own changes."""

from __future__ import annotations

from typing import Final

from agentmux.app.world import World
from agentmux.core.review import check_review, commit_message
from agentmux.core.state import SessionState
from agentmux.ports import GitError

TRAILER: Final = "Agentmux-Event"
_SUBJECT_MAX: Final = 72


def message(state: SessionState) -> str:
    """Return the commit message: a reviewer's proposal, else the feature's first line."""
    reviews = (
        check_review(fields, role, strict=False)[0] for role, fields in state.reviews.items()
    )
    proposed = commit_message([review for review in reviews if review is not None])
    if proposed:
        return proposed
    line = " ".join(state.feature.split("\n", 1)[0].split()) or "Apply the feature"
    return line if len(line) <= _SUBJECT_MAX else line[: _SUBJECT_MAX - 1] + "…"


def preview(world: World, state: SessionState) -> tuple[str, tuple[str, ...]]:
    """Return the message and the files of the commit that an approval would make now."""
    if not state.options.commit:
        return message(state), ()
    return message(state), world.repository.changed_since(state.options.dirty)


def commit(world: World, state: SessionState, approval: str) -> tuple[str | None, bool]:
    """Make the commit for ``approval``, or adopt the one that carries its id already.

    Returns:
        The commit (None where there was nothing to commit), and whether it was adopted.

    Raises:
        GitError: It was not made: a hook, a missing identity, a moved HEAD.
    """
    repository, trailer = world.repository, (TRAILER, approval)
    found = repository.find_commit(trailer, since=state.options.base)
    if found is not None:
        repository.settle_index(found)
        return found, True
    head = repository.head()
    if head.branch != state.branch or head.commit != state.options.base:
        raise GitError(
            f"HEAD moved: the session began on {_place(state)}, now it is {head.describe()}",
            hints=("go back to where it began, then approve again",),
        )
    paths = repository.changed_since(state.options.dirty)
    if not paths:
        return None, False
    return repository.commit(message(state), paths, trailer=trailer, onto=head), False


def _place(state: SessionState) -> str:
    commit = (state.options.base or "no commit")[:12]
    return f"{commit} on {state.branch}" if state.branch else f"{commit}, detached"
