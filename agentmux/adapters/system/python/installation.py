"""The installation that this process runs from, which may be replaced or removed meanwhile.

Package managers do that under processes that run for days. What is imported or started later then
fails in parts. So a process that is going to import or start something looks first.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

from agentmux.errors import InstallationGoneError

PACKAGE: Final = Path(__file__).resolve().parents[3]
"""The folder of the package `agentmux`."""


def require_installed(*, way_on: str) -> None:
    """Check that the files with which this process began are still there.

    ``way_on`` is what to do where they are not, for people.

    Raises:
        InstallationGoneError: AgentMux, or its Python, was removed or replaced by one elsewhere.
    """
    for place, file in ((PACKAGE, PACKAGE / "__main__.py"), (Path(sys.executable),) * 2):
        if not file.exists():
            raise InstallationGoneError(
                f"the AgentMux that this process runs is gone: {place} was removed or replaced",
                hints=(way_on,),
            )
