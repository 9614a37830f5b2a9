"""Finds the sessions of projects in parent directories: in an ``.agentmux/`` further up.

Commands do not use such an ``.agentmux/`` for a project below it, but they hint at its sessions.
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
    """Yield each directory above the project that has sessions, and the names of these sessions.

    The nearest directory comes first.
    """
    for project in site.project.parents:
        with suppress(DataError):  # others may own it
            names = site.folders.names(project / layout.SESSIONS_DIR)
            if names:
                yield project, names


def listed_further_up(site: Site) -> Iterator[str]:
    """Yield a line for each parent project with sessions: their number, and how to list them."""
    for project, names in sessions_further_up(site):
        yield f"{format_count(len(names), 'session')} in {project}: {_command(project, 'list')}"


def hints_further_up(
    site: Site, command: str, has: Callable[[Path, tuple[str, ...]], bool]
) -> Iterator[str]:
    """Yield a hint to run ``command`` in each parent project for which ``has`` returns True.

    Args:
        site: The project.
        command: What to type after ``agentmux``.
        has: Takes the directory that contains the sessions of a parent project, and the names of
            these sessions; returns whether to hint at them.
    """
    for project, names in sessions_further_up(site):
        if has(project / layout.SESSIONS_DIR, names):
            yield f"in {project}: {_command(project, command)}"


def _command(project: Path, words: str) -> str:
    return f"agentmux --project {shlex.quote(str(project))} {words}"
