"""The line that the log and the monitor show for an accepted signal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from agentmux.core.journal.events import (
    Approved,
    ArchitectureDone,
    ChangesRequested,
    CodeDone,
    CodeResearchDispatched,
    DesignDone,
    Event,
    Fact,
    PlanDone,
    PmDone,
    ResearchDone,
    ReviewDone,
    SummaryDone,
    WebResearchDispatched,
)

_HANDED_IN: Final[Mapping[type, str]] = {
    PmDone: "handed in the requirements",
    ArchitectureDone: "handed in the architecture",
    PlanDone: "handed in the plan",
    DesignDone: "handed in the design",
    SummaryDone: "handed in the summary",
    CodeDone: "handed in the fix",
    Approved: "approved",
    ChangesRequested: "asked for changes",
}


def signal_message(event: Event) -> str:
    """Return the line for an accepted signal; empty if the signal is not shown."""
    said = words_for(event.fact)
    return f"{event.seat}: {said}" if said else ""


def words_for(fact: Fact) -> str:
    """Return what a signal did, such as ``asked for changes``; empty for a fact without words."""
    match fact:
        case CodeDone(subplan_index=int(index)):
            return f"handed in sub-plan {index}"
        case ReviewDone(verdict=verdict):
            return f"handed in a review: {verdict}"
        case ResearchDone(topic=topic):
            return f"handed in the research `{topic}`"
        case CodeResearchDispatched(topic=topic) | WebResearchDispatched(topic=topic):
            return f"asked for the research `{topic}`"
        case _:
            return _HANDED_IN.get(type(fact), "")
