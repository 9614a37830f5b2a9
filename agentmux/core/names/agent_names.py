"""The names of the built-in agents that are not like all others."""

from __future__ import annotations

from typing import Final

SHELL: Final = "shell"
"""The agent of a role that a person plays."""
OFFLINE: Final = "demo"
"""The offline agent, to try AgentMux without a model."""


def is_for_tests(name: str) -> bool:
    """Return whether an agent is a variant of the offline agent, which only tests use."""
    return name.startswith(f"{OFFLINE}-")
