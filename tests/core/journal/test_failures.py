"""Words about a failure are cut before they are recorded."""

from agentmux.core.journal.events import CommitFailed, CommitMade, SessionInterrupted, StepFailed
from agentmux.core.journal.failures import REASON_MAX, shorten_failure


def test_what_people_can_read_stays() -> None:
    fact = CommitFailed(reason="x" * REASON_MAX)
    assert shorten_failure(fact) is fact


def test_of_too_many_words_the_beginning_and_the_end_stay() -> None:
    long = "what failed" + "x" * 20_000_000 + "why"
    found = shorten_failure(CommitFailed(reason=long))
    assert len(found.reason) == REASON_MAX
    assert found.reason.startswith("what failed")
    assert found.reason.endswith("why")
    assert "[…]" in found.reason
    assert len(shorten_failure(SessionInterrupted(cause=long)).cause) == REASON_MAX


def test_what_the_next_cycle_needs_is_cut_too() -> None:
    made = StepFailed(approval="a", step="merge", reason="r", record={"base": "b", "c": "x" * 9000})
    found = shorten_failure(made)
    assert (found.reason, found.record["base"], len(found.record["c"])) == ("r", "b", REASON_MAX)


def test_other_facts_stay() -> None:
    fact = CommitMade(commit="c" * 40)
    assert shorten_failure(fact) is fact
