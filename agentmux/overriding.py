"""The decorator `override`, which typing has from Python 3.12 on."""

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from typing_extensions import override
else:
    T = TypeVar("T")

    def override(method: T) -> T:
        """Mark a method that replaces one of a base class: mypy compares both."""
        return method


__all__ = ["override"]
