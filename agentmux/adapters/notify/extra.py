"""Apprise, which is not a part of every installation: whether it is here, and how it gets here."""

from __future__ import annotations

import importlib.util
import shlex
import sys
from pathlib import Path


def has_apprise() -> bool:
    """Return whether this installation has Apprise; this does not import it."""
    return importlib.util.find_spec("apprise") is not None


def install_apprise(prefix: Path = Path(sys.prefix), python: str = sys.executable) -> str:
    """Return the command that adds Apprise to this installation.

    Args:
        prefix: The folder of the installation; what uv and pipx leave there tells who made it.
        python: The Python of the installation.
    """
    if (prefix / "uv-receipt.toml").is_file():
        return f"uv pip install --python {shlex.quote(python)} apprise"
    if (prefix / "pipx_metadata.json").is_file():
        return f"pipx inject {shlex.quote(prefix.name)} apprise"
    return f"{shlex.quote(python)} -m pip install apprise"
