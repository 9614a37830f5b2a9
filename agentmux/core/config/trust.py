"""Which parts of a project's files need the user's trust, and which are trusted; pure.

A *part* is a piece of the project's configuration that makes AgentMux run a program or tell an
agent something, such as ``agents.claude`` or ``roles.coder``, or a prompt that the project adds.
Trust applies to the hash of the part's value: after any change the user has to trust it again.
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
    ("git", "root"),
    ("git", "copy"),
    ("git", "setup"),
    ("verify",),
)
"""The paths of the parts in a configuration; with ``*``, each key at that place is a part."""

PROMPTS: Final = "prompts"
"""The first key in the path of a prompt's part."""
COPIED: Final = "worktreeinclude"
"""The key of the part with the patterns of the ignored files to copy into a new worktree."""
PIPELINES: Final = "pipelines"
"""The first key in the path of a pipeline's part."""
_AGENTS: Final = "agents"


class TrustState(StrEnum):
    """The user's trust in a `Part`.

    *trusted*: the user trusts it as it is now. *changed*: the user trusted it before it changed.
    *new*: the user never trusted it.
    """

    TRUSTED = "trusted"
    CHANGED = "changed"
    NEW = "new"


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A part of a project's files that has no effect until the user trusts it.

    Attributes:
        path: The keys that lead to the part, from the top of the configuration, such as
            ``("agents", "claude")``. For what is no setting, a made-up path: ``("prompts", ROLE)``,
            ``("pipelines", NAME)`` or ``("worktreeinclude",)``.
        value: The part's value as plain data, as the schema returns it; for a prompt its text.
    """

    path: tuple[str, ...]
    value: object

    @property
    def key(self) -> str:
        """The path as a dotted name, such as ``agents.claude``."""
        return ".".join(self.path)

    @property
    def digest(self) -> str:
        """The SHA-256 of the path and the value, in hexadecimal; trust is bound to it."""
        text = json.dumps([*self.path, self.value], sort_keys=True, separators=(",", ":"))
        return sha256(text.encode()).hexdigest()


TrustedParts = Mapping[str, str]
"""Maps the key of each part that the user trusted (`Part.key`) to its digest at that time."""


def parts_of(values: Mapping[str, Any]) -> tuple[Part, ...]:
    """Return the parts of a project's configuration file that need the user's trust.

    ``values`` is the parsed and checked content of the file: sections by name, such as ``roles``.
    """
    return tuple(part for pattern in PARTS for part in _below(values, pattern, ()))


def _below(value: object, pattern: tuple[str, ...], path: tuple[str, ...]) -> Iterable[Part]:
    if not pattern:
        yield Part(path=path, value=value)
    elif isinstance(value, Mapping):
        first, *rest = pattern
        for key in value if first == "*" else {first} & value.keys():
            yield from _below(value[key], tuple(rest), (*path, key))


def without(values: Mapping[str, Any], parts: Iterable[Part]) -> dict[str, Any]:
    """Return a copy of the configuration ``values`` without ``parts``, which must all be in it."""
    config = dict(values)
    for part in parts:
        config = _unset(config, part.path)
    return config


def _unset(values: Mapping[str, Any], path: tuple[str, ...]) -> dict[str, Any]:
    first, *rest = path
    if not rest:
        return {key: value for key, value in values.items() if key != first}
    return {**values, first: _unset(values[first], tuple(rest))}


def prompt_part(role: str, text: str) -> Part:
    """Make the `Part` for ``text``, which a project adds to the prompts of ``role``."""
    return Part(path=(PROMPTS, role), value=text)


def pipeline_part(name: str, texts: Mapping[str, str]) -> Part:
    """Make the `Part` for the project's pipeline ``name``.

    ``texts`` maps ``NAME.yaml``, and the name of each prompt and schema that belongs to the
    pipeline, to the text.
    """
    return Part(path=(PIPELINES, name), value=dict(texts))


def copied_part(patterns: str) -> Part:
    """Make the `Part` for the project's patterns of the files to copy into a new worktree.

    ``patterns`` is the whole text of the file with the patterns.
    """
    return Part(path=(COPIED,), value=patterns)


def trust_state(part: Part, known: TrustedParts) -> TrustState:
    """Return the user's trust in ``part``.

    ``known`` maps the key of each part that the user trusted to its digest at that time.
    """
    if part.key not in known:
        return TrustState.NEW
    return TrustState.TRUSTED if known[part.key] == part.digest else TrustState.CHANGED


def select_usable(parts: Iterable[Part], keys: frozenset[str]) -> frozenset[str]:
    """Return the keys of the parts that AgentMux may use, out of those the user consents to.

    An agent whose ``like`` names another agent of the project may be used only if that other agent
    may be used, too.

    Args:
        parts: All parts of the project.
        keys: The keys (`Part.key`) of the parts to which the user consents.
    """
    candidates = {part.key: part for part in parts if part.key in keys}
    names = {part.key for part in parts if part.path[0] == _AGENTS}
    while True:
        lost = {
            key
            for key, part in candidates.items()
            if (base := _base(part)) in names and base not in candidates
        }
        if not lost:
            return frozenset(candidates)
        candidates = {key: part for key, part in candidates.items() if key not in lost}


def _base(part: Part) -> str:
    """Return the key of the agent that the ``like`` of ``part`` names; empty if it has none."""
    value = part.value if part.path[0] == _AGENTS else None
    base = value.get("like") if isinstance(value, Mapping) else None
    return f"{_AGENTS}.{base}" if base else ""


def select_trusted(parts: Iterable[Part], known: TrustedParts) -> frozenset[str]:
    """Return the keys of the parts that AgentMux may use because the user trusts them.

    An agent whose ``like`` names another agent of the project may be used only if the user trusts
    that other agent, too.

    Args:
        parts: All parts of the project.
        known: Maps the key of each part that the user trusted to its digest at that time.
    """
    every = tuple(parts)
    keys = (part.key for part in every if trust_state(part, known) is TrustState.TRUSTED)
    return select_usable(every, frozenset(keys))


def find_needed_parts(
    parts: Iterable[Part], kept: frozenset[str], effect: Callable[[frozenset[str]], object]
) -> tuple[Part, ...]:
    """Return the unused parts that would change what a command does.

    Empty if the command does the same with and without them.

    Args:
        parts: All parts of the project.
        kept: The keys (`Part.key`) of the parts that are used already.
        effect: A function that takes keys of parts and returns what the command would do if only
            these parts were used, in any form: the results are only compared with ``==``.
    """
    others = {part.key: part for part in parts if part.key not in kept}
    every = kept | others.keys()
    whole = effect(every) if others else None
    if not others or effect(kept) == whole:
        return ()
    used = [key for key in others if effect(every - {key}) != whole]
    # Two parts may have the same effect: then leaving out only one of them changes nothing.
    enough = used if effect(kept | frozenset(used)) == whole else others
    return tuple(others[key] for key in enough)
