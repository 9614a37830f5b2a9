"""The phase in which a session resumes, and why; never a later one than the artifacts prove.

Pure. No function but `chosen_phase` raises an error.
"""

from __future__ import annotations

from agentmux.core.codec.frozen import dataclass
from agentmux.core.decisions.drafts import without_drafts
from agentmux.core.documents.review import Verdict
from agentmux.core.fold.acceptance import working_phase
from agentmux.core.journal.state import SessionState
from agentmux.core.names.nearest import meant
from agentmux.core.names.phase import Phase
from agentmux.core.names.statuses import CAPPED
from agentmux.core.pipeline.artifacts import Artifacts, done_marker, review_outcome
from agentmux.core.pipeline.completion import PM_DONE
from agentmux.core.pipeline.kinds import PhaseDescriptor
from agentmux.core.pipeline.registry import PHASE_REGISTRY, PIPELINE, earlier
from agentmux.errors import UsageError


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """The result of the check whether one phase is complete.

    ``because`` says why, for people; ``paths`` are the artifacts that the check looked at.
    """

    phase: Phase
    complete: bool
    because: str
    paths: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Inference:
    """The phase to resume in.

    Attributes:
        phase: The phase to resume in.
        evidence: The results of the phases' checks, in pipeline order. They end with ``phase`` if
            the artifacts show the outcome of the state's phase (see `is_decided`), else with
            ``artifacts_phase``.
        artifacts_phase: The first phase that is not complete, by the artifacts alone.
        because: Why ``phase`` was chosen, for people.
        disagreement: The difference, for people, if the state's phase is not ``artifacts_phase``
            and no pending journal line explains it; else None.
    """

    phase: Phase
    evidence: tuple[Evidence, ...]
    artifacts_phase: Phase
    because: str
    disagreement: str | None = None


def walk(state: SessionState, artifacts: Artifacts) -> tuple[Evidence, ...]:
    """Return the results of the phases' checks, in order.

    The last one is that of the first phase that is not complete.
    """
    return _walk(state, artifacts, PHASE_REGISTRY)


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


def is_decided(state: SessionState, artifacts: Artifacts, phase: Phase) -> bool:
    """Whether the artifacts show an outcome of ``phase``: all work or, in reviewing, a verdict.

    The fail of one reviewer is enough. A product management or fixing that is not needed has no
    outcome.

    Args:
        state: The state of the session.
        artifacts: The artifacts on disk without the drafts (`without_drafts`).
        phase: The phase that the session is in.
    """
    match phase:
        case Phase.PRODUCT_MANAGEMENT:
            return artifacts.exists(PM_DONE)
        case Phase.REVIEWING:
            return state.review_outcome == CAPPED or review_outcome(state, artifacts) is not None
        case Phase.DESIGNING if not (artifacts.execution_plan or state.implementation_groups):
            return False  # nothing says whether a design is needed
        case Phase.FIXING:
            fixed = artifacts.exists(done_marker(1)) and _holds(
                state, artifacts, Phase.IMPLEMENTING
            )
            return state.review_outcome == CAPPED or fixed
        case _:
            return _holds(state, artifacts, phase)


def _holds(state: SessionState, artifacts: Artifacts, phase: Phase) -> bool:
    return PIPELINE[phase].check(state, artifacts).complete


def _beyond(state: SessionState, artifacts: Artifacts, decided: Phase) -> tuple[Evidence, ...]:
    """Return the results of the phases' checks if the artifacts show the outcome of ``decided``.

    They begin with the first phase of the pipeline and end with the first phase from ``decided`` on
    that is not complete. But they end with ``decided`` itself if it is a fix or a failed review:
    an event must record that outcome before another phase can follow.
    """
    phases = [each.phase for each in PHASE_REGISTRY]
    at = phases.index(decided)
    before = tuple(_look(state, artifacts, each) for each in PHASE_REGISTRY[:at])
    if decided is Phase.FIXING or (
        decided is Phase.REVIEWING and review_outcome(state, artifacts) is Verdict.FAIL
    ):
        return (*before, _look(state, artifacts, PIPELINE[decided]))
    if decided is Phase.REVIEWING:
        behind = (PIPELINE[decided], PIPELINE[PIPELINE[decided].next])
        return (*before, *(_look(state, artifacts, each) for each in behind))
    return (*before, *_walk(state, artifacts, PHASE_REGISTRY[at:]))


def infer(
    state: SessionState, artifacts: Artifacts, *, state_is_known: bool = True, pending: int = 0
) -> Inference:
    """Return the phase in which the session resumes, and why.

    Args:
        state: The state after all events of the journal.
        artifacts: The artifacts on disk; drafts may be among them.
        state_is_known: False if no state could be read, so that ``state.phase`` means nothing.
        pending: How many events of the journal the state on disk does not contain yet. If there are
            any, they explain that state and artifacts differ.
    """
    artifacts = without_drafts(state, artifacts)
    evidence = walk(state, artifacts)
    on_disk = evidence[-1].phase

    def answer(phase: Phase, because: str, disagreement: str | None = None) -> Inference:
        return Inference(
            phase=phase,
            evidence=evidence,
            artifacts_phase=on_disk,
            because=because,
            disagreement=disagreement,
        )

    if not state_is_known:
        return answer(on_disk, "by the artifacts alone, since the recorded state cannot be read")
    if state.phase is Phase.DONE:
        return answer(Phase.DONE, "by the recorded phase")
    # With lines to replay, a failed session counts as being in the phase it failed in.
    said = working_phase(state) if pending else state.phase
    if said not in PIPELINE:
        return answer(on_disk, f"by the artifacts, since the recorded phase is {said}")
    if said is on_disk:
        return answer(on_disk, "the recorded phase, confirmed by the artifacts")
    difference = None
    if not pending:
        difference = f"the state says {said}, the artifacts say {on_disk}"
    if is_decided(state, artifacts, said):
        evidence = _beyond(state, artifacts, said)
        because = f"the artifacts show the outcome of {said}, the recorded phase"
        return answer(evidence[-1].phase, because, difference)
    because = f"the recorded phase is {said}, the artifacts show {on_disk}: the earlier one counts"
    return answer(earlier(said, on_disk), because, difference)


def chosen_phase(name: str, state: SessionState, inference: Inference) -> Phase:
    """Return the phase that ``--phase NAME`` names.

    Raises:
        UsageError: No phase has this name, the session does not have the phase, or the phase comes
            after that of ``inference``.
    """
    phases: dict[str, Phase] = {phase.value: phase for phase in PIPELINE}
    phase = phases.get(name)
    if phase is None:
        raise UsageError(
            f"no phase `{name}`", hints=(*meant(name, phases), f"phases: {', '.join(phases)}")
        )
    if inference.phase in phases.values() and earlier(phase, inference.phase) is not phase:
        raise UsageError(f"`--phase` can only go back: `{phase}` comes after `{inference.phase}`")
    if PIPELINE[phase].takes_part(state) is False:
        raise UsageError(f"this session has no phase `{phase}`")
    return phase
