"""The tables of all signals and user decisions, and the words that describe them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from agentmux.core.fold.signals.decisions import DECISIONS
from agentmux.core.fold.signals.description import JudgedDescription, SignalDescription
from agentmux.core.fold.signals.documents import DOCUMENTS
from agentmux.core.fold.signals.research import RESEARCH
from agentmux.core.fold.signals.work import WORK
from agentmux.core.journal.events import FACTS, SIGNALS, Event, Fact

_BY_KIND: Final = {each.fact.kind: each for each in (*DOCUMENTS, *WORK, *RESEARCH)}

DESCRIPTIONS: Final[Mapping[str, SignalDescription]] = {
    kind: _BY_KIND[kind] for kind in FACTS if kind in SIGNALS
}
"""The signals of agents by their kind, in the order of `FACTS`."""

JUDGED: Final[Mapping[str, JudgedDescription]] = {
    **DESCRIPTIONS,
    **{each.fact.kind: each for each in DECISIONS},
}
"""The signals of agents and the decisions of users, by their kind."""


def signal_message(event: Event) -> str:
    """Return the line that the log and the monitor show for an event, such as ``user: approved``.

    Empty for an event that they do not show.
    """
    words = words_for(event.fact)
    return f"{event.seat}: {words}" if words else ""


def words_for(fact: Fact) -> str:
    """Return what the sender of a signal or user decision did, such as ``handed in the plan``.

    Empty for a fact that is not a signal or user decision, or that is not shown.
    """
    described = JUDGED.get(fact.kind)
    return described.words(fact) if described is not None else ""
