"""The installed programs, with answers that a test sets."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from agentmux.core.agents.spec import AgentSpec, ProbeResult
from agentmux.ports.programs import Programs

Answer = Callable[[AgentSpec], ProbeResult]


class AnsweringPrograms:
    """The answers of ``others``, except those that are given as ``probe`` or ``ask``."""

    def __init__(
        self, others: Programs, *, probe: Answer | None = None, ask: Answer | None = None
    ) -> None:
        self._others = others
        self.path, self.shell = others.path, others.shell
        self.probe = probe or others.probe
        self.ask = ask or others.ask

    def find(self, command: str, on: str = "", /) -> Path | None:
        return self._others.find(command, on)

    def identity(self, path: str) -> str:
        return self._others.identity(path)

    def exists(self, path: str) -> bool:
        return self._others.exists(path)
