"""Reads a YAML file as plain values with line numbers, for pipeline definitions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import yaml

from agentmux.adapters.yaml.documents import plain_scalar
from agentmux.adapters.yaml.walker import Builder, Limits, walk
from agentmux.core.definitions.located import PROBLEMS_MAX, Located, Problem

_LIMITS: Final = Limits(depth=12, nodes=20_000, problems=PROBLEMS_MAX)


def load_located(data: bytes) -> tuple[Located | None, tuple[Problem, ...]]:
    """Parse one YAML document strictly; return its value, and all problems.

    It does not raise for a mistake. The value is None if there are problems or the file is empty.
    The rules are those of `documents.load_yaml`, but with at most 12 levels and without tags.
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
    """Builds a `Located` for each value for `walk`; None stands for a refused value."""

    def scalar(self, event: yaml.ScalarEvent, line: int) -> Located:
        return Located(value=plain_scalar(event), lines={"": line})

    def sequence(self, items: list[Any], line: int) -> Located:
        known = {f"[{at}]": (each.line(), each) for at, each in enumerate(items) if each}
        return Located(value=[each.value for _, each in known.values()], lines=_lines(known, line))

    def mapping(self, entries: Mapping[str, tuple[int, Located | None]], line: int) -> Located:
        known = {key: (at, each) for key, (at, each) in entries.items() if each}
        values = {key: each.value for key, (_, each) in known.items()}
        return Located(value=values, lines=_lines(known, line))


def _lines(parts: Mapping[str, tuple[int, Located]], line: int) -> dict[str, int]:
    """Return the line of a value, of each of its parts, and of their parts, by place."""
    lines = {"": line}
    for name, (at, part) in parts.items():
        for place, inner in part.lines.items():
            dot = "." if place and not place.startswith("[") else ""
            lines[f"{name}{dot}{place}"] = inner if place else at
    return lines
