"""Read a YAML file as plain values with lines, for `core.definitions.check`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import yaml

from agentmux.adapters.yaml.documents import plain_scalar
from agentmux.adapters.yaml.walker import Builder, Limits, walk
from agentmux.core.definitions.located import Entry, Located, Problem
from agentmux.core.definitions.reading import PROBLEMS_MAX

_LIMITS: Final = Limits(depth=12, nodes=20_000, problems=PROBLEMS_MAX)


def load_located(data: bytes) -> tuple[Located | None, tuple[Problem, ...]]:
    """Parse one YAML document strictly; return its value, and all problems.

    The value is None if there are problems or the file is empty. What may be written in it is as in
    `documents.load_yaml`.
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        return None, (Problem(line=line, what=f"byte {error.start} is not UTF-8"),)
    builder: Builder[Located] = _LocatedValues()
    walked = walk(text, builder, _LIMITS)
    item, problems = walked
    if item is not None and item.value is None:
        item = None
    return item, tuple(Problem(line=each.line or 1, what=each.what) for each in problems)


class _LocatedValues:
    """Builds a `Located` for each value, for `walk`."""

    def scalar(self, event: yaml.ScalarEvent, line: int) -> Located:
        return Located(value=plain_scalar(event), line=line)

    def sequence(self, items: list[Located], line: int) -> Located:
        return Located(value=tuple(items), line=line)

    def mapping(self, entries: Mapping[str, tuple[int, Located]], line: int) -> Located:
        found = {key: Entry(line=at, item=item) for key, (at, item) in entries.items()}
        return Located(value=found, line=line)
