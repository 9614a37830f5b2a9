"""The names of the built-in agents that AgentMux treats specially."""

from __future__ import annotations

from typing import Final

SHELL: Final = "shell"
"""The agent that stands for a shell, in which the user plays the role."""
OFFLINE: Final = "demo"
"""The offline agent, with which users can try AgentMux without a model."""


def is_for_tests(name: str) -> bool:
    """Whether the agent called ``name`` is for AgentMux's own tests only.

    These are the variants of the offline agent ``demo``, such as ``demo-…``.
    """
    return name.startswith(f"{OFFLINE}-")
