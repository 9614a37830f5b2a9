"""A pipeline's definition with its origin, its text and the files that it refers to."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from agentmux.core.codec.frozen import dataclass, field, replace
from agentmux.core.codec.shape import as_code
from agentmux.core.definitions.definition import Kind, PipelineDefinition
from agentmux.core.definitions.definition_check import CheckedDefinition, check_definition
from agentmux.core.definitions.located import Located, Problem
from agentmux.core.definitions.rules import Surroundings

_NAME = re.compile(r"[a-z][a-z0-9-]{0,31}")
NAME_FORM: Final = "it must begin with a letter and have up to 32 of a-z, 0-9 and `-`"
"""The rule for names of pipelines, for messages."""


class Origin(StrEnum):
    """Where a definition comes from; each member's value is a word for people.

    *built-in*: AgentMux itself. *user*: the user's files. *project*: the project's files.
    """

    BUILT_IN = "built-in"
    USER = "user"
    PROJECT = "project"


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A definition as it was found, with the files that it refers to; not validated yet.

    Attributes:
        name: The name of the file without ``.yaml``; the pipeline must have the same name.
        origin: Where the definition comes from.
        path: The path of the file, for messages.
        text: The content of the file; empty if it cannot be used.
        item: The parsed content of the file; None if it cannot be parsed.
        prompts: The texts of the existing prompts that the definition refers to, by name.
        schemas: The texts of the existing schemas that the definition refers to, by name.
        wrong: For each prompt or schema that cannot be used, by name: the reason.
        own: The names of the prompts and schemas that come from files; the others are built in.
        problems: Why the definition cannot be read; empty if it can.
    """

    name: str
    origin: Origin
    path: str
    text: str = ""
    item: Located | None = None
    prompts: Mapping[str, str] = field(default_factory=dict)
    schemas: Mapping[str, str] = field(default_factory=dict)
    wrong: Mapping[str, str] = field(default_factory=dict)
    own: frozenset[str] = field(default_factory=frozenset)
    problems: tuple[Problem, ...] = ()


def is_name(text: str) -> bool:
    """Whether ``text`` is a valid name for a pipeline: up to 32 of ``a-z``, ``0-9`` and ``-``.

    It has to begin with a letter.
    """
    return _NAME.fullmatch(text) is not None


def check_source(source: Source, around: Surroundings) -> CheckedDefinition:
    """Validate a definition, and return its pipeline or its problems; never raises.

    Args:
        source: The definition.
        around: The roles, commands and variables that exist. Its prompts and schemas are ignored;
            those of ``source`` are used.
    """
    if source.problems:
        return CheckedDefinition(pipeline=None, problems=source.problems)
    beside = replace(
        around,
        # Built-in prompts may contain variables that other prompts may not.
        prompts={name: t if name in source.own else "" for name, t in source.prompts.items()},
        schemas={name: source.wrong.get(name, "") for name in source.schemas},
        wrong=source.wrong,
    )
    definition = check_definition(source.item, beside)
    other = _other_name(source)
    problems = sorted((*definition.problems, *other), key=lambda each: each.line)
    return CheckedDefinition(
        pipeline=None if problems else definition.pipeline, problems=tuple(problems)
    )


def _other_name(source: Source) -> tuple[Problem, ...]:
    """Return a problem if the pipeline does not have the name of its file."""
    item = source.item
    name = item.value.get("name") if item is not None and isinstance(item.value, Mapping) else None
    if item is None or not isinstance(name, str) or name == source.name:
        return ()
    what = f"`name` {as_code(name)} must be {as_code(source.name)}, as the file is called"
    return (Problem(line=item.line("name"), what=what),)


def resolve_pipeline(pipeline: PipelineDefinition, commands: tuple[str, ...]) -> PipelineDefinition:
    """Return the pipeline without its checks if the project has no commands to run in them.

    Fix phases that only follow those checks are left out, too. If there are commands, return
    ``pipeline`` unchanged.

    Args:
        pipeline: The definition.
        commands: The names of the commands in ``verify``.
    """
    if commands:
        return pipeline
    walk = [each for each in pipeline.walk if each.kind is not Kind.CHECK]
    named = {each.on_fail for each in walk}
    kept = tuple(each for each in pipeline.phases if each in walk or each.phase in named - {""})
    return replace(pipeline, phases=kept)
