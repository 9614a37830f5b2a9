"""The artifacts of a session as a value that was read from the files at one moment."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from agentmux.core.codec.frozen import dataclass, field
from agentmux.core.codec.records import Json
from agentmux.core.definitions.definition import Kind
from agentmux.core.documents.plan import ExecutionPlan
from agentmux.core.documents.review import DEFAULT_NOMINATIONS, Verdict, expand_role, review_files
from agentmux.core.journal.state import SessionState
from agentmux.core.names import layout
from agentmux.core.names.phase import REVIEWERS

PM_DONE: Final = f"{layout.PRODUCT_MANAGEMENT}/done"
ARCHITECTURE: Final = f"{layout.ARCHITECTING}/architecture.md"
PLAN_FILE: Final = "execution_plan.yaml"
"""The file in the folder of a plan phase that exists if the plan was accepted."""
REVIEW_FILE: Final = "review.md"
"""The file in the folder of a review with the texts of all reviewers."""
RESULTS: Final = "results.yaml"
"""The file in the folder of a check or a review with its outcome."""
OUTPUT: Final = "output"
"""The folder, inside the folder of a check, with the output of its commands."""

TEXT_MAX: Final = 8 << 20
"""The maximum size of a text, in bytes; a larger one cannot be submitted and counts as missing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Artifacts:
    """The artifacts of a session that count. Paths are relative to the session's directory.

    Attributes:
        sizes: Maps the path of each regular file in the phase folders to its size in bytes. Files
            that are too large are left out.
        execution_plan: The content of ``04_planning/execution_plan.yaml``; None if the file is
            missing or not valid.
        nominations: The roles of the reviewers that ``architecture.md`` nominates, such as
            ``reviewer_logic``. None if that file is missing or not valid, or if the state has
            nominations already.
        verdicts: Maps the path of each review file (YAML) and of each ``review.md`` that has a
            verdict to that verdict.
        reviews: Maps the path of each review file to its parsed fields.
        results: Maps the path of each ``results.yaml`` to its outcome: ``passed``, ``failed`` or
            ``capped`` (it failed, and no further fix was allowed).
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
    """Return the path of a marker: the empty file that shows that a sub-plan or a fix is done.

    It is relative to the session's directory.

    Args:
        index: The number of the sub-plan, from 1; 1 for a fix.
        folder: The folder of the phase, relative to the session's directory.
    """
    return f"{folder}/done_{index}"


def subplan_count(state: SessionState, artifacts: Artifacts) -> int:
    """Return the number of sub-plans in the execution plan, or else in the state; 0 if unknown."""
    if artifacts.execution_plan is not None:
        return artifacts.execution_plan.subplan_count
    return state.subplan_count


def completed_subplans(
    state: SessionState, artifacts: Artifacts, folder: str = layout.IMPLEMENTATION
) -> tuple[int, ...]:
    """Return the indices of the sub-plans that have a marker (`done_marker`), in order.

    ``folder`` is the folder of the work phase, relative to the session's directory. Empty if the
    number of sub-plans is unknown.
    """
    count = subplan_count(state, artifacts)
    return tuple(i for i in range(1, count + 1) if artifacts.exists(done_marker(i, folder)))


def needs_design(state: SessionState, artifacts: Artifacts) -> bool:
    """Whether the plan needs a design, by the execution plan, or else by the state.

    False if neither says it, for example because there is no plan yet.
    """
    if artifacts.execution_plan is not None:
        return artifacts.execution_plan.needs_design
    return bool(state.needs_design)


def nominations(state: SessionState, artifacts: Artifacts) -> tuple[str, ...]:
    """Return the roles of the nominated reviewers, such as ``reviewer_logic``.

    The nominations come from the state, or else from ``architecture.md``, or else from
    `default_nominations`. Roles that do not review in the session's pipeline are ignored. Empty if
    no role reviews in it.
    """
    roles = _reviewing_roles(state)
    for given in (map(expand_role, state.reviewer_nominations), artifacts.nominations or ()):
        named = tuple(role for role in given if role in roles)
        if named:
            return named
    return default_nominations(state)


def default_nominations(state: SessionState) -> tuple[str, ...]:
    """Return the roles that review if no reviewers are nominated.

    Only ``reviewer_logic`` (`DEFAULT_NOMINATIONS`) does, if it is a role that reviews in the
    session's pipeline; if not, all roles that review in it do.
    """
    roles = _reviewing_roles(state)
    return DEFAULT_NOMINATIONS if set(DEFAULT_NOMINATIONS) <= set(roles) else roles


def _reviewing_roles(state: SessionState) -> tuple[str, ...]:
    looking = (each for each in state.pipeline.phases if each.kind is Kind.REVIEW)
    return tuple(dict.fromkeys(role for each in looking for role in each.roles))


def reviewing(nominated: tuple[str, ...], roles: tuple[str, ...]) -> tuple[str, ...]:
    """Return the roles that review in a phase.

    These are all roles of the phase except built-in reviewers that are not nominated. If that
    leaves no role, all roles of the phase review.

    Args:
        nominated: The nominated reviewers; those that are roles of the phase come first in the
            result, the others are ignored.
        roles: The roles of the phase.
    """
    others = tuple(role for role in roles if role not in REVIEWERS)
    named = tuple(role for role in nominated if role in roles)
    return tuple(dict.fromkeys((*named, *others))) or roles


def review_paths(
    roles: tuple[str, ...], artifacts: Artifacts, folder: str = layout.REVIEW
) -> Mapping[str, str]:
    """Return the path of the review of each of ``roles`` in the folder of a review, by role.

    The paths, and ``folder``, are relative to the session's directory. Roles whose file does not
    exist or has no verdict are left out.
    """
    paths: dict[str, str] = {}
    for role in roles:
        for name in review_files(role, alone=len(roles) == 1):
            path = f"{folder}/{name}"
            if path in artifacts.verdicts:
                paths.setdefault(role, path)
    return paths


def reviews(
    roles: tuple[str, ...], artifacts: Artifacts, folder: str = layout.REVIEW
) -> Mapping[str, Json]:
    """Return the review of each of ``roles`` on disk, as the mapping in its YAML file, by role.

    Its keys are ``verdict``, ``summary``, ``findings`` and, if there is one, ``commit_message``.
    Roles whose file does not exist or has no verdict are left out.

    Args:
        roles: The roles that review in the phase.
        artifacts: The session's artifacts.
        folder: The folder of the review, relative to the session's directory.
    """
    places = review_paths(roles, artifacts, folder)
    return {role: artifacts.reviews.get(path, {}) for role, path in places.items()}


def verdicts(
    roles: tuple[str, ...], artifacts: Artifacts, folder: str = layout.REVIEW
) -> Mapping[str, Verdict]:
    """Return the verdicts of ``roles`` on disk, in the folder of a review, by role.

    ``folder`` is relative to the session's directory. Roles without a verdict are left out. If
    ``review.md`` (written by hand, or by an older version) is the only file with a verdict, its
    verdict counts for all roles.
    """
    places = review_paths(roles, artifacts, folder)
    role_verdicts = {role: artifacts.verdicts[path] for role, path in places.items()}
    lone = artifacts.verdicts.get(f"{folder}/{REVIEW_FILE}")
    if not role_verdicts and lone is not None and len(verdict_paths(artifacts, folder)) == 1:
        return dict.fromkeys(roles, lone)
    return role_verdicts


def verdict_paths(artifacts: Artifacts, folder: str) -> tuple[str, ...]:
    """Return the paths of the files with a verdict directly in ``folder``, the folder of a review.

    The paths, and ``folder``, are relative to the session's directory.
    """
    return tuple(path for path in artifacts.verdicts if path.rpartition("/")[0] == folder)


def kept_fix_request(state: SessionState) -> str:
    """Return the path in the history of the copy of the current fix request.

    It is in the folder of the iteration that asked for the fix, relative to the session's
    directory.
    """
    return f"{layout.history(state.cycle, max(state.iteration - 1, 0))}/{fix_request(state)}"


def kept_review(state: SessionState) -> str:
    """Return the path in the history of the review that the current fix is about; it may not exist.

    It is the ``review.md`` of the phase that asked for the fix, relative to the session's
    directory.
    """
    before = layout.history(state.cycle, max(state.iteration - 1, 0))
    return f"{before}/{_sender_folder(state)}/review.md"


def fix_request(state: SessionState) -> str:
    """Return the path of the current fix request, in the folder of the phase that asked for it.

    It is relative to the session's directory; without a fix it is in the folder of the review of
    the pipeline ``feature``.
    """
    return f"{_sender_folder(state)}/fix_request.md"


def _sender_folder(state: SessionState) -> str:
    sender = state.fix.sender if state.fix is not None else ""
    return next((e.folder for e in state.pipeline.phases if e.phase == sender), layout.REVIEW)


def change_request_path(state: SessionState) -> str:
    """Return the path of the file into which a request for changes by the user is written.

    It is in the history of the cycle and iteration of ``state``, relative to the session's
    directory.
    """
    return f"{layout.history(state.cycle, state.iteration)}/{_completion(state)}/changes.md"


def summary_path(state: SessionState) -> str:
    """Return the path of the summary that the user reads before deciding about the result.

    It is relative to the session's directory; the file may not exist yet.
    """
    return f"{_completion(state)}/summary.md"


def _completion(state: SessionState) -> str:
    return state.pipeline.walk[-1].folder
