"""One work tree, one session: projects in subdirectories of one repository see each other."""

import json
import os
import shutil
import signal
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from agentmux.adapters.disk.lock import WorkTreeLock
from tests.conftest import WaitUntil
from tests.e2e.conftest import Project, Session

pytestmark = [pytest.mark.long, pytest.mark.usefixtures("project")]


@pytest.fixture
def parts(project: Project) -> tuple[Path, Path]:
    """Two projects in one repository; their agents only wait."""
    project.scenario({"roles": {"architect": {"silent": True}}})
    made = project.path / "web", project.path / "api"
    for part in made:
        (part / ".agentmux").mkdir(parents=True)
    return made


def begun(project: Project, part: Path) -> Session:
    # Each with a name of its own, also in the same second: tmux has one session of a name.
    words = ("start", "--agent", "demo", "--no-worktree", part.name)
    answer = project.json(*words, cwd=part)
    return Session(project, part / answer["path"])


def test_a_second_project_of_the_repository_waits_for_the_first(
    project: Project, parts: tuple[Path, Path]
) -> None:
    web, api = parts
    first = begun(project, web).until_seat("architect")
    lock = WorkTreeLock(project.path, project.path / ".git")
    assert lock.is_held(), "by the orchestrator, for as long as it runs"
    for more in ((), ("--dry-run",)):
        said = project.fails(3, "start", "--agent", "demo", "--no-worktree", *more, "y", cwd=api)
        assert f"session {first.name} is live in the same work tree, {project.path}" in said
        assert f"agentmux stop {first.path}" in said
    assert not (api / ".agentmux" / ".sessions").exists()
    project.ok("stop", str(first.path))
    assert not lock.is_held()
    second = begun(project, api)
    project.fails(3, "resume", first.name, cwd=web)
    (plan,) = project.json("resume", first.name, "--dry-run", code=3, cwd=web)["sessions"]
    assert plan["blocked"]["reason"] == "checkout_taken"
    assert second.name in plan["blocked"]["message"]
    project.ok("stop", str(second.path))
    project.ok("resume", first.name, "--dry-run", cwd=web)


def test_agents_without_an_orchestrator_still_hold_the_work_tree(
    project: Project, parts: tuple[Path, Path], wait_until: WaitUntil
) -> None:
    web, api = parts
    first = begun(project, web).until_seat("architect")
    os.kill(first.runtime["orchestrator_pid"], signal.SIGKILL)
    wait_until(lambda: project.json("status", cwd=web)["sessions"][0]["orchestrator"] is None)
    said = project.fails(3, "start", "--agent", "demo", "--no-worktree", "y", cwd=api)
    assert f"session {first.name} is live in the same work tree" in said
    project.ok("resume", "--reattach", first.name, "--detach", cwd=web)
    project.fails(3, "start", "--agent", "demo", "--no-worktree", "y", cwd=api)
    project.tmux("kill-server")

    def has_ended() -> bool:
        done = project.run("status", "--json", cwd=web)
        # A server that is just ending cannot be asked: then the command ends with 6.
        if done.returncode != 0:
            return False
        (seen,) = json.loads(done.stdout)["sessions"]
        return (seen["live"], seen["orchestrator"]) == (False, None)

    wait_until(has_ended, 20)
    begun(project, api)


def test_of_starts_at_the_same_moment_in_two_projects_one_begins(
    project: Project, parts: tuple[Path, Path]
) -> None:
    words = ("start", "--json", "--agent", "demo", "--no-worktree", "same")
    with ThreadPoolExecutor(4) as pool:
        starts = [pool.submit(project.run, *words, cwd=part) for part in (*parts, *parts)]
    done = [each.result() for each in starts]
    assert sorted(each.returncode for each in done) == [0, 3, 3, 3], done


def test_a_copy_of_the_repository_is_free(project: Project, parts: tuple[Path, Path]) -> None:
    first = begun(project, parts[0]).until_seat("architect")
    copy = project.root / "copy"
    shutil.copytree(project.path, copy, ignore=shutil.ignore_patterns("*.fifo", ".sessions"))
    project.ok("start", "--agent", "demo", "--no-worktree", "--dry-run", "x", cwd=copy / "api")
    assert first.state["phase"] == "architecting"
