"""What a user is shown before a decision, and the digest of it."""

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from agentmux.app.delivery.approval.deliverable import decision_digest, deliverable
from agentmux.app.session.search.lookup import sessions_dir
from agentmux.core.journal.results import PhaseResult
from agentmux.core.journal.state import Options, SessionState
from agentmux.core.names.phase import Phase
from agentmux.wiring import build
from tests.app.driver import make_project

SUMMARY = "08_completion/summary.md"


class Shown:
    """A session that waits for a decision, in the checkout."""

    def __init__(self, folder: Path) -> None:
        self.project = make_project(folder / "project")
        (self.project / "agent.txt").write_text("x\n")
        self.home = sessions_dir(self.project) / "20260101-101500-x"
        (self.home / SUMMARY).parent.mkdir(parents=True)
        (self.home / SUMMARY).write_text("# What was made\n")
        self.world = build.world(self.project, environ=dict(os.environ))
        head = self.world.repository.head()
        self.state = SessionState(
            phase=Phase.COMPLETING,
            feature="Add it",
            branch=head.branch,
            options=Options(commit=True, base=head.commit),
            results={"reviewing": PhaseResult(verdicts={"reviewer_logic": "pass"})},
        )

    def digest(self) -> str:
        files = self.world.files(self.home)
        return decision_digest(files, self.state, deliverable(self.world, self.state))


@pytest.fixture
def shown(tmp_path: Path) -> Shown:
    return Shown(tmp_path)


def change_state(**values: object) -> Callable[[Shown], None]:
    def change(shown: Shown) -> None:
        shown.state = replace(shown.state, **values)  # type: ignore[arg-type]  # by name

    return change


CHANGES: dict[str, Callable[[Shown], object]] = {
    "a file": lambda shown: (shown.project / "agent.txt").write_text("y\n"),
    "a mode": lambda shown: (shown.project / "agent.txt").chmod(0o755),
    "a new file": lambda shown: (shown.project / "more.txt").write_text("x\n"),
    "a file is gone": lambda shown: (shown.project / "README.md").unlink(),
    "the summary": lambda shown: (shown.home / SUMMARY).write_text("# Something else\n"),
    "the cycle": change_state(cycle=2),
    "the phase": change_state(phase=Phase.REVIEWING),
    "a verdict": change_state(
        results={"reviewing": PhaseResult(verdicts={"reviewer_logic": "fail"})}
    ),
    "the outcome": change_state(
        results={"reviewing": PhaseResult(verdicts={"reviewer_logic": "pass"}, outcome="capped")}
    ),
    "the message": change_state(feature="Add another"),
}


@pytest.mark.parametrize("what", CHANGES)
def test_whatever_changes_of_what_is_shown_changes_the_digest(shown: Shown, what: str) -> None:
    before = shown.digest()
    assert shown.digest() == before
    CHANGES[what](shown)
    assert shown.digest() != before


def test_what_is_not_delivered_does_not_change_the_digest(shown: Shown) -> None:
    mine = {"mine.txt": "x\n"}
    dirty = Options(commit=True, base=shown.state.options.base, dirty=tuple(mine))
    shown.state = replace(shown.state, options=dirty)
    before = shown.digest()
    (shown.project / "mine.txt").write_text(mine["mine.txt"])
    shown.state = replace(shown.state, revision=7, updated_at="2026-01-01T00:00:00Z")
    assert shown.digest() == before


def test_where_nothing_is_committed_git_is_not_asked(tmp_path: Path) -> None:
    world = build.world(tmp_path, environ=dict(os.environ))
    state = SessionState(phase=Phase.COMPLETING, feature="Add it", options=Options(commit=False))
    found = deliverable(world, state)
    assert (found.message, found.paths, found.tree) == ("Add it", (), "")
    assert decision_digest(world.files(tmp_path), state, found)
