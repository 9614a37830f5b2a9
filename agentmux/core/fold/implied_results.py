"""The files that the result of a check or a review implies."""

from __future__ import annotations

from collections.abc import Iterator

from agentmux.core.checks import report
from agentmux.core.definitions.definition import Kind
from agentmux.core.documents.review import Review, check_review, fix_request_md, review_md
from agentmux.core.fold.implied_file import Implied
from agentmux.core.journal.events import ChangesRequested, Event, Resumed
from agentmux.core.journal.results import PhaseResult, result_fields
from agentmux.core.journal.state import SessionState
from agentmux.core.names import layout
from agentmux.core.names.statuses import FAILED
from agentmux.core.pipeline.artifacts import RESULTS, REVIEW_FILE, fix_request, kept_fix_request
from agentmux.core.pipeline.check_phase import failed_on_base
from agentmux.core.pipeline.checks.verify_commands import frozen_commands
from agentmux.core.pipeline.kinds import PhaseDescriptor
from agentmux.core.pipeline.registry import pipeline_of


def of_results(before: SessionState, event: Event, after: SessionState) -> tuple[Implied, ...]:
    """Return the files to write for every check or review that ``event`` has decided.

    For each of them, that is ``results.yaml`` in the folder of its phase and, for a review,
    ``review.md``. If it has failed, their paths are in the history instead, and two more files are
    included: ``fix_request.md`` and its copy in the history. Nothing is written here. Empty when
    the user requests changes, or when a resume stays in its phase.

    Args:
        before: The state before the event.
        event: The event.
        after: The state after the event.
    """
    if isinstance(event.fact, ChangesRequested):
        return ()
    if isinstance(event.fact, Resumed) and not _has_gone_on(before, after):
        return ()  # the session resumes where its files say, and they stay unchanged
    return tuple(_derive_results(before, after))


def _has_gone_on(before: SessionState, after: SessionState) -> bool:
    """Whether a resume has moved the session out of a phase of its pipeline."""
    return before.phase in pipeline_of(before) and before.phase != after.phase


def _derive_results(before: SessionState, after: SessionState) -> Iterator[Implied]:
    pipeline = pipeline_of(after)
    for phase, result in after.results.items():
        if not result.outcome or phase not in pipeline or before.results.get(phase) == result:
            continue
        here = pipeline[phase]
        yield from _result(here, result, before)
        if result.outcome == FAILED:
            text = _fix_request(before, after, here, result)
            yield Implied(path=kept_fix_request(after), text=text)
            yield Implied(path=fix_request(after), text=text)


def _result(here: PhaseDescriptor, result: PhaseResult, before: SessionState) -> Iterator[Implied]:
    folder = here.folder
    if result.outcome == FAILED:
        folder = f"{layout.history(before.cycle, before.iteration)}/{folder}"
    reviews = _reviews(result)
    if reviews:
        yield Implied(path=f"{folder}/{REVIEW_FILE}", text=review_md(reviews))
    # Last, because this file alone says that the phase is complete.
    yield Implied(path=f"{folder}/{RESULTS}", fields=result_fields(result))


def _reviews(result: PhaseResult) -> tuple[Review, ...]:
    checked = (
        check_review(fields, role, strict=False)[0] for role, fields in result.reviews.items()
    )
    return tuple(review for review in checked if review is not None)


def _fix_request(
    before: SessionState, after: SessionState, here: PhaseDescriptor, result: PhaseResult
) -> str:
    if here.kind is Kind.REVIEW:
        reviews = _reviews(result)
        request = fix_request_md(reviews, after.iteration)
        if reviews:
            return request
        # A `review.md` written by hand is moved to this path.
        kept = f"{layout.history(before.cycle, before.iteration)}/{here.folder}/{REVIEW_FILE}"
        return f"{request}\nThe findings are in `{kept}`.\n"
    commands = {each.name: each.run for each in frozen_commands(after)}
    return report.fix_request(
        result, commands, after.iteration, expect=here.expect, red_before=failed_on_base(after)
    )
