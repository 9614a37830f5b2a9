import json

from agentmux.core.journal.events import (
    FACTS,
    AgentLaunched,
    ConversationLearned,
    Event,
    Fact,
    LaunchChosen,
    SeatAnswered,
    SeatTold,
    SessionStarted,
    encode,
)
from agentmux.core.moving.redaction import without_secrets

SECRET = "sk-very-secret"
RECORD = {
    "agent": "claude",
    "strategy": "assign",
    "launch_argv": ["claude", SECRET],
    "resume_argv": ["claude", "--resume", SECRET],
    "latest_argv": [SECRET],
    "env": {"TOKEN": SECRET},
    "session_ref": SECRET,
    "home": SECRET,
    "cwd": SECRET,
    "runtime": SECRET,
    "checkpoint": SECRET,
    "host": "box",
    "epoch": {"phase": "planning"},
    "previous": {"env": {"TOKEN": SECRET}},
    "made_by_a_later_version": SECRET,
}
FACTS_WITH = (
    AgentLaunched(role="coder", record=RECORD, mode="fresh", reason="x"),
    LaunchChosen(choice="fresh", mode="fresh", reason="x", record=RECORD),
    ConversationLearned(conversation=SECRET, source="hook"),
    SeatTold(text=SECRET),
    SeatAnswered(keys=(SECRET,), screen=SECRET),
    SessionStarted(
        state={
            "phase": "planning",
            "agents": {"coder": RECORD, "odd": SECRET},
            "inputs": [{"text": SECRET}],
            "tmux_socket": SECRET,
            "setup": {"steps": [{"run": [SECRET]}]},
        }
    ),
)


def redacted(fact: Fact) -> str:
    event = Event(id="1", at="", seat="coder", launch="l", cycle=1, fact=fact)
    return json.dumps(encode(without_secrets(event)))


def test_nothing_private_is_left() -> None:
    for fact in FACTS_WITH:
        assert SECRET not in redacted(fact), fact
        assert fact.kind in FACTS


def test_what_the_seat_has_done_is_kept() -> None:
    assert '"agent": "claude"' in redacted(FACTS_WITH[0])
    assert '"epoch": {"phase": "planning"}' in redacted(FACTS_WITH[0])
