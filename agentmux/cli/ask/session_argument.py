"""Which session a name means, and the project that a command then acts in: the session's own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentmux.app.session.lookup import SessionEntry, home_of, resolve

if TYPE_CHECKING:
    from agentmux.app.world import Site, World
    from agentmux.cli.face import Face


def named(face: Face, name: str, *, command: str) -> tuple[Site, SessionEntry]:
    """Return the session that answers to ``name``, and what looking at its project takes.

    Args:
        command: What hints propose to type, with ``SESSION`` where the name goes.

    Raises:
        NotFoundError: None does, or several do.
    """
    site = face.site()
    entry = resolve(site, name, command=command)
    home = home_of(site, entry)
    return site if home == site.project else face.site(home), entry


def meant(
    face: Face, name: str | None, *, command: str, read_only: bool = False
) -> tuple[World, SessionEntry | None]:
    """Return the session that answers to ``name`` with the world of its project.

    Without a name there is no session yet, and the project is the one that we are in.

    Args:
        command: As for `named`.
        read_only: As for `Face.world`.

    Raises:
        NotFoundError: None does, or several do.
        ConfigError: The configuration of its project is wrong.
    """
    if name is None:
        return face.world(read_only=read_only), None
    site, entry = named(face, name, command=command)
    return face.world(site.project, read_only=read_only), entry
