"""The prompts and schemas of a session's pipeline, as they were when the session began."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agentmux.core.journal.state import SessionState
    from agentmux.ports.session.session_files import SignalFiles


def frozen_text(files: SignalFiles, state: SessionState, name: str) -> str:
    """Return a prompt or schema of the session's pipeline, by its name in the definition.

    ``name`` must be in ``state.pipeline_files``.

    Raises:
        DataError: The file is gone, or differs from what the session froze.
    """
    return files.frozen(state.pipeline_files[name], name)


def require_frozen(files: SignalFiles, state: SessionState) -> None:
    """Check that every frozen file of the session is there and is what the session froze.

    Raises:
        DataError: As in `frozen_text`.
    """
    for name in state.pipeline_files:
        frozen_text(files, state, name)
