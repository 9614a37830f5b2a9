"""Checks the demo's promises against the session's journal and the agents' own trace. Pure.

The demo promises that a crash and a resume lose nothing, and that nothing is done twice.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from agentmux.core.codec.frozen import dataclass
from agentmux.core.journal import events
from agentmux.core.names.conversations import conversation
from agentmux.core.names.phase import CODER
from agentmux.core.names.statuses import PASSED
from agentmux.core.pipeline.registry import TERMINAL
from agentmux.demo.follower import JournalStep

INTERRUPTED: Final = "coder-2"
"""The seat whose agent is working when the tmux server is killed."""
FINISHED: Final = "coder-1"
"""The seat whose agent is done when the tmux server is killed."""

# How often each signal must be accepted. The first failing verdict ends a review, so the verdict of
# the other reviewer may be missing: 1 or 2.
_EXPECTED: Final[Mapping[tuple[str, str], tuple[int, ...]]] = {
    ("architect", "submit_architecture"): (1,),
    ("planner", "submit_plan"): (1,),
    ("coder-1", "submit_done"): (1,),
    ("coder-2", "submit_done"): (1,),
    ("coder", "submit_done"): (1,),
    ("reviewer_logic", "submit_review"): (2,),
    ("reviewer_quality", "submit_review"): (1, 2),
    ("reviewer_logic", "submit_summary"): (1,),
    ("user", "approve"): (1,),
}

_CHECKED: Final = 2
"""How often the check runs: before the first review, and after the fix."""

_ACCEPTED: Final = "-> 0"
"""The end of `TraceLine.what` for a signal that was accepted: its command had exit status 0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """The result of checking one promise of the demo.

    Attributes:
        holds: Whether the promise was kept.
        text: What was found, in words.
    """

    holds: bool
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """The time that the session spent in a phase, from entering it to leaving it.

    Attributes:
        phase: The phase.
        iteration: The iteration in which the session was in that phase.
        start: When the session entered the phase, in seconds of Unix time.
        end: When the session left the phase, in seconds of Unix time.
    """

    phase: str
    iteration: int
    start: float
    end: float


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceLine:
    """One line of the agents' trace: something that an agent did.

    Attributes:
        seat: The agent's seat.
        launch: The id of the agent's launch.
        did: The action: ``prompted``, ``wrote``, ``signalled``, ``asked`` (for research),
            ``remembered`` (a code word) or ``crashed``.
        what: The prompt, the paths written, or the command with its exit status.
    """

    seat: str
    launch: str
    did: str
    what: str


def read_trace(text: str) -> tuple[TraceLine, ...]:
    """Parse the content of the agents' trace file; ignore an incomplete last line.

    The trace is what the offline agents did, one JSON object per line, as `Trace` writes it. The
    lines are returned in the order of the file.
    """
    whole, _, _ = text.rpartition("\n")
    return tuple(_work(json.loads(line)) for line in whole.splitlines())


def _work(fields: Mapping[str, Any]) -> TraceLine:
    return TraceLine(
        seat=str(fields["seat"]),
        launch=str(fields["launch"]),
        did=str(fields["did"]),
        what=str(fields["what"]),
    )


def spans(steps: Sequence[JournalStep]) -> tuple[Span, ...]:
    """Return one span for each time the session was in a phase and an iteration, in order.

    ``steps`` are all events of the session. The phase that the session is in now is left out.
    """
    return tuple(_spans(steps))


def _spans(steps: Sequence[JournalStep]) -> Iterator[Span]:
    since = 0.0
    for step in steps:
        left, entered = step.before, step.after
        if (left.phase, left.iteration) == (entered.phase, entered.iteration):
            continue
        if left.phase not in TERMINAL:
            yield Span(phase=left.phase, iteration=left.iteration, start=since, end=step.at)
        since = step.at


def claims(steps: Sequence[JournalStep], trace: Sequence[TraceLine]) -> tuple[Claim, ...]:
    """Check that the demo lost nothing and did nothing twice; return the result of each check.

    A broken promise does not raise: its `Claim.holds` is False.

    Args:
        steps: All events of the session, in order.
        trace: All lines of the agents' trace.
    """
    return (
        _signals_once(steps),
        _agents_agree(steps, trace),
        _files_once(steps, trace),
        _finished_untouched(steps, trace),
        _conversation_went_on(steps),
        _others_once(steps),
        _checks_passed(steps),
    )


def _signals_once(steps: Sequence[JournalStep]) -> Claim:
    counted: Counter[tuple[str, str]] = Counter()
    rounds: Counter[tuple[str, str, int]] = Counter()
    for step in _signals(steps):
        kind = step.event.fact.kind
        counted[step.event.seat, kind] += 1
        rounds[step.event.seat, kind, step.before.iteration] += 1
    wrong = [
        f"{seat} {kind} {counted[seat, kind]} times"
        for seat, kind in sorted(counted.keys() | _EXPECTED.keys())
        if counted[seat, kind] not in _EXPECTED.get((seat, kind), ())
    ]
    wrong += [
        f"{seat} {kind} {n} times in one round" for (seat, kind, _), n in rounds.items() if n > 1
    ]
    if wrong:
        return Claim(holds=False, text=f"signals: {', '.join(wrong)}")
    return Claim(
        holds=True,
        text=f"{counted.total()} signals were accepted, each one once, and none is missing",
    )


def _signals(steps: Iterable[JournalStep]) -> Iterator[JournalStep]:
    """Return the steps of accepted signals and decisions."""
    known = events.SIGNALS | events.USER_DECISIONS
    return (step for step in steps if step.event.fact.kind in known and step.accepted)


def _agents_agree(steps: Sequence[JournalStep], trace: Sequence[TraceLine]) -> Claim:
    """Check the agents' trace against the journal.

    Every signal in the trace must have been accepted, and must be in the journal. The journal may
    have signals that the trace lacks, because an agent can end before it writes to the trace.
    """
    noted = [work for work in trace if work.did == "signalled"]
    given = Counter(work.launch for work in noted)
    taken = Counter(step.event.launch for step in _signals(steps))
    wrong = [
        f"launch {launch} sent {count}, {taken[launch]} counted"
        for launch, count in given.items()
        if count > taken[launch]
    ]
    wrong += [f"{work.seat}: {work.what}" for work in noted if not work.what.endswith(_ACCEPTED)]
    wrong += [
        f"{each.event.seat} {each.event.fact.kind} ignored" for each in steps if not each.accepted
    ]
    if wrong:
        return Claim(holds=False, text=f"agents and journal differ: {', '.join(wrong)}")
    return Claim(
        holds=True,
        text=f"the agents' own trace has {len(noted)} of them: none refused, lost or repeated",
    )


def _files_once(steps: Sequence[JournalStep], trace: Sequence[TraceLine]) -> Claim:
    rounds = {
        step.event.launch: (step.after.phase, step.after.iteration)
        for step in steps
        if isinstance(step.event.fact, events.AgentLaunched)
    }
    written = Counter(
        (work.seat, rounds.get(work.launch), name)
        for work in trace
        if work.did == "wrote"
        for name in (work.what.split() if work.seat.startswith(CODER) else [work.what])
    )
    wrong = [f"{seat} wrote {name} {n} times" for (seat, _, name), n in written.items() if n > 1]
    if wrong or not written:
        return Claim(holds=False, text=f"files: {', '.join(wrong) or 'none was written'}")
    code = sum(seat.startswith(CODER) for seat, _, _ in written)
    other = len(written) - code
    return Claim(
        holds=True,
        text=f"{code} code files and {other} documents were written, each once per iteration",
    )


def _finished_untouched(steps: Sequence[JournalStep], trace: Sequence[TraceLine]) -> Claim:
    launched = [step for step in _launches(steps) if step.event.seat == FINISHED]
    prompts = [work for work in trace if work.seat == FINISHED and work.did == "prompted"]
    return Claim(
        holds=len(launched) == len(prompts) == 1,
        text=f"{FINISHED} was done before the kill: launched {_times(len(launched))}, "
        f"prompted {_times(len(prompts))}",
    )


def _conversation_went_on(steps: Sequence[JournalStep]) -> Claim:
    launches = [step.event.fact for step in _launches(steps) if step.event.seat == INTERRUPTED]
    facts = [fact for fact in launches if isinstance(fact, events.AgentLaunched)]
    conversations = {str(fact.record.get("session_ref")) for fact in facts}
    modes = [fact.mode for fact in facts]
    one = len(conversations) == 1
    where = "one conversation" if one else "several conversations"
    return Claim(
        holds=one and modes == ["fresh", "native"],
        text=f"{INTERRUPTED} was killed at work: launched {_times(len(facts))} "
        f"({', then '.join(map(conversation, modes))}), in {where}",
    )


def _others_once(steps: Sequence[JournalStep]) -> Claim:
    counted = Counter(
        (step.event.seat, step.after.phase, step.after.iteration)
        for step in _launches(steps)
        if step.event.seat != INTERRUPTED
    )
    wrong = [f"{seat} {n} times in {phase}" for (seat, phase, _), n in counted.items() if n > 1]
    if wrong:
        return Claim(holds=False, text=f"launches: {', '.join(wrong)}")
    return Claim(
        holds=True, text=f"each of the other {counted.total()} launches had work of its own"
    )


def _checks_passed(steps: Iterable[JournalStep]) -> Claim:
    """Check that the project's own checks ran twice, before and after the fix, and passed."""
    facts = [step.event.fact for step in steps]
    ran = [fact for fact in facts if isinstance(fact, events.CheckDone)]
    failed = [f"{fact.name}: {fact.outcome}" for fact in ran if fact.outcome != PASSED]
    good = len(ran) == _CHECKED and not failed
    text = f"the check of the project ran {_times(len(ran))}"
    return Claim(holds=good, text=f"{text}, and passed" if not failed else f"{text}: {failed}")


def _launches(steps: Iterable[JournalStep]) -> Iterator[JournalStep]:
    return (step for step in steps if isinstance(step.event.fact, events.AgentLaunched))


def _times(count: int) -> str:
    return {1: "once", 2: "twice"}.get(count, f"{count} times")
