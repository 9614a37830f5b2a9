"""Infer the phase in which a session resumes: never a later phase than the artifacts prove.

Pure. Only `chosen_phase` raises errors.
"""

from __future__ import annotations

from agentmux.core.codec.frozen import dataclass, replace
from agentmux.core.decisions.drafts import without_drafts
from agentmux.core.definitions.definition import Kind, When
from agentmux.core.documents.review import Verdict, outcome
from agentmux.core.journal.state import SessionState
from agentmux.core.names.phase import Phase
from agentmux.core.names.statuses import CAPPED, PASSED
from agentmux.core.names.words.nearest import suggest_name
from agentmux.core.pipeline.artifacts import (
    Artifacts,
    done_marker,
    nominations,
    reviewing,
    verdicts,
)
from agentmux.core.pipeline.checks.phase_completion import settled_outcome
from agentmux.core.pipeline.kinds import PhaseDescriptor
from agentmux.core.pipeline.registry import Pipeline, pipeline_of, working_phase
from agentmux.errors import UsageError


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """Whether one phase is complete, and why.

    Attributes:
        phase: The name of the phase.
        complete: Whether the phase is complete.
        because: The reason, for people.
        paths: The artifacts that decided it, relative to the session's directory.
    """

    phase: str
    complete: bool
    because: str
    paths: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Inference:
    """The phase to resume in, with the reasons.

    Attributes:
        phase: The phase to resume in.
        evidence: Whether each phase is complete, in pipeline order. The last one is ``phase`` if
            the artifacts show the outcome of the state's phase (see `is_decided`), else
            ``artifacts_phase``.
        artifacts_phase: The first phase that is not complete according to the artifacts alone.
        because: Why ``phase`` was chosen, for people.
        disagreement: A description, for people, of the difference between the state's phase and
            ``artifacts_phase``. None if they are equal, or if events that are not applied yet
            explain the difference.
    """

    phase: str
    evidence: tuple[Evidence, ...]
    artifacts_phase: str
    because: str
    disagreement: str | None = None


def walk(state: SessionState, artifacts: Artifacts) -> tuple[Evidence, ...]:
    """Return whether each phase is complete, in pipeline order, up to the first that is not.

    That first one is included; later phases are not examined. ``artifacts`` are those on disk
    without the drafts (`without_drafts`).
    """
    return _walk(state, artifacts, pipeline_of(state).phases)


def _walk(
    state: SessionState, artifacts: Artifacts, phases: tuple[PhaseDescriptor, ...]
) -> tuple[Evidence, ...]:
    seen: list[Evidence] = []
    for each in phases:
        seen.append(_look(state, artifacts, each))
        if not seen[-1].complete:
            break
    return tuple(seen)


def _look(state: SessionState, artifacts: Artifacts, each: PhaseDescriptor) -> Evidence:
    check = each.check(state, artifacts)
    return Evidence(
        phase=each.phase, complete=check.complete, because=check.because, paths=check.paths
    )


def is_decided(state: SessionState, artifacts: Artifacts, phase: str) -> bool:
    """Whether the artifacts show the outcome of ``phase``.

    The outcome is the complete work or, in a review, a verdict, for which one reviewer's fail is
    enough. A document that nobody requested and a fix that is not needed have no outcome.

    Args:
        state: The state of the session.
        artifacts: The artifacts on disk without the drafts (`without_drafts`).
        phase: The phase that the session is in.
    """
    given = pipeline_of(state)
    here = given[phase]
    match here.kind:
        case Kind.REVIEW:
            return _verdict(state, artifacts, here) is not None
        case Kind.CHECK if here.takes_part(state):
            return bool(settled_outcome(state, artifacts, phase, here.folder))
        case Kind.FIX:
            return _is_fixed(state, artifacts, here, given)
        case _ if here.when is When.REQUESTED:
            return here.check(replace(state, product_manager=True), artifacts).complete
        case _ if here.when is When.NEEDS_DESIGN and not _has_plan(state, artifacts):
            return False  # nothing says whether a design is needed
        case _:
            return here.check(state, artifacts).complete


def _verdict(state: SessionState, artifacts: Artifacts, here: PhaseDescriptor) -> Verdict | None:
    """Return the outcome of a review according to the artifacts; None if there is none yet.

    A capped review (failed, with no further fix allowed) counts as passed.
    """
    if settled_outcome(state, artifacts, here.phase, here.folder) in {PASSED, CAPPED}:
        return Verdict.PASS
    roles = reviewing(nominations(state, artifacts), here.roles)
    return outcome(roles, verdicts(roles, artifacts, here.folder))


def _is_fixed(
    state: SessionState, artifacts: Artifacts, fix: PhaseDescriptor, pipeline: Pipeline
) -> bool:
    sender = pipeline[pipeline.sender(fix.phase)]
    if settled_outcome(state, artifacts, sender.phase, sender.folder) == CAPPED:
        return True
    work = pipeline.find_fixed_work(fix.phase)
    done = work is None or work.check(state, artifacts).complete
    return done and artifacts.exists(done_marker(1))


def _has_plan(state: SessionState, artifacts: Artifacts) -> bool:
    return artifacts.execution_plan is not None or bool(state.implementation_groups)


def _evidence_after(
    state: SessionState, artifacts: Artifacts, decided: str, pipeline: Pipeline
) -> tuple[Evidence, ...]:
    """Return whether the phases are complete if the artifacts show the outcome of ``decided``.

    The result begins with the first phase of the pipeline and ends with the first phase after
    ``decided`` that is not complete. If ``decided`` is a fix or a failed review, the result ends
    with ``decided``, because an event must record that outcome before another phase can follow.
    """
    here = pipeline[decided]
    before = tuple(_look(state, artifacts, each) for each in pipeline.before(decided))
    reviewed = here.kind is Kind.REVIEW
    failed = reviewed and _verdict(state, artifacts, here) is Verdict.FAIL
    if here.kind is Kind.FIX or failed:
        return (*before, _look(state, artifacts, here))
    if reviewed:  # in the pipeline, a fix may stand between the review and the next phase
        behind = _walk(state, artifacts, pipeline.from_(here.next))
        return (*before, _look(state, artifacts, here), *behind)
    return (*before, *_walk(state, artifacts, pipeline.from_(decided)))


def infer(
    state: SessionState,
    artifacts: Artifacts,
    *,
    state_is_known: bool = True,
    pending: int = 0,
) -> Inference:
    """Return the phase in which the session resumes, and why.

    Args:
        state: The state after all events of the journal.
        artifacts: The artifacts on disk, including drafts.
        state_is_known: False if no state could be read; then ``state.phase`` has no meaning.
        pending: How many events of the journal were not applied to the state on disk. If there are
            any, a difference between state and artifacts is expected.
    """
    given = pipeline_of(state)
    artifacts = without_drafts(state, artifacts)
    evidence = walk(state, artifacts)
    on_disk = evidence[-1].phase

    def answer(phase: str, because: str, disagreement: str | None = None) -> Inference:
        return Inference(
            phase=phase,
            evidence=evidence,
            artifacts_phase=on_disk,
            because=because,
            disagreement=disagreement,
        )

    if not state_is_known:
        return answer(on_disk, "by the artifacts alone, since the recorded state cannot be read")
    if state.phase == Phase.DONE:
        return answer(Phase.DONE, "by the recorded phase")
    # With lines to replay, a failed session counts as being in the phase it failed in.
    claim = working_phase(state) if pending else state.phase
    if claim not in given:
        return answer(on_disk, f"by the artifacts, since the recorded phase is {claim}")
    if claim == on_disk:
        return answer(on_disk, "the recorded phase, confirmed by the artifacts")
    difference = None
    if not pending:
        difference = f"the state says {claim}, the artifacts say {on_disk}"
    if is_decided(state, artifacts, claim):
        evidence = _evidence_after(state, artifacts, claim, given)
        because = f"the artifacts show the outcome of {claim}, the recorded phase"
        return answer(evidence[-1].phase, because, difference)
    because = f"the recorded phase is {claim}, the artifacts show {on_disk}: the earlier one counts"
    return answer(given.earlier(claim, on_disk), because, difference)


def chosen_phase(name: str, state: SessionState, inference: Inference) -> str:
    """Check that the session can resume in the phase that the user chose, and return its name.

    Args:
        name: The value of the option ``--phase``.
        state: The state of the session.
        inference: What `infer` returned for the session.

    Raises:
        UsageError: No phase has this name, this session does not go through the phase, or the phase
            comes after the phase of ``inference``.
    """
    pipeline = pipeline_of(state)
    phases = tuple(pipeline.by_name)
    if name not in phases:
        raise UsageError(
            f"no phase `{name}`",
            hints=(*suggest_name(name, phases), f"phases: {', '.join(phases)}"),
        )
    inferred = inference.phase
    if inferred in pipeline and pipeline.earlier(name, inferred) != name:
        raise UsageError(f"`--phase` can only go back: `{name}` comes after `{inferred}`")
    if pipeline[name].takes_part(state) is False:
        raise UsageError(f"this session has no phase `{name}`")
    return name
