"""Why something failed, as the journal has it: never longer than people read; pure."""

from __future__ import annotations

from typing import Any, Final, TypeVar

from agentmux.core.codec.frozen import DataclassInstance, replace

F = TypeVar("F", bound=DataclassInstance)

REASON_MAX: Final = 8_000
"""How many characters a reason has at most: a line of the journal has a limit, too."""

_BEGINNING: Final = 2_000
_CUT: Final = "\n[…]\n"
_TEXTS: Final = ("because", "cause", "reason", "said")
"""The fields of events with words about a failure, which may be those of any program."""


def shorten_failure(fact: F) -> F:
    """Return an event whose words about a failure are cut in their middle, if they are too long."""
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
