"""A session in a worktree of its own, from start to commit, with real git and real tmux."""

import json
import os
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from agentmux.adapters.system.processes.processes import is_alive
from agentmux.core.names.words import git_commands
from tests.conftest import trust
from tests.e2e.conftest import Project, Session, older_git

pytestmark = pytest.mark.long

RARE = pytest.mark.rare("tests/adapters/trees has each case")

WAITS: dict[str, Any] = {"roles": {"architect": {"silent": True}}}


def place_of(session: Session) -> Path:
    return Path(session.state["worktree"])


def launches_of(session: Session) -> list[dict[str, Any]]:
    return [json.loads(path.read_text()) for path in session.path.glob("launches/*/launch.json")]


@pytest.mark.long
def test_a_worktree_from_start_to_commit(project: Project) -> None:
    (project.path / ".gitignore").write_text(".env\n_/\n")
    (project.path / ".husky" / "_").mkdir(parents=True)
    project.git("config", "core.hooksPath", ".husky/_")
    project.git("add", ".gitignore")
    project.git("commit", "-qm", "Ignore")
    for name in (".env", "plain.txt"):
        (project.path / name).write_text("SECRET\n")
    (project.path / ".worktreeinclude").write_text(".env\nplain.txt\n")
    trust(project.path, project.env)
    (project.path / "calc.py").write_text("changed by the user\n")
    done = project.run("start", "--agent", "demo", "--worktree", "--detach", "add a greeting")
    assert "warning: plain.txt was not copied into the worktree" in done.stderr
    session = Session(project, *project.sessions()).wait()
    place = place_of(session)
    head = project.git("rev-parse", "HEAD").strip()
    state = session.state
    assert place == project.root / "calc-worktrees" / "add-a-greeting"
    assert state["branch"] == "agentmux/add-a-greeting"
    assert state["base"] == {"branch": "main", "commit": head}
    assert (place / "calc.py").read_text() != "changed by the user\n"
    assert (place / ".env").read_text() == "SECRET\n"

    project.git("-C", str(place), "checkout", "-q", "-b", "elsewhere")
    project.git("-C", str(place), "branch", "-q", "-D", "agentmux/add-a-greeting")
    said = project.fails(3, "approve", session.name, "--yes")
    switch = "switch --no-recurse-submodules --no-overwrite-ignore"
    assert f"git -C {place} {switch} -c agentmux/add-a-greeting" in said
    project.git("-C", str(place), "switch", "-q", "-c", "agentmux/add-a-greeting")
    before = project.git("status", "--porcelain", "--branch")
    hooks = "no hooks will run: `core.hooksPath` is .husky/_, which the worktree does not have"
    assert hooks in project.ok("approve", session.name, "--yes")
    commit = session.wait("done").state["commit"]["commit"]
    assert project.git("rev-parse", "agentmux/add-a-greeting").strip() == commit
    assert project.git("rev-parse", f"{commit}^").strip() == head
    assert project.git("status", "--porcelain", "--branch") == before
    assert project.git("rev-parse", "HEAD").strip() == head
    assert "calc.py" not in project.git("show", "--stat", "--format=", commit).split()
    assert "SECRET" not in project.git("log", "-p", "--all")
    for each in launches_of(session):
        assert each["cwd"] == str(place)
        assert each["env"]["AGENTMUX_WORKTREE"] == str(place)
        assert each["argv"][each["argv"].index("--add-dir") + 1] == str(session.path)


def test_what_start_says_and_a_dry_run_makes_nothing(project: Project) -> None:
    project.scenario(WAITS)
    (project.path / "calc.py").write_text("changed\n")
    before = project.tree()
    said = project.run("start", "--agent", "demo", "--worktree", "--dry-run", "x y")
    place = project.root / "calc-worktrees" / "x-y"
    assert said.returncode == 0
    assert f"the session works in {place}, on branch agentmux/x-y from main at" in said.stderr
    assert "because you asked for it" in said.stderr
    assert "1 changed file does not come along" in said.stderr
    answer = project.json("start", "--agent", "demo", "--worktree", "--dry-run", "x y")
    assert (answer["worktree"], answer["branch"]) == (str(place), "agentmux/x-y")
    assert project.tree() == before
    assert not place.parent.exists()
    project.config("agents: {mute: {like: demo, command: agentmux-demo-agent, add_dir: null}}\n")
    said = project.run("start", "--agent", "mute", "--worktree", "--dry-run", "x y")
    assert "mute cannot be told of the session's directory" in said.stderr


@RARE
@pytest.mark.long
def test_three_features_side_by_side(project: Project) -> None:
    project.scenario(WAITS)
    one, two, three = (project.start("same").until_seat("architect") for _ in range(3))
    assert one.state["worktree"] is None
    root = project.root / "calc-worktrees"
    assert [place_of(each) for each in (two, three)] == [root / "same", root / "same-2"]
    assert three.state["branch"] == "agentmux/same-2"
    listed = project.ok("list")
    assert "BRANCH" in listed
    assert "agentmux/same-2" in listed
    shown = project.ok("status", three.name)
    assert f"worktree      {place_of(three)}" in shown
    assert "branch        agentmux/same-2, from main at" in shown
    # All sessions are found from inside a worktree, whose own configuration is never read.
    (place_of(two) / ".agentmux").mkdir(exist_ok=True)
    (place_of(two) / ".agentmux" / "config.yaml").write_text("version: 1\nnonsense: 1\n")
    below = place_of(two) / "below"
    below.mkdir()
    found = project.json("list", cwd=below)["sessions"]
    assert {each["session"] for each in found} == {one.name, two.name, three.name}
    assert project.json("status", cwd=below)["sessions"][0]["session"] == two.name
    project.ok("stop", two.name, cwd=below)
    project.ok("resume", two.name, "--detach", cwd=place_of(three))
    two.until_seat("architect")
    said = project.fails(3, "start", "--agent", "demo", "--no-worktree", "more")
    assert f"session {one.short} is live in this checkout" in said
    assert "agentmux start --worktree" in said
    assert all("--add-dir" not in each["argv"] for each in launches_of(one)), "it is inside"
    # A stopped session in the checkout is in the way of the next one, as a live one is.
    project.ok("stop", one.name)
    planned = project.run("start", "--agent", "demo", "--dry-run", "more")
    assert f"because session {one.short} began in the checkout and is not done" in planned.stderr
    project.ok("resume", one.name, "--detach")
    # A worktree that nobody used goes with its session.
    project.ok("stop", three.name)
    project.ok("remove", three.name, "--yes")
    assert not (root / "same-2").exists()


@pytest.mark.rare("test_three_features_side_by_side begins three")
def test_ten_starts_at_once_in_three_projects_of_one_repository(project: Project) -> None:
    project.scenario(WAITS)
    parts = project.path / "web", project.path / "api"
    for part in parts:
        (part / ".agentmux").mkdir(parents=True)
    with ThreadPoolExecutor(10) as pool:
        starts = [
            pool.submit(project.json, "start", "--agent", "demo", "same", cwd=place)
            for place in (*parts * 3, *[project.path] * 4)
        ]
    places = [each.result()["worktree"] for each in starts]
    names = {"same", *(f"same-{n}" for n in range(2, 10))}
    assert {None if each is None else Path(each).name for each in places} == {None, *names}
    assert len(project.git("worktree", "list").splitlines()) == 10


# -- what is refused before anything is made -----------------------------------------------------


def refused(project: Project, *words: str, code: int = 2, **more: Any) -> str:
    sessions = project.sessions()
    said = project.fails(code, "start", "--agent", "demo", *words, **more)
    assert project.sessions() == sessions
    assert not (project.root / "calc-worktrees").exists()
    assert "agentmux/" not in project.git("for-each-ref")
    return said


def test_what_cannot_be_done_is_refused_before_anything_is_made(project: Project) -> None:
    assert "is not a commit" in refused(project, "--worktree", "--base", "nothing", "x")
    assert "--base" in refused(project, "--no-worktree", "--base", "main", "x")
    (project.path / "calc.py").write_text("changed\n")
    assert "--include is for the checkout" in refused(
        project, "--worktree", "--include", "calc.py", "x"
    )
    project.git("branch", "agentmux")
    said = refused(project, "--worktree", "x")
    assert "because a branch `agentmux` exists" in said
    assert "exists already" in refused(project, "--worktree", "--branch", "agentmux", "x")
    project.config("git: {root: inside}\n")
    assert "it is inside the repository" in refused(project, "--worktree", "--branch", "y", "x")
    project.git("branch", "-D", "agentmux")
    project.config("")
    (project.path / ".gitmodules").write_text("")
    project.git("add", ".gitmodules")
    project.git("commit", "-qm", "Modules")
    said = refused(project, "--worktree", "x", code=6, env={"PATH": older_git(project)})
    assert "a repository with submodules needs git 2.38; this one is 2.37" in said
    assert "agentmux start --no-worktree" in said


def test_without_a_commit_there_is_no_worktree(outside: Project) -> None:
    said = outside.fails(2, "start", "--agent", "demo", "--worktree", "x")
    assert "a worktree needs a git repository" in said
    outside.git("init", "-q")
    said = outside.fails(2, "start", "--agent", "demo", "--worktree", "x")
    assert "there is none yet" in said
    outside.config("git: {worktree: always}\n")
    done = outside.run("start", "--agent", "demo", "--dry-run", "x")
    assert done.returncode == 0
    assert "warning: the session gets no worktree of its own: " in done.stderr


def test_a_failed_start_leaves_nothing(project: Project) -> None:
    project.git("config", "filter.big.smudge", "false")
    project.git("config", "filter.big.clean", "cat")
    project.git("config", "filter.big.required", "true")
    (project.path / ".gitattributes").write_text("*.py filter=big\n")
    project.git("add", ".gitattributes")
    project.git("commit", "-qm", "Filter")
    config = project.git("config", "--local", "--list")
    said = project.fails(1, "start", "--agent", "demo", "--worktree", "x")
    assert "smudge filter" in said
    assert project.sessions() == []
    assert "agentmux" not in project.git("for-each-ref")
    assert project.git("worktree", "list").count("\n") == 1
    assert project.git("config", "--local", "--list") == config


def test_a_project_in_a_subdirectory(project: Project) -> None:
    part = project.path / "api"
    (part / ".agentmux").mkdir(parents=True)
    (part / "api.py").write_text("API = 1\n")
    project.git("add", "-A")
    project.git("commit", "-qm", "A part")
    project.scenario(WAITS)
    answer = project.json("start", "--agent", "demo", "--worktree", "x", cwd=part)
    session = Session(project, part / answer["path"]).until_seat("architect")
    place = place_of(session)
    assert place == project.root / "calc-worktrees" / "x"
    assert [each["cwd"] for each in launches_of(session)] == [str(place / "api")]
    assert project.json("status", cwd=place / "api")["sessions"][0]["session"] == session.name


def test_a_base_that_is_not_checked_out(project: Project) -> None:
    project.git("tag", "v1")
    (project.path / "more.py").write_text("MORE = 1\n")
    project.git("add", "-A")
    project.git("commit", "-qm", "More")
    project.config("git: {base: v1}\n")
    words = ("start", "--agent", "demo", "--dry-run", "--worktree", "x")
    base = f" from {project.git('rev-parse', '--short=12', 'v1').strip()}"
    assert base in project.run(*words).stderr
    assert base not in project.run(*words, "--base", "main").stderr
    project.scenario(WAITS)
    session = project.start("x", "--worktree", "--branch", "feature/x")
    assert session.state["base"]["branch"] is None
    assert session.state["branch"] == "feature/x"
    assert not (place_of(session) / "more.py").exists()


def test_the_place_of_worktrees_in_a_projects_file_needs_trust(project: Project) -> None:
    project.config("git: {root: ../elsewhere}\n", trusted=False)
    project.scenario(WAITS)
    said = project.fails(7, "start", "--agent", "demo", "--worktree", "x")
    assert "git.root" in said
    assert not (project.root / "elsewhere").exists()
    session = project.start("x", "--worktree", "--trust")
    assert place_of(session) == project.root / "elsewhere" / "x"
    project.ok("start", "--agent", "demo", "--dry-run", "y")  # the checkout uses nothing of it


# -- the result, and taking it away --------------------------------------------------------------


def findings(project: Project) -> list[dict[str, str]]:
    return json.loads(project.run("doctor", "--json").stdout)["findings"]  # type: ignore[no-any-return]


@RARE
@pytest.mark.long
def test_the_result_stays_on_its_branch_until_it_is_merged(project: Project) -> None:
    session = project.start("x", "--worktree").wait()
    place = place_of(session)
    (place / "extra.py").write_text("EXTRA = 1\n")
    project.git("-C", str(place), "add", "extra.py")
    project.git("-C", str(place), "commit", "-qm", "By an agent")
    said = project.ok("approve", session.name, "--keep", "--yes")
    assert "on branch agentmux/x, from main at" in said
    assert "committed there already: " in said
    assert "By an agent" in said
    assert "git merge --no-edit agentmux/x" in said
    session.wait("done")
    state = session.state
    assert state["delivery"] == {
        "id": state["approval"],
        "then": "keep",
        "steps": {"commit": {"status": "done", "record": {"commit": state["commit"]["commit"]}}},
    }
    assert len(project.git("log", "--format=%h", "main..agentmux/x").split()) == 2

    refused = project.fails(3, "rewind", session.name, "--to", "planning")
    assert "was approved: there is nothing to rewind" in refused
    refused = project.fails(3, "remove", session.name, "--yes")
    assert "2 commits on branch agentmux/x not merged" in refused
    assert "git merge --no-edit agentmux/x" in refused
    assert place.is_dir()
    assert session.path.is_dir()
    kept = f"kept {place}: 2 commits on branch agentmux/x not merged"
    pruned = project.run("prune")
    assert (pruned.stdout, kept in pruned.stderr) == ("", True)
    leftovers = [each for each in findings(project) if each["check"] == "leftovers"]
    merge = git_commands.merge("agentmux/x")
    assert [("2 commits on branch" in each["text"], each["mend"]) for each in leftovers] == [
        (True, f"merge the branch first: {merge} (with main checked out)")
    ]
    project.git("merge", "-q", "agentmux/x")
    assert project.ok("prune", "--dry-run").startswith("would remove ")
    leftovers = [each for each in findings(project) if each["check"] == "leftovers"]
    assert [each["mend"] for each in leftovers] == ["agentmux prune"]
    assert place.is_dir()
    assert project.ok("prune") == f"removed worktree {place} and branch agentmux/x\n"
    assert not place.parent.exists()
    assert session.path.is_dir()
    assert project.ok("prune") == ""
    assert "removed" in project.run("remove", session.name, "--yes").stderr
    assert not session.path.exists()
    assert "agentmux" not in project.git("for-each-ref")
    assert "agentmux" not in project.git("config", "--local", "--list")
    assert project.git("worktree", "list").count("\n") == 1


@pytest.mark.long
def test_what_a_coder_commits_on_a_branch_of_its_own_is_delivered(project: Project) -> None:
    session = project.start("x", "--worktree").wait()
    place = place_of(session)
    project.git("-C", str(place), "checkout", "-q", "-b", "feat/x")
    (place / "extra.py").write_text("EXTRA = 1\n")
    project.git("-C", str(place), "add", "extra.py")
    project.git("-C", str(place), "commit", "-qm", "By an agent")
    said = f"{place} is on branch feat/x now, not on branch agentmux/x"
    project.until(lambda: said in project.ok("status", session.name))
    assert "extra.py" in project.ok("diff", "--stat", session.name)
    shown = project.ok("approve", session.name, "--merge", "--yes")
    head = project.git("rev-parse", "--short=12", "feat/x").strip()
    assert f"HEAD is {head} on feat/x: branch agentmux/x is first moved forward to it" in shown
    session.wait("done")
    assert "extra.py" in project.git("ls-files").split()
    assert "By an agent" in project.git("log", "--format=%s")
    assert project.git_at(place, "branch", "--show-current").strip() == "agentmux/x"


KILLER = """\
#!/bin/sh
"{git}" "$@"
status=$?
case "$*" in
  *"{command} -m agentmux: forward to HEAD"*)
    if rm {root}/armed 2> /dev/null; then kill -9 $PPID; fi ;;
esac
exit $status
"""


@pytest.mark.long
@pytest.mark.parametrize(
    "command",
    [
        "update-ref",
        pytest.param("symbolic-ref", marks=pytest.mark.rare("CI kills at the first of the two")),
    ],
)
def test_a_kill_while_the_branch_is_moved_forward_loses_nothing(
    project: Project, command: str
) -> None:
    git = project.root / "bin" / "git"
    git.parent.mkdir()
    git.write_text(KILLER.format(git=shutil.which("git"), command=command, root=project.root))
    git.chmod(0o755)
    env = {"PATH": f"{git.parent}{os.pathsep}{project.env['PATH']}"}
    session = project.start("x", "--worktree", env=env).wait()
    place = place_of(session)
    project.git_at(place, "checkout", "-q", "-b", "feat/x")
    (place / "extra.py").write_text("EXTRA = 1\n")
    project.git_at(place, "add", "extra.py")
    project.git_at(place, "commit", "-qm", "By an agent")
    (place / "open.py").write_text("OPEN = 1\n")
    theirs = project.git("rev-parse", "feat/x")
    (project.root / "armed").touch()
    killed = session.runtime["orchestrator_pid"]
    project.run("approve", session.name, "--keep", "--yes", env=env)
    project.until(lambda: not is_alive(killed))
    assert not (project.root / "armed").exists()
    on = "feat/x" if command == "update-ref" else "agentmux/x"
    assert project.git_at(place, "branch", "--show-current").strip() == on
    project.ok("resume", session.name, "--reattach", "--detach")
    session.wait("done")
    assert project.git_at(place, "branch", "--show-current").strip() == "agentmux/x"
    assert project.git("rev-parse", "feat/x") == theirs
    files = project.git("ls-tree", "--name-only", "agentmux/x").split()
    assert {"extra.py", "open.py"} <= set(files)
    assert project.git("log", "--format=%s", "main..agentmux/x").count("\n") == 2


def test_what_is_not_committed_keeps_the_session_unless_forced(project: Project) -> None:
    project.scenario(WAITS)
    session = project.start("x", "--worktree").until_seat("architect")
    place = place_of(session)
    (place / "half.py").write_text("half\n")
    project.ok("stop", session.name)
    said = project.fails(3, "remove", session.name, "--yes")
    assert "1 file in" in said
    assert "half.py" in said
    assert (place / "half.py").exists()
    assert session.path.is_dir()
    project.ok("remove", "--force", session.name, "--yes")
    assert not place.exists()
    assert "agentmux" not in project.git("for-each-ref")


# -- a resume whose worktree is gone -------------------------------------------------------------


def stopped_at_work(project: Project) -> Session:
    """Return a stopped session whose architect has a conversation and left a commit."""
    project.scenario({"roles": {"architect": {"think": 600}}})
    session = project.start("x", "--worktree").until_seat("architect").settled("architect")
    place = str(place_of(session))
    project.git("-C", place, "commit", "-q", "--allow-empty", "-m", "By an agent")
    (place_of(session) / "half.py").write_text("half\n")
    project.ok("stop", session.name)
    project.scenario({})
    return session


def refuses(project: Project, session: Session, reason: str) -> str:
    """Return what a resume says that is refused for a reason, as its dry run shows."""
    (plan,) = project.json("resume", session.name, "--dry-run", code=3)["sessions"]
    assert plan["blocked"]["reason"] == reason
    return project.fails(3, "resume", session.name, "--detach", "--yes")


@RARE
@pytest.mark.long
def test_a_deleted_worktree_comes_back_once_nothing_is_in_its_way(project: Project) -> None:
    session = stopped_at_work(project)
    place = place_of(session)
    place.rename(place.with_name("aside"))
    place.mkdir()
    (place / "mine.txt").write_text("mine\n")
    assert f"something else is at {place}" in refuses(project, session, "worktree_taken")
    assert (place / "mine.txt").read_text() == "mine\n"
    shutil.rmtree(place.parent)

    tip = project.git("rev-parse", "agentmux/x").strip()
    project.git("worktree", "prune")
    project.git("update-ref", "-d", "refs/heads/agentmux/x")
    assert f"git branch agentmux/x {tip}" in refuses(project, session, "branch_gone")
    project.git("branch", "agentmux/x", tip)

    before = project.tree()
    (plan,) = project.json("resume", session.name, "--dry-run")["sessions"]
    assert any(f"the worktree {place} is gone" in each for each in plan["warnings"])
    assert (plan["panes"][0]["mode"], plan["panes"][0]["cwd"]) == ("native", str(place))
    assert project.tree() == before
    done = project.run("resume", session.name, "--detach", "--yes")
    assert done.returncode == 0, done.stderr
    assert "work-tree checkpoint 1, in architecting, uncommitted work included" in done.stderr
    session.wait()
    assert {"again": True, "dirty": [], "checkpoint": 1} in [
        each["payload"] for each in session.events if each["event"] == "worktree_made"
    ]
    assert (place / "half.py").read_text() == "half\n"
    session.approve()
    assert "By an agent" in project.git("log", "--format=%s", "agentmux/x")


@pytest.mark.long
@pytest.mark.follows(
    "git branch NAME refs/heads/… && git update-ref refs/heads/… …",
    "lose what was not committed: agentmux resume --without-checkpoint …",
)
def test_a_branch_that_has_moved_in_conflict_refuses_the_resume(
    project: Project,
) -> None:
    session = stopped_at_work(project)
    place = place_of(session)
    shutil.rmtree(place)
    other = project.root / "other"
    project.git("worktree", "add", "-q", "-f", str(other), "agentmux/x")
    (other / "half.py").write_text("the other half\n")
    project.git("-C", str(other), "add", "half.py")
    project.git("-C", str(other), "commit", "-qm", "By the user")
    project.git("worktree", "remove", str(other))
    said = refuses(project, session, "checkpoint_conflict")
    assert "both changed half.py" in said
    assert not place.exists()
    (back,) = [line for line in said.splitlines() if "and go back: " in line]
    tip = project.git("rev-parse", "agentmux/x")
    project.git("tag", "agentmux/x", "main")
    done = project.program("sh", "-c", back.partition("go back: ")[2].replace("NAME", "kept"))
    assert done.returncode == 0, done.stderr
    assert project.git("rev-parse", "kept") == tip
    project.git("update-ref", "refs/heads/agentmux/x", "kept")
    project.git("tag", "-d", "agentmux/x")
    (given_up,) = [line for line in said.splitlines() if "lose what" in line]
    assert given_up.endswith(f"agentmux resume --without-checkpoint {session.short}")
    project.scenario(WAITS)
    project.ok("resume", "--without-checkpoint", session.name, "--detach", "--yes")
    session.until_seat("architect")
    assert (place / "half.py").read_text() == "the other half\n"


# -- a resume whose repository was moved ---------------------------------------------------------


def renamed(project: Project, session: Session) -> Session:
    """Move the folder of the repository and of its worktrees; return the session there."""
    old, new = project.root / "old", project.root / "new"
    inside = session.path.relative_to(project.path)
    old.mkdir()
    for name in (project.path.name, "calc-worktrees"):
        (project.root / name).rename(old / name)
    old.rename(new)
    project.path = new / project.path.name
    return Session(project, project.path / inside)


@RARE
@pytest.mark.long
def test_a_session_goes_on_in_a_worktree_that_moved_along(project: Project) -> None:
    session = stopped_at_work(project)
    old = place_of(session)
    (old / "byhand.txt").write_text("by hand\n")
    session = renamed(project, session)
    place = project.root / "new" / "calc-worktrees" / "x"

    before = project.tree()
    unlinked = f"the project was moved, and the worktree {place} is not linked to it yet"
    assert unlinked in project.run("diff", session.name).stderr
    # Who does not resume first loses nothing of what only the worktree has.
    assert unlinked in project.fails(3, "export", session.name, str(project.root / "s.agentmux"))
    assert unlinked in project.fails(3, "rewind", session.name, "--to", "1")
    said = project.fails(3, "remove", "--force", session.name, "--yes")
    assert f"link it: git worktree repair {place}" in said
    (plan,) = project.json("resume", session.name, "--dry-run")["sessions"]
    assert plan["panes"][0]["cwd"] == str(place)
    assert f"the repository was moved: the session goes on in {place}" in plan["warnings"]
    assert project.tree() == before

    project.ok("resume", session.name, "--detach", "--yes")
    session.wait()
    assert place_of(session) == place
    assert [each["payload"] for each in session.events if each["event"] == "worktree_moved"] == [
        {"path": str(place)}
    ]
    project.ok("approve", session.name, "--merge", "--yes")
    assert not old.parent.exists()
    assert "By an agent" in project.git("log", "--format=%s")
    assert {"byhand.txt", "half.py"} <= set(project.git("ls-files").split())


@pytest.mark.rare("tests/adapters/trees/test_worktrees.py moves repositories, too")
@pytest.mark.long
@pytest.mark.follows("a resume links it: agentmux resume …")
def test_a_session_goes_on_in_a_worktree_whose_repository_alone_was_renamed(
    project: Project,
) -> None:
    session = stopped_at_work(project)
    place, inside = place_of(session), session.path.relative_to(project.path)
    (place / "byhand.txt").write_text("by hand\n")
    project.path = project.path.rename(project.root / "renamed")
    session = Session(project, project.path / inside)
    assert "a resume links it" in project.fails(3, "rewind", session.name, "--to", "1")
    project.ok("resume", session.name, "--detach", "--yes")
    session.wait()
    assert place_of(session) == place
    project.ok("approve", session.name, "--merge", "--yes")
    assert {"byhand.txt", "half.py"} <= set(project.git("ls-files").split())


@RARE
@pytest.mark.long
def test_what_a_refusal_at_the_place_of_a_worktree_hints_at_loses_nothing(
    project: Project,
) -> None:
    session = stopped_at_work(project)
    place = place_of(session)
    text = (place / ".git").read_text()
    (place / ".git").write_text(text.replace(str(project.path), "/somewhere/else"))
    said = refuses(project, session, "worktree_taken")
    assert "a worktree of a repository that is gone (/somewhere/else/.git/worktrees/x)" in said
    away = said.partition("else move it away: ")[2].splitlines()[0]
    project.program("sh", "-c", away)
    project.ok("resume", session.name, "--detach", "--yes")
    session.wait()
    assert (place.with_name("x.old") / "half.py").read_text() == "half\n"
    assert (place / "half.py").read_text() == "half\n"


def test_the_ref_of_a_detached_head_goes_with_the_session(project: Project) -> None:
    project.scenario(WAITS)
    session = project.start("x").until_seat("architect")
    project.git("switch", "-q", "--detach")
    project.git("commit", "-q", "--allow-empty", "-m", "Detached")
    project.ok("stop", session.name)
    assert project.git("for-each-ref", "--format=%(refname)", "refs/agentmux") != ""
    project.ok("remove", session.name, "--yes")
    assert project.git("for-each-ref", "refs/agentmux") == ""
