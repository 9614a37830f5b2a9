"""Chooses the template of a prompt, and the files that the agent has to read first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from agentmux.core.definitions.definition import Kind
from agentmux.core.documents.plan import subplan_file, tasks_file
from agentmux.core.journal.events import DesignDone, PmDone
from agentmux.core.journal.state import SessionState
from agentmux.core.names import layout
from agentmux.core.names.phase import CODER, RESEARCHERS, Phase, ResearchKind
from agentmux.core.names.statuses import RESEARCHED
from agentmux.core.pipeline.artifacts import Artifacts, fix_request, kept_review
from agentmux.core.pipeline.kinds import KINDS
from agentmux.core.pipeline.registry import kind_of, pipeline_of
from agentmux.core.pipeline.results import fixes
from agentmux.core.pipeline.work import Work
from agentmux.core.prompts.prompt import REQUEST, SINGLE

_UNREAD: Final[Mapping[Kind, str]] = {
    Kind.WORK: PmDone.kind,
    Kind.FIX: PmDone.kind,
    Kind.COMPLETE: DesignDone.kind,
}
"""For each kind of phase, the document that it need not read if there is a plan, by its signal."""


def reading(state: SessionState, work: Work, artifacts: Artifacts) -> tuple[str, ...]:
    """Return the files that an agent has to read for ``work``, in reading order.

    They are paths relative to the session's directory. ``context.md`` and ``requirements.md``,
    which every agent reads, are not included. Files of earlier phases, and a researcher's request,
    are included only if they have content.
    """
    return tuple(dict.fromkeys(_reading(state, work, artifacts)))


def template_name(state: SessionState, work: Work) -> str:
    """Return the name of the prompt template for ``work``, such as ``coder-single``.

    It depends on the role and the phase, and is the first argument of `prompt.parts`.
    """
    pipeline = pipeline_of(state)
    prompts = pipeline[state.phase].prompt if state.phase in pipeline else {}
    template = prompts.get(work.role, work.role)
    if template != CODER:
        return template
    if not pipeline.is_planned:
        return REQUEST
    does_all = work.subplan is None and kind_of(state) is Kind.WORK
    return SINGLE if does_all else template


def _reading(state: SessionState, work: Work, artifacts: Artifacts) -> Iterator[str]:
    if work.role in RESEARCHERS:
        yield from filter(artifacts.has_content, (f"{work.topic_folder}/request.md",))
        return
    if state.change_request is not None:
        yield state.change_request
    for path in _before(state):
        if artifacts.has_content(path):
            yield path
    pipeline, kind = pipeline_of(state), kind_of(state)
    if kind is Kind.WORK and pipeline.is_planned:
        yield from _plan_of(state, work)
    if kind is Kind.REVIEW and state.iteration > 0:
        yield from _of_last_review(state, artifacts)
    if kind in {Kind.DOCUMENT, Kind.PLAN} and state.phase != Phase.PRODUCT_MANAGEMENT:
        yield from _research(state)


def _before(state: SessionState) -> Iterator[str]:
    """Yield the files that earlier phases may have left, in order.

    For a fix, the fix request comes first. For the last phase, the reviews are included.
    """
    pipeline = pipeline_of(state)
    kind = pipeline[state.phase].kind
    if kind is Kind.FIX:
        yield fix_request(state)
    for each in pipeline.before(state.phase):
        if pipeline.is_planned and each.signal == _UNREAD.get(kind):
            continue
        names = KINDS[each.kind].handed_on(each, kind)
        yield from (f"{each.folder}/{name}" for name in names)


def _of_last_review(state: SessionState, artifacts: Artifacts) -> Iterator[str]:
    if artifacts.has_content(kept_review(state)):  # missing if the cycle began with a fix
        yield kept_review(state)
    yield fix_request(state)
    # The last fix may have been for a check, and came after the fix that this review asked for.
    if fixes(state, state.phase) > 0:
        yield f"{pipeline_of(state)[state.phase].folder}/fix_request.md"


def _plan_of(state: SessionState, work: Work) -> Iterator[str]:
    ids = state.implementation_active_plan_ids if work.subplan is None else (work.subplan,)
    folder = pipeline_of(state).of_kind(Kind.PLAN)[0].folder
    for index in ids:
        yield f"{folder}/{subplan_file(index)}"
        yield f"{folder}/{tasks_file(index)}"


def _research(state: SessionState) -> Iterator[str]:
    for kind in ResearchKind:
        for topic, status in state.tasks(kind).items():
            if status == RESEARCHED:
                yield f"{layout.research(kind, topic)}/summary.md"
