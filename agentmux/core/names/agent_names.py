"""The names of the built-in agents that AgentMux treats specially."""

from __future__ import annotations

from typing import Final

SHELL: Final = "shell"
"""The agent that stands for a shell, in which the user plays the role."""
OFFLINE: Final = "demo"
"""The offline agent, with which users can try AgentMux without a model."""


def is_for_tests(name: str) -> bool:
    """Whether the agent ``name`` is a variant of the offline agent that only tests use."""
    return name.startswith(f"{OFFLINE}-")
