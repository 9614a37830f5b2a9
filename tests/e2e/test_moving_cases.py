"""Sessions of every kind that ``agentmux export`` and ``import`` move to another clone."""

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.e2e.conftest import QUICK, Project, Session

pytestmark = pytest.mark.rare("odd repositories; test_moving.py moves a usual one")

HALF = {**QUICK, "roles": {**QUICK["roles"], "coder": {"submit": "no"}}}
EXAMPLE = Path(__file__).parents[2] / ".agentmux.example"


def stopped(session: Session, seat: str = "coder-1") -> Session:
    """Stop a session whose ``seat`` works, and leave a file that is not committed."""
    session.until_seat(seat)
    place = Path(session.state["worktree"] or session.project.path)
    (place / "note.txt").write_text("half of it\n")
    session.project.ok("stop", session.name)
    return session


def begun(project: Project, *words: str, feature: str = "add a greeting") -> Session:
    """Start a session in a worktree whose coder does not hand in; stop it."""
    project.scenario(HALF)
    return stopped(project.start(feature, *(words or ("--worktree",))))


def moved(session: Session, away: Project, *words: str) -> Session:
    """Export a session, and import it in the other clone."""
    file = session.project.root / "s.agentmux"
    session.project.ok("export", session.name, str(file))
    (made,) = away.json("import", *words, str(file))["sessions"]
    return Session(away, away.path / made["path"])


def ended(there: Session) -> list[str]:
    """Go on with an imported session to its end; return the files of its commit."""
    away = there.project
    away.scenario(QUICK)
    away.ok("resume", there.name, "--detach", "--yes")
    there.wait().approve()
    branch = there.state["branch"]
    assert away.git("rev-list", "--count", f"origin/main..{branch}").strip() == "1"
    return away.git("ls-tree", "-r", "--name-only", "--full-tree", branch).splitlines()


def pushed(project: Project, subject: str) -> None:
    """Commit everything, and push it to the remote."""
    project.git("add", "-A")
    project.git("commit", "-qm", subject)
    project.git("push", "-q", "origin", "main")


@contextmanager
def inside(project: Project, folder: str) -> Iterator[None]:
    """Let a directory of the repository be the project in the block."""
    top = project.path
    project.path = top / folder
    project.config("")
    yield
    project.path = top


def test_a_pipeline_of_ones_own_is_taken_as_it_is_there(project: Project, away: Project) -> None:
    shutil.copytree(EXAMPLE, project.path / ".agentmux")
    pushed(project, "Configure")
    away.git("pull", "-q")
    project.ok("trust")
    project.scenario({"roles": {"security": {"submit": "no"}}})
    session = stopped(project.start("add it", "--pipeline", "careful", "--worktree"), "security")
    file = project.root / "s.agentmux"
    project.ok("export", session.name, str(file))
    assert "is not trusted" in away.fails(7, "import", str(file))
    assert away.sessions() == []
    there = Session(
        away, away.path / away.json("import", "--trust", str(file))["sessions"][0]["path"]
    )
    away.scenario({})
    away.ok("resume", there.name, "--detach", "--yes")
    there.wait().approve()
    assert there.launched()[-4:] == ["coder-1", "check-whitespace", "security", "security"]


def test_a_pipeline_that_is_not_there_is_refused(project: Project, away: Project) -> None:
    shutil.copytree(EXAMPLE, project.path / ".agentmux")
    project.ok("trust")
    project.scenario({"roles": {"security": {"submit": "no"}}})
    session = stopped(project.start("add it", "--pipeline", "careful", "--worktree"), "security")
    file = project.root / "s.agentmux"
    project.ok("export", session.name, str(file))
    assert "`careful`" in away.fails(2, "import", str(file))
    assert away.sessions() == []


def test_a_session_that_looks_at_a_branch(project: Project, away: Project) -> None:
    project.git("checkout", "-q", "-b", "fix")
    (project.path / "calc.py").write_text("def add(a, b):\n    return b + a\n")
    project.git("commit", "-qam", "Turn it round")
    tip = project.git("rev-parse", "fix").strip()
    project.git("checkout", "-q", "main")
    project.scenario({"roles": {"reviewer_logic": {"submit": "no"}}})
    session = project.start("is it right?", "--of", "fix").until_seat("reviewer_logic")
    project.ok("stop", session.name)
    there = moved(session, away)
    away.scenario({})
    before = away.git("for-each-ref", "refs/heads", "refs/remotes")
    away.ok("resume", there.name, "--detach", "--yes")
    there.wait().approve()
    assert there.state["reviewed"]["commit"] == tip
    assert there.state["commit"] is None
    assert away.git("for-each-ref", "refs/heads", "refs/remotes") == before


@pytest.mark.parametrize("is_there", [False, True])
def test_a_session_that_continues_a_branch(project: Project, away: Project, is_there: bool) -> None:
    project.git("branch", "fix")
    project.git("push", "-q", "origin", "fix")
    away.git("fetch", "-q")
    if is_there:
        away.git("branch", "-q", "fix", "origin/fix")
    there = moved(begun(project, "--on", "fix"), away)
    assert (there.state["branch"], there.state["continued"]) == ("fix", True)
    assert "note.txt" in ended(there)


def test_work_in_a_submodule_is_named_as_left(project: Project, away: Project) -> None:
    inner = project.root / "inner"
    project.git("init", "-q", str(inner))
    project.git("-C", str(inner), "commit", "-qm", "Lib", "--allow-empty")
    for each in (project, away):
        each.git("config", "--global", "protocol.file.allow", "always")
    project.git("submodule", "add", "-q", str(inner), "lib")
    pushed(project, "Add lib")
    away.git("pull", "-q")
    project.scenario(HALF)
    session = project.start("add a greeting", "--worktree").until_seat("coder-1")
    place = Path(session.state["worktree"])
    project.git_at(place, "submodule", "update", "-q", "--init")
    (place / "lib" / "new.py").write_text("y = 2\n")
    stopped(session)
    file = project.root / "s.agentmux"
    said = project.run("export", session.name, str(file), "--copy").stderr
    assert said == "warning: lib/ does not come along\n"
    (place / "lib" / "new.py").unlink()
    assert project.run("export", session.name, str(file), "--force").stderr == ""
    there = Session(away, away.path / away.json("import", str(file))["sessions"][0]["path"])
    assert {"note.txt", "lib"} <= {*ended(there)}


def test_files_that_stay_are_named(project: Project, away: Project) -> None:
    (project.path / "hidden.py").write_text("a = 1\n")
    (project.path / ".gitignore").write_text("*.env\n")
    project.git("add", ".")
    pushed(project, "Add files")
    project.scenario(HALF)
    session = project.start("add a greeting", "--worktree").until_seat("coder-1")
    place = Path(session.state["worktree"])
    project.git_at(place, "update-index", "--skip-worktree", "hidden.py")
    for name in ("hidden.py", "calc.py"):
        (place / name).write_text("staged, or hidden\n")
    project.git_at(place, "add", "calc.py")
    (place / "calc.py").write_text("and changed again\n")
    (place / "my.env").write_text("TOKEN=1\n")
    stopped(session)
    file = project.root / "s.agentmux"
    done = project.run("export", session.name, str(file), "--json")
    assert done.stderr.splitlines() == [
        "warning: hidden.py does not come along",
        "warning: what is staged does not come along, only the files: calc.py",
        "warning: what git ignores does not come along: my.env",
    ]
    (told,) = json.loads(done.stdout)["sessions"]
    assert (told["left"], told["staged"]) == (["hidden.py"], ["calc.py"])
    assert told["ignored"] == ["my.env"]


def test_a_project_in_a_subdirectory(project: Project, away: Project) -> None:
    (project.path / "sub dir").mkdir()
    (project.path / "sub dir" / "a.py").write_text("a = 1\n")
    pushed(project, "Sub")
    away.git("pull", "-q")
    with inside(project, "sub dir"):
        session = begun(project)
        file = project.root / "copy.agentmux"
        project.ok("export", session.name, str(file), "--copy")
        said = away.run("import", str(file)).stderr
        assert said == (
            "warning: the session worked in `sub dir` of its repository, and works in `.` here\n"
        )
        with inside(away, "sub dir"):
            there = moved(session, away)
            assert "sub dir/demo_part_1.py" in ended(there)


@pytest.mark.parametrize("how", ["detached", "renamed", "deleted"])
def test_a_worktree_that_shows_something_else_is_not_exported(project: Project, how: str) -> None:
    session = begun(project)
    place, branch = Path(session.state["worktree"]), session.state["branch"]
    if how == "renamed":
        project.git("branch", "-m", branch, "other")
    else:
        project.git_at(place, "checkout", "-q", "--detach")
    if how == "deleted":
        project.git("branch", "-q", "-D", branch)
    before = project.tree()
    file = project.root / "s.agentmux"
    said = project.fails(3, "export", session.name, str(file))
    assert f"but the session began on branch {branch}" in said
    assert project.tree() == before
    assert not file.exists()
    way = said.partition("; go back: ")[2].splitlines()[0]
    done = project.program("sh", "-c", way)
    assert done.returncode == 0, done.stderr
    project.ok("export", session.name, str(file))


def test_a_session_without_a_commit_or_a_file_of_its_own(project: Project, away: Project) -> None:
    """All that it builds on is at the remote."""
    project.scenario({"roles": {"architect": {"submit": "no"}}})
    session = project.start("add a greeting", "--worktree").until_seat("architect")
    project.ok("stop", session.name)
    assert ended(moved(session, away))


def test_checkpoints_that_are_gone(project: Project, away: Project) -> None:
    session = begun(project)
    shutil.rmtree(session.path / "work-tree")
    assert "note.txt" in ended(moved(session, away))


def test_a_session_in_its_second_cycle(project: Project, away: Project) -> None:
    session = project.start("add a greeting", "--worktree").wait()
    project.scenario(HALF)
    project.ok("request-changes", "-s", session.name, "more", "--from", "planning")
    project.until(lambda: session.state["cycle"] == 2)
    stopped(session.wait("implementing"))
    there = moved(session, away)
    assert there.state["cycle"] == 2
    old = {path.relative_to(session.path) for path in session.path.glob("history/**/*.md")}
    assert old
    assert old == {path.relative_to(there.path) for path in there.path.glob("history/**/*.md")}
    assert there.read("requirements.md") == session.read("requirements.md")
    assert "note.txt" in ended(there)


@pytest.mark.parametrize("feature", ['it\'s "so" $(touch x)', "two\nlines", "🐙 é", "-x", "../up"])
def test_odd_texts_and_paths(project: Project, away: Project, feature: str) -> None:
    session = begun(project, feature=feature)
    folder = project.root / "a dir 'q'\n🐙"
    folder.mkdir()
    file = folder / "-s [x]*.agentmux"
    project.ok("export", session.name, str(file))
    assert [each.name for each in folder.iterdir()] == [file.name]
    there = Session(away, away.path / away.json("import", str(file))["sessions"][0]["path"])
    assert there.state["feature"] == feature
    assert "note.txt" in ended(there)


def test_imports_at_the_same_time_make_one_session(project: Project, away: Project) -> None:
    session = begun(project)
    file = project.root / "s.agentmux"
    project.ok("export", session.name, str(file))
    words = [["--copy"] if number % 2 else [] for number in range(6)]
    running = [
        subprocess.Popen(
            [sys.executable, "-m", "agentmux", "import", *each, str(file)],
            cwd=away.path,
            env=away.env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for each in words
    ]
    codes = [each.wait(60) for each in running]
    assert sorted(codes[::2]) == [0, 3, 3]
    assert codes[1::2] == [0, 0, 0]
    states = [Session(away, path).state for path in away.sessions()]
    for name in ("session_id", "branch", "worktree"):
        assert len({each[name] for each in states}) == len(states) == 4


def test_a_place_and_a_branch_that_are_taken_are_left_alone(
    project: Project, away: Project
) -> None:
    taken = away.root / "calc-worktrees" / "add-a-greeting"
    taken.mkdir(parents=True)
    (taken / "mine.txt").write_text("mine\n")
    away.git("branch", "agentmux/add-a-greeting")
    there = moved(begun(project), away)
    place = Path(there.state["worktree"])
    assert (place.name, there.state["branch"]) == ("add-a-greeting-2", f"agentmux/{place.name}")
    place.mkdir()
    (place / "mine.txt").write_text("mine\n")
    said = away.fails(3, "resume", there.name, "--detach", "--yes")
    assert f"something else is at {place}" in said
    (place / "mine.txt").unlink()
    assert "note.txt" in ended(there)
    assert (taken / "mine.txt").read_text() == "mine\n"
