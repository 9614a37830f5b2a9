"""Reads the JSON that a forge's program prints, by the paths in a `ForgeCommand`. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from agentmux.core.forges.spec import ForgeCommand


class AnswerError(ValueError):
    """An answer is not JSON, or lacks an expected value; the message names the problem."""


def parse_json(text: str) -> object:
    """Return the value of a JSON text.

    Raises:
        AnswerError: The text is not JSON.
    """
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise AnswerError(f"no JSON: {error}") from None


def entries(command: ForgeCommand, answer: object) -> tuple[Mapping[str, str], ...]:
    """Return the values of each entry of the list in an answer, as texts by our names, in order.

    Entries that `ForgeCommand.skip` excludes are left out. `record` makes the mapping of an entry.

    Args:
        command: The command that was run; says where the answer has the list and the values.
        answer: The answer, as `parse_json` returns it.

    Raises:
        AnswerError: The answer has no such list, or an entry lacks a field.
    """
    items = _at(answer, command.entries) if command.entries else answer
    if not isinstance(items, list):
        raise AnswerError(f"no list at `{command.entries}`" if command.entries else "no list")
    counting = (each for each in items if not (command.skip and _at(each, command.skip)))
    return tuple(record(command, each) for each in counting)


def record(command: ForgeCommand, answer: object) -> dict[str, str]:
    """Return the values that a command's ``fields`` name in an answer, as texts, by our names.

    The keys are those of `ForgeCommand.fields`. A null at the end of a path, or on the way, becomes
    an empty text; a number or a boolean becomes its JSON. The values of a field with several paths
    are joined with ``/``.

    Args:
        command: The command that was run; its ``fields`` say where the answer has each value.
        answer: The answer, as `parse_json` returns it, or one entry of its list.

    Raises:
        AnswerError: A path does not exist, or leads to a list or an object.
    """
    return {name: "/".join(_texts(answer, paths)) for name, paths in command.fields.items()}


def _texts(answer: object, paths: tuple[str, ...]) -> Iterator[str]:
    for path in paths:
        value = _at(answer, path)
        if isinstance(value, (dict, list)):
            raise AnswerError(f"no text at `{path}`")
        yield "" if value is None else value if isinstance(value, str) else json.dumps(value)


def _at(answer: object, path: str) -> object:
    """Return the value at ``path``; None if a value on the way is null."""
    for key in path.split("."):
        if answer is None:
            return None
        if not isinstance(answer, dict) or key not in answer:
            raise AnswerError(f"nothing at `{path}`")
        answer = answer[key]
    return answer
