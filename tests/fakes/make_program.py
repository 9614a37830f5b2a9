"""A program ``make`` for machines that have none, as bare ones do."""

from pathlib import Path

_MAKE = """#!/bin/sh
exec sh -c "$(sed -n 's/^\\t//p' Makefile)"
"""


def install_make(folder: Path) -> None:
    """Install a ``make`` that runs all recipes of the Makefile in its directory."""
    program = folder / "make"
    program.write_text(_MAKE)
    program.chmod(0o755)
