"""Finds the session and the project that the SESSION argument of a command means."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentmux.app.session.lookup import SessionEntry, home_of, resolve

if TYPE_CHECKING:
    from agentmux.app.world import Site, World
    from agentmux.cli.face import Face


def named(face: Face, name: str, *, command: str) -> tuple[Site, SessionEntry]:
    """Return the `Site` of the session's project, and the session that ``name`` means.

    The session may belong to another project than the current one, if ``name`` is a path.

    Args:
        face: The global options.
        name: A name, a path, or the beginning of a name, as typed.
        command: The command that hints show, with ``SESSION`` in place of the name.

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
    """Return the `World` of the session's project, and the session that ``name`` means.

    Args:
        face: The global options.
        name: A name, a path, or the beginning of a name; None: return the current project's world,
            and None in place of a session.
        command: The command that hints show, with ``SESSION`` in place of the name.
        read_only: Write no file through this world, not even a cache.

    Raises:
        NotFoundError: No session matches, or several do.
        ConfigError: The configuration of the project is wrong.
    """
    if name is None:
        return face.world(read_only=read_only), None
    site, entry = named(face, name, command=command)
    return face.world(site.project, read_only=read_only), entry
