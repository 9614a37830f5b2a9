"""Convert frozen dataclasses to JSON and back, with one table of decoders by field type.

A *record* is a frozen dataclass whose fields have types from ``_DECODERS``. Encoding a record and
decoding the result returns an equal record. In the JSON, a field with a default may be absent, and
unknown fields are ignored.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar

from agentmux.core.codec.frozen import MISSING, DataclassInstance, fields
from agentmux.errors import DataError

Json = Mapping[str, object]
"""A JSON object, as parsed."""
R = TypeVar("R", bound=DataclassInstance)


class FieldError(DataError):
    """A field is missing, or its value has the wrong type."""


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError("text")
    return value


def _number(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**63:
        raise TypeError("a non-negative whole number")
    return value


def _truth(value: object) -> bool:
    if not isinstance(value, bool):
        raise TypeError("true or false")
    return value


def _mapping(value: object) -> Json:
    if not isinstance(value, dict):
        raise TypeError("a mapping")
    return value


def _texts(value: object) -> tuple[str, ...]:
    if not isinstance(value, (list, tuple)):
        raise TypeError("a list of texts")
    return tuple(_text(item) for item in value)


def _numbers(value: object) -> tuple[int, ...]:
    if not isinstance(value, (list, tuple)):
        raise TypeError("a list of whole numbers")
    return tuple(_number(item) for item in value)


def _mappings(value: object) -> tuple[Json, ...]:
    if not isinstance(value, (list, tuple)):
        raise TypeError("a list of mappings")
    return tuple(_mapping(item) for item in value)


def _text_map(value: object) -> Mapping[str, str]:
    return {key: _text(item) for key, item in _mapping(value).items()}


def _optional(decode: Callable[[object], object]) -> Callable[[object], object]:
    return lambda value: None if value is None else decode(value)


_DECODERS: Final[Mapping[str, Callable[[object], object]]] = {
    "str": _text,
    "str | None": _optional(_text),
    "int": _number,
    "int | None": _optional(_number),
    "bool": _truth,
    "bool | None": _optional(_truth),
    "Json": _mapping,
    "Json | None": _optional(_mapping),
    "tuple[str, ...]": _texts,
    "tuple[str, ...] | None": _optional(_texts),
    "tuple[int, ...]": _numbers,
    "tuple[Json, ...]": _mappings,
    "Mapping[str, str]": _text_map,
    "Mapping[str, str] | None": _optional(_text_map),
}


def to_fields(record: DataclassInstance) -> dict[str, object]:
    """Return the fields of a record by name, as values that ``json`` can write.

    Tuples become lists; other values are not converted, so the fields must have types that
    `from_fields` can read. Fields that are declared with ``repr=False`` are left out.
    """
    return {
        field.name: _plain(getattr(record, field.name)) for field in fields(record) if field.repr
    }


def _plain(value: object) -> object:
    return list(value) if isinstance(value, tuple) else value


def from_fields(record: type[R], values: Json, *, where: str) -> R:
    """Return an instance of the class ``record`` with the fields in ``values``.

    A missing field gets its default, and an unknown field is ignored.

    Args:
        record: The class of the record.
        values: The fields by name, as read from JSON.
        where: Where the values were read, such as a file name; for the message of an error.

    Raises:
        FieldError: A field without a default is missing, or a field has the wrong type or is a
            negative number; the message names ``where`` and the field.
    """
    arguments: dict[str, Any] = {}
    for name, kind, is_required in _list_fields(record):
        if name in values:
            try:
                arguments[name] = _DECODERS[kind](values[name])
            except TypeError as error:
                raise _to_field_error(error, where, name) from None
        elif is_required:
            raise FieldError(f"{where}: `{name}` is missing")
    return record(**arguments)


@functools.cache
def _list_fields(record: type[DataclassInstance]) -> tuple[tuple[str, str, bool], ...]:
    """Return each field of a dataclass: its name, its type as text, and whether it is required."""
    return tuple(
        (each.name, str(each.type), each.default is MISSING and each.default_factory is MISSING)
        for each in fields(record)
    )


def decode_field(kind: str, value: object, where: str, name: str) -> object:
    """Convert the value of one field, as read from JSON, to the type that ``kind`` names.

    Args:
        kind: The type of the field as text: ``str``, ``int`` (from 0), ``bool``, ``Json``,
            ``tuple[str, ...]`` or ``Mapping[str, str]``, each also with ``| None`` after it; or
            ``tuple[int, ...]`` or ``tuple[Json, ...]``.
        value: The value from JSON.
        where: Where the record was read, such as a file name; for the message of an error.
        name: The name of the field, for the message of an error.

    Raises:
        FieldError: The value has another type; the message names ``where`` and the field ``name``.
        KeyError: ``kind`` is any other text.
    """
    try:
        return _DECODERS[kind](value)
    except TypeError as error:
        raise _to_field_error(error, where, name) from None


def _to_field_error(error: TypeError, where: str, name: str) -> FieldError:
    return FieldError(f"{where}: `{name}` is not {error}")
