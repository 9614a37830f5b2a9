"""The message that users see for each signal."""

import pytest

from agentmux.core.fold.signals.table import signal_message
from agentmux.core.journal.events import (
    Approved,
    ChangesRequested,
    CodeDone,
    CodeResearchDispatched,
    Fact,
    Hello,
    PlanDone,
    ResearchDone,
    ReviewDone,
)
from tests.core.builders import event


@pytest.mark.parametrize(
    ("fact", "said"),
    [
        (PlanDone(), "x: handed in the plan"),
        (CodeDone(subplan_index=2), "x: handed in sub-plan 2"),
        (CodeDone(), "x: handed in the fix"),
        (ReviewDone(role="reviewer_logic", verdict="fail"), "x: handed in a review: fail"),
        (CodeResearchDispatched(topic="t", question="?"), "x: asked for the research `t`"),
        (ResearchDone(research="web", topic="t"), "x: handed in the research `t`"),
        (Approved(), "x: approved"),
        (ChangesRequested(text="more"), "x: asked for changes"),
        (Hello(), ""),
    ],
)
def test_a_signal_says_what_was_done(fact: Fact, said: str) -> None:
    assert signal_message(event(fact, "x")) == said
