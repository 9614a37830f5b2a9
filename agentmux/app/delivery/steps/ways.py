"""Decides where an approval takes the result: by flag, by configuration, by what is possible."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from agentmux.app.delivery.steps.merge import merge_base, require_base
from agentmux.app.delivery.steps.push import push_target
from agentmux.app.delivery.steps.request import request_target
from agentmux.core.names.statuses import KEEP, MERGE, PR, PUSH
from agentmux.errors import AgentmuxError, MissingError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agentmux.app.world import World
    from agentmux.core.journal.state import SessionState


def way_of(world: World, state: SessionState, asked: str, *, alone: bool = False) -> str:
    """Return where the result goes: ``keep``, ``merge``, ``push`` or ``pr``; only reads.

    Args:
        world: The outside world, with the settings.
        state: The state of the session.
        asked: The way given by a flag of the command; empty takes the configured one.
        alone: Whether no person approves; then a setting in the project's file does not count.

    Raises:
        UsageError: The result cannot go there.
        MissingError: A program that is needed is not installed.
    """
    completion = world.settings.completion
    configured = completion.then_alone if alone else completion.then
    way = asked or configured
    if not state.commits:
        if asked not in {"", KEEP}:
            raise UsageError(f"`--{asked}`: commits are turned off for this session")
        return KEEP
    if way == MERGE and not asked and not state.worktree:
        return KEEP  # what is committed in the checkout is on its branch already
    try:
        _require_possible(world, state, way)
    except MissingError:
        raise
    except AgentmuxError as error:
        raise UsageError(error.message, hints=error.hints) from error
    return way


def possible_ways(world: World, state: SessionState) -> Iterator[tuple[str, str]]:
    """Yield each way that the result can go (`way_of`), with a phrase for people (`describe_way`).

    Only reads; leaves out ways that are not possible now. Yields nothing if commits are turned off
    for the session.
    """
    for way in (KEEP, MERGE, PUSH, PR) if state.commits else ():
        with suppress(AgentmuxError, OSError):
            yield way_of(world, state, way), describe_way(world, state, way)


def _require_possible(world: World, state: SessionState, way: str) -> None:
    if way == MERGE:
        require_base(world, state)
    if way == PUSH:
        push_target(world, state, world.environment)
    if way == PR:
        request_target(world, state, world.environment)


def describe_way(world: World, state: SessionState, way: str) -> str:
    """Return where the result goes, as a phrase for people such as ``then merged into main``.

    Empty if the result is only committed. ``way`` is what `way_of` returned.
    """
    if way == MERGE:
        return f"then merged into {merge_base(state)}"
    if way not in {PUSH, PR}:
        return ""
    remote = push_target(world, state, world.environment)
    pushed = f"then pushed to {remote}, branch {state.branch}"
    return pushed if way == PUSH else f"{pushed}; {_describe_request(world, state)}"


def _describe_request(world: World, state: SessionState) -> str:
    """Return which request will be opened or updated, for people."""
    if state.request is not None:
        return f"{state.request.url} is updated"
    wanted = request_target(world, state, world.environment)
    spec = world.forge(world.environment).specs[wanted["forge"]]
    draft = "draft " if world.settings.completion.draft else ""
    where = f"{wanted['repo']} on {wanted['host']}"
    return f"a {draft}{spec.request_name} asks to merge it into {wanted['base']} of {where}"
