"""Walks over a YAML text: checks it, and builds values with the caller's `Builder`.

`walk` uses the parser's events, so no YAML constructor ever runs. Anchors, aliases, tags, duplicate
keys and deep nesting are problems. So no file can use much more memory than its own size, or mean
something other than it says.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, Generic, NoReturn, Protocol, TypeVar

import yaml

from agentmux.core.codec.frozen import dataclass

_LOADER: Final[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # C is 8 times faster
_NO_ALIAS: Final = "an alias (`*…`) is not allowed; write its value, or quote the text"
_TOO_DEEP: Final = "exceeded maximum nesting depth"
"""The error of libyaml for brackets nested beyond its own limit, before it reports any of them."""
_ADVICE: Final = {
    "mapping values are not allowed": "; quote text that contains `: `",
    "expected alphabetic or numeric": "; quote text that begins with `*` or `&`",
    "cannot start any token": "; quote text that begins with a sign",
}

Built = TypeVar("Built")


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The YAML features and sizes that a text may use; anything beyond a limit is a problem.

    Attributes:
        depth: Levels of nesting; the document's own value is the first.
        nodes: The maximum number of all values and keys; None for no limit.
        problems: The walk ends after this many problems.
        tags: The explicit tags that a scalar may have.
    """

    depth: int
    nodes: int | None = None
    problems: int = 1
    tags: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class YamlProblem:
    """One mistake in a text.

    Attributes:
        line: The line, from 1; None if the parser does not report it.
        what: A description of the mistake, without the line.
        is_syntax: Whether the text is invalid YAML; if false, it uses a feature that is not allowed
            here.
    """

    line: int | None
    what: str
    is_syntax: bool = False


class Builder(Protocol[Built]):
    """Builds the values of a document for `walk`, innermost first; lines count from 1.

    An item may be None, for a value that `walk` has refused. A `ValueError` that a method raises
    becomes a problem of the document.
    """

    def scalar(self, event: yaml.ScalarEvent, line: int, /) -> Built:
        """Build the value of a scalar (one word or text) that begins at ``line``."""

    def sequence(self, items: list[Built], line: int, /) -> Built:
        """Build the value of a sequence from the values of its items."""

    def mapping(self, entries: Mapping[str, tuple[int, Built]], line: int, /) -> Built:
        """Build the value of a mapping; ``entries`` has each key's line and value, by key."""


def walk(
    text: str, builder: Builder[Built], limits: Limits, *, first_line: int = 1
) -> tuple[Built | None, tuple[YamlProblem, ...]]:
    """Build the value of the single document in ``text``; return it and all problems.

    It does not raise for a mistake in the text. The value is None if there are problems or the text
    has no document.

    Args:
        text: The YAML text.
        builder: Builds the value of each node, the innermost first.
        limits: What the text may use, and after how many problems the walk ends.
        first_line: The line of the file at which ``text`` begins.
    """
    return _Walk(builder, limits, first_line).document(text)


class _RefusedError(Exception):
    """Ends the walk; its cause is already in the list of problems."""


class _Walk(Generic[Built]):
    def __init__(self, builder: Builder[Built], limits: Limits, first_line: int) -> None:
        self._builder = builder
        self._limits = limits
        self._first_line = first_line
        self._problems: list[YamlProblem] = []
        self._nodes = 0

    def document(self, text: str) -> tuple[Built | None, tuple[YamlProblem, ...]]:
        value = None
        try:
            value = self._only(yaml.parse(text, Loader=_LOADER))
        except _RefusedError:
            pass
        except yaml.YAMLError as error:
            self._problems.append(self._syntax(error))
        except (RecursionError, ValueError) as error:
            self._problems.append(YamlProblem(line=None, what=f"cannot be read: {error}"))
        return (None if self._problems else value), tuple(self._problems)

    def _only(self, events: Iterator[yaml.Event]) -> Built | None:
        value: Built | None = None
        documents = 0
        for event in events:
            if isinstance(event, yaml.DocumentStartEvent):
                documents += 1
                if documents > 1:
                    self._refuse(event, "a second document begins; write one only")
                value = self._node(next(events), events, 1)
        return value

    def _node(self, event: yaml.Event, rest: Iterator[yaml.Event], depth: int) -> Built | None:
        self._count(event, depth)
        if isinstance(event, yaml.AliasEvent):
            self._note(event, _NO_ALIAS)
            return None
        self._check_marks(event)
        if isinstance(event, yaml.ScalarEvent):
            return self._builder.scalar(event, self._line(event))
        if isinstance(event, yaml.SequenceStartEvent):
            return self._sequence(event, rest, depth)
        return self._mapping(event, rest, depth)

    def _count(self, event: yaml.Event, depth: int) -> None:
        self._nodes += 1
        if self._limits.nodes is not None and self._nodes > self._limits.nodes:
            self._refuse(event, f"more than {self._limits.nodes} values")
        if depth > self._limits.depth:
            self._refuse(event, f"nested over {self._limits.depth} levels")

    def _check_marks(self, event: yaml.Event) -> None:
        anchor, tag = getattr(event, "anchor", None), getattr(event, "tag", None)
        if anchor is not None:
            self._note(event, "an anchor (`&…`) is not allowed; quote the text")
        allowed = isinstance(event, yaml.ScalarEvent) and tag in self._limits.tags
        if tag is not None and not allowed:
            self._note(event, "a tag (`!…`) is not allowed; quote the text")

    def _sequence(self, start: yaml.Event, rest: Iterator[yaml.Event], depth: int) -> Built:
        items: list[Any] = []  # a None in it is a problem, and then nothing is returned
        while not isinstance(event := next(rest), yaml.SequenceEndEvent):
            items.append(self._node(event, rest, depth + 1))
        return self._builder.sequence(items, self._line(start))

    def _mapping(self, start: yaml.Event, rest: Iterator[yaml.Event], depth: int) -> Built:
        entries: dict[str, tuple[int, Any]] = {}  # as above
        while not isinstance(event := next(rest), yaml.MappingEndEvent):
            self._node(event, rest, depth + 1)
            key = event.value if isinstance(event, yaml.ScalarEvent) else None
            if key is None:
                self._note(event, "a key must be a plain word")
            elif key in entries:
                first = entries[key][0]
                self._note(event, f"the key `{key[:40]}` appears twice, first in line {first}")
            value = self._node(next(rest), rest, depth + 1)
            if key is not None:
                entries[key] = (self._line(event), value)
        return self._builder.mapping(entries, self._line(start))

    def _line(self, event: yaml.Event) -> int:
        mark = event.start_mark
        return self._first_line + (mark.line if mark is not None else 0)

    def _note(self, event: yaml.Event, what: str) -> None:
        self._problems.append(YamlProblem(line=self._line(event), what=what))
        if len(self._problems) >= self._limits.problems:
            raise _RefusedError

    def _refuse(self, event: yaml.Event, what: str) -> NoReturn:
        self._note(event, what)
        raise _RefusedError

    def _syntax(self, error: yaml.YAMLError) -> YamlProblem:
        mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
        reason = getattr(error, "problem", None) or str(error).partition("\n")[0]
        advice = next((words for part, words in _ADVICE.items() if part in reason), "")
        line = mark.line + self._first_line if mark is not None else None
        if _TOO_DEEP in reason:
            return YamlProblem(line=line, what=f"nested over {self._limits.depth} levels")
        return YamlProblem(line=line, what=f"{reason}{advice}", is_syntax=True)
