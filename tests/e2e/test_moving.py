"""``agentmux export`` and ``import``: a session goes on in another clone, with another home."""

import shutil
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.conftest import QUICK, Project, Session, make_root

HALF = {**QUICK, "roles": {**QUICK["roles"], "coder": {"submit": "no"}}}


def bare(project: Project) -> Path:
    """Give the project a remote that has its branch ``main``."""
    made = project.root / "r.git"
    project.git("init", "-q", "--bare", "-b", "main", str(made))
    project.git("remote", "add", "origin", str(made))
    project.git("push", "-q", "origin", "main")
    project.git("fetch", "-q", "origin")
    return made


@pytest.fixture
def away(project: Project) -> Iterator[Project]:
    """Another home, tmux server and clone of the project's remote, as on another machine."""
    remote = bare(project)
    made = Project(make_root(), git=False)
    shutil.rmtree(made.path)
    made.git_at(made.root, "clone", "-q", str(remote), str(made.path))
    yield made
    made.close()


def begun(project: Project, *words: str) -> Session:
    """Start a session whose coder writes and does not hand in; stop it."""
    project.scenario(HALF)
    session = project.start("add a greeting", *words).wait("implementing")
    session.until_seat("coder-1")
    place = Path(session.state["worktree"] or project.path)
    project.until(lambda: bool(list(place.glob("greeting*")) or list(place.glob("*part*"))))
    (place / "note.txt").write_text("half of it\n")
    project.ok("stop", session.name)
    return session


@pytest.mark.parametrize("words", [("--worktree",), ()])
def test_a_session_goes_on_in_another_clone(
    project: Project, away: Project, words: tuple[str, ...]
) -> None:
    session = begun(project, *words)
    file = project.root / "s.agentmux"
    said = project.ok("export", session.name, str(file))
    assert f"moved session {session.name} to {file}" in said
    assert file.stat().st_mode & 0o777 == 0o600
    project.git("stash", "-q", "-u")

    (shown,) = project.json("status", session.name)["sessions"]
    assert shown["status"] == "moved"
    assert shown["moved"]["to"] == str(file)
    for refused in (("resume", session.name), ("rewind", session.name, "--to", "1", "--yes")):
        assert f"was moved to {file}" in project.fails(3, *refused)
    project.fails(3, "approve", session.name, "--yes")
    assert "nothing to resume" in project.fails(4, "resume")

    said = away.ok("import", str(file))
    assert f"imported session {session.name} from " in said
    there = Session(away, away.path / ".agentmux" / ".sessions" / session.name)
    (shown,) = away.json("status", there.name)["sessions"]
    assert (shown["status"], shown["phase"]) == ("stopped", "implementing")
    (plan,) = away.json("resume", there.name, "--dry-run")["sessions"]
    assert plan["panes"][0]["mode"] == "fresh"
    assert "the session was imported from `" in plan["panes"][0]["reason"]

    away.ok("resume", there.name, "--detach", "--yes")
    there.until_seat("coder-1").settled("coder-1")
    launch = there.state["seats"]["coder-1"]["launch"]
    prompt = there.read(f"launches/{launch}/prompt.md")
    assert "from which this session was imported" in " ".join(prompt.split())
    assert "half of it" in there.read("handover/diff.patch")
    there.wait()
    assert (Path(there.state["worktree"]) / "note.txt").read_text() == "half of it\n"
    there.approve()
    branch = there.state["branch"]
    assert away.git("rev-list", "--count", f"origin/main..{branch}").strip() == "1"
    assert "note.txt" in away.git("ls-tree", "--name-only", branch)


def test_the_file_has_no_private_thing(project: Project) -> None:
    session = begun(project, "--worktree")
    file = project.root / "s.agentmux"
    project.ok("export", session.name, str(file))
    with tarfile.open(file) as tar:
        names = tar.getnames()
        content = b"".join(tar.extractfile(name).read() for name in names[:-1])  # type: ignore[union-attr]
    assert names[0] == "manifest.json"
    assert names[-1] == "repository.bundle"
    assert {name.split("/")[1] for name in names if "/" in name} == {
        *("tool_events.jsonl", "requirements.md", "snapshots"),
        *("02_architecting", "04_planning"),
    }
    assert b"AGENTMUX_" not in content
    assert str(project.home).encode() not in content
