"""The artifacts of a session as a value, which does not change when the files do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from agentmux.core.codec.frozen import dataclass, field
from agentmux.core.codec.records import Json
from agentmux.core.documents.plan import ExecutionPlan
from agentmux.core.documents.review import Verdict, is_reviewer, long, outcome, review_files
from agentmux.core.journal.state import SessionState
from agentmux.core.names import layout
from agentmux.core.names.phase import REVIEWER_LOGIC

FIX_REQUEST = f"{layout.REVIEW}/fix_request.md"
REVIEW_MD = f"{layout.REVIEW}/review.md"
RESULTS: Final = "results.yaml"
"""The file in the folder of a check or a review with its outcome; version 1 has none."""
OUTPUT: Final = "output"
"""The folder, in that of a check, with what its commands wrote."""

TEXT_MAX: Final = 8 << 20
"""The greatest size of a text, in bytes: a larger one cannot be submitted and counts as missing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Artifacts:
    """The artifacts of a session that count. Paths are relative to the session's directory.

    Attributes:
        sizes: Maps the path of each regular file in the phase folders to its size in bytes. Files
            that are too large are left out.
        execution_plan: The content of ``04_planning/execution_plan.yaml``; None if it is not valid.
        nominations: The long names of the reviewers that ``architecture.md`` nominates; None if it
            nominates nobody.
        verdicts: Maps the path of each review file (or of ``review.md``) to its verdict.
        reviews: Maps the path of each review file to its parsed fields.
        results: Maps the path of each ``results.yaml`` to its outcome.
        problems: Maps the path of each file that exists but does not count to the reason.
    """

    sizes: Mapping[str, int] = field(default_factory=dict)
    execution_plan: ExecutionPlan | None = None
    nominations: tuple[str, ...] | None = None
    verdicts: Mapping[str, Verdict] = field(default_factory=dict)
    reviews: Mapping[str, Json] = field(default_factory=dict)
    results: Mapping[str, str] = field(default_factory=dict)
    problems: Mapping[str, str] = field(default_factory=dict)

    def exists(self, path: str) -> bool:
        """Whether a regular file exists at ``path``, with or without content."""
        return path in self.sizes

    def has_content(self, path: str) -> bool:
        """Whether a regular file that is not empty exists at ``path``."""
        return self.sizes.get(path, 0) > 0


def done_marker(index: int, folder: str = layout.IMPLEMENTATION) -> str:
    """Return the path of the marker: the empty file that says that a sub-plan is done.

    ``folder`` is that of the work, or of the fix.
    """
    return f"{folder}/done_{index}"


def subplan_count(state: SessionState, artifacts: Artifacts) -> int:
    """Return the number of sub-plans, by the execution plan, else by the state; 0 if unknown."""
    if artifacts.execution_plan is not None:
        return artifacts.execution_plan.subplan_count
    return state.subplan_count


def completed_subplans(
    state: SessionState, artifacts: Artifacts, folder: str = layout.IMPLEMENTATION
) -> tuple[int, ...]:
    """Return the indices of the sub-plans that have a marker (`done_marker`), in order."""
    count = subplan_count(state, artifacts)
    return tuple(i for i in range(1, count + 1) if artifacts.exists(done_marker(i, folder)))


def needs_design(state: SessionState, artifacts: Artifacts) -> bool:
    """Whether the plan needs a design, by the execution plan, else by the state."""
    if artifacts.execution_plan is not None:
        return artifacts.execution_plan.needs_design
    return bool(state.needs_design)


def nominations(state: SessionState, artifacts: Artifacts) -> tuple[str, ...]:
    """Return the long names of the nominated reviewers.

    They are those in the state, else those in ``architecture.md``, else ``reviewer_logic`` alone.
    """
    named = tuple(long(role) for role in state.reviewer_nominations if is_reviewer(role))
    return named or artifacts.nominations or (REVIEWER_LOGIC,)


def review_paths(nominated: tuple[str, ...], artifacts: Artifacts) -> Mapping[str, str]:
    """Return the path of each nominated reviewer's review, by the reviewer's long name.

    Reviewers without a review on disk are left out.
    """
    found: dict[str, str] = {}
    for role in nominated:
        for name in review_files(role, alone=len(nominated) == 1):
            path = f"{layout.REVIEW}/{name}"
            if path in artifacts.verdicts:
                found.setdefault(role, path)
    return found


def reviews(nominated: tuple[str, ...], artifacts: Artifacts) -> Mapping[str, Json]:
    """Return the parsed fields of each nominated reviewer's review, by the reviewer's long name.

    Reviewers without a review on disk are left out. A review that cannot be parsed has no fields.
    """
    places = review_paths(nominated, artifacts)
    return {role: artifacts.reviews.get(path, {}) for role, path in places.items()}


def verdicts(nominated: tuple[str, ...], artifacts: Artifacts) -> Mapping[str, Verdict]:
    """Return the nominated reviewers' verdicts on disk, by the reviewer's long name.

    If ``review.md`` (made by hand, or by an older version) is the one file with a verdict, its
    verdict counts for all of them.
    """
    places = review_paths(nominated, artifacts)
    found = {role: artifacts.verdicts[path] for role, path in places.items()}
    lone = artifacts.verdicts.get(REVIEW_MD)
    if not found and lone is not None and set(artifacts.verdicts) == {REVIEW_MD}:
        return dict.fromkeys(nominated, lone)
    return found


def review_outcome(state: SessionState, artifacts: Artifacts) -> Verdict | None:
    """Return the outcome of reviewing by the reviews on disk; None if they do not decide it."""
    nominated = nominations(state, artifacts)
    return outcome(nominated, verdicts(nominated, artifacts))


def is_fix_iteration(state: SessionState, artifacts: Artifacts) -> bool:
    """Whether the findings of a failed review are being fixed, or have been.

    The answer is no in iteration 0. In a later one it is yes if there is a fix request, or its copy
    in history, from which it is restored.
    """
    if state.review_iteration == 0:
        return False
    return artifacts.has_content(FIX_REQUEST) or artifacts.has_content(kept_fix_request(state))


def kept_fix_request(state: SessionState) -> str:
    """Return the path, in history, of the copy of the current iteration's fix request."""
    return f"{layout.history(state.cycle, max(state.iteration - 1, 0))}/{fix_request(state)}"


def kept_review(state: SessionState) -> str:
    """Return the path, in history, of the review before the current iteration; it may not exist."""
    before = layout.history(state.cycle, max(state.iteration - 1, 0))
    return f"{before}/{_sender_folder(state)}/review.md"


def fix_request(state: SessionState) -> str:
    """Return the path of the present fix request: it is in the folder of who asked for the fix."""
    return f"{_sender_folder(state)}/fix_request.md"


def _sender_folder(state: SessionState) -> str:
    if state.pipeline is None or state.fix is None:
        return layout.REVIEW
    phases = state.pipeline.phases
    return next((e.folder for e in phases if e.phase == state.fix.sender), layout.REVIEW)


def change_request_path(state: SessionState) -> str:
    """Return the path of the file for a change request that the user makes now, in ``state``."""
    return f"{layout.history(state.cycle, state.iteration)}/{_completion(state)}/changes.md"


def summary_path(state: SessionState) -> str:
    """Return the path of the summary of the work, which the user decides by."""
    return f"{_completion(state)}/summary.md"


def _completion(state: SessionState) -> str:
    ends = () if state.pipeline is None else state.pipeline.walk[-1:]
    return ends[0].folder if ends else layout.COMPLETION
