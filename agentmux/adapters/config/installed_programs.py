"""Finds programs on this machine, and probes the programs of agents."""

from __future__ import annotations

import functools
import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agentmux.adapters.config.agent_registry import Prober
    from agentmux.core.agents.spec import AgentSpec, ProbeResult


class InstalledPrograms:
    """The programs on one ``PATH``; they are searched and probed only when a method needs it.

    To probe a program is to find out what it can do. Implements `ports.programs.Programs`.
    """

    def __init__(
        self, *, path: str, shell: str, cache_dir: Path, keep: bool = True, runs: bool = True
    ) -> None:
        """Prepare to search and probe; this runs nothing.

        Args:
            path: The folders to search, in the form of ``$PATH``.
            shell: The path of the user's shell.
            cache_dir: The folder for cached outputs of probes.
            keep: Whether to write to that cache; if false, it is only read.
            runs: Whether to run programs; if false, only the cache is read.
        """
        self.path = path
        self.shell = shell
        self._cache_dir = cache_dir
        self._keep = keep
        self._runs = runs

    def find(self, command: str, on: str = "", /) -> Path | None:
        from agentmux.adapters.config.agent_registry import find_program

        return find_program(command, on or self.path)

    def probe(self, spec: AgentSpec) -> ProbeResult:
        return self._prober.probe(spec)

    def ask(self, spec: AgentSpec) -> ProbeResult:
        """Return what the agent's program can do; run it if needed, and wait at most 10 s.

        `InstalledPrograms.probe` does the same, but waits at most 1 s.
        """
        return self._prober.ask(spec)

    @functools.cached_property
    def _prober(self) -> Prober:
        from agentmux.adapters.config.agent_registry import Prober

        return Prober(
            path_env=self.path, cache_dir=self._cache_dir, keep=self._keep, runs=self._runs
        )

    def identity(self, path: str) -> str:
        """Return the real path, size and modification time of the program at ``path`` as one text.

        It is empty if there is no such file. Equal texts mean the same, unchanged program.
        """
        try:
            facts = Path(path).stat()
        except OSError:
            return ""
        return f"{os.path.realpath(path)}:{facts.st_size}:{facts.st_mtime_ns}"

    def exists(self, path: str) -> bool:
        """Return whether anything exists at ``path``.

        False also if the system does not let us look.
        """
        return os.path.exists(path)  # noqa: PTH110 (`Path.exists` raises where it may not look)
