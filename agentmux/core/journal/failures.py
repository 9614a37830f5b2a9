"""Shortens the reasons of failures for the journal. Pure."""

from __future__ import annotations

from typing import Any, Final, TypeVar

from agentmux.core.codec.frozen import DataclassInstance, replace

F = TypeVar("F", bound=DataclassInstance)

REASON_MAX: Final = 8_000
"""The maximum length of a reason, in characters. Lines of the journal are limited, too."""

_BEGINNING: Final = 2_000
_CUT: Final = "\n[…]\n"
_TEXTS: Final = ("because", "cause", "reason", "said")
"""The fields of events that explain a failure, possibly with the output of another program."""


def shorten_failure(fact: F) -> F:
    """Return ``fact`` with each text that explains a failure cut to `REASON_MAX` characters.

    These are its ``because``, ``cause``, ``reason`` and ``said``, and the texts of its ``record``,
    as far as it has them. They are cut in the middle. If none is too long, ``fact`` itself is
    returned.
    """
    given = {name: getattr(fact, name) for name in _TEXTS if hasattr(fact, name)}
    fields: dict[str, Any] = {name: _cut(text) for name, text in given.items() if _is_long(text)}
    record = getattr(fact, "record", {})
    if any(map(_is_long, record.values())):
        fields["record"] = {name: _cut(text) for name, text in record.items()}
    return replace(fact, **fields) if fields else fact


def _is_long(text: object) -> bool:
    return isinstance(text, str) and len(text) > REASON_MAX


def _cut(text: str) -> str:
    if not _is_long(text):
        return text
    return text[:_BEGINNING] + _CUT + text[_BEGINNING + len(_CUT) - REASON_MAX :]
