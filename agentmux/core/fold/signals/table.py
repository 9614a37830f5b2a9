"""The descriptions of all signals and decisions, collected."""

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
"""The signals of agents by kind, in the order of `FACTS`."""

JUDGED: Final[Mapping[str, JudgedDescription]] = {
    **DESCRIPTIONS,
    **{each.fact.kind: each for each in DECISIONS},
}
"""The signals and the decisions by kind."""


def signal_message(event: Event) -> str:
    """Return the line that the log and the monitor show; empty if the signal is not shown."""
    words = words_for(event.fact)
    return f"{event.seat}: {words}" if words else ""


def words_for(fact: Fact) -> str:
    """Return what a signal did, such as ``asked for changes``; empty for a fact without words."""
    described = JUDGED.get(fact.kind)
    return described.words(fact) if described is not None else ""
