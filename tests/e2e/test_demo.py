"""`agentmux demo` as a program: its output, the files that it leaves, and its failing checks."""

import os
import re
import shutil
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from agentmux.adapters.system.processes.processes import processes_with_variable
from agentmux.demo.claims import TraceLine, claims, read_trace
from agentmux.demo.follower import Follower
from agentmux.demo.home import TRACE
from tests.conftest import TEST_ID, WaitUntil
from tests.e2e.conftest import Project
from tests.e2e.desk_pane import opened

RARE = pytest.mark.rare("CI runs the demo once")

pytestmark = pytest.mark.long

DEADLINE_S = 60
DEMO = (sys.executable, "-m", "agentmux", "demo")

ASCII = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
"""The environment of a system that supports only ASCII."""


def play(*words: str, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        (*DEMO, *words),
        check=False,
        env=os.environ | env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=DEADLINE_S,
    )


def nothing_runs(test_id: str) -> bool:
    return processes_with_variable(f"{TEST_ID}={test_id}") == ()


def test_the_demo_without_a_terminal(scratch: Path, isolated: str) -> None:
    done = play()

    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr == ""
    assert "\x1b" not in done.stdout
    for said in (
        r"^\$ agentmux start 'Add mean and median'",
        r"^\$ kill -KILL \d+",
        r"^\$ agentmux resume --dry-run --json$",
        r"^ +implementing goes on; coder-2: its conversation comes back$",
        r"^\$ agentmux resume ",
        r"^\$ agentmux approve",
        r"reviewing +reviewer_logic +handed in review: fail$",
        r"fixing +coder +launched, new conversation$",
        r"^ +implementing +[\d.]+ s +[\d.]+ s +tmux server killed here; resumed [\d.]+ s later$",
        r"^ +reviewing +[\d.]+ s +[\d.]+ s +.*logic: pass",
        r"^ +calc/median.py +\| +\d+ \+",
        r"^ +Agentmux-Event: [0-9a-f-]{36}$",
        r"ok +coder-1 was done before the kill: launched once, prompted once$",
        r"ok +coder-2 was killed at work: launched twice \(new, then ↻ continued\), in one conv",
        r"^ +verifying +[\d.]+ s +[\d.]+ s +tests: passed$",
        r"ok +the check of the project ran twice, and passed$",
        r"ok +1 commit was made on main, with 4 files; the work tree is clean$",
        r"ok +the project's tests pass: Ran 6 tests$",
        r"ok +no process is left$",
        r"^every check passed, in [\d.]+ s$",
        r"^next, in one of your git .*\n +agentmux agents +# .*\n +agentmux start '.*' +# ",
    ):
        assert re.search(said, done.stdout, re.MULTILINE), f"{said} is not in:\n{done.stdout}"
    assert "WRONG" not in done.stdout
    assert "FAILED" not in done.stdout
    assert nothing_runs(isolated)
    assert list(scratch.iterdir()) == []


@RARE
def test_what_is_kept_and_what_would_be_wrong(scratch: Path, isolated: str) -> None:
    done = play("--keep", **ASCII)
    assert done.returncode == 0, done.stdout + done.stderr
    assert nothing_runs(isolated)
    (root,) = scratch.iterdir()
    assert f"kept in {root}" in done.stdout

    look = f". {root}/env.sh && agentmux status && git log --format=%s"
    shown = subprocess.run(["sh", "-c", look], capture_output=True, text=True, check=True)
    assert "done" in shown.stdout
    assert shown.stdout.endswith("Add mean and median\nAdd a small calculator\n")

    (session,) = (root / "calc/.agentmux/.sessions").glob("2*")
    assert '"level": "error"' not in (session / "orchestrator.log").read_text("utf-8")
    follower = Follower(session, lambda _: None)
    follower.look()
    steps, trace = follower.steps, read_trace((session / TRACE).read_text())
    assert all(claim.holds for claim in claims(steps, trace))

    wrote = next(work for work in trace if work.seat == "coder-2" and work.did == "wrote")
    signalled = next(work for work in trace if work.did == "signalled")
    assert "coder-2 wrote calc/median.py 2 times" in wrong(steps, (*trace, wrote))
    assert f"launch {signalled.launch} sent 2, 1 counted" in wrong(steps, (*trace, signalled))
    assert "coder-1 was done before the kill: launched once, prompted twice" in wrong(
        steps, (*trace, TraceLine(seat="coder-1", launch="x", did="prompted", what=""))
    )
    for step in steps:
        kind, without = step.event.fact.kind, [each for each in steps if each is not step]
        if kind.startswith("submit_") or kind == "approve":
            assert "signals: " in wrong(without, trace) or step.event.seat == "reviewer_quality"
            assert "signals: " in wrong([*steps, step], trace)
        if kind == "agent_launched":
            assert wrong([*steps, step], trace)
    ignored = replace(steps[-1], accepted=False)
    assert "ignored" in wrong([*steps, ignored], trace)


def wrong(steps, trace) -> str:
    return "\n".join(claim.text for claim in claims(steps, trace) if not claim.holds)


@RARE
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["INT", "TERM"])
def test_whoever_stops_it_finds_nothing_left(
    scratch: Path, isolated: str, number: signal.Signals
) -> None:
    with subprocess.Popen(
        DEMO, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as demo:
        assert demo.stdout is not None
        for line in demo.stdout:
            if "coder-2" in line:
                break
        demo.send_signal(number)
        said, errors = demo.communicate(timeout=DEADLINE_S)

    assert demo.returncode == 130
    assert said.endswith("\ninterrupted: deleting everything\n")
    assert "Traceback" not in errors
    assert nothing_runs(isolated)
    assert list(scratch.iterdir()) == []


@pytest.fixture
def place(project: Project) -> Path:
    """The folder in which a demo in a terminal makes its temporary folder."""
    made = project.root / "t"
    made.mkdir()
    project.env["TMPDIR"] = str(made)
    return made


def test_a_person_sees_agents_work_resumes_and_decides(
    project: Project, wait_until: WaitUntil, place: Path
) -> None:
    with opened(project, wait_until, "demo") as person:
        person.shows("architect", "Working")
        person.shows("coder-1", "coder-2", "demo: Next, this tmux server is killed")
        person.shows("The tmux server was killed")
        person.shows("its conversation comes back")
        person.press("Enter")
        person.shows("demo: The feature is yours to decide on", within_s=40)
        person.shows("needs you 1", "tests: passed")
        person.press("a")
        person.shows("tests: passed", "4 files")
        person.press("a")
        person.shows("done 1")
        person.press("q")
        person.shows("$ git show --stat", "calc/median.py", "ended 0")
    assert list(place.iterdir()) == []
    wait_until(lambda: not project.processes(), 10, project._left)


@RARE
def test_who_leaves_it_undecided_is_told_that_nothing_was_committed(
    project: Project, wait_until: WaitUntil, place: Path
) -> None:
    with opened(project, wait_until, "demo") as person:
        person.shows("coder-1", "Working")
        person.press("C-b", "d")  # it goes on
        person.shows("handed in done", "The tmux server was killed")
        person.shows("its conversation comes back")
        person.press("Escape")
        person.shows("interrupted", "all keys")
        person.press("q")
        person.shows("You have not approved it: nothing was committed.", "ended 0")
    assert list(place.iterdir()) == []
    wait_until(lambda: not project.processes(), 10, project._left)


@RARE
@pytest.mark.parametrize("seen", ["Working", "its conversation comes back"])
def test_who_closes_the_terminal_leaves_nothing(
    project: Project, wait_until: WaitUntil, place: Path, seen: str
) -> None:
    with opened(project, wait_until, "demo") as person:
        person.shows(seen)
    wait_until(lambda: not project.processes(), 20, project._left)
    assert list(place.iterdir()) == []


@RARE
def test_ctrl_c_at_the_question_ends_it(
    project: Project, wait_until: WaitUntil, place: Path
) -> None:
    with opened(project, wait_until, "demo") as person:
        person.shows("its conversation comes back")
        person.press("C-c")
        person.shows("all keys")  # the question takes it as a no
        person.press("C-c")
        person.shows("nothing was committed", "ended 0")
    assert list(place.iterdir()) == []


def test_a_machine_without_tmux(scratch: Path, isolated: str, tmp_path: Path) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("git", "sh"):
        (tools / name).symlink_to(str(shutil.which(name)))
    done = play(PATH=str(tools))

    assert done.returncode != 0
    assert "tmux" in done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    assert nothing_runs(isolated)
    assert list(scratch.iterdir()) == []
