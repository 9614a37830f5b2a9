"""The commands of a drive are those that a person would type."""

from agentmux.core.fleet.fleet_request import FleetRequest
from agentmux.fleet.engine.rows import FeatureDecision
from agentmux.fleet.host.command_line import decision_words, start_words

ID = "01234567-89ab-cdef-0123-456789abcdef"


def _decision(kind: str, **more: str) -> FeatureDecision:
    values = {"digest": "abc", "then": "", "begins": "", "text": "x", "by": "", "answer": ""}
    return FeatureDecision(
        id=ID, feature=ID, kind=kind, cycle=1, status="open", **{**values, **more}
    )


def test_a_start_takes_what_was_submitted() -> None:
    request = FleetRequest(
        repo="/r", feature="-x", issue="7", pipeline="quick", agent="codex",
        roles=("coder=claude",), comments=True, product_manager=True,
    )  # fmt: skip
    assert start_words(request, "x-01234567", "main") == (
        *("start", "--detach", "--json", "--worktree", "--name", "x-01234567"),
        *("--pipeline", "quick", "--agent", "codex", "--base", "main", "--issue", "7"),
        *("--role", "coder=claude", "--comments", "--product-manager", "-"),
    )
    alone = start_words(FleetRequest(repo="/r", issue="7"), "issue-7-01234567", "")
    assert alone[-2:] == ("--issue", "7")


def test_a_decision_names_what_was_shown_and_its_own_id() -> None:
    approval = decision_words("s", _decision("approve", then="merge"))
    assert approval[:4] == ("approve", "--json", "--decision", ID)
    assert approval[-6:] == ("--merge", "--timeout", "120", "--digest", "abc", "s")
    changes = decision_words("s", _decision("changes", begins="fixing"))
    assert changes[:4] == ("request-changes", "--json", "--decision", ID)
    assert changes[4:] == ("--session", "s", "--from", "fixing", "--digest", "abc", "-")
