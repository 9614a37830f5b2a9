"""Reads the prompts and schemas of a session's pipeline as they were when the session began."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agentmux.core.journal.state import SessionState
    from agentmux.ports.session.session_files import SignalFiles


def frozen_text(files: SignalFiles, state: SessionState, name: str) -> str:
    """Return a prompt or schema of the session's pipeline, as it was when the session began.

    Args:
        files: The session's directory.
        state: The state of the session.
        name: The file's name in the pipeline definition; it must be in ``state.pipeline_files``.

    Raises:
        DataError: The file is missing, or has been changed since then.
    """
    return files.frozen_text(state.pipeline_files[name], name)


def require_frozen(files: SignalFiles, state: SessionState) -> None:
    """Check that all prompts and schemas of the session are as they were when it began.

    Raises:
        DataError: A file is missing, or has been changed since then.
    """
    for name in state.pipeline_files:
        frozen_text(files, state, name)
