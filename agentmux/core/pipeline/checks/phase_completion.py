"""Decides whether a phase is complete, by its kind and its artifacts, and says why.

Each function that takes a `PhaseDefinition` returns the function for `PhaseDescriptor.check`. Files
also count if no agent was launched for them: users, or an older version, may have written them.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from typing import TypeAlias

from agentmux.core.codec.frozen import dataclass
from agentmux.core.definitions.definition import PhaseDefinition
from agentmux.core.documents.review import Verdict
from agentmux.core.journal.state import SessionState
from agentmux.core.names.statuses import CAPPED, PASSED
from agentmux.core.pipeline.artifacts import (
    PLAN_FILE,
    PM_DONE,
    RESULTS,
    Artifacts,
    done_marker,
    fix_request,
    nominations,
    reviewing,
    subplan_count,
    verdict_paths,
    verdicts,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """The answer to the question whether a phase is complete, and why.

    Attributes:
        complete: Whether it is complete.
        because: The reason, for users, whether it is complete or not, such as ``plan.md is
            missing``.
        paths: The artifacts that decided it, relative to the session's directory.
    """

    complete: bool
    because: str
    paths: tuple[str, ...] = ()


Check: TypeAlias = Callable[[SessionState, Artifacts], Completion]


def _yes(because: str, *paths: str) -> Completion:
    return Completion(complete=True, because=because, paths=paths)


def _no(because: str, *paths: str) -> Completion:
    return Completion(complete=False, because=because, paths=paths)


def _file_size(size: int) -> str:
    if size < 1000:
        return f"{size} B"
    return f"{size / 1000:.1f} kB" if size < 1_000_000 else f"{size / 1e6:.1f} MB"


def _with_content(artifacts: Artifacts, path: str) -> Completion:
    """Return a `Completion` that is complete if the file at ``path`` has content."""
    name = path.rpartition("/")[2]
    if artifacts.has_content(path):
        return _yes(f"{name}, {_file_size(artifacts.sizes[path])}", path)
    problem = artifacts.problems.get(path)
    if problem is None:
        problem = "empty" if artifacts.exists(path) else "missing"
    return _no(f"{name} is {problem}", path)


def optional(
    check: Check, takes_part: Callable[[SessionState, Artifacts], bool | None], otherwise: str
) -> Check:
    """Return a function like ``check`` that also finds a phase complete if the session skips it.

    Args:
        check: Returns, for a state and artifacts, the `Completion` of a phase that is not skipped.
        takes_part: Returns, for a state and artifacts, whether the session goes through the phase;
            None if that is not known yet, which counts as yes.
        otherwise: The reason to show if the session skips the phase.
    """

    def check_completion(state: SessionState, artifacts: Artifacts) -> Completion:
        left_out = takes_part(state, artifacts) is False
        return _yes(otherwise) if left_out else check(state, artifacts)

    return check_completion


def product_management(_: SessionState, artifacts: Artifacts) -> Completion:
    """Return the `Completion` of product management: complete if its marker ``done`` exists."""
    if artifacts.exists(PM_DONE):
        return _yes("the marker `done` exists", PM_DONE)
    return _no("the marker `done` is missing", PM_DONE)


def completing(_state: SessionState, _artifacts: Artifacts) -> Completion:
    """Return the `Completion` of the last phase, which is never complete: only the user ends it."""
    return _no("the user decides")


def document(phase: PhaseDefinition) -> Check:
    """Return a function that decides, for a state and artifacts, if a document phase is complete.

    It is complete if all files of the phase have content. Only files that were handed in are
    artifacts (`without_drafts`), so they are valid.
    """

    def check_completion(_: SessionState, artifacts: Artifacts) -> Completion:
        completions = [_with_content(artifacts, f"{phase.folder}/{e.file}") for e in phase.leaves]
        missing = [each for each in completions if not each.complete]
        shown = missing or completions
        because = "; ".join(each.because for each in shown)
        paths = tuple(path for each in shown for path in each.paths)
        return Completion(complete=not missing, because=because, paths=paths)

    return check_completion


def plan(phase: PhaseDefinition) -> Check:
    """Return a function that decides, for a state and artifacts, whether a plan phase is complete.

    It is complete if there is a valid ``execution_plan.yaml``, which AgentMux writes for an
    accepted plan. The ``plan.yaml`` that the planner writes does not matter.
    """
    path, draft = f"{phase.folder}/{PLAN_FILE}", f"{phase.folder}/plan.yaml"

    def check_completion(_: SessionState, artifacts: Artifacts) -> Completion:
        execution_plan = artifacts.execution_plan
        if execution_plan is not None:
            return _yes(f"execution_plan.yaml, {execution_plan.subplan_count} sub-plans", path)
        problem = artifacts.problems.get(path)
        if problem is None and artifacts.exists(draft):
            return _no("plan.yaml was never accepted: execution_plan.yaml is missing", draft)
        return _no(f"execution_plan.yaml is {problem or 'missing'}", path)

    return check_completion


def work(phase: PhaseDefinition, fixed_by: frozenset[str], *, planned: bool) -> Check:
    """Return a function that decides, for a state and artifacts, whether a work phase is complete.

    It is complete if each sub-plan has a marker (`done_marker`), or if a fix of the work has begun.

    Args:
        phase: The work phase.
        fixed_by: The names of the checks and reviews whose fixes change this work.
        planned: Whether a plan gives the number of sub-plans; if not, there is one.
    """

    def check_completion(state: SessionState, artifacts: Artifacts) -> Completion:
        if state.fix is not None and state.fix.sender in fixed_by:
            return _yes("a fix iteration has begun", fix_request(state))
        count = subplan_count(state, artifacts) if planned else 1
        if count == 0:
            return _no("the number of sub-plans is unknown")
        markers = {n: done_marker(n, phase.folder) for n in range(1, count + 1)}
        done = [n for n, path in markers.items() if artifacts.exists(path)]
        missing = [n for n in markers if n not in done]
        if missing:
            paths = (markers[n] for n in missing)
            names = ", ".join(map(str, missing))
            return _no(f"{len(done)} of {count} sub-plans are done; open: {names}", *paths)
        return _yes(f"done_1 to done_{count}", *markers.values())

    return check_completion


def check(phase: PhaseDefinition, fixes: Mapping[str, str]) -> Check:
    """Return a function that decides, for a state and artifacts, whether a check is complete.

    It is complete if it passed or is capped (it failed, and no further fix is allowed), and while
    its findings are being fixed.

    Args:
        phase: The check phase.
        fixes: The fixes after which this phase runs again. Maps the name of the check or review
            that asks for the fix to the path of the fix's marker (`done_marker`).
    """
    path = f"{phase.folder}/{RESULTS}"

    def check_completion(_: SessionState, artifacts: Artifacts) -> Completion:
        return _no(artifacts.problems.get(path) or "no outcome yet", path)

    return _looking(phase, fixes, check_completion)


def review(phase: PhaseDefinition, fixes: Mapping[str, str]) -> Check:
    """Return a function that decides, for a state and artifacts, whether a review is complete.

    It is complete if all reviewers passed it or if it is capped (it failed, and no further fix is
    allowed), and while its findings are being fixed.

    Args:
        phase: The review phase.
        fixes: The fixes after which this phase runs again. Maps the name of the check or review
            that asks for the fix to the path of the fix's marker (`done_marker`).
    """

    def check_completion(state: SessionState, artifacts: Artifacts) -> Completion:
        roles = reviewing(nominations(state, artifacts), phase.roles)
        role_verdicts = verdicts(roles, artifacts, phase.folder)
        paths = verdict_paths(artifacts, phase.folder)
        failed = tuple(role for role in roles if role_verdicts.get(role) is Verdict.FAIL)
        if failed:
            return _no(f"{', '.join(failed)} failed it", *paths)
        missing = tuple(role for role in roles if role not in role_verdicts)
        if missing:
            return _no(f"no verdict yet from {', '.join(missing)}", *paths)
        return _yes(f"{', '.join(roles)} passed it", *paths)

    return _looking(phase, fixes, check_completion)


def _looking(phase: PhaseDefinition, fixes: Mapping[str, str], undecided: Check) -> Check:
    path = f"{phase.folder}/{RESULTS}"

    def check_completion(state: SessionState, artifacts: Artifacts) -> Completion:
        outcome = settled_outcome(state, artifacts, phase.phase, phase.folder)
        if outcome == CAPPED:
            return _accept_capped(state)
        if outcome == PASSED:
            return _yes(outcome, path)
        sender = state.fix.sender if state.fix is not None else ""
        if is_under_way(state, fixes) and not artifacts.exists(fixes[sender]):
            return _yes("its findings are being fixed", fix_request(state))
        return undecided(state, artifacts)

    return check_completion


def settled_outcome(state: SessionState, artifacts: Artifacts, phase: str, folder: str) -> str:
    """Return the outcome of a check or review: ``passed``, ``failed``, ``capped``, or empty.

    ``capped`` means that it failed and that no further fix is allowed. The result is empty if there
    is no outcome yet. The outcome comes from ``results.yaml``; if that file gives none, an outcome
    ``capped`` in the state counts.

    Args:
        state: The session's state.
        artifacts: The session's artifacts.
        phase: The name of the check or review.
        folder: The folder of the check or review, relative to the session's directory.
    """
    known = state.results.get(phase)
    capped = CAPPED if known is not None and known.outcome == CAPPED else ""
    return artifacts.results.get(f"{folder}/{RESULTS}", "") or capped


def _accept_capped(state: SessionState) -> Completion:
    return _yes(f"capped after {state.max_review_iterations} iterations")


def is_under_way(state: SessionState, senders: Container[str]) -> bool:
    """Whether there is a fix that is still needed and that one of ``senders`` asked for.

    ``senders`` has the names of checks and reviews. Whether the fix was handed in does not matter.
    """
    return state.fix is not None and state.fix.sender in senders and not state.fix.over


def fix(phase: PhaseDefinition, senders: Mapping[str, str]) -> Check:
    """Return a function that decides, for a state and artifacts, whether a fix is complete.

    It is complete if its marker (`done_marker`) exists, if nothing is to be fixed, or if the phase
    that asked for the fix has passed since or is capped (no further fix is allowed). After that,
    the marker does not matter, because later work may have removed it.

    Args:
        phase: The fix phase.
        senders: The folder of each check and review that may ask for this fix, by the phase's name.
    """
    marker = done_marker(1, phase.folder)

    def check_completion(state: SessionState, artifacts: Artifacts) -> Completion:
        sender = state.fix.sender if state.fix is not None else ""
        asked = sender if sender in senders else tuple(senders)[-1]
        outcome = settled_outcome(state, artifacts, asked, senders[asked])
        if outcome == CAPPED:
            return _accept_capped(state)
        if not is_under_way(state, senders):
            return _yes("nothing to fix")
        if artifacts.exists(marker):
            return _yes("done_1 exists", marker)
        if outcome == PASSED:
            return _yes(f"{sender} has passed since", f"{senders[sender]}/{RESULTS}")
        return _no("the fix is not handed in", fix_request(state))

    return check_completion
