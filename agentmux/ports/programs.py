"""The programs that are installed on this machine."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:  # who only needs tmux must not import the core
    from agentmux.core.agents.spec import AgentSpec, ProbeResult


class Programs(Protocol):
    """The programs that are installed here, and what those of agents can do."""

    @property
    def path(self) -> str:
        """``PATH`` for agents, with the folder of our own scripts first."""

    @property
    def shell(self) -> str:
        """The user's shell."""

    def find(self, command: str, /) -> Path | None:
        """Return the path of a command on `path`; None where it is not found."""

    def probe(self, spec: AgentSpec, /) -> ProbeResult:
        """Return what an agent's program can do, as far as it answers within a second; cached."""

    def ask(self, spec: AgentSpec, /) -> ProbeResult:
        """Like `probe`, but wait longer for the answer."""

    def identity(self, path: str, /) -> str:
        """Return what identifies the program at ``path``; empty where there is none."""

    def exists(self, path: str, /) -> bool:
        """Whether anything is at ``path``."""
