"""The messages of `start`, followed beside the user's edits in the checkout."""

from __future__ import annotations

import datetime as dt

import pytest

from tests.e2e.conftest import Project
from tests.hints.following import Work, shown, went_well

pytestmark = pytest.mark.long

OFF = ("--detach", "--yes")


@pytest.mark.follows('git commit --allow-empty --only -m "Begin"')
def test_a_worktree_gets_its_first_commit(outside: Project) -> None:
    outside.git("init", "-q")
    work = Work(outside)
    work.write("a file of the user", outside.path / "calc.py")
    outside.git("add", "calc.py")
    refusal = outside.fails(2, "start", "--agent", "demo", "--worktree", *OFF, "x")
    went_well(outside, shown('git commit --allow-empty --only -m "Begin"', refusal))
    assert outside.git("status", "--porcelain", "calc.py") == "A  calc.py\n"
    outside.ok("start", "--agent", "demo", "--worktree", *OFF, "x")
    assert work.lost() == []


@pytest.mark.follows("git init")
@pytest.mark.parametrize("option", [("--branch",), ("--worktree",), ("--include", "calc.py")])
def test_a_folder_becomes_a_repository(outside: Project, option: tuple[str, ...]) -> None:
    work = Work(outside)
    work.write("a file of the user", outside.path / "calc.py")
    refusal = outside.fails(2, "start", "--agent", "demo", *option, *OFF, "--", "x")
    went_well(outside, shown("git init", refusal))
    assert work.lost() == []


@pytest.mark.follows("agentmux start --name … …", "continue it: agentmux resume …")
def test_another_name_is_taken(project: Project, work: Work) -> None:
    refusal = project.fails(2, "start", "--name", "No Name", *OFF, "x")
    hint = shown("agentmux start --name … …", refusal)
    went_well(project, hint, text="--detach 'add a greeting'")
    (name,) = (each.name for each in project.sessions())
    project.ok("wait", name, "--for", "decision")
    refusal = project.fails(2, "start", "--name", "no-name", *OFF, "x")
    project.ok("stop", name)
    went_well(project, shown("continue it: agentmux resume …", refusal))
    project.ok("wait", name, "--for", "decision")
    assert work.lost() == []


@pytest.mark.follows("choose another: agentmux start --name NAME …")
def test_a_name_that_tmux_has_already(project: Project, work: Work) -> None:
    now = dt.datetime.now().astimezone()
    for seconds in range(60):
        stamp = f"{now + dt.timedelta(seconds=seconds):%Y%m%d-%H%M%S}"
        project.tmux("new-session", "-d", "-s", f"agentmux-{stamp}-taken", "sleep", "600")
    refusal = project.fails(3, "start", "--name", "taken", *OFF, "x")
    hint = shown("choose another: agentmux start --name NAME …", refusal)
    went_well(project, hint, NAME="free", text="--detach 'add a greeting'")
    assert work.lost() == []


@pytest.mark.follows(
    "or choose another: agentmux start --agent NAME …",
    "or say which agent plays the roles: agentmux start --agent NAME …",
)
def test_another_agent_is_chosen(project: Project, work: Work, system_path: str) -> None:
    missing = {"PATH": system_path}
    refusal = project.fails(6, "start", "--agent", "aider", *OFF, "x", env=missing)
    hint = shown("or choose another: agentmux start --agent NAME …", refusal)
    went_well(project, hint, NAME="demo", text="--detach 'add a greeting'")
    assert work.lost() == []


@pytest.mark.follows(
    'say what to build: agentmux start "…"',
    "or give this one a worktree of its own: agentmux start --worktree …",
    "or end it for now: agentmux stop …",
)
def test_a_second_session_gets_a_worktree(project: Project, work: Work) -> None:
    refusal = project.fails(2, "start", *OFF, "")
    hint = shown('say what to build: agentmux start "…"', refusal)
    went_well(project, hint, text="add a greeting")
    (first,) = (each.name for each in project.sessions())
    refusal = project.fails(3, "start", "--no-worktree", *OFF, "x")
    hint = shown("or give this one a worktree of its own: agentmux start --worktree …", refusal)
    went_well(project, hint, text="--detach 'add a greeting'")
    went_well(project, shown("or end it for now: agentmux stop …", refusal))
    assert [each["status"] for each in project.json("status", first)["sessions"]] == ["stopped"]
    assert work.lost() == []


@pytest.mark.follows(
    "or give the session a worktree of its own: agentmux start --worktree …",
    "end it, when you have found the commit: git bisect reset",
)
def test_what_is_in_progress_in_the_checkout_is_finished_first(project: Project) -> None:
    begin = project.git("rev-parse", "main").strip()
    for branch, text in (("side", "side\n"), ("main", "main\n")):
        project.git("switch", "-q", *(("-c", "side") if branch == "side" else ("main",)))
        (project.path / "calc.py").write_text(text)
        project.git("commit", "-qam", branch)
    project.program("git", "rebase", "-q", "side")
    refusal = project.fails(3, "start", "--no-worktree", *OFF, "x")
    assert "a rebase is in progress in this repository" in refusal
    hint = shown("or give the session a worktree of its own: agentmux start --worktree …", refusal)
    went_well(project, hint, text="--detach 'in a worktree'")
    project.git("checkout", "-q", "--theirs", "calc.py")
    project.git("add", "calc.py")
    finish = shown("finish it: git rebase --continue", refusal).partition(": ")[2]
    assert project.program("sh", "-c", f"GIT_EDITOR=: {finish}").returncode == 0
    project.git("bisect", "start", "HEAD", begin)
    refusal = project.fails(3, "start", "--no-worktree", *OFF, "x")
    assert "a bisect is in progress in this repository" in refusal
    went_well(project, shown("end it, when you have found the commit: git bisect reset", refusal))
    assert project.git("branch", "--show-current") == "main\n"
    project.ok("start", "--no-worktree", *OFF, "in the checkout")


@pytest.mark.follows("give the session a worktree of its own: agentmux start --worktree …")
def test_a_bare_repository_gets_a_worktree(project: Project) -> None:
    bare = project.root / "bare.git"
    project.git("clone", "-q", "--bare", str(project.path), str(bare))
    refusal = project.fails(2, "start", "--no-worktree", *OFF, "x", cwd=bare)
    hint = shown("give the session a worktree of its own: agentmux start --worktree …", refusal)
    line = hint.partition(": ")[2].replace("…", "--agent demo --detach --yes 'add a greeting'")
    done = project.program("sh", "-c", line, cwd=bare)
    assert done.returncode == 0, done.stderr


@pytest.mark.follows("commit them first, or: agentmux start --no-worktree --include PATH …")
def test_changed_files_are_included_in_the_checkout(project: Project, work: Work) -> None:
    refusal = project.fails(2, "start", "--worktree", "--include", "calc.py", *OFF, "x")
    template = "commit them first, or: agentmux start --no-worktree --include PATH …"
    went_well(project, shown(template, refusal), PATH="calc.py", text="--detach 'add a greeting'")
    assert work.lost() == []


@pytest.mark.follows("choose another name: agentmux start --branch NAME …")
def test_a_branch_that_is_in_the_way_stays(project: Project, work: Work) -> None:
    project.git("branch", "agentmux")
    refusal = project.fails(2, "start", "--worktree", *OFF, "add a greeting")
    hint = shown("choose another name: agentmux start --branch NAME …", refusal)
    went_well(project, hint, NAME="other", text="--worktree --detach 'add a greeting'")
    project.git("rev-parse", "agentmux")
    assert work.lost() == []


@pytest.mark.follows(
    "agentmux start --pipeline review --of BRANCH", "agentmux start --pipeline … --of BRANCH"
)
def test_a_branch_is_reviewed(project: Project, work: Work) -> None:
    project.git("switch", "-qc", "side")
    work.commit("a commit of somebody else", project.path / "side.py")
    project.git("switch", "-q", "main")
    refusal = project.fails(2, "start", "--pipeline", "quick", "--of", "side", *OFF, "x")
    template = "agentmux start --pipeline review --of BRANCH"
    assert template == shown(template, refusal)
    refusal = project.fails(2, "start", "--pipeline", "review", *OFF, "x")
    hint = shown("agentmux start --pipeline … --of BRANCH", refusal)
    went_well(project, hint, BRANCH="side --detach")
    assert work.lost() == []


@pytest.mark.follows("leave it there: git -C … switch --detach")
def test_a_branch_is_left_where_it_is_checked_out(project: Project, work: Work) -> None:
    place = project.root / "elsewhere"
    project.git("worktree", "add", "-q", "-b", "side", str(place))
    theirs = Work(project).plant(place, "a second checkout")
    refusal = project.fails(3, "start", "--on", "side", *OFF, "x")
    went_well(project, shown("leave it there: git -C … switch --detach", refusal))
    project.ok("start", "--on", "side", *OFF, "x")
    assert work.lost() + theirs.lost() == []


@pytest.mark.follows("git branch --track … REMOTE/…")
def test_a_branch_of_several_remotes_is_tracked(project: Project, work: Work) -> None:
    for name in ("one", "two"):
        made = project.root / f"{name}.git"
        project.git("init", "-q", "--bare", str(made))
        project.git("remote", "add", name, str(made))
        project.git("push", "-q", name, "HEAD:refs/heads/side")
        project.git("fetch", "-q", name)
    refusal = project.fails(2, "start", "--on", "side", *OFF, "x")
    went_well(project, shown("git branch --track … REMOTE/…", refusal), REMOTE="one")
    project.ok("start", "--on", "side", *OFF, "x")
    assert work.lost() == []


@pytest.mark.follows('no sessions in …: agentmux start "…"', 'agentmux start "…"')
def test_a_first_session_begins(project: Project, work: Work) -> None:
    told = project.run("list")
    hint = shown('no sessions in …: agentmux start "…"', told.stdout + told.stderr)
    went_well(project, hint, text="add a greeting")
    refusal = project.fails(4, "status", "nonesuch")
    assert work.lost() == []
    assert refusal
