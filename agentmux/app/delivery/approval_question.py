"""What the monitor asks before an approval, with all that the user is shown for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from agentmux.app.delivery.approval_preview import (
    destination,
    outcome_lines,
    summary_preview,
)
from agentmux.app.delivery.commit import moved, reason
from agentmux.app.delivery.deliverable import decision_digest, deliverable
from agentmux.app.delivery.ways import way_of
from agentmux.core.codec.frozen import dataclass
from agentmux.core.journal.events import Approved
from agentmux.core.names.counts import counted
from agentmux.core.names.status_labels import left_behind_label, left_out_label
from agentmux.core.names.statuses import MERGE
from agentmux.core.pipeline.registry import working_phase
from agentmux.core.terminal.console import READ_S
from agentmux.errors import AgentmuxError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agentmux.app.delivery.deliverable import Deliverable
    from agentmux.app.world import World
    from agentmux.core.journal.state import SessionState
    from agentmux.ports.session_files import SessionFiles

_NAMED: Final = 3
_AGAIN: Final = f"press a again within {READ_S:g} s to"


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalQuestion:
    """The question whether to approve.

    Attributes:
        text: What another press of the key would do, or why the result cannot be approved now.
        does: What an approval does, without the key; empty where it cannot be approved.
        approval: The approval of what is shown; None where it cannot be approved.
        lines: The preview to read first; empty where it cannot be approved.
        outcome: The lines of the preview after the summary.
        obstacle: Why it cannot be approved; empty where it can.
    """

    text: str
    does: str = ""
    approval: Approved | None = None
    lines: tuple[str, ...] = ()
    outcome: tuple[str, ...] = ()
    obstacle: str = ""


def approval_question(world: World, files: SessionFiles, state: SessionState) -> ApprovalQuestion:
    """Return the question for the result as it is now.

    It only reads, and takes as long as git does; no failure of git or of the disk is raised.
    """
    try:
        way = way_of(world, state, "")
        hindrance = moved(world, state, way)
        if hindrance is not None:
            return _refused(hindrance)
        found = deliverable(world, state)
        where = destination(world, files, state, found, way)
        made = approval_of(files, state, found, way)
    except (AgentmuxError, OSError) as error:
        return _refused(error)
    does = _doing(found, where)
    outcome = tuple(_outcome(world, files, state, found, where))
    return ApprovalQuestion(
        text=f"{_AGAIN} {does}",
        does=does,
        approval=made,
        lines=(*summary_preview(files, state), *outcome),
        outcome=outcome,
    )


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


def _refused(error: AgentmuxError | OSError) -> ApprovalQuestion:
    return ApprovalQuestion(text=f"not approved: {reason(error)}", obstacle=reason(error))


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
    without = "".join(f"; {said}" for said in (*map(left_out_label, found.left_out), *behind))
    then = f"; {where}" if where else ""
    if not found.paths:
        held = found.held_by_base
        left = f"nothing is left to commit: {held}{then}" if held else "there is nothing to commit"
        return f"approve; {left}{without}"
    now = found.uncommitted
    if not now:
        return f"approve {counted(len(found.paths), 'file')}, committed already{then}{without}"
    named = ", ".join(now[:_NAMED]) + (", …" if len(now) > _NAMED else "")
    return f"commit {counted(len(now), 'file')}: {named}{then}{without}"
