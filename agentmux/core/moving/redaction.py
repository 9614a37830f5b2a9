"""Removes command lines, environments and conversations from the events of an exported journal.

Resume records name the config homes of agents, and may contain secrets that a user put into a
command line or an environment. Keys that a user had AgentMux press in a pane may be a password.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from agentmux.core.agents.spec import StrategyKind
from agentmux.core.codec.frozen import replace
from agentmux.core.codec.records import Json
from agentmux.core.journal.events import (
    AgentLaunched,
    AgentParked,
    ConversationLearned,
    Event,
    Fact,
    LaunchChosen,
    Resumed,
    SeatAnswered,
    SeatTold,
    SessionArrived,
    SessionImported,
    SessionMoved,
    SessionStarted,
)

_KEPT: Final = (
    *("agent", "model", "host", "launch", "reached", "captured_at"),
    *("epoch", "place", "handed_in"),
)
"""The fields of a resume record that are exported: they say nothing about command lines."""

_OWN: Final = ("tmux_socket", "parked", "inputs", "moved", "arrived", "seats")
"""The fields of a state that have no meaning on another machine."""


def without_conversation(record: Json) -> dict[str, Any]:
    """Return the fields of a resume record that may leave this machine.

    The result is a new mapping. Command lines, environments and all that leads to a conversation
    are left out. Its ``strategy``, the way in which a conversation comes back, is ``none``, so that
    nothing is resumed.
    """
    kept = {name: record[name] for name in _KEPT if name in record}
    return {**kept, "strategy": StrategyKind.NONE.value}


def without_secrets(event: Event) -> Event:
    """Return the event as an exported journal has it.

    It is without command lines, environments, conversations, the user's messages and keys, and this
    machine's paths.
    """
    return replace(event, fact=_redact_fact(event.fact))


def _redact_fact(fact: Fact) -> Fact:
    if isinstance(fact, SessionStarted | SessionImported | SessionArrived):
        return replace(fact, state=_state(fact.state))
    if isinstance(fact, AgentLaunched | LaunchChosen):
        return replace(fact, record=without_conversation(fact.record) if fact.record else {})
    return replace(fact, **_BLANKED.get(type(fact), {}))


_BLANKED: Final[Mapping[type[Fact], Mapping[str, Any]]] = {
    ConversationLearned: {"conversation": ""},
    SeatAnswered: {"keys": (), "screen": ""},
    SeatTold: {"text": ""},
    Resumed: {"tmux_socket": ""},
    AgentParked: {"home": ""},
    SessionMoved: {"to": "", "digest": ""},
}
"""The fields that are blanked before the export, by the kind of event, with their blank values."""


def _state(fields: Json) -> dict[str, Any]:
    kept = {name: value for name, value in fields.items() if name not in _OWN}
    agents = fields.get("agents")
    if isinstance(agents, Mapping):
        kept["agents"] = {
            seat: without_conversation(record)
            for seat, record in agents.items()
            if isinstance(record, Mapping)
        }
    for place in ("setup", "base_checks"):
        value = kept.get(place)
        if isinstance(value, Mapping):
            kept[place] = {**value, "steps": []}
    return kept
