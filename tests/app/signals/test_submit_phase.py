"""What the agent of a phase of one's own hands in: every file of the phase, by its schema."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import pytest

from agentmux.adapters.wake.pipe import poke
from agentmux.app.signals.submission import SubmitAnswer, identity_from, submit
from agentmux.core.codec.digests import sha256
from agentmux.core.definitions.definition import Kind, Leaf, PhaseDefinition, PipelineDefinition
from agentmux.core.fold.signals.description import Submission
from agentmux.core.names import layout
from agentmux.errors import DataError
from tests.app.on_disk import AT, OnDisk

IDS = itertools.count(1)
SCHEMA = json.dumps({"type": "object", "required": ["threats"]})
DIGEST = sha256(SCHEMA.encode()).hexdigest()
MINE = PipelineDefinition(
    name="mine",
    phases=(
        PhaseDefinition(
            phase="threats",
            kind=Kind.DOCUMENT,
            folder="found",
            roles=("security",),
            leaves=(Leaf(file="threats.md"), Leaf(file="threats.yaml", schema="s/threats.json")),
        ),
        PhaseDefinition(phase="end", kind=Kind.COMPLETE, folder="end", roles=("security",)),
    ),
)


@pytest.fixture
def session(tmp_path: Path) -> OnDisk:
    made = OnDisk(
        tmp_path / "s", phase="threats", pipeline=MINE, pipeline_files={"s/threats.json": DIGEST}
    )
    made.leave(layout.frozen(DIGEST), SCHEMA)
    return made


def hand_in(session: OnDisk, phase: str = "threats") -> SubmitAnswer:
    return submit(
        session.files,
        identity_from(session.launch("security"), command="agentmux submit"),
        Submission(signal="submit_phase", phase=phase),
        at=AT,
        new_id=lambda: f"n{next(IDS)}",
        poke=poke,
    )


def test_all_files_together_are_one_signal(session: OnDisk) -> None:
    session.leave("found/threats.md", "none")
    session.leave("found/threats.yaml", {"threats": []})
    assert hand_in(session).result == "accepted"
    fact = session.events[-1].fact
    assert fact.kind == "submit_phase"
    assert session.state.phase == "end"
    assert hand_in(session).result in {"ignored", "duplicate"}


def test_everything_that_is_wrong_is_listed(session: OnDisk) -> None:
    session.leave("found/threats.yaml", {"threat": []})
    answer = hand_in(session)
    assert answer.result == "refused"
    assert answer.problems == (
        "found/threats.md: missing",
        "found/threats.yaml: 'threats' is a required property",
    )
    assert answer.reason.startswith(f"2 problems in `{session.files.path / 'found'}`:")
    session.leave("found/threats.md", " \n")
    session.leave("found/threats.yaml", "a: &b 1\nc: *b\n")
    problems = hand_in(session).problems
    assert problems[0] == "found/threats.md: empty"
    assert problems[1].startswith("found/threats.yaml: line 1: an anchor")
    assert "submit_phase" not in session.kinds


def test_a_schema_that_was_changed_in_the_session_is_not_used(session: OnDisk) -> None:
    session.leave("found/threats.md", "none")
    session.leave("found/threats.yaml", {})
    session.leave(layout.frozen(DIGEST), "{}")
    with pytest.raises(DataError, match="it was changed"):
        hand_in(session)


@pytest.mark.parametrize("phase", ["threat", "end", "\x1b[31m", ""])
def test_another_phase_is_refused_with_those_that_there_are(session: OnDisk, phase: str) -> None:
    answer = hand_in(session, phase)
    assert answer.result in {"refused", "ignored"}
    if answer.result == "refused":
        assert "it is for: `threats`" in answer.problems[0]
        assert answer.problems[0].isprintable()
