"""The phases in which the next cycle can begin, with a description of each for the user."""

from __future__ import annotations

from agentmux.core.definitions.definition import Kind
from agentmux.core.definitions.kind_forms import FORMS
from agentmux.core.journal.state import SessionState
from agentmux.core.names.words.listing import join_names
from agentmux.core.pipeline.registry import beginnings, pipeline_of


def beginning_choices(state: SessionState) -> tuple[tuple[str, str], ...]:
    """Return the phases in which the next cycle can begin, as pairs of a name and a description.

    The description says how large the change is, and who works and what runs then, such as ``a
    small change: one coder, then the checks``. Fixes come first, and then the phases after which
    the fewest others run: every user interface preselects the first, because a larger change may
    cost more than the user wants.
    """
    pipeline = pipeline_of(state)
    choices = {name: _runs(state, name) for name in _by_size(state)}
    return tuple(
        (name, f"{FORMS[pipeline[name].kind].begins}: {_describe(state, phases)}")
        for name, phases in choices.items()
    )


def _describe(state: SessionState, phases: tuple[str, ...]) -> str:
    """Return what runs in these phases, the first of them first."""
    pipeline = pipeline_of(state)
    first, *rest = (
        FORMS[each.kind].runs("".join(each.roles[:1]), pipeline.is_planned)
        for each in map(pipeline.__getitem__, phases)
    )
    return f"{first}, then {join_names(rest)}" if rest else first


def _by_size(state: SessionState) -> tuple[str, ...]:
    pipeline = pipeline_of(state)

    def size(name: str) -> tuple[bool, int]:
        return pipeline[name].kind is not Kind.FIX, len(_runs(state, name))

    return tuple(sorted(beginnings(state), key=size))


def _runs(state: SessionState, name: str) -> tuple[str, ...]:
    """Return the phases of a cycle that begins in ``name`` and in which no fix is asked for."""
    pipeline = pipeline_of(state)
    after = (
        each.phase
        for each in pipeline.phases
        if pipeline.places[each.phase] > pipeline.places[name]
        and each.kind is not Kind.FIX
        and each.takes_part(state)
    )
    return (name, *after)
