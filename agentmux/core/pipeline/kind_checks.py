"""When a phase of a recorded pipeline is complete, by its kind; `completion` has version 1.

Every function here returns the check of a phase, as `PhaseDescriptor.check` has it.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from typing import TypeAlias

from agentmux.core.definitions.definition import PhaseDefinition
from agentmux.core.journal.state import SessionState
from agentmux.core.names.statuses import CAPPED, PASSED
from agentmux.core.pipeline.artifacts import (
    RESULTS,
    Artifacts,
    done_marker,
    subplan_count,
)
from agentmux.core.pipeline.completion import PLAN_FILE, Completion, with_content

Check: TypeAlias = Callable[[SessionState, Artifacts], Completion]


def _yes(because: str, *paths: str) -> Completion:
    return Completion(complete=True, because=because, paths=paths)


def _no(because: str, *paths: str) -> Completion:
    return Completion(complete=False, because=because, paths=paths)


def optional(takes_part: Callable[[SessionState], bool | None], check: Check) -> Check:
    """Return the check of a phase that is complete, too, where the session does not go through."""

    def checked(state: SessionState, artifacts: Artifacts) -> Completion:
        return _yes("not needed") if takes_part(state) is False else check(state, artifacts)

    return checked


def document(phase: PhaseDefinition) -> Check:
    """Return the check of a document: each file that it leaves has content.

    Files that were not handed in are no artifacts (`without_drafts`), so their form was checked.
    """

    def checked(_: SessionState, artifacts: Artifacts) -> Completion:
        found = [with_content(artifacts, f"{phase.folder}/{e.file}") for e in phase.leaves]
        missing = [each for each in found if not each.complete]
        shown = missing or found
        because = "; ".join(each.because for each in shown)
        paths = tuple(path for each in shown for path in each.paths)
        return Completion(complete=not missing, because=because, paths=paths)

    return checked


def plan(phase: PhaseDefinition) -> Check:
    """Return the check of a plan: ``execution_plan.yaml`` is valid."""
    path = f"{phase.folder}/{PLAN_FILE}"

    def checked(_: SessionState, artifacts: Artifacts) -> Completion:
        found = artifacts.execution_plan
        if found is not None:
            return _yes(f"execution_plan.yaml, {found.subplan_count} sub-plans", path)
        problem = artifacts.problems.get(path)
        return _no(f"execution_plan.yaml is {problem or 'missing'}", path)

    return checked


def work(phase: PhaseDefinition, fixed_by: frozenset[str], *, planned: bool) -> Check:
    """Return the check of work: each sub-plan has a marker, or what was found is being fixed.

    Args:
        phase: The work.
        fixed_by: The checks and reviews whose fixes mend it.
        planned: Whether a plan says how many sub-plans there are; else there is one.
    """

    def checked(state: SessionState, artifacts: Artifacts) -> Completion:
        if state.fix is not None and state.fix.sender in fixed_by:
            return _yes("a fix iteration has begun")
        count = subplan_count(state, artifacts) if planned else 1
        if count == 0:
            return _no("the number of sub-plans is unknown")
        markers = {n: done_marker(n, phase.folder) for n in range(1, count + 1)}
        done = [n for n, path in markers.items() if artifacts.exists(path)]
        missing = [n for n in markers if n not in done]
        if missing:
            names = ", ".join(f"done_{n}" for n in missing)
            paths = (markers[n] for n in missing)
            return _no(f"{names} missing: {len(done)} of {count} sub-plans are done", *paths)
        said = "done_1" if count == 1 else f"done_1 to done_{count}"
        return _yes(said, *markers.values())

    return checked


def results(phase: PhaseDefinition) -> Check:
    """Return the check of a check or a review: its outcome is that it passed, or was capped."""
    path = f"{phase.folder}/{RESULTS}"

    def checked(_: SessionState, artifacts: Artifacts) -> Completion:
        outcome = artifacts.results.get(path, "")
        if outcome in {PASSED, CAPPED}:
            return _yes(outcome, path)
        return _no(artifacts.problems.get(path) or "no outcome yet", path)

    return checked


def is_under_way(state: SessionState, senders: Container[str]) -> bool:
    """Whether one of these checks and reviews asked for the last fix, and it is still needed."""
    return state.fix is not None and state.fix.sender in senders and not state.fix.over


def fix(phase: PhaseDefinition, senders: Mapping[str, str]) -> Check:
    """Return the check of a fix: its marker exists, or nothing that it follows has failed.

    Once who asked for it has passed, the marker no longer matters: later work may have cleared it.

    Args:
        phase: The fix.
        senders: The folder of each check and review that it follows, by the phase's name.
    """
    marker = done_marker(1, phase.folder)

    def checked(state: SessionState, artifacts: Artifacts) -> Completion:
        if state.fix is None or not is_under_way(state, senders):
            return _yes("nothing to fix")
        if artifacts.exists(marker):
            return _yes("done_1 exists", marker)
        result = f"{senders[state.fix.sender]}/{RESULTS}"
        if artifacts.results.get(result) in {PASSED, CAPPED}:
            return _yes(f"{state.fix.sender} has passed since", result)
        return _no(f"done_1 is missing: {state.fix.sender} asked for a fix", marker)

    return checked
