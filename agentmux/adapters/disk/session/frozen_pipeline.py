"""Recovers a session's pipeline from its frozen files if its state and journal are lost."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

from agentmux.adapters.disk import files
from agentmux.core.codec.digests import sha256
from agentmux.core.codec.frozen import replace
from agentmux.core.codec.records import FieldError
from agentmux.core.definitions.definition import WHOLE, definition_from
from agentmux.core.names import layout

if TYPE_CHECKING:
    from agentmux.core.journal.state import SessionState

_MAX: Final = 1 << 18


def with_frozen_pipeline(state: SessionState, session: Path) -> SessionState:
    """Return the state with the pipeline that the session's directory keeps a copy of.

    The copy, the *frozen* pipeline, includes its prompts, schemas and check commands. Of several,
    the newest counts. If there is none, the state is returned unchanged: its pipeline is `feature`.
    Files whose content does not match their name are skipped.

    Args:
        state: A state that was not read from a file, because state and journal are lost.
        session: The session's directory.
    """
    for name, data in _newest(session / layout.PIPELINE):
        try:
            fields = json.loads(data)
            return replace(
                state,
                pipeline=definition_from(fields["pipeline"], "the frozen pipeline"),
                pipeline_files={**fields["files"], WHOLE: name},
                verify=tuple(fields["verify"]),
            )
        except (ValueError, KeyError, TypeError, FieldError, RecursionError):
            continue  # the file is a prompt or a schema, not a pipeline
    return state


def _newest(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the names and contents of the intact frozen files, newest first."""
    try:
        paths = sorted(folder.iterdir(), key=lambda each: each.lstat().st_mtime_ns, reverse=True)
    except OSError:
        return
    for path in paths:
        data = files.read_limited(path, _MAX)
        if data is not None and sha256(data).hexdigest() == path.name:
            yield path.name, data
