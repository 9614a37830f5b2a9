"""The descriptions of the signals that request research, and of the one that hands it in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from agentmux.core.codec.frozen import replace
from agentmux.core.codec.shape import replace_unencodable
from agentmux.core.fold.implied_file import Implied
from agentmux.core.fold.signals.description import (
    Argument,
    Contents,
    FactAndProblems,
    HandedFile,
    SignalDescription,
    SubmissionContext,
)
from agentmux.core.fold.transitions import without_seat
from agentmux.core.journal.events import (
    CodeResearchDispatched,
    Event,
    ResearchDone,
    WebResearchDispatched,
)
from agentmux.core.journal.state import Research, SessionState
from agentmux.core.names import layout
from agentmux.core.names.phase import RESEARCHERS, ResearchKind, researcher
from agentmux.core.names.statuses import DISPATCHED, RESEARCHED

Request = CodeResearchDispatched | WebResearchDispatched

QUESTION_MAX: Final = 1 << 16
_OWN_TOPIC: Final = Argument("topic", "TOPIC", "the topic (default: that of your seat)", "--topic")
_TOPIC: Final = Argument(
    "topic", "TOPIC", "a short name for the question: a-z, 0-9 and -", "--topic", is_required=True
)
_QUESTION: Final = Argument(
    "question",
    "QUESTION…",
    "the question, with everything that the researcher needs: it sees no more",
    is_required=True,
)


def research_kind(fact: Request) -> ResearchKind:
    """Return the kind of research that ``fact``, an agent's request for research, asks for."""
    return ResearchKind.CODE if isinstance(fact, CodeResearchDispatched) else ResearchKind.WEB


def _with_tasks(state: SessionState, kind: ResearchKind, tasks: Mapping[str, str]) -> SessionState:
    if kind is ResearchKind.CODE:
        return replace(state, research_tasks=tasks)
    return replace(state, web_research_tasks=tasks)


# -- who asks ------------------------------------------------------------------------------------


def _apply_dispatch(state: SessionState, event: Event, fact: Request) -> SessionState:
    kind = research_kind(fact)
    tasks = state.tasks(kind)
    key = f"{kind}-{fact.topic}"
    known = state.research.get(key, Research(question=fact.question))
    owners = tuple(dict.fromkeys((*known.owners, event.seat)))
    # If the research is done already, the answer to the agent's call says so.
    told = known.told
    if tasks.get(fact.topic) == RESEARCHED:
        told = tuple(dict.fromkeys((*told, event.seat)))
    research = replace(known, owners=owners, told=told)
    return replace(
        _with_tasks(state, kind, {**tasks, fact.topic: tasks.get(fact.topic, DISPATCHED)}),
        research={**state.research, key: research},
    )


def _request_file(before: SessionState, _: Event, fact: Request) -> tuple[Implied, ...]:
    kind = research_kind(fact)
    if fact.topic in before.tasks(kind):
        return ()
    path = f"{layout.research(kind, fact.topic)}/request.md"
    # A question that was accepted earlier may contain bytes that are not text.
    return (Implied(path=path, text=f"# {fact.topic}\n\n{replace_unencodable(fact.question)}\n"),)


def _check_question(topic: str, question: str) -> tuple[str, ...]:
    problems = []
    if not layout.is_topic(topic):
        shown = f"`{topic[:60]}`" if topic else "empty"
        problems.append(f"topic: {shown}; use 1 to 48 of a-z, 0-9 and `-`, and no `-` at the start")
    if not question.strip():
        problems.append("question: empty")
    if len(question) > QUESTION_MAX:
        problems.append(f"question: longer than {QUESTION_MAX} characters")
    return tuple(problems)


def _request(fact: type[Request], word: str, says: str) -> SignalDescription:
    def make_request(handed: SubmissionContext, _: Contents) -> FactAndProblems:
        topic, question = handed.submission.topic, replace_unencodable(handed.submission.question)
        return fact(topic=topic, question=question), _check_question(topic, question)

    return SignalDescription(
        fact=fact,
        words=lambda fact: f"asked for the research `{fact.topic}`",
        step=_apply_dispatch,
        in_any_phase=True,
        files=_request_file,
        hands_in=False,
        command=f"research {word}",
        says=says,
        arguments=(_TOPIC, _QUESTION),
        made=make_request,
        about="topic",
    )


# -- who researches ------------------------------------------------------------------------------


def _judge_research(state: SessionState, event: Event, fact: ResearchDone) -> str:
    kind = ResearchKind(fact.research)
    status = state.tasks(kind).get(fact.topic)
    if status != DISPATCHED:
        return f"research `{fact.topic}` is {status or 'unknown'}"
    seat = state.seats[event.seat]
    if (seat.role, seat.topic) != (researcher(kind), fact.topic):
        return f"`{event.seat}` does not do the research `{fact.topic}`"
    return ""


def _apply_research(state: SessionState, event: Event, fact: ResearchDone) -> SessionState:
    kind = ResearchKind(fact.research)
    tasks = {**state.tasks(kind), fact.topic: RESEARCHED}
    return without_seat(_with_tasks(state, kind, tasks), event.seat)


def _done_file(_state: SessionState, _: Event, fact: ResearchDone) -> tuple[Implied, ...]:
    return (Implied(path=f"{layout.research(fact.research, fact.topic)}/done", text=""),)


def _subject(handed: SubmissionContext) -> tuple[ResearchKind, str]:
    role = handed.identity.role
    kind = ResearchKind(role.partition("-")[0]) if role in RESEARCHERS else ResearchKind.CODE
    return kind, handed.submission.topic or handed.identity.topic


def _answer_files(handed: SubmissionContext) -> tuple[HandedFile, ...]:
    kind, topic = _subject(handed)
    if not layout.is_topic(topic):
        return ()
    folder = layout.research(kind, topic)
    return tuple(HandedFile((f"{folder}/{name}",)) for name in ("summary.md", "detail.md"))


def _answer(handed: SubmissionContext, contents: Contents) -> FactAndProblems:
    kind, topic = _subject(handed)
    problem = f"topic: `{topic[:60]}` is not a valid topic of research"
    problems = () if layout.is_topic(topic) else (problem,)
    return ResearchDone(research=kind, topic=topic, sha256=contents.sha256), problems


RESEARCH: Final = (
    SignalDescription(
        fact=ResearchDone,
        words=lambda fact: f"handed in the research `{fact.topic}`",
        why_ignored=_judge_research,
        step=_apply_research,
        in_any_phase=True,
        files=_done_file,
        command="submit research-done",
        says="hand in summary.md and detail.md of a research topic",
        arguments=(_OWN_TOPIC,),
        reads=_answer_files,
        made=_answer,
        about="topic",
    ),
    _request(
        CodeResearchDispatched,
        "code",
        "ask another agent a question about this code base, and go on meanwhile",
    ),
    _request(
        WebResearchDispatched,
        "web",
        "ask another agent to answer a question from the web, and go on meanwhile",
    ),
)
