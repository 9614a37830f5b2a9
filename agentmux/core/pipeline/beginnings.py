"""What it means for the next cycle to begin in a phase, in words for people."""

from __future__ import annotations

from agentmux.core.definitions.definition import Kind
from agentmux.core.definitions.kind_forms import FORMS
from agentmux.core.journal.state import SessionState
from agentmux.core.names.words.listing import join_names
from agentmux.core.pipeline.registry import beginnings, pipeline_of


def beginning_choices(state: SessionState) -> tuple[tuple[str, str], ...]:
    """Return the phases in which the next cycle can begin, and what each is for and runs.

    The smallest comes first: every face preselects it, since a larger one costs more than a person
    may have meant.
    """
    pipeline = pipeline_of(state)
    runs = {
        name: join_names([each.replace("_", " ") for each in _runs(state, name)])
        for name in _by_size(state)
    }
    return tuple(
        (name, f"{FORMS[pipeline[name].kind].begins}; runs {phases}")
        for name, phases in runs.items()
    )


def _by_size(state: SessionState) -> tuple[str, ...]:
    pipeline = pipeline_of(state)

    def size(name: str) -> tuple[bool, int]:
        return pipeline[name].kind is not Kind.FIX, len(_runs(state, name))

    return tuple(sorted(beginnings(state), key=size))


def _runs(state: SessionState, name: str) -> tuple[str, ...]:
    """Return the phases that a cycle runs which begins in ``name``, if no review asks for more."""
    pipeline = pipeline_of(state)
    after = (
        each.phase
        for each in pipeline.phases
        if pipeline.places[each.phase] > pipeline.places[name]
        and each.kind is not Kind.FIX
        and each.takes_part(state)
    )
    return (name, *after)
