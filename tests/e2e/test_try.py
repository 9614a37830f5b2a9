"""``agentmux try``: a session's files in the user's own checkout."""

from pathlib import Path

import pytest

from tests.e2e.conftest import Project

pytestmark = pytest.mark.long


def test_a_session_is_tried_while_it_is_live_and_after(project: Project) -> None:
    project.scenario({"roles": {"architect": {"silent": True}}})
    session = project.start("x", "--worktree").until_seat("architect")
    place = Path(session.state["worktree"])
    (place / "new.txt").write_text("of the session\n")
    refs, log = project.git("for-each-ref"), project.git("log", "-g", "--format=%gs")
    assert "shows no session" in project.fails(4, "try", "--off")

    (project.path / "mine.txt").write_text("mine\n")
    said = project.fails(3, "try", session.name)
    assert "your checkout has changes: mine.txt" in said
    (project.path / "mine.txt").unlink()

    done = project.run("try", session.name)
    assert done.returncode == 0, done.stderr
    assert "go back: agentmux try --off" in done.stderr
    assert (project.path / "new.txt").read_text() == "of the session\n"
    assert project.git("status", "--porcelain") == ""
    for words in (("try", session.name), ("start", "--agent", "demo", "--detach", "y")):
        assert f"shows the files of session {session.short}" in project.fails(3, *words)

    (project.path / "new.txt").write_text("changed by the user\n")
    assert "your checkout has changes: new.txt" in project.fails(3, "try", "--off")
    project.git("commit", "-qam", "By the user")
    assert "on no branch" in project.fails(3, "try", "--off")
    project.git("reset", "-q", "--hard", "HEAD^")
    project.ok("try", "--off")
    assert not (project.path / "new.txt").exists()
    assert project.git("rev-parse", "--abbrev-ref", "HEAD").strip() == "main"
    assert project.git("for-each-ref") == refs
    assert "agentmux" not in project.git("log", "-g", "--format=%gs")
    assert log

    other = project.start("y", "--no-worktree")
    assert "works in your checkout" in project.fails(2, "try", other.name)
    assert "is live in this checkout" in project.fails(3, "try", session.name)
    project.ok("stop", other.name)
    project.git("stash", "--include-untracked", "--quiet")
    project.ok("try", session.name)
    (plan,) = project.json("resume", other.name, "--dry-run", code=3)["sessions"]
    assert plan["blocked"]["reason"] == "trial"
    assert "agentmux try --off" in project.fails(3, "resume", other.name, "--detach")
