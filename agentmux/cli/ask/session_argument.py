"""Finds the session that a name means; a command then works in the project of that session."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentmux.app.session.lookup import SessionEntry, home_of, resolve

if TYPE_CHECKING:
    from agentmux.app.world import Site, World
    from agentmux.cli.face import Face


def named(face: Face, name: str, *, command: str) -> tuple[Site, SessionEntry]:
    """Return the session that ``name`` means, and the site of its project.

    Args:
        command: Command for hints, with ``SESSION`` in place of the name.

    Raises:
        NotFoundError: No session matches, or several do.
    """
    site = face.site()
    entry = resolve(site, name, command=command)
    home = home_of(site, entry)
    return site if home == site.project else face.site(home), entry


def meant(
    face: Face, name: str | None, *, command: str, read_only: bool = False
) -> tuple[World, SessionEntry | None]:
    """Return the world of the session's project, and the session that ``name`` means.

    Without a name, return the world of the current project, and None.

    Args:
        command: As for `named`.
        read_only: As for `Face.world`.

    Raises:
        NotFoundError: No session matches, or several do.
        ConfigError: The configuration of the project is wrong.
    """
    if name is None:
        return face.world(read_only=read_only), None
    site, entry = named(face, name, command=command)
    return face.world(site.project, read_only=read_only), entry
