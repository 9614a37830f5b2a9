"""The phases as data, in order; no other module lists them.

docs/explanation/architecture.md says what else a new phase needs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from agentmux.core.codec.frozen import dataclass
from agentmux.core.documents.review import review_files
from agentmux.core.journal.events import (
    ArchitectureDone,
    CodeDone,
    DesignDone,
    PlanDone,
    PmDone,
    ReviewDone,
    SummaryDone,
)
from agentmux.core.journal.state import SessionState
from agentmux.core.names import layout
from agentmux.core.names.phase import (
    ARCHITECT,
    CODER,
    DESIGNER,
    PLANNER,
    PRODUCT_MANAGER,
    REVIEWERS,
    Phase,
)
from agentmux.core.pipeline import completion
from agentmux.core.pipeline.artifacts import REVIEW_MD, Artifacts, done_marker
from agentmux.core.pipeline.completion import Completion

Check: TypeAlias = Callable[[SessionState, Artifacts], Completion]


@dataclass(frozen=True, slots=True, kw_only=True)
class PhaseDescriptor:
    """One phase.

    Attributes:
        phase: The name of the phase.
        folder: The folder of the phase's artifacts.
        roles: The roles that work in the phase; the first one starts it (the start-up role).
        prompt: The name of the prompt template, by role.
        leaves: The artifacts that the agents leave, relative to ``folder``.
        signal: The kind of the event by which an agent says that it is done.
        check: Decides by the artifacts whether the phase is complete.
        archives: The paths to move to history when a session enters the phase: what earlier
            attempts at it, and at the phases that build on it, have left.
        next: The phase that follows; `transitions` in ``fold`` knows the exceptions.
        takes_part: Whether a session goes through the phase; None if that is not known yet.
    """

    phase: Phase
    folder: str
    roles: tuple[str, ...]
    prompt: Mapping[str, str]
    leaves: tuple[str, ...]
    signal: str
    check: Check
    archives: tuple[str, ...]
    next: Phase
    takes_part: Callable[[SessionState], bool | None] = lambda _: True

    @property
    def startup_role(self) -> str:
        """The role that starts the phase: the first one of ``roles``."""
        return self.roles[0]


def _same(*roles: str) -> Mapping[str, str]:
    return {role: role for role in roles}


_FROM_DESIGN: Final = (layout.DESIGN, layout.IMPLEMENTATION, layout.REVIEW, layout.COMPLETION)
_VERDICTS: Final = tuple(
    dict.fromkeys(
        f"{layout.REVIEW}/{name}" for role in REVIEWERS for name in review_files(role, alone=True)
    )
)
_REVIEWS: Final = (*_VERDICTS, REVIEW_MD, layout.COMPLETION)

PHASE_REGISTRY: Final = (
    PhaseDescriptor(
        phase=Phase.PRODUCT_MANAGEMENT,
        folder=layout.PRODUCT_MANAGEMENT,
        roles=(PRODUCT_MANAGER,),
        prompt=_same(PRODUCT_MANAGER),
        leaves=("requirements.md",),
        signal=PmDone.kind,
        check=completion.product_management,
        archives=(
            layout.PRODUCT_MANAGEMENT,
            layout.ARCHITECTING,
            layout.PLANNING,
            *_FROM_DESIGN,
        ),
        next=Phase.ARCHITECTING,
        takes_part=lambda state: state.product_manager,
    ),
    PhaseDescriptor(
        phase=Phase.ARCHITECTING,
        folder=layout.ARCHITECTING,
        roles=(ARCHITECT,),
        prompt=_same(ARCHITECT),
        leaves=("architecture.md",),
        signal=ArchitectureDone.kind,
        check=completion.architecting,
        archives=(layout.ARCHITECTING, layout.PLANNING, *_FROM_DESIGN),
        next=Phase.PLANNING,
    ),
    PhaseDescriptor(
        phase=Phase.PLANNING,
        folder=layout.PLANNING,
        roles=(PLANNER,),
        prompt=_same(PLANNER),
        leaves=("plan.yaml",),
        signal=PlanDone.kind,
        check=completion.planning,
        archives=(layout.PLANNING, *_FROM_DESIGN),
        next=Phase.DESIGNING,
    ),
    PhaseDescriptor(
        phase=Phase.DESIGNING,
        folder=layout.DESIGN,
        roles=(DESIGNER,),
        prompt=_same(DESIGNER),
        leaves=("design.md",),
        signal=DesignDone.kind,
        check=completion.designing,
        archives=_FROM_DESIGN,
        next=Phase.IMPLEMENTING,
        takes_part=lambda state: state.needs_design,
    ),
    PhaseDescriptor(
        phase=Phase.IMPLEMENTING,
        folder=layout.IMPLEMENTATION,
        roles=(CODER,),
        prompt=_same(CODER),
        leaves=(),
        signal=CodeDone.kind,
        check=completion.implementing,
        archives=(layout.IMPLEMENTATION, layout.REVIEW, layout.COMPLETION),
        next=Phase.REVIEWING,
    ),
    PhaseDescriptor(
        phase=Phase.REVIEWING,
        folder=layout.REVIEW,
        roles=REVIEWERS,
        prompt=_same(*REVIEWERS),
        leaves=("review_logic.yaml", "review_quality.yaml", "review_expert.yaml"),
        signal=ReviewDone.kind,
        check=completion.reviewing,
        archives=_REVIEWS,
        next=Phase.COMPLETING,
    ),
    PhaseDescriptor(
        phase=Phase.FIXING,
        folder=layout.IMPLEMENTATION,
        roles=(CODER,),
        prompt={CODER: "coder-fix"},
        leaves=(),
        signal=CodeDone.kind,
        check=completion.fixing,
        archives=(done_marker(1), *_REVIEWS),
        next=Phase.REVIEWING,
        takes_part=lambda state: state.iteration > 0,
    ),
    PhaseDescriptor(
        phase=Phase.COMPLETING,
        folder=layout.COMPLETION,
        roles=REVIEWERS,
        prompt=dict.fromkeys(REVIEWERS, "summary"),
        leaves=("summary.md",),
        signal=SummaryDone.kind,
        check=completion.completing,
        archives=(layout.COMPLETION,),
        next=Phase.DONE,
    ),
)

PIPELINE: Final[Mapping[Phase, PhaseDescriptor]] = {each.phase: each for each in PHASE_REGISTRY}

TERMINAL: Final = frozenset(set(Phase) - set(PIPELINE))

# Fixing of iteration k comes before reviewing of iteration k, but later in the registry.
_ORDER: Final[Mapping[Phase, float]] = {
    **{each.phase: float(place) for place, each in enumerate(PHASE_REGISTRY)},
    Phase.FIXING: list(PIPELINE).index(Phase.REVIEWING) - 0.5,
}


def earlier(one: Phase, other: Phase) -> Phase:
    """Return the one of two phases that comes first within an iteration.

    Neither may be one in `TERMINAL`, such as ``done``.
    """
    return min(one, other, key=_ORDER.__getitem__)
