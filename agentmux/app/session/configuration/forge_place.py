"""Finds the repository on a forge (GitHub, …) that a project belongs to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from agentmux.core.forges.remote_urls import ForgeRemote, forge_remotes, main_remote
from agentmux.errors import UsageError

if TYPE_CHECKING:
    from agentmux.app.world import World


def find_forge_remotes(world: World, environ: Mapping[str, str]) -> tuple[ForgeRemote, ...]:
    """Return those of the project's git remotes whose host is a forge that AgentMux knows.

    ``environ`` is the environment for the programs that are run.
    """
    return forge_remotes(world.forge(environ).specs, world.git.remote_branches.all())


def target(world: World, environ: Mapping[str, str]) -> ForgeRemote:
    """Return the git remote whose repository has the project's issues and gets its pull requests.

    ``environ`` is the environment for the programs that are run.

    Raises:
        UsageError: No remote is on a known forge, or it is not clear which one of several to use.
    """
    candidates = find_forge_remotes(world, environ)
    chosen = main_remote(candidates)
    if chosen is not None:
        return chosen
    if candidates:
        named = ", ".join(each.remote for each in candidates)
        raise UsageError(
            f"it is not clear which remote has the issues and the requests: {named}",
            hints=("call that remote upstream: git remote rename NAME upstream",),
        )
    remotes = world.git.remote_branches.all()
    if remotes:
        named = ", ".join(each.name for each in remotes)
        raise UsageError(
            f"no remote of this repository is on a forge that is known: {named}",
            hints=("add its host in ~/.config/agentmux/forges.yaml", "git remote --verbose"),
        )
    raise UsageError(
        "this repository has no remote, so that there is no forge to ask",
        hints=("git remote add origin URL",),
    )
