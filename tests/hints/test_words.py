"""Messages that repeat what to do next, followed from where they are shown."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from agentmux.adapters.disk.session.session_folders import BURIED
from agentmux.core.names.words import git_commands
from tests.conftest import WaitUntil
from tests.e2e.conftest import Project, Session, bare
from tests.fakes.make_program import install_make
from tests.hints.following import Work, follow, shown, went_well
from tests.house.messages import commands_of

pytestmark = pytest.mark.long

WAITS = {"roles": {"architect": {"silent": True}}}


@pytest.fixture
def done(project: Project, work: Work) -> Session:
    """A session whose result was kept on its branch."""
    session = project.start("add a greeting", "--worktree").wait()
    work.plant(Path(session.state["worktree"]), "a coder")
    return session


@pytest.mark.follows(
    ", or: git push … …",
    'agentmux start "FEATURE"',
    '  agentmux start "…"   start the next feature',
    "agentmux prune",
)
def test_a_kept_result_is_merged_and_pushed(done: Session, work: Work) -> None:
    project = done.project
    bare(project)
    told = project.ok("approve", done.name, "--keep", "--yes")
    done.wait("done").gone()
    text = told + project.ok("status", done.name)
    push = shown(", or: git push … …", text).removeprefix(", or: ")
    merge = git_commands.merge(done.state["branch"])
    assert merge in text
    project.git("stash", "-q", "--include-untracked")
    went_well(project, push)
    went_well(project, merge)
    project.program("git", "stash", "pop", "-q")  # it conflicts, and git keeps the stash
    assert work.lost() == []
    went_well(project, "agentmux prune")  # takes nothing that is nowhere else
    assert work.lost() == []
    refusal = project.fails(4, "resume", done.name, "--detach")
    project.scenario(WAITS)
    went_well(project, shown('agentmux start "FEATURE"', refusal), FEATURE="add another")
    assert work.lost() == []


@pytest.mark.follows("keep them on a branch: git -C … switch --create NAME")
def test_commits_of_a_review_are_kept(project: Project, work: Work) -> None:
    project.git("switch", "-qc", "side")
    work.commit("a commit of somebody else", project.path / "side.py")
    project.git("switch", "-q", "main")
    session = project.start("look at it", "--pipeline", "review", "--of", "side")
    session.wait()
    project.ok("stop", session.name)
    session.gone()
    work.commit("a commit of a reviewer", Path(session.state["worktree"]) / "reviewed.py")
    refusal = project.fails(3, "remove", session.name, "--yes")
    hint = shown("keep them on a branch: git -C … switch --create NAME", refusal)
    went_well(project, hint, NAME="kept")
    went_well(project, f"agentmux remove {session.name}")
    assert work.lost() == []


@pytest.mark.follows("git -C …… stash push --all --message …")
def test_what_was_changed_in_a_review_is_put_aside(project: Project, work: Work) -> None:
    project.config(
        "defaults: {agent: demo}\ngit: {setup: [{name: own, run: [cp, calc.py, set_up.py]}]}\n"
    )
    project.git("switch", "-qc", "side")
    work.commit("a commit of somebody else", project.path / "side.py")
    project.git("switch", "-q", "main")
    session = project.start("look at it", "--pipeline", "review", "--of", "side").wait()
    place = Path(session.state["worktree"])
    work.write("a line of the setup", place / "set_up.py")
    work.write("a line of a reviewer", place / "a reviewer's.py")
    work.write("an edit of a reviewer", place / "calc.py")
    refusal = project.fails(3, "approve", session.name, "--yes")
    went_well(project, shown("put them aside: …", refusal))
    assert project.git_at(place, "status", "--porcelain") == "?? set_up.py\n"
    told = went_well(project, shown("then: agentmux approve …", refusal))
    went_well(project, shown("put back what was put aside on …: …", told))
    assert len(project.git_at(place, "status", "--porcelain").splitlines()) == 3
    assert work.lost() == []


def test_a_commit_beside_the_branch_of_a_session_is_kept(done: Session, work: Work) -> None:
    project, place = done.project, Path(done.state["worktree"])
    project.ok("stop", done.name)
    project.git_at(place, "switch", "-q", "--detach")
    project.git_at(place, "add", "-A")
    project.git_at(place, "commit", "-qm", "By hand")
    work.commit("a commit on no branch", place / "beside.py")
    refusal = project.fails(3, "remove", done.name, "--yes")
    assert f"commits in {place} on no branch" in refusal
    hint = shown("keep them on a branch: git -C … switch --create NAME", refusal)
    went_well(project, hint, NAME="kept")
    went_well(project, f"agentmux remove {done.name}")
    assert work.lost() == []


@pytest.mark.follows("type it in a terminal of your own: agentmux …")
def test_a_person_types_what_an_agent_may_not(done: Session, work: Work) -> None:
    project = done.project
    launch = next(done.path.glob("launches/*/launch.json"))
    env = json.loads(launch.read_text())["env"]
    refusal = project.fails(3, "approve", done.name, "--yes", env=env)
    went_well(project, shown("type it in a terminal of your own: agentmux …", refusal))
    done.wait("done")
    assert work.lost() == []


@pytest.mark.follows("agentmux answer … --role …", "agentmux answer …")
def test_a_question_is_answered(project: Project, work: Work, wait_until: WaitUntil) -> None:
    project.scenario({"roles": {"architect": {"dialog": "permission"}}})
    project.config("defaults: {agent: demo}\nsnapshots: {interval: 0.2s}\n")
    session = project.start("add a greeting", "--worktree").until_seat("architect")
    text = ""

    def asked() -> bool:
        nonlocal text
        text = project.run("show", session.name).stdout
        return "agentmux answer" in text

    wait_until(asked)
    told = project.ok("status", session.name)
    assert "agentmux tell" not in told + project.run().stdout  # is refused while it asks
    (hint,) = (each.text for each in commands_of(shown("agentmux answer … --role …", told)))
    assert hint in text
    assert project.program("sh", "-c", hint).returncode == 2  # without a terminal
    script = re.search(r"in a script: (KEYS --screen \w+)", text)
    assert script is not None
    went_well(project, f"{hint} {script[1]}", KEYS="Enter")
    assert work.lost() == []


@pytest.mark.follows('agentmux tell … "…"')
def test_an_agent_that_stays_idle_is_told(project: Project, wait_until: WaitUntil) -> None:
    project.scenario(WAITS)
    project.config(
        "defaults: {agent: demo}\nsnapshots: {interval: 0.2s}\n"
        "stall: {turn_ended_after: 1s, nudge_after: 1s, report_after: 2s}\n"
    )
    session = project.start("add a greeting", "--worktree").until_seat("architect")
    wait_until(lambda: "agentmux tell" in project.ok("status", session.name), 30)
    told = project.ok("status", session.name)
    assert "agentmux answer" not in told
    went_well(project, shown('agentmux tell … "…"', told).replace("…", "go on"))


@pytest.mark.follows("to go on: agentmux resume … (it ended: …)", "to go on: agentmux resume …")
def test_a_session_that_lost_its_server_goes_on(
    project: Project, work: Work, wait_until: WaitUntil
) -> None:
    project.scenario(WAITS)
    session = project.start("add a greeting", "--worktree").settled("architect")
    work.plant(Path(session.state["worktree"]), "a coder")
    project.tmux("kill-server")
    wait_until(lambda: not project.processes(), 15, project._left)
    went_well(project, f"to go on: agentmux resume {session.short} --detach")
    session.until_seat("architect")
    assert work.lost() == []


@pytest.mark.follows("agentmux doctor --fix")
def test_what_commands_left_is_swept(project: Project, work: Work) -> None:
    project.scenario(WAITS)
    session = project.start("add a greeting", "--worktree").until_seat("architect")
    work.plant(Path(session.state["worktree"]), "a coder")
    project.ok("stop", session.name)
    half = session.path.with_name(f"{BURIED}{session.name}")
    shutil.copytree(session.path / "launches", half)
    found = json.loads(project.run("doctor", "--json").stdout)["findings"]
    assert "agentmux doctor --fix" in {each["mend"] for each in found}
    (done,) = follow(project, "agentmux doctor --fix")
    assert "Traceback" not in done.stderr
    assert (half.exists(), session.path.is_dir()) == (False, True)
    assert work.lost() == []


@pytest.mark.follows(
    "agentmux --project … trust",
    'for a small change: agentmux start --quick "…"',
    'next: agentmux start "…" (say what to build; … plays the roles)',
    '  agentmux start "…"   start a feature: say in a sentence or two what to build',
)
def test_a_small_feature_starts(project: Project, work: Work) -> None:
    project.scenario(WAITS)
    project.config("defaults: {agent: demo}\nverify: [{name: t, run: ['true']}]\n", trusted=False)
    went_well(project, f"agentmux --project {project.path} trust")
    told = project.ok()
    hint = shown(
        '  agentmux start "…"   start a feature: say in a sentence or two what to build', told
    )
    went_well(project, hint.split("   start a")[0].strip(), text="add a greeting")
    assert work.lost() == []


@pytest.mark.follows("agentmux stop … && agentmux resume …")
def test_a_session_is_stopped_and_resumed(
    project: Project, work: Work, wait_until: WaitUntil
) -> None:
    project.scenario(WAITS)
    session = project.start("add a greeting", "--worktree").settled("architect")
    work.plant(Path(session.state["worktree"]), "a coder")
    place = Path(session.state["worktree"])
    place.rename(place.with_name("away"))
    wait_until(lambda: "worktree is gone" in str(session.runtime.get("problem")))
    place.with_name("away").rename(place)
    line = shown("agentmux stop … && agentmux resume …", session.runtime["problem"])
    done = project.program("sh", "-c", f"{line.split(' (')[0]} --yes --detach")
    assert done.returncode == 0, done.stderr
    session.until_seat("architect")
    assert work.lost() == []


def _write_makefile(project: Project) -> None:
    (project.path / "Makefile").write_text("test:\n\ttrue\n")
    tools = project.path.parent / "tools"
    tools.mkdir()
    install_make(tools)
    project.env["PATH"] = f"{tools}:{project.env['PATH']}"


@pytest.mark.follows(
    "nothing will be verified; to find the tests and try them: agentmux init --checks"
)
def test_the_tests_are_found_and_tried(project: Project, work: Work) -> None:
    project.scenario(WAITS)
    _write_makefile(project)
    started = project.run("start", "add a greeting", "--worktree")
    work.plant(project.path, "a user")
    hint = shown("agentmux init --checks", started.stderr)
    assert project.program("sh", "-c", hint).returncode == 2  # nobody can be asked
    assert "verify: make-test" in project.run(*hint.split()[1:], "--defaults").stderr
    assert work.lost() == []


@pytest.mark.follows(
    "nothing was verified; to find the tests for next time: agentmux init --checks"
)
def test_the_tests_are_found_for_the_next_session(project: Project, work: Work) -> None:
    session = project.start("add a greeting", "--worktree").wait()
    work.plant(project.path, "a user")
    _write_makefile(project)
    hint = shown("agentmux init --checks", project.run("approve", session.name).stdout)
    assert "verify: make-test" in project.run(*hint.split()[1:], "--defaults").stderr
    assert work.lost() == []


@pytest.mark.follows("a session that began before takes it with: agentmux resume --repin")
def test_a_session_takes_what_was_found(project: Project, work: Work) -> None:
    project.scenario(WAITS)
    session = project.start("add a greeting", "--worktree").until_seat("architect")
    work.plant(Path(session.state["worktree"]), "a coder")
    _write_makefile(project)
    told = project.run("init", "--checks", "--defaults").stderr
    project.ok("stop", session.name)
    went_well(project, f"{shown('agentmux resume --repin', told)} --detach")
    assert [each["name"] for each in session.state["verify"]] == ["make-test"]
    assert work.lost() == []
