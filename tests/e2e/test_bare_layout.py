"""Repositories of people who live in worktrees: the top is bare, each branch has a folder."""

import pytest

from tests.e2e.conftest import Project, Session

pytestmark = pytest.mark.long


@pytest.fixture
def layout(project: Project) -> Project:
    """Make ``.bare``, a file ``.git`` that names it, and the worktree ``main``."""
    (project.path / ".git").rename(project.path / ".bare")
    project.git_at(project.path / ".bare", "config", "core.bare", "true")
    (project.path / ".git").write_text("gitdir: ./.bare\n")
    (project.path / "calc.py").unlink()
    project.git("worktree", "add", "-q", "main", "main")
    return project


@pytest.mark.rare("CI starts in a worktree of such a repository")
def test_at_the_top_a_session_has_a_worktree_from_start_to_removal(layout: Project) -> None:
    said = layout.fails(2, "start", "--agent", "demo", "--no-worktree", "x")
    assert "a bare repository has no checkout to work in" in said
    assert "git init" not in said
    done = layout.run("start", "--agent", "demo", "--quick", "--detach", "add a greeting")
    assert "because the repository is bare and has no checkout\n" in done.stderr
    assert "not a git repository" not in done.stderr
    session = Session(layout, *layout.sessions()).wait()
    assert session.state["worktree"] == str(layout.path / "bare-worktrees" / "add-a-greeting")
    assert session.state["base"]["branch"] == "main"
    said = layout.fails(2, "try", session.name)
    assert f"{layout.path} has no checkout, in which the files could be shown" in said
    assert f"hint: see them where the session works: cd {session.state['worktree']}\n" in said
    layout.ok("stop", session.name)
    layout.ok("resume", session.name, "--yes", "--detach")
    assert "demo_part_1.py" in layout.ok("diff", session.name, "--stat")
    assert "merged into main" in layout.ok("approve", session.name, "--yes", "--merge")
    session.wait("done")
    assert (layout.path / "main/demo_part_1.py").is_file()
    assert layout.git_at(layout.path / "main", "status", "--porcelain") == ""
    layout.ok("remove", session.name, "--yes")
    assert layout.git("branch", "--format=%(refname:short)") == "main\n"
    assert "worktrees: git init" not in layout.run("doctor").stdout


def test_in_a_worktree_of_it_the_result_goes_to_its_branch(layout: Project) -> None:
    dev = layout.path / "dev"
    layout.git("worktree", "add", "-q", "-b", "dev", "dev")
    (layout.path / ".agentmux").mkdir()  # above: it does not count
    words = ("start", "--agent", "demo", "--quick", "--detach", "--worktree", "add a greeting")
    answer = layout.json(*words, cwd=dev)
    session = Session(layout, dev / answer["path"])
    layout.ok("wait", session.name, "--for", "decision", cwd=dev)
    layout.ok("approve", session.name, "--yes", "--merge", cwd=dev)
    assert (dev / "demo_part_1.py").is_file()
    assert layout.git_at(dev, "status", "--porcelain") == ""
    assert "demo_part_1.py" not in layout.git("ls-tree", "--name-only", "main")


def test_in_a_bare_repository_itself(project: Project) -> None:
    bare = project.root / "calc.git"
    project.git("clone", "-q", "--bare", str(project.path), str(bare))
    project.git_at(bare, "branch", "other")
    answer = project.json("start", "--agent", "demo", "--dry-run", "add it", cwd=bare)
    assert answer["worktree"] == str(project.root / "calc-worktrees" / "add-it")
    answer = project.json("start", "--agent", "demo", "--dry-run", "--on", "other", "x", cwd=bare)
    assert answer["branch"] == "other"
