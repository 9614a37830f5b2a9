"""Sessions recorded by each release still fold to the same state and next actions.

A changed expected file needs a decision in docs/decisions/. To add a release, put its journals
beside the others, and run this file as a program.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agentmux.core.decisions.next_actions import Facts, next_actions
from agentmux.core.fold.apply import fold
from agentmux.core.journal.events import parse
from agentmux.core.journal.state import SessionState, encode
from agentmux.core.names.phase import Phase
from agentmux.core.pipeline.artifacts import Artifacts

GOLDEN = Path(__file__).resolve().parent.parent / "golden"
CASES = sorted(GOLDEN.glob("*/*.jsonl"))


def decide_from(journal: Path) -> dict[str, Any]:
    """Fold a journal, and return the state and the next actions in an empty world."""
    offset = 0
    events = []
    for line in journal.read_bytes().splitlines(keepends=True):
        offset += len(line)
        events.append((parse(json.loads(line)), offset))
    state = fold(SessionState(phase=Phase.FAILED), events)
    actions = next_actions(state, Facts(artifacts=Artifacts()))
    found: dict[str, Any] = json.loads(
        json.dumps({"state": encode(state), "next": [repr(action) for action in actions]})
    )
    return found


def only_recorded(now: Any, recorded: Any) -> Any:
    """Return ``now`` without the fields, at any depth, that the recorded value does not have."""
    if not (isinstance(now, dict) and isinstance(recorded, dict)):
        return now
    return {key: only_recorded(now.get(key), value) for key, value in recorded.items()}


@pytest.mark.parametrize("journal", CASES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_a_recorded_session_still_decides_the_same(journal: Path) -> None:
    expected = json.loads(journal.with_suffix(".expected.json").read_text(encoding="utf-8"))
    found = decide_from(journal)
    # A newer version may have more fields, but no recorded field may change.
    assert only_recorded(found["state"], expected["state"]) == expected["state"]
    assert found["next"] == expected["next"]


def test_there_are_recorded_sessions() -> None:
    assert CASES


if __name__ == "__main__":
    for case in CASES:
        expected = case.with_suffix(".expected.json")
        if not expected.exists():
            expected.write_text(json.dumps(decide_from(case), indent=1) + "\n", encoding="utf-8")
