"""Reads agents' files (strict YAML, and Markdown with front matter) as plain values.

An agent's file is untrusted. It cannot create an object of any class but those in `Value`, use much
more memory than its own size, or mean something other than it says: ``no`` stays the word ``no``,
``0123`` the word ``0123``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, TypeAlias

import yaml

from agentmux.adapters.yaml.walker import Limits, YamlProblem, walk
from agentmux.core.codec.frozen import dataclass

Value: TypeAlias = "str | int | list[Value] | dict[str, Value] | None"
"""A plain value of a document. Booleans are not listed, since ``bool`` is a subclass of ``int``."""

DEPTH_MAX: Final = 40
NODES_MAX: Final = 20_000
PROBLEMS_MAX: Final = 50
"""The number of problems after which parsing stops: nobody fixes more at once, and a hostile file
(an alias bomb) has thousands."""

_LIMITS: Final = Limits(
    depth=DEPTH_MAX,
    nodes=NODES_MAX,
    problems=PROBLEMS_MAX,
    tags=frozenset({"!", "tag:yaml.org,2002:str"}),
)
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
    """The result of parsing one YAML document.

    Attributes:
        value: The document's value; None if there are problems.
        problems: A sentence for each problem, with its line (from 1) if known; empty if the text is
            valid.
    """

    value: Value
    problems: tuple[str, ...] = ()


def load_yaml(data: bytes) -> Loaded:
    """Parse one YAML document strictly; mistakes are returned as problems, not raised.

    An unquoted word is null (``null``, ``~``, nothing), a boolean (``true``, ``false``), a decimal
    whole number without leading zeros, or else text. Anchors, aliases, tags (except ``!`` and
    ``!!str``, which make text), keys that appear twice, a second document, over 40 levels and over
    20000 nodes are problems.
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        return Loaded(value=None, problems=(f"byte {error.start}: not UTF-8",))
    return _load(text, first_line=1)


def front_matter(text: str) -> tuple[dict[str, Value], str, tuple[str, ...]]:
    """Return the front matter of a Markdown text as a mapping, the text after it, and the problems.

    The front matter is YAML between two ``---`` lines at the very beginning. If one of these
    lines is missing, the mapping is empty and the text is returned whole, without a problem. The
    mapping is also empty if there are problems, which are sentences with the line in ``text`` if it
    is known.
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


def _load(text: str, *, first_line: int) -> Loaded:
    value, problems = walk(text, _PlainValues(), _LIMITS, first_line=first_line)
    return Loaded(value=value, problems=tuple(map(_in_words, problems)))


def _in_words(problem: YamlProblem) -> str:
    return problem.what if problem.line is None else f"line {problem.line}: {problem.what}"


class _PlainValues:
    """Builds plain values for `walk`, without line numbers."""

    def scalar(self, event: yaml.ScalarEvent, _line: int) -> Value:
        return plain_scalar(event)

    def sequence(self, items: list[Value], _line: int) -> Value:
        return items

    def mapping(self, entries: Mapping[str, tuple[int, Value]], _line: int) -> Value:
        return {key: value for key, (_, value) in entries.items()}


def plain_scalar(event: yaml.ScalarEvent) -> str | int | None:
    """Return the value of a scalar by the rules of `load_yaml`.

    A quoted scalar, or one with a tag, is text. An unquoted one may be None, a bool or an int.
    """
    text = event.value
    if event.style not in {None, ""} or event.tag is not None:
        return text
    if text in _NULL:
        return None
    if text in _BOOL:
        return _BOOL[text]
    return int(text) if _INT.fullmatch(text) else text
