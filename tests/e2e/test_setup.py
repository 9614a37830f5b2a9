"""The setup of a worktree: it runs in a pane before the first agent, and again after a failure."""

import json
import shutil
from pathlib import Path

import pytest

from tests.conftest import WaitUntil
from tests.e2e.conftest import Project, Session

pytestmark = pytest.mark.long

WAITS = {"roles": {"architect": {"silent": True}}}
STEPS = """\
git:
  setup:
    - {name: install, run: [sh, -c, 'env > .setup-env; echo made > made.txt']}
    - {name: check, run: [sh, -c, 'echo "from the check"; test ! -e ../refuse || exit 3']}
"""


def fields_of(session: Session, seat: str) -> list[dict[str, object]]:
    """Return the ``launch.json`` of each launch of a seat, in order."""
    launches = [e["launch"] for e in session.events if e["event"] == "agent_launched"]
    seats = session.launched()
    return [
        json.loads(session.read(f"launches/{launch}/launch.json"))
        for launch, each in zip(launches, seats, strict=True)
        if each == seat
    ]


def test_a_setup_runs_before_the_first_agent(project: Project) -> None:
    project.config(STEPS)
    done = project.run("start", "--agent", "demo", "--worktree", "--detach", "add a greeting")
    assert "the setup runs there: install, check\n" in done.stderr
    assert " prepares its worktree (the setup), before phase architecting\n" in done.stdout
    session = Session(project, *project.sessions()).wait().approve()
    place = Path(session.state["worktree"])
    assert session.launched()[:3] == ["setup", "setup", "architect"]
    env = dict(line.split("=", 1) for line in (place / ".setup-env").read_text().splitlines())
    assert env["AGENTMUX_WORKTREE"] == str(place)
    assert env["AGENTMUX_PORT_BASE"] == str(session.state["port_base"])
    assert not {"AGENTMUX_LAUNCH_ID", "AGENTMUX_ROLE"} & env.keys(), "no agent runs it"
    (architect,) = fields_of(session, "architect")
    assert isinstance(architect["env"], dict)
    assert architect["env"]["AGENTMUX_PORT_BASE"] == env["AGENTMUX_PORT_BASE"]
    # What the setup makes is no part of the result.
    commit = session.state["commit"]["commit"]
    assert "made.txt" not in project.git("show", "--stat", "--format=", commit)
    assert (place / "made.txt").exists()


@pytest.mark.rare("CI runs a setup before the first agent")
@pytest.mark.follows(
    "fix git.setup in the configuration: …agentmux resume … --repin", "agentmux stop … && "
)
def test_a_failed_setup_fails_the_session_until_a_resume_runs_it_again(
    project: Project, wait_until: WaitUntil
) -> None:
    project.config(STEPS)
    project.scenario(WAITS)
    refuse = project.root / "calc-worktrees" / "refuse"
    refuse.parent.mkdir()
    refuse.touch()
    session = project.start("add a greeting", "--worktree")
    wait_until(lambda: session.state["phase"] == "failed", 20)
    (shown,) = project.json("status", session.name)["sessions"]
    assert shown["interruption"]["seat"] == "setup"
    assert "setup is setup" not in project.ok("status", session.name)
    assert shown["interruption"]["cause"] == "the setup `check` failed (exit 3)"
    assert session.launched() == ["setup", "setup"]
    # A changed configuration does not change the setup of a session that has begun.
    project.config(STEPS.replace("exit 3", "exit 4"))
    project.ok("stop", session.name)
    project.ok("resume", session.name, "--detach")
    wait_until(lambda: session.launched() == ["setup"] * 3, 20)
    wait_until(lambda: session.state["phase"] == "failed", 20)
    assert "(exit 3)" in session.state["interruption"]["cause"]
    shown = project.ok("status", session.name)
    assert f"agentmux stop {session.name} && agentmux resume {session.short} --repin" in shown
    project.ok("stop", session.name)
    # A repin takes what has changed since, and says so beforehand.
    (project.path / ".gitignore").write_text(".env\n")
    (project.path / ".env").write_text("SECRET=1\n")
    place = Path(session.state["worktree"])
    (place / ".gitignore").write_text(".env\n")
    (project.path / ".worktreeinclude").write_text(".env\n")
    project.config(STEPS.replace("test ! -e ../refuse || exit 3", "cat .env > seen.txt"))
    plan = project.json("resume", "--dry-run", session.name)["sessions"][0]
    assert plan["changed_settings"] == ["git.setup", ".worktreeinclude"]
    assert f"take the change: agentmux resume {session.name} --repin" in plan["warnings"][-1]
    assert plan["setup"] == ["check"]
    said = project.ok("resume", "--dry-run", "--repin", session.name)
    assert "  first the setup of its worktree runs: check\n" in said
    project.ok("trust", "--revoke")
    assert "git.setup" in project.fails(7, "resume", "--repin", session.name, "--detach")
    project.ok("resume", "--repin", "--trust", session.name, "--detach")
    session.until_seat("architect")
    launched = ["setup"] * 4 + ["architect"]
    assert session.launched() == launched
    # After that it runs again only in a worktree that was made again.
    place = Path(session.state["worktree"])
    for is_gone in (False, True):
        project.ok("stop", session.name)
        if is_gone:
            shutil.rmtree(place)
        plan = project.json("resume", "--dry-run", session.name)["sessions"][0]
        assert [each["seat"] for each in plan["panes"]] == ["architect"]
        assert plan["setup"] == ["install", "check"] * is_gone
        project.ok("resume", session.name, "--detach")
        session.until_seat("architect")
        launched += ["setup", "setup", "architect"] if is_gone else ["architect"]
        assert session.launched() == launched
        assert (place / "made.txt").exists()
    assert (place / "seen.txt").read_text() == "SECRET=1\n"
    assert (place / "made.txt").read_text() == "made\n"
    plan = project.json("resume", "--dry-run", session.name, code=3)["sessions"][0]
    assert plan["changed_settings"] == []


def test_a_step_that_takes_too_long_is_ended(project: Project, wait_until: WaitUntil) -> None:
    project.config("git: {setup: [{name: slow, run: [sleep, '600'], timeout: 4s}]}\n")
    session = project.start("add a greeting", "--worktree").until_seat("setup")

    def shown() -> tuple[str, list[str]]:
        (view,) = project.json("status", session.name)["sessions"]
        return view["status"], [seat["seat"] for seat in view["seats"]]

    wait_until(lambda: shown() == ("setting_up", ["setup"]), 4, lambda: str(shown()))
    wait_until(lambda: session.state["phase"] == "failed", 20)
    cause = session.state["interruption"]["cause"]
    assert cause == "the setup `slow` took too long, and was ended"


def test_what_is_set_up_and_copied_needs_trust(project: Project) -> None:
    (project.path / ".worktreeinclude").write_text(".env\n")
    project.config(STEPS, trusted=False)
    said = project.fails(7, "start", "--agent", "demo", "--worktree", "x")
    assert "git.setup" in said
    assert "worktreeinclude" in said
    assert project.sessions() == []
    project.json("start", "--agent", "demo", "--no-worktree", "--dry-run", "x")
