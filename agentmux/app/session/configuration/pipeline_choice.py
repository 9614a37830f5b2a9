"""Finds the pipeline for a new session, checks it, and prepares it to be frozen."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Final

from agentmux.core.codec.digests import sha256
from agentmux.core.codec.frozen import dataclass, replace
from agentmux.core.codec.records import Json
from agentmux.core.codec.shape import as_code
from agentmux.core.definitions.definition import (
    WHOLE,
    Kind,
    PipelineDefinition,
    When,
    definition_fields,
)
from agentmux.core.definitions.definition_check import CheckedDefinition, role_names
from agentmux.core.definitions.located import Problem
from agentmux.core.definitions.rules import Surroundings
from agentmux.core.definitions.source import Origin, Source, check_source, is_name, resolve_pipeline
from agentmux.core.names import layout
from agentmux.core.names.phase import RESEARCHERS, ROLES
from agentmux.core.names.words.nearest import suggest_name
from agentmux.core.pipeline.checks.setup import recorded_steps
from agentmux.core.pipeline.checks.verify_commands import recorded_commands
from agentmux.core.pipeline.registry import pipeline_for, pipeline_of
from agentmux.core.prompts import cost
from agentmux.core.prompts.prompt import MAY_ASK
from agentmux.core.prompts.variables import VARIABLES
from agentmux.errors import ConfigError, DataError, UsageError

if TYPE_CHECKING:
    from agentmux.app.world import World
    from agentmux.core.config.settings import Settings
    from agentmux.core.journal.state import SessionState

_SHOWN: Final = 60


class PipelineError(ConfigError):
    """A pipeline cannot be used.

    Attributes:
        path: The file of its definition.
        problems: What is wrong, each with its line in that file.
    """

    def __init__(
        self, name: str, path: str, problems: tuple[Problem, ...], *, is_shown: bool = False
    ) -> None:
        """Take the problems of the pipeline ``name``, and the ``path`` of its definition.

        ``is_shown`` leaves out the hint that shows the pipeline, because the user is looking at it.
        """
        self.path, self.problems = path, problems
        lines = [f"{path}:{each.line}: {each.what}" for each in problems]
        count = f"pipeline `{name}` has {len(lines)} problems:\n  "
        super().__init__(
            lines[0] if len(lines) == 1 else count + "\n  ".join(lines),
            hints=() if is_shown else (f"check it again: agentmux pipelines show {name}",),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ChosenPipeline:
    """A pipeline that a session can run.

    Attributes:
        origin: Where it comes from: built in, or from the user's or the project's files.
        definition: The pipeline as the session runs it: without checks if no commands are
            configured for them.
        files: The SHA-256 of each file of which the session keeps a copy, by the file's name in
            the definition: the pipeline's own prompts and schemas. The key `WHOLE` is for the copy
            of the definition itself.
        texts: The content of the files in ``files``, by their paths relative to the session's
            directory.
        verify: The commands of its checks, as ``state.json`` records them; empty if it has no
            check.
    """

    origin: Origin
    definition: PipelineDefinition
    files: Mapping[str, str]
    texts: Mapping[str, str]
    verify: tuple[Json, ...] = ()

    def own_text(self, name: str) -> str | None:
        """Return the prompt or schema ``name`` as text if it is the pipeline's own; else None."""
        return self.texts[layout.frozen(self.files[name])] if name in self.files else None


def describe_cost(world: World, chosen: ChosenPipeline, *, product_manager: bool = False) -> str:
    """Return what a session costs at least: text such as ``5 agents or more, 33 kB of prompts``.

    Args:
        world: The project, with the templates of prompts.
        chosen: The pipeline of the session.
        product_manager: Whether the session starts with the product manager.
    """

    def template(name: str) -> str:
        own, built_in = chosen.own_text(name), world.texts.templates.template
        return built_in(name) if own is None else f"{own}\n\n{built_in('ending')}"

    return cost.describe_cost(chosen.definition, template, product_manager=product_manager)


def choose_pipeline(world: World, name: str) -> ChosenPipeline:
    """Find a pipeline, check it, and return it in the form that a new session runs.

    Writes nothing.

    Args:
        world: The project, with the settings that are trusted.
        name: The name that the user or the configuration gives.

    Raises:
        UsageError: There is no such pipeline.
        PipelineError: Its definition is wrong, or this version cannot run it.
    """
    source = world.texts.pipelines.source(name) if is_name(name) else None
    if source is None:
        raise no_pipeline(world, name)
    result = check_pipeline(source, world.settings)
    if result.pipeline is None:
        raise PipelineError(source.name, source.path, result.problems)
    definition = resolve_pipeline(result.pipeline, commands_of(world.settings))
    checks = any(each.kind is Kind.CHECK for each in definition.phases)
    chosen = ChosenPipeline(
        origin=source.origin,
        definition=definition,
        files={},
        texts={},
        verify=recorded_commands(world.settings.verify) if checks else (),
    )
    return _with_files(world, source, chosen)


def _with_files(world: World, source: Source, chosen: ChosenPipeline) -> ChosenPipeline:
    """Return the pipeline with the files to freeze: its own ones, and one of the whole pipeline."""
    beside = {**source.prompts, **source.schemas}
    own = {each: beside[each] for each in sorted(source.own)}
    whole = {
        "pipeline": definition_fields(chosen.definition),
        "files": {each: _digest(text) for each, text in own.items()},
        "verify": chosen.verify,
        "setup": recorded_steps(world.settings.git.setup),
    }
    own[WHOLE] = json.dumps(whole, indent=1) + "\n"
    return replace(
        chosen,
        files={each: _digest(text) for each, text in own.items()},
        texts={layout.frozen(_digest(text)): text for text in own.values()},
    )


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()


def pipeline_roles(world: World, name: str) -> tuple[str, ...]:
    """Return the roles of the pipeline ``name``, as far as it can be read; built-in ones first.

    If one of the roles may ask for research, the researchers are included. Empty if there is no
    such pipeline.
    """
    source = world.texts.pipelines.source(name) if is_name(name) else None
    named = role_names(source.item) if source is not None else ()
    return with_researchers(named)


def session_roles(state: SessionState) -> tuple[str, ...]:
    """Return the names of the roles that may take part in the session, built-in ones first."""
    phases = pipeline_of(state).phases
    there = (each for each in phases if each.when is not When.REQUESTED or state.product_manager)
    return with_researchers(role for each in there for role in each.roles)


def with_researchers(roles: Iterable[str]) -> tuple[str, ...]:
    """Return each of ``roles`` once, built-in ones first, and the researchers if they are needed.

    They are needed if one of the roles may ask for research.
    """
    named = tuple(dict.fromkeys(roles))
    members = {*named, *(RESEARCHERS if set(MAY_ASK) & set(named) else ())}
    return (*(role for role in ROLES if role in members), *(r for r in named if r not in ROLES))


def no_pipeline(world: World, name: str) -> UsageError:
    """Return, without raising it, the error that no pipeline is called ``name``."""
    known = tuple(each for each in world.texts.pipelines.names() if is_name(each))
    hints = (*suggest_name(name[:_SHOWN], known), "see them: agentmux pipelines")
    return UsageError(f"no pipeline {as_code(name)}", hints=hints)


def check_pipeline(source: Source, settings: Settings) -> CheckedDefinition:
    """Check the definition of a pipeline; return the pipeline, or all problems.

    If there are problems, the ``pipeline`` of the result is None. It is a problem, too, if this
    version cannot run the pipeline.
    """
    around = Surroundings(
        roles=frozenset((*ROLES, *settings.own_roles)),
        commands=commands_of(settings),
        variables=frozenset(VARIABLES),
    )
    definition = check_source(source, around)
    if definition.pipeline is None:
        return definition
    try:
        pipeline_for(resolve_pipeline(definition.pipeline, commands_of(settings)))
    except DataError as error:
        return CheckedDefinition(pipeline=None, problems=(Problem(line=1, what=error.message),))
    return definition


def commands_of(settings: Settings) -> tuple[str, ...]:
    """Return the names of the commands in the setting ``verify``."""
    return tuple(each.name for each in settings.verify)
