"""Approves a result with the user's consent: checks, preview, question, record."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from agentmux.app.delivery.approval.approval_question import ApprovalQuestion, approval_question
from agentmux.app.delivery.approval.deliverable import digest_of, ways_along
from agentmux.app.delivery.steps.commit import describe_failure, on_top
from agentmux.app.delivery.steps.merge import require_agreed
from agentmux.app.delivery.steps.outcome import commit_without_branch, is_kept, ways_to_get
from agentmux.app.delivery.steps.ways import way_of
from agentmux.app.person import Person
from agentmux.app.session.search.lookup import SessionEntry
from agentmux.app.session.workplace.checkout import trial_in_the_way
from agentmux.app.session.workplace.own_worktree import require_worktree, with_workplace
from agentmux.app.signals.submission import SubmitAnswer
from agentmux.app.world import World
from agentmux.core.codec.frozen import dataclass, replace
from agentmux.core.fold.acceptance import Answer, takes_approval
from agentmux.core.journal.events import Approved
from agentmux.core.journal.state import SessionState
from agentmux.core.names.phase import Phase
from agentmux.core.names.status_labels import left_behind_label, left_out_label
from agentmux.core.names.statuses import MERGE
from agentmux.core.pipeline.artifacts import summary_path
from agentmux.core.pipeline.delivery import approve_again
from agentmux.core.terminal.text.folding import fit_above
from agentmux.errors import BlockedError
from agentmux.ports.git.repository import IndexBusyError

_QUESTION: Final = "Approve?"


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalRequest:
    """What the user asks for with an approval.

    Attributes:
        approval: The approval. Its ``then`` says where the result goes; empty takes the configured
            way. Its ``digest`` is that of the result that the user was shown; empty accepts any.
        leave_nested: Whether the commit may leave out git repositories inside the project.
        leave_commits: Whether the result may lack commits that were made in the worktree, but are
            not in the history of its HEAD.
        bring_back: Whether a merge may bring back commits that the base branch no longer has.
        on_top: Whether the commits that were made in the checkout after the session began are the
            user's, so that the result is committed on top of them.
        show: Shows a line of the preview. None shows the preview as notes, and only to a person who
            is asked.
        size: Columns and rows of the terminal that shows the preview; its summary is then shortened
            so that all else stays on the screen. None shortens it to 40 lines.
    """

    approval: Approved
    leave_nested: bool = False
    leave_commits: bool = False
    bring_back: bool = False
    on_top: bool = False
    show: Callable[[str], object] | None = None
    size: tuple[int, int] | None = None


def approve_with_consent(
    world: World,
    person: Person,
    entry: SessionEntry,
    request: ApprovalRequest,
    record: Callable[[Approved, int], SubmitAnswer],
) -> SubmitAnswer:
    """Record the approval of a session's result; if a person can be asked, show it and ask first.

    If the session takes no approval now, the approval is recorded all the same, and the answer says
    why it does not count. If the result is not the one that was shown, nothing is recorded.

    Args:
        world: The project, with its settings and tools.
        person: The person who approves.
        entry: The session.
        request: What the person asks for.
        record: Takes the approval and the number of the cycle. Records the approval, and returns
            the answer.

    Raises:
        AgentmuxError: The result cannot be delivered in the way that the approval names.
        BlockedError: ``request`` does not allow what the delivery would leave out or bring back;
            the error's reason is ``nested_repository``, ``commits_left_behind`` or
            ``base_rewritten``. Or the checkout, in which the session works, shows another session
            for a trial.
        DeclinedError: The person said no.
    """
    state = world.files(entry.path).load().current
    world, approval = with_workplace(world, state), request.approval
    if takes_approval(state):
        trial = None if state.worktree else trial_in_the_way(world)
        if trial is not None:
            raise trial
        agreed = _ask(world, person, entry, state, request)
        if isinstance(agreed, SubmitAnswer):
            return agreed
        approval = agreed
    elif state.phase == Phase.DONE and is_kept(state):
        person.note(_where_kept(world, state))
    return record(approval, state.cycle)


def _ask(
    world: World, person: Person, entry: SessionEntry, state: SessionState, request: ApprovalRequest
) -> Approved | SubmitAnswer:
    """Return the approval of the result that was shown, or the answer if it has changed since."""
    require_worktree(world, state, entry.path)
    files, asks, given = world.files(entry.path), person.is_asked, request.approval
    way = way_of(world, state, given.then)
    began = state.options.base
    state = on_top(world, state) if request.on_top else state
    question = approval_question(world, files, state, way)
    if not (request.leave_nested or asks):
        _require_committable(entry, question.result.left_out)
    if not (request.leave_commits or asks):
        _require_complete(world, state, question, way)
    brings_back = () if request.bring_back or asks else question.result.brings_back
    require_agreed(state, brings_back if way == MERGE else ())
    approval = question.approval
    if state.options.base != began:
        approval = replace(approval, on_top=state.options.base or "")
    if given.digest not in {"", approval.digest}:
        return refuse_changed(given.digest)
    if asks or request.show is not None:
        _show(world, person, state, entry, (question, request))
    if asks:
        person.agree(_QUESTION)
        if digest_of(world, files, state) != approval.digest:
            return refuse_changed(approval.digest)
    return approval


def _show(
    world: World,
    person: Person,
    state: SessionState,
    entry: SessionEntry,
    asked: tuple[ApprovalQuestion, ApprovalRequest],
) -> None:
    question, request = asked
    show = request.show or person.note
    changes = f"see every change: agentmux diff {entry.name}"
    below = (*question.outcome, *((changes,) if question.result.paths else ()))
    for line in (*_summary_above(question.summary, below, entry, state, request.size), *below):
        show(line)
    lock = world.repository.index_lock() if state.commits else None
    if lock is not None:
        person.note(f"warning: {describe_failure(IndexBusyError(lock))}")


def _summary_above(
    summary: tuple[str, ...],
    below: tuple[str, ...],
    entry: SessionEntry,
    state: SessionState,
    size: tuple[int, int] | None,
) -> Sequence[str]:
    """Return the lines of the summary for which there is room above what follows them."""
    if size is None:
        return summary
    whole = f"the whole summary: {entry.path / summary_path(state)}"
    shown = fit_above(summary, (*below, _QUESTION), *size)
    if len(shown) == len(summary):
        return summary
    return (*fit_above(summary, (whole, "", *below, _QUESTION), *size), whole, "")


def _where_kept(world: World, state: SessionState) -> str:
    commit = commit_without_branch(world, state)
    where = f"in commit {commit}" if commit else f"on branch {state.branch}"
    *before, way = ways_to_get(world, state)
    return "\n".join((*before, f"its result is {where}: {way}"))


def refuse_changed(digest: str) -> SubmitAnswer:
    """Return the answer that a decision does not count, because the result has changed.

    ``digest`` is the digest (`decision_digest`) of the result that was shown; the reason in the
    answer names it. Nothing is recorded.
    """
    reason = f"the result is not what was shown with the digest {digest}: look at it again"
    return SubmitAnswer(result=Answer.IGNORED, event_id=None, reason=reason)


def _require_committable(entry: SessionEntry, nested: tuple[str, ...]) -> None:
    """Check that the commit leaves out no repository, that is, that ``nested`` is empty."""
    if nested:
        raise BlockedError(
            "; ".join(left_out_label(path) for path in nested),
            reason="nested_repository",
            hints=(
                f"to commit everything else: agentmux approve {entry.name} --leave-nested",
                f"to commit its files too: move {nested[0]}.git away, then approve again",
            ),
        )


def _require_complete(
    world: World, state: SessionState, question: ApprovalQuestion, way: str
) -> None:
    """Check that the result has all commits that were made in the session's worktree."""
    behind = question.result.left_behind
    if behind:
        again = approve_again(state, way)
        raise BlockedError(
            "; ".join(f"the result is {left_behind_label(each.subjects)}" for each in behind),
            reason="commits_left_behind",
            hints=(
                *ways_along(world, state, behind),
                again,
                f"or go without them: {again.removeprefix('then: ')} --leave-commits",
            ),
        )
