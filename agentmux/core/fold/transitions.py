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

    What earlier attempts at this phase and the phases after it have left no longer counts: their
    fields are reset, and the paths of their files are added to ``pending_archive``, so that the
    orchestrator moves them to the history later. All seats but those of researchers are removed
    from the state. If ``phase`` is an end, only the phase is set and all seats are removed.

    Args:
        state: The state before.
        phase: A phase of the session's pipeline, or an end such as ``done``.
        over: The first phase that is skipped on the way to ``phase``; the files that earlier
            attempts left from there on are archived, too. None if no phase is skipped.
        left: The state that gives the cycle and iteration under which the files are archived, if
            ``state`` is already in the next cycle or iteration. None means ``state`` itself.

    Raises:
        ValueError: ``phase`` is neither a phase of the pipeline nor an end.
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
    """Return ``phase`` itself, if it is a phase of the session's pipeline or an end.

    Raises:
        ValueError: It is neither.
    """
    if phase not in pipeline_of(state) and phase not in ENDS:
        raise ValueError(f"`{phase}` is not a phase")
    return phase


def begin_session(state: SessionState) -> SessionState:
    """Return the state of a new session, in the first phase that the session goes through.

    The ``phase`` of the given ``state`` is ignored.
    """
    phases = pipeline_of(state).phases
    first = next(each for each in phases if each.takes_part(state))
    began = replace(state, phase=first.phase, reviewer_nominations=_nominate_defaults(state))
    if first.kind is not Kind.WORK:
        return began
    single = state.options.single_coder
    return schedule(ensure_subplan(replace(began, implementation_single_coder=single)))


def _nominate_defaults(state: SessionState) -> tuple[str, ...]:
    """Return the default reviewers if no phase of the pipeline nominates any; else ``()``."""
    pipeline = pipeline_of(state)
    return () if pipeline.nominating in pipeline else default_nominations(state)


def ensure_subplan(state: SessionState) -> SessionState:
    """Return the state with one sub-plan, the whole request, if the pipeline has no plan phase.

    If it has one, ``state`` itself is returned.
    """
    if pipeline_of(state).is_planned:
        return state
    group: Json = {"group_id": "g1", "mode": "serial", "plans": [{"index": 1, "name": "all of it"}]}
    return replace(state, subplan_count=1, implementation_groups=(group,))


def reenter_phase(state: SessionState, phase: str, subplans: tuple[int, ...]) -> SessionState:
    """Return the state in which the session has entered ``phase`` again, keeping some sub-plans.

    Args:
        state: The state before.
        phase: The phase to enter.
        subplans: The indices of the sub-plans that stay done if ``phase`` is a work phase; other
            phases ignore them.
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
    """Return the state without what ``phase`` and the phases after it have set.

    Their fields get the values from before these phases, and their results are dropped. For a fix,
    this begins with the phase after it, and the failed result that asked for the fix is kept. The
    session stays in its phase.
    """
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
    """Return the state without the results of ``at`` and the phases after it.

    ``sender``, the phase that has just asked for a fix, keeps its failed result, because it says
    what to fix; it is empty if no phase has. The last fix is over if the session goes back to a
    phase before it, and is dropped if the fixed work itself is repeated. The iteration is kept,
    because no two attempts of a cycle may have the same one.
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
    """Return the state without the results of ``phase`` and of the phases after it, for a resume.

    A session may resume before a phase that is already decided, if the file with the result of that
    phase is lost. Two results are kept: that of ``phase`` itself if it is still open, and the
    failed result that the current fix is about. The session's phase is not changed. If ``phase`` is
    not a phase of the pipeline, ``state`` itself is returned.
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
    """Return the state with the review verdicts that were found on disk.

    Only reviews without an outcome change. If ``phase`` is an open review, the verdicts found
    replace its own, so a reviewer whose file is lost reviews again. A review before ``phase`` gets
    the outcome ``passed`` if its verdicts pass.

    Args:
        state: The state before.
        found: The results on disk, by phase: mappings with ``verdicts`` and ``reviews``, as in
            `StateFromDisk.results`.
        phase: The phase in which the session continues; later reviews are ignored.
        where: Where ``found`` comes from, for the error message.

    Raises:
        FieldError: ``found`` does not have the form of `StateFromDisk.results`.
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
    """Return the state in which the session has just entered the phase after its current one.

    Phases that do not take part in the session are skipped. After the last phase, the session is
    ``done``.

    Raises:
        KeyError: The session is done or has failed, so it is in no phase of its pipeline.
    """
    pipeline = pipeline_of(state)
    following = first = pipeline[state.phase].next
    while following in pipeline and not pipeline[following].takes_part(state):
        following = pipeline[following].next
    return enter(state, following, over=None if following == first else first)


def schedule(state: SessionState) -> SessionState:
    """Return the state with all its fields about groups of sub-plans brought up to date.

    They follow from ``implementation_groups`` and ``completed_subplans``. The current group is the
    first with a sub-plan that is not done. The sub-plans to work on now are those of this group (in
    a serial group only the next one); a single coder works on all that are left.
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

        In a parallel group these are all that are not in ``done``; in a serial group, only the
        first of them.
        """
        left = tuple(n for n in self.plans if n not in done)
        return left if self.mode == "parallel" else left[:1]


def plan_values(plan: ExecutionPlan) -> dict[str, Any]:
    """Return the fields of the state that an execution plan sets, by name, to pass to `replace`.

    They are ``needs_design``, ``subplan_count``, ``implementation_groups`` and
    ``implementation_group_total``.
    """
    groups = plan.to_fields()["groups"]
    return {
        "needs_design": plan.needs_design,
        "subplan_count": plan.subplan_count,
        "implementation_groups": tuple(groups) if isinstance(groups, list) else (),
        "implementation_group_total": len(plan.groups),
    }


def find_verdict(state: SessionState) -> Verdict | None:
    """Return the verdict of all reviewers in the session's phase; None while it is undecided.

    The phase must be a review. The verdict is ``fail`` as soon as one reviewer fails it, even if
    others have not answered, and ``pass`` once all reviewers pass it.
    """
    return _find_verdict_in(state, state.phase)


def _find_verdict_in(state: SessionState, phase: str) -> Verdict | None:
    verdicts = result_of(state, phase).verdicts
    given = {role: Verdict(verdict) for role, verdict in verdicts.items()}
    return outcome(reviewers(state, phase), given)


def decide_review(state: SessionState) -> SessionState:
    """Return the state in which the session has left the current review, if its verdicts decide it.

    The session is then in the next phase or in a fix, as `conclude` decides. While the review is
    undecided, ``state`` itself is returned.
    """
    verdict = find_verdict(state)
    return state if verdict is None else conclude(state, passed=verdict is Verdict.PASS)


def decide_check(state: SessionState) -> SessionState:
    """Return the state in which the session has left the current check, if its results decide it.

    The session is then in the next phase or in a fix, as `conclude` decides. ``state`` itself is
    returned while the check is undecided, and in a failed session, whose check is decided when the
    session is resumed.
    """
    verdict = verdict_of(state, state.phase) if kind_of(state) is Kind.CHECK else ""
    return conclude(state, passed=verdict == PASSED) if verdict else state


def conclude(state: SessionState, *, passed: bool) -> SessionState:
    """Return the state in which the session has left the current check or review.

    If it passed, the session enters the next phase. If it failed, the outcome is ``failed``, and
    the session enters the phase that fixes. If it failed and there is no such phase, or the limit
    of fixes is reached, the outcome is ``capped`` instead, and the session enters the next phase.

    Args:
        state: The state in the check or review; its outcome is recorded in the result.
        passed: Whether the check or review passed.
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
    """Return the state in which a new cycle has begun with a fix, which the user has requested.

    ``fix`` is the name of the fix phase. The cycle begins at iteration 1, and this fix does not
    count towards the limit of fixes.
    """
    sender = pipeline_of(state).sender(fix)
    fresh = replace(state, cycle=state.cycle + 1, fix=None)
    return enter(with_fix(fresh, sender, counts=False), fix, left=state)


def without_seat(state: SessionState, name: str) -> SessionState:
    """Return the state without the seat ``name``; equal to ``state`` if there is no such seat."""
    return replace(state, seats={key: seat for key, seat in state.seats.items() if key != name})
