"""The text of a request for changes after a merge with conflicts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentmux.core.names.statuses import MERGE
from agentmux.core.names.words import git_commands
from agentmux.core.pipeline.delivery import failed_step
from agentmux.errors import UsageError

if TYPE_CHECKING:
    from agentmux.core.journal.state import SessionState


def has_conflict(state: SessionState) -> bool:
    """Return whether the merge of the session's result has failed with conflicts.

    A request for changes then needs no text: the coder is told to resolve the conflicts.
    """
    failure = failed_step(state)
    return failure is not None and failure[0] == MERGE and bool(failure[1].record.get("conflicts"))


def with_conflicts(state: SessionState, text: str) -> str:
    """Return the task for a coder: ``text``, followed by the conflicts of the failed merge.

    ``text`` is what the user wants to be changed; it is returned unchanged if no merge has failed
    with conflicts, and may be empty if one has.

    Raises:
        UsageError: There is no text, and no conflict either.
    """
    failure = failed_step(state)
    if failure is None or not has_conflict(state):
        if not text.strip():
            raise UsageError("what should change? There is no merge conflict to resolve")
        return text
    record = failure[1].record
    base, output = record.get("base", ""), record["conflicts"]
    conflicts = (
        f"The work could not be merged into branch `{base}`:\n\n{output}\n\n"
        f"Merge `{base}` into the branch that is checked out here (`{git_commands.merge(base)}`)."
        " Resolve every conflict so that both sides keep their meaning, run the tests, and commit"
        " the merge."
    )
    return "\n\n".join(each for each in (text.strip(), conflicts) if each)
