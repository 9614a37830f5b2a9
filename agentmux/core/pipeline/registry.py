"""Pipelines as the program runs them: their phases in order, and questions about these.

`definitions` defines the phases of each pipeline; `kinds` says what the program does in a phase of
each kind. docs/explanation/architecture.md says what else a new phase needs.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Final

from agentmux.core.codec.frozen import dataclass
from agentmux.core.definitions.definition import Expect, Kind, PipelineDefinition, Result, When
from agentmux.core.definitions.feature import FEATURE
from agentmux.core.journal.events import ArchitectureDone
from agentmux.core.journal.state import SessionState
from agentmux.core.names.phase import ENDS, Phase
from agentmux.core.pipeline.kinds import KINDS, PhaseDescriptor, describe_phases


@dataclass(frozen=True, slots=True, kw_only=True)
class Pipeline:
    """A pipeline as the program runs it.

    Attributes:
        phases: The phases in order; a fix follows the check or review that asks for it.
        by_name: The same phases, by name.
        folders: The folders of the phases, without repetition; a fix shares the folder of another
            phase.
        places: For each phase, a number that gives its order within an iteration. A fix comes
            before the phase that follows it: fixing of iteration k comes before reviewing of
            iteration k.
        result: What a session with this pipeline results in: a commit or a report.
    """

    phases: tuple[PhaseDescriptor, ...]
    by_name: Mapping[str, PhaseDescriptor]
    folders: tuple[str, ...]
    places: Mapping[str, float]
    result: Result = Result.COMMIT

    def __contains__(self, phase: object) -> bool:
        """Whether ``phase`` is a phase of the pipeline; an end, such as ``done``, is not."""
        return phase in self.by_name

    def __getitem__(self, phase: str) -> PhaseDescriptor:
        """Return a phase by its name.

        Raises:
            KeyError: The pipeline has no such phase.
        """
        return self.by_name[phase]

    def from_(self, phase: str) -> tuple[PhaseDescriptor, ...]:
        """Return the phase called ``phase`` and all phases after it, in the order of `phases`.

        Raises:
            KeyError: The pipeline has no such phase.
        """
        return self.phases[self.phases.index(self[phase]) :]

    def before(self, phase: str) -> tuple[PhaseDescriptor, ...]:
        """Return all phases before ``phase``, in the order of `phases`.

        Raises:
            KeyError: The pipeline has no such phase.
        """
        return self.phases[: self.phases.index(self[phase])]

    @property
    def last(self) -> str:
        """The name of the last phase, in which the user decides about the result."""
        return next(each.phase for each in self.phases if each.kind is Kind.COMPLETE)

    def default_beginning(self, state: SessionState) -> str:
        """Return the name of the phase in which a new cycle begins if the user chooses none.

        It is the first phase that every session goes through, apart from fixes and from checks that
        have no commands in this session.
        """
        always = (e for e in self.phases if e.when is When.ALWAYS and e.kind is not Kind.FIX)
        return next(each.phase for each in always if each.takes_part(state))

    @property
    def nominating(self) -> str | None:
        """The name of the phase whose document nominates the reviewers; None if there is none."""
        signal = ArchitectureDone.kind
        return next((each.phase for each in self.phases if each.signal == signal), None)

    def nominates_from(self, phase: str) -> bool:
        """Whether the reviewers are nominated in ``phase`` or in a later phase of the pipeline.

        False if ``phase`` is not a phase of the pipeline, or if no phase nominates reviewers.
        """
        named = self.nominating
        return named is not None and phase in self and self.places[phase] <= self.places[named]

    @property
    def is_planned(self) -> bool:
        """Whether the pipeline has a plan phase; if not, the whole request is sub-plan 1."""
        return any(each.kind is Kind.PLAN for each in self.phases)

    def find_fixed_work(self, fix: str) -> PhaseDescriptor | None:
        """Return the work phase that a fix changes; None if there is none.

        It is the last work phase before the phase that follows the fix.

        Args:
            fix: The name of the fix phase.

        Raises:
            KeyError: The pipeline has no such phase.
        """
        works = [e for e in self.before(self[fix].next) if e.kind is Kind.WORK]
        return works[-1] if works else None

    def sender(self, fix: str) -> str:
        """Return the name of the check or review whose failure leads to the fix phase ``fix``.

        If several lead to it, that is the last of them.

        Raises:
            IndexError: No check or review leads to ``fix``, for example because it is not a fix.
        """
        return [each.phase for each in self.phases if each.on_fail == fix][-1]

    def work_at(self, phase: str) -> PhaseDescriptor | None:
        """Return ``phase`` if it is a work phase; if not, the last work phase before it.

        For an end, such as ``done``, it is the last work phase of the pipeline. None if there is no
        work phase up to there.
        """
        upto = (*self.before(phase), self[phase]) if phase in self else self.phases
        works = [each for each in upto if each.kind is Kind.WORK]
        return works[-1] if works else None

    def of_kind(self, *kinds: Kind) -> tuple[PhaseDescriptor, ...]:
        """Return the phases of these kinds, in the order of `phases`; empty if there are none."""
        return tuple(each for each in self.phases if each.kind in kinds)

    def earlier(self, one: str, other: str) -> str:
        """Return whichever of two phases, given by name, comes first within an iteration.

        Raises:
            KeyError: One is not a phase of the pipeline; an end, such as ``done``, is not.
        """
        return min(one, other, key=self.places.__getitem__)


@functools.lru_cache(maxsize=32)
def pipeline_for(definition: PipelineDefinition, sender: str = "") -> Pipeline:
    """Return the pipeline for a definition, as the program runs it.

    Args:
        definition: The definition of the pipeline.
        sender: The check or review that asked for the last fix; empty if none did. It determines
            the place of that fix, and the phase that follows it.
    """
    phases = describe_phases(definition, sender)
    walk = [each for each in phases if each.kind is not Kind.FIX]
    places = {each.phase: float(place) for place, each in enumerate(walk)}
    for fix in (each for each in phases if each.kind is Kind.FIX):
        asking = [each for each in walk if each.on_fail == fix.phase]
        behind = next((each for each in asking if each.phase == sender), asking[-1])
        walk.insert(walk.index(behind) + 1, fix)
        places[fix.phase] = places[fix.next] - 0.5
    return Pipeline(
        phases=tuple(walk),
        by_name={each.phase: each for each in walk},
        folders=tuple(dict.fromkeys(each.folder for each in walk)),
        places=places,
        result=definition.result,
    )


FEATURE_PIPELINE: Final = pipeline_for(FEATURE)

PHASE_REGISTRY: Final = FEATURE_PIPELINE.phases

PIPELINE: Final = FEATURE_PIPELINE.by_name


def pipeline_of(state: SessionState) -> Pipeline:
    """Return the pipeline of a session, as the program runs it."""
    sender = state.fix.sender if state.fix is not None else ""
    known, pipeline = _LAST.get(sender, (None, FEATURE_PIPELINE))
    if known is not state.pipeline:  # comparing definitions by value would be slow
        pipeline = pipeline_for(state.pipeline, sender)
        _LAST[sender] = (state.pipeline, pipeline)
    return pipeline


_LAST: Final[dict[str, tuple[PipelineDefinition, Pipeline]]] = {}
"""The last definition that was asked for, and its pipeline, by the sender of the last fix."""


def beginnings(state: SessionState) -> tuple[str, ...]:
    """Return the names of the phases in which a new cycle can begin, in the pipeline's order.

    These are `Pipeline.default_beginning`, the phases of the session in which agents produce
    something, and fixes, which are for small changes. A fix for a check whose commands are expected
    to fail is left out, because after the work is done that check no longer applies.
    """
    pipeline = pipeline_of(state)
    again = pipeline.default_beginning(state)
    mending = {each.on_fail for each in pipeline.phases if each.expect is Expect.PASS}
    return tuple(
        each.phase
        for each in pipeline.phases
        if each.phase == again
        or (each.phase in mending if each.kind is Kind.FIX else _is_made(state, each))
    )


def _is_made(state: SessionState, here: PhaseDescriptor) -> bool:
    return KINDS[here.kind].is_productive and bool(here.takes_part(state))


def kind_of(state: SessionState) -> Kind | None:
    """Return the kind of the session's phase; None if the session is done or has failed."""
    pipeline = pipeline_of(state)
    return pipeline[state.phase].kind if state.phase in pipeline else None


def working_phase(state: SessionState) -> str:
    """Return the session's phase; for a failed session, the phase that failed.

    ``done`` is returned unchanged. ``failed`` is returned if the phase that failed is unknown.
    """
    if state.phase == Phase.FAILED and state.interruption is not None:
        known = state.interruption.phase in pipeline_of(state)
        return state.interruption.phase if known else Phase.FAILED
    return state.phase


def working_kind(state: SessionState) -> Kind | None:
    """Return the kind of `working_phase`; None if the result of that is not a phase."""
    pipeline, here = pipeline_of(state), working_phase(state)
    return pipeline[here].kind if here in pipeline else None


TERMINAL: Final = ENDS

earlier: Final = FEATURE_PIPELINE.earlier
