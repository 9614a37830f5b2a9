"""Converts states and journal lines that record no pipeline to the form that this version writes.

Such files come from 0.1.0, from the original AgentMux, or from people who wrote them by hand. Their
pipeline is ``feature``, and the results of its review are in fields of their own. No other module
reads this form.
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
    """Whether the content of a ``state.json`` comes from a version that records no pipeline."""
    return state.get("pipeline") is None


def present_form(state: Json, *, where: str, fix_requested: bool | None = None) -> Json:
    """Return the content of an older ``state.json`` in the form that this version writes.

    ``state`` itself is not changed, and no file is written.

    Args:
        state: The content, for which `is_older` holds.
        where: Where the content comes from, for error messages.
        fix_requested: Whether the session's directory contains a fix request; None if that was not
            checked, and is to be guessed from the content.

    Raises:
        FieldError: A field that only older states have has the wrong type.
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
    """Return the content of a ``state.json`` as far as lists of sessions need it; never raises.

    Content that records a pipeline is returned unchanged. Older content gets ``pipeline``,
    ``results`` and ``fix`` in the form of this version. The types of the values are not checked;
    the callers do that. The fix has only its iteration, because no other file is read.
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
    """Whether the findings of the review are being fixed, or were; False in iteration 0."""
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
    """Return the payload of a journal line of the older version in the form of this version.

    ``payload`` is the line's field of that name, the fields of the fact. It is not changed in
    place. A state inside the payload is not converted; `state.decode` does that.
    """
    disk = payload.get("found")
    if not isinstance(disk, dict) or not any(name in disk for name in _FOUND):
        return payload
    kept = {name: value for name, value in disk.items() if name not in _FOUND}
    results = {name: disk[name] for name in _FOUND if name in disk}
    return {**payload, "found": {**kept, "results": {_REVIEW: results}}}
