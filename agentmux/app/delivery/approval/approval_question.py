"""The question that a person is asked before an approval, with the preview of the result."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from agentmux.app.delivery.approval.approval_preview import (
    destination,
    outcome_lines,
    summary_preview,
)
from agentmux.app.delivery.approval.deliverable import Deliverable, decision_digest, deliverable
from agentmux.app.delivery.steps.commit import describe_failure, find_head_error
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
    """The question whether to approve the result as it is now.

    Attributes:
        effect: What approving does, worded to follow "to" (such as "commit 2 files on main: …").
        approval: The approval of the result that is shown.
        result: The result.
        summary: The first lines of the preview, with the summary.
        outcome: The other lines of the preview.
    """

    effect: str
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
    """Return the question for the current result; only reads, and takes as long as git does.

    Args:
        world: The world of the session's workplace (`with_workplace`).
        files: The session's directory.
        state: The state of the session.
        way: Where the result goes, as returned by `way_of`; None takes the configured way.

    Raises:
        BlockedError: HEAD is not at the branch and commit where the session began, or a git
            operation such as a merge is in progress; the error's reason is ``head_moved``.
        AgentmuxError: It cannot be determined what an approval would do.
        OSError: There is no disk space for what git computes.
    """
    way = way_of(world, state, "") if way is None else way
    hindrance = find_head_error(world, state, way)
    if hindrance is not None:
        raise BlockedError(hindrance.message, reason="head_moved", hints=hindrance.hints)
    result = deliverable(world, state)
    where = destination(world, files, state, result, way)
    return ApprovalQuestion(
        effect=_doing(state, result, where),
        approval=approval_of(files, state, result, way),
        result=result,
        summary=tuple(summary_preview(files, state)),
        outcome=tuple(_outcome(world, files, state, result, where)),
    )


def question_or_obstacle(
    world: World, files: SessionFiles, state: SessionState
) -> ApprovalQuestion | str:
    """Return the `approval_question`; or, as text, why the result cannot be approved now."""
    try:
        return approval_question(world, files, state)
    except (AgentmuxError, OSError) as error:
        return describe_failure(error)


def approval_of(files: SessionFiles, state: SessionState, found: Deliverable, way: str) -> Approved:
    """Return the approval of exactly this result, for the journal; nothing is recorded yet.

    Args:
        files: The session's directory.
        state: The state of the session.
        found: The result that the user is shown (`deliverable`).
        way: Where the result goes, as returned by `way_of`.
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
        yield f"more cannot be shown: {describe_failure(error)}"


def _doing(state: SessionState, found: Deliverable, where: str) -> str:
    """Return what approving does, worded to follow "to"."""
    behind = (left_behind_label(each.subjects) for each in found.left_behind)
    without = "".join(f"; {label}" for label in (*map(left_out_label, found.left_out), *behind))
    then = "".join(f"; {line}" for line in where.splitlines())
    if not found.paths:
        held = found.held_by_base
        left = f"nothing is left to commit: {held}{then}" if held else "there is nothing to commit"
        return f"approve; {left}{without}"
    now = found.uncommitted
    if not now:
        return f"approve {format_count(len(found.paths), 'file')}, committed already{then}{without}"
    named = ", ".join(now[:_NAMED]) + (", …" if len(now) > _NAMED else "")
    on = f" on {state.branch}" if state.branch else ""
    return f"commit {format_count(len(now), 'file')}{on}: {named}{then}{without}"
