"""What lies on disk of a session's artifacts, read once, as a value."""

from __future__ import annotations

from collections.abc import Mapping

from agentmux.core.codec.frozen import dataclass, field
from agentmux.core.codec.records import Json
from agentmux.core.documents.plan import ExecutionPlan
from agentmux.core.documents.review import Verdict, is_reviewer, long, outcome, review_files
from agentmux.core.journal.state import SessionState
from agentmux.core.names import layout
from agentmux.core.names.phase import REVIEWER_LOGIC

FIX_REQUEST = f"{layout.REVIEW}/fix_request.md"
REVIEW_MD = f"{layout.REVIEW}/review.md"


@dataclass(frozen=True, slots=True, kw_only=True)
class Artifacts:
    """The artifacts that count, by path relative to the session directory.

    Attributes:
        sizes: Bytes of every regular file in a phase folder that is small enough to read.
        execution_plan: ``04_planning/execution_plan.yaml``, where it is valid.
        nominations: The reviewers that ``architecture.md`` names (long names); None where it
            names none.
        verdicts: Path of a review file (or of ``review.md``) to the verdict in it.
        reviews: Path of a review file to its parsed fields.
        problems: Path to why it does not count although something is there.
    """

    sizes: Mapping[str, int] = field(default_factory=dict)
    execution_plan: ExecutionPlan | None = None
    nominations: tuple[str, ...] | None = None
    verdicts: Mapping[str, Verdict] = field(default_factory=dict)
    reviews: Mapping[str, Json] = field(default_factory=dict)
    problems: Mapping[str, str] = field(default_factory=dict)

    def exists(self, path: str) -> bool:
        """Whether a regular file lies there, with or without content."""
        return path in self.sizes

    def has_content(self, path: str) -> bool:
        """Whether a regular file with content lies there."""
        return self.sizes.get(path, 0) > 0


def done_marker(index: int) -> str:
    """Where the marker of a finished sub-plan lies."""
    return f"{layout.IMPLEMENTATION}/done_{index}"


def subplan_count(state: SessionState, artifacts: Artifacts) -> int:
    """How many sub-plans there are: the execution plan's word, else the state's; 0 is unknown."""
    if artifacts.execution_plan is not None:
        return artifacts.execution_plan.subplan_count
    return state.subplan_count


def completed_subplans(state: SessionState, artifacts: Artifacts) -> tuple[int, ...]:
    """The sub-plans whose marker is there, in order."""
    count = subplan_count(state, artifacts)
    return tuple(i for i in range(1, count + 1) if artifacts.exists(done_marker(i)))


def needs_design(state: SessionState, artifacts: Artifacts) -> bool:
    """Whether the plan wants a design."""
    if artifacts.execution_plan is not None:
        return artifacts.execution_plan.needs_design
    return bool(state.needs_design)


def nominations(state: SessionState, artifacts: Artifacts) -> tuple[str, ...]:
    """The reviewers of this session (long names): state, else front matter, else logic alone."""
    named = tuple(long(role) for role in state.reviewer_nominations if is_reviewer(role))
    return named or artifacts.nominations or (REVIEWER_LOGIC,)


def review_paths(nominated: tuple[str, ...], artifacts: Artifacts) -> Mapping[str, str]:
    """Reviewer (long name) to the path of the review that counts, where one is on disk."""
    found: dict[str, str] = {}
    for role in nominated:
        for name in review_files(role, alone=len(nominated) == 1):
            path = f"{layout.REVIEW}/{name}"
            if path in artifacts.verdicts:
                found.setdefault(role, path)
    return found


def reviews(nominated: tuple[str, ...], artifacts: Artifacts) -> Mapping[str, Json]:
    """Reviewer (long name) to the parsed fields of its review, where it is on disk."""
    places = review_paths(nominated, artifacts)
    return {role: artifacts.reviews.get(path, {}) for role, path in places.items()}


def verdicts(nominated: tuple[str, ...], artifacts: Artifacts) -> Mapping[str, Verdict]:
    """Reviewer (long name) to verdict, for every nominated reviewer whose verdict is on disk.

    A lone ``review.md`` (hand-made, or of an older session) speaks for all of them.
    """
    places = review_paths(nominated, artifacts)
    found = {role: artifacts.verdicts[path] for role, path in places.items()}
    lone = artifacts.verdicts.get(REVIEW_MD)
    if not found and lone is not None and set(artifacts.verdicts) == {REVIEW_MD}:
        return dict.fromkeys(nominated, lone)
    return found


def review_outcome(state: SessionState, artifacts: Artifacts) -> Verdict | None:
    """What the reviews on disk decide; None while they decide nothing."""
    nominated = nominations(state, artifacts)
    return outcome(nominated, verdicts(nominated, artifacts))


def is_fix_iteration(state: SessionState, artifacts: Artifacts) -> bool:
    """Whether a failed review is being mended, or has been.

    The request counts also where only its copy in history is left: it is put back from there.
    """
    if state.review_iteration == 0:
        return False
    return artifacts.has_content(FIX_REQUEST) or artifacts.has_content(kept_fix_request(state))


def kept_fix_request(state: SessionState) -> str:
    """Where history keeps the fix request of the current iteration."""
    return f"{layout.history(state.cycle, max(state.iteration - 1, 0))}/{FIX_REQUEST}"


def change_request_path(state: SessionState) -> str:
    """Where the text of a change request lies that is made in ``state``."""
    folder = f"{layout.history(state.cycle, state.iteration)}/{layout.COMPLETION}"
    return f"{folder}/changes.md"
