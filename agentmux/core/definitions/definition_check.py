"""Validate a pipeline's definition: return the pipeline, or all problems with their lines.

Pure. The prompts, schemas, roles and commands that exist are passed as arguments; `names` returns
the names to look up. The rules that compare phases are in `rules`.
"""

from __future__ import annotations

import json
import re
from typing import Final

from agentmux.core.codec.frozen import dataclass, field
from agentmux.core.codec.shape import Fields, Shape, as_code, replace_invisible
from agentmux.core.definitions.definition import (
    VERSION,
    Expect,
    Kind,
    Leaf,
    PhaseDefinition,
    PipelineDefinition,
    Result,
    When,
    definition_fields,
)
from agentmux.core.definitions.located import PROBLEMS_MAX, Located, Problem
from agentmux.core.definitions.rules import PhaseEntry, Surroundings, compare

PHASES_MAX: Final = 40
"""How many phases a definition may have."""
BYTES_MAX: Final = 16_000
"""The longest definition, in bytes of JSON; it is stored in the session's journal and state."""

_NAME = re.compile(r"[a-z][a-z0-9_]{0,31}")
NAME_FORM: Final = "it must begin with a letter and have up to 32 of a-z, 0-9 and `_`"
"""The rule for names of phases, for messages."""
_PIPELINE = re.compile(r"[a-z][a-z0-9-]{0,31}")
_PIPELINE_FORM: Final = "it must begin with a letter and have up to 32 of a-z, 0-9 and `-`"
_FOLDER = re.compile(r"[a-z0-9][a-z0-9_-]{0,47}")
_FOLDER_FORM: Final = "it must be one name of up to 48 of a-z, 0-9, `_` and `-`"
_LEAF = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,47}\.[a-z0-9]{1,8}")
_LEAF_FORM: Final = "it must be the name of a file with a suffix, such as `threats.md`"

_PATH = re.compile(r"(?=.{1,200}\Z)\w[\w.-]*(?:/\w[\w.-]*)*", re.ASCII)
_PATH_FORM: Final = "it must be a name, or a path below the folder of the file"

_PHASE: Final = ("folder", "roles", "prompt", "leaves", "when", "on_fail", "run", "expect")
_PLACE_MAX: Final = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedDefinition:
    """The result of the validation of a pipeline's definition.

    Attributes:
        pipeline: The pipeline; None if there are problems.
        problems: The problems in the order of their lines. `check_definition` returns at most
            `PROBLEMS_MAX`; `check_source` may add one about the name of the file.
    """

    pipeline: PipelineDefinition | None
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Names:
    """The names of the prompts and schemas that a definition refers to."""

    prompts: frozenset[str] = field(default_factory=frozenset)
    schemas: frozenset[str] = field(default_factory=frozenset)


def names(item: Located | None) -> Names:
    """Return the names of the prompts and schemas that a definition refers to, even if invalid.

    A phase without a prompt refers to a prompt with the name of each of its roles. ``item`` is the
    value of the file; None if the file is empty.
    """
    phases = [each.phase for each in _read(Shape(""), item)[1]] if item is not None else []
    prompts = (name for each in phases for name in ((each.prompt,) if each.prompt else each.roles))
    schemas = (leaf.schema for each in phases for leaf in each.leaves)
    return Names(prompts=frozenset(prompts), schemas=frozenset(schemas) - {""})


def role_names(item: Located | None) -> tuple[str, ...]:
    """Return the names of the roles that a definition refers to, even if it is invalid.

    They are in the order of the file, without duplicates. ``item`` is the value of the file; None
    if the file is empty.
    """
    phases = [each.phase for each in _read(Shape(""), item)[1]] if item is not None else []
    return tuple(dict.fromkeys(role for each in phases for role in each.roles))


def check_definition(item: Located | None, around: Surroundings) -> CheckedDefinition:
    """Validate a definition as it was read from its file, and return its pipeline or its problems.

    Never raises.

    Args:
        item: The value of the file; None if the file is empty.
        around: The roles, prompts, schemas, commands and variables that exist.
    """
    if item is None:
        return CheckedDefinition(
            pipeline=None, problems=(Problem(line=1, what="the file is empty"),)
        )
    shape = Shape("the file")
    head, phases = _read(shape, item)
    pipeline = PipelineDefinition(
        name=head.name, phases=tuple(each.phase for each in phases), result=head.result
    )
    _limit(shape, pipeline)
    noted = [
        (item.line(place), f"{replace_invisible(place[:_PLACE_MAX])}: {what}" if place else what)
        for place, what in shape.noted
    ]
    problems = sorted(
        dict.fromkeys((*noted, *compare(phases, around, line=item.line()))),
        key=lambda each: each[0],
    )
    first_problems = tuple(Problem(line=line, what=what) for line, what in problems[:PROBLEMS_MAX])
    return CheckedDefinition(pipeline=None if first_problems else pipeline, problems=first_problems)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Head:
    name: str
    result: Result


def _read(shape: Shape, item: Located) -> tuple[_Head, tuple[PhaseEntry, ...]]:
    top = shape.mapping(item.value, "", required=("name", "phases"), optional=("version", "result"))
    version = top.values.get("version")
    if type(version) is not int or version != VERSION:
        shape.note("version", f"expected {VERSION}")
    name = top.name("name", _PIPELINE, _PIPELINE_FORM)
    result = top.choice("result", Result) or Result.COMMIT
    phases = top.items("phases", some=True)
    if len(phases) > PHASES_MAX:
        shape.note(phases[PHASES_MAX][0], f"more than {PHASES_MAX} phases")
    given = (_phase(shape, item, value, place) for place, value in phases[:PHASES_MAX])
    return _Head(name=name, result=result), tuple(given)


def _phase(shape: Shape, item: Located, value: object, place: str) -> PhaseEntry:
    fields = shape.mapping(value, place, required=("phase", "kind"), optional=_PHASE)
    name = fields.name("phase", _NAME, NAME_FORM)
    kind = fields.choice("kind", Kind)
    roles, run = _texts(fields, "roles"), _texts(fields, "run")
    lines = {str(key): item.line(fields.at(str(key))) for key in fields.values}
    lines |= {f"roles {role}": item.line(at) for at, role in roles}
    lines |= {f"run {command}": item.line(at) for at, command in run}
    phase = PhaseDefinition(
        phase=name,
        kind=kind or Kind.DOCUMENT,
        folder=fields.name("folder", _FOLDER, _FOLDER_FORM) or name,
        roles=tuple(role for _, role in roles),
        prompt=fields.name("prompt", _PATH, _PATH_FORM),
        leaves=_leaves(fields),
        when=fields.choice("when", When) or When.ALWAYS,
        on_fail=fields.text("on_fail"),
        run=tuple(command for _, command in run),
        expect=fields.choice("expect", Expect) or Expect.PASS,
    )
    return PhaseEntry(phase=phase, kind=kind, line=item.line(place), lines=lines)


def _texts(fields: Fields, key: str) -> tuple[tuple[str, str], ...]:
    """Return the texts of a list, each as its place and the text; empty if the key has no value."""
    return () if fields.values.get(key) is None else fields.distinct_texts(key)


def _leaves(fields: Fields) -> tuple[Leaf, ...]:
    leaves: dict[str, Leaf] = {}
    items = () if fields.values.get("leaves") is None else fields.items("leaves")
    for place, value in items:
        leaf = _leaf(fields.shape, value, place)
        if leaf.file in leaves:
            fields.shape.note(place, f"{as_code(leaf.file)} is there twice")
        elif leaf.file:
            leaves[leaf.file] = leaf
    return tuple(leaves.values())


def _leaf(shape: Shape, value: object, place: str) -> Leaf:
    """Read one entry of ``leaves``: a file name, or a mapping with a file name and a schema."""
    whole = {"file": value} if isinstance(value, str) else value
    fields = shape.mapping(whole, place, required=("file",), optional=("schema",))
    file = fields.name("file", _LEAF, _LEAF_FORM)
    schema = fields.name("schema", _PATH, _PATH_FORM)
    if schema and file and not file.endswith(".yaml"):
        shape.note(fields.at("schema"), f"only a `.yaml` file has a schema, not {as_code(file)}")
    return Leaf(file=file, schema=schema)


def _limit(shape: Shape, pipeline: PipelineDefinition) -> None:
    size = len(json.dumps(definition_fields(pipeline)))
    if size > BYTES_MAX:
        shape.note("", f"the pipeline is longer than {BYTES_MAX} bytes, as JSON")
