"""The names of the phases and roles. `pipeline` says what each phase does."""

from __future__ import annotations

from enum import StrEnum
from typing import Final


class Phase(StrEnum):
    """The name of a phase of the built-in pipeline ``feature``, or an end: ``done``, ``failed``.

    Other pipelines may have phases of other names. The state and the journal contain the values.
    `pipeline.registry` has the order of the phases.
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
"""The values of a state's ``phase`` that are not phases of the pipeline."""


class ResearchKind(StrEnum):
    """The kinds of research: ``code`` (in the code base) and ``web`` (on the web)."""

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
    """Return the role that does this kind of research, such as ``code-researcher``."""
    return f"{kind}-researcher"


SETUP: Final = "setup"
"""The seat and role of the setup steps that run in a new worktree before the first agent starts."""

CHECK: Final = "check"
"""The role of the commands that check the result."""

BASE: Final = "base"
"""The role of the commands that run on a session's base, and the seat of their setup steps."""

COMMANDS: Final = frozenset({SETUP, CHECK, BASE})
"""The roles that no agent plays: a launch for one of them runs a command."""

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
