"""Accepts signals: checks one, appends it to the journal, wakes the orchestrator, and answers.

Agents hand in their work here, users decide here, and the hooks of agents report here. Whether a
signal counts is judged while the journal is locked. The command line and the MCP server both call
these functions. Every import makes every signal slower: import little.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from agentmux.app.signals.checks import CheckedSubmission, check, check_changes
from agentmux.core.codec.digests import named_uuid
from agentmux.core.codec.frozen import dataclass, replace
from agentmux.core.codec.shape import replace_unencodable
from agentmux.core.fold.acceptance import Answer, Judgement, judge
from agentmux.core.fold.signals.description import Identity, Submission
from agentmux.core.fold.signals.research import research_kind
from agentmux.core.journal.events import (
    USER,
    ChangesRequested,
    CodeResearchDispatched,
    ConversationLearned,
    Event,
    Fact,
    Hello,
    PromptReached,
    UserDecision,
    WebResearchDispatched,
)
from agentmux.core.journal.state import SessionState
from agentmux.core.names import layout
from agentmux.core.names.statuses import RESEARCHED
from agentmux.core.names.turn import Turn
from agentmux.core.names.words.counts import format_count
from agentmux.core.pipeline.work import is_under_way
from agentmux.errors import UsageError

if TYPE_CHECKING:  # importing `ports` costs time, and a signal needs little of it
    from agentmux.ports.session.session_files import SignalFiles, Transaction

REFUSED: Final = "refused"
NEXT_RESUME: Final = "applied at the next resume"

Poke = Callable[[Path], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class SubmitAnswer:
    """The answer to a signal.

    Attributes:
        result: ``accepted`` (it counts), ``ignored`` (does not count, but is journaled, except a
            decision on another digest), ``duplicate`` (of one that counted; not journaled again),
            ``refused`` (breaks a rule; not journaled) or, in JSON only, ``error``.
        event_id: The id of the event, for a duplicate of the earlier one. None if the signal was
            refused, or was a decision on another digest than that of the present result.
        reason: Why the signal was not accepted, or what else the caller should know.
        problems: Every broken rule, if the signal was refused.
        is_heard: Whether the signal counts, and a running orchestrator was woken to act on it.
    """

    result: str
    event_id: str | None
    reason: str = ""
    problems: tuple[str, ...] = ()
    is_heard: bool = False

    def to_fields(self) -> dict[str, object]:
        """Return the fields of this answer for ``--json`` and the MCP server, without ``is_heard``.

        The key ``schema`` is added: the version of the format.
        """
        return {
            "schema": 1,
            "result": self.result,
            "event_id": self.event_id,
            "reason": self.reason,
            "problems": list(self.problems),
        }


def identity_from(environ: Mapping[str, str], *, command: str) -> Identity:
    """Return the identity of the calling agent, from the environment variables of its pane.

    ``command`` is the command that was called, such as ``agentmux hook``, for the error's message.

    Raises:
        UsageError: The caller is not in a pane of a session.
    """
    for name in ("AGENTMUX_SESSION_DIR", "AGENTMUX_LAUNCH_ID", "AGENTMUX_SEAT"):
        if not environ.get(name):
            raise UsageError(
                f"`{command}` must be run by an agent inside its pane: {name} is not set",
                hints=("see the commands for users: agentmux --help",),
            )
    return Identity(
        session_dir=environ["AGENTMUX_SESSION_DIR"],
        session_id=environ.get("AGENTMUX_SESSION_ID", ""),
        launch=environ["AGENTMUX_LAUNCH_ID"],
        role=environ.get("AGENTMUX_ROLE", ""),
        seat=environ["AGENTMUX_SEAT"],
        cycle=_number(environ.get("AGENTMUX_CYCLE", "")) or 1,
        subplan=_number(environ.get("AGENTMUX_SUBPLAN", "")),
        topic=environ.get("AGENTMUX_TOPIC", ""),
        conversation=_conversation(environ),
    )


def submit(
    files: SignalFiles,
    identity: Identity,
    submission: Submission,
    *,
    at: str,
    new_id: Callable[[], str],
    poke: Poke,
) -> SubmitAnswer:
    """Accept a signal from an agent.

    A signal that breaks a rule and would otherwise count is refused, and not journaled. A duplicate
    is not journaled again. Every other signal is journaled before this function returns; one that
    does not count is answered ``ignored``, even if it breaks a rule.

    Args:
        files: The session that ``identity`` names.
        identity: The calling agent.
        submission: What is handed in, or asked for.
        at: The current time, as the journal writes it.
        new_id: Returns an id for an event that is recorded beside the signal; the signal's own id
            is computed by `event_id`.
        poke: Takes the session's directory. Wakes the orchestrator; returns whether one is running.

    Raises:
        UsageError: The pane belongs to another session, or ``submission.role`` is not a reviewer.
        NotFoundError: There is no such session.
        DataError: The session cannot be read or written.
    """
    checked = check(files, identity, submission)
    with files.transact() as held:
        state = _state(held)
        _check_session(state, identity, files.path)
        event = Event(
            id=event_id(state.session_id, identity.launch, checked),
            at=at,
            seat=identity.seat,
            launch=identity.launch,
            cycle=identity.cycle,
            fact=checked.fact,
        )
        judgement = judge(state, event)
        if checked.problems and judgement.answer is not Answer.IGNORED:
            return _refusal(checked, files.path)
        if judgement.answer is Answer.DUPLICATE or not isinstance(event.fact, Hello):
            # Before the signal is appended: after it, the seat may belong to another launch.
            _learn(held, state, identity, at=at, new_id=new_id)
        if judgement.answer is not Answer.DUPLICATE:
            held.append(event)
    reason = _research_so_far(state, event, files.path, judgement) or judgement.reason
    return _answer(judgement, event.id, reason, listening=poke(files.path))


def decide(
    files: SignalFiles,
    fact: UserDecision,
    *,
    at: str,
    new_id: Callable[[], str],
    poke: Poke,
    cycle: int | None = None,
) -> SubmitAnswer:
    """Accept a decision of the user, also while the session is stopped.

    An invalid request for changes is refused. A decision whose id belongs to one that counted
    before is a duplicate, and is not journaled again. Every other decision is journaled, also if it
    does not count.

    Args:
        files: The session's directory.
        fact: The decision.
        at: The current time, as the journal writes it.
        new_id: Returns the id of the decision; a retry has to return the same id.
        poke: Takes the session's directory. Wakes the orchestrator; returns whether one is running.
        cycle: The cycle that the user was shown, the only one to which the decision applies; None
            stands for the current cycle.

    Raises:
        NotFoundError: There is no such session.
        DataError: The session cannot be read or written.
    """
    problems: tuple[str, ...] = ()
    if isinstance(fact, ChangesRequested):
        fact = replace(fact, text=replace_unencodable(fact.text))
        problems = check_changes(fact.text)
    if problems:
        reason = "the request for changes is invalid"
        return SubmitAnswer(result=REFUSED, event_id=None, reason=reason, problems=problems)
    with files.transact() as held:
        state = _state(held)
        # A new id each time: after a failed commit the user may decide the same again.
        about = state.cycle if cycle is None else cycle
        event = Event(id=new_id(), at=at, seat=USER, launch="", cycle=about, fact=fact)
        judgement = judge(state, event)
        if judgement.answer is not Answer.DUPLICATE:
            held.append(event)
    return _answer(judgement, event.id, judgement.reason, listening=poke(files.path))


def report(
    files: SignalFiles,
    identity: Identity,
    *,
    evidence: str,
    at: str,
    new_id: Callable[[], str],
    poke: Poke,
) -> bool:
    """Write to the journal what an agent's hook reports: its conversation, and a prompt's arrival.

    Args:
        files: The session that ``identity`` names.
        identity: The calling agent, with the conversation that the hook named.
        evidence: How the hook shows that a prompt arrived, such as ``hook UserPromptSubmit``; empty
            if it does not.
        at: The current time, as the journal writes it.
        new_id: Returns an id for each event.
        poke: Takes the session's directory. Wakes the orchestrator; returns whether one is running.

    Returns:
        Whether anything was written. Nothing is if the journal knows it already, or if the launch
        no longer has its seat.
    """
    if not _news(files.load().current, identity, evidence):
        return False
    with files.transact() as held:
        facts = _news(_state(held), identity, evidence)
        for fact in facts:
            held.append(_fact(fact, identity, at=at, new_id=new_id))
    if facts:
        poke(files.path)
    return bool(facts)


def note_turn(files: SignalFiles, identity: Identity, turn: Turn, *, known: bool = False) -> None:
    """Write what an agent's hook reports about the agent's turn into the launch's folder.

    The journal does not record turns, only the reminders that follow from them. A turn that the
    user began stays ``OF_USER`` until a message from AgentMux begins another turn.

    Args:
        files: The session that ``identity`` names.
        identity: The calling agent.
        turn: What the hook reports.
        known: Whether to ignore reports that are not about the conversation on record; for agents
            whose hooks report other conversations, too.
    """
    if known:
        record = files.load().current.agents.get(identity.seat, {})
        if not identity.conversation or record.get("session_ref") != identity.conversation:
            return
    elif turn is Turn.ENDED and files.turn(identity.launch) is Turn.OF_USER:
        return
    files.note_turn(identity.launch, turn)


def event_id(session_id: str, launch: str, checked: CheckedSubmission) -> str:
    """Return the id of a signal; the same launch and the same work give the same id.

    ``session_id`` is the session's uuid, ``launch`` the id of the launch that the signal is from,
    and ``checked`` what `check` returned for it.
    """
    name = f"{launch}\n{checked.fact.kind}\n{checked.about}\n{checked.sha256}"
    return named_uuid(session_id, name)


def _state(held: Transaction) -> SessionState:
    return held.loaded_session.current


def _check_session(state: SessionState, identity: Identity, path: Path) -> None:
    if identity.session_id and state.session_id and identity.session_id != state.session_id:
        raise UsageError(
            f"this pane belongs to session {identity.session_id}, but `{path}` is session "
            f"{state.session_id}"
        )


def _refusal(checked: CheckedSubmission, path: Path) -> SubmitAnswer:
    what = format_count(len(checked.problems), "problem")
    where = f" in `{path / checked.place}`" if checked.place else ""
    return SubmitAnswer(
        result=REFUSED,
        event_id=None,
        reason=f"{what}{where}: fix all problems, then submit again",
        problems=checked.problems,
    )


def _answer(judgement: Judgement, event: str, reason: str, *, listening: bool) -> SubmitAnswer:
    counts = judgement.answer is Answer.ACCEPTED
    return SubmitAnswer(
        result=judgement.answer.value,
        event_id=event,
        reason="; ".join(filter(None, (reason, NEXT_RESUME if counts and not listening else ""))),
        is_heard=counts and listening,
    )


def _research_so_far(state: SessionState, event: Event, path: Path, judgement: Judgement) -> str:
    """Return how far the research on a topic is that somebody had already asked for, in words.

    Empty for a new topic, and for every other signal.
    """
    fact = event.fact
    if not isinstance(fact, (CodeResearchDispatched, WebResearchDispatched)):
        return ""
    kind = research_kind(fact)
    status = state.tasks(kind).get(fact.topic)
    if status is None or judgement.answer is Answer.IGNORED:
        return ""
    if status == RESEARCHED:
        return f"done: {path / layout.research(kind, fact.topic) / 'summary.md'}"
    if not is_under_way(state, kind, fact.topic):
        return f"nobody researches `{fact.topic}` any more: its researcher left; go on without it"
    return f"in progress: a line in your terminal will say when `{fact.topic}` is done"


def _learn(
    held: Transaction,
    state: SessionState,
    identity: Identity,
    *,
    at: str,
    new_id: Callable[[], str],
) -> None:
    if _is_news(state, identity):
        fact = ConversationLearned(conversation=identity.conversation, source="environment")
        held.append(_fact(fact, identity, at=at, new_id=new_id))


def _news(state: SessionState, identity: Identity, evidence: str) -> tuple[Fact, ...]:
    """Return the facts that a hook reports, except those that the state contains already."""
    facts: list[Fact] = []
    seat = state.seats.get(identity.seat)
    if _is_news(state, identity):
        facts.append(ConversationLearned(conversation=identity.conversation, source="hook"))
    if evidence and seat is not None and seat.launch == identity.launch and not seat.reached:
        facts.append(PromptReached(evidence=evidence))
    return tuple(facts)


def _is_news(state: SessionState, identity: Identity) -> bool:
    seat, record = state.seats.get(identity.seat), state.agents.get(identity.seat)
    if seat is None or record is None or seat.launch != identity.launch:
        return False
    return bool(identity.conversation) and record.get("session_ref") != identity.conversation


def _fact(fact: Fact, identity: Identity, *, at: str, new_id: Callable[[], str]) -> Event:
    return Event(
        id=new_id(),
        at=at,
        seat=identity.seat,
        launch=identity.launch,
        cycle=identity.cycle,
        fact=fact,
    )


def _number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 7 else None


def _conversation(environ: Mapping[str, str]) -> str:
    """Return the id of the agent's conversation if its environment contains it; else empty."""
    name = environ.get("AGENTMUX_LEARN", "")
    conversation = environ.get(name, "") if name not in {"", "hook"} else ""
    return conversation if is_conversation(conversation) else ""


def is_conversation(text: str) -> bool:
    """Return whether ``text`` has the form of a conversation's id."""
    if not text:
        return False
    from agentmux.core.agents.spec import is_session_ref

    return is_session_ref(text)
