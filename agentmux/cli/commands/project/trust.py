"""``trust``, and the question whether to trust, which other commands ask, too."""

from __future__ import annotations

import json as json_text
import shlex
from collections.abc import Collection, Iterable, Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from agentmux.app.commands.look.trust import (
    Effect,
    NotTrustedError,
    describe_keys,
    find_untrusted,
    keep,
    keep_all,
    keep_written,
)
from agentmux.app.result import SCHEMA
from agentmux.cli import render
from agentmux.cli.ask.consent import YesOpt, require_consent
from agentmux.cli.ask.person import require_person
from agentmux.cli.commands.look.sessions import JsonOpt
from agentmux.core.config.trust import COPIED, PIPELINES, PROMPTS, Part, Standing, standing
from agentmux.errors import AgentmuxError, UsageError

if TYPE_CHECKING:
    from agentmux.app.world import World
    from agentmux.cli.face import Face

TrustOpt = Annotated[
    bool, typer.Option("--trust", help="Trust the project's files as they are now (for CI).")
]


def trust(
    ctx: typer.Context,
    show: Annotated[
        bool, typer.Option("--show", help="Show what needs trust; change nothing.")
    ] = False,
    revoke: Annotated[
        bool, typer.Option("--revoke", help="Stop trusting the files of this project.")
    ] = False,
    yes: YesOpt = False,
    json: JsonOpt = False,
) -> int:
    """Trust the files of this project.

    Parts of these files make AgentMux run programs or tell agents what to do. They have no effect
    until you trust them. In a terminal, the command shows these parts and asks. Without a terminal
    it does not ask: running it is your consent. A part that changes later needs trust again.
    """
    face: Face = ctx.obj
    if show and revoke:
        raise UsageError("--show and --revoke cannot be combined", hints=("agentmux trust --help",))
    if not show:
        require_person(face, "trust")
    world = face.world()
    if revoke:
        world.consent.trust.revoke()
        world = face.world()
    elif not show:
        world = _trust_project(face, world, yes=yes, json=json)
    if json:
        render.as_json(_fields(world))
    elif revoke:
        render.note(f"the files of {world.project} are not trusted any more")
    elif show:
        render.out("\n".join(_lines(world, world.consent.trust.parts())) or _NOTHING)
    return 0


_NOTHING = "nothing in the files of this project needs trust"


def _trust_project(face: Face, world: World, *, yes: bool, json: bool) -> World:
    parts = world.consent.trust.parts()
    if parts and not json:
        render.note("\n".join(_lines(world, parts)))
    asks = face.interactive and not (yes or json)
    if any(
        standing(each, world.consent.trust.trusted_parts()) is not Standing.TRUSTED
        for each in parts
    ):
        require_consent(face, f"Trust this in {world.project}?", yes=not asks)
    keep_all(world)
    if not json:
        render.note(f"trusted: {describe_keys(parts)}" if parts else _NOTHING)
    return face.world()


def _fields(world: World) -> dict[str, object]:
    parts, known = world.consent.trust.parts(), world.consent.trust.trusted_parts()
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
    """Yield lines that show parts of the project's files, and whether each part is trusted.

    The parts are shown in full, because the end of a part could hide something.
    """
    for part in parts:
        yield f"{part.key} ({standing(part, world.consent.trust.trusted_parts())})"
        for name, value in _values(part):
            # In ASCII no character can look like another one.
            yield f"  {name}{json_text.dumps(value)}"


def _values(part: Part) -> Iterator[tuple[str, object]]:
    if part.path[0] in {COPIED, PROMPTS} and isinstance(part.value, str):
        yield from (("", line) for line in part.value.splitlines())
    elif part.path[0] == PIPELINES and isinstance(part.value, dict):
        for name, text in part.value.items():
            yield from ((f"{name}: ", line) for line in str(text).splitlines())
    elif isinstance(part.value, dict):
        yield from ((f"{name}: ", value) for name, value in part.value.items())
    else:
        yield "", part.value


def trusted_world(face: Face, world: World, effect: Effect, *, trust: bool = False) -> World:
    """Return the world in which the command may use the parts of the project's files that it needs.

    If some of these parts are not trusted yet, show them to a person and ask.

    Args:
        face: Tells whether a person can be asked.
        world: The project, with its settings and tools.
        effect: Returns what the command does in a world; if a part of the files changes the result,
            the command needs that part.
        trust: Trust everything that the files say now, without asking.

    Raises:
        NotTrustedError: Nobody can be asked.
        DeclinedError: The person said no.
        BlockedError: An agent, not a person, runs the command.
        DataError: The trust cannot be written to disk.
    """
    if trust:
        require_person(face, "trust")
        return keep_all(world)
    parts = find_untrusted(world, effect)
    if not parts:
        return world
    if not face.interactive:
        raise NotTrustedError(parts, command=_command(face, world))
    render.note("this project's files decide what runs here, and you do not trust these parts yet:")
    for line in _lines(world, parts):
        render.note(f"  {line}")
    require_person(face, "trust")
    require_consent(face, f"Trust this in {world.project}?", yes=False)
    return keep(world, parts)


def _command(face: Face, world: World) -> str:
    """Return the ``agentmux trust`` command for the project, to be typed in this directory."""
    here = face.given is None and face.place() == world.project
    return (
        "agentmux trust" if here else f"agentmux --project {shlex.quote(str(world.project))} trust"
    )


def preview_trust(world: World, effect: Effect) -> tuple[World, tuple[str, ...]]:
    """Return the world as if the user trusted all of the project's files, without asking.

    Args:
        world: The project, with its settings and tools.
        effect: Returns what the command would do in a world.

    Returns:
        The world, in which no program is run, and a warning that the real command will ask. If
        everything that the command needs is trusted, ``world`` itself and no warning.
    """
    parts = find_untrusted(world, effect)
    if not parts:
        return world, ()
    asked = describe_keys(parts)
    warning = f"this project is not trusted: you will be asked about {asked} (agentmux trust)"
    return world.consent.preview(), (warning,)


def trust_own_edit(face: Face, before: World, *, keys: Collection[str]) -> None:
    """Trust what one of our commands has just written into the project's files for the user.

    If that fails, print why; the next command then asks the user.

    Args:
        face: The global options.
        before: The world before the files were written.
        keys: The keys that were written, such as ``defaults.agent``.
    """
    try:
        require_person(face, "trust")
        keep_written(before, face.world(before.project), keys)
    except AgentmuxError as error:
        render.note(f"what was written is not trusted yet: {error.message}")
