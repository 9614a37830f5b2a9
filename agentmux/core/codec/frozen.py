"""A replacement for ``dataclass(frozen=True, slots=True)`` that creates classes faster.

The command that submits a signal creates sixty classes. The standard decorator compiles six methods
for each, and imports ``inspect`` to do so (docs/decisions/0006-fast-submit.md). Here all
classes share the same methods, which loop over the fields.

Declare the fields of these classes with this module's ``field``. This module's ``fields`` and
``replace`` work only on these classes; those of ``dataclasses`` work on them, too. Type checkers
see the names of ``dataclasses`` instead of the ones here.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from functools import partial
from itertools import repeat
from operator import attrgetter, call
from typing import TYPE_CHECKING, Any, Final, TypeVar

if TYPE_CHECKING:
    from dataclasses import MISSING, dataclass, field, fields, replace

    from _typeshed import DataclassInstance

__all__ = ["MISSING", "DataclassInstance", "dataclass", "field", "fields", "replace"]

R = TypeVar("R")

_MISSING: Final = object()
_CLASS_VARIABLE: Final = ("ClassVar", "typing.ClassVar")
_INIT: Final = "__init__"
_FIELDS: Final = "__frozen_fields__"
_PLACE: Final = "__frozen_place__"
"""The name of the class attribute that maps each field's name to the field's setter."""
_COPY: Final = "__frozen_copy__"
"""The name of the class attribute with all setters and a function that returns all values."""
_STANDARD: Final = ("__dataclass_fields__", "__dataclass_params__")
"""The names of the attributes by which ``dataclasses`` recognises its classes."""

Place = Callable[[object, object], None]


class _Field:
    """A field of a class: its name, its type, and the arguments of the call of ``field``."""

    __slots__ = ("compare", "default", "default_factory", "name", "repr", "type")

    def __init__(
        self,
        *,
        default: object = _MISSING,
        default_factory: object = _MISSING,
        repr: bool = True,  # noqa: A002 (called as the standard one)
        compare: bool = True,
    ) -> None:
        self.name = self.type = ""
        self.default = default
        self.default_factory = default_factory
        self.repr = repr
        self.compare = compare


class _Standard:
    """A descriptor that creates one of the attributes `_STANDARD` when it is first read."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, _: object, cls: type[Any]) -> object:
        import dataclasses

        known = [
            (each.name, each.type, dataclasses.field(**_options(each, dataclasses.MISSING)))
            for each in _fields(cls)
        ]
        standard_class = dataclasses.make_dataclass(
            cls.__name__, known, init=False, repr=False, eq=False, kw_only=True
        )
        for name in _STANDARD:
            setattr(cls, name, getattr(standard_class, name))
        return getattr(standard_class, self._name)


def _options(known: _Field, missing: object) -> dict[str, Any]:
    values = {"default": known.default, "default_factory": known.default_factory}
    given = {name: missing if value is _MISSING else value for name, value in values.items()}
    return given | {"repr": known.repr, "compare": known.compare}


def _dataclass(
    *, frozen: bool, slots: bool, kw_only: bool = False
) -> Callable[[type[Any]], type[Any]]:
    if not (frozen and slots):
        raise TypeError("only for frozen classes with slots; for others use `dataclasses`")
    return partial(_make_class, kw_only=kw_only)


def _make_class(cls: type[Any], *, kw_only: bool) -> type[Any]:
    """Return a copy of ``cls`` with a slot for each field and with the methods in `_SHARED`."""
    inherited: Mapping[str, _Field] = getattr(cls, _FIELDS, {})
    own = _own_fields(cls)
    known = {**inherited, **own}
    members = {name: value for name, value in vars(cls).items() if name not in own}
    del members["__dict__"], members["__weakref__"]
    members |= _SHARED
    members |= {
        "__slots__": tuple(name for name in own if name not in inherited),
        "__match_args__": () if kw_only else tuple(known),
        _FIELDS: known,
    }
    kind: Callable[..., type[Any]] = type(cls)  # which may be a metaclass
    new_class = kind(cls.__name__, cls.__bases__, members)
    new_class.__qualname__ = cls.__qualname__
    place = {name: getattr(new_class, name).__set__ for name in known}
    setattr(new_class, _PLACE, place)
    setattr(new_class, _COPY, (tuple(place.values()), _values(tuple(place))))
    setattr(new_class, _INIT, _init(new_class, known, place, kw_only=kw_only))
    return new_class


def _values(names: tuple[str, ...]) -> Callable[[object], tuple[object, ...]]:
    if len(names) > 1:
        return attrgetter(*names)
    return lambda record: tuple(getattr(record, name) for name in names)


def _own_fields(cls: type[Any]) -> dict[str, _Field]:
    own_fields: dict[str, _Field] = {}
    for name, kind in cls.__annotations__.items():
        if kind.startswith(_CLASS_VARIABLE):
            continue
        given = cls.__dict__.get(name, _MISSING)
        if type(given).__module__ == "dataclasses":
            raise TypeError(f"{cls.__qualname__}: `{name}` needs the `field` of this module")
        each = given if isinstance(given, _Field) else _Field(default=given)
        each.name, each.type = name, kind
        own_fields[name] = each
    return own_fields


def _init(
    cls: type[Any], known: Mapping[str, _Field], place: Mapping[str, Place], *, kw_only: bool
) -> Callable[..., None]:
    most = 0 if kw_only else len(known)
    rest = [(e.name, place[e.name], e.default, e.default_factory) for e in known.values()]

    def init(self: object, /, *values: object, **given: object) -> None:
        if values:
            given |= _by_name(cls, tuple(place)[:most], values, given)
        try:
            for name, value in given.items():
                place[name](self, value)
        except KeyError as error:
            raise _make_field_error(self, error.args[0]) from None
        if len(given) == len(place):
            return
        for name, put, value, factory in rest:
            if name not in given:
                put(self, value if value is not _MISSING else _default(cls, name, factory))

    return init


def _make_field_error(record: object, name: str) -> TypeError:
    return TypeError(f"{type(record).__qualname__}: there is no `{name}`")


def _by_name(
    cls: type[Any], names: tuple[str, ...], values: tuple[object, ...], given: Mapping[str, object]
) -> dict[str, object]:
    if len(values) > len(names):
        raise TypeError(f"{cls.__qualname__}: takes at most {len(names)} positional values")
    arguments = dict(zip(names, values, strict=False))
    for name in arguments.keys() & given.keys():
        raise TypeError(f"{cls.__qualname__}: `{name}` is given twice")
    return arguments


def _default(cls: type[Any], name: str, factory: object) -> object:
    if not callable(factory):
        raise TypeError(f"{cls.__qualname__}: `{name}` is missing")
    return factory()


def _fields(record: object) -> tuple[_Field, ...]:
    return tuple(getattr(record, _FIELDS).values())


def _replace(record: R, /, **changes: object) -> R:
    copy = object.__new__(type(record))
    place = getattr(record, _PLACE)
    puts, values = getattr(record, _COPY)
    deque(map(call, puts, repeat(copy), values(record)), maxlen=0)  # without a loop in Python
    try:
        for name, value in changes.items():
            place[name](copy, value)
    except KeyError as error:
        raise _make_field_error(copy, error.args[0]) from None
    return copy


# -- the methods that all classes share ----------------------------------------------------------


def _repr(record: object) -> str:
    shown = (f"{e.name}={getattr(record, e.name)!r}" for e in _fields(record) if e.repr)
    return f"{type(record).__qualname__}({', '.join(shown)})"


def _equals(record: object, other: object) -> object:
    if other.__class__ is not record.__class__:
        return NotImplemented
    return _to_compare_key(record) == _to_compare_key(other)


def _hash(record: object) -> int:
    return hash(_to_compare_key(record))


def _to_compare_key(record: object) -> tuple[object, ...]:
    return tuple(getattr(record, each.name) for each in _fields(record) if each.compare)


def _refuse(record: object, name: str, *_: object) -> None:
    from dataclasses import FrozenInstanceError

    raise FrozenInstanceError(f"`{name}` of {type(record).__qualname__} is frozen")


def _state(record: object) -> tuple[object, ...]:
    return tuple(getattr(record, name) for name in getattr(record, _FIELDS))


def _set_state(record: object, values: tuple[object, ...]) -> None:
    for put, value in zip(getattr(record, _PLACE).values(), values, strict=True):
        put(record, value)


_SHARED: Final[Mapping[str, object]] = {
    "__repr__": _repr,
    "__eq__": _equals,
    "__hash__": _hash,
    "__setattr__": _refuse,
    "__delattr__": _refuse,
    "__getstate__": _state,
    "__setstate__": _set_state,
    "__replace__": _replace,
    **{name: _Standard(name) for name in _STANDARD},
}

if not TYPE_CHECKING:
    MISSING, DataclassInstance, field = _MISSING, object, _Field
    dataclass, fields, replace = _dataclass, _fields, _replace
