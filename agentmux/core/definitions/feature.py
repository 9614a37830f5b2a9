"""The definition of the built-in pipeline ``feature``."""

from __future__ import annotations

from typing import Final

from agentmux.core.definitions.definition import (
    Kind,
    Leaf,
    PhaseDefinition,
    PipelineDefinition,
    When,
)
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

FEATURE: Final = PipelineDefinition(
    name="feature",
    phases=(
        PhaseDefinition(
            phase=Phase.PRODUCT_MANAGEMENT.value,
            kind=Kind.DOCUMENT,
            folder=layout.PRODUCT_MANAGEMENT,
            roles=(PRODUCT_MANAGER,),
            leaves=(Leaf(file="requirements.md"),),
            when=When.REQUESTED,
        ),
        PhaseDefinition(
            phase=Phase.ARCHITECTING.value,
            kind=Kind.DOCUMENT,
            folder=layout.ARCHITECTING,
            roles=(ARCHITECT,),
            leaves=(Leaf(file="architecture.md"),),
        ),
        PhaseDefinition(
            phase=Phase.PLANNING.value,
            kind=Kind.PLAN,
            folder=layout.PLANNING,
            roles=(PLANNER,),
        ),
        PhaseDefinition(
            phase=Phase.DESIGNING.value,
            kind=Kind.DOCUMENT,
            folder=layout.DESIGN,
            roles=(DESIGNER,),
            leaves=(Leaf(file="design.md"),),
            when=When.NEEDS_DESIGN,
        ),
        PhaseDefinition(
            phase=Phase.IMPLEMENTING.value,
            kind=Kind.WORK,
            folder=layout.IMPLEMENTATION,
            roles=(CODER,),
        ),
        PhaseDefinition(
            phase=Phase.REVIEWING.value,
            kind=Kind.REVIEW,
            folder=layout.REVIEW,
            roles=REVIEWERS,
            on_fail=Phase.FIXING.value,
        ),
        PhaseDefinition(
            phase=Phase.FIXING.value,
            kind=Kind.FIX,
            folder=layout.IMPLEMENTATION,
            roles=(CODER,),
            prompt="coder-fix",
        ),
        PhaseDefinition(
            phase=Phase.COMPLETING.value,
            kind=Kind.COMPLETE,
            folder=layout.COMPLETION,
            roles=REVIEWERS,
            prompt="summary",
        ),
    ),
)
"""The default pipeline, from an architecture to a reviewed result."""
