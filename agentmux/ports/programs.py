"""The programs that are installed on this machine."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:  # who only needs tmux must not import the core
    from agentmux.core.agents.spec import AgentSpec, ProbeResult


class Programs(Protocol):
    """The programs on this machine: where they are, and what the agents' programs can do."""

    @property
    def path(self) -> str:
        """The ``PATH`` that agents get; the folder of AgentMux's own scripts comes first."""

    @property
    def shell(self) -> str:
        """The path of the user's shell: ``$SHELL``, else ``/bin/sh``."""

    def find(self, command: str, on: str = "", /) -> Path | None:
        """Return the path of the program ``command``; None if it is not installed.

        Args:
            command: The program's name.
            on: The folders to search, in the form of ``$PATH``; empty searches `path`.
        """

    def probe(self, spec: AgentSpec, /) -> ProbeResult:
        """Run an agent's program to find out its version and abilities, unless the cache has them.

        The program has one second to answer. If it takes longer, the ``problem`` of the result
        says so. If it is not installed, ``installed`` is False.
        """

    def ask(self, spec: AgentSpec, /) -> ProbeResult:
        """Find out an agent's version and abilities as `probe` does, but wait up to ten seconds.

        Here, too, the program is not run if the cache has the answer.
        """

    def identity(self, path: str, /) -> str:
        """Return a text that changes when the program at ``path`` is replaced, as by an update.

        It consists of real path, size and modification time. Empty if there is no such file.
        """

    def exists(self, path: str, /) -> bool:
        """Return whether anything is at ``path``; False also if the user may not look there."""
