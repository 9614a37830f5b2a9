"""The prompts and schemas of a session's pipeline, as they were when the session began."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from agentmux.core.codec.digests import sha256
from agentmux.core.names import layout
from agentmux.errors import DataError

if TYPE_CHECKING:  # importing these costs time, and a signal needs little of them
    from agentmux.core.journal.state import SessionState
    from agentmux.ports.session_files import SignalFiles

FROZEN_MAX: Final = 1 << 18
"""The size limit of one frozen file in bytes."""


def frozen_text(files: SignalFiles, state: SessionState, name: str) -> str:
    """Return a prompt or schema of the session's pipeline, by its name in the definition.

    ``name`` must be in ``state.pipeline_files``.

    Raises:
        DataError: The file is gone, or differs from what the session froze.
    """
    digest = state.pipeline_files[name]
    path = layout.frozen(digest)
    data, why = files.read_artifact(path, FROZEN_MAX)
    if data is not None and sha256(data).hexdigest() != digest:
        data, why = None, "it was changed"
    if data is None:
        raise DataError(
            f"`{files.path / path}`, the file `{name}` of the session's pipeline: {why}",
            hints=(f"take the present one: agentmux resume {files.path.name} --repin",),
        )
    return data.decode("utf-8")


def require_frozen(files: SignalFiles, state: SessionState) -> None:
    """Check that every frozen file of the session is there and is what the session froze.

    Raises:
        DataError: As in `frozen_text`.
    """
    for name in state.pipeline_files:
        frozen_text(files, state, name)
