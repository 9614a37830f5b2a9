"""What was delivered, in a sentence that people read last."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from agentmux.app.delivery.steps import TAKEN_BY
from agentmux.core.names.statuses import DONE

if TYPE_CHECKING:
    from agentmux.core.journal.state import SessionState


def delivered_lines(state: SessionState) -> tuple[str, ...]:
    """Return what was delivered, and how to get it where it is only kept."""
    made = state.commit.commit if state.commit is not None else None
    if made is None:
        return ("nothing was committed",) if state.options.commit else ()
    steps = state.delivery.steps if state.delivery is not None else {}
    taken = [
        TAKEN_BY[name].said(step.record)
        for name, step in steps.items()
        if name in TAKEN_BY and step.status == DONE
    ]
    committed = f"committed {made[:12]}"
    if taken or not state.worktree:
        return (committed, *taken)
    return (committed, f"get it with: git merge {shlex.quote(state.branch or '')}")
