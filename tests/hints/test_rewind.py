"""Messages about a rewind that was interrupted, followed beside the edits that it has replaced."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.e2e.conftest import Project, Session
from tests.hints.following import shown, went_well

pytestmark = pytest.mark.long


@pytest.fixture
def interrupted(project: Project) -> tuple[Session, Path]:
    """A stopped session whose rewind has changed the files, an edit among them, and then failed."""
    session = project.start("x", "--worktree", "--quick").wait()
    project.ok("stop", session.name)
    place = Path(session.state["worktree"])
    (place / "calc.py").write_text("mine\n")
    folder = project.root / "failing"
    folder.mkdir()
    script = folder / "git"
    script.write_text(
        '#!/bin/sh\ncase "$*" in *commit-tree*"(rewound)"*) exit 9;; esac\n'
        f'exec {shutil.which("git")} "$@"\n'
    )
    script.chmod(0o755)
    path = {"PATH": f"{folder}:{project.env['PATH']}"}
    done = project.run("rewind", session.name, "--to", "implementing", "--yes", env=path)
    assert done.returncode, done.stdout
    assert (place / "calc.py").read_text() != "mine\n"
    return session, place


@pytest.mark.follows("agentmux rewind … --to …")
def test_the_next_rewind_names_the_files_from_before(interrupted: tuple[Session, Path]) -> None:
    session, place = interrupted
    project = session.project
    (place / "later.py").write_text("later\n")
    again = project.run("rewind", session.name, "--to", "implementing", "--yes").stderr
    assert not (place / "later.py").exists()
    later = "your changes after it, left them: agentmux rewind … --to …"
    went_well(project, shown(later, again))
    assert (place / "later.py").read_text() == "later\n"
    back = "rewound; to get the files back as they were: agentmux rewind … --to …"
    went_well(project, shown(back, again))
    assert (place / "calc.py").read_text() == "mine\n"


@pytest.mark.follows("agentmux rewind … --to …")
def test_rewinds_that_were_interrupted_one_after_the_other_are_all_named(
    interrupted: tuple[Session, Path],
) -> None:
    session, place = interrupted
    project = session.project
    script, first = project.root / "failing" / "git", session.state["rewind"]["before"]
    script.write_text(  # the first rewind is finished, and the second one fails
        script.read_text().replace("exit 9", f"mkdir {script}.once 2>/dev/null || exit 9")
    )
    (place / "between.py").write_text("between\n")
    path = {"PATH": f"{script.parent}:{project.env['PATH']}"}
    assert project.run("rewind", session.name, "--to", "1", "--yes", env=path).returncode
    assert session.state["rewind"]["before"] != first
    told = project.run("rewind", session.name, "--to", "1", "--yes").stderr
    earlier = "the files before an earlier one: agentmux rewind … --to …"
    went_well(project, shown(earlier, told))
    assert (place / "calc.py").read_text() == "mine\n"
    went_well(project, shown(earlier, told.partition("before an earlier one")[2]))
    assert (place / "between.py").read_text() == "between\n"


def test_an_interrupted_rewind_is_told_and_finished_first(
    interrupted: tuple[Session, Path],
) -> None:
    session, place = interrupted
    project = session.project
    told = project.ok("status", session.name)
    number = session.state["rewind"]["before"]
    assert "a rewind was interrupted; a resume finishes it first" in " ".join(told.split())
    assert f"work-tree checkpoint {number}" in " ".join(told.split())
    assert "agentmux approve" not in told
    refusal = project.fails(3, "approve", session.name, "--yes", "--keep")
    assert "a rewind was interrupted" in refusal
    assert f"hint: agentmux resume {session.short}\n" in refusal
    assert "a rewind was interrupted" in project.fails(
        3, "request-changes", "more", "--session", session.name
    )
    warned = project.run("resume", session.name, "--detach").stderr
    assert f"work-tree checkpoint {number}" in warned
    session.wait()
    project.ok("stop", session.name)
    went_well(project, f"agentmux rewind {session.name} --to {number}")
    assert (place / "calc.py").read_text() == "mine\n"
