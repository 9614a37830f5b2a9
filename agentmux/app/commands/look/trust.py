"""Determines which parts of a project's files a command would use, and keeps the user's trust."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Final

from agentmux.app.session.configuration.pipeline_choice import session_roles
from agentmux.core.config import trust
from agentmux.core.config.settings import WorktreeMode
from agentmux.core.definitions.definition_check import role_names
from agentmux.core.definitions.source import is_name
from agentmux.core.names.phase import CODER
from agentmux.errors import AgentmuxError, ConfigError

if TYPE_CHECKING:
    from agentmux.app.world import World
    from agentmux.core.config.trust import Part
    from agentmux.core.journal.state import SessionState

Effect = Callable[["World"], object]
"""A function that returns what a command would do in a `World`, such as the programs it would run.

If it returns equal values for two worlds, the command would do the same in both.
"""

_NAMED: Final = 5


class NotTrustedError(ConfigError):
    """The project's files decide what runs, and the user has not trusted them.

    ``parts`` are the settings and prompts in these files that are not trusted. The hints name
    ``command``, with which the user can trust them.
    """

    def __init__(self, parts: Iterable[Part], *, command: str = "agentmux trust") -> None:
        super().__init__(
            f"this project is not trusted: its files say what runs here ({describe_keys(parts)})",
            hints=(
                f"see what it is: {command} --show",
                f"trust it: {command}",
                "in CI: the option --trust",
            ),
        )


def describe_keys(parts: Iterable[Part]) -> str:
    """Return the keys of ``parts``, separated by commas, in one line; at most five are named.

    A part is a setting or a prompt in the project's files that needs the user's trust. Its key is a
    dotted name, such as ``agents.claude``.
    """
    keys = [part.key for part in parts]
    more = f" and {len(keys) - _NAMED} more" if len(keys) > _NAMED else ""
    return ", ".join(keys[:_NAMED]) + more


def part_lines(world: World, parts: Iterable[Part]) -> Iterator[str]:
    """Yield lines that show parts of the project's files in full, and whether each is trusted.

    No part is shortened, because something harmful could be at its end.
    """
    for part in parts:
        yield f"{part.key} ({trust.trust_state(part, world.consent.trust.trusted_parts())})"
        for name, value in _values(part):
            # In ASCII no character can look like another one.
            yield f"  {name}{json.dumps(value)}"


def _values(part: Part) -> Iterator[tuple[str, object]]:
    if part.path[0] in {trust.COPIED, trust.PROMPTS} and isinstance(part.value, str):
        yield from (("", line) for line in part.value.splitlines())
    elif part.path[0] == trust.PIPELINES and isinstance(part.value, dict):
        for name, text in part.value.items():
            yield from ((f"{name}: ", line) for line in str(text).splitlines())
    elif isinstance(part.value, dict):
        yield from ((f"{name}: ", value) for name, value in part.value.items())
    else:
        yield "", part.value


def untrusted_parts(world: World) -> tuple[Part, ...]:
    """Return all parts of the project's files that the user does not trust as they are now.

    A part is a setting or a prompt in these files that needs the user's trust.
    """
    known = world.consent.trust.trusted_parts()
    parts = world.consent.trust.parts()
    return tuple(e for e in parts if trust.trust_state(e, known) is not trust.TrustState.TRUSTED)


def find_untrusted(world: World, effect: Effect) -> tuple[Part, ...]:
    """Return the untrusted parts of the project's files that would change what the command does.

    ``effect`` returns what the command would do in a world. It is called for worlds with and
    without such parts; a part matters if the results differ.
    """
    parts = world.consent.trust.parts()
    if not parts:
        return ()
    kept = trust.select_trusted(parts, world.consent.trust.trusted_parts())
    return trust.find_needed_parts(parts, kept, lambda keys: effect(world.consent.allow(keys)))


def preview_trust(world: World, effect: Effect) -> tuple[World, tuple[str, ...]]:
    """Return the world as if the user trusted all of the project's files, without asking.

    Args:
        world: The project, with its settings and tools.
        effect: Returns what the command would do in a world.

    Returns:
        That world, in which no agent's program is run, and a warning that the real command will
        ask. If everything that the command needs is trusted, ``world`` itself and no warning.
    """
    parts = find_untrusted(world, effect)
    if not parts:
        return world, ()
    asked = describe_keys(parts)
    warning = f"this project is not trusted: you will be asked about {asked} (agentmux trust)"
    return world.consent.preview(), (warning,)


def require_trusted(world: World, effect: Effect) -> None:
    """Check that the command would use no untrusted part; the user is not asked.

    ``effect`` returns what the command would do in a world.

    Raises:
        NotTrustedError: The command would use such a part.
    """
    parts = find_untrusted(world, effect)
    if parts:
        raise NotTrustedError(parts)


def keep(world: World, parts: Iterable[Part]) -> World:
    """Record that the user trusts these parts, too; return the world in which they have effect.

    It does not ask. What the user trusted before remains trusted.

    Raises:
        DataError: The trust cannot be written.
    """
    digests = {part.key: part.digest for part in parts}
    world.consent.trust.keep(digests)
    return world.consent.allow(frozenset(digests))


def keep_all(world: World) -> World:
    """Record that the user trusts the current content of the project's files, and nothing else.

    It does not ask. Trust in earlier content of these files ends.

    Returns:
        The world in which it has effect.

    Raises:
        DataError: The trust cannot be written.
    """
    parts = world.consent.trust.parts()
    world.consent.trust.keep({part.key: part.digest for part in parts}, only=True)
    return world.consent.allow(frozenset(part.key for part in parts))


def keep_written(before: World, after: World, keys: Collection[str]) -> None:
    """Record trust in the parts ``keys``, which a command has just written for the user.

    A part that existed before and was not trusted stays untrusted; so does one that somebody else
    wrote meanwhile.

    Args:
        before: The world before the command wrote the parts.
        after: The world after that.
        keys: The keys of the parts, such as ``agents.claude``.

    Raises:
        DataError: The trust cannot be written.
    """
    held = {part.key: part for part in before.consent.trust.parts()}
    known = before.consent.trust.trusted_parts()
    fine = [
        part
        for part in after.consent.trust.parts()
        if part.key in keys
        if part.key not in held
        or trust.trust_state(held[part.key], known) is trust.TrustState.TRUSTED
    ]
    keep(after, [part for part in fine if held.get(part.key) != part])


def seats_effect(
    agents: Mapping[str, str], models: Mapping[str, str], roles: Collection[str]
) -> Effect:
    """Return the `Effect` of a session with these flags: what its seats would run and be told.

    It is a function that takes a world, and returns a value for what happens there.

    Args:
        agents: The agents that options of the command line name, by role; ``*`` stands for all
            other roles.
        models: The models that options of the command line name, by role; ``*`` likewise.
        roles: The roles that take part.
    """

    def effect(world: World) -> object:
        single = world.settings.role(CODER).single
        return single, [_resolve_player(world, role, agents, models) for role in roles]

    return effect


def with_pipeline_files(effect: Effect, name: str) -> Effect:
    """Return ``effect``, extended by what a start reads from the files of the pipeline ``name``.

    An `Effect` is a function: it takes a world, and returns a value for what happens there.
    """

    def both(world: World) -> object:
        source = world.texts.pipelines.source(name) if is_name(name) else None
        if source is None:
            return effect(world), None
        # A role that the project defines exists only where its settings are trusted.
        own = frozenset(role_names(source.item)).intersection(world.settings.own_roles)
        return effect(world), (source.text, source.prompts, source.schemas, own)

    return both


def with_worktree_settings(effect: Effect, *, asked: bool | None) -> Effect:
    """Return ``effect``, extended by what a start uses to make and prepare a worktree.

    The commands that check the result are included, too. An `Effect` is a function: it takes a
    world, and returns a value that stands for what the command would do there. Such values are only
    compared: if two are equal, the command would do the same in both worlds.

    Args:
        effect: The effect to extend.
        asked: Whether the user asked for a worktree; None leaves it to the configuration.
    """

    def both(world: World) -> object:
        git = world.settings.git
        may = git.worktree is not WorktreeMode.NEVER if asked is None else asked
        may = may or bool(world.settings.verify)  # checks also run on the base, in a worktree
        prepared = (git.root, git.setup, world.texts.templates.copy_patterns()) if may else None
        return effect(world), prepared, world.settings.verify

    return both


def played_in(state: SessionState) -> Effect:
    """Return the `Effect` of the session with this state: what its seats would run and be told.

    It is a function that takes a world, and returns a value for what happens there.
    """
    options = state.options
    return seats_effect(options.agents, options.models, session_roles(state))


def _resolve_player(
    world: World, role: str, agents: Mapping[str, str], models: Mapping[str, str]
) -> object:
    player = world.settings.choose_player(role, agents, models)
    return player, spec_of(world, player.agent), world.texts.templates.extension(role)


def spec_of(world: World, agent: str) -> object:
    """Return the specification of an agent, to compare it in two worlds; never raise.

    ``agent`` is a name in the registry, or a command. If it is neither, for example because it is
    empty, the text of the error is returned.
    """
    try:
        return world.agents.spec(agent)
    except AgentmuxError as error:
        return error.message
