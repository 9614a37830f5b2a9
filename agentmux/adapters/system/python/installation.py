"""The installation that this process runs from, which may be replaced or removed meanwhile.

Package managers do that while AgentMux processes run for days. Later imports and starts then fail
in part. So a process checks the installation before it imports or starts something.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

from agentmux.errors import InstallationGoneError

PACKAGE: Final = Path(__file__).resolve().parents[3]
"""The folder of the package `agentmux`."""


def require_installed(*, way_on: str) -> None:
    """Check that the AgentMux and the Python from which this process was started still exist.

    ``way_on`` is the hint of the error: what the user can do.

    Raises:
        InstallationGoneError: AgentMux or its Python was removed, or replaced by one elsewhere.
    """
    for place, file in ((PACKAGE, PACKAGE / "__main__.py"), (Path(sys.executable),) * 2):
        if not file.exists():
            raise InstallationGoneError(
                f"the AgentMux that this process runs is gone: {place} was removed or replaced",
                hints=(way_on,),
            )
