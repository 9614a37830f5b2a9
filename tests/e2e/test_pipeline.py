"""The pipeline with demo agents in real tmux, from the command line to the commit."""

import shutil
import sys
import time
from collections.abc import Callable

import pytest
import yaml

from tests.conftest import WaitUntil
from tests.e2e.conftest import QUICK, Client, Project, Session

RARE = pytest.mark.rare("a decision with tests of its own in tests/core and tests/app")

ONE_PART = {"planner": {"plan": {"parts": 1}}}


# -- the phases ----------------------------------------------------------------------------------


def test_every_phase_of_a_plain_feature(project: Project) -> None:
    session = project.start("add a greeting").wait()

    shown = project.ok("approve", session.name, "--yes")
    assert "2 files, with the message “add a greeting”" in shown
    assert "  demo_part_1.py  " in shown
    session.wait("done").gone()

    assert session.launched() == [
        "architect", "planner", "coder-1", "reviewer_logic", "reviewer_logic",
    ]  # fmt: skip
    assert session.state["phase"] == "done"
    assert session.state["results"]["reviewing"]["outcome"] == "passed"
    assert project.git("log", "--format=%s") == "add a greeting\nBegin\n"
    body = project.git("log", "-1", "--format=%b")
    assert "Agentmux-Event: " in body
    _, *said = filter(None, session.read("08_completion/summary.md").splitlines())
    assert body.startswith(said[0])
    assert project.git("status", "--porcelain") == ""
    assert session.path.stat().st_mode & 0o777 == 0o700
    plan = yaml.safe_load(session.read("04_planning/execution_plan.yaml"))
    assert plan["subplan_count"] == 1
    for left in ("plan.md", "plan_1.md", "tasks_1.md"):
        assert session.read(f"04_planning/{left}")
    assert (session.path / "06_implementation" / "done_1").exists()
    assert "pass" in session.read("07_review/review.md")


@RARE
@pytest.mark.long
def test_a_product_manager_begins_and_a_designer_designs(project: Project) -> None:
    project.scenario({"roles": {"planner": {"plan": {"parts": 1, "needs_design": True}}}})
    session = project.start("add a greeting", "--product-manager").wait()

    assert session.launched() == [
        "product-manager", "architect", "planner", "designer", "coder-1",
        "reviewer_logic", "reviewer_logic",
    ]  # fmt: skip
    assert session.read("01_product_management/requirements.md").strip()
    assert (session.path / "01_product_management" / "done").exists()
    assert session.read("05_design/design.md").strip()
    assert session.state["product_manager"] is True


@pytest.mark.rare("tests/app drives research without processes")
@pytest.mark.long
def test_research_is_asked_for_on_demand(project: Project) -> None:
    asked = [
        {"kind": "code", "topic": "auth"},
        {"kind": "web", "topic": "prices"},
        {"kind": "code", "topic": "auth"},
        {"kind": "code", "topic": "storage"},
    ]
    project.scenario({"roles": {**ONE_PART, "architect": {"research": asked}}})
    session = project.start().wait()

    researchers = ["code-researcher-auth", "code-researcher-storage", "web-researcher-prices"]
    launched = session.launched()
    assert sorted(each for each in launched if "researcher" in each) == researchers
    assert launched.count("architect") == 1
    assert session.state["research_tasks"] == {"auth": "done", "storage": "done"}
    assert session.state["web_research_tasks"] == {"prices": "done"}
    for folder in ("code-auth", "code-storage", "web-prices"):
        for left in ("request.md", "prompt.md", "summary.md", "detail.md", "done"):
            assert (session.path / "03_research" / folder / left).exists(), f"{folder}/{left}"
    assert len(session.kinds("submit_architecture")) == 1


@pytest.mark.rare("tests/app drives groups without processes")
@pytest.mark.long
def test_groups_run_one_after_the_other_and_side_by_side(project: Project) -> None:
    groups = [
        {"mode": "serial", "plans": [2, 1]},
        {"mode": "parallel", "plans": [3, 4]},
    ]
    project.scenario({"roles": {"planner": {"plan": {"parts": 4, "groups": groups}}}})
    session = project.start().wait()

    steps = [
        (each["event"], each["seat"])
        for each in session.events
        if each["seat"].startswith("coder") and each["event"] in {"agent_launched", "submit_done"}
    ]
    assert steps[:4] == [
        ("agent_launched", "coder-2"),
        ("submit_done", "coder-2"),
        ("agent_launched", "coder-1"),
        ("submit_done", "coder-1"),
    ]
    assert steps[4:6] == [("agent_launched", "coder-3"), ("agent_launched", "coder-4")]
    assert sorted(steps[6:]) == [("submit_done", "coder-3"), ("submit_done", "coder-4")]
    assert session.state["completed_subplans"] == [1, 2, 3, 4]
    for number in (1, 2, 3, 4):
        assert (project.path / f"demo_part_{number}.py").exists()


@RARE
@pytest.mark.long
def test_a_single_coder_does_the_whole_plan(project: Project) -> None:
    project.config("roles: {coder: {single: true}}\n")
    project.scenario({"roles": {"planner": {"plan": {"parts": 3}}}})
    session = project.start().wait()

    assert session.launched().count("coder") == 1
    assert not [each for each in session.launched() if each.startswith("coder-")]
    assert session.kinds("submit_done") == ["submit_done"] * 3
    assert session.state["completed_subplans"] == [1, 2, 3]
    assert session.state["implementation_single_coder"] is True


@RARE
@pytest.mark.long
def test_three_reviewers_a_failed_review_and_its_fix(project: Project) -> None:
    slow_ones = {"attempts": [{"when": {"iteration": 0}, "silent": True}]}
    project.scenario(
        {
            "roles": {
                **ONE_PART,
                "architect": {"reviewers": ["logic", "quality", "expert"]},
                "reviewer_logic": slow_ones,
                "reviewer_expert": slow_ones,
                "reviewer_quality": {
                    "commit_message": "Greet people",
                    "attempts": [{"when": {"iteration": 0}, "verdict": "fail"}],
                },
            }
        }
    )
    session = project.start().wait()

    reviewers = ["reviewer_logic", "reviewer_quality", "reviewer_expert"]
    # One fail decides: the other two reviewers are ended, and all three review the fix.
    assert session.launched() == [
        "architect", "planner", "coder-1", *reviewers, "coder", *reviewers, "reviewer_logic",
    ]  # fmt: skip
    assert session.state["fix"]["iteration"] == 1
    assert session.state["results"]["reviewing"]["outcome"] == "passed"
    assert "not right yet" in session.read("07_review/fix_request.md")
    assert "fail" in session.read("history/1.0/07_review/review_quality.yaml")
    for role in ("logic", "quality", "expert"):
        assert "verdict: pass" in session.read(f"07_review/review_{role}.yaml")
    session.approve()
    assert project.git("log", "-1", "--format=%s") == "Greet people\n"


def failed_without_a_role(project: Project) -> Session:
    """Return a session whose only reviewer left a ``review.yaml`` but has not handed it in."""
    once = {"attempts": [{"when": {"iteration": 0}, "silent": True}]}
    project.scenario({"roles": {**ONE_PART, "reviewer_logic": once}})
    session = project.start().until_seat("reviewer_logic").settled("reviewer_logic")
    finding = {"location": "a:1", "issue": "wrong", "severity": "high", "recommendation": "mend"}
    review = {"verdict": "fail", "summary": "It is wrong.", "findings": [finding]}
    (session.path / "07_review" / "review.yaml").write_text(yaml.safe_dump(review))
    return session


@RARE
@pytest.mark.long
def test_a_verdict_that_nobody_handed_in_is_a_draft(project: Project) -> None:
    session = failed_without_a_role(project)
    project.ok("stop", session.name)
    (foreseen,) = project.json("resume", "--dry-run", session.name)["sessions"]
    assert (foreseen["phase"], foreseen["warnings"]) == ("reviewing", [])
    assert foreseen["evidence"][-1]["because"] == "no verdict yet from reviewer_logic"
    assert [pane["seat"] for pane in foreseen["panes"]] == ["reviewer_logic"]
    project.ok("resume", session.name, "--detach")
    session.until_seat("reviewer_logic").settled("reviewer_logic")
    launch = session.state["seats"]["reviewer_logic"]["launch"]
    told = session.read(f"launches/{launch}/prompt.md")
    assert "was not handed in" in told
    assert f"- `{session.path}/07_review/review.yaml`" in told

    session.submit("reviewer_logic", "review")
    session.wait()
    assert session.launched() == [
        "architect", "planner", "coder-1", "reviewer_logic", "reviewer_logic", "coder",
        "reviewer_logic", "reviewer_logic",
    ]  # fmt: skip
    assert session.read("history/1.0/07_review/review.yaml")
    assert "It is wrong." in session.read("history/1.0/07_review/fix_request.md")


@RARE
@pytest.mark.long
def test_a_review_without_a_role_in_its_name_is_taken_when_handed_in(project: Project) -> None:
    session = failed_without_a_role(project)
    assert session.submit("reviewer_logic", "review")["result"] == "accepted"
    session.wait()
    assert session.launched().count("coder") == 1
    assert session.state["results"]["reviewing"]["outcome"] == "passed"


@RARE
@pytest.mark.long
def test_a_stray_review_stops_nobody(project: Project, wait_until: WaitUntil) -> None:
    held = {"attempts": [{"when": {"launch": 1}, "silent": True}]}
    project.scenario(
        {
            "roles": {
                **ONE_PART,
                "architect": {"reviewers": ["logic", "quality"]},
                "reviewer_quality": held,
            }
        }
    )
    session = project.start().until_seat("reviewer_quality").settled("reviewer_quality")
    wait_until(
        lambda: (
            "reviewer_logic" in session.state["results"].get("reviewing", {}).get("verdicts", {})
        ),
        20,
    )
    folder = session.path / "07_review"
    (folder / "review.yaml").write_text("verdict: fail\n")
    (folder / "review_all.yaml").write_text("verdict: fail\n")
    project.ok("stop", session.name)
    (foreseen,) = project.json("resume", "--dry-run", session.name)["sessions"]
    assert foreseen["evidence"][-1]["because"] == "no verdict yet from reviewer_quality"
    project.ok("resume", session.name, "--detach", "--fresh")
    session.wait()
    assert session.state["results"]["reviewing"]["outcome"] == "passed"


@RARE
@pytest.mark.long
def test_at_the_cap_the_user_decides_whatever_the_configuration_says(project: Project) -> None:
    project.config("defaults: {max_review_iterations: 1}\ncompletion: {require_approval: false}\n")
    project.scenario({"roles": {**ONE_PART, "reviewer_logic": {"verdict": "fail"}}})
    session = project.start().wait()

    assert session.state["phase"] == "completing"
    assert session.state["results"]["reviewing"]["outcome"] == "capped"
    assert session.state["max_review_iterations"] == 1
    assert session.launched().count("coder") == 1
    project.fails(9, "wait", session.name, "--for", "done", "--timeout", "0.2")
    assert "approve" not in session.kinds()

    project.ok("stop", session.name)
    assert project.json("resume", "--dry-run")["sessions"][0]["phase"] == "completing"
    project.ok("resume", session.name, "--detach")
    session.wait()
    assert session.state["results"]["reviewing"]["outcome"] == "capped"
    session.approve()


@RARE
@pytest.mark.long
def test_without_an_approval_a_review_that_passed_is_enough(project: Project) -> None:
    project.config("completion: {require_approval: false}\n")
    session = project.start().wait("done").gone()

    assert session.kinds("approve", "commit_made") == ["approve", "commit_made"]
    assert project.git("log", "-1", "--format=%s") == "add a greeting\n"


@pytest.mark.long
def test_changes_begin_another_cycle_in_which_nothing_old_counts(project: Project) -> None:
    session = project.start("add a greeting", "--product-manager").wait()
    project.scenario({"roles": {**ONE_PART, "architect": {"silent": "until-told"}}})
    before = session.read("02_architecting/architecture.md")

    project.ok("request-changes", "greet in French", "-s", session.name)
    session.until_seat("architect")

    assert session.state["cycle"] == 2
    assert session.state["phase"] == "architecting"
    assert session.read("history/1.0/02_architecting/architecture.md") == before
    assert (session.path / "01_product_management" / "requirements.md").exists()
    for moved in ("04_planning/plan.yaml", "06_implementation/done_1", "08_completion/summary.md"):
        assert (session.path / "history" / "1.0" / moved).exists(), moved
        assert not (session.path / moved).exists(), moved
    (changes,) = (session.path / "history").rglob("changes.md")
    assert "greet in French" in changes.read_text()
    prompt = session.read(f"launches/{session.state['seats']['architect']['launch']}/prompt.md")
    assert str(changes) in prompt

    refused = session.submit("architect", "architecture", code=8)
    assert refused["problems"] == ["02_architecting/architecture.md: missing"]
    (session.path / "02_architecting" / "architecture.md").write_text("Once more.\n")
    assert session.submit("architect", "architecture")["result"] == "accepted"
    session.wait().approve()
    assert len(session.launched()) == 11
    assert session.state["cycle"] == 2


# -- the commit ----------------------------------------------------------------------------------


@pytest.mark.long
def test_what_was_dirty_at_the_start_is_left_out_unless_named(project: Project) -> None:
    (project.path / "calc.py").write_text("mine = 1\n")
    said = project.run("start", "--dry-run", "--agent", "demo", "x").stderr
    assert "the commit will leave out 1 file that is changed already: calc.py" in said
    more = [project.path / f"more{number}.txt" for number in range(6)]
    for each in more:
        each.write_text("mine\n")
    said = project.run("start", "--dry-run", "--agent", "demo", "x").stderr
    assert "7 files that are changed already: calc.py, more0.txt, more1.txt, more2.txt, " in said
    assert "more3.txt, and 2 more\n" in said
    for each in more:
        each.unlink()
    (project.path / "notes.txt").write_text("mine\n")
    (project.path / "named.txt").write_text("theirs\n")
    project.git("add", "notes.txt")
    done = project.run("start", "--agent", "demo", "--include", "named.txt", "x")
    assert done.returncode == 0, done.stderr
    assert "the commit will leave out 2 files that are changed already" in done.stderr
    session = Session(project, project.sessions()[0]).wait().approve()

    committed = project.git("show", "--format=", "--name-only").split()
    assert committed == ["demo_part_1.py", "named.txt", "tests/test_demo_part_1.py"]
    assert project.git("status", "--porcelain") == " M calc.py\nA  notes.txt\n"
    assert session.state["phase"] == "done"


def test_a_file_to_include_is_one_that_changed(project: Project) -> None:
    (project.path / "new.txt").write_text("new\n")
    before = project.tree()
    for path in ("nosuch.txt", "calc.py", "../home/.gitconfig"):
        said = project.fails(2, "start", "--agent", "demo", "--include", path, "x")
        assert path.removeprefix("../") in said
    assert project.tree() == before
    below = project.path / "below"
    below.mkdir()
    project.ok("start", "--agent", "demo", "--include", "../new.txt", "--dry-run", "x", cwd=below)


@pytest.mark.long
@pytest.mark.parametrize(
    "words",
    [
        ["--branch", "--", "x"],
        ["x", "--branch"],
        ["x", "--branch", "--detach"],
        ["--branch", "auto", "x"],
        ["--branch", "--detach", "@calc.py"],
    ],
    ids=" ".join,
)
def test_a_branch_without_a_name_is_named_after_the_session(
    project: Project, words: list[str]
) -> None:
    plan = project.json("start", "--agent", "demo", "--dry-run", *words)
    assert plan["branch"] == f"agentmux/{plan['session']}"
    plan = project.json("start", "--agent", "demo", "--dry-run", "--", "--branch")
    assert plan["branch"] == "main"


@RARE
@pytest.mark.long
@pytest.mark.parametrize("named", ["auto", "greet/people"])
def test_a_branch_of_its_own(project: Project, named: str) -> None:
    session = project.start("add a greeting", "--branch", named)
    branch = named if named != "auto" else f"agentmux/{session.name}"
    assert project.git("branch", "--show-current") == f"{branch}\n"
    assert session.state["branch"] == branch
    session.wait().approve()
    assert project.git("log", "-1", "--format=%s", branch) == "add a greeting\n"
    assert project.git("log", "-1", "--format=%s", "main") == "Begin\n"


def _without_new_sessions(project: Project) -> dict[str, str]:
    """Return an environment in which tmux cannot create sessions."""
    folder = project.root / "tools"
    folder.mkdir()
    (folder / "tmux").write_text(
        "#!/bin/sh\n"
        'for word; do [ "$word" = new ] && { echo "no space" >&2; exit 1; }; done\n'
        f'exec {shutil.which("tmux")} "$@"\n'
    )
    (folder / "tmux").chmod(0o755)
    return {"PATH": f"{folder}:{project.env['PATH']}"}


def test_a_start_that_fails_leaves_nothing(project: Project) -> None:
    env = _without_new_sessions(project)
    before = project.tree()
    project.fails(6, "start", "--agent", "demo", "x", env=env)
    assert project.tree() == before
    (project.path / "mine.txt").write_text("dirty\n")
    project.fails(6, "start", "--agent", "demo", "--branch", "side", "x", env=env)
    assert project.git("branch", "--format=%(refname) %(HEAD)") == "refs/heads/main *\n"
    assert project.git("status", "--porcelain") == "?? mine.txt\n"
    assert not (project.path / ".agentmux").exists()


def _hook(project: Project) -> None:
    hook = project.path / ".git" / "hooks" / "pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho 'lint says no' >&2\nexit 1\n")
    hook.chmod(0o755)


def _no_identity(project: Project) -> None:
    (project.home / ".gitconfig").write_text("[user]\n\tuseConfigOnly = true\n")


def _mended(project: Project) -> None:
    (project.path / ".git" / "hooks" / "pre-commit").unlink(missing_ok=True)
    (project.home / ".gitconfig").write_text("[user]\n\tname = T\n\temail = t@example.com\n")


@RARE
@pytest.mark.long
@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (_hook, ["lint says no"]),
        (_no_identity, ["git has no author for the commit", "git config --global user.email"]),
    ],
)
def test_a_commit_that_fails_leaves_the_decision_open(
    project: Project, wait_until: WaitUntil, spoil: Callable[[Project], None], reason: list[str]
) -> None:
    session = project.start().wait()
    spoil(project)
    refusal = project.fails(1, "approve", session.name, "--yes")
    assert [part for part in reason if part not in refusal] == []
    assert all(f"\nhint: {part}" in refusal for part in reason[1:]), "a line to copy"
    assert session.kinds("commit_failed") == ["commit_failed"]
    wait_until(lambda: session.state["commit"]["status"] == "failed", 20)
    assert session.state["phase"] == "completing"
    said = project.ok("status", session.name)
    assert [part for part in reason if part not in said] == []
    assert project.git("log", "--format=%s", "--all") == "Begin\n"
    assert (project.path / "demo_part_1.py").exists()

    _mended(project)
    session.approve()
    assert project.git("log", "--format=%s", "main") == "add a greeting\nBegin\n"
    assert session.kinds("commit_made") == ["commit_made"]


@RARE
@pytest.mark.long
@pytest.mark.follows("if no git is running: rm …")
def test_a_commit_waits_for_the_users_git(project: Project, wait_until: WaitUntil) -> None:
    session = project.start().wait()
    lock = project.path / ".git" / "index.lock"
    lock.touch()
    words = (sys.executable, "-m", "agentmux", "approve", session.name, "--yes")
    with Client(project, *words) as client:
        wait_until(lambda: "commit_started" in session.kinds(), 20, lambda: client.said)
        client.process.kill()
        time.sleep(3)
        lock.unlink()
        session.wait("done")
    (project.path / "next.txt").write_text("next\n")
    project.git("add", "next.txt")
    project.git("commit", "-qm", "next")
    assert project.git("show", "--format=", "--name-status") == "A\tnext.txt\n"
    assert project.git("log", "--format=%s") == "next\nadd a greeting\nBegin\n"
    assert session.kinds("commit_delayed", "commit_made") == ["commit_made"]


@RARE
@pytest.mark.long
def test_work_that_somebody_else_committed_is_taken_back_as_told(project: Project) -> None:
    session = project.start().wait()
    began = project.git("rev-parse", "HEAD").strip()
    project.git("add", "-A")
    project.git("commit", "-qm", "too soon")
    refusal = project.fails(3, "approve", session.name, "--yes")
    assert "HEAD moved" in refusal
    way = f"git reset --soft {began[:12]}"
    assert way in refusal
    project.git(*way.split()[1:])
    session.approve()
    assert project.git("log", "--format=%s") == "add a greeting\nBegin\n"


@RARE
@pytest.mark.long
def test_nothing_to_commit_is_no_failure(project: Project) -> None:
    project.scenario({"roles": {**ONE_PART, "coder": {"write": "none"}}})
    session = project.start().wait().approve()
    assert project.git("log", "--format=%s") == "Begin\n"
    assert session.events[-1]["payload"]["commit"] is None


@RARE
@pytest.mark.long
def test_outside_git_it_runs_and_says_that_it_will_not_commit(outside: Project) -> None:
    done = outside.run("start", "--agent", "demo", "add a greeting")
    assert done.returncode == 0, done.stderr
    assert "not a git repository" in done.stderr
    session = Session(outside, outside.sessions()[0]).wait()
    shown = outside.ok("approve", session.name, "--yes")
    assert "nothing will be committed" in shown
    session.wait("done").gone()
    assert (outside.path / "demo_part_1.py").exists()
    assert not (outside.path / ".git").exists()


def test_a_branch_needs_git(outside: Project) -> None:
    before = outside.tree()
    assert "git" in outside.fails(2, "start", "--agent", "demo", "--branch", "auto", "x")
    assert outside.tree() == before


# -- agents that go wrong ------------------------------------------------------------------------


@pytest.mark.long
def test_an_agent_lost_once_comes_back_and_lost_twice_fails_the_session(project: Project) -> None:
    project.scenario(
        {
            "roles": {
                "architect": {"crash": "before_write", "once": True},
                # A signal: after a resume, an exit code would count as a rejection: a third try.
                "planner": {"crash": "before_signal", "kill": 9},
            }
        }
    )
    session = project.start()
    project.ok("wait", session.name, "--for", "failed", "--timeout", "30")

    assert session.launched() == ["architect", "architect", "planner", "planner"]
    assert session.state["interruption"]["seat"] == "planner"
    assert session.state["interruption"]["phase"] == "planning"
    assert "lost twice (signal 9)" in session.state["interruption"]["cause"]
    said = project.fails(1, "wait", session.name, "--for", "done", "--timeout", "1")
    assert "lost twice" in said

    project.ok("stop", session.name)
    project.scenario(QUICK)
    project.ok("resume", session.name, "--detach")
    session.wait().approve()


@pytest.mark.long
def test_an_agent_that_leaves_without_its_artifact_is_not_started_again(
    project: Project, wait_until: WaitUntil
) -> None:
    project.scenario({"roles": {"architect": {"crash": "before_write", "exit": 0}}})
    session = project.start()
    session.until_seat("architect", "finished")
    status = project.json("status", session.name)["sessions"][0]
    assert status["phase"] == "architecting"
    assert [each["status"] for each in status["seats"]] == ["finished"]
    assert session.launched() == ["architect"]


@pytest.mark.long
def test_an_agent_that_asks_is_shown_and_not_typed_into(
    project: Project, wait_until: WaitUntil
) -> None:
    project.config("snapshots: {interval: 0.2s}\n")
    project.scenario({"roles": {"architect": {"dialog": "trust"}, **ONE_PART}})
    session = project.start()

    def waits() -> bool:
        (seen,) = project.json("status", session.name)["sessions"]
        return bool(seen["status"] == "waiting_for_user")

    wait_until(waits, 20, lambda: project.run("status", session.name).stdout)
    assert session.state["phase"] == "architecting"
    (pane,) = project.tmux(
        "list-panes", "-s", "-F", "#{pane_id}", "-f", "#{==:#{@agentmux_seat},architect}",
        "-t", session.state["session_name"],
    ).split()  # fmt: skip
    project.tmux("send-keys", "-t", pane, "Up", "Enter")
    session.wait()


def test_a_start_says_first_that_git_has_no_author(project: Project) -> None:
    _no_identity(project)
    before = project.tree()
    for more in ((), ("--dry-run",), ("--worktree",)):
        said = project.fails(7, "start", "--agent", "demo", *more, "x")
        assert "git has no author for the commit" in said
    assert project.tree() == before
    said = project.fails(7, "start", "--agent", "demo", "x")
    hints = [each.removeprefix("hint: ") for each in said.splitlines() if "hint: " in each]
    assert len(hints) == 2
    project.config("completion: {commit: false}\n")
    project.ok("start", "--agent", "demo", "--dry-run", "x")
    project.config("")
    for each in hints:
        assert project.program("sh", "-c", each).returncode == 0
    project.ok("start", "--agent", "demo", "--dry-run", "x")


@RARE
@pytest.mark.long
def test_a_commit_on_a_detached_head_is_announced_and_its_hint_keeps_it(project: Project) -> None:
    project.git("switch", "-q", "--detach")
    head = project.git("rev-parse", "--short=12", "HEAD").strip()
    said = project.run("start", "--agent", "demo", "--dry-run", "add a greeting").stderr
    assert (
        f"warning: HEAD is detached at {head}: the commit will be on no branch; to make one for it:"
        " agentmux start --branch …"
    ) in said
    said = project.run("start", "--agent", "demo", "--dry-run", "--branch", "b", "x").stderr
    assert "on no branch" not in said
    session = project.start("add a greeting").wait()
    said = project.ok("approve", session.name, "--yes")
    assert "HEAD is detached: the commit will be on no branch; to keep it, afterwards: " in said
    keep = said.partition("\nkeep it: ")[2].splitlines()[0]
    commit = session.wait("done").state["commit"]["commit"]
    assert f"committed {commit[:12]}, on no branch\n" in said
    assert project.git("for-each-ref", "--contains", commit) == ""
    assert project.program("sh", "-c", keep).returncode == 0
    assert project.git("rev-parse", "agentmux/add-a-greeting").strip() == commit
