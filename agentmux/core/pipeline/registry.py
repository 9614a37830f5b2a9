"""The phases of the built-in pipeline, in order, as the program runs them; no module lists them.

What a phase is stands in `definitions`, what its kind does in `kinds`.
docs/explanation/architecture.md says what else a new phase needs.
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
        phases: The phases in order; a fix stands behind the check or review that asks for it.
        by_name: The same, by name.
        folders: The folders of the phases; a fix shares that of another phase.
        places: The place of each phase within an iteration. That of a fix is before the phase in
            which the walk goes on: fixing of iteration k comes before reviewing of iteration k.
        result: What a session leaves.
    """

    phases: tuple[PhaseDescriptor, ...]
    by_name: Mapping[str, PhaseDescriptor]
    folders: tuple[str, ...]
    places: Mapping[str, float]
    result: Result = Result.COMMIT

    def __contains__(self, phase: object) -> bool:
        """Whether this is a phase of the pipeline; an end, such as ``done``, is none."""
        return phase in self.by_name

    def __getitem__(self, phase: str) -> PhaseDescriptor:
        """Return a phase by its name."""
        return self.by_name[phase]

    def from_(self, phase: str) -> tuple[PhaseDescriptor, ...]:
        """Return a phase and those behind it, in the order of `phases`."""
        return self.phases[self.phases.index(self[phase]) :]

    def before(self, phase: str) -> tuple[PhaseDescriptor, ...]:
        """Return the phases before a phase, in the order of `phases`."""
        return self.phases[: self.phases.index(self[phase])]

    @property
    def last(self) -> str:
        """The phase in which the user decides."""
        return next(each.phase for each in self.phases if each.kind is Kind.COMPLETE)

    def again(self, state: SessionState) -> str:
        """Return the phase in which a new cycle begins: the first that every session goes through.

        A check in which a session has nothing to verify is none.
        """
        always = (e for e in self.phases if e.when is When.ALWAYS and e.kind is not Kind.FIX)
        return next(each.phase for each in always if each.takes_part(state))

    @property
    def nominating(self) -> str | None:
        """The phase whose document says who reviews; None if no document does."""
        signal = ArchitectureDone.kind
        return next((each.phase for each in self.phases if each.signal == signal), None)

    def nominates_from(self, phase: str) -> bool:
        """Whether the document that says who reviews is made in ``phase`` or after it."""
        named = self.nominating
        return named is not None and phase in self and self.places[phase] <= self.places[named]

    @property
    def is_planned(self) -> bool:
        """Whether a plan says what the work is; else the whole request is sub-plan 1."""
        return any(each.kind is Kind.PLAN for each in self.phases)

    def find_fixed_work(self, fix: str) -> PhaseDescriptor | None:
        """Return the work that a fix mends: the last one before the walk goes on; None for none."""
        works = [e for e in self.before(self[fix].next) if e.kind is Kind.WORK]
        return works[-1] if works else None

    def sender(self, fix: str) -> str:
        """Return the last check or review that this fix follows."""
        return [each.phase for each in self.phases if each.on_fail == fix][-1]

    def work_at(self, phase: str) -> PhaseDescriptor | None:
        """Return the work that is done, or was done last, in a phase; None if none was yet."""
        upto = (*self.before(phase), self[phase]) if phase in self else self.phases
        works = [each for each in upto if each.kind is Kind.WORK]
        return works[-1] if works else None

    def of_kind(self, *kinds: Kind) -> tuple[PhaseDescriptor, ...]:
        """Return the phases of these kinds, in order."""
        return tuple(each for each in self.phases if each.kind in kinds)

    def earlier(self, one: str, other: str) -> str:
        """Return the one of two phases that comes first within an iteration.

        Neither may be one in `TERMINAL`, such as ``done``.
        """
        return min(one, other, key=self.places.__getitem__)


@functools.lru_cache(maxsize=32)
def running(definition: PipelineDefinition, sender: str = "") -> Pipeline:
    """Return a pipeline as the program runs it.

    Args:
        definition: The pipeline.
        sender: The check or review that asked for the last fix. The fix stands behind it, and where
            the walk goes on after the fix depends on it.
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


FEATURE_PIPELINE: Final = running(FEATURE)

PHASE_REGISTRY: Final = FEATURE_PIPELINE.phases

PIPELINE: Final = FEATURE_PIPELINE.by_name


def pipeline_of(state: SessionState) -> Pipeline:
    """Return the pipeline of a session."""
    sender = state.fix.sender if state.fix is not None else ""
    known, pipeline = _LAST.get(sender, (None, FEATURE_PIPELINE))
    if known is not state.pipeline:  # to compare definitions costs more than the rest
        pipeline = running(state.pipeline, sender)
        _LAST[sender] = (state.pipeline, pipeline)
    return pipeline


_LAST: Final[dict[str, tuple[PipelineDefinition, Pipeline]]] = {}
"""By the sender of the last fix: the definition that was asked for last, and its pipeline."""


def beginnings(state: SessionState) -> tuple[str, ...]:
    """Return the phases in which a new cycle can begin, in their order.

    They are those in which agents make something, as far as the session goes through them, and
    `Pipeline.again`; a fix is for a small change. A fix that only makes commands fail is none: what
    they have to show is over once the work is done.
    """
    pipeline = pipeline_of(state)
    again = pipeline.again(state)
    mending = {each.on_fail for each in pipeline.phases if each.expect is Expect.PASS}
    return tuple(
        each.phase
        for each in pipeline.phases
        if each.phase == again
        or (each.phase in mending if each.kind is Kind.FIX else _is_made(state, each))
    )


def _is_made(state: SessionState, here: PhaseDescriptor) -> bool:
    return KINDS[here.kind].makes and bool(here.takes_part(state))


def kind_of(state: SessionState) -> Kind | None:
    """Return the kind of the session's phase; None in a session that is done or has failed."""
    pipeline = pipeline_of(state)
    return pipeline[state.phase].kind if state.phase in pipeline else None


def working_phase(state: SessionState) -> str:
    """Return the phase whose work is under way; for a failed session, the phase that failed."""
    if state.phase == Phase.FAILED and state.interruption is not None:
        known = state.interruption.phase in pipeline_of(state)
        return state.interruption.phase if known else Phase.FAILED
    return state.phase


def working_kind(state: SessionState) -> Kind | None:
    """Return the kind of the phase whose work is under way; None for none."""
    pipeline, here = pipeline_of(state), working_phase(state)
    return pipeline[here].kind if here in pipeline else None


TERMINAL: Final = ENDS

earlier: Final = FEATURE_PIPELINE.earlier
