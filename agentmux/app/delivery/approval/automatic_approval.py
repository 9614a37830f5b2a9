"""Whether a result can be approved without a person, and how it is then delivered."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentmux.app.delivery.approval.deliverable import left_behind
from agentmux.app.delivery.steps.commit import describe_failure, find_head_error, left_out
from agentmux.app.delivery.steps.merge import brought_back, merge_base
from agentmux.app.delivery.steps.ways import way_of
from agentmux.app.session.check_record import CHANGED, has_changed_since_checks
from agentmux.core.names.status_labels import brought_back_label, left_behind_label
from agentmux.core.names.statuses import MERGE
from agentmux.errors import AgentmuxError

if TYPE_CHECKING:
    from agentmux.app.world import World
    from agentmux.core.journal.state import SessionState
    from agentmux.ports.session.session_files import SessionFiles


def automatic_way(world: World, files: SessionFiles, state: SessionState) -> tuple[str, str]:
    """Return how to deliver the result if no person approves it, and why that is not possible.

    Only reads.

    Args:
        world: The world of the session's workplace (`with_workplace`).
        files: The session's directory.
        state: The state of the session.

    Returns:
        Where the result goes, as returned by `way_of`, and in words why it cannot be approved
        without a person. The reason is empty if it can be; otherwise ignore the first text.
    """
    folders = left_out(world, state)
    if folders:
        return "", f"the commit leaves out {', '.join(folders)}"
    if has_changed_since_checks(world, state, files):
        return "", CHANGED
    try:
        touched = find_head_error(world, state) if state.reviewed is not None else None
        if touched is not None:
            return "", describe_failure(touched)
        behind = left_behind(world, state)
        if behind:
            return "", "; ".join(left_behind_label(each.subjects) for each in behind)
        way = way_of(world, state, "", alone=True)
        back = brought_back(world, state) if way == MERGE else ()
        return way, brought_back_label(back, merge_base(state)) if back else ""
    except AgentmuxError as error:
        return "", describe_failure(error)
