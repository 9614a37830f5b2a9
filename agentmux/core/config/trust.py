"""What a project's files make us run or tell an agent, and which of it its user trusts; pure.

A *part* is one piece of the project's configuration that needs trust, such as ``agents.claude`` or
``roles.coder``, or one prompt that the project adds. It is trusted by the hash of its value, so any
change of it asks again, and a change of anything else does not.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from typing import Any, Final

from agentmux.core.codec.digests import sha256
from agentmux.core.codec.frozen import dataclass

PARTS: Final = (
    ("defaults", "agent"),
    ("defaults", "model"),
    ("roles", "*"),
    ("agents", "*"),
    ("resume", "commands", "*"),
)
"""Where the parts stand in a configuration; ``*`` is any key, and each of them a part."""

PROMPTS: Final = "prompts"
_AGENTS: Final = "agents"


class Standing(StrEnum):
    """Whether a part is trusted, and if not, whether an earlier form of it was."""

    TRUSTED = "trusted"
    CHANGED = "changed"
    NEW = "new"


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One part.

    Attributes:
        path: The keys that lead to it.
        value: Plain values, as the schema returns them; of a prompt its text.
    """

    path: tuple[str, ...]
    value: object

    @property
    def key(self) -> str:
        """Its dotted name."""
        return ".".join(self.path)

    @property
    def digest(self) -> str:
        """The hash of name and value."""
        text = json.dumps([*self.path, self.value], sort_keys=True, separators=(",", ":"))
        return sha256(text.encode()).hexdigest()


TrustedParts = Mapping[str, str]
"""What is trusted: the digest by the part's key."""


def parts_of(values: Mapping[str, Any]) -> tuple[Part, ...]:
    """Return the parts of one configuration file, checked and as plain values."""
    return tuple(part for pattern in PARTS for part in _below(values, pattern, ()))


def _below(value: object, pattern: tuple[str, ...], path: tuple[str, ...]) -> Iterable[Part]:
    if not pattern:
        yield Part(path=path, value=value)
    elif isinstance(value, Mapping):
        first, *rest = pattern
        for key in value if first == "*" else {first} & value.keys():
            yield from _below(value[key], tuple(rest), (*path, key))


def without(values: Mapping[str, Any], parts: Iterable[Part]) -> dict[str, Any]:
    """Return a configuration in which these parts are not set."""
    made = dict(values)
    for part in parts:
        made = _unset(made, part.path)
    return made


def _unset(values: Mapping[str, Any], path: tuple[str, ...]) -> dict[str, Any]:
    first, *rest = path
    if not rest:
        return {key: value for key, value in values.items() if key != first}
    return {**values, first: _unset(values[first], tuple(rest))}


def prompt_part(role: str, text: str) -> Part:
    """Return what a project adds to the prompts of ``role`` as a part."""
    return Part(path=(PROMPTS, role), value=text)


def standing(part: Part, known: TrustedParts) -> Standing:
    """Say whether a part is trusted."""
    if part.key not in known:
        return Standing.NEW
    return Standing.TRUSTED if known[part.key] == part.digest else Standing.CHANGED


def allowed(parts: Iterable[Part], keys: frozenset[str]) -> frozenset[str]:
    """Return those of ``keys`` that may have effect.

    An agent that is like another of the project's own goes with that one.
    """
    found = {part.key: part for part in parts if part.key in keys}
    names = {part.key for part in parts if part.path[0] == _AGENTS}
    while True:
        lost = {
            key
            for key, part in found.items()
            if (base := _base(part)) in names and base not in found
        }
        if not lost:
            return frozenset(found)
        found = {key: part for key, part in found.items() if key not in lost}


def _base(part: Part) -> str:
    """Return the key of the agent that an agent is like; empty where there is none."""
    is_agent = part.path[0] == _AGENTS and isinstance(part.value, Mapping)
    base = part.value.get("like") if is_agent else None  # type: ignore[attr-defined]  # a mapping
    return f"{_AGENTS}.{base}" if base else ""


def trusted(parts: Iterable[Part], known: TrustedParts) -> frozenset[str]:
    """Return the keys of the parts that may have effect by what is trusted."""
    every = tuple(parts)
    keys = (part.key for part in every if standing(part, known) is Standing.TRUSTED)
    return allowed(every, frozenset(keys))


def needed(
    parts: Iterable[Part], kept: frozenset[str], effect: Callable[[frozenset[str]], object]
) -> tuple[Part, ...]:
    """Return the parts beyond ``kept`` that a command would use; none where they change nothing.

    Args:
        effect: What the command would do if the parts of these keys had effect.
    """
    others = {part.key: part for part in parts if part.key not in kept}
    every = kept | others.keys()
    whole = effect(every) if others else None
    if not others or effect(kept) == whole:
        return ()
    used = [key for key in others if effect(every - {key}) != whole]
    # Where one part stands in for another, leaving out one alone shows nothing.
    enough = used if effect(kept | frozenset(used)) == whole else others
    return tuple(others[key] for key in enough)
