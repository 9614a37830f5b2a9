"""Every file name and journal line is flushed, and in the right order.

Kills cannot test this: data that the kernel has survives a kill, but not a power loss. So all
calls of a whole pipeline are recorded, with its actions on panes and its answers, and their order
is checked.
"""

# Paths are plain strings here, because they are arguments of recorded calls.
# ruff: noqa: PTH112, PTH119, PTH120

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from agentmux.app.signals.submission import SubmitAnswer
from agentmux.core.names import layout
from agentmux.errors import ExitCode
from tests.app.driver import NotedRepository, SimPane, Studio, make_project
from tests.faults.operations import Operation, Operations

IMPLIED = (
    "04_planning/execution_plan.yaml",
    "04_planning/plan_2.md",
    "06_implementation/done_1",
    "06_implementation/done_2",
    "07_review/review.md",
    "07_review/fix_request.md",
    "08_completion/approval.json",
    "03_research/code-numbers/request.md",
    "03_research/code-numbers/done",
    "history/1.1/08_completion/changes.md",
)


@dataclass(frozen=True, slots=True)
class Step:
    """One call of a function of `os`, or a visible action: ``opened``, ``closed``, ``answered``.

    Attributes:
        launches: For a rename, the launches with a pane that hold no seat any more; for a visible
            action, the launches in the committed state.
    """

    name: str
    path: str
    target: str
    thread: int
    launches: frozenset[str] = frozenset()

    @property
    def place(self) -> str:
        return self.target or self.path


class Recorder:
    """Records the steps of a pipeline, with paths relative to the session."""

    def __init__(self, studio: Studio) -> None:
        self.steps: list[Step] = []
        self._studio = studio

    def run(self, patch: pytest.MonkeyPatch) -> None:
        studio, terminal = self._studio, self._studio.terminal
        heard, begin, hang_up = studio.heard, terminal.begin, terminal.hang_up

        def opening(pane: SimPane) -> None:
            self._outside("opened", pane.launch)
            begin(pane)

        def closing(pane: SimPane) -> None:
            self._outside("closed", pane.launch)
            hang_up(pane)

        def answering(answer: SubmitAnswer) -> SubmitAnswer:
            self._outside("answered", "")
            return heard(answer)

        with patch.context() as context:
            context.setattr(terminal, "begin", opening)
            context.setattr(terminal, "hang_up", closing)
            context.setattr(studio, "heard", answering)
            Operations(studio.session, self._add).install(context.setattr)
            assert studio.drive("start", deadline_s=20) is ExitCode.OK

    def _add(self, operation: Operation) -> None:
        if operation.path.endswith(".new"):
            return  # written by an agent
        if operation.name == "mkdir" and os.path.isdir(operation.path):
            return  # does nothing
        target = self._relative(operation.target) if operation.target else ""
        self.steps.append(
            Step(
                name=operation.name,
                path=self._relative(operation.path),
                target=target,
                thread=threading.get_ident(),
                launches=self._strangers() if operation.name == "rename" else frozenset(),
            )
        )

    def _outside(self, name: str, launch: str) -> None:
        self.steps.append(Step(name, launch, "", threading.get_ident(), self._known()))

    def _relative(self, path: str) -> str:
        return os.path.relpath(path, self._studio.session)

    def _strangers(self) -> frozenset[str]:
        """Return the launches that have a pane but hold no seat (any more)."""
        held = {seat.launch for seat in self._studio.state().seats.values()}
        return frozenset(p.launch for p in self._studio.terminal.found.values()) - held

    def _known(self) -> frozenset[str]:
        """Return the launches in the committed state."""
        return frozenset(seat.launch for seat in self._studio.state().seats.values())


@pytest.fixture(scope="module")
def steps(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Step]]:
    folder = tmp_path_factory.mktemp("durable")
    with pytest.MonkeyPatch.context() as patch:
        for name, value in (("HOME", folder), ("XDG_CACHE_HOME", folder / "cache")):
            patch.setenv(name, str(value))
        studio = Studio(make_project(folder / "project"), dict(os.environ))
        assert isinstance(studio.world.repository, NotedRepository)
        studio.world.repository.begin()
        studio.start()
        recorder = Recorder(studio)
        recorder.run(patch)
        yield recorder.steps


def of_thread(steps: list[Step], thread: int) -> list[Step]:
    return [step for step in steps if step.thread == thread]


def is_temporary(path: str) -> bool:
    return os.path.basename(path).startswith(".tmp-")


def test_every_file_is_flushed_before_it_gets_its_name(steps: list[Step]) -> None:
    written: set[str] = set()
    flushed: set[str] = set()
    count = 0
    for step in steps:
        if step.name == "write":
            written.add(step.path)
            flushed.discard(step.path)
        elif step.name == "fsync":
            flushed.add(step.path)
        elif step.name == "link":
            flushed.add(step.target)  # the file was flushed under its first name
        elif step.name == "replace" and is_temporary(step.path):
            assert step.path in flushed, f"{step.target} got its name before it was flushed"
            count += 1
    assert count > 150


def test_every_new_name_is_flushed_before_anything_builds_on_it(steps: list[Step]) -> None:
    """The directory is flushed before the next line, commit, pane or answer."""
    count = 0
    for thread in {step.thread for step in steps}:
        unflushed: dict[str, str] = {}
        for step in of_thread(steps, thread):
            builds = step.name in {"opened", "closed", "answered"} or (
                step.place in {layout.STATE, layout.CURSOR, layout.JOURNAL}
                and step.name in {"replace", "write"}
            )
            if builds:
                assert not unflushed, f"{step.name} {step.place} before a flush of {unflushed}"
            if step.name in {"replace", "rename", "mkdir"} and step.place != layout.STATE_BACKUP:
                for path in filter(None, (step.target or step.path,)):
                    unflushed[os.path.dirname(path) or "."] = path
                count += 1
            elif step.name == "fsync":
                unflushed.pop(step.path, None)
        assert not unflushed
    assert count > 200


def test_a_move_flushes_both_directories(steps: list[Step]) -> None:
    moves = [n for n, step in enumerate(steps) if step.name == "rename"]
    assert len(moves) > 15
    for n in moves:
        step = steps[n]
        following = [s for s in of_thread(steps[n:], step.thread)[1:4] if s.name == "fsync"]
        wanted = {os.path.dirname(step.path), os.path.dirname(step.target)}
        assert wanted <= {s.path for s in following}, step


def test_a_line_is_flushed_before_anything_else_happens(steps: list[Step]) -> None:
    lines = [n for n, step in enumerate(steps) if step == journal_write(step)]
    assert len(lines) > 40
    for n in lines:
        following = of_thread(steps[n:], steps[n].thread)[1]
        assert (following.name, following.path) == ("fsync", layout.JOURNAL)


def journal_write(step: Step) -> Step | None:
    return step if (step.name, step.path) == ("write", layout.JOURNAL) else None


def test_artifacts_come_before_the_commit_and_moves_come_after_it(steps: list[Step]) -> None:
    """For each event, the order is: line, artifacts, state, cursor, moves."""
    implied: set[str] = set()
    moved = unapplied = 0
    last = ""
    for step in steps:
        if journal_write(step):
            last, unapplied = "line", unapplied + 1
        elif step.name == "replace" and step.target in IMPLIED:
            assert unapplied, f"{step.target} was added after its commit, or before its line"
            assert last != "state", f"{step.target} was added after its commit"
            implied.add(step.target)
        elif step.name == "replace" and step.target == layout.STATE:
            last, unapplied = "state", unapplied - 1
        elif step.name == "replace" and step.target == layout.CURSOR:
            assert last == "state", "the cursor was written before the state"
            last = "cursor"
        elif step.name == "rename" and step.target.startswith(layout.HISTORY):
            assert last == "cursor", f"{step.path} was moved before the commit that says so"
            assert not step.launches, "a pane that could write there was still open"
            moved += 1
    assert implied == set(IMPLIED)
    assert moved > 15


def test_a_pane_is_opened_only_for_a_launch_that_is_on_record(steps: list[Step]) -> None:
    opened = [n for n, step in enumerate(steps) if step.name == "opened"]
    assert len(opened) > 12
    for n in opened:
        launch = steps[n].path
        assert launch in steps[n].launches, "the committed state does not know this launch"
        folder = f"{layout.LAUNCHES}/{launch}"
        names = [step.target for step in steps[:n] if step.target.startswith(folder)]
        assert {f"{folder}/launch.json", f"{folder}/prompt.md"} <= set(names)


def test_a_signal_is_answered_only_when_its_line_is_flushed(steps: list[Step]) -> None:
    answers = [n for n, step in enumerate(steps) if step.name == "answered"]
    assert len(answers) > 15
    for n in answers:
        before = of_thread(steps[:n], steps[n].thread)[-1]
        assert (before.name, before.path) == ("fsync", layout.JOURNAL)
