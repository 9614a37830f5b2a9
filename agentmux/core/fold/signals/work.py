"""The descriptions of the signals of coders and reviewers, and of ``submit hello``."""

from __future__ import annotations

from typing import Final

from agentmux.core.codec.frozen import replace
from agentmux.core.definitions.definition import Kind
from agentmux.core.documents.review import (
    DEFAULT_NOMINATIONS,
    check_review,
    expand_role,
    review_files,
)
from agentmux.core.documents.review import long_reviewer_name as long_role
from agentmux.core.fold.implied_file import Implied
from agentmux.core.fold.parts.seats import with_conversation, with_reached
from agentmux.core.fold.signals.description import (
    Argument,
    Contents,
    FactAndProblems,
    HandedFile,
    SignalDescription,
    SubmissionContext,
    folder_of,
    working_folder,
)
from agentmux.core.fold.transitions import decide_review, go_on, schedule, without_seat
from agentmux.core.journal.events import CodeDone, Event, Hello, ReviewDone
from agentmux.core.journal.state import SessionState
from agentmux.core.names import layout
from agentmux.core.names.phase import REVIEWERS
from agentmux.core.pipeline.artifacts import done_marker
from agentmux.core.pipeline.registry import kind_of, pipeline_of, working_kind, working_phase
from agentmux.core.pipeline.results import result_of, with_result

_SUBPLAN: Final = Argument(
    "subplan_index", "N", "the sub-plan (default: that of your seat)", "--subplan", is_number=True
)
_ROLE: Final = Argument(
    "role", "ROLE", "logic, quality or expert (default: that of your seat)", "--role"
)

# -- code ----------------------------------------------------------------------------------------


def _judge_code(state: SessionState, event: Event, fact: CodeDone) -> str:
    if working_kind(state) is not Kind.WORK:
        return ""
    index = fact.subplan_index
    if index is None and not pipeline_of(state).is_planned:
        index = 1
    if index is None:
        return f"{working_phase(state)} needs the sub-plan: --subplan N"
    if index in state.completed_subplans:
        return f"sub-plan {index} is done already"
    if index not in state.implementation_active_plan_ids:
        return f"sub-plan {index} is not active"
    if not state.implementation_single_coder and state.seats[event.seat].subplan != index:
        return f"`{event.seat}` does not work on sub-plan {index}"
    return ""


def _code_done(state: SessionState, event: Event, fact: CodeDone) -> SessionState:
    if kind_of(state) is Kind.FIX:
        return go_on(state)
    index = fact.subplan_index or 1
    completed = tuple(sorted({*state.completed_subplans, index}))
    kept = without_seat(state, event.seat) if not state.implementation_single_coder else state
    planned = schedule(replace(kept, completed_subplans=completed))
    return planned if planned.implementation_active_plan_ids else go_on(planned)


def _code_files(before: SessionState, _: Event, fact: CodeDone) -> tuple[Implied, ...]:
    number = 1 if working_kind(before) is Kind.FIX else fact.subplan_index or 1
    return (Implied(path=done_marker(number, working_folder(before)), text=""),)


def _code(handed: SubmissionContext, _: Contents) -> FactAndProblems:
    given = handed.submission.subplan_index
    return CodeDone(subplan_index=handed.identity.subplan if given is None else given), ()


def _code_words(fact: CodeDone) -> str:
    index = fact.subplan_index
    return "handed in the fix" if index is None else f"handed in sub-plan {index}"


# -- reviews -------------------------------------------------------------------------------------


def _judge_review(state: SessionState, event: Event, fact: ReviewDone) -> str:
    known = result_of(state, working_phase(state)).verdicts
    if fact.role == event.seat and fact.role not in known:
        return ""
    return f"no review of `{fact.role}` is expected from `{event.seat}`"


def _review_done(state: SessionState, event: Event, fact: ReviewDone) -> SessionState:
    known = result_of(state, state.phase)
    reviewed = replace(
        known,
        verdicts={**known.verdicts, fact.role: fact.verdict},
        reviews={**known.reviews, fact.role: fact.review},
    )
    given = with_result(state, state.phase, reviewed)
    return decide_review(without_seat(given, event.seat))


def _reviewer(handed: SubmissionContext) -> str:
    """Return the full role of the reviewer that hands in the review.

    Raises:
        UsageError: The named role is not a reviewer.
    """
    given = handed.submission.role or handed.identity.role
    phases = handed.state().pipeline.phases
    roles = {r for each in phases if each.kind is Kind.REVIEW for r in each.roles}
    return long_role(given) if roles <= set(REVIEWERS) else expand_role(given)


def _review_file(handed: SubmissionContext) -> tuple[HandedFile, ...]:
    state, role = handed.state(), _reviewer(handed)
    alone = len(state.reviewer_nominations or DEFAULT_NOMINATIONS) == 1
    folder = folder_of(state, Kind.REVIEW, layout.REVIEW)
    names = review_files(role, alone=alone)
    return (HandedFile(tuple(f"{folder}/{name}" for name in names), is_yaml=True),)


def _review(handed: SubmissionContext, contents: Contents) -> FactAndProblems:
    role = _reviewer(handed)
    (value,) = contents.values
    review, problems = (None, ()) if contents.problems else check_review(value, role)
    if review is None:
        return ReviewDone(role=role, verdict=""), problems
    verdict, fields = review.verdict.value, review.to_fields()
    fact = ReviewDone(role=role, verdict=verdict, sha256=contents.sha256, review=fields)
    return fact, problems


# -- hello ---------------------------------------------------------------------------------------


def _hello_done(state: SessionState, event: Event, fact: Hello) -> SessionState:
    # Our prompt asks for the hello, so the prompt has reached this conversation.
    known = with_conversation(state, event, fact.conversation) if fact.conversation else state
    return with_reached(known, event)


def _hello(handed: SubmissionContext, _: Contents) -> FactAndProblems:
    conversation = handed.identity.conversation
    source = "environment" if conversation else ""
    return Hello(conversation=conversation, source=source), ()


WORK: Final = (
    SignalDescription(
        fact=CodeDone,
        words=_code_words,
        why_ignored=_judge_code,
        step=_code_done,
        files=_code_files,
        command="submit done",
        says="tell that the code of a sub-plan, or of a fix, is complete",
        arguments=(_SUBPLAN,),
        made=_code,
        about="subplan_index",
    ),
    SignalDescription(
        fact=ReviewDone,
        words=lambda fact: f"handed in a review: {fact.verdict}",
        why_ignored=_judge_review,
        step=_review_done,
        command="submit review",
        says="hand in your review file",
        arguments=(_ROLE,),
        reads=_review_file,
        made=_review,
        about="role",
    ),
    SignalDescription(
        fact=Hello,
        words=lambda _: "",
        step=_hello_done,
        in_any_phase=True,
        hands_in=False,
        command="submit hello",
        says="only tell which conversation this is",
        made=_hello,
        about="conversation",
    ),
)
