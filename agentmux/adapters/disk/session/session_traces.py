"""Traces of unfinished sessions: one file per session in ``$XDG_STATE_HOME/agentmux/sessions``."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from agentmux.adapters.disk import files
from agentmux.core.codec.records import from_fields, to_fields
from agentmux.errors import AgentmuxError

if TYPE_CHECKING:
    from agentmux.core.decisions.session_trace import SessionTrace

_MOST: Final = 1 << 18
_ENDING: Final = ".json"


class TraceFolder:
    """The folder of the traces: files that show which unfinished sessions have gone missing.

    Implements `ports.session.session_traces.SessionTraces`.
    """

    def __init__(self, folder: Path) -> None:
        """Use ``folder``, which `keep` creates if it is missing."""
        self._folder = folder

    def keep(self, trace: SessionTrace) -> None:
        files.make_dir(self._folder)
        files.replace(self._file(trace.session), files.json_bytes(to_fields(trace)))

    def missing(self) -> tuple[SessionTrace, ...]:
        try:
            names = os.listdir(self._folder)
        except OSError:
            return ()
        traces = (self._read(name) for name in names if name.endswith(_ENDING))
        gone = [trace for trace in traces if trace and not os.path.lexists(trace.path)]
        return tuple(sorted(gone, key=lambda trace: trace.path))

    def forget(self, session: str, path: Path) -> None:
        trace = self._read(self._file(session).name)
        if trace is not None and Path(trace.path) == path:
            files.remove(self._file(session))

    def _file(self, session: str) -> Path:
        return self._folder / f"{os.path.basename(session)}{_ENDING}"  # noqa: PTH119 (a name)

    def _read(self, name: str) -> SessionTrace | None:
        data = files.read_limited(self._folder / name, _MOST)
        if data is None:
            return None
        from agentmux.core.decisions.session_trace import SessionTrace

        with suppress(AgentmuxError, ValueError):
            return from_fields(SessionTrace, files.json_fields(data), where="trace")
        return None
