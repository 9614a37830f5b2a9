"""Which phase a session resumes in, and why: pure, total, and never later than what is proven."""

from __future__ import annotations

from agentmux.core.acceptance import working_phase
from agentmux.core.artifacts import Artifacts
from agentmux.core.frozen import dataclass
from agentmux.core.nearest import meant
from agentmux.core.phase import Phase
from agentmux.core.pipeline import PHASE_REGISTRY, PIPELINE, earlier
from agentmux.core.state import SessionState
from agentmux.errors import UsageError


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What one phase's check said, with the paths it rests on."""

    phase: Phase
    complete: bool
    because: str
    paths: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Inference:
    """The phase to resume in.

    Attributes:
        evidence: The walk in pipeline order, up to the first phase that is not complete.
        artifacts_phase: What the artifacts alone say.
        because: Which rule chose between the state's word and the artifacts'.
        disagreement: Set where the two differ and no pending journal line explains it.
    """

    phase: Phase
    evidence: tuple[Evidence, ...]
    artifacts_phase: Phase
    because: str
    disagreement: str | None = None


def walk(state: SessionState, artifacts: Artifacts) -> tuple[Evidence, ...]:
    """Check the phases in order; the last entry is the first that is not complete."""
    seen: list[Evidence] = []
    for each in PHASE_REGISTRY:
        check = each.check(state, artifacts)
        seen.append(
            Evidence(
                phase=each.phase,
                complete=check.complete,
                because=check.because,
                paths=check.paths,
            )
        )
        if not check.complete:
            break
    return tuple(seen)


def infer(
    state: SessionState, artifacts: Artifacts, *, state_is_known: bool = True, pending: int = 0
) -> Inference:
    """Say in which phase the session resumes.

    Args:
        state: The committed state with the ``pending`` unapplied journal lines folded over it.
        artifacts: What lies on disk and counts.
        state_is_known: False where the phase in ``state`` is made up (no state could be read).
        pending: How many journal lines were unapplied; they explain a disagreement.
    """
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
        return answer(on_disk, "the artifacts alone: there is no readable state")
    if state.phase is Phase.DONE:
        return answer(Phase.DONE, "the state says done")
    # With lines to replay, a failed session folds as the phase it failed in.
    said = working_phase(state) if pending else state.phase
    if said not in PIPELINE:
        return answer(on_disk, f"the artifacts: the state says {said}")
    if said is on_disk:
        return answer(on_disk, "state and artifacts agree")
    chosen = earlier(said, on_disk)
    difference = None
    if not pending:
        difference = f"the state says {said}, the artifacts say {on_disk}"
    return answer(chosen, f"{chosen} is the earlier of the state's and the artifacts'", difference)


def chosen_phase(name: str, state: SessionState, inference: Inference) -> Phase:
    """Return the phase of ``--phase NAME``: one that is not later than the inferred one.

    Raises:
        UsageError: No such phase, one that this session passes over, or a later one.
    """
    phases: dict[str, Phase] = {phase.value: phase for phase in PIPELINE}
    phase = phases.get(name)
    if phase is None:
        raise UsageError(
            f"no phase `{name}`", hints=(*meant(name, phases), f"phases: {', '.join(phases)}")
        )
    if inference.phase in phases.values() and earlier(phase, inference.phase) is not phase:
        raise UsageError(f"--phase goes backwards only: `{phase}` comes after `{inference.phase}`")
    if PIPELINE[phase].takes_part(state) is False:
        raise UsageError(f"this session has no `{phase}` to go back to")
    return phase
