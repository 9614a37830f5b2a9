"""Records that work failed, so that it is not retried automatically."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from agentmux.app.loop.background_tasks import TRIES, UnrecordedError, in_words
from agentmux.core.names.words.session_commands import stop_and_resume
from agentmux.core.pipeline.delivery import HINTS
from agentmux.errors import AgentmuxError, SupersededError, data_error_from

if TYPE_CHECKING:
    from agentmux.app.session.writer import Session
    from agentmux.core.journal.events import CommitFailed, StepFailed


def record_failure(session: Session, fact: CommitFailed | StepFailed) -> None:
    """Write to the journal ``fact``: that a commit or another step of a delivery failed.

    Raises:
        SupersededError: Another process has taken the session over.
        UnrecordedError: The failure cannot be recorded.
    """
    try:
        session.record(fact)
    except SupersededError:
        raise
    except (AgentmuxError, OSError) as error:
        raise UnrecordedError(f"it failed, and that cannot be recorded: {error}") from error


def record_hints(error: AgentmuxError | OSError) -> Mapping[str, str]:
    """Return the part of a failed step's record that has the hints of ``error``, one a line.

    A step that failed has its reason and hints in one line, too; people copy them from here.
    """
    known = data_error_from(error) if isinstance(error, OSError) else error
    return {HINTS: "\n".join(known.hints)}


def describe_unexpected(error: Exception, session: str) -> str:
    """Return, in words, why work is not tried again, and what the user can do.

    Args:
        error: The last of several unexpected errors.
        session: The name of the session, for the commands with which to try again.
    """
    again = stop_and_resume(session)
    return (
        f"it failed {TRIES} times by an unexpected error: {in_words(error)}; orchestrator.log has"
        f" more; if AgentMux was replaced or removed meanwhile: {again}; then approve again"
    )
