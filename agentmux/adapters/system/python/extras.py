"""Optional dependencies: whether they are installed, and how to install them."""

from __future__ import annotations

import importlib.util
import shlex
import sys
from pathlib import Path
from typing import Final

APPRISE: Final = "apprise"
DBOS: Final = "dbos>=3.4,<4"
"""The requirement for DBOS, which also installs SQLAlchemy and psycopg."""


def has_modules(*names: str) -> bool:
    """Return whether all these modules are installed; this does not import them."""
    return all(importlib.util.find_spec(each) is not None for each in names)


def install_command(
    package: str, prefix: Path = Path(sys.prefix), python: str = sys.executable
) -> str:
    """Return the command, as a line for a shell, that adds a package to this installation.

    Args:
        package: The requirement: the package's name and versions.
        prefix: The folder of the installation; files of uv and pipx in it tell which tool created
            it.
        python: The Python of the installation.
    """
    wanted = shlex.quote(package)
    if (prefix / "uv-receipt.toml").is_file():
        return f"uv pip install --python {shlex.quote(python)} {wanted}"
    if (prefix / "pipx_metadata.json").is_file():
        return f"pipx inject {shlex.quote(prefix.name)} {wanted}"
    return f"{shlex.quote(python)} -m pip install {wanted}"
