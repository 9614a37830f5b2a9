"""Which installed distributions have files of the package ``agentmux``."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from importlib.metadata import Distribution, distributions
from pathlib import Path
from typing import Final

from agentmux.core.names.version import DISTRIBUTION
from agentmux.errors import NotInstalledError

PACKAGE: Final = "agentmux"


def require_own_package(path: Sequence[str] = sys.path) -> None:
    """Check that no other distribution has put files into the package ``agentmux``.

    `agentmux` on PyPI, a configuration manager, has a package of this name. In one environment, the
    one that is installed last replaces files of the other, and each update or removal damages both.

    Args:
        path: The folders in which modules are looked for.

    Raises:
        NotInstalledError: One has; the error names it and the folder.
    """
    for each in distributions(path=list(path)):
        if _normalised(each.name) != DISTRIBUTION and _has_package(each):
            raise NotInstalledError(
                f"the files of another project, `{each.name}` {each.version}, are mixed with those "
                f"of AgentMux in {Path(str(each.locate_file('')))}: each damages the other",
                hints=(
                    "install AgentMux in an environment of its own: uv tool install CLONE_OR_WHEEL",
                ),
            )


def _normalised(name: str) -> str:
    """Return a distribution's name as names are compared (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _has_package(distribution: Distribution) -> bool:
    """Return whether its list of files names one in the package; without a list, it is False."""
    files = distribution.files or ()
    return any(each.parts[0] == PACKAGE and len(each.parts) > 1 for each in files)
