"""Values of a file with their lines, so that a mistake can be found there. Parses nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from agentmux.core.codec.frozen import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Located:
    """A value and the line at which it begins; lines count from 1."""

    value: Value
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """The value of a key in a mapping, and the line of the key."""

    line: int
    item: Located


Value: TypeAlias = "str | int | tuple[Located, ...] | Mapping[str, Entry] | None"
"""A plain value. Booleans are not listed, since ``bool`` is a subclass of ``int``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One mistake in a file: its line, and what is wrong, in words without the line."""

    line: int
    what: str
