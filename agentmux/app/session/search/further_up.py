"""Finds the sessions of projects further up: in an ``.agentmux/`` above the project's directory.

Such a directory does not count for a project below it, but its sessions should be found.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from agentmux.core.names import layout
from agentmux.core.names.words.counts import format_count
from agentmux.errors import DataError

if TYPE_CHECKING:
    from agentmux.app.world import Site


def sessions_further_up(site: Site) -> Iterator[tuple[Path, tuple[str, ...]]]:
    """Yield each project above that has sessions, the nearest first, and their names."""
    for project in site.project.parents:
        with suppress(DataError):  # others may own it
            names = site.folders.names(project / layout.SESSIONS_DIR)
            if names:
                yield project, names


def listed_further_up(site: Site) -> Iterator[str]:
    """Yield a line for each project above that has sessions: how many, and what lists them."""
    for project, names in sessions_further_up(site):
        yield f"{format_count(len(names), 'session')} in {project}: {_command(project, 'list')}"


def hints_further_up(
    site: Site, command: str, has: Callable[[Path, tuple[str, ...]], bool]
) -> Iterator[str]:
    """Yield ``command`` for each project above of which ``has`` returns True.

    Args:
        site: The project.
        command: What is typed after ``agentmux``.
        has: Is called with the path of the directory of the sessions, and their names.
    """
    for project, names in sessions_further_up(site):
        if has(project / layout.SESSIONS_DIR, names):
            yield f"in {project}: {_command(project, command)}"


def _command(project: Path, words: str) -> str:
    return f"agentmux --project {shlex.quote(str(project))} {words}"
