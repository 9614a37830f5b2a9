"""``agentmux export`` and ``import``: a session goes on in another clone, with another home."""

import io
import json
import tarfile
from hashlib import sha256
from pathlib import Path

import pytest

from tests.e2e.conftest import QUICK, Project, Session, bare

RARE = pytest.mark.rare("odd moves; CI moves a usual session")

pytestmark = pytest.mark.long

HALF = {**QUICK, "roles": {**QUICK["roles"], "coder": {"submit": "no"}}}


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


@pytest.mark.parametrize(
    "words",
    [
        ("--worktree",),
        pytest.param((), marks=pytest.mark.rare("CI moves the session with a worktree")),
    ],
)
def test_a_session_goes_on_in_another_clone(
    project: Project, away: Project, words: tuple[str, ...]
) -> None:
    session = begun(project, *words)
    file = project.root / "s.agentmux"
    said = project.ok("export", session.name, str(file))
    assert f"moved session {session.short} to {file}" in said
    assert file.stat().st_mode & 0o777 == 0o600
    project.git("stash", "-q", "-u")

    (shown,) = project.json("status", session.name)["sessions"]
    assert shown["status"] == "moved"
    assert shown["moved"]["to"] == str(file)
    for refused in (("resume", session.name), ("rewind", session.name, "--to", "1", "--yes")):
        assert f"was moved to {file}" in project.fails(3, *refused)
    project.fails(3, "approve", session.name, "--yes")
    said = project.fails(4, "resume")
    assert f"nothing to resume: session {session.short} was moved to {file}" in said

    said = away.ok("import", str(file))
    assert f"imported session {session.short} from " in said
    there = Session(away, away.path / ".agentmux" / ".sessions" / session.name)
    (shown,) = away.json("status", there.name)["sessions"]
    assert (shown["status"], shown["phase"]) == ("stopped", "implementing")
    (plan,) = away.json("resume", there.name, "--dry-run")["sessions"]
    assert plan["panes"][0]["mode"] == "fresh"
    assert "the session was imported from `" in plan["panes"][0]["reason"]

    away.scenario({"roles": {**QUICK["roles"], "coder": {"think": 3}}})
    done = away.run("resume", there.name, "--detach", "--yes")
    assert "with the files as they arrived" in done.stderr
    launch = there.until_seat("coder-1").state["seats"]["coder-1"]["launch"]
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


@RARE
def test_a_file_that_went_nowhere_brings_its_session_back(project: Project) -> None:
    bare(project)
    session = begun(project, "--worktree")
    file = project.root / "s.agentmux"
    project.ok("export", session.name, str(file))
    before = file.read_bytes()
    said = project.ok("export", session.name, str(file))
    assert "(the file was written before)" in said
    assert file.read_bytes() == before
    assert "was moved to" in project.fails(3, "export", session.name, str(file) + "2")
    project.ok("export", session.name, str(file) + "2", "--force")  # the first one is lost
    assert "was moved away from here" in project.fails(3, "import", str(file))

    (back,) = project.json("import", str(file) + "2")["sessions"]
    assert (back["session"], back["returned"]) == (session.name, True)
    assert "is here already" in project.fails(3, "import", str(file) + "2")
    (plan,) = project.json("resume", session.name, "--dry-run")["sessions"]
    assert plan["panes"][0]["mode"] == "native"
    project.scenario(QUICK)
    project.ok("resume", session.name, "--detach", "--yes")
    session.wait().approve()
    assert project.git("rev-list", "--count", "main..agentmux/add-a-greeting").strip() == "1"


@pytest.mark.rare("a session is seldom copied")
def test_a_copy_goes_on_beside_its_original(project: Project) -> None:
    bare(project)
    session = begun(project, "--worktree")
    file = project.root / "s.agentmux"
    said = project.ok("export", session.name, str(file), "--copy")
    assert f"copied session {session.short} to {file}" in said
    (made,) = project.json("import", str(file))["sessions"]
    project.git("clean", "-fdxq")  # also before the first resume
    (other,) = project.json("import", str(file), "--copy")["sessions"]
    assert "is here already" in project.fails(3, "import", str(file))
    found = [project.path / each["path"] for each in (made, other)]
    three = [Session(project, path) for path in (session.path, *found)]
    assert len({each.state["session_id"] for each in three}) == 3
    assert len({each.state["branch"] for each in three}) == 3
    assert len({each.state["worktree"] for each in three}) == 3
    project.scenario(QUICK)
    for each in three:
        project.ok("resume", each.name, "--detach", "--yes")
    for each in three:
        each.wait().approve()
        branch = each.state["branch"]
        assert project.git("rev-list", "--count", f"main..{branch}").strip() == "1"
        assert project.git("show", f"{branch}:note.txt") == "half of it\n"


@RARE
def test_what_is_left_of_a_moved_session_can_be_removed(project: Project, away: Project) -> None:
    session = begun(project, "--worktree")
    file = project.root / "s.agentmux"
    project.ok("export", session.name, str(file))
    away.ok("import", str(file))
    there = Session(away, away.path / ".agentmux" / ".sessions" / session.name)
    away.ok("resume", there.name, "--detach", "--yes")
    there.wait()
    away.ok("stop", there.name)
    back = away.root / "back.agentmux"
    away.ok("export", there.name, str(back))

    said = project.fails(3, "import", str(back))
    assert f"hint: remove what is left, then import again: agentmux remove {session.name}" in said
    project.ok("remove", session.name, "--yes", "--force")
    project.ok("import", str(back))
    said = project.fails(3, "approve", session.name, "--yes")
    assert f"hint: a resume makes it again: agentmux resume {session.short}" in said
    assert session.state["phase"] == "completing"
    assert session.state["branch"] == "agentmux/add-a-greeting"
    (shown,) = project.json("status", session.name)["sessions"]
    assert shown["arrived"]["host"]
    project.ok("resume", session.name, "--detach", "--yes")
    session.wait().approve()
    assert project.git("show", "agentmux/add-a-greeting:note.txt") == "half of it\n"


@RARE
def test_what_cannot_be_exported_is_refused_and_nothing_changes(project: Project) -> None:
    file = project.root / "s.agentmux"
    session = project.start("add a greeting").wait()
    said = project.fails(3, "export", session.name, str(file))
    assert f"session {session.short} is live" in said
    assert f"hint: stop it first: agentmux stop {session.name}" in said
    launch = next(session.path.glob("launches/*/launch.json"))
    agent = json.loads(launch.read_text())["env"]
    said = project.fails(3, "export", session.name, str(file), env=agent)
    assert "`agentmux export` is for a person" in said
    project.ok("stop", session.name)
    before = project.tree()
    project.fails(4, "export", "nothing", str(file))
    project.fails(2, "export", session.name, str(project.root))
    project.fails(2, "export", session.name, str(project.root / "no" / "s"))
    assert project.tree() == before
    project.ok("approve", session.name, "--yes")
    assert "is approved" in project.fails(3, "export", session.name, str(file))
    project.ok("resume", session.name, "--detach", "--yes")
    session.wait("done").gone()
    assert "is done" in project.fails(4, "export", session.name, str(file))
    assert not file.exists()


@RARE
def test_a_session_outside_of_git_stays(outside: Project) -> None:
    session = outside.start("add a greeting").wait()
    outside.ok("stop", session.name)
    said = outside.fails(2, "export", session.name, str(outside.root / "s"))
    assert "is not in a git repository" in said


def test_what_the_file_says_to_run_does_not_run(project: Project, away: Project) -> None:
    """The setup, the checks and the agents are those of the place where it is imported."""
    evil = project.root / "evil"
    project.config(
        f"git: {{setup: [{{name: s, run: [touch, {evil}]}}]}}\n"
        f"verify: [{{name: v, run: [touch, {evil}]}}]\n"
        "completion: {require_approval: false}\n"
    )
    session = begun(project, "--worktree")
    file = project.root / "s.agentmux"
    project.ok("export", session.name, str(file))
    evil.unlink()
    done = away.run("import", str(file))
    assert done.returncode == 0, done.stderr
    there = Session(away, away.path / ".agentmux" / ".sessions" / session.name)
    assert there.state["options"]["require_approval"] is True
    away.ok("resume", there.name, "--detach", "--yes")
    there.wait()
    assert not evil.exists()


def test_an_import_needs_the_repository_of_the_session(project: Project, outside: Project) -> None:
    session = begun(project, "--worktree")  # without a remote, so that all comes along
    file = project.root / "s.agentmux"
    project.ok("export", session.name, str(file))
    assert "needs the git repository" in outside.fails(2, "import", str(file))
    outside.git("init", "-q")
    outside.git("add", "-A")
    outside.git("commit", "-qm", "Another beginning")
    before = outside.git("for-each-ref")
    assert "is from another repository" in outside.fails(2, "import", str(file))
    assert outside.sessions() == []
    assert outside.git("for-each-ref") == before
    assert outside.git("worktree", "list").count("\n") == 1
    file.write_bytes(file.read_bytes()[:-20_000])
    assert "is not a whole exported session" in outside.fails(5, "import", str(file))
    assert "there is no file" in outside.fails(4, "import", str(file) + "x")


@pytest.mark.rare("it makes 60 000 checkpoints")
def test_a_file_with_too_many_checkpoints_is_refused_at_once(project: Project) -> None:
    session = begun(project, "--worktree")
    file = project.root / "s.agentmux"
    project.ok("export", session.name, str(file), "--copy")
    line = next(each for each in session.events if each["event"] == "checkpoint_taken")
    more = "".join(json.dumps({**line, "id": f"c{n}"}) + "\n" for n in range(60_000)).encode()
    with tarfile.open(file) as tar:
        held = {each.name: tar.extractfile(each).read() for each in tar}  # type: ignore[union-attr]
    inside = "session/tool_events.jsonl"
    held[inside] += more
    fields = json.loads(held["manifest.json"])
    for each in fields["members"]:
        if inside.endswith(each["path"]):
            each |= {"size": len(held[inside]), "sha256": sha256(held[inside]).hexdigest()}
    held["manifest.json"] = json.dumps(fields).encode()
    with tarfile.open(file, "w") as tar:
        for name, data in held.items():
            made = tarfile.TarInfo(name)
            made.size = len(data)
            tar.addfile(made, io.BytesIO(data))
    said = project.fails(5, "import", str(file))
    assert " MB: reading it takes a while" in said
    assert "work-tree checkpoints, and at most 5000 can be moved" in said
