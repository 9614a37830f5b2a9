"""``trust``, and the question of the commands that would use what the project's files say."""

from __future__ import annotations

import json as json_text
from collections.abc import Collection, Iterable, Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from agentmux.app.commands.trust import (
    Effect,
    NotTrustedError,
    keep,
    keep_all,
    keep_written,
    named,
    untrusted,
)
from agentmux.app.result import SCHEMA
from agentmux.cli import render
from agentmux.cli.ask.consent import YesOpt, require_consent
from agentmux.cli.ask.person import require_person
from agentmux.cli.commands.sessions import JsonOpt
from agentmux.core.config.trust import PROMPTS, Part, Standing, standing
from agentmux.errors import AgentmuxError, UsageError

if TYPE_CHECKING:
    from agentmux.app.world import World
    from agentmux.cli.face import Face

TrustOpt = Annotated[
    bool, typer.Option("--trust", help="Trust what the project's files say now, for CI.")
]


def trust(
    ctx: typer.Context,
    show: Annotated[
        bool, typer.Option("--show", help="Show what needs trust; change nothing.")
    ] = False,
    revoke: Annotated[bool, typer.Option("--revoke", help="Trust nothing of it any more.")] = False,
    yes: YesOpt = False,
    json: JsonOpt = False,
) -> int:
    """Trust what the files of this project make AgentMux run or tell an agent.

    In a terminal it asks, after it has shown what that is. Elsewhere it asks nothing: the command
    itself is your consent. What changes later is asked about again.
    """
    face: Face = ctx.obj
    if show and revoke:
        raise UsageError("--show and --revoke do not go together", hints=("agentmux trust --help",))
    if not show:
        require_person(face, "trust")
    world = face.world()
    if revoke:
        world.trust.revoke()
        world = face.world()
    elif not show:
        world = _trusted(face, world, yes=yes, json=json)
    if json:
        render.as_json(_fields(world))
    elif revoke:
        render.note(f"nothing of {world.project} is trusted any more")
    elif show:
        render.out("\n".join(_lines(world, world.trust.parts())) or _NOTHING)
    return 0


_NOTHING = "nothing in the files of this project needs trust"


def _trusted(face: Face, world: World, *, yes: bool, json: bool) -> World:
    parts = world.trust.parts()
    if parts and not json:
        render.note("\n".join(_lines(world, parts)))
    asks = face.interactive and not (yes or json)
    if any(standing(each, world.trust.known()) is not Standing.TRUSTED for each in parts):
        require_consent(face, f"Trust this in {world.project}?", yes=not asks)
    keep_all(world)
    if not json:
        render.note(f"trusted: {named(parts)}" if parts else _NOTHING)
    return face.world()


def _fields(world: World) -> dict[str, object]:
    parts, known = world.trust.parts(), world.trust.known()
    return {
        "schema": SCHEMA,
        "project": str(world.project),
        "trusted": all(standing(each, known) is Standing.TRUSTED for each in parts),
        "parts": [
            {"key": each.key, "standing": standing(each, known).value, "value": each.value}
            for each in parts
        ],
        "problems": [],
    }


def _lines(world: World, parts: Iterable[Part]) -> Iterator[str]:
    """Show parts whole: what is cut off could be what matters."""
    for part in parts:
        yield f"{part.key} ({standing(part, world.trust.known())})"
        for name, value in _values(part):
            # As JSON in ASCII nothing can look like something else.
            yield f"  {name}{json_text.dumps(value)}"


def _values(part: Part) -> Iterator[tuple[str, object]]:
    if part.path[0] == PROMPTS and isinstance(part.value, str):
        yield from (("", line) for line in part.value.splitlines())
    elif isinstance(part.value, dict):
        yield from ((f"{name}: ", value) for name, value in part.value.items())
    else:
        yield "", part.value


def trusted_world(face: Face, world: World, effect: Effect, *, trust: bool = False) -> World:
    """Return the world in which what a command would use of the project's files has effect.

    Where some of that is not trusted yet, a person is shown it and asked.

    Args:
        trust: Trust all that the files say now, and ask nothing.

    Raises:
        NotTrustedError: Nobody is there to be asked.
        KeyboardInterrupt: They said no.
        BlockedError: An agent is asked, or says ``trust``.
        DataError: It cannot be written down.
    """
    if trust:
        require_person(face, "trust")
        return keep_all(world)
    parts = untrusted(world, effect)
    if not parts:
        return world
    if not face.interactive:
        raise NotTrustedError(parts, command=_command(face, world))
    render.note("The files of this project say what runs here, and you have not trusted that yet:")
    for line in _lines(world, parts):
        render.note(f"  {line}")
    require_person(face, "trust")
    require_consent(face, f"Trust this in {world.project}?", yes=False)
    return keep(world, parts)


def _command(face: Face, world: World) -> str:
    """Return how to type ``trust`` from here."""
    import shlex  # noqa: PLC0415 (only for an error)

    here = face.given is None and face.project() == world.project
    return (
        "agentmux trust" if here else f"agentmux --project {shlex.quote(str(world.project))} trust"
    )


def foreseen(world: World, effect: Effect) -> tuple[World, tuple[str, ...]]:
    """Return the world to look ahead in, without any question, and what to warn of."""
    parts = untrusted(world, effect)
    if not parts:
        return world, ()
    warning = (
        f"this project is not trusted: first it will be asked about {named(parts)} (agentmux trust)"
    )
    return world.trust.preview(), (warning,)


def trust_own_edit(face: Face, before: World, *, keys: Collection[str]) -> None:
    """Trust what the user has just written into the project's files by a command of ours: ``keys``.

    Where that cannot be noted, the next command asks.
    """
    try:
        require_person(face, "trust")
        keep_written(before, face.world(before.project), keys)
    except AgentmuxError as error:
        render.note(f"it is not trusted yet: {error.message}")
