"""Finds installed distributions that have files in the package ``agentmux``."""

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

_IN_PACKAGE: Final = re.compile(rf"^(\.\./)?{PACKAGE}/", re.MULTILINE)
"""Matches a file of the package in a list of installed files; pip's older lists are relative to the
metadata folder."""


def require_own_package(path: Sequence[str] = sys.path) -> None:
    """Check that no other distribution has put files into the package ``agentmux``.

    `agentmux` on PyPI, a configuration manager, has a package of this name. In one environment, the
    one that is installed last replaces files of the other, and each update or removal damages both.

    Args:
        path: The folders in which Python looks for modules.

    Raises:
        NotInstalledError: Another distribution has; the error names it and the folder.
    """
    for each in distributions(path=list(path)):
        if _normalise_name(each.name) != DISTRIBUTION and _has_package(each):
            raise NotInstalledError(
                f"the files of another project, `{each.name}` {each.version}, are mixed with those "
                f"of AgentMux in {Path(str(each.locate_file('')))}: each damages the other",
                hints=(
                    "install AgentMux in an environment of its own: uv tool install CLONE_OR_WHEEL",
                ),
            )


def _normalise_name(name: str) -> str:
    """Return a distribution's name in the form in which names are compared (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _has_package(distribution: Distribution) -> bool:
    """Return whether the distribution's file list names a file in the package.

    False without a list.
    """
    # `Distribution.files` makes an object of each of ten thousand lines, which takes a second.
    files = distribution.read_text("RECORD") or distribution.read_text("installed-files.txt") or ""
    return _IN_PACKAGE.search(files) is not None
