"""Several starts at the same moment: each gets its own name, and no work is lost.

Also starts with their own branch: a session that can be found has its branch.
"""

import os
import shutil
import threading
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agentmux.adapters.disk.session.handover import ReadyPipe, report
from agentmux.app.commands.begin.start import StartPlan, StartRequest, plan_start, start
from agentmux.app.commands.resume.orchestrator_request import OrchestratorReport
from agentmux.app.commands.resume.orchestrator_start import (
    OrchestratorFailedError,
    OrchestratorStart,
)
from agentmux.app.commands.resume.resume import plan_resume
from agentmux.app.session.search.lookup import list_sessions, live
from agentmux.core.names import layout
from agentmux.errors import NAME_TAKEN, AgentmuxError, BlockedError, ExitCode, UsageError
from agentmux.overriding import override
from agentmux.ports.tmux.terminal import CreatedSession
from tests.app.driver import (
    NotedRepository,
    SimTerminal,
    Studio,
    _ReadyAtOnce,
    _starter,
    git,
    make_project,
)
from tests.faults.operations import Operation, Operations

COUNT = 4


@pytest.fixture
def studio(tmp_path: Path) -> Studio:
    made = Studio(make_project(tmp_path / "project"), dict(os.environ))
    assert isinstance(made.world.repository, NotedRepository)
    made.world.repository.begin()
    moment = made.world.now()
    made.world = replace(made.world, now=lambda: moment)
    return made


def planned(
    studio: Studio, name: str | None = None, taken: Mapping[str, str] | None = None
) -> tuple[Studio, StartPlan]:
    """Return a start by another process that has planned it, but not created anything yet."""
    other = studio.again(())
    terminal: SimTerminal = other.terminal
    other.world = replace(studio.world, terminal=lambda socket: terminal)
    asked = StartRequest(feature="same", agent="demo", worktree=False, name=name)
    return other, plan_start(other.world, asked, taken or {})


def test_starts_in_the_same_second_get_a_name_each(studio: Studio) -> None:
    plans = [planned(studio) for _ in range(COUNT)]
    base = plans[0][1].name
    assert {plan.name for _, plan in plans} == {base}
    begun = []
    ready = threading.Barrier(COUNT)

    def run(own: Studio, plan: StartPlan) -> None:
        ready.wait()
        begun.append(start(own.world, _starter(), plan))

    threads = [threading.Thread(target=run, args=each) for each in plans]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    wanted = [base, *(f"{base}-{n}" for n in range(2, COUNT + 1))]
    assert sorted(each.name for each in begun) == wanted
    folder = studio.project / layout.SESSIONS_DIR
    assert sorted(path.name for path in folder.iterdir()) == [".gitignore", *wanted]
    for each in begun:
        state = studio.world.files(each.path).load().state
        assert state.session_name == each.tmux_name == layout.tmux_name(each.name)
        assert state.feature_dir == f"{layout.SESSIONS_DIR}/{each.name}"
        assert str(each.path) in (each.path / layout.CONTEXT).read_text()
    assert len({studio.world.files(each.path).load().state.session_id for each in begun}) == COUNT
    # The later sessions are warned about the earlier ones in the same checkout.
    told = {each.name: [w for w in each.warnings if "another unfinished" in w] for each in begun}
    assert told[base] == []
    assert told[f"{base}-2"] == [f"another unfinished session began in this checkout: {base}"]


def test_many_unfinished_sessions_are_warned_of_in_one_line(studio: Studio) -> None:
    taken = {f"20260101-1015{number}-x": "architecting" for number in range(40, 9, -1)}
    taken["20260101-101500-x"] = "done"
    _, plan = planned(studio, taken=taken)
    (warning,) = [each for each in plan.warnings if "unfinished" in each]
    assert warning == (
        "31 other unfinished sessions began in this checkout, the newest is "
        "20260101-101540-x; see them: agentmux list"
    )


def test_a_name_that_a_tmux_session_has_is_passed_over(studio: Studio) -> None:
    other, plan = planned(studio)
    begun = start(other.world, _starter(), plan)
    shutil.rmtree(begun.path)  # or of another project; its tmux session is there
    asked = StartRequest(feature="same", agent="demo", worktree=False)
    assert plan_start(other.world, asked, {}).name == f"{begun.name}-2"
    with pytest.raises(BlockedError, match=f"{begun.tmux_name} exists already"):
        plan_start(other.world, replace(asked, name="same"), {})


def test_a_name_that_another_project_takes_on_the_server_meanwhile_is_passed_over(
    studio: Studio,
) -> None:
    other, plan = planned(studio)
    terminal = other.world.terminal(None)
    made: list[str] = []

    def create(*, name: str, **more: Any) -> CreatedSession:
        made.append(name)
        if len(made) == 1:
            first(name=name, **more)  # the other project's
            raise BlockedError(f"a tmux session named {name} exists already", reason=NAME_TAKEN)
        return first(name=name, **more)

    first, terminal.create_session = terminal.create_session, create  # type: ignore[method-assign]
    begun = start(other.world, _starter(), plan)
    assert made == [begun.tmux_name[:-2], begun.tmux_name]
    assert begun.name == f"{plan.name}-2"
    assert not plan.path.exists()


class _Fails(_ReadyAtOnce):
    """An orchestrator that reports that it cannot begin."""

    @override
    def wait(self, timeout_s: float, pid: int) -> bytes | None:
        return OrchestratorReport(
            ok=False, exit_code=ExitCode.DATA, message="cannot begin"
        ).encode()


def test_an_orchestrator_that_cannot_begin_leaves_no_session(studio: Studio) -> None:
    other, plan = planned(studio)
    starter = OrchestratorStart(argv=lambda path, request: ("true",), pipe=lambda path: _Fails())
    with pytest.raises(OrchestratorFailedError, match="cannot begin") as caught:
        start(other.world, starter, plan)
    assert caught.value.exit_code is ExitCode.DATA
    assert other.world.terminal(None).sessions() == ()
    assert not plan.path.exists()
    assert list_sessions(other.world) == ()


def test_a_name_that_was_given_is_not_changed(studio: Studio) -> None:
    first, second = planned(studio, name="mine"), planned(studio, name="mine")
    begun = start(first[0].world, _starter(), first[1])
    kept = (begun.path / layout.STATE).read_bytes()
    with pytest.raises(UsageError, match="a session named mine already") as caught:
        start(second[0].world, _starter(), second[1])
    assert caught.value.exit_code is ExitCode.USAGE
    assert caught.value.hints == (f"continue it: agentmux resume {begun.name}",)
    assert (begun.path / layout.STATE).read_bytes() == kept
    names = sorted(path.name for path in begun.path.parent.iterdir())
    assert names == [".gitignore", begun.name]


def test_a_session_that_is_being_started_is_said_to_start(
    studio: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    other, plan = planned(studio)
    pipes: list[ReadyPipe] = []
    seen: list[int | None] = []

    def pipe(folder: Path) -> ReadyPipe:
        pipes.append(ReadyPipe(folder, {}))
        return pipes[-1]

    def argv(path: Path, request: object) -> tuple[str, ...]:
        look(None)
        report(pipes[-1].path, OrchestratorReport(ok=True).encode())
        return ("true",)

    def look(_operation: Operation | None) -> None:
        entries = list_sessions(other.world)
        seen.extend(each.starter for each in live(other.world, entries).values())

    with monkeypatch.context() as context:
        Operations(studio.project, look).install(context.setattr)
        start(other.world, OrchestratorStart(argv=argv, pipe=pipe), plan)
    assert set(seen) == {os.getpid()}
    assert len(pipes) == 1
    assert not list(studio.project.glob(f"{layout.SESSIONS_DIR}/*/ready-*"))


# -- starts with a branch ------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["q\udcff", "esc\x1b[31m", "line\nend"])
def test_a_project_whose_path_no_agent_can_be_told_is_refused(studio: Studio, name: str) -> None:
    project = studio.world.project / name
    world = replace(studio.world, project=project)
    with pytest.raises(UsageError) as raised:
        plan_start(world, StartRequest(feature="x", agent="demo", worktree=False), {})
    assert repr(str(project)) in raised.value.message


def branches(studio: Studio) -> str:
    return git(studio.project, "branch", "--format=%(refname:lstrip=2)%(HEAD)")


@pytest.fixture
def branching(tmp_path: Path) -> Studio:
    return Studio(make_project(tmp_path / "project"), dict(os.environ), real_git=True)


def with_branch(studio: Studio, branch: str = "") -> tuple[Studio, StartPlan]:
    other = studio.again(())
    terminal: SimTerminal = other.terminal
    other.world = replace(studio.world, terminal=lambda socket: terminal)
    asked = StartRequest(feature="same", agent="demo", worktree=False, branch=branch)
    return other, plan_start(other.world, asked, {})


def test_a_session_is_never_there_before_its_branch(
    branching: Studio, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disks: list[Path] = []

    def keep(operation: Operation) -> None:
        disks.append(tmp_path / f"{len(disks):03}")
        shutil.copytree(branching.project, disks[-1], symlinks=True)

    other, plan = with_branch(branching)
    with monkeypatch.context() as context:
        Operations(branching.project, keep).install(context.setattr)
        start(other.world, _starter(), plan)
    seen = set()
    for disk in disks:
        found = [path for path in disk.glob(f"{layout.SESSIONS_DIR}/[0-9]*") if path.is_dir()]
        on = git(disk, "branch", "--show-current").strip()
        seen.add((len(found), on))
        for path in found:
            assert branching.world.files(path).load().state.branch == on
    assert {count for count, _ in seen} == {0, 1}


def test_a_branch_is_taken_back_where_the_directory_cannot_be_made(branching: Studio) -> None:
    other, plan = with_branch(branching)
    (branching.project / ".agentmux").write_text("in the way")
    with pytest.raises(AgentmuxError):
        start(other.world, _starter(), plan)
    assert branches(branching) == "main*\n"


def test_starts_with_a_branch_get_a_name_and_a_branch_each(branching: Studio) -> None:
    now = branching.world.now()  # the second is part of the name
    branching.world = replace(branching.world, now=lambda: now)
    plans = [with_branch(branching) for _ in range(2)]
    first, second = (start(own.world, _starter(), plan) for own, plan in plans)
    assert second.name == f"{first.name}-2"
    for each in (first, second):
        state = branching.world.files(each.path).load().state
        assert state.branch == f"agentmux/{each.name}"
    wanted = {f"agentmux/{first.name} ", f"agentmux/{second.name}*", "main "}
    assert set(branches(branching).splitlines()) == wanted


def test_a_branch_that_was_given_is_not_changed(branching: Studio) -> None:
    first, second = with_branch(branching, "mine"), with_branch(branching, "mine")
    begun = start(first[0].world, _starter(), first[1])
    with pytest.raises(UsageError, match="branch `mine` exists already"):
        start(second[0].world, _starter(), second[1])
    assert branches(branching) == "main \nmine*\n"
    names = sorted(path.name for path in begun.path.parent.iterdir())
    assert names == [".gitignore", begun.name]


def test_a_network_file_system_is_named_at_the_start_and_at_a_resume(studio: Studio) -> None:
    assert not any("network file system" in each for each in planned(studio)[1].warnings)
    studio.world = replace(studio.world, network=lambda path: "nfs4")
    _, plan = planned(studio)
    assert any("a network file system (nfs4)" in each for each in plan.warnings)

    studio.start()
    again = plan_resume(studio.world, studio.world.files(studio.session))
    assert any("a network file system (nfs4)" in each for each in again.warnings)
