"""The JSON Schemas of a pipeline: checks whether one is usable, and checks documents against it.

A schema is text from a project, so it is limited: it cannot fetch anything, run for long, or
recurse without end. `jsonschema` runs no code of a schema.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from math import comb
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from jsonschema.protocols import Validator

PROBLEMS_MAX: Final = 50
STEPS_MAX: Final = 100_000
"""The maximum number of schema keywords applied to one document; a large review needs thousands."""
_DEPTH_MAX: Final = 40
_BY_KEY: Final = frozenset({"patternProperties", "additionalProperties", "unevaluatedProperties"})
"""The keywords that match the patterns of ``patternProperties`` against keys."""
_PATTERN_MAX: Final = 200
_SHOWN: Final = 300
_TRIES_MAX: Final = 5_000_000_000
"""The maximum number of ways of matching patterns against one document; a thousand million take
about a second."""
_NO_CHOICE: Final = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\(\?")
_CHOICE: Final = re.compile(r"[*+?|]|\{\d*,")
_QUANTIFIED_GROUP: Final = re.compile(r"\)[*+{]")
"""Matches a repeated group, which may take exponential time on a text that does not match."""


class _TooLongError(Exception):
    """The schema applies too many keywords to the document."""


def schema_problem(text: str) -> str:
    """Check the text of a JSON Schema; return why it cannot be used, or an empty text if it can.

    It does not raise.
    """
    try:
        schema = json.loads(text, object_pairs_hook=_once)
    except RecursionError:
        return "it is nested too deeply"
    except ValueError as error:
        return f"it is not JSON: {error}"
    if not isinstance(schema, dict):
        return "a schema must be an object"
    try:
        return next(_bounds(schema), "") or _not_a_schema(schema)
    except RecursionError:
        return "it is nested too deeply"


def violations(text: str, document: object) -> tuple[str, ...]:
    """Return a sentence for each schema rule that the document breaks, with its place there.

    Empty if the document keeps all rules. Of more than 50, only the first 50 are returned, and a
    sentence that there are more. If the schema cannot be applied, the only sentence says why.

    Args:
        text: A schema without a `schema_problem`.
        document: The document's value, as plain values.
    """
    schema = json.loads(text)
    try:
        return tuple(_sentences(_find_errors(schema, document)))
    except _TooLongError:
        return ("the schema takes too long on this document",)
    except RecursionError:
        return ("the schema refers to itself without an end",)
    except Exception as error:  # noqa: BLE001 (a `$ref` that leads nowhere has a private class)
        return (f"the schema cannot be used: {_cut(str(error))}",)


def _sentences(errors: Iterable[Any]) -> Iterator[str]:
    for count, error in enumerate(errors):
        if count == PROBLEMS_MAX:
            yield "there are more problems"
            return
        place = error.json_path.removeprefix("$").removeprefix(".")
        yield f"{place}: {_cut(error.message)}" if place else _cut(error.message)


def _cut(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _SHOWN else f"{line[:_SHOWN]}…"


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    mapping = dict(pairs)
    if len(mapping) != len(pairs):
        raise ValueError("a key appears twice")
    return mapping


def _bounds(value: object, depth: int = 0) -> Iterator[str]:
    """Yield the schema's forbidden features: far references, costly patterns, deep nesting."""
    if depth > _DEPTH_MAX:
        yield f"nested over {_DEPTH_MAX} levels"
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from _check_keyword(key, item)
            yield from _bounds(item, depth + 1)
    elif isinstance(value, list):
        for item in value:
            yield from _bounds(item, depth + 1)


def _check_keyword(key: str, item: object) -> Iterator[str]:
    if key in {"$ref", "$dynamicRef"} and isinstance(item, str) and not item.startswith("#"):
        yield f"`{key}` may only refer to the schema itself (`#…`), not to `{_cut(item)}`"
    if key == "patternProperties" and isinstance(item, Mapping):
        for pattern in item:
            yield from _expensive(pattern)
    if key == "pattern" and isinstance(item, str):
        yield from _expensive(item)


def _expensive(pattern: str) -> Iterator[str]:
    if len(pattern) > _PATTERN_MAX or _QUANTIFIED_GROUP.search(pattern):
        yield (
            f"the pattern `{_cut(pattern)[:60]}` may take very long: at most {_PATTERN_MAX}"
            " characters, and no group that repeats"
        )


def _tries(pattern: str, length: int) -> int:
    """Return the maximum number of ways in which the pattern can match ``length`` characters.

    Each repetition, option and alternative of the pattern ends at one position of the text; so does
    the beginning of the match, unless the pattern is anchored.
    """
    choices = len(_CHOICE.findall(_NO_CHOICE.sub("x", pattern)))
    free = choices + (not pattern.startswith("^"))
    return comb(length + free, free)


def _not_a_schema(schema: dict[str, object]) -> str:
    from jsonschema.exceptions import SchemaError

    try:
        _validator_class(schema).check_schema(schema)
    except SchemaError as error:
        place = error.json_path.removeprefix("$").removeprefix(".")
        return f"it is not a JSON Schema: {place or 'it'}: {_cut(error.message)}"
    return ""


def _validator_class(schema: dict[str, object]) -> type[Validator]:
    from jsonschema import Draft202012Validator
    from jsonschema.validators import validator_for

    return validator_for(schema, default=Draft202012Validator)


def _find_errors(schema: dict[str, object], document: object) -> Iterator[Any]:
    from jsonschema import validators
    from referencing import Registry

    base = _validator_class(schema)
    budget = _Budget()
    counted = {key: _with_budget(key, apply, budget) for key, apply in base.VALIDATORS.items()}
    extend: Callable[..., Callable[..., Any]] = validators.extend  # its stub has no types
    # An empty registry: by default, a reference to a URL is fetched.
    bounded = extend(base, validators=counted)(schema, registry=Registry())
    yield from bounded.iter_errors(document)


def _with_budget(key: str, apply: Callable[..., Any], budget: _Budget) -> Callable[..., Any]:
    def counting(
        validator: object, value: object, instance: object, schema: dict[str, Any]
    ) -> object:
        budget.take_step()
        if key == "pattern":
            budget.take_tries((str(value),), (instance,))
        elif key in _BY_KEY and isinstance(instance, Mapping):
            budget.take_tries(schema.get("patternProperties", ()), instance)
        return apply(validator, value, instance, schema)

    return counting


class _Budget:
    """The computing effort that a schema may still spend on one document."""

    def __init__(self) -> None:
        self._steps, self._tries = STEPS_MAX, _TRIES_MAX

    def take_step(self) -> None:
        """Count one applied keyword.

        Raises:
            _TooLongError: The budget is used up.
        """
        self._steps -= 1
        if self._steps < 0:
            raise _TooLongError

    def take_tries(self, patterns: Iterable[str], texts: Iterable[object]) -> None:
        """Count the ways of matching each of ``patterns`` against each of ``texts``.

        Raises:
            _TooLongError: The budget is used up.
        """
        lengths = [len(each) for each in texts if isinstance(each, str)]
        self._tries -= sum(_tries(each, length) for each in patterns for length in lengths)
        if self._tries < 0:
            raise _TooLongError
