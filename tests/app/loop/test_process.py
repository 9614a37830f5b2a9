"""Signals that are accepted during a resume are not lost."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from agentmux.adapters.disk.session.session_files import FileSession
from agentmux.app.commands.resume.orchestrator_request import OrchestratorRequest
from agentmux.app.loop.process import begin
from agentmux.app.session.writer import Session
from agentmux.app.signals.submission import SubmitAnswer, decide, identity_from, submit
from agentmux.app.world import World
from agentmux.core.fold.signals.description import Submission as Handin
from agentmux.core.journal.events import ChangesRequested
from agentmux.core.journal.state import SessionState
from agentmux.core.names.phase import Phase
from agentmux.core.names.statuses import PASSED
from agentmux.core.pipeline.artifacts import Artifacts
from agentmux.core.pipeline.work import find_work
from agentmux.overriding import override
from agentmux.wiring import build
from tests.app.driver import SimPane, Studio, make_project
from tests.app.on_disk import AT, OnDisk, implementing
from tests.core.builders import LOGIC, execution_plan, review


class Overtaken(FileSession):
    """Session files: after the first reading of the artifacts, ``other`` is called once."""

    def __init__(self, path: Path, other: Callable[[], None]) -> None:
        super().__init__(path)
        self._others = [other]

    @override
    def artifacts(self, state: SessionState) -> Artifacts:
        found = super().artifacts(state)
        while self._others:
            self._others.pop()()
        return found


@dataclass
class Resuming:
    """A session on disk, and a resume of it during which a signal arrives."""

    disk: OnDisk
    world: World

    def go(self, other: Callable[[FileSession], SubmitAnswer]) -> SessionState:
        said: list[SubmitAnswer] = []
        files = Overtaken(self.disk.path, lambda: said.append(other(FileSession(self.disk.path))))
        session = Session(files, now=self.world.now, new_id=self.world.new_id)
        begin(self.world, session, OrchestratorRequest(mode="resume"), "/nowhere")
        assert [each.result for each in said] == ["accepted"]
        return session.state


def resuming(disk: OnDisk) -> Resuming:
    disk.leave("02_architecting/architecture.md", "# A\n")
    return Resuming(disk, build.world(disk.path.parents[2], environ=dict(os.environ)))


def place(tmp_path: Path) -> Path:
    return make_project(tmp_path / "p") / ".agentmux" / ".sessions" / "20260101-101500-x"


def test_a_decision_that_comes_while_a_resume_begins_counts(tmp_path: Path) -> None:
    disk = OnDisk(
        place(tmp_path), Phase.COMPLETING, review_outcome=PASSED, subplan_count=1,
        completed_subplans=(1,), summary_submitted=True, reviewer_nominations=(LOGIC,),
    )  # fmt: skip
    disk.leave("04_planning/execution_plan.yaml", execution_plan(("serial", [1])))
    disk.leave("06_implementation/done_1", "")
    disk.leave("07_review/review_logic.yaml", review("pass"))
    disk.leave("07_review/review.md", "Verdict: pass\n")
    disk.leave("08_completion/summary.md", "# All of it\n")
    resumed = resuming(disk)

    def more(files: FileSession) -> SubmitAnswer:
        fact = ChangesRequested(text="Subtract, too.")
        return decide(files, fact, at=AT, new_id=resumed.world.new_id, poke=lambda _: False)

    state = resumed.go(more)
    assert (state.phase, state.cycle) == (Phase.ARCHITECTING, 2)
    assert "resumed" in disk.kinds[disk.kinds.index("request_changes") :]


def test_work_that_is_handed_in_while_a_resume_begins_counts(tmp_path: Path) -> None:
    disk = implementing(place(tmp_path), 2)
    disk.leave("04_planning/execution_plan.yaml", execution_plan(("parallel", [1, 2])))
    env = disk.launch("coder-1", subplan=1)
    disk.launch("coder-2", subplan=2)
    disk.commit()
    resumed = resuming(disk)
    coder = identity_from(env, command="agentmux submit")

    def hand_in(files: FileSession) -> SubmitAnswer:
        new_id = resumed.world.new_id
        request = Handin(signal="submit_done")
        return submit(files, coder, request, at=AT, new_id=new_id, poke=lambda _: False)

    state = resumed.go(hand_in)
    assert state.completed_subplans == (1,)
    assert [work.seat for work in find_work(state)] == ["coder-2"]


def test_a_session_that_is_done_keeps_nothing_half_written(tmp_path: Path) -> None:
    studio = Studio(make_project(tmp_path / "project"), dict(os.environ), cycles=1)
    studio.start()
    pipe = studio.session / "ready-1-1-00ff.fifo"  # left by a command that was killed
    begin_agent, left = studio.terminal.begin, [pipe]

    def killed_while_writing(pane: SimPane) -> None:
        folder = studio.session / "launches" / pane.launch
        for name in (".tmp-0123456789abcdef", "exit.json.tmp"):
            (folder / name).write_text("{")
            left.append(folder / name)
        begin_agent(pane)

    studio.terminal.begin = killed_while_writing
    os.mkfifo(pipe)
    studio.drive("start")
    assert len(left) > 1
    assert [path for path in left if path.exists()] == []
