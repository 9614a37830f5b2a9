"""``agentmux version``: shows the version."""

from __future__ import annotations

from agentmux.cli import render
from agentmux.wiring.machine import version


def show_version() -> int:
    """Show the version."""
    render.out(version())
    return 0
