"""Where a session works: in the project's checkout, or in a worktree of its own."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from agentmux.core.names.layout import INSIDE_MAX
from agentmux.core.terminal.text.text_width import printable

if TYPE_CHECKING:
    from agentmux.app.world import Site, World
    from agentmux.core.codec.records import Json


def has_repository(world: World) -> bool:
    """Return whether the project is in a git repository, with a checkout or bare."""
    return world.repository.top_level() is not None or world.repository.is_bare()


def inner(site: Site) -> Path:
    """Return the path of the project relative to the top of its work tree.

    It is ``.`` at the top, and outside of git.
    """
    top = site.locks.tree(site.project).top
    return site.project.relative_to(top)


def where_inside(site: Site) -> str:
    """Return the project's path inside its work tree (`inner`) as text to show, cut if it is long.

    Control characters in it are replaced.
    """
    return printable(str(inner(site)))[:INSIDE_MAX]


def workplace(site: Site, fields: Json) -> Path:
    """Return the directory in which the agents of a session work.

    It is the project, or the project's folder inside the session's own worktree.

    Args:
        site: The project.
        fields: The fields of the session's state, of which only ``worktree`` is read.
    """
    worktree = fields.get("worktree")
    if not isinstance(worktree, str) or not worktree:
        return site.project
    return Path(worktree) / inner(site)


def is_away(worktree: Path) -> bool:
    """Return whether no worktree is at ``worktree``; looks at one file only, and never fails.

    False if the file system does not tell.
    """
    try:
        (worktree / ".git").stat()
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False  # nobody can tell: git will say why
    return False
