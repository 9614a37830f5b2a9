"""Every command, run as a program: its answers, its exit codes, and what it must not change."""

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from agentmux.adapters.system.processes.processes import is_alive
from tests.conftest import WaitUntil
from tests.e2e.conftest import QUICK, Client, Project, Session, make_root
from tests.e2e.pair import child_of


@pytest.fixture(scope="module")
def live() -> Iterator[Session]:
    """A live session whose architect thinks for a long time."""
    project = Project(make_root())
    project.scenario({"roles": {"architect": {"think": 3600}}})
    yield project.start("hold on").until_seat("architect").settled("architect")
    project.close()


@pytest.fixture
def undisturbed(live: Session, wait_until: WaitUntil) -> Iterator[None]:
    """Check that the same processes run afterwards, and no others.

    The orchestrator may be running tmux at that moment, so the check waits for such processes.
    """

    def lasting() -> set[int]:
        form = "#{pid} #{pane_pid} #{@agentmux_seat}"
        listed = live.project.tmux("list-panes", "-a", "-F", form).splitlines()
        (wrapper,) = [line.split()[1] for line in listed if line.endswith(" architect")]
        return {int(pid) for line in listed for pid in line.split()[:2]} | {child_of(int(wrapper))}

    before = lasting()
    yield
    assert lasting() == before
    wait_until(
        lambda: {pid for pid, _ in live.project.processes()} == before, 5, live.project._left
    )


@pytest.fixture(scope="module")
def rested() -> Iterator[Session]:
    """A done session in a project with another, stopped one; no process runs."""
    project = Project(make_root())
    done = project.start("first feature").wait().approve()
    project.scenario({"roles": {"architect": {"silent": True}}})
    stopped = project.start("second feature").until_seat("architect").settled("architect")
    project.ok("stop", stopped.name)
    yield done
    project.close()


# -- looking at a live session -------------------------------------------------------------------


@pytest.mark.parametrize("word", ["list", "status"])
def test_sessions_as_json(live: Session, word: str) -> None:
    answer = live.project.json(word)
    (seen,) = answer["sessions"]
    wanted = {
        "session", "path", "phase", "status", "cycle", "review_iteration", "live",
        "orchestrator", "seats", "interruption", "updated_at",
    }  # fmt: skip
    assert wanted <= set(seen)
    assert seen["session"] == live.name
    assert seen["path"] == f".agentmux/.sessions/{live.name}"
    assert (seen["phase"], seen["cycle"], seen["review_iteration"]) == ("architecting", 1, 0)
    assert seen["live"] is True
    assert seen["status"] == "running"
    assert [each["seat"] for each in seen["seats"]] == ["architect"]
    assert answer["problems"] == []


def test_sessions_for_people(live: Session) -> None:
    assert "hold-on  architecting  running" in live.project.ok("list")
    shown = live.project.ok("status", "hold-on")
    assert "architect" in shown
    assert "\x1b" not in shown
    assert live.project.ok("logs", live.name).strip()
    assert "architect: demo" in live.project.ok("logs", live.name, "-n", "20")
    assert live.project.ok("logs", live.name, "-n", "0") == ""


def test_from_inside_the_session(live: Session) -> None:
    (seen,) = live.project.json("status", cwd=live.path / "launches")["sessions"]
    assert seen["session"] == live.name


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (3, ["resume"]),
        (3, ["resume", "hold-on", "--yes"]),
        (3, ["resume", "--phase", "architecting", "--yes"]),
        (3, ["resume", "--reattach"]),
        (3, ["remove", "--yes"]),
        (3, ["approve", "--yes"]),
        (3, ["request-changes", "more"]),
        (9, ["wait", "hold-on", "--timeout", "0.3"]),
        (9, ["wait", "hold-on", "--for", "decision", "--timeout", "0"]),
        (2, ["wait", "hold-on", "--for", "lunch"]),
        (2, ["wait", "hold-on", "--timeout", "inf"]),
        (2, ["wait", "hold-on", "--timeout", "nan"]),
        (2, ["wait"]),
        (4, ["wait", "nosuch"]),
        (4, ["status", "nosuch"]),
        (4, ["logs", "nosuch"]),
        (4, ["attach", "nosuch"]),
        (4, ["stop", "nosuch"]),
        (4, ["remove", "nosuch", "--yes"]),
        (4, ["approve", "nosuch", "--yes"]),
        (2, ["attach"]),
        (2, ["start", "--agent", "demo", "--name", "hold-on", "x"]),
        (4, ["resume", "--all", "--yes"]),
        (2, ["stop", "--now"]),
        (2, ["nosuch"]),
        (2, ["request-changes", "@nosuch.md"]),
        (8, ["request-changes", " "]),
        (2, ["submit", "plan"]),
        (2, ["restart"]),
        (7, ["resume", "--config", "nosuch.yaml"]),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else str(value),
)
@pytest.mark.usefixtures("undisturbed")
def test_a_refusal_changes_nothing(live: Session, code: int, words: list[str]) -> None:
    project = live.project
    before = _settled_tree(live)
    said = project.fails(code, *words)
    assert "hint: " in said or code in {2, 4, 7, 8}
    if words[0] not in {"approve", "request-changes"}:  # these are journaled even when ignored
        assert _settled_tree(live) == before
    assert live.state["phase"] == "architecting"


def test_a_decision_that_does_not_count_is_one_answer(live: Session) -> None:
    project = live.project
    refused = project.json("request-changes", " ", "-s", live.name, code=8)
    assert (refused["result"], refused["problems"]) == ("refused", ["text: empty"])
    said = project.fails(8, "request-changes", " ", "-s", live.name)
    assert said.endswith("\n- text: empty\n")
    ignored = project.json("request-changes", "more", "-s", live.name, code=3)
    assert ignored["result"] == "ignored"
    assert ignored["reason"] in project.fails(3, "request-changes", "more", "-s", live.name)


def _settled_tree(live: Session) -> str:
    """Return a hash of all files except those that the orchestrator keeps rewriting."""
    live.settled("architect")  # an earlier test may have submitted something
    own = {"runtime_state.json", "orchestrator.log", "session.lock.json", "snapshots"}
    kept = []
    for folder, folders, names in os.walk(live.project.path):  # passes over folders that have gone
        folders[:] = sorted(set(folders) - own)
        for name in sorted(set(names) - own):
            path = Path(folder, name)
            # Skip incomplete files, which have temporary names, and pipes, which would block.
            if not name.startswith(".tmp-") and path.is_file():
                with suppress(FileNotFoundError):
                    kept.append((folder, name, path.read_bytes()))
    return str(hash(tuple(kept)))


def test_the_message_of_a_live_session(live: Session) -> None:
    said = live.project.fails(3, "resume")
    name = live.state["session_name"]
    assert f"tmux session {name} is still active. Detach or kill it before resuming.\n" in said
    assert f"agentmux attach {live.short}" in said
    assert f"agentmux stop {live.name}" in said
    (plan,) = live.project.json("resume", "--dry-run", code=3)["sessions"]
    assert plan["blocked"]["code"] == 3
    assert plan["blocked"]["reason"] == "session_live"
    answer = live.project.json("resume", code=3)
    assert answer["problems"][0]["code"] == 3
    why = live.project.run("resume", "--explain")
    assert why.returncode == 3
    assert f"session {live.short} is running, in phase architecting\n" in why.stdout
    assert "architecting: not complete" in why.stdout
    assert not {"blocked:", "resumes", "stop"} & set(why.stdout.split())


@pytest.mark.usefixtures("undisturbed")
def test_beside_a_live_session_in_one_checkout_none_begins(live: Session) -> None:
    before = _settled_tree(live)
    for more in ((), ("--dry-run",), ("--yes",)):
        said = live.project.fails(3, "start", "--agent", "demo", "--no-worktree", *more, "x")
        assert f"session {live.short} is live in this checkout" in said
        assert f"agentmux attach {live.short}" in said
        assert f"agentmux stop {live.name}" in said
    assert live.project.sessions() == [live.path]
    assert _settled_tree(live) == before


@pytest.mark.rare("tests/app/commands looks at starts without processes")
@pytest.mark.long
def test_a_dry_start_makes_nothing(rested: Session) -> None:
    project = rested.project
    before, there = project.tree(), project.sessions()
    words = ("start", "--dry-run", "--agent", "demo", "--role", "logic=demo:big", "x")
    answer = project.json(*words)
    assert answer["agents"]["reviewer_logic"] == "demo"
    assert answer["phase"] == "architecting"
    assert answer["models"] == {"reviewer_logic": "big"}
    said = project.ok(*words).splitlines()
    assert any("would start" in each for each in said)
    assert ["reviewer_logic", "demo:big"] in [each.split() for each in said]
    assert ["reviewer_quality", "demo"] in [each.split() for each in said]
    assert project.sessions() == there
    assert project.tree() == before


# -- looking at sessions that do not run ---------------------------------------------------------


def test_dry_runs_leave_every_byte(rested: Session) -> None:
    project = rested.project
    before = project.tree()
    (plan,) = project.json("resume", "--dry-run", "--all")["sessions"]
    assert plan["phase"] == "architecting"
    assert plan["panes"][0]["seat"] == "architect"
    assert plan["panes"][0]["mode"] == "native"  # a fresh one would get a new id in each dry run
    assert plan["blocked"] is None
    assert {"state_phase", "state_source", "evidence", "unapplied_events"} <= set(plan)
    said = project.ok("resume", "--dry-run", "--explain")
    assert "architecting: not complete" in said
    pane = plan["panes"][0]
    *words, _ = pane["argv"]  # the last one names a launch, whose id is new in each dry run
    assert f"    runs: {shlex.join(words)} " in said
    assert f"\n      in: {pane['cwd']}\n" in said
    assert all(f"    with: {name}={text}\n" in said for name, text in pane["env"].items())
    assert project.tree() == before
    assert not project.processes()


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (0, ["list"]),
        (0, ["list", "--json"]),
        (0, ["status"]),
        (0, ["logs", "second-feature"]),
        (0, ["agents"]),
        (0, ["version"]),
        (0, ["--version"]),
        (0, ["--help"]),
        (0, ["resume", "--help"]),
        (0, ["wait", "first-feature"]),
        (0, ["wait", "first-feature", "--for", "planning"]),
        (1, ["wait", "first-feature", "--for", "failed", "--timeout", "5"]),
        (4, ["stop", "first-feature"]),
        (4, ["stop", "second-feature"]),
        (2, ["remove", "second-feature"]),
        (2, ["resume", "second-feature", "--phase", "reviewing", "--yes"]),
        (2, ["resume", "second-feature", "--phase", "nosuch", "--yes"]),
        (2, ["resume", "second-feature", "--reattach"]),
        (2, ["resume", "second-feature", "--attach"]),
        (4, ["attach", "second-feature"]),
        (4, ["logs", "2"]),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else str(value),
)
def test_what_only_looks_leaves_every_byte(rested: Session, code: int, words: list[str]) -> None:
    project = rested.project
    before = project.tree()
    done = project.run(*words)
    assert done.returncode == code, done.stdout + done.stderr
    assert ("error: " in done.stderr) is (code != 0), done.stderr
    assert project.tree() == before
    assert not project.processes()


def test_a_session_is_found_by_many_names(rested: Session) -> None:
    project = rested.project
    for name in (
        rested.name, str(rested.path), f".agentmux/.sessions/{rested.name}", "first-feature",
        "first",
    ):  # fmt: skip
        (seen,) = project.json("status", name)["sessions"]
        assert seen["session"] == rested.name
    said = project.fails(4, "status", rested.name[:6])
    assert "first-feature" in said
    assert "second-feature" in said


# -- the data ------------------------------------------------------------------------------------


def test_data_that_cannot_be_read(rested: Session) -> None:
    project = rested.project
    copy = project.path / ".agentmux" / ".sessions" / "20260101-000000-newer"
    shutil.copytree(rested.path, copy, ignore=shutil.ignore_patterns("*.fifo"))
    state = json.loads((copy / "state.json").read_text())
    (copy / "state.json").write_text(json.dumps({**state, "schema_version": 99}))
    try:
        before = project.tree()
        answer = project.json("list", code=5)
        assert len(answer["sessions"]) == 3
        assert [each["session"] for each in answer["problems"]] == [copy.name]
        assert "99" in answer["problems"][0]["message"]
        project.fails(5, "resume", copy.name)
        project.json("resume", "--dry-run", "--all", code=5)
        assert project.tree() == before
    finally:
        shutil.rmtree(copy)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("defaults: {agnet: demo}\n", ["config.yaml:2", "agnet", "agent"]),
        ("defaults:\n  agent: demo\nstal: {}\n", ["config.yaml:4", "stal", "stall"]),
        ("roles: {coder: {single: maybe}}\n", ["config.yaml:2"]),
        ("roles: {cooder: {}}\n", ["config.yaml:2", "coder"]),
        ("resume: {max_age: soon}\n", ["config.yaml:2"]),
        ("tmux: {size: [1, 2, 3]}\n", ["config.yaml:2"]),
        ("defaults: [\n", ["config.yaml:"]),
        ("defaults: {max_review_iterations: -1}\n", ["config.yaml:2"]),
        ("a: &x [1]\nb: *x\n", ["config.yaml:"]),
        ("x: !!python/object/apply:os.system [id]\n", ["config.yaml:"]),
    ],
)
def test_a_wrong_configuration_is_named_with_its_line(
    project: Project, text: str, said: list[str]
) -> None:
    project.config(text, trusted=False)
    before = project.tree()
    told = project.fails(7, "start", "--agent", "demo", "x")
    for part in said:
        assert part in told
    assert project.json("start", "--agent", "demo", "x", code=7)["problems"][0]["code"] == 7
    assert project.tree() == before
    assert not project.processes()


def test_the_layers_of_the_configuration(project: Project) -> None:
    user = project.home / "config" / "agentmux"
    user.mkdir(parents=True)
    (user / "config.yaml").write_text("version: 1\ndefaults: {agent: nosuch}\n")
    assert "nosuch" in project.fails(6, "start", "--dry-run", "x")
    project.config("defaults: {agent: demo}\n")
    project.ok("start", "--dry-run", "x")
    (project.path / "other.yaml").write_text("version: 1\ndefaults: {agent: other-one}\n")
    assert "other-one" in project.fails(6, "start", "--config", "other.yaml", "--dry-run", "x")
    project.ok("start", "--config", "other.yaml", "--agent", "demo", "--dry-run", "x")


def test_init(project: Project) -> None:
    project.fails(2, "init")
    project.ok("init", "--defaults")
    path = project.path / ".agentmux" / "config.yaml"
    assert "agent: " in path.read_text()
    before = project.tree()
    assert str(path) in project.fails(2, "init", "--defaults")
    project.run("list", "--json")
    assert project.tree() == before


@pytest.mark.rare("tests/app/commands looks at starts without processes")
@pytest.mark.long
def test_a_start_that_nobody_watches_says_what_its_agents_need(
    project: Project, wait_until: WaitUntil
) -> None:
    asks = "demo asks before it acts"
    start = ("start", "--agent", "demo", "--dry-run", "x")
    assert asks not in project.run(*start).stderr  # the registry has no unattended_args for it
    project.config("agents: {demo: {unattended_args: [--permission-mode, accept]}}\n")
    (said,) = [each for each in project.json(*start)["warnings"] if asks in each]
    assert "agents.demo.permission_args" in said
    assert "--permission-mode accept" in said
    for words, warned in (((), False), (("--detach",), True), (("--attach",), False)):
        with Client(project, sys.executable, "-m", "agentmux", *start, *words) as client:
            client.process.wait(60)
            wait_until(lambda: "would start" in client.said, 10, lambda: client.said)
            assert (asks in client.said) is warned

    project.scenario({"roles": {"architect": {"silent": True}}})
    answer = project.json("start", "--agent", "demo", "x")
    assert said in answer["warnings"]
    project.ok("stop")
    for allowed in (
        "agents: {demo: {unattended_args: [--yes], permission_args: [--some]}}\n",
        "agents: {demo: {unattended_args: [--yes], args: [--yes]}}\n",
    ):
        project.config(allowed)
        assert asks not in str(project.json(*start)["warnings"])


def test_init_offers_what_is_there(project: Project, wait_until: WaitUntil) -> None:
    with Client(project, sys.executable, "-m", "agentmux", "init") as client:
        for typed, answered in (
            ("77", "`77` is not in the list"),
            ("demo", "all of it? [Y/n]: "),
            ("claude", "`claude` is neither yes nor no"),
            ("", "[auto]: "),
            ("", "Write it? [Y/n]: "),
            ("", "next: agentmux start"),
        ):
            wait_until(lambda: client.said.endswith(("]: ", "name: ")), 20)
            client.press(f"{typed}\r")
            wait_until(lambda said=answered: said in client.said, 20, lambda: client.said)
        assert client.process.wait(60) == 0
        assert "works offline" in client.said
    assert 'agent: "demo"' in (project.path / ".agentmux" / "config.yaml").read_text()


# -- the life of a session -----------------------------------------------------------------------


def test_what_cannot_be_shown_here_is_not_begun(project: Project) -> None:
    before = project.tree()
    words = ("start", "--agent", "demo", "--branch", "auto", "--attach", "x")
    (problem,) = project.json(*words, code=2)["problems"]
    assert problem["message"] == "cannot attach without a terminal"
    assert "use --detach" in project.fails(2, *words)
    begin = (sys.executable, "-m", "agentmux", *words)
    with Client(project, "env", "TMUX=/tmp/other,1,0", *begin) as client:
        assert client.process.wait(60) == 2
    assert "another tmux server" in client.said
    assert project.tree() == before
    assert not project.processes()


def test_nothing_to_resume(project: Project) -> None:
    before = project.tree()
    project.fails(4, "resume")
    project.fails(4, "resume", "--dry-run")
    project.fails(4, "status")
    project.fails(4, "stop")
    assert project.json("list")["sessions"] == []
    assert project.tree() == before
    assert not project.processes()


@pytest.mark.long
def test_stop_resume_go_back_and_remove(project: Project, wait_until: WaitUntil) -> None:
    session = project.start().wait()
    # A reviewer's role is accepted in each of its spellings.
    roles = ("logic", "reviewer_logic", "reviewer-logic")
    for role in roles:
        assert "`reviewer_logic`" in project.fails(4, "restart", session.name, "--role", role)
    assert "agentmux resume" in project.ok("stop", session.name)
    wait_until(lambda: not project.processes())
    (seen,) = project.json("status", session.name)["sessions"]
    assert (seen["status"], seen["live"], seen["phase"]) == ("stopped", False, "completing")

    for role in roles:
        answer = project.json("show", session.name, "--role", role)
        assert [each["seat"] for each in answer["sessions"][0]["screens"]] == ["reviewer_logic"]
        project.ok("resume", "--dry-run", "--fresh-role", role, session.name)

    # A damaged journal is reported for its session, and the session is still shown.
    journal = session.path / "tool_events.jsonl"
    whole = journal.read_bytes()
    for damaged in (whole[:10], b"x" + whole):
        journal.write_bytes(damaged)
        answer = project.json("status", code=5)
        assert [each["session"] for each in answer["sessions"]] == [session.name]
        assert str(journal) in answer["problems"][0]["message"]
    journal.write_bytes(whole)

    # A decision about a stopped session takes effect at the next resume.
    project.ok("approve", session.name, "--yes")
    assert session.state["phase"] == "completing"
    (plan,) = project.json("resume", "--dry-run")["sessions"]
    assert plan["unapplied_events"] >= 1
    said = project.ok("status", session.name)
    assert "your decision is recorded" in said
    assert f"next: agentmux resume {session.short}\n" in said
    said = project.ok("resume", "--dry-run", "--phase", "planning")
    otherwise = "chosen by --phase; otherwise it would be completing: "
    assert f"{session.short} resumes in planning ({otherwise}" in said
    assert "warning: your recorded approval is withdrawn" in said
    flags = ("--fresh-role", "architct", session.name)
    for how in ("--dry-run", "--detach"):
        said = project.fails(4, "resume", how, *flags)
        assert "no seat `architct`" in said
        assert "seats: architect, " in said

    project.ok("resume", session.name, "--detach")
    session.wait("done").gone()
    assert session.launched().count("reviewer_logic") == 2
    assert project.git("log", "-1", "--format=%s") == "add a greeting\n"
    project.fails(4, "resume")

    project.ok("remove", session.name, "--yes")
    assert project.sessions() == []
    assert project.json("list")["sessions"] == []
    assert project.git("log", "-1", "--format=%s") == "add a greeting\n"


@pytest.mark.rare("test_stop_resume_go_back_and_remove goes back, too")
@pytest.mark.long
def test_going_back_to_an_earlier_phase(project: Project) -> None:
    session = project.start().wait()
    project.ok("stop", session.name)
    before = project.tree()
    project.fails(2, "resume", session.name, "--phase", "planning")
    assert project.tree() == before
    project.ok("resume", session.name, "--phase", "planning", "--yes", "--detach")
    session.wait()
    assert session.launched() == [
        "architect", "planner", "coder-1", "reviewer_logic", "reviewer_logic",
        "planner", "coder-1", "reviewer_logic", "reviewer_logic",
    ]  # fmt: skip
    assert list((session.path / "history").rglob("plan.yaml"))


@pytest.mark.long
def test_an_orchestrator_that_died_over_live_panes(project: Project, wait_until: WaitUntil) -> None:
    project.scenario({"roles": {**QUICK["roles"], "architect": {"submit": "when-told"}}})
    session = project.start().until_seat("architect")
    (seen,) = project.json("status")["sessions"]
    os.kill(seen["orchestrator"], signal.SIGKILL)
    wait_until(lambda: not is_alive(seen["orchestrator"], 0))  # until then it has the lock
    said = project.fails(3, "resume", session.name)
    assert "--reattach" in said
    project.ok("resume", session.name, "--reattach", "--detach")
    assert session.launched() == ["architect"]
    (seen,) = project.json("status")["sessions"]
    assert seen["live"] is True
    assert seen["orchestrator"]
    project.ok("stop", session.name)
    (left,) = project.json("resume", "--dry-run")["sessions"]
    assert left["phase"] == "architecting"


@pytest.mark.parametrize("term", ["xterm-nobody-knows", "dumb"])
def test_a_terminal_that_tmux_cannot_use_is_named_with_what_to_type(
    live: Session, term: str
) -> None:
    live.project.env |= {"NO_COLOR": "1", "TERM": term}
    words = (sys.executable, "-m", "agentmux", "attach", live.name)
    with Client(live.project, *words) as client:
        said = client.ended(6).replace("\r", "")
    assert f"error: tmux cannot use this kind of terminal, TERM={term}: " in said
    assert f"hint: TERM=xterm-256color agentmux attach {live.short}\n" in said
    assert not said.startswith(("open terminal", "missing or"))


def test_an_approval_out_of_season_shows_and_asks_nothing(
    live: Session, wait_until: WaitUntil
) -> None:
    done = live.project.run("approve", live.name)
    assert done.returncode == 3
    assert "takes no such decision now" in done.stderr
    assert not done.stdout
    words = (sys.executable, "-m", "agentmux", "approve", live.name)
    with Client(live.project, *words) as asked:
        wait_until(lambda: asked.process.poll() is not None, 20, lambda: asked.said)
        assert asked.process.returncode == 3
        wait_until(lambda: "takes no such decision now" in asked.said)
    assert "Approve?" not in asked.said
    assert "committed" not in asked.said


@pytest.mark.long
def test_an_approval_shows_what_it_commits_until_it_is_decided(project: Project) -> None:
    session = project.start().wait()
    project.ok("stop", session.name)
    assert "to be committed: 2 files" in project.ok("approve", session.name, "--yes")
    again = project.run("approve", session.name, "--yes")
    assert (again.returncode, again.stdout) == (3, "")
    assert "approved already" in again.stderr


@pytest.mark.long
def test_a_second_feature_waits_until_the_first_one_rests(project: Project) -> None:
    project.scenario({"roles": {"architect": {"silent": True}}})
    first = project.start("same").until_seat("architect")
    project.ok("stop")
    second = project.start("same", "--no-worktree").until_seat("architect")
    assert first.name != second.name
    for words in (("resume", first.name), ("resume", first.name, "--yes", "--detach")):
        said = project.fails(3, *words)
        assert f"session {second.short} is live in this checkout" in said
    (plan,) = project.json("resume", first.name, "--dry-run", code=3)["sessions"]
    assert plan["blocked"]["reason"] == "checkout_taken"
    assert first.launched() == ["architect"]
    project.ok("stop", second.name)
    project.ok("resume", first.name, "--detach")
    assert first.until_seat("architect").launched() == ["architect"] * 2


@pytest.mark.long
def test_starts_at_the_same_moment(project: Project) -> None:
    project.scenario({"roles": {"architect": {"silent": True}}})
    start = ("start", "--json", "--agent", "demo", "--no-worktree", "same")
    words = (sys.executable, "-m", "agentmux", *start)
    running = [
        subprocess.Popen(
            words,
            cwd=project.path,
            env=project.env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(4)
    ]
    said = [each.communicate(timeout=60) for each in running]
    assert sorted(each.returncode for each in running) == [0, 3, 3, 3], said
    refused = [error for out, error in said if "is live in this checkout" in error]
    assert len(refused) == 3, said
    (path,) = project.sessions()
    (seen,) = project.json("list")["sessions"]
    assert (seen["session"], seen["status"]) == (path.name, "running")


def test_a_project_is_found_from_below(project: Project) -> None:
    below = project.path / "some" / "where"
    below.mkdir(parents=True)
    project.scenario({"roles": {"architect": {"silent": True}}})
    answer = project.json("start", "--agent", "demo", "x", cwd=below)
    assert (project.path / answer["path"]).is_dir()
    assert project.json("list", cwd=below)["sessions"][0]["live"] is True
    assert project.json("list", "--project", str(project.path), cwd=Path("/"))["sessions"]


def test_a_stop_without_an_orchestrator_is_as_good(project: Project, wait_until: WaitUntil) -> None:
    project.scenario({"roles": {"architect": {"think": 600}}})
    session = project.start("hold on").until_seat("architect").settled("architect")
    os.kill(session.runtime["orchestrator_pid"], signal.SIGKILL)
    shutil.rmtree(session.path / "snapshots", ignore_errors=True)
    wait_until(lambda: project.json("status")["sessions"][0]["orchestrator"] is None)

    assert "by force" in project.ok("stop", session.name)
    kept = json.loads(session.read("snapshots/architect.json"))
    assert kept["seat"] == "architect"
    assert "Demo agent" in kept["ansi"]
    launch = session.state["seats"]["architect"]["launch"]
    assert json.loads(session.read(f"launches/{launch}/exit.json"))["started_at"]
    stopped, saved = session.events[-2:]
    assert (stopped["event"], stopped["payload"]["cause"]) == (
        "session_interrupted",
        "stopped by the user",
    )
    assert (saved["event"], saved["payload"]["because"]) == ("checkpoint_taken", "stop")
    session.gone()
    (seen,) = project.json("status", session.name)["sessions"]
    assert (seen["status"], seen["live"]) == ("stopped", False)
    assert project.json("resume", "--dry-run")["sessions"][0]["panes"][0]["mode"] == "native"


def test_a_session_never_ends_what_is_another_ones(project: Project) -> None:
    """Older sessions have the same tmux session name; only the id tells which one it is."""
    project.scenario({"roles": {"architect": {"silent": True}}})
    older = project.path / ".agentmux" / ".sessions" / "20260101-101500-older"
    session = project.start("hold on").until_seat("architect")
    older.mkdir()
    name = session.state["session_name"]
    (older / "state.json").write_text(json.dumps({"phase": "failed", "session_name": name}))
    for words in (("stop",), ("resume", "--reattach", "--detach")):
        said = project.fails(3, words[0], older.name, *words[1:])
        assert "but has its name" in said
        assert project.json("status", session.name)["sessions"][0]["live"] is True
    assert session.launched() == ["architect"]


def test_what_a_person_has_just_chosen_needs_no_second_consent(
    project: Project, wait_until: WaitUntil
) -> None:
    own = Path(project.env["XDG_CONFIG_HOME"], "agentmux", "config.yaml")
    own.parent.mkdir(parents=True, exist_ok=True)
    own.write_text("agents: {demo: {unattended_args: [--permission-mode, accept]}}\n")
    words = (sys.executable, "-m", "agentmux", "start", "x", "--detach")
    with Client(project, *words) as client:
        wait_until(lambda: "Which agent" in client.said, 10, lambda: client.said)
        client.press("demo\n")
        wait_until(lambda: "How much may demo do" in client.said, 10, lambda: client.said)
        client.press("everything\n")
        said = client.ended(0)
    assert "permission_args" in said
    assert "Trust this" not in said


@pytest.mark.long
def test_a_stop_at_the_decision_leaves_no_scratch_folder(project: Project) -> None:
    scratch = project.root / "scratch"
    scratch.mkdir()
    project.env["TMPDIR"] = str(scratch)
    session = project.start("add a greeting").wait()
    project.ok("stop", session.name)
    assert [each.name for each in scratch.glob("agentmux-*/*")] == []
