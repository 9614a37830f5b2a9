"""``dataclass(frozen=True, slots=True, kw_only=True)`` at a fraction of its cost at import.

The standard library writes and compiles six methods for each class, and a signal imports sixty
classes: docs/decisions/0006-fast-submit.md. Here all classes share the methods, which read the
fields when they are called. For type checkers this *is* the standard decorator; ``fields`` and
``replace`` of ``dataclasses`` work as usual.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from dataclasses import dataclass
else:

    def dataclass(*, frozen: bool, slots: bool, kw_only: bool = False) -> Callable[[type], type]:
        """Return the decorator; where it is not for all three, the standard library's."""
        if frozen and slots and kw_only:
            return _frozen
        return dataclasses.dataclass(frozen=frozen, slots=slots, kw_only=kw_only)


__all__ = ["dataclass"]

_bare: Final = dataclasses.dataclass(slots=True, kw_only=True, init=False, repr=False, eq=False)
_place: Final = object.__setattr__
_MISSING: Final[Any] = dataclasses.MISSING


def _names(record: Any) -> tuple[str, ...]:  # noqa: ANN401 (any dataclass)
    return tuple(each.name for each in dataclasses.fields(record))


def _values(record: Any) -> tuple[object, ...]:  # noqa: ANN401 (any dataclass)
    return tuple(getattr(record, name) for name in _names(record))


def _repr(record: Any) -> str:  # noqa: ANN401 (any dataclass)
    fields = zip(_names(record), _values(record), strict=True)
    shown = ", ".join(f"{name}={value!r}" for name, value in fields)
    return f"{type(record).__qualname__}({shown})"


def _equals(record: object, other: object) -> bool:
    if other.__class__ is not record.__class__:
        return NotImplemented  # type: ignore[no-any-return]  # what `__eq__` says of another class
    return _compared(record) == _compared(other)


def _hash(record: object) -> int:
    return hash(_compared(record))


def _compared(record: Any) -> tuple[object, ...]:  # noqa: ANN401 (any dataclass)
    known = dataclasses.fields(record)
    return tuple(getattr(record, each.name) for each in known if each.compare)


def _refuse(record: object, name: str, *_: object) -> None:
    raise dataclasses.FrozenInstanceError(f"`{name}` of {type(record).__qualname__} is frozen")


def _set_state(record: object, values: tuple[object, ...]) -> None:
    for name, value in zip(_names(record), values, strict=True):
        _place(record, name, value)


_SHARED: Final = {
    "__repr__": _repr,
    "__eq__": _equals,
    "__hash__": _hash,
    "__setattr__": _refuse,
    "__delattr__": _refuse,
    "__getstate__": _values,
    "__setstate__": _set_state,
}


def _frozen(cls: type[Any]) -> type[Any]:
    made = _bare(cls)
    made.__init__ = _init(made)
    for name, method in _SHARED.items():
        setattr(made, name, method)
    return made


def _init(cls: type[Any]) -> Callable[..., None]:
    known = dataclasses.fields(cls)
    place = {each.name: getattr(cls, each.name).__set__ for each in known}
    defaults: list[tuple[str, Any, Any]] = [(f.name, f.default, f.default_factory) for f in known]

    def init(self: object, /, **given: object) -> None:
        try:
            for name, value in given.items():
                place[name](self, value)
        except KeyError as error:
            raise TypeError(f"{cls.__qualname__}: there is no `{error.args[0]}`") from None
        if len(given) == len(place):
            return
        for name, value, factory in defaults:
            if name not in given:
                place[name](self, value if value is not _MISSING else _made(cls, name, factory))

    return init


def _made(cls: type[Any], name: str, factory: Any) -> object:  # noqa: ANN401 (what `field` took)
    if factory is _MISSING:
        raise TypeError(f"{cls.__qualname__}: `{name}` is missing")
    return factory()
