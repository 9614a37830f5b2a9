"""How a session moves between phases: what is archived, reset and scheduled on entering one.

Which phase follows which is in `pipeline.registry`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from agentmux.core.codec.frozen import replace
from agentmux.core.codec.records import Json
from agentmux.core.definitions.definition import Kind
from agentmux.core.documents.plan import ExecutionPlan
from agentmux.core.documents.review import Verdict, outcome
from agentmux.core.journal.results import result_from
from agentmux.core.journal.state import ArchivedArtifacts, SessionState
from agentmux.core.names import layout
from agentmux.core.names.phase import CHECK, ENDS
from agentmux.core.names.statuses import CAPPED, FAILED, PASSED
from agentmux.core.pipeline.artifacts import default_nominations, done_marker
from agentmux.core.pipeline.check_phase import verdict_of
from agentmux.core.pipeline.kinds import KINDS
from agentmux.core.pipeline.registry import Pipeline, kind_of, pipeline_of
from agentmux.core.pipeline.results import fixes, result_of, reviewers, with_fix, with_result

_NOMINATED: Final[Mapping[str, object]] = {"reviewer_nominations": ()}
"""The document of architecting decides who reviews."""


def enter(
    state: SessionState, phase: str, *, over: str | None = None, left: SessionState | None = None
) -> SessionState:
    """Return the state in which the session has just entered ``phase``.

    What earlier attempts at the phase decided is reset, the files that they left will be archived,
    and all seats but those of researchers are removed from the state.

    Args:
        over: The first phase before ``phase`` that is skipped. The files that earlier attempts left
            from there on will be archived, too.
        left: The state before, if ``state`` is in another cycle or iteration already.
    """
    pipeline, place = pipeline_of(state), left or state
    if known_phase(state, phase) not in pipeline:
        return replace(state, phase=phase, seats={})
    archive = ArchivedArtifacts(
        to=layout.history(place.cycle, place.iteration), paths=pipeline[over or phase].archives
    )
    researchers = {name: s for name, s in state.seats.items() if s.topic and s.role != CHECK}
    entered = replace(
        forget(state, phase),
        phase=phase,
        seats=researchers,
        pending_archive=(*state.pending_archive, archive),
    )
    if pipeline[phase].kind is Kind.WORK:
        single = state.options.single_coder
        return schedule(ensure_subplan(replace(entered, implementation_single_coder=single)))
    return entered


def known_phase(state: SessionState, phase: str) -> str:
    """Return ``phase``, the name of a phase of the session's pipeline or of an end.

    Raises:
        ValueError: It is neither.
    """
    if phase not in pipeline_of(state) and phase not in ENDS:
        raise ValueError(f"`{phase}` is not a phase")
    return phase


def begin_session(state: SessionState) -> SessionState:
    """Return the state of a new session, in the first phase of its pipeline that it goes through.

    Its own ``phase`` means nothing yet.
    """
    phases = pipeline_of(state).phases
    first = next(each for each in phases if each.takes_part(state))
    began = replace(state, phase=first.phase, reviewer_nominations=_nominate_defaults(state))
    if first.kind is not Kind.WORK:
        return began
    single = state.options.single_coder
    return schedule(ensure_subplan(replace(began, implementation_single_coder=single)))


def _nominate_defaults(state: SessionState) -> tuple[str, ...]:
    """Return the reviewers of a session in which no architect nominates any; else none yet."""
    pipeline = pipeline_of(state)
    return () if pipeline.nominating in pipeline else default_nominations(state)


def ensure_subplan(state: SessionState) -> SessionState:
    """Return the state in which the request is sub-plan 1; ``state`` itself if there is a plan."""
    if pipeline_of(state).is_planned:
        return state
    group: Json = {"group_id": "g1", "mode": "serial", "plans": [{"index": 1, "name": "all of it"}]}
    return replace(state, subplan_count=1, implementation_groups=(group,))


def again(state: SessionState, phase: str, subplans: tuple[int, ...]) -> SessionState:
    """Return the state in which the session has entered ``phase`` again.

    Args:
        subplans: If the phase is implementing: the sub-plans that stay done.
    """
    entered = enter(state, phase)
    if kind_of(entered) is not Kind.WORK or not subplans:
        return entered
    here = pipeline_of(entered)[phase]
    others = (n for n in range(1, state.subplan_count + 1) if n not in subplans)
    left = (done_marker(n, here.folder) for n in others)
    archive = replace(entered.pending_archive[-1], paths=(*left, *here.archives[1:]))
    return schedule(
        replace(
            entered,
            completed_subplans=subplans,
            pending_archive=(*entered.pending_archive[:-1], archive),
        )
    )


def forget(state: SessionState, phase: str) -> SessionState:
    """Return the state without the fields that ``phase`` and the phases after it have decided."""
    pipeline = pipeline_of(state)
    here = pipeline[phase]
    at = here.next if here.kind is Kind.FIX else phase
    forgotten: dict[str, Any] = {}
    for each in pipeline.phases:
        if pipeline.places[each.phase] >= pipeline.places[at]:
            forgotten.update(KINDS[each.kind].decides)
            forgotten.update(_NOMINATED if each.phase == pipeline.nominating else {})
    sender = state.fix.sender if state.fix is not None and here.kind is Kind.FIX else ""
    return _without_results(replace(state, **forgotten), pipeline, at, sender)


def _without_results(state: SessionState, pipeline: Pipeline, at: str, sender: str) -> SessionState:
    """Return the state without what ``at`` and the phases after it have found.

    ``sender``, which has just asked for a fix, keeps its result: it says what is to be fixed. A fix
    is over if the session goes back behind it, and forgotten if the work is done anew. The
    iteration stays: no two attempts of a cycle may have the same one.
    """
    places = pipeline.places
    kept = {
        phase: result
        for phase, result in state.results.items()
        if (phase == sender and result.outcome == FAILED)
        or (phase in places and places[phase] < places[at])
    }
    fix = state.fix
    if fix is not None and fix.sender:
        fixing = pipeline[fix.sender].on_fail or ""
        work = pipeline.find_fixed_work(fixing)
        if work is not None and places[work.phase] >= places[at]:
            fix = replace(fix, sender="", sent={}, over=False)
        elif places[at] < places[fixing]:
            fix = replace(fix, sent={}, over=True)
    return replace(state, results=kept, fix=fix)


def reopen_from(state: SessionState, phase: str) -> SessionState:
    """Return the state without the outcomes from ``phase`` on, where a session resumes.

    It resumes before a phase with an outcome if the file with it is lost. What was found of an open
    one stays, and so does the result that the present fix mends.
    """
    places, sender = pipeline_of(state).places, state.fix.sender if state.fix is not None else ""
    if phase not in places:
        return state
    kept = {
        each: result
        for each, result in state.results.items()
        if places.get(each, 0) < places[phase]
        or (each == phase and not result.outcome)
        or (each == sender != phase and result.outcome == FAILED)
    }
    return replace(state, results=kept)


def with_verdicts_found(
    state: SessionState, found: Mapping[str, object], phase: str, where: str
) -> SessionState:
    """Return the state with the verdicts that lie on the disk, if it goes on in ``phase``.

    Of an open review they are all there are: whose file is lost reviews again. A review before
    ``phase`` has passed if they all pass; what is decided stays.

    Raises:
        FieldError: ``found`` is not what `StateFromDisk.results` holds.
    """
    places = pipeline_of(state).places
    for each in pipeline_of(state).of_kind(Kind.REVIEW):
        known, at = result_of(state, each.phase), places.get(phase, 0)
        if known.outcome or places[each.phase] > at or each.phase not in found:
            continue
        given = result_from(found[each.phase], f"{where}: {each.phase}")
        reviews = {**known.reviews, **given.reviews}
        result = replace(known, verdicts=given.verdicts, reviews=reviews)
        decided_by = with_result(state, each.phase, result)
        passed = _find_verdict_in(decided_by, each.phase) is Verdict.PASS
        if each.phase == phase:
            state = decided_by if result != known else state
        elif passed:
            state = with_result(state, each.phase, replace(result, outcome=PASSED))
    return state


def go_on(state: SessionState) -> SessionState:
    """Return the state in which the session has just entered the phase after its current one."""
    pipeline = pipeline_of(state)
    following = first = pipeline[state.phase].next
    while following in pipeline and not pipeline[following].takes_part(state):
        following = pipeline[following].next
    return enter(state, following, over=None if following == first else first)


def schedule(state: SessionState) -> SessionState:
    """Return the state in which the current group is the first one that is not done.

    The sub-plans to work on now follow from it, and are updated, too.
    """
    groups = [_Group(fields) for fields in state.implementation_groups]
    done = set(state.completed_subplans)
    finished = tuple(g.id for g in groups if done.issuperset(g.plans))
    at = next((i for i, g in enumerate(groups) if not done.issuperset(g.plans)), None)
    if at is None:
        active: tuple[int, ...] = ()
    elif state.implementation_single_coder:
        active = tuple(n for g in groups for n in g.plans if n not in done)
    else:
        active = groups[at].ready(done)
    return replace(
        state,
        implementation_group_total=len(groups),
        implementation_group_index=len(groups) if at is None else at,
        implementation_group_mode="" if at is None else groups[at].mode,
        implementation_active_plan_ids=active,
        implementation_completed_group_ids=finished,
    )


class _Group:
    """A group of the execution plan, read from the state's ``implementation_groups``."""

    def __init__(self, fields: Json) -> None:
        plans = fields.get("plans")
        self.id = str(fields.get("group_id", ""))
        self.mode = str(fields.get("mode", "serial"))
        self.plans = tuple(int(p["index"]) for p in plans) if isinstance(plans, list) else ()

    def ready(self, done: set[int]) -> tuple[int, ...]:
        """Return the indices of the sub-plans to work on now.

        They are all that are not in ``done``, in a serial group just the first of these.
        """
        left = tuple(n for n in self.plans if n not in done)
        return left if self.mode == "parallel" else left[:1]


def plan_values(plan: ExecutionPlan) -> dict[str, Any]:
    """Return the fields of the state that an execution plan decides, by name."""
    groups = plan.to_fields()["groups"]
    return {
        "needs_design": plan.needs_design,
        "subplan_count": plan.subplan_count,
        "implementation_groups": tuple(groups) if isinstance(groups, list) else (),
        "implementation_group_total": len(plan.groups),
    }


def find_verdict(state: SessionState) -> Verdict | None:
    """Return the outcome of the session's review by the verdicts so far; None if it is open."""
    return _find_verdict_in(state, state.phase)


def _find_verdict_in(state: SessionState, phase: str) -> Verdict | None:
    verdicts = result_of(state, phase).verdicts
    given = {role: Verdict(verdict) for role, verdict in verdicts.items()}
    return outcome(reviewers(state, phase), given)


def decide_review(state: SessionState) -> SessionState:
    """Return the state after reviewing, if the verdicts decide it; else ``state`` itself."""
    verdict = find_verdict(state)
    return state if verdict is None else conclude(state, passed=verdict is Verdict.PASS)


def decide_check(state: SessionState) -> SessionState:
    """Return the state after a check, if its commands decide it; else ``state`` itself.

    In a failed session nothing is decided: the check is, once the session goes on.
    """
    verdict = verdict_of(state, state.phase) if kind_of(state) is Kind.CHECK else ""
    return conclude(state, passed=verdict == PASSED) if verdict else state


def conclude(state: SessionState, *, passed: bool) -> SessionState:
    """Return the state after the session's check or review has passed or failed.

    After a pass the next phase follows, after a fail its fix. A fail in the last allowed iteration,
    or without a fix, ends the phase, too: the outcome is ``capped``, the next phase follows.
    """
    fix = pipeline_of(state)[state.phase].on_fail
    if passed:
        return go_on(_with_outcome(state, PASSED))
    if fix is None or fixes(state, state.phase) >= state.max_review_iterations:
        return go_on(_with_outcome(state, CAPPED))
    return _sent_back(_with_outcome(state, FAILED), fix)


def _with_outcome(state: SessionState, said: str) -> SessionState:
    known = result_of(state, state.phase)
    return with_result(state, state.phase, replace(known, outcome=said))


def _sent_back(state: SessionState, fix: str) -> SessionState:
    return enter(with_fix(state, state.phase), fix, left=state)


def enter_fix(state: SessionState, fix: str) -> SessionState:
    """Return the state in which the user's request is fixed in a new cycle; `enter` is as there.

    The cycle begins at iteration 1, and the cap on fixes counts from there.
    """
    sender = pipeline_of(state).sender(fix)
    fresh = replace(state, cycle=state.cycle + 1, fix=None)
    return enter(with_fix(fresh, sender, counts=False), fix, left=state)


def without_seat(state: SessionState, name: str) -> SessionState:
    """Return the state without the seat ``name``; unchanged if it has none."""
    return replace(state, seats={key: seat for key, seat in state.seats.items() if key != name})
