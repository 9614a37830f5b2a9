"""The names of the phases and roles; what belongs to each phase is in ``pipeline``."""

from __future__ import annotations

from enum import StrEnum
from typing import Final


class Phase(StrEnum):
    """The name of a phase of the pipeline, or of an end: ``done``, ``failed``.

    State and journal contain the values. The order of the phases is in `pipeline.registry`.
    """

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


ENDS: Final = frozenset[str]({Phase.DONE, Phase.FAILED})
"""What a session can be in beside the phases of its pipeline."""


class ResearchKind(StrEnum):
    """The kinds of research: in the code base, or on the web."""

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
    """Return the role that does this kind of research."""
    return f"{kind}-researcher"


SETUP: Final = "setup"
"""The seat of the commands that run in a new worktree before the first agent; no agent plays it."""

CHECK: Final = "check"
"""The role of the commands that check the result; no agent plays it."""

BASE: Final = "base"
"""The role of the commands that run on the base of a session; its seat is that of their setup."""

COMMANDS: Final = frozenset({SETUP, CHECK, BASE})
"""The roles that no agent plays: each of their launches runs a command."""

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
