"""Checks: commands that AgentMux runs, with demo agents in real tmux."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import pytest

from agentmux.app.session.check_record import CHANGED
from agentmux.core.agents.environment import IDENTITY
from tests.conftest import WaitUntil
from tests.e2e.conftest import Project, Session

pytestmark = pytest.mark.long

FAILS_ONCE = """\
git: {{setup: [{{name: build, run: [sh, -c, 'cat local.env > built.env']}}]}}
verify:
  - name: tests
    run:
      - sh
      - -c
      - |
        env > {root}/env.txt
        cat built.env >> {root}/runs.txt 2> /dev/null || echo checkout >> {root}/runs.txt
        test $(wc -l < {root}/runs.txt) != 2 && exit
        printf '\\033[31mE  it is broken\\033[0m\\n'
        exit 1
  - {{name: types, run: ['false'], required: false}}
"""


def runs(project: Project) -> int:
    path = project.root / "runs.txt"
    return len(path.read_text().splitlines()) if path.exists() else 0


def checked(session: Session) -> dict[str, str]:
    """Return the outcome of each command by its name, as ``status --json`` has it."""
    (shown,) = session.project.json("status", session.name)["sessions"]
    return {
        command["name"]: command["outcome"]
        for phase in shown["checks"]
        for command in phase["commands"]
    }


def test_what_fails_goes_to_a_coder_and_what_passes_is_shown(project: Project) -> None:
    (project.path / ".gitignore").write_text("*.env\n")
    (project.path / ".worktreeinclude").write_text("local.env\n")
    (project.path / "local.env").write_text("base\n")
    project.git("add", ".gitignore", ".worktreeinclude")
    project.git("commit", "-qm", "Ignore")
    project.config(FAILS_ONCE.format(root=project.root))
    said = project.run("start", "--agent", "demo", "--quick", "--detach", "fix the typo")
    assert "the result will be verified by: tests, types\n" in said.stderr
    session = Session(project, *project.sessions()).wait()
    checks = ["check-tests", "check-types"]
    on_base = [seat for seat in session.launched() if seat.startswith("base")]
    assert on_base == ["base", "base-tests"]
    assert [seat for seat in session.launched() if seat not in on_base] == [
        "coder-1", *checks, "coder", *checks, "reviewer_logic", "reviewer_logic",
    ]  # fmt: skip
    ran = (project.root / "runs.txt").read_text().split()
    assert ran == ["base", "checkout", "checkout"], "with the copied file, and after the setup"
    assert session.state["base_checks"]["checks"]["tests"]["outcome"] == "passed"
    assert project.git("worktree", "list").count("\n") == 1, "the one of the base is removed"
    # The coder was told what failed, and nothing of what is only reported.
    (request,) = session.path.glob("history/1.0/verifying/fix_request.md")
    assert "- `tests`: `sh -c " in request.read_text()
    assert "    E  it is broken\n" in request.read_text()
    assert "types" not in request.read_text()
    env = dict(line.split("=", 1) for line in (project.root / "env.txt").read_text().splitlines())
    assert not env.keys() & set(IDENTITY), "no agent runs it"
    assert checked(session) == {"tests": "passed", "types": "failed"}
    shown = project.ok("status", session.name)
    assert "  check         verifying, tests: passed  sh -c " in shown
    assert "  check         verifying, types: failed (exit 1), not required  " in shown
    prompts = {
        event["seat"]: session.read(f"launches/{event['launch']}/prompt.md")
        for event in session.events
        if event["event"] == "agent_launched" and event["payload"]["prompt_bytes"]
    }
    assert "/verifying/fix_request.md" in prompts["coder"]
    assert "- verifying, tests: passed\n" in prompts["reviewer_logic"]
    (project.path / "calc.py").write_text("changed\n")
    approved = project.ok("approve", session.name, "--yes")
    assert "verifying: passed\n  tests: passed  sh -c " in approved
    assert f"\n{CHANGED}: " in approved
    session.wait("done").gone()


@pytest.mark.rare("tests/app drives this kind of check without processes")
def test_a_check_that_stays_red_is_capped_and_never_approved_alone(project: Project) -> None:
    project.config(
        "defaults: {max_review_iterations: 1}\ncompletion: {require_approval: false}\n"
        "verify: [{name: tests, run: [sh, -c, 'test -d \"$AGENTMUX_WORKTREE\"']}]\n"
    )
    session = project.start("fix the typo", "--quick").wait()
    seats = [seat for seat in session.launched() if seat.startswith(("check", "coder"))]
    assert seats == ["coder-1", "check-tests", "coder", "check-tests"]
    assert session.state["results"]["verifying"]["outcome"] == "capped"
    assert session.state["approval"] is None
    approved = project.ok("approve", session.name, "--yes")
    assert "verifying: failed (capped" in approved


@pytest.mark.rare("tests/app drives this kind of check without processes")
def test_what_could_not_run_asks_the_user_once_and_what_was_red_is_reported(
    project: Project, wait_until: WaitUntil
) -> None:
    project.config(
        "verify:\n- {name: red, run: [sh, -c, 'date +%N > report.txt; false']}\n"
        "- {name: gone, run: [no-such-program]}\n"
    )
    session = project.start("fix the typo", "--quick")

    def asks() -> bool:
        (shown,) = project.json("status", session.name)["sessions"]
        return bool(shown["status"] == "waiting_for_user")

    wait_until(asks, 20)
    assert checked(session) == {"red": "failed", "gone": "broken"}
    again = f"agentmux restart {session.short} --role check-gone"
    told = project.ok("status")
    assert f"  next: {again}\n        or, to go on without it: {again} --skip\n" in told
    seat = {"AGENTMUX_LAUNCH_ID": "x", "AGENTMUX_SEAT": "coder-1"}
    words = ("restart", session.name, "--role", "check-gone", "--skip")
    assert "is for a person" in project.fails(3, *words, env=seat)
    # It is tried again at a restart and at a resume, and asks again.
    project.ok("restart", session.name, "--role", "check-gone")
    wait_until(lambda: session.launched().count("check-gone") == 2 and asks(), 20)
    project.ok("stop", session.name)
    project.ok("resume", session.name, "--detach")
    wait_until(lambda: session.launched().count("check-gone") == 3 and asks(), 20)
    assert session.launched().count("check-red") == 1, "it ran on these files"
    project.ok(*words)
    session.wait()
    approved = project.ok("approve", session.name, "--yes")
    assert "  red: failed (exit 1), as before the session  " in approved
    assert "  gone: could not run (exit 127), you went on without it  " in approved
    assert CHANGED not in approved


@pytest.mark.rare("tests/app drives this kind of check without processes")
def test_a_check_that_was_killed_runs_again_and_a_finished_one_only_on_other_files(
    project: Project, wait_until: WaitUntil
) -> None:
    hold, counted = project.root / "hold", project.root / "counted"
    hold.touch()
    wait = f"echo x >> {counted}; while [ -e {hold} ]; do sleep 0.05; done"
    project.config(
        "verify:\n"
        f"- {{name: first, run: [sh, -c, 'echo x >> {project.root}/runs.txt'], required: false}}\n"
        f"- {{name: second, run: [sh, -c, '{wait}'], required: false}}\n"
    )
    session = project.start("fix the typo", "--quick").until_seat("check-second")
    wait_until(counted.exists, 20)
    for changed, expected in ((False, 1), (True, 2)):
        os.kill(session.runtime["orchestrator_pid"], signal.SIGKILL)
        project.tmux("kill-server")
        if changed:
            (project.path / "calc.py").write_text("changed\n")
        launches = session.launched().count("check-second")
        project.ok("resume", session.name, "--detach")
        wait_until(lambda n=launches: session.launched().count("check-second") > n, 20)
        assert runs(project) == expected
    hold.unlink()
    session.wait()
    results = json.loads(session.read("verifying/results.yaml"))
    assert {name: each["outcome"] for name, each in results["checks"].items()} == {
        "first": "passed",
        "second": "passed",
    }


def test_the_worktree_of_the_base_goes_with_its_session(project: Project) -> None:
    project.config("verify: [{name: slow, run: [sleep, '600']}]\n")
    session = project.start("fix the typo", "--quick").until_seat("base-slow")
    place = Path(session.state["base_checks"]["path"])
    assert (place / "calc.py").exists()
    project.ok("stop", session.name)
    # Its end is recorded, but not all of its files could be removed.
    ended = {**session.state["base_checks"], "finished": True}
    state = json.dumps({**session.state, "base_checks": ended})
    (session.path / "state.json").write_text(state)
    project.ok("remove", session.name, "--yes")
    assert not place.parent.exists()
    assert project.git("worktree", "list").count("\n") == 1


def test_nothing_verified_is_said(project: Project) -> None:
    done = project.run("start", "--agent", "demo", "--dry-run", "x")
    assert "nothing will be verified; to find the tests" in done.stderr
