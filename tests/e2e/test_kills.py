"""Real tmux and processes: kill -9 at each kind of operation, then resume to the same result.

`tests/app/test_crash_sweep.py` kills at every operation, on a terminal in memory. Here each kind
of operation is tested once with everything real: the orchestrator is killed alone, and together
with the tmux server.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from agentmux.adapters.disk.lock import SessionLock
from agentmux.adapters.disk.session.session_files import FileSession
from tests.app.invariants import check_journal, history, phases
from tests.conftest import _wait_until
from tests.e2e.conftest import Project, Session, make_root

pytestmark = pytest.mark.long

FAULTS = Path(__file__).parent.parent / "faults"
LIFE: Mapping[str, Any] = {
    "roles": {
        "architect": {"reviewers": ["logic", "quality"]},
        "planner": {"plan": {"parts": 2}},
        "reviewer_logic": {
            "commit_message": "Add a greeting",
            "attempts": [{"when": {"iteration": 0}, "verdict": "fail"}],
        },
    }
}
"""A scenario with two parallel coders, two reviewers, one failed review and its fix."""


@dataclass(frozen=True, slots=True)
class Kill:
    """A kill before an orchestrator's ``count``-th operation of this kind."""

    name: str
    place: str
    count: int
    approved: bool = False


EARLY = (
    Kill("write", r"tool_events\.jsonl", 3),
    Kill("replace", r"launches/.*/launch\.json", 1),
    Kill("replace", r"04_planning/execution_plan\.yaml", 1),
    Kill("link", r"\.tmp-.*", 3),
    Kill("run", r"neww", 1),
    Kill("fsync", r"tool_events\.jsonl", 6),
    Kill("mkdir", r"launches/.*", 1),
)
LATE = (
    Kill("replace", r"state\.json", 9),
    Kill("replace", r"tool_event_state\.json", 4),
    Kill("rename", r"history/.*", 1),
    Kill("run", r"killp", 1),
    Kill("unlink", r"\.tmp-.*", 3),
    Kill("run", r"git (-c \S+ )*commit ", 1, approved=True),
    Kill("run", r"git (-c \S+ )*reset ", 1, approved=True),
)


RARE = pytest.mark.rare("CI kills with and without the server, each at half of the operations")


def outcome(session: Session) -> tuple[str, ...]:
    """Return what must be the same after any kill: the tree, the commit message, the phases."""
    said = session.project.git("log", "-1", "--format=%T%n%B").splitlines()
    files = FileSession(session.path)
    kept = [line for line in said if line and not line.startswith("Agentmux-Event: ")]
    assert len(said) > len(kept)
    return (*kept, *map(str, phases(history(files.tail(0)))))


@pytest.fixture(scope="module")
def wanted() -> Iterator[tuple[str, ...]]:
    """The outcome of a run without kills."""
    project = Project(make_root())
    try:
        project.scenario(LIFE)
        yield outcome(project.start().wait().approve())
    finally:
        project.close()


@pytest.mark.parametrize(
    ("kills", "server"),
    [
        pytest.param(EARLY, False, id="early", marks=RARE),
        pytest.param(LATE, True, id="late, with the server"),
        pytest.param(EARLY, True, id="early, with the server", marks=RARE),
        pytest.param(LATE, False, id="late", marks=RARE),
    ],
)
def test_kills_at_every_kind_of_operation(
    kills: Sequence[Kill], server: bool, project: Project, wanted: tuple[str, ...]
) -> None:
    faults = project.root / "faults"
    faults.mkdir()
    for number, kill in enumerate(kills):
        fields = {"name": kill.name, "place": kill.place, "count": kill.count, "server": server}
        (faults / f"{number:02}.json").write_text(json.dumps(fields))
    project.env |= {"AGENTMUX_TEST_FAULTS": str(faults), "PYTHONPATH": str(FAULTS)}
    project.scenario(LIFE)
    session = project.start()
    for number, kill in enumerate(kills):
        if kill.approved and session.state["approval"] is None:
            session.wait()
            # The command waits for the orchestrator that is killed meanwhile.
            said = project.run("approve", session.name, "--yes")
            assert said.returncode in {0, 9}, said.stderr
        fired = faults / f"{number:02}.json.fired"
        _wait_until(fired.exists, 30, lambda: f"{kill}: {project.run('status').stdout}")  # noqa: B023
        gone_on(session, faults / f"{number + 1:02}.json.fired", server=server)
    if session.state["approval"] is None:
        session.wait().approve()
    session.wait("done")
    check_journal(session.path)
    assert outcome(session) == wanted
    assert project.git("log", "--format=%s").splitlines() == ["Add a greeting", "Begin"]
    assert project.git("status", "--porcelain") == ""


def gone_on(session: Session, killed: Path, *, server: bool) -> None:
    """Resume after a kill; the resume may fail only if it was killed, so that ``killed`` exists."""
    _wait_until(lambda: not SessionLock(session.path).is_held(), 10)
    words = ("--yes",) if server else ("--reattach",)
    done = session.project.run("resume", session.name, "--detach", *words)
    assert done.returncode == 0 or killed.exists(), done.stderr


def test_a_pane_that_was_never_made_gets_its_prompt_typed(project: Project) -> None:
    """The launch is in the journal, but has no pane: the next orchestrator makes it and types."""
    fault = project.root / "faults" / "00.json"
    fault.parent.mkdir()
    fault.write_text(json.dumps({"name": "run", "place": "neww", "count": 1, "server": False}))
    project.env |= {"AGENTMUX_TEST_FAULTS": str(fault.parent), "PYTHONPATH": str(FAULTS)}
    project.scenario({"roles": {"architect": {"silent": True}}})
    answer = project.json("start", "--agent", "demo-paste", "--", "add a greeting")
    session = Session(project, project.path / answer["path"])
    _wait_until(fault.with_suffix(".json.fired").exists, 30)
    gone_on(session, project.root / "nobody", server=False)
    session.settled("architect")
    assert session.launched() == ["architect"]
