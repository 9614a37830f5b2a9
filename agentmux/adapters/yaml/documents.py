"""What agents leave, read as data: strict YAML and the front matter of Markdown.

An agent's file is untrusted. Nothing in it can make an object, take more memory than it has bytes,
or mean something else than it says: `no` stays the word ``no``, `0123` the word ``0123``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, Final, TypeAlias

import yaml

from agentmux.core.codec.frozen import dataclass

Value: TypeAlias = "str | int | list[Value] | dict[str, Value] | None"
"""What a document can hold; booleans are among the ints."""

DEPTH_MAX: Final = 40
NODES_MAX: Final = 20_000
PROBLEMS_MAX: Final = 50
"""Nobody mends more at once; an alias bomb has thousands."""

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # C is 8 times faster
_TEXT_TAGS: Final = frozenset({"!", "tag:yaml.org,2002:str"})
_NULL: Final = frozenset({"", "~", "null", "Null", "NULL"})
_BOOL: Final = {
    "true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False,
}  # fmt: skip
_INT = re.compile(r"[-+]?(?:0|[1-9][0-9]{0,17})")
_FRONT_MATTER = re.compile(
    r"\ufeff?---[ \t]*\r?\n(?P<head>.*?)^(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)(?P<body>.*)",
    re.DOTALL | re.MULTILINE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """One YAML document.

    Attributes:
        value: None where there are problems.
        problems: Each with its line, from 1; empty if all is well.
    """

    value: Value
    problems: tuple[str, ...] = ()


def load_yaml(data: bytes) -> Loaded:
    """Decode one YAML document strictly.

    Plain words are null (``null``, ``~``, nothing), a boolean (``true``, ``false``), a decimal
    whole number without leading zeros, or else text. Anchors, aliases, tags, keys that appear
    twice, a second document, over 40 levels and over 20000 nodes are problems.
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        return Loaded(value=None, problems=(f"byte {error.start}: not UTF-8",))
    return _load(text, first_line=1)


def front_matter(text: str) -> tuple[dict[str, Value], str, tuple[str, ...]]:
    """Split a Markdown text into the mapping at its head, the rest, and problems of the head.

    A text that does not begin with a ``---`` line, or has no second one, has no head; then, and
    where the head has problems, the mapping is empty.
    """
    match = _FRONT_MATTER.match(text)
    if match is None:
        return {}, text, ()
    loaded = _load(match["head"], first_line=2)
    if loaded.problems or loaded.value is None:
        return {}, match["body"], loaded.problems
    if not isinstance(loaded.value, dict):
        return {}, match["body"], ("line 2: the front matter is not a mapping",)
    return loaded.value, match["body"], ()


class _RefusedError(Exception):
    """The document is not read any further."""


def _load(text: str, *, first_line: int) -> Loaded:
    builder = _Builder(first_line)
    try:
        value = builder.document(yaml.parse(text, Loader=_LOADER))
    except _RefusedError:
        value = None
    except yaml.YAMLError as error:
        value = None
        builder.problems.append(_syntax_problem(error, first_line))
    except (RecursionError, ValueError) as error:
        value = None
        builder.problems.append(f"cannot be read: {error}")
    if builder.problems:
        return Loaded(value=None, problems=tuple(builder.problems))
    return Loaded(value=value)


class _Builder:
    """Builds plain values out of the parser's events, so that no constructor ever runs."""

    def __init__(self, first_line: int) -> None:
        self.problems: list[str] = []
        self._first_line = first_line
        self._nodes = 0

    def document(self, events: Iterable[yaml.Event]) -> Value:
        rest = iter(events)
        value: Value = None
        documents = 0
        for event in rest:
            if isinstance(event, yaml.DocumentStartEvent):
                documents += 1
                if documents > 1:
                    self._refuse(event, "a second document begins; write one only")
                value = self._node(next(rest), rest, 1)
        return value

    def _node(self, event: yaml.Event, rest: Iterator[yaml.Event], depth: int) -> Value:
        self._nodes += 1
        if self._nodes > NODES_MAX:
            self._refuse(event, f"more than {NODES_MAX} values")
        if depth > DEPTH_MAX:
            self._refuse(event, f"nested over {DEPTH_MAX} levels")
        if isinstance(event, yaml.AliasEvent):
            self._note(event, "an alias (`*…`) is not allowed; quote text that begins with `*`")
            return None
        self._check_marks(event)
        if isinstance(event, yaml.ScalarEvent):
            return _scalar(event)
        if isinstance(event, yaml.SequenceStartEvent):
            return self._sequence(rest, depth)
        return self._mapping(rest, depth)

    def _check_marks(self, event: yaml.Event) -> None:
        anchor, tag = getattr(event, "anchor", None), getattr(event, "tag", None)
        if anchor is not None:
            self._note(event, "an anchor (`&…`) is not allowed; quote text that begins with `&`")
        if tag is not None and not (isinstance(event, yaml.ScalarEvent) and tag in _TEXT_TAGS):
            self._note(event, "a tag (`!…`) is not allowed; quote text that begins with `!`")

    def _sequence(self, rest: Iterator[yaml.Event], depth: int) -> list[Value]:
        values: list[Value] = []
        while not isinstance(event := next(rest), yaml.SequenceEndEvent):
            values.append(self._node(event, rest, depth + 1))
        return values

    def _mapping(self, rest: Iterator[yaml.Event], depth: int) -> dict[str, Value]:
        values: dict[str, Value] = {}
        while not isinstance(event := next(rest), yaml.MappingEndEvent):
            key = event.value if isinstance(event, yaml.ScalarEvent) else None
            self._node(event, rest, depth + 1)
            if key is None:
                self._note(event, "a key must be a plain word")
            elif key in values:
                self._note(event, f"the key `{key[:40]}` appears twice")
            value = self._node(next(rest), rest, depth + 1)
            if key is not None:
                values[key] = value
        return values

    def _note(self, event: yaml.Event, problem: str) -> None:
        mark = event.start_mark
        line = self._first_line + (mark.line if mark is not None else 0)
        self.problems.append(f"line {line}: {problem}")
        if len(self.problems) >= PROBLEMS_MAX:
            raise _RefusedError

    def _refuse(self, event: yaml.Event, problem: str) -> None:
        self._note(event, problem)
        raise _RefusedError


def _scalar(event: yaml.ScalarEvent) -> str | int | None:
    text = event.value
    if event.style not in {None, ""} or event.tag is not None:
        return text
    if text in _NULL:
        return None
    if text in _BOOL:
        return _BOOL[text]
    return int(text) if _INT.fullmatch(text) else text


def _syntax_problem(error: yaml.YAMLError, first_line: int) -> str:
    mark = getattr(error, "problem_mark", None)
    reason = getattr(error, "problem", None) or str(error).partition("\n")[0]
    line = f"line {mark.line + first_line}: " if mark is not None else ""
    return f"{line}{reason}{_advice(reason)}"


def _advice(reason: str) -> str:
    if "mapping values are not allowed" in reason:
        return "; quote text that contains `: `"
    if "expected alphabetic or numeric" in reason:
        return "; quote text that begins with `*` or `&`"
    if "cannot start any token" in reason:
        return "; quote text that begins with a sign"
    return ""
