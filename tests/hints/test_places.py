"""Messages about files, folders and worktrees that are not as they should be."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from agentmux.adapters.disk.files import move_away_hint
from tests.e2e.conftest import Project, bare
from tests.hints.following import Work, follow, shown, went_well

pytestmark = pytest.mark.long

WAITS = {"roles": {"architect": {"silent": True}}}


@pytest.mark.follows("move it away: mv … …")
def test_a_place_is_freed_without_overwriting_what_was_moved_before(project: Project) -> None:
    work, place = Work(project), project.root / "a place.py"
    for turn in ("the first", "the second", "the third"):
        work.write(turn, place)
        went_well(project, move_away_hint(place))
        assert not place.exists()
    assert work.lost() == []


@pytest.mark.follows(
    "git branch NAME …",
    "moved, deleted or not mounted: …; to forget what was deleted, with all that is staged for it:"
    " git worktree prune",
)
def test_no_commit_goes_with_a_worktree_that_git_forgets(project: Project, work: Work) -> None:
    place = project.root / "elsewhere"
    project.git("worktree", "add", "-q", "--detach", str(place))
    work.commit("a commit on no branch", place / "detached.py")
    commit = project.git_at(place, "rev-parse", "HEAD").strip()
    shutil.rmtree(place)
    (hint,) = findings(project)
    assert hint == f"git branch NAME {commit}"
    went_well(project, hint, NAME="kept")
    shutil.rmtree(project.path / ".git" / "worktrees" / place.name)
    project.git("worktree", "add", "-q", str(place), "-b", "side")
    work.write("a staged line", place / "staged.py")
    project.git_at(place, "add", "staged.py")
    saved = place.rename(place.with_name("saved"))
    (hint,) = findings(project)
    assert "(staged there: staged.py)" in " ".join(project.run("doctor").stdout.split())
    went_well(project, hint, NEW_PATH=str(saved))
    assert project.git_at(saved, "status", "--porcelain") == "A  staged.py\n"
    assert findings(project) == []
    assert work.lost() == []
    project.git_at(saved, "commit", "-qm", "Staged")
    shutil.rmtree(saved)
    said = " ".join(project.run("doctor").stdout.split())
    went_well(project, shown("git worktree prune", said))
    assert work.lost() == []


def findings(project: Project) -> list[str]:
    found = json.loads(project.run("doctor", "--json").stdout)["findings"]
    return [each["mend"] for each in found if each["check"] == "git" and each["mend"]]


@pytest.mark.follows(
    "agentmux init --defaults",
    "git init",
    "  agentmux init        choose the agents for this project",
)
def test_a_configuration_is_written_where_there_is_none(outside: Project) -> None:
    work = Work(outside)
    work.write("a file of the user", outside.path / "calc.py")
    refusal = outside.fails(2, "init")
    went_well(outside, shown("agentmux init --defaults", refusal))
    (done,) = follow(outside, "agentmux init --defaults")
    assert done.returncode != 0, "a configuration that is there stays"
    assert work.lost() == []


@pytest.mark.follows(
    "to commit everything else: agentmux approve … --leave-nested",
)
def test_a_repository_inside_the_project_stays(project: Project, work: Work) -> None:
    session = project.start("add a greeting", "--worktree").wait()
    inner = Path(session.state["worktree"]) / "inner"
    inner.mkdir()
    project.git_at(inner, "init", "-q")
    (inner / "calc.py").write_text("x = 1\n")
    project.git_at(inner, "add", "-A")
    project.git_at(inner, "commit", "-qm", "Begin")
    work.plant(inner, "an inner repository")
    refusal = project.fails(3, "approve", session.name, "--yes")
    went_well(
        project, shown("to commit everything else: agentmux approve … --leave-nested", refusal)
    )
    session.wait("done")
    assert work.lost() == []


@pytest.mark.follows(
    "go on with it: agentmux resume …",
    "or make another one of the file: agentmux import --copy …",
    "… session … to ……\nto go on with it, in another clone of the repository: agentmux import …",
    "remove what is left, then import again: agentmux remove …",
    "go on with it here: agentmux resume …",
)
def test_an_export_is_imported(project: Project, work: Work) -> None:
    bare(project)
    session = project.start("add a greeting", "--worktree").wait()
    work.plant(Path(session.state["worktree"]), "a coder")
    project.ok("stop", session.name)
    told = project.ok("export", session.name, str(project.root / "x.agentmux"), "--copy")
    went_well(project, told.splitlines()[-1])
    refusal = project.fails(3, "import", str(project.root / "x.agentmux"))
    went_well(project, shown("or make another one of the file: agentmux import --copy …", refusal))
    assert work.lost() == []
    hint = shown("go on with it: agentmux resume …", refusal)
    went_well(project, f"{hint} --detach")
    assert work.lost() == []


@pytest.mark.follows(
    'put a text of several words in quotes: agentmux … "…"', 'agentmux … [OPTIONS] -- "-text"'
)
def test_a_text_is_quoted(project: Project, work: Work) -> None:
    project.scenario(WAITS)
    refusal = project.fails(2, "start", "--detach", "add", "a", "greeting")
    hint = shown('put a text of several words in quotes: agentmux … "…"', refusal)
    went_well(project, hint.replace("…", "add a greeting").replace("start", "start --detach", 1))
    refusal = project.fails(2, "start", "-x add it")
    hint = shown('agentmux … [OPTIONS] -- "-text"', refusal)
    went_well(project, hint.replace("[OPTIONS]", "--worktree --detach --yes"))
    assert work.lost() == []


@pytest.mark.follows(
    "agentmux …",
    'agentmux request-changes "…" --session …',
    "agentmux approve …",
    "agentmux approve ……",
)
def test_changes_are_asked_for(project: Project, work: Work) -> None:
    session = project.start("add a greeting", "--worktree").wait()
    work.plant(Path(session.state["worktree"]), "a coder")
    refusal = project.fails(2, "request-changes")
    hint = shown("agentmux …", refusal)
    went_well(project, hint, text="another greeting", SESSION=session.name)
    session.wait()
    assert work.lost() == []
    refusal = project.fails(4, "tell", session.name, "--role", "coder-1", "x")
    went_well(project, shown('agentmux request-changes "…" --session …', refusal), text="once more")
    session.wait()
    refusal = project.fails(4, "tell", session.name, "--role", "coder-1", "x")
    assert shown("agentmux approve ……", project.ok("status", session.name))
    went_well(project, shown("agentmux approve …", refusal))
    session.wait("done")
    assert work.lost() == []
