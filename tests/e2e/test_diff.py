"""``agentmux diff``: what a session has changed, in the checkout and in a worktree of its own."""

import shutil
from pathlib import Path

import pytest

from tests.e2e.conftest import Project

pytestmark = pytest.mark.long


def files_of(text: str) -> list[str]:
    return [line.split("|")[0].strip() for line in text.splitlines() if "|" in line]


@pytest.mark.rare("CI runs the diff of a worktree")
def test_in_the_checkout_since_its_start_or_a_checkpoint_without_what_the_user_had_changed(
    project: Project,
) -> None:
    (project.path / "mine.txt").write_text("mine\n")
    (project.path / "calc.py").write_text("changed by the user\n")
    session = project.start("add a greeting").wait()
    (project.path / "new file.py").write_text("NEW = 1\n")
    status = project.git("status", "--porcelain")
    index = (project.path / ".git" / "index").read_bytes()
    said = project.ok("diff", session.name)
    assert "+NEW = 1" in said
    assert "mine" not in said
    found = files_of(project.ok("diff", session.name, "--stat"))
    assert "new file.py" in found
    assert not {"mine.txt", "calc.py"} & set(found)
    assert files_of(project.ok("diff", "--stat", "--", "new file.py")) == ["new file.py"]
    assert files_of(project.ok("diff", "--stat", "--path", "nothing.py")) == []
    number = str(session.state["tree_checkpoints"][-1]["number"])
    for since in ("implementing", number):
        seen = project.ok("diff", session.name, "--stat", "--since", since)
        assert files_of(seen) == ["new file.py"]
    assert files_of(project.ok("diff", "--stat", "--since", "1")) == found
    said = project.fails(4, "diff", "--since", "implementation")
    assert "no work-tree checkpoint `implementation`" in said
    assert "`implementing`" in said
    # In the checkout nothing waits for a checkpoint: on a busy machine one may be missing.
    second = session.state["tree_checkpoints"][1]["phase"]
    assert f"2, at the end of {second}" in said
    assert "outside of the repository" in project.fails(2, "diff", "--", "/etc/passwd")
    assert (project.path / ".git" / "index").read_bytes() == index
    assert project.git("status", "--porcelain") == status
    done = session.approve()
    project.git("commit", "-q", "--allow-empty", "-m", "Later")
    assert files_of(project.ok("diff", done.name, "--stat")) == found


def test_in_a_worktree_with_its_commits_and_after_it_is_gone(project: Project) -> None:
    session = project.start("x", "--worktree").wait()
    place = Path(session.state["worktree"])
    (place / "one.py").write_text("ONE = 1\n")
    project.git("-C", str(place), "add", "one.py")
    project.git("-C", str(place), "commit", "-qm", "By an agent")
    (place / "two.py").write_text("TWO = 2\n")
    found = files_of(project.ok("diff", session.name, "--stat"))
    assert {"one.py", "two.py"} <= set(found)
    assert files_of(project.ok("diff", "--stat", cwd=place)) == found
    for cwd in (place, project.path):
        assert files_of(project.ok("diff", session.name, "--stat", "--", "two.py", cwd=cwd)) == [
            "two.py"
        ]
    project.ok("stop", session.name)
    shutil.rmtree(place)
    gone = project.run("diff", session.name, "--stat")
    assert "is gone: this is its work-tree checkpoint" in gone.stderr
    assert files_of(gone.stdout) == found
    since = project.run("diff", session.name, "--stat", "--since", "implementing")
    assert files_of(since.stdout) == ["one.py", "two.py"]
