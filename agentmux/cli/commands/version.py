"""``agentmux version``: shows the version."""

from __future__ import annotations

from agentmux.cli import render
from agentmux.core.names.version import VERSION


def show_version() -> int:
    """Show the version."""
    render.out(VERSION)
    return 0
