"""``approve --pr``: from an approved result to a request on a forge, also across a kill."""

import os
import signal
from contextlib import suppress
from pathlib import Path

import pytest

from tests.conftest import WaitUntil
from tests.e2e.conftest import Project
from tests.fakes.forge import FakeForge

pytestmark = pytest.mark.long

PLANTED = "s3cret-planted"


@pytest.mark.follows("have it merged elsewhere: agentmux approve --pr")
def test_from_an_issue_to_a_request_across_a_failure_and_a_kill_until_it_is_merged(
    project: Project, forge: FakeForge, wait_until: WaitUntil
) -> None:
    (project.path / ".gitignore").write_text(".env\n.worktreeinclude\n")
    project.git("add", ".gitignore")
    project.git("commit", "-qm", "Ignore")
    project.git("push", "-q", "origin", "main")
    (project.path / ".env").write_text(f"API_TOKEN={PLANTED}\n")
    (project.path / ".worktreeinclude").write_text(".env\n")
    project.scenario(
        {"default": {"summary": f"It uses {PLANTED}.", "commit_message": "Add a greeting"},
         "roles": {"planner": {"plan": {"parts": 1}}}}
    )  # fmt: skip
    forge.issue(42, "No greeting", "Please.")
    session = project.start("be short", "--issue", "42", "--worktree", "--trust").wait()
    assert (Path(session.state["worktree"]) / ".env").exists()
    forge.log_out()
    failed = project.fails(1, "approve", session.name, "--pr", "--yes")
    assert "pushed, but not requested" in failed
    assert "please run: gh auth login" in failed
    (forge.folder / "logged_out").unlink()

    # Killed after the request was opened, before that is recorded: no second one is opened.
    hangs = forge.folder / "hang_after_open"
    hangs.touch()
    project.fails(9, "approve", session.name, "--pr", "--yes", "--timeout", "1")
    wait_until((forge.folder / "opened").exists, 30)
    for pid, _ in project.processes():
        with suppress(ProcessLookupError):  # it has ended with another one
            os.kill(pid, signal.SIGKILL)
    wait_until(lambda: not project.processes())
    hangs.unlink()
    assert session.state["request"] is None
    project.ok("resume", session.name, "--detach", "--yes")
    url = "https://github.com/o/r/pull/100"
    state = session.wait("done").state
    (made,) = forge.requests
    assert (made["title"], made["base"], made["draft"]) == ("Add a greeting", "main", True)
    assert "It uses [hidden]." in made["body"]
    assert made["body"].endswith("\n\nCloses #42\n")
    assert state["request"] == {"url": url, "number": 100}
    tip = project.git("-C", str(project.root / "r.git"), "rev-parse", "agentmux/no-greeting")
    assert tip.strip() == state["commit"]["commit"]
    assert f"request       #100 {url}" in project.ok("status", session.name)
    assert project.json("status", session.name)["sessions"][0]["request"] == state["request"]
    assert PLANTED not in session.read("orchestrator.log")
    assert PLANTED not in str(forge.requests) + str(forge.calls)

    branch, place = state["branch"], Path(state["worktree"])
    project.git("push", "-q", "origin", "--delete", branch)  # as the forge does then
    kept = f"1 commit on branch {branch} not merged"
    assert kept in project.run("prune").stderr
    forge.merge(100, "c" * 40)
    assert kept in project.run("prune").stderr
    forge.merge(100, state["commit"]["commit"])
    taken = f"worktree {place} (with what no commit has: .env) and branch {branch}"
    assert project.run("prune").stdout == f"removed {taken}\n"
    assert not place.exists()
