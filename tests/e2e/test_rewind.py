"""``agentmux rewind``: the files of a stopped session go back to a checkpoint, with real git."""

from pathlib import Path

import pytest

from tests.e2e.conftest import Project

pytestmark = pytest.mark.long


def contents(folder: Path) -> dict[Path, bytes]:
    """Return the content of each file; git may touch the times of objects."""
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_session_goes_back_and_forth_and_on(project: Project) -> None:
    session = project.start("x", "--worktree").wait()
    place = Path(session.state["worktree"])
    branch = project.git("rev-parse", "agentmux/x")
    said = project.fails(3, "rewind", session.name, "--to", "planning", "--yes")
    assert f"session {session.short} is live" in said
    assert f"hint: stop it first: agentmux stop {session.name}" in said
    project.ok("stop", session.name)
    made = project.git("-C", str(place), "status", "--porcelain", "--untracked-files=all")
    assert made
    (place / "stray.txt").write_text("mine\n")
    (place / "calc.py").write_text("changed\n")

    before = contents(project.root)
    said = project.ok("rewind", session.name, "--to", "planning", "--dry-run")
    assert "work-tree checkpoint 2, at the end of planning" in said
    assert "stray.txt" in said
    assert "calc.py" in said
    assert "goes on in    implementing; later artifacts are moved to history" in said
    assert "new start     coder" in said
    assert contents(project.root) == before
    assert "no work-tree checkpoint `nowhere`" in project.fails(
        4, "rewind", session.name, "--to", "nowhere"
    )

    said = project.fails(2, "rewind", session.name)
    assert f"error: `--to` is missing\nhint: agentmux rewind {session.name} --to PHASE|N\n" in said
    assert "hint: there are: 1, at the end of architecting; 2, at the end of planning" in said

    done = project.run("rewind", session.name, "--to", "planning", "--yes")
    assert done.returncode == 0, done.stderr
    assert project.git("-C", str(place), "status", "--porcelain") == ""
    assert project.git("rev-parse", "agentmux/x") == branch
    assert session.state["phase"] == "implementing"
    assert not list((session.path / "06_implementation").glob("done*"))
    (plan,) = project.json("resume", session.name, "--dry-run")["sessions"]
    assert plan["phase"] == "implementing"
    assert {each["mode"] for each in plan["panes"]} == {"fresh"}

    assert "to get the files back as they were: agentmux rewind " in done.stderr
    assert "(only the files: work goes on in implementing then, too)\n" in done.stderr
    undo = done.stderr.split("--to ")[1].split()[0]
    said = project.ok("rewind", session.name, "--to", undo, "--dry-run")
    assert f"work-tree checkpoint {undo}, before a rewind" in said
    assert "goes on in    implementing;" in said
    project.ok("rewind", session.name, "--to", undo, "--yes")
    assert (place / "stray.txt").read_text() == "mine\n"
    assert (place / "calc.py").read_text() == "changed\n"
    assert session.state["phase"] == "implementing"

    project.ok("rewind", session.name, "--to", "planning", "--yes")
    project.scenario({"roles": {"coder": {"silent": True}}})
    project.ok("resume", session.name, "--detach")
    session.until_seat("coder-1")
    assert project.git("-C", str(place), "status", "--porcelain") == ""


def test_what_stays_in_a_rewind_is_named_with_the_reason(project: Project) -> None:
    session = project.start("add a greeting", "--worktree").wait()
    place = Path(session.state["worktree"])
    project.ok("stop", session.name)
    # The filter fails as one that has no space for its output.
    project.git("config", "filter.full.clean", "false")
    project.git("config", "filter.full.required", "true")
    (place / ".gitattributes").write_text("calc.py filter=full\n")
    (place / "calc.py").write_text("mine\n")
    done = project.run("rewind", session.name, "--to", "planning", "--yes")
    assert done.returncode == 0, done.stderr
    reason = "it could not be saved, so that another rewind could not bring it back"
    assert f"calc.py stays as it is: {reason}\n" in done.stderr
    assert (place / "calc.py").read_text() == "mine\n"
