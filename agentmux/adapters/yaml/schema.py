"""Checks a YAML text against a schema; every error names file and line.

A schema is data: a mapping of keys to schemas (a closed record: other keys are errors), `Each` (a
mapping with any keys), `Renamed` (a closed record whose keys have other spellings), or a `Reader`
(a function that checks one value). `described_schema` makes a JSON Schema from it for editors.
Artifacts are checked by `core/codec/shape` instead; docs/decisions/0009-two-validators.md says why.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, Generic, NoReturn, TypeVar

import yaml

from agentmux.adapters.yaml.walker import Builder, Limits, walk
from agentmux.core.codec.frozen import dataclass
from agentmux.core.codec.shape import kind_of
from agentmux.core.names.words.nearest import is_mistyped, suggest_name
from agentmux.errors import ConfigError

_LIMITS: Final = Limits(depth=17)
_resolve_tag: Callable[..., str] = yaml.resolver.Resolver().resolve  # its stub has no types
_DURATION: Final = r"(\d{1,9}(?:\.\d{1,6})?)(ms|s|m|h|d)"
_UNIT_S: Final = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0}
_LONGEST_S: Final = 36_500 * 86_400.0
_NULL: Final = "tag:yaml.org,2002:null"
_NOT_TEXT: Final = {
    "tag:yaml.org,2002:bool": bool,
    "tag:yaml.org,2002:int": int,
    "tag:yaml.org,2002:float": float,
    _NULL: type(None),
}


@dataclass(frozen=True, slots=True)
class Node:
    """A value of a YAML file, and its place in the file.

    Attributes:
        value: A text, a list of nodes, or a dict of `SchemaEntry`.
        at: ``file:line``; lines count from 1.
        tag: The YAML type of a text (``tag:yaml.org,2002:int``); empty for lists and dicts.
    """

    value: str | list[Node] | dict[str, SchemaEntry]
    at: str
    tag: str = ""


@dataclass(frozen=True, slots=True)
class SchemaEntry:
    """A value in a mapping, and the place (``file:line``) of its key."""

    at: str
    node: Node


Reader = Callable[[Node, str], object]
JsonSchema = Mapping[str, Any]
"""A JSON Schema (draft 7), as plain values."""
Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class Described(Generic[Value]):
    """A reader that can also describe the values that it accepts, for editors.

    Attributes:
        reader: Takes a node and its dotted key. Returns the node's plain value, or raises
            `ConfigError`.
        describe: Returns the JSON Schema of these values. It may accept more than the reader does,
            never less.
    """

    reader: Callable[[Node, str], Value]
    describe: Callable[[], JsonSchema]

    def __call__(self, node: Node, path: str) -> Value:
        """Check the node and return its plain value, as ``reader`` does.

        ``path`` is the node's dotted key, for messages.

        Raises:
            ConfigError: The reader does not accept the value.
        """
        return self.reader(node, path)


def describe_as(
    describe: Callable[[], JsonSchema],
) -> Callable[[Callable[[Node, str], Value]], Described[Value]]:
    """Return a decorator that makes a reader `Described`.

    A reader takes a node and its dotted key, and returns the node's plain value. ``describe`` takes
    nothing, and returns the JSON Schema of the values that the reader accepts.
    """

    def with_description(reader: Callable[[Node, str], Value]) -> Described[Value]:
        return Described(reader, describe)

    return with_description


@dataclass(frozen=True, slots=True)
class Each:
    """The schema of a mapping that may have any keys, all with the same schema for their values.

    Attributes:
        schema: The schema of each value.
        pattern: A regular expression that each key must match as a whole.
    """

    schema: Schema
    pattern: str = r".+"


@dataclass(frozen=True, slots=True)
class Renamed:
    """The schema of a mapping with known keys (a record), some with more than one spelling.

    Attributes:
        record: The keys and the schemas of their values.
        spellings: Maps another spelling to the key in ``record``.
        others: The schema of any other key, unless it looks like a mistyped key of ``record``; None
            if other keys are errors.
    """

    record: Mapping[str, Schema]
    spellings: Mapping[str, str]
    others: Each | None = None


Nested = Mapping[str, "Schema"] | Each | Renamed
Schema = Nested | Reader
_NESTED: Final = (Each, Renamed, Mapping)


def fail(at: str, what: str, *hints: str) -> NoReturn:
    """Raise a `ConfigError` whose message is ``what``, at the place ``at`` (``file:line``).

    ``hints`` are sentences that say what the user can do.
    """
    raise ConfigError(f"{at}: {what}", hints=hints)


def parse(text: str, name: str) -> Node | None:
    """Parse the single YAML document in ``text``; return None if it is empty.

    Messages call the file ``name``.

    Raises:
        ConfigError: The text is not YAML, or uses anchors, aliases, tags or the same key twice.
    """
    builder: Builder[Node] = _Nodes(name)
    walked = walk(text, builder, _LIMITS)
    node, problems = walked
    for problem in problems:
        not_yaml = "not YAML: " if problem.is_syntax else ""
        fail(f"{name}:{problem.line or 1}", f"{not_yaml}{problem.what}")
    return None if node is None or (node.value == "" and _is_null(node)) else node


class _Nodes:
    """Builds a `Node` for each value for `walk`; ``name`` is the file's name in their places."""

    def __init__(self, name: str) -> None:
        self._name = name

    def _at(self, line: int) -> str:
        return f"{self._name}:{line}"

    def scalar(self, event: yaml.ScalarEvent, line: int) -> Node:
        tag = _resolve_tag(yaml.ScalarNode, event.value, event.implicit)
        return Node(event.value, self._at(line), tag)

    def sequence(self, items: list[Node], line: int) -> Node:
        return Node(items, self._at(line))

    def mapping(self, entries: Mapping[str, tuple[int, Node]], line: int) -> Node:
        values = {key: SchemaEntry(self._at(where), node) for key, (where, node) in entries.items()}
        return Node(values, self._at(line))


def read(node: Node, schema: Schema, path: str = "") -> object:
    """Check ``node`` against ``schema``; return its plain value: what the schema's readers return.

    A schema is a reader (such as `text` returns), a mapping from keys to schemas, an `Each` or a
    `Renamed`. Mappings become dicts, which have only the keys that are in ``node``. ``path`` is the
    dotted key of ``node`` for messages; empty for the whole file.

    Raises:
        ConfigError: The first mistake that was found.
    """
    if isinstance(schema, _NESTED):
        return {
            key: read(entry.node, inner, at) for key, at, entry, inner in _items(node, schema, path)
        }
    return schema(node, path)


def leaves(node: Node, schema: Schema, path: str = "") -> Iterator[tuple[str, str]]:
    """Yield the dotted key and the place (``file:line``) of every value that ``node`` sets.

    ``node`` must have passed `read` with this schema. Keys have the spelling of the schema.
    ``path`` is the dotted key of ``node``; empty for the whole file.
    """
    if not isinstance(schema, _NESTED):
        yield path, node.at
        return
    for _, at, entry, inner in _items(node, schema, path):
        if isinstance(inner, _NESTED):
            yield from leaves(entry.node, inner, at)
        else:
            yield at, entry.at


def keys(schema: Schema, path: str = "") -> Iterator[str]:
    """Yield the dotted keys of all values in the schema; ``*`` stands for any key of an `Each`.

    ``path`` is the dotted key of the schema itself; empty for the whole file.
    """
    if not isinstance(schema, _NESTED):
        yield path
    elif isinstance(schema, Each):
        yield from keys(schema.schema, _join(path, "*"))
    else:
        for key, inner in _record(schema).items():
            yield from keys(inner, _join(path, key))


def _record(schema: Mapping[str, Schema] | Renamed) -> Mapping[str, Schema]:
    return schema.record if isinstance(schema, Renamed) else schema


def _join(path: str, key: str) -> str:
    return f"{path}.{key}" if path else key


def _items(node: Node, schema: Nested, path: str) -> Iterator[tuple[str, str, SchemaEntry, Schema]]:
    if _is_null(node):
        return
    if not isinstance(node.value, dict):
        fail(node.at, f"{_what(path)} must be a mapping, not {_kind(node)}")
    seen: set[str] = set()
    for written, entry in node.value.items():
        key, inner = _field(written, entry, schema, path)
        if key in seen:
            fail(entry.at, f"`{_join(path, key)}` appears twice, once as `{written}`")
        seen.add(key)
        yield key, _join(path, key), entry, inner


def _field(written: str, entry: SchemaEntry, schema: Nested, path: str) -> tuple[str, Schema]:
    if isinstance(schema, Each):
        if not re.fullmatch(schema.pattern, written):
            fail(entry.at, f"`{written}` cannot be a key of {_what(path)}")
        return written, schema.schema
    record = _record(schema)
    key = schema.spellings.get(written, written) if isinstance(schema, Renamed) else written
    others = schema.others if isinstance(schema, Renamed) else None
    if key not in record and others is not None and not is_mistyped(key, record):
        return _field(key, entry, others, path)
    if key not in record:
        place = f" in `{path}`" if path else ""
        fail(entry.at, f"unknown key `{written}`{place}", *_nearest(written, record))
    return key, record[key]


def _nearest(word: str, known: Iterable[str]) -> tuple[str, ...]:
    return suggest_name(word, known) or (f"known: {', '.join(known)}",)


def _what(path: str) -> str:
    return f"`{path}`" if path else "the file"


def _is_null(node: Node) -> bool:
    return node.tag == _NULL


def _kind(node: Node) -> str:
    if not isinstance(node.value, str):
        return kind_of(type(node.value))
    value_type = _NOT_TEXT.get(node.tag)
    return f"`{node.value[:40]}`" if value_type is None else kind_of(value_type)


def wrong(node: Node, path: str, wanted: str, *hints: str) -> NoReturn:
    """Raise a `ConfigError` that says: the value at ``path`` must be ``wanted``, not ``node``.

    ``path`` is the dotted key of ``node``; ``wanted`` describes the accepted values in words.
    """
    description = _kind(node)
    if isinstance(node.value, str) and not _is_null(node):
        description = f"`{node.value[:40]}`"
    fail(node.at, f"`{path}` must be {wanted}, not {description}", *hints)


def text(pattern: str = r"[^\x00-\x1f\x7f]+", wanted: str = "text on one line") -> Reader:
    """Return a reader that accepts text which the regular expression ``pattern`` matches whole.

    Called with a node and its dotted key, the reader returns the text, or raises `ConfigError`.
    Numbers and booleans must be in quotes. Error messages call the expected value ``wanted``.
    """
    whole = re.compile(pattern)

    @describe_as(lambda: {"type": "string", "pattern": f"^(?:{pattern})$"})
    def reader(node: Node, path: str) -> object:
        if not isinstance(node.value, str) or _is_null(node):
            wrong(node, path, wanted)
        if node.tag in _NOT_TEXT:
            wrong(node, path, wanted, f'put it in quotes: "{node.value}"')
        if not whole.fullmatch(node.value):
            wrong(node, path, wanted)
        return node.value

    return reader


def choice(*values: str) -> Reader:
    """Return a reader that accepts only these words.

    Called with a node and its dotted key, the reader returns the word, or raises `ConfigError`.
    """

    @describe_as(lambda: {"type": "string", "enum": [str(value) for value in values]})
    def reader(node: Node, path: str) -> object:
        if not isinstance(node.value, str) or node.value not in values:
            word = node.value if isinstance(node.value, str) else ""
            wanted = "one of " + ", ".join(f"`{value}`" for value in values)
            wrong(node, path, wanted, *suggest_name(word, values))
        return node.value

    return reader


def optional(schema: Schema, *, required: str = "") -> Reader:
    """Return a reader that accepts a value of ``schema``, or null, which becomes None.

    Called with a node and its dotted key, the reader returns the plain value (see `read`), or
    raises `ConfigError`. When configuration files are merged, None replaces a value of a lower one
    like any other value.
    ``required`` is a key that the value must have if it is a record; empty for none.
    """

    @describe_as(lambda: {"anyOf": [_requiring(schema, required), {"type": "null"}]})
    def reader(node: Node, path: str) -> object:
        if _is_null(node):
            return None
        value = read(node, schema, path)
        if required and isinstance(value, dict) and required not in value:
            fail(node.at, f"`{path}` has no `{required}`")
        return value

    return reader


def _requiring(schema: Schema, *keys: str) -> JsonSchema:
    """Return the JSON Schema of a record that must have these keys; empty keys are ignored."""
    return {**described_schema(schema), **({"required": [*keys]} if any(keys) else {})}


@describe_as(lambda: {"type": "string"})
def prose(node: Node, path: str) -> object:
    """Check that the node is text, of any number of lines; return it as it is written.

    Null, numbers and booleans count as the text that stands in the file. ``path`` is the node's
    dotted key, for the message of the `ConfigError`.
    """
    return node.value if isinstance(node.value, str) else wrong(node, path, "text")


def require_places(node: Node, places: tuple[str, ...]) -> None:
    """Check that the text of ``node`` contains only these placeholders: names in braces.

    ``places`` are the names without the braces. Other braces are allowed.

    Raises:
        ConfigError: It contains another one.
    """
    for place in re.findall(r"\{([a-z_]+)\}", str(node.value)):
        if place not in places:
            known = [f"{{{each}}}" for each in places]
            fail(
                node.at, f"nothing is known by `{{{place}}}`", *suggest_name(f"{{{place}}}", known)
            )


@describe_as(lambda: {"type": "boolean"})
def flag(node: Node, path: str) -> object:
    """Check that the node is ``true`` or ``false``, spelled exactly so; return a bool.

    ``path`` is the node's dotted key, for the message of the `ConfigError`.
    """
    if node.tag != "tag:yaml.org,2002:bool" or node.value not in ("true", "false"):
        wrong(node, path, "`true` or `false`")
    return node.value == "true"


def whole(least: int, most: int) -> Reader:
    """Return a reader that accepts a whole number from ``least`` to ``most``.

    Called with a node and its dotted key, the reader returns an int, or raises `ConfigError`. It
    accepts no sign, and at most nine digits.
    """

    @describe_as(lambda: {"type": "integer", "minimum": least, "maximum": most})
    def reader(node: Node, path: str) -> object:
        wanted = f"a whole number from {least} to {most}"
        if not isinstance(node.value, str) or node.tag != "tag:yaml.org,2002:int":
            wrong(node, path, wanted)
        if not re.fullmatch(r"\d{1,9}", node.value) or not least <= int(node.value) <= most:
            wrong(node, path, wanted)
        return int(node.value)

    return reader


def duration(least_s: float = 0.0) -> Reader:
    """Return a reader that accepts a duration such as ``500ms`` or ``2h``.

    Called with a node and its dotted key, the reader returns the number of seconds, or raises
    `ConfigError`. ``least_s`` is the shortest accepted duration, in seconds. One of more than 100
    years is cut to 100 years, because timers and dates cannot represent more.
    """

    @describe_as(lambda: {"type": "string", "pattern": f"^(?:{_DURATION})$"})
    def reader(node: Node, path: str) -> object:
        wanted = "a duration such as `500ms`, `15s`, `10m`, `2h` or `7d`"
        match = None
        if isinstance(node.value, str):
            match = re.fullmatch(_DURATION, node.value)
        if match is None:
            wrong(node, path, wanted)
        seconds = float(match[1]) * _UNIT_S[match[2]]
        if seconds < least_s:
            wrong(node, path, f"at least {least_s:g}s")
        return min(seconds, _LONGEST_S)

    return reader


WORDS: Final[JsonSchema] = {
    "type": "array",
    "items": {"type": ["string", "number", "boolean"]},
}
"""The JSON Schema of a list of words; numbers and booleans in it are read as they are written."""


@describe_as(lambda: WORDS)
def words(node: Node, path: str) -> object:
    """Check that the node is a list of words; return a tuple of texts, exactly as written.

    Numbers and booleans in the list are words, too. ``path`` is the node's dotted key, for the
    message of the `ConfigError`.
    """
    if not isinstance(node.value, list):
        wrong(node, path, 'a list of words such as ["--flag", "value"]')
    for item in node.value:
        if not isinstance(item.value, str) or _is_null(item) or "\x00" in item.value:
            wrong(item, path, "a list of words")
    return tuple(str(item.value) for item in node.value)


@describe_as(lambda: {"type": "string", "minLength": 1})
def pattern(node: Node, path: str) -> object:
    """Check that the node is a regular expression (for ``re.MULTILINE``), and return its text.

    ``path`` is the node's dotted key, for the message of the `ConfigError`.
    """
    if not isinstance(node.value, str) or _is_null(node) or not node.value:
        wrong(node, path, "a regular expression")
    try:
        re.compile(node.value, re.MULTILINE)
    except re.error as error:
        fail(node.at, f"`{path}` is not a regular expression: {error}")
    return node.value


def pair(first: Reader, second: Reader) -> Reader:
    """Return a reader that accepts a list of two values, checked by ``first`` and ``second``.

    Called with a node and its dotted key, the reader returns a tuple of what ``first`` and
    ``second`` return, or raises `ConfigError`.
    """

    def describe() -> JsonSchema:
        items = [described_schema(first), described_schema(second)]
        return {"type": "array", "items": items, "minItems": 2, "maxItems": 2}

    @describe_as(describe)
    def reader(node: Node, path: str) -> object:
        if not isinstance(node.value, list) or len(node.value) != 2:
            wrong(node, path, "a list of two values")
        return (first(node.value[0], path), second(node.value[1], path))

    return reader


def listing(schema: Schema, *, unique: str) -> Described[tuple[dict[str, Any], ...]]:
    """Return a reader that accepts a list of records, each of which has the key ``unique``.

    No two records may have the same value of that key. Called with a node and its dotted key, the
    reader returns a tuple of dicts, which have the keys that are in the file, or raises
    `ConfigError`.

    Args:
        schema: The schema of each record.
        unique: A key of the record.
    """

    @describe_as(lambda: {"type": "array", "items": _requiring(schema, unique)})
    def reader(node: Node, path: str) -> tuple[dict[str, Any], ...]:
        if not isinstance(node.value, list):
            wrong(node, path, "a list")
        records: dict[object, dict[str, Any]] = {}
        for index, item in enumerate(node.value):
            record = read(item, schema, f"{path}[{index}]")
            if not isinstance(record, dict) or unique not in record:
                fail(item.at, f"`{path}[{index}]` has no `{unique}`")
            if record[unique] in records:
                fail(item.at, f"`{path}` has two entries with `{unique}: {record[unique]}`")
            records[record[unique]] = record
        return tuple(records.values())

    return reader


def described_schema(schema: Schema) -> dict[str, Any]:
    """Return the JSON Schema (draft 7) of what `read` accepts for ``schema``.

    It may accept more than `read` does, because a JSON Schema cannot express every rule.

    Raises:
        TypeError: A reader in ``schema`` is not `Described`.
    """
    if isinstance(schema, Each):
        keys_ = {"pattern": f"^(?:{schema.pattern})$"}
        inner = described_schema(schema.schema)
        return {**_MAPPING, "propertyNames": keys_, "additionalProperties": inner}
    if isinstance(schema, Renamed | Mapping):
        return {**_MAPPING, **_described_record(schema)}
    if not isinstance(schema, Described):
        raise TypeError(f"{schema} does not say which values it accepts: see `describe_as`")
    return dict(schema.describe())


_MAPPING: Final = {"type": ["object", "null"]}
"""The JSON Schema of any mapping.

Null is allowed: a key without a value leaves a mapping unchanged.
"""


def _described_record(schema: Mapping[str, Schema] | Renamed) -> dict[str, Any]:
    record = {key: described_schema(inner) for key, inner in _record(schema).items()}
    if not isinstance(schema, Renamed):
        return {"properties": record, "additionalProperties": False}
    record |= {other: record[key] for other, key in schema.spellings.items()}
    if schema.others is None:
        return {"properties": record, "additionalProperties": False}
    named = {"anyOf": [{"enum": [*record]}, {"pattern": f"^(?:{schema.others.pattern})$"}]}
    others = described_schema(schema.others.schema)
    return {"properties": record, "additionalProperties": others, "propertyNames": named}
