"""The terminal desk in a real tmux pane, over real sessions of the offline agent."""

import json
import os
import re
import shutil
import signal
from pathlib import Path

import pytest

from agentmux.adapters.disk.lock import SessionLock
from tests.cli.picker.picker_lab import make_session
from tests.conftest import WaitUntil
from tests.e2e.conftest import Project
from tests.e2e.desk_pane import ASKS, SLOW, opened

pytestmark = pytest.mark.rare("tests/desk has each screen and key, without a terminal")


def test_a_feature_is_watched_decided_and_seen_done(
    project: Project, wait_until: WaitUntil
) -> None:
    with opened(project, wait_until) as desk:
        desk.shows("no sessions")
        session = project.start("add a greeting")
        desk.shows("> add-a-greeting", "yours to decide", "1 needs you", "a approve", within_s=40)
        desk.press("a")
        desk.shows("What an approval of", "to be committed: 2 files", "a or y yes, Esc no")
        assert session.state["phase"] == "completing"
        desk.press("a")
        desk.shows("1 done", "committed")
    session.wait("done")
    assert project.git("log", "-1", "--format=%s").strip() == "add a greeting"


def test_a_decision_on_something_else_is_refused(project: Project, wait_until: WaitUntil) -> None:
    session = project.start("add a greeting").wait()
    with opened(project, wait_until) as desk:
        desk.shows("yours to decide")
        desk.press("a")
        desk.shows("to be committed: 2 files")
        (project.path / "another.py").write_text("later = 1\n")
        desk.press("y")
        desk.shows("is not what was shown", "Esc closes")
    assert session.state["phase"] == "completing"


def test_changes_are_asked_for_with_comments_on_the_diff(
    project: Project, wait_until: WaitUntil
) -> None:
    session = project.start("add a greeting").wait()
    with opened(project, wait_until) as desk:
        desk.shows("yours to decide")
        desk.press("4")
        desk.shows("diff --git a/demo_part_1.py")
        desk.press("Tab", *["Down"] * 7)
        desk.press("i")
        desk.shows("Comment on demo_part_1.py:")
        desk.type("name it better")
        desk.press("Enter")
        desk.shows("1 in the next request")
        desk.press("c")
        desk.shows("What should change in", "demo_part_1.py:", "name it better", "Enter twice")
        desk.shows("> fixing: a small change: one coder, then the reviews and the summary")
        desk.press("Tab")
        desk.shows("> implementing: the work is done again: a coder for each sub-plan")
        desk.press("Tab")
        desk.shows("> planning: a large change: the planner")
        desk.press("Enter")
        desk.shows("accepted")
    asked = [each for each in session.events if each["event"] == "request_changes"]
    text = asked[0]["payload"]["text"]
    assert re.fullmatch(r"demo_part_1\.py:\d+ “# .+”: name it better", text)
    assert asked[0]["payload"]["digest"]


def test_an_orchestrator_is_killed_under_its_eyes(project: Project, wait_until: WaitUntil) -> None:
    project.scenario(SLOW)
    session = project.start("add a greeting").until_seat("coder-1")
    with opened(project, wait_until) as desk:
        desk.shows("> add-a-greeting", "1 running")
        os.kill(session.runtime["orchestrator_pid"], signal.SIGKILL)
        desk.shows("1 interrupted", "its orchestrator is gone")
        desk.shows("R reattach", "to reattach", "nobody drives them", "R: reattach")
        desk.press("Enter")
        desk.shows("no orchestrator drives them", "y yes", "agentmux resume --reattach")
        desk.press("Escape")
        desk.lacks("y yes")
        assert not project.tmux("list-clients")
        desk.press("R")
        desk.shows("no orchestrator drives them", "y yes")
        desk.press("y")
        desk.shows("1 running", "is in phase", within_s=60)
        desk.press("S")
        desk.shows("Stop it?")
        desk.press("Escape")
        desk.lacks("Stop it?")
        assert session.runtime["orchestrator_pid"]
        desk.press("S")
        desk.shows("Stop it?")
        desk.press("y")
        desk.shows("1 interrupted", f"stopped {session.short}", within_s=30)
        desk.press("S")
        desk.shows("there is nothing to stop")
        desk.press("R")
        desk.shows("What a resume of", "resumes in implementing", "1 ↻ coder-1")
        desk.press("1")
        desk.shows("begins a new conversation (1: shell, stopped")
        desk.press("1")
        desk.shows("a shell for you instead of its agent (1: stopped")
        desk.press("1", "1")
        desk.shows("1 ↻ coder-1")
        desk.press("Enter")
        desk.shows("1 running", within_s=30)


def test_the_server_is_killed_and_all_marked_sessions_are_resumed(
    project: Project, wait_until: WaitUntil
) -> None:
    project.scenario(SLOW)
    sessions = [project.start(f"add part {number}", "--worktree") for number in (1, 2)]
    for each in sessions:
        each.until_seat("coder-1")
    with opened(project, wait_until, size=(80, 24)) as desk:
        desk.shows("2 running")
        os.kill(int(project.tmux("display-message", "-p", "#{pid}")), signal.SIGKILL)
        desk.shows("2 interrupted")
        wait_until(
            lambda: sum(" safe " in row[:34] for row in desk.screen.splitlines()) == 2,
            *(20, lambda: desk.screen),
        )
        desk.press("Home", "Space", "Space", "R")
        desk.shows("Resume 2 sessions", "↻ coder-1 demo: its conversation comes back")
        desk.press("Enter")
        desk.shows("resumed 2 of 2", "2 running", within_s=60)
        assert "R resume" not in desk.screen
        assert not any(row[1] == "*" for row in desk.screen.splitlines() if row[1:])


def test_a_question_is_answered_while_its_screen_is_there(
    project: Project, wait_until: WaitUntil
) -> None:
    project.scenario(ASKS)
    project.config("snapshots: {interval: 0.2s}\n")
    session = project.start("add a greeting")
    with opened(project, wait_until) as desk:
        desk.shows("waiting for you", "x answer", within_s=40)
        desk.press("x")
        desk.shows("architect of", "asks", "nothing written: the key Enter")
        desk.press("Enter")
        desk.shows("yours to decide", within_s=60)
    assert "seat_answered" in session.kinds()


def test_a_running_agent_is_told_something(project: Project, wait_until: WaitUntil) -> None:
    project.scenario(SLOW)
    session = project.start("add a greeting").until_seat("coder-1").settled("coder-1")
    with opened(project, wait_until, size=(80, 24)) as desk:
        desk.shows("> add-a-greeting", "1 running")
        desk.press("u")
        desk.shows("no agent of this session waits for a usage limit")
        desk.press("t")
        desk.shows("What to tell coder-1 of", "Enter twice")
        desk.type("name it better")
        desk.press("Enter", "Enter")
        desk.shows("coder-1 has it", within_s=90)
    assert session.kinds("seat_told") == ["seat_told"]


def test_live_screens_come_through_one_client(project: Project, wait_until: WaitUntil) -> None:
    project.scenario(SLOW)
    session = project.start("add a greeting").until_seat("coder-1").settled("coder-1")
    with opened(project, wait_until) as desk:
        desk.shows("1 running")
        desk.press("2")
        desk.shows("live: coder-1", "Demo agent")
        (client,) = project.tmux("list-clients", "-F", "#{client_flags}").splitlines()
        assert "control-mode" in client
        assert "ignore-size" in client
        pane = session.runtime["panes"]["coder-1"]["pane"]
        project.tmux("send-keys", "-t", pane, "-l", "typed elsewhere")
        desk.shows("typed elsewhere")
        desk.press("3")
        wait_until(lambda: not project.tmux("list-clients"), 10)


def test_a_session_is_removed_after_a_question(project: Project, wait_until: WaitUntil) -> None:
    session = project.start("add a greeting").wait().approve().gone()
    with opened(project, wait_until) as desk:
        desk.shows("1 done")
        desk.press("D")
        desk.shows("Remove it for good?")
        desk.press("n")
        desk.lacks("Remove it for good?")
        assert session.path.is_dir()
        desk.press("D")
        desk.shows("Remove it for good?")
        desk.press("y")
        desk.shows("no sessions")
    assert not session.path.exists()


def test_it_attaches_and_comes_back(project: Project, wait_until: WaitUntil) -> None:
    project.scenario(SLOW)
    project.start("add a greeting").until_seat("coder-1")
    with opened(project, wait_until, env="-u TMUX") as desk:
        desk.shows("1 running")
        desk.press("Enter")
        wait_until(lambda: project.tmux("list-clients"), 20, lambda: desk.screen)
        desk.press("C-b", "d")
        desk.shows("1 running", "1 overview")


def test_a_session_is_started_from_it(project: Project, wait_until: WaitUntil) -> None:
    project.config("defaults: {agent: demo}\n")
    with opened(project, wait_until) as desk:
        desk.shows("no sessions", "Press n to start a feature")
    project.start("an earlier one").wait()
    with opened(project, wait_until) as desk:
        desk.shows("> an-earlier-one", "yours to decide")
        desk.press("n")
        desk.shows("What should be built?", str(project.path), "feature \u203a  1 of 5")
        desk.type("@ add a greeting")
        desk.press("Enter", "Enter")
        desk.shows("> add-a-greeting", within_s=40)
    (path,) = (each for each in project.sessions() if "greeting" in each.name)
    assert json.loads((path / "state.json").read_text())["feature"] == "@ add a greeting"


def test_a_new_session_takes_an_agent_a_pipeline_and_a_place(
    project: Project, wait_until: WaitUntil
) -> None:
    """The desk stays, and no file of the project changes."""
    with opened(project, wait_until, size=(80, 24)) as desk:
        desk.shows("no sessions")
        desk.press("n")
        desk.shows("feature \u203a  1 of 5", "as usual \u203a  1 of 3", within_s=40)
        desk.type("add a greeting")
        desk.press("Tab", "Tab", "d")
        desk.shows("\u2039 demo \u203a", "scripted, works offline")
        desk.press("Tab", "q")
        desk.shows("quick \u203a", "For a small change")
        desk.press("Tab", "Right")
        desk.shows("worktree \u203a  2 of 3")
        desk.press("Enter")
        desk.shows("starting \u2026", within_s=40)
        desk.shows("> add-a-greeting", "yours to decide", within_s=60)
    (path,) = (each for each in project.sessions() if "greeting" in each.name)
    state = json.loads((path / "state.json").read_text())
    assert state["pipeline"]["name"] == "quick"
    assert Path(state["worktree"]).is_dir()
    assert not (project.path / ".agentmux/config.yaml").exists()


def test_a_new_session_asks_in_the_desk_what_a_start_asks(
    project: Project, wait_until: WaitUntil
) -> None:
    """Trust in the project's files, and consent to start beside a session that is not done."""
    project.start("an earlier one").wait()
    project.ok("stop", "an-earlier-one")
    project.config("defaults: {agent: demo}\n", trusted=False)
    with opened(project, wait_until) as desk:
        desk.shows("> an-earlier-one", "stopped")
        desk.press("n")
        desk.shows("as configured \u203a", "demo", within_s=40)
        desk.type("add a greeting")
        desk.press("Tab", "Tab", "Tab", "Tab", "n")
        desk.shows("no-worktree \u203a  3 of 3")
        desk.press("Enter")
        desk.shows("another unfinished session", "Start anyway?", within_s=40)
        desk.press("Escape")
        desk.shows("add a greeting", "nothing was started", "no-worktree \u203a")
        desk.press("C-s")
        desk.shows("Start anyway?", within_s=40)
        desk.press("y")
        desk.shows("this project is not trusted", "defaults.agent", "Trust this in", within_s=40)
        desk.press("y")
        desk.shows("> add-a-greeting", within_s=60)
    assert len(project.sessions()) == 2
    assert "not trusted" not in project.run("start", "--dry-run", "--worktree", "x").stderr


def test_an_agent_may_look_but_not_decide(project: Project, wait_until: WaitUntil) -> None:
    session = project.start("add a greeting").wait()
    agent = "AGENTMUX_LAUNCH_ID=abc AGENTMUX_SEAT=coder-1"
    with opened(project, wait_until, env=agent) as desk:
        desk.shows("yours to decide")
        desk.press("a")
        desk.shows("this is for a person", "coder-1")
        desk.press("D")
        desk.shows("this is for a person")
    assert session.state["phase"] == "completing"


def test_sessions_that_cannot_be_read_and_locks_of_others_are_shown(
    project: Project, wait_until: WaitUntil
) -> None:
    broken = project.start("break me").wait().approve().gone()
    held = project.start("hold me").wait().approve().gone()
    (broken.path / "state.json").write_text("{")
    (broken.path / "state.json.bak").write_text("{")
    (broken.path / "tool_events.jsonl").write_text('{"v": 999, "event": "of a later version"}\n')
    lock = SessionLock(held.path)
    state = {**held.state, "phase": "implementing"}
    (held.path / "state.json").write_text(json.dumps(state))
    lock.acquire(5, {"pid": 1, "host": "elsewhere"})
    try:
        with opened(project, wait_until) as desk:
            desk.shows("break-me", "unreadable", "hold-me")
            desk.press("D")
            desk.shows("Remove it for good?")
            desk.press("Enter", "x")  # neither agrees
            desk.press("Escape")
            desk.lacks("Remove it for good?")
            assert broken.path.is_dir()
            desk.press("/", *"hold", "Enter")
            desk.shows("> hold-me")
            desk.press("S")
            desk.shows("Stop it?")
            desk.press("y")
            desk.shows("Esc closes")
    finally:
        lock.release()


def test_a_storm_of_resizes_and_the_mouse(project: Project, wait_until: WaitUntil) -> None:
    for number in (1, 2):
        project.start(f"add part {number}").wait().approve().gone()
    with opened(project, wait_until) as desk:
        desk.shows("2 done", "> add-part-2")
        for number in range(60):
            desk.tmux("resize-window", "-t", "desk", "-x", str(20 + 3 * number % 130), "-y", "9")
            desk.tmux("resize-window", "-t", "desk", "-x", "2", "-y", "2")
        desk.resize(120, 36)
        desk.shows("2 done", "> add-part-2", "1 overview")
        rows = desk.screen.splitlines()
        place = next(number for number, row in enumerate(rows, start=1) if "add-part-1" in row)
        desk.click(6, place)
        desk.shows("> add-part-1")
        desk.press("6")
        desk.shows("commit made", "journal created")
        desk.resize(120, 20)
        desk.lacks("journal created")
        for _ in range(12):
            desk.turn_wheel(80, 12)
        desk.lacks("commit made")
        for _ in range(12):
            desk.turn_wheel(80, 12, up=True)
        desk.shows("commit made", "> add-part-1")
        desk.press("1")
        desk.resize(120, 36)
        desk.lacks("orchestrator")
        desk.shows("6 log")
        column = desk.screen.splitlines()[1].index("journal")
        desk.click(column + 2, 2)
        desk.shows("journal created")
        foot = desk.screen.splitlines()[35]
        desk.click(foot.index("all keys") + 2, 36)
        desk.shows("All keys of the desk")


def test_it_is_left_by_q_and_piped_it_says_where_the_project_stands(
    project: Project, wait_until: WaitUntil
) -> None:
    with opened(project, wait_until) as desk:
        desk.shows("no sessions")
        desk.press("q")
        desk.shows("ended 0")
    assert project.ok().startswith("no sessions in ")


@pytest.mark.parametrize("environ", ["NO_COLOR=1", "CLICOLOR=0"])
def test_it_uses_no_colours_where_none_are_wanted(
    project: Project, wait_until: WaitUntil, environ: str
) -> None:
    project.start("add a greeting").wait()
    with opened(project, wait_until, env=environ) as desk:
        desk.shows("yours to decide", "overview")
        shown = desk.tmux("capture-pane", "-pe", "-t", "desk")
    assert not re.search(r"\x1b\[[0-9;]*\b(3[0-7]|4[0-7]|9[0-7]|38|48)\b", shown)


def test_projects_that_were_used_are_shown_together(
    project: Project, wait_until: WaitUntil
) -> None:
    project.start("add a greeting").wait().approve().gone()
    other = project.root / "other"
    (other / ".agentmux").mkdir(parents=True)
    with opened(project, wait_until) as desk:
        desk.shows("1 done")
        project.ok("--project", str(other), "start", "--agent", "demo", "--", "a second project")
        desk.shows("a-second-project", "other", within_s=40)
        register = Path(project.env["XDG_STATE_HOME"]) / "agentmux" / "projects"
        assert register.read_text().splitlines() == [str(project.path), str(other)]
    project.tmux("kill-server")


def test_a_thousand_sessions_of_twenty_projects_are_listed_and_searched(
    project: Project, wait_until: WaitUntil
) -> None:
    made = make_session(project.root / "seed", "20260101-100000-seed", feature="seed")
    projects = [project.root / f"shop-{number:02}" for number in range(20)]
    for place in projects:
        for number in range(50):
            name = f"20260101-100000-{place.name}-command-{number:02}"
            shutil.copytree(made, place / ".agentmux/.sessions" / name)
    register = Path(project.env["XDG_STATE_HOME"]) / "agentmux" / "projects"
    register.parent.mkdir(parents=True, exist_ok=True)
    register.write_text("".join(f"{each}\n" for each in projects))
    with opened(project, wait_until, size=(80, 24)) as desk:
        desk.shows("1000 interrupted", within_s=90)
        desk.press("/")
        desk.type("shop-17 command-42")
        desk.shows("interrupted 1 ", "> shop-17-… shop-17", "architecting, in shop-17", within_s=90)
        desk.lacks("shop-16")
        desk.press("Escape")
        desk.lacks("\u258f")
        desk.press("n")
        desk.shows("What should be built?", f"{project.path.name} \u203a  1 of 21")
        desk.press("Tab", "Right")
        desk.shows("2 of 21")
        desk.press("s")
        desk.shows("3 of 21")


def test_the_diff_is_searched_and_opened_in_an_editor_and_a_pager(
    project: Project, wait_until: WaitUntil
) -> None:
    for name, ends in (("editor", 0), ("pager", 0)):
        program = project.root / name
        took = f'echo {name} $# "$@" >> {project.root}/opened'
        program.write_text(f"#!/bin/sh\n{took}\n[ -t 0 ] || wc -l\nexit {ends}\n")
        program.chmod(0o755)
    project.git("config", "core.pager", str(project.root / "pager"))
    project.start("add a greeting").wait()
    editor = f"VISUAL='{project.root}/editor --now' LESS=-RX"
    with opened(project, wait_until, size=(120, 60), env=editor) as desk:
        desk.shows("yours to decide")
        desk.press("4", "Tab")
        desk.shows("diff --git a/demo_part_1.py", "1 of 2 (. next)")
        desk.press("/")
        desk.type("no such text")
        desk.shows("/no such text", "no line here has it")
        desk.press("C-u")
        desk.type("test of")
        desk.shows("1 of 1 lines")
        desk.press("Enter", "Escape")
        desk.shows("2 of 2 (. next)", "tests/test_demo_part_1.py")
        desk.press("v")
        desk.shows("2 changed files", "Enter goes there")
        desk.press("Up", "Enter")
        desk.shows("1 of 2 (. next)", "A demo_part_1.py")
        desk.press("e")
        opened_ = project.root / "opened"
        wait_until(opened_.exists, 20, lambda: desk.screen)
        assert opened_.read_text() == f"editor 2 --now {project.path}/demo_part_1.py\n"
        desk.shows("1 of 2 (. next)")
        desk.press("P")
        desk.shows("Enter: back to the desk")  # the diff fits on the screen
        desk.press("Enter")
        desk.shows("1 of 2 (. next)")
    assert "pager 0" in opened_.read_text()
