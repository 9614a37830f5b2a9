"""The programs that are installed on this machine."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:  # who only needs tmux must not import the core
    from agentmux.core.agents.spec import AgentSpec, ProbeResult


class Programs(Protocol):
    """The programs on this machine: where they are, and what the programs of agents can do."""

    @property
    def path(self) -> str:
        """The ``PATH`` that agents get; the folder of our own scripts comes first."""

    @property
    def shell(self) -> str:
        """The path of the user's shell: ``$SHELL``, else ``/bin/sh``."""

    def find(self, command: str, on: str = "", /) -> Path | None:
        """Return the path of ``command`` in the first folder that has it, else None.

        The folders are those of the PATH ``on``; if that is empty, those of `path`.
        """

    def probe(self, spec: AgentSpec, /) -> ProbeResult:
        """Return what an agent's program can do; the answer is cached.

        A program that is asked for the first time has one second to answer. If it does not, the
        ``problem`` of the result says so.
        """

    def ask(self, spec: AgentSpec, /) -> ProbeResult:
        """Return what `probe` returns, but give the program ten seconds to answer."""

    def identity(self, path: str, /) -> str:
        """Return a text that changes when the program at ``path`` is replaced.

        Empty if there is no program.
        """

    def exists(self, path: str, /) -> bool:
        """Whether anything is at ``path``."""
