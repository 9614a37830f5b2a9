"""What a person is asked before an approval, with all that they are shown for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from agentmux.app.delivery.approval.approval_preview import (
    destination,
    outcome_lines,
    summary_preview,
)
from agentmux.app.delivery.approval.deliverable import Deliverable, decision_digest, deliverable
from agentmux.app.delivery.steps.commit import find_head_error, reason
from agentmux.app.delivery.steps.ways import way_of
from agentmux.core.codec.frozen import dataclass
from agentmux.core.journal.events import Approved
from agentmux.core.names.status_labels import left_behind_label, left_out_label
from agentmux.core.names.statuses import MERGE
from agentmux.core.names.words.counts import format_count
from agentmux.core.pipeline.registry import working_phase
from agentmux.errors import AgentmuxError, BlockedError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agentmux.app.world import World
    from agentmux.core.journal.state import SessionState
    from agentmux.ports.session.session_files import SessionFiles

_NAMED: Final = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalQuestion:
    """The question whether to approve a result as it is now.

    Attributes:
        does: What an approval does, after ``to``.
        approval: The approval of what is shown.
        result: The result.
        summary: The first lines of the preview to read first.
        outcome: Its other lines.
    """

    does: str
    approval: Approved
    result: Deliverable
    summary: tuple[str, ...]
    outcome: tuple[str, ...]

    @property
    def lines(self) -> tuple[str, ...]:
        """All lines of the preview."""
        return (*self.summary, *self.outcome)


def approval_question(
    world: World, files: SessionFiles, state: SessionState, way: str | None = None
) -> ApprovalQuestion:
    """Return the question for the result as it is now; it only reads, and takes as long as git.

    Args:
        world: The world of the session, `with_workplace` in its work tree.
        files: The session's directory.
        state: Its state.
        way: Where the result goes, as `way_of` returns it; None: as it says without a request.

    Raises:
        BlockedError: HEAD is not at the branch and commit where the session began, or a merge or
            the like is in progress; the reason is ``head_moved``.
        AgentmuxError: It cannot be known what an approval does.
        OSError: There is no room for what git computes.
    """
    way = way_of(world, state, "") if way is None else way
    hindrance = find_head_error(world, state, way)
    if hindrance is not None:
        raise BlockedError(hindrance.message, reason="head_moved", hints=hindrance.hints)
    result = deliverable(world, state)
    where = destination(world, files, state, result, way)
    return ApprovalQuestion(
        does=_doing(result, where),
        approval=approval_of(files, state, result, way),
        result=result,
        summary=tuple(summary_preview(files, state)),
        outcome=tuple(_outcome(world, files, state, result, where)),
    )


def question_or_obstacle(
    world: World, files: SessionFiles, state: SessionState
) -> ApprovalQuestion | str:
    """Return the question, or why the result cannot be approved now, in words."""
    try:
        return approval_question(world, files, state)
    except (AgentmuxError, OSError) as error:
        return reason(error)


def approval_of(files: SessionFiles, state: SessionState, found: Deliverable, way: str) -> Approved:
    """Return the approval of this result, and of no other.

    Args:
        files: The session's directory.
        state: Its state.
        found: Its result, as `deliverable` returned it for what the user is shown.
        way: Where it goes, as `way_of` returns it.
    """
    return Approved(
        then=way,
        of_phase=working_phase(state),
        digest=decision_digest(files, state, found),
        tree=found.tree,
        brings_back=found.brings_back if way == MERGE else (),
    )


def _outcome(
    world: World, files: SessionFiles, state: SessionState, found: Deliverable, where: str
) -> Iterator[str]:
    try:
        yield from outcome_lines(world, files, state, found, where)
    except (AgentmuxError, OSError) as error:
        yield f"more cannot be shown: {reason(error)}"


def _doing(found: Deliverable, where: str) -> str:
    """Return what an approval does, after ``to``."""
    behind = (left_behind_label(each.subjects) for each in found.left_behind)
    without = "".join(f"; {label}" for label in (*map(left_out_label, found.left_out), *behind))
    then = f"; {where}" if where else ""
    if not found.paths:
        held = found.held_by_base
        left = f"nothing is left to commit: {held}{then}" if held else "there is nothing to commit"
        return f"approve; {left}{without}"
    now = found.uncommitted
    if not now:
        return f"approve {format_count(len(found.paths), 'file')}, committed already{then}{without}"
    named = ", ".join(now[:_NAMED]) + (", …" if len(now) > _NAMED else "")
    return f"commit {format_count(len(now), 'file')}: {named}{then}{without}"
