"""States and journal lines without a recorded pipeline, in the one form that is written.

They are those of 0.1.0 and of the original AgentMux, and hand-made ones: their pipeline is
``feature``, and what its review has found stands in fields of their own. Nothing else knows them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from agentmux.core.codec.frozen import dataclass, field
from agentmux.core.codec.records import Json, from_fields
from agentmux.core.definitions.definition import definition_fields
from agentmux.core.definitions.feature import FEATURE
from agentmux.core.names.layout import SCHEMA_VERSION
from agentmux.core.names.phase import Phase

_REVIEW: Final = Phase.REVIEWING.value
_FOUND: Final = ("verdicts", "reviews")
_OWN: Final = (*_FOUND, "review_iteration", "review_outcome")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Older:
    """The fields that only a state without a pipeline has, with their types."""

    review_iteration: int | None = None
    review_outcome: str | None = None
    verdicts: Mapping[str, str] = field(default_factory=dict)
    reviews: Json = field(default_factory=dict)


def is_older(state: Json) -> bool:
    """Whether the content of a ``state.json`` records no pipeline."""
    return state.get("pipeline") is None


def present_form(state: Json, *, where: str, fix_requested: bool | None = None) -> Json:
    """Return the content of a ``state.json`` as this version writes it.

    Args:
        state: What no pipeline is recorded in.
        where: Its place, for messages.
        fix_requested: Whether a file of the session asks for a fix; None if nobody looked.

    Raises:
        FieldError: A field that only older states have is of another type.
    """
    older = from_fields(_Older, state, where=where)
    given = {name: value for name, value in state.items() if name not in _OWN}
    return {
        **given,
        "schema_version": SCHEMA_VERSION,
        "pipeline": definition_fields(FEATURE),
        "results": _results(older),
        "fix": _fix(older, _is_fixed(state, older, fix_requested)),
    }


def shown_form(state: Json) -> Json:
    """Return the content of a ``state.json`` as views show it, which check the type of each value.

    No file of the session was looked at, so the fix says only which iteration it is.
    """
    if not is_older(state):
        return state
    given = {name: value for name, value in state.items() if name not in _OWN}
    iteration, outcome = state.get("review_iteration"), state.get("review_outcome")
    return {
        **given,
        "pipeline": definition_fields(FEATURE),
        "results": {_REVIEW: {"outcome": outcome}} if outcome else {},
        "fix": {"from": "", "iteration": iteration, "sent": {}} if iteration else None,
    }


def _results(older: _Older) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "verdicts": older.verdicts,
        "reviews": older.reviews,
        "outcome": older.review_outcome or "",
    }
    if not any(fields.values()):
        return {}
    return {_REVIEW: {"iteration": older.review_iteration or 0, **fields}}


def _is_fixed(state: Json, older: _Older, fix_requested: bool | None) -> bool:
    """Whether what the review found is being fixed, or was. No fix is known of in iteration 0."""
    if older.review_iteration == 0:
        return False
    if fix_requested is None:
        return bool(older.review_iteration) or state.get("phase") == Phase.FIXING
    return fix_requested


def _fix(older: _Older, is_fixed: bool) -> dict[str, Any] | None:
    count = older.review_iteration or 0
    if not count and not is_fixed:
        return None
    return {"from": _REVIEW if is_fixed else "", "iteration": count, "sent": {_REVIEW: count}}


def present_line(payload: Json) -> Json:
    """Return the payload of a journal line of the older version as this version writes it.

    States in it are read by `state.decode`.
    """
    disk = payload.get("found")
    if not isinstance(disk, dict) or not any(name in disk for name in _FOUND):
        return payload
    kept = {name: value for name, value in disk.items() if name not in _FOUND}
    results = {name: disk[name] for name in _FOUND if name in disk}
    return {**payload, "found": {**kept, "results": {_REVIEW: results}}}
