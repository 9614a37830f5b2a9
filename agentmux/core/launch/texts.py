"""The prompts of a launch."""

from __future__ import annotations

from collections.abc import Iterator

from agentmux.core.agents.spec import StrategyKind
from agentmux.core.codec.frozen import dataclass, replace
from agentmux.core.definitions.definition import Kind
from agentmux.core.documents.review import review_files
from agentmux.core.journal.state import SessionState
from agentmux.core.launch.facts import LaunchFacts
from agentmux.core.names import layout
from agentmux.core.names.phase import RESEARCHERS, ResearchKind
from agentmux.core.names.statuses import RESEARCHED
from agentmux.core.pipeline.registry import kind_of, pipeline_of
from agentmux.core.pipeline.verified import told_lines
from agentmux.core.prompts import prompt
from agentmux.core.prompts.progress import handed_in
from agentmux.core.prompts.prompt import PromptInputs, ResearchRequest

INSTRUCTIONS = "instructions.md"
"""The name of the file with the full prompt, in a launch whose ``prompt.md`` is a short message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchPrompts:
    """The prompts of one launch, of which the agent gets one.

    Attributes:
        full: The prompt for a new conversation.
        message: The short message for a resumed conversation.
        signals: The shell commands with which the agent hands in the work, in order.
    """

    full: str
    message: str
    signals: tuple[str, ...]


def launch_prompts(state: SessionState, facts: LaunchFacts) -> LaunchPrompts:
    """Return the prompts of a launch, rendered from the templates in ``facts``.

    A researcher's earlier prompt is kept in the topic's folder, where users may edit it. If it
    differs from the one that its template would give now, ``full`` contains the kept one, with
    paths adapted if the project was moved, and adds what this launch needs before and after it.
    """
    templates, kept, inputs = facts.templates, _kept_prompt(facts), _inputs(state, facts)
    full = prompt.render(templates.again if facts.is_again else templates.work, inputs)
    if kept and kept != prompt.render(templates.work, inputs):
        # The kept prompt stays unchanged; what this launch needs is added before and after it.
        before = templates.opening + (templates.warning if facts.is_again else "")
        hello = inputs.hello and prompt.HELLO not in kept
        told = (*prompt.artifacts(inputs), *prompt.signals(inputs))
        ending = "" if all(each in kept for each in told) else templates.ending
        head = prompt.render(before, replace(inputs, hello=hello))
        parts = (head, kept, prompt.render(ending, inputs))
        full = "\n\n".join(part.strip() for part in parts if part.strip()) + "\n"
    return LaunchPrompts(
        full=full,
        message=prompt.render(templates.message, inputs),
        signals=prompt.signals(inputs),
    )


def _kept_prompt(facts: LaunchFacts) -> str:
    """Return the researcher's earlier prompt, which users may edit; empty if there is none.

    If the project was moved since, the paths in the prompt are updated.
    """
    record = facts.history.record
    if record is None or len(record.cwd) < 2:
        return facts.kept_prompt
    return facts.kept_prompt.replace(f"{record.cwd}/", f"{facts.session_facts.tree}/")


def _inputs(state: SessionState, facts: LaunchFacts) -> PromptInputs:
    """Return the values from which the prompts of a launch are rendered."""
    base, work, request = facts.session_facts.session, facts.work, state.change_request
    strategy, artifacts = facts.player.strategy, facts.artifacts
    reviews, spoilt = _reviews(state, work.role), artifacts.problems
    inputs = PromptInputs(
        session_dir=base,
        project_dir=facts.session_facts.tree,
        pipeline=pipeline_of(state),
        phase=state.phase,
        role=work.role,
        seat=work.seat,
        cycle=state.cycle,
        iteration=state.iteration,
        subplan=work.subplan,
        subplan_title=_title(state, work.subplan),
        subplans=tuple((n, _title(state, n)) for n in state.implementation_active_plan_ids),
        topic=work.topic,
        question=facts.question,
        feature=state.feature,
        issue=state.issue,
        reviewed=state.reviewed,
        checks=told_lines(state),
        inputs=tuple(f"{base}/{path}" for path in facts.reading),
        change_request_path=f"{base}/{request}" if request else None,
        hello=strategy.kind is StrategyKind.LEARN and strategy.learn != "hook",
        extension=facts.templates.extension,
        submitted=handed_in(state),
        asked=tuple(_list_research(state, work.seat, base)),
        moved_from=str(state.agents.get(work.seat, {}).get("moved_from") or ""),
        handover=facts.handover,
        instruction_file=f"{facts.folder}/{INSTRUCTIONS}",
    )
    own, signals = prompt.artifacts(inputs), prompt.signals(inputs)
    left = (*(path.removeprefix(f"{base}/") for path in own), *reviews)
    # These files are drafts: if they were complete, the seat would not be launched.
    there = [path for path in left if artifacts.has_content(path) or path in spoilt]
    there += [path for path in prompt.markers(inputs) if artifacts.exists(path) or path in spoilt]
    drafts = tuple(f"{base}/{path}" for path in dict.fromkeys(there))
    return replace(inputs, open_items=(*own, *signals), drafts=drafts)


def _reviews(state: SessionState, role: str) -> tuple[str, ...]:
    """Return all paths at which a review by this role may be; none if the phase is no review."""
    if kind_of(state) is not Kind.REVIEW or role in RESEARCHERS:
        return ()
    folder = pipeline_of(state)[state.phase].folder
    alone = state.reviewer_nominations == (role,)
    return tuple(f"{folder}/{name}" for name in review_files(role, alone=alone))


def _list_research(state: SessionState, seat: str, session: str) -> Iterator[ResearchRequest]:
    """Yield the research that this seat has asked for."""
    for kind in ResearchKind:
        for topic, status in state.tasks(kind).items():
            asked = state.research.get(f"{kind}-{topic}")
            if asked is not None and seat in asked.owners:
                folder = f"{session}/{layout.research(kind, topic)}"
                answer = f"{folder}/summary.md" if status == RESEARCHED else ""
                yield ResearchRequest(
                    kind=kind, topic=topic, question=asked.question, answer=answer
                )


def _title(state: SessionState, index: int | None) -> str:
    for group in state.implementation_groups:
        plans = group.get("plans")
        for plan in plans if isinstance(plans, list) else ():
            if plan.get("index") == index:
                return str(plan.get("name", ""))
    return ""
