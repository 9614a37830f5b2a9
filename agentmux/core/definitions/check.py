"""The check of a pipeline's definition: what it says, or all that is wrong with it, by line.

Pure. What exists beside the file (prompts, schemas, roles, commands) is an argument: see `names`.
The rules that compare phases are in `rules`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Final

from agentmux.core.codec.frozen import dataclass, field
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
from agentmux.core.definitions.located import Entry, Located, Problem
from agentmux.core.definitions.reading import Reader, shown
from agentmux.core.definitions.rules import Given, Surroundings, compare

PHASES_MAX: Final = 40
BYTES_MAX: Final = 16_000
"""How long a definition may be as JSON: it stands in the session's journal and state."""

_NAME = re.compile(r"[a-z][a-z0-9_]{0,31}")
NAME_FORM: Final = "it must begin with a letter and have up to 32 of a-z, 0-9 and `_`"
_PIPELINE = re.compile(r"[a-z][a-z0-9-]{0,31}")
_PIPELINE_FORM: Final = "it must begin with a letter and have up to 32 of a-z, 0-9 and `-`"
_FOLDER = re.compile(r"[a-z0-9][a-z0-9_-]{0,47}")
_FOLDER_FORM: Final = "it must be one name of up to 48 of a-z, 0-9, `_` and `-`"
_LEAF = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,47}\.[a-z0-9]{1,8}")
_LEAF_FORM: Final = "it must be the name of a file with a suffix, such as `threats.md`"

_PATH = re.compile(r"(?=.{1,200}\Z)\w[\w.-]*(?:/\w[\w.-]*)*", re.ASCII)
_PATH_FORM: Final = "it must be a name, or a path below the folder of the file"

_TOP: Final = ("version", "name", "result", "phases")
_PHASE: Final = (
    "phase", "kind", "folder", "roles", "prompt", "leaves", "when", "on_fail", "run", "expect",
)  # fmt: skip
_LEAF_KEYS: Final = ("file", "schema")


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """The result of a check: the pipeline, or None and all problems by line."""

    pipeline: PipelineDefinition | None
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Names:
    """The names in a definition for which something has to exist beside it."""

    prompts: frozenset[str] = field(default_factory=frozenset)
    schemas: frozenset[str] = field(default_factory=frozenset)


def names(item: Located | None) -> Names:
    """Return the prompts and schemas that a definition names, however wrong the rest of it is.

    A phase without a prompt uses one with the name of each role.
    """
    phases = [each.phase for each in _read(Reader(), item)[1]] if item is not None else []
    prompts = (name for each in phases for name in ((each.prompt,) if each.prompt else each.roles))
    schemas = (leaf.schema for each in phases for leaf in each.leaves)
    return Names(prompts=frozenset(prompts), schemas=frozenset(schemas) - {""})


def role_names(item: Located | None) -> tuple[str, ...]:
    """Return the roles that a definition names, however wrong the rest of it is."""
    phases = [each.phase for each in _read(Reader(), item)[1]] if item is not None else []
    return tuple(dict.fromkeys(role for each in phases for role in each.roles))


def check_definition(item: Located | None, around: Surroundings) -> Checked:
    """Check a definition as it was read from its file; never raises.

    Args:
        item: The value of the file; None for an empty one.
        around: What exists beside the file.
    """
    if item is None:
        return Checked(pipeline=None, problems=(Problem(line=1, what="the file is empty"),))
    reader = Reader()
    head, phases = _read(reader, item)
    compare(reader, phases, around, line=item.line)
    pipeline = PipelineDefinition(
        name=head.name, phases=tuple(each.phase for each in phases), result=head.result
    )
    _limit(reader, item, pipeline)
    return Checked(pipeline=None if reader.problems else pipeline, problems=reader.problems)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Head:
    name: str
    result: Result


def _read(reader: Reader, item: Located) -> tuple[_Head, tuple[Given, ...]]:
    top = reader.record(item, "a pipeline", _TOP)
    version = top.get("version")
    if version is None or version.item.value != VERSION or version.item.value is True:
        line = item.line if version is None else version.line
        reader.note(line, f"`version` must be {VERSION}")
    name = reader.name(top, "name", _PIPELINE, _PIPELINE_FORM)
    if "name" not in top:
        reader.note(item.line, "`name` is missing")
    result = reader.choice(top, "result", Result) or Result.COMMIT
    return _Head(name=name, result=result), _phases(reader, item, top)


def _phases(reader: Reader, item: Located, top: Mapping[str, Entry]) -> tuple[Given, ...]:
    items = reader.items(top, "phases")
    if not items:
        line = top["phases"].line if "phases" in top else item.line
        reader.note(line, "`phases` must be a list of phases")
    if len(items) > PHASES_MAX:
        reader.note(items[PHASES_MAX].line, f"more than {PHASES_MAX} phases")
    return tuple(_phase(reader, each) for each in items[:PHASES_MAX])


def _phase(reader: Reader, item: Located) -> Given:
    entries = reader.record(item, "a phase", _PHASE)
    name = reader.name(entries, "phase", _NAME, NAME_FORM)
    found = reader.choice(entries, "kind", Kind)
    for key in ("phase", "kind"):
        if key not in entries and isinstance(item.value, Mapping):
            reader.note(item.line, f"a phase needs `{key}`")
    roles, run = reader.texts(entries, "roles"), reader.texts(entries, "run")
    lines = {key: entry.line for key, entry in entries.items()}
    lines |= {f"roles {role}": line for role, line in roles}
    lines |= {f"run {command}": line for command, line in run}
    phase = PhaseDefinition(
        phase=name,
        kind=found or Kind.DOCUMENT,
        folder=reader.name(entries, "folder", _FOLDER, _FOLDER_FORM) or name,
        roles=tuple(role for role, _ in roles),
        prompt=reader.name(entries, "prompt", _PATH, _PATH_FORM),
        leaves=_leaves(reader, entries),
        when=reader.choice(entries, "when", When) or When.ALWAYS,
        on_fail=reader.text(entries, "on_fail"),
        run=tuple(command for command, _ in run),
        expect=reader.choice(entries, "expect", Expect) or Expect.PASS,
    )
    return Given(phase=phase, kind=found, line=item.line, lines=lines)


def _leaves(reader: Reader, entries: Mapping[str, Entry]) -> tuple[Leaf, ...]:
    leaves: dict[str, Leaf] = {}
    for item in reader.items(entries, "leaves"):
        leaf = _leaf(reader, item)
        if leaf.file in leaves:
            reader.note(item.line, f"`leaves` has {shown(leaf.file)} twice")
        elif leaf.file:
            leaves[leaf.file] = leaf
    return tuple(leaves.values())


def _leaf(reader: Reader, item: Located) -> Leaf:
    alone = isinstance(item.value, str)
    fields = {"file": Entry(line=item.line, item=item)} if alone else reader.record(
        item, "a file of `leaves`", _LEAF_KEYS
    )  # fmt: skip
    if "file" not in fields and isinstance(item.value, Mapping):
        reader.note(item.line, "a file of `leaves` needs `file`")
    file = reader.name(fields, "file", _LEAF, _LEAF_FORM)
    schema = reader.name(fields, "schema", _PATH, _PATH_FORM)
    if schema and file and not file.endswith(".yaml"):
        reader.note(fields["schema"].line, f"only a `.yaml` file has a schema, not {shown(file)}")
    return Leaf(file=file, schema=schema)


def _limit(reader: Reader, item: Located, pipeline: PipelineDefinition) -> None:
    size = len(json.dumps(definition_fields(pipeline)))
    if size > BYTES_MAX:
        reader.note(item.line, f"the pipeline is longer than {BYTES_MAX} bytes, as JSON")
