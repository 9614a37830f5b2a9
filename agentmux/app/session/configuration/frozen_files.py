"""Reads the prompts and schemas of a session's pipeline as they were when the session began."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agentmux.core.journal.state import SessionState
    from agentmux.ports.session.session_files import SignalFiles


def frozen_text(files: SignalFiles, state: SessionState, name: str) -> str:
    """Return a frozen prompt or schema of the session, by its name in the pipeline definition.

    ``name`` must be in ``state.pipeline_files``.

    Raises:
        DataError: The file is missing, or differs from what was frozen.
    """
    return files.frozen_text(state.pipeline_files[name], name)


def require_frozen(files: SignalFiles, state: SessionState) -> None:
    """Check that every frozen file of the session exists and is unchanged.

    Raises:
        DataError: As in `frozen_text`.
    """
    for name in state.pipeline_files:
        frozen_text(files, state, name)
