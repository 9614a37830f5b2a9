"""When each phase is complete: one check for each phase, which also says why."""

from __future__ import annotations

from agentmux.core.codec.frozen import dataclass
from agentmux.core.documents.review import Verdict
from agentmux.core.journal.state import SessionState
from agentmux.core.names import layout
from agentmux.core.names.statuses import CAPPED
from agentmux.core.pipeline.artifacts import (
    FIX_REQUEST,
    Artifacts,
    completed_subplans,
    done_marker,
    is_fix_iteration,
    needs_design,
    nominations,
    subplan_count,
    verdicts,
)

PM_DONE = f"{layout.PRODUCT_MANAGEMENT}/done"
ARCHITECTURE = f"{layout.ARCHITECTING}/architecture.md"
PLAN_FILE = "execution_plan.yaml"
"""The file, in the folder of a plan, that says that the plan was accepted."""
EXECUTION_PLAN = f"{layout.PLANNING}/{PLAN_FILE}"
PLAN = f"{layout.PLANNING}/plan.yaml"
DESIGN = f"{layout.DESIGN}/design.md"


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """The result of the check whether a phase is complete.

    ``because`` says why, for people; ``paths`` are the artifacts that the check looked at.
    """

    complete: bool
    because: str
    paths: tuple[str, ...] = ()


def _yes(because: str, *paths: str) -> Completion:
    return Completion(complete=True, because=because, paths=paths)


def _no(because: str, *paths: str) -> Completion:
    return Completion(complete=False, because=because, paths=paths)


def _file_size(size: int) -> str:
    if size < 1000:
        return f"{size} B"
    return f"{size / 1000:.1f} kB" if size < 1_000_000 else f"{size / 1e6:.1f} MB"


def with_content(artifacts: Artifacts, path: str) -> Completion:
    """Return whether a file has content, and says so in words."""
    name = path.rpartition("/")[2]
    if artifacts.has_content(path):
        return _yes(f"{name}, {_file_size(artifacts.sizes[path])}", path)
    problem = artifacts.problems.get(path)
    if problem is None:
        problem = "empty" if artifacts.exists(path) else "missing"
    return _no(f"{name} is {problem}", path)


def product_management(state: SessionState, artifacts: Artifacts) -> Completion:
    """Check product management: complete if not requested, or if its marker ``done`` exists."""
    return pm_done(state, artifacts) if state.product_manager else _yes("not requested")


def pm_done(_: SessionState, artifacts: Artifacts) -> Completion:
    """Check product management that every session has: complete if its marker ``done`` exists."""
    if artifacts.exists(PM_DONE):
        return _yes("the marker `done` exists", PM_DONE)
    return _no("the marker `done` is missing", PM_DONE)


def architecting(state: SessionState, artifacts: Artifacts) -> Completion:
    """Check architecting: complete if ``architecture.md`` has content."""
    return with_content(artifacts, ARCHITECTURE)


def planning(state: SessionState, artifacts: Artifacts) -> Completion:
    """Check planning: complete if ``execution_plan.yaml`` is valid; ``plan.yaml`` is irrelevant."""
    plan = artifacts.execution_plan
    if plan is not None:
        return _yes(f"execution_plan.yaml, {plan.subplan_count} sub-plans", EXECUTION_PLAN)
    problem = artifacts.problems.get(EXECUTION_PLAN)
    if problem is not None:
        return _no(f"execution_plan.yaml is {problem}", EXECUTION_PLAN)
    if artifacts.exists(PLAN):
        return _no("plan.yaml was never accepted: execution_plan.yaml is missing", PLAN)
    return _no("execution_plan.yaml is missing", EXECUTION_PLAN)


def designing(state: SessionState, artifacts: Artifacts) -> Completion:
    """Check designing: complete if no design is needed, or if ``design.md`` has content."""
    if not needs_design(state, artifacts):
        return _yes("no design needed")
    return with_content(artifacts, DESIGN)


def implementing(state: SessionState, artifacts: Artifacts) -> Completion:
    """Check implementing: complete if all sub-plans have markers, or a fix iteration has begun."""
    if is_fix_iteration(state, artifacts):
        return _yes("a fix iteration has begun", FIX_REQUEST)
    count = subplan_count(state, artifacts)
    if count == 0:
        return _no("the number of sub-plans is unknown")
    done = completed_subplans(state, artifacts)
    if len(done) == count:
        return _yes(f"done_1 to done_{count}", *map(done_marker, done))
    missing = tuple(i for i in range(1, count + 1) if i not in done)
    names = ", ".join(f"done_{i}" for i in missing)
    return _no(
        f"{names} missing: {len(done)} of {count} sub-plans are done", *map(done_marker, missing)
    )


def _capped(state: SessionState) -> Completion:
    return _yes(f"capped after {state.max_review_iterations} iterations")


def reviewing(state: SessionState, artifacts: Artifacts) -> Completion:
    """Check reviewing: complete if all nominated reviewers pass, or if no further fix is allowed.

    A failed review is complete, too, while its findings are being fixed.
    """
    if state.review_outcome == CAPPED:
        return _capped(state)
    if is_fix_iteration(state, artifacts) and not artifacts.exists(done_marker(1)):
        return _yes("its findings are being fixed", FIX_REQUEST)
    nominated = nominations(state, artifacts)
    found = verdicts(nominated, artifacts)
    failed = tuple(role for role in nominated if found.get(role) is Verdict.FAIL)
    if failed:
        return _no(f"{', '.join(failed)} failed it", *artifacts.verdicts)
    missing = tuple(role for role in nominated if role not in found)
    if missing:
        return _no(f"no verdict yet from {', '.join(missing)}", *artifacts.verdicts)
    return _yes(f"{', '.join(nominated)} passed it", *artifacts.verdicts)


def fixing(state: SessionState, artifacts: Artifacts) -> Completion:
    """Check fixing: complete if its marker exists, nothing needs a fix, or no fix is allowed."""
    if state.review_outcome == CAPPED:
        return _capped(state)
    if not is_fix_iteration(state, artifacts):
        return _yes("nothing to fix")
    if artifacts.exists(done_marker(1)):
        return _yes("done_1 exists", done_marker(1))
    return _no("done_1 is missing", FIX_REQUEST)


def completing(state: SessionState, artifacts: Artifacts) -> Completion:
    """Check completing: never complete by artifacts, since the user decides."""
    return _no("the user decides")
