"""What a command would use of a project's files, and whether its user trusts that."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Final

from agentmux.core.config import trust
from agentmux.core.names.phase import CODER, PRODUCT_MANAGER, ROLES
from agentmux.errors import AgentmuxError, ConfigError

if TYPE_CHECKING:
    from agentmux.app.world import World
    from agentmux.core.config.trust import Part
    from agentmux.core.journal.state import SessionState

Effect = Callable[["World"], object]
"""What a command would do in a world: two that are equal do the same."""

_NAMED: Final = 5


class NotTrustedError(ConfigError):
    """The project's files say what is to run, and nobody has said that they may."""

    def __init__(self, parts: Iterable[Part], *, command: str = "agentmux trust") -> None:
        super().__init__(
            f"this project is not trusted: its files say what runs here ({named(parts)})",
            hints=(
                f"see what it is: {command} --show",
                f"trust it: {command}",
                "in CI: the option --trust",
            ),
        )


def named(parts: Iterable[Part]) -> str:
    """Return the names of parts for one line."""
    keys = [part.key for part in parts]
    more = f" and {len(keys) - _NAMED} more" if len(keys) > _NAMED else ""
    return ", ".join(keys[:_NAMED]) + more


def untrusted(world: World, effect: Effect) -> tuple[Part, ...]:
    """Return the parts of the project's files that would be used and are not trusted."""
    parts = world.trust.parts()
    if not parts:
        return ()
    kept = trust.trusted(parts, world.trust.known())
    return trust.needed(parts, kept, lambda keys: effect(world.trust.allow(keys)))


def require_trusted(world: World, effect: Effect) -> None:
    """Refuse where something would be used that is not trusted; nobody is asked.

    Raises:
        NotTrustedError: It would.
    """
    parts = untrusted(world, effect)
    if parts:
        raise NotTrustedError(parts)


def keep(world: World, parts: Iterable[Part]) -> World:
    """Trust these parts too, and return the world in which they have effect.

    Raises:
        DataError: That cannot be written down.
    """
    found = {part.key: part.digest for part in parts}
    world.trust.keep(found)
    return world.trust.allow(frozenset(found))


def keep_all(world: World) -> World:
    """Trust all that the files say now and nothing else; as `keep`."""
    parts = world.trust.parts()
    world.trust.keep({part.key: part.digest for part in parts}, only=True)
    return world.trust.allow(frozenset(part.key for part in parts))


def keep_written(before: World, after: World, keys: Collection[str]) -> None:
    """Trust what the user has just written into the files by a command of ours: ``keys``.

    What they held before and was not trusted stays so, and so does what came in meanwhile.
    """
    held = {part.key: part for part in before.trust.parts()}
    known = before.trust.known()
    fine = [
        part
        for part in after.trust.parts()
        if part.key in keys
        if part.key not in held or trust.standing(held[part.key], known) is trust.Standing.TRUSTED
    ]
    keep(after, [part for part in fine if held.get(part.key) != part])


def playing(
    agents: Mapping[str, str], models: Mapping[str, str], *, product_manager: bool
) -> Effect:
    """Return what the seats of a session would run and be told, under the flags of its start."""
    roles = [role for role in ROLES if product_manager or role != PRODUCT_MANAGER]

    def effect(world: World) -> object:
        single = world.settings.role(CODER).single
        return single, [_played(world, role, agents, models) for role in roles]

    return effect


def played_in(state: SessionState) -> Effect:
    """Return what the seats of this session would run and be told."""
    options = state.options
    return playing(options.agents, options.models, product_manager=state.product_manager)


def _played(
    world: World, role: str, agents: Mapping[str, str], models: Mapping[str, str]
) -> object:
    player = world.settings.played(role, agents, models)
    return player, spec_of(world, player.agent), world.templates.extension(role)


def spec_of(world: World, agent: str) -> object:
    """Return how an agent would be run; what is wrong with it is one way."""
    try:
        return world.spec(agent)
    except AgentmuxError as error:
        return error.message
