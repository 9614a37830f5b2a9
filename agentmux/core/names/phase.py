"""The names of the phases, roles and review roles; what they mean stands in ``pipeline``."""

from __future__ import annotations

from enum import StrEnum
from typing import Final


class Phase(StrEnum):
    """Where a session is in its pipeline; the values are what state and journal hold."""

    PRODUCT_MANAGEMENT = "product_management"
    ARCHITECTING = "architecting"
    PLANNING = "planning"
    DESIGNING = "designing"
    IMPLEMENTING = "implementing"
    REVIEWING = "reviewing"
    FIXING = "fixing"
    COMPLETING = "completing"
    DONE = "done"
    FAILED = "failed"


class ResearchKind(StrEnum):
    """What a researcher looks into: this code base, or the web."""

    CODE = "code"
    WEB = "web"


PRODUCT_MANAGER: Final = "product-manager"
ARCHITECT: Final = "architect"
PLANNER: Final = "planner"
DESIGNER: Final = "designer"
CODER: Final = "coder"
REVIEWER_LOGIC: Final = "reviewer_logic"
REVIEWER_QUALITY: Final = "reviewer_quality"
REVIEWER_EXPERT: Final = "reviewer_expert"
REVIEWERS: Final = (REVIEWER_LOGIC, REVIEWER_QUALITY, REVIEWER_EXPERT)


def researcher(kind: ResearchKind) -> str:
    """Return the role that does research of this kind."""
    return f"{kind}-researcher"


RESEARCHERS: Final = tuple(researcher(kind) for kind in ResearchKind)
ROLES: Final = (
    PRODUCT_MANAGER,
    ARCHITECT,
    *RESEARCHERS,
    PLANNER,
    DESIGNER,
    CODER,
    *REVIEWERS,
)
