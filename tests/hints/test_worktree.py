"""Messages about a session with a worktree, followed beside everybody's edits and commits."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from pathlib import Path

import pytest

from tests.adapters.trees.test_trials import kill_next_checkout
from tests.e2e.conftest import Project, Session, bare
from tests.hints.following import Work, follow, shown, went_well

pytestmark = pytest.mark.long

ODD = pytest.mark.rare("an odd state of a repository; the hints of ordinary ones are followed")


@pytest.fixture
def decided(project: Project) -> Session:
    """A live session that waits for a decision."""
    return project.start("add a greeting", "--worktree").wait()


@pytest.fixture
def works(decided: Session, work: Work) -> Work:
    """The user's work, with a coder's in the session's worktree."""
    return work.plant(Path(decided.state["worktree"]), "a coder")


@pytest.mark.follows(
    "agentmux stop …",
    "or lose all of it: agentmux remove --force …",
    "to resume it: agentmux resume …",
)
def test_remove_leaves_what_is_nowhere_else(decided: Session, works: Work) -> None:
    project, name = decided.project, decided.name
    refusal = project.fails(3, "remove", name, "--yes")
    told = went_well(project, shown("agentmux stop …", refusal))
    assert works.lost() == []
    resumed = shown("to resume it: agentmux resume …", told)
    refusal = project.fails(3, "remove", name, "--yes")
    assert "not committed" in refusal
    (place,) = (Path(decided.state["worktree"]),)
    project.git("stash", "-q", "--include-untracked")
    went_well(project, shown("merge the branch first: … && git merge --no-edit …", refusal))
    project.git("stash", "pop", "-q")
    assert works.lost() == []
    went_well(project, f"{resumed} --detach")
    decided.wait()
    assert works.lost() == []
    project.ok("stop", name)
    went_well(project, shown("or lose all of it: agentmux remove --force …", refusal))
    assert not place.exists()
    named = {"an edit of a coder", "a new file of a coder"}
    assert set(works.lost()) <= named, "all that is lost was named as going"


@pytest.mark.follows(
    "keep it on a branch: env GIT_ALTERNATE_OBJECT_DIRECTORIES=… git -C … push --no-verify . …:…",
)
@pytest.mark.parametrize("asked", ["rewind", "remove"])
def test_what_only_a_checkpoint_before_a_rewind_has_is_kept(decided: Session, asked: str) -> None:
    project, name = decided.project, decided.name
    works = Work(project).plant(Path(decided.state["worktree"]), "a coder")
    gone = "calc.py, new_a_coder.py"
    project.ok("stop", name)
    told = project.run("rewind", name, "--to", "implementing", "--yes").stderr
    went_well(project, shown("agentmux rewind … --to …", told))
    assert "that only work-tree" not in project.fails(3, "remove", name, "--yes")
    told = project.run("rewind", name, "--to", "implementing", "--yes").stderr
    back = shown("agentmux rewind … --to …", told)
    project.ok("resume", name, "--detach")
    decided.wait()
    preview = project.run("approve", name, "--yes", "--merge")
    assert preview.returncode == 0, preview.stderr
    (line,) = re.findall("not in the result: (.*)", preview.stdout)
    assert line.startswith("2 files that only work-tree checkpoint ")
    assert line.endswith(f", before a rewind, has ({gone})")
    decided.wait("done")
    assert "an edit of a coder" in works.lost()
    project.ok("prune")  # the session is still there, and so is what it has saved
    told = project.fails(3, *back.split()[1:], "--yes")
    refusal = project.fails(3, "remove", name, "--yes")
    assert f"before a rewind, has ({gone})" in refusal
    keep = (
        "keep it on a branch: env GIT_ALTERNATE_OBJECT_DIRECTORIES=…"
        " git -C … push --no-verify . …:…"
    )
    went_well(project, shown(keep, told if asked == "rewind" else refusal))
    assert works.lost() == []
    project.ok("remove", name, "--yes")
    assert works.lost() == []


@ODD
def test_a_forced_removal_names_what_only_a_checkpoint_before_a_rewind_has(
    decided: Session, works: Work
) -> None:
    project, name = decided.project, decided.name
    project.ok("stop", name)
    project.ok("rewind", name, "--to", "implementing", "--yes")
    told = project.run("remove", name, "--force", "--yes").stderr
    lost = " ".join(told.partition("lost: ")[2].split())
    assert "before a rewind, has (calc.py, new_a_coder.py)" in lost
    assert works.lost() != []


@pytest.mark.follows(
    "stop it first: agentmux stop …",
    "agentmux rewind … --to PHASE|N",
    "agentmux rewind … --to …",
    "go on: agentmux resume …",
)
def test_a_rewind_can_be_rewound(decided: Session, works: Work) -> None:
    project, name = decided.project, decided.name
    refusal = project.fails(3, "rewind", name, "--to", "planning", "--yes")
    went_well(project, shown("stop it first: agentmux stop …", refusal))
    # No checkpoint has a file that git ignores, and this one is in that of `planning`, too.
    place = Path(decided.state["worktree"])
    (place / ".gitignore").write_text("calc.py\n")
    project.git_at(place, "rm", "-q", "--cached", "calc.py")
    works.write("a line in a file that is ignored by now", place / "calc.py")
    refusal = project.fails(2, "rewind", name)
    hint = shown("agentmux rewind … --to PHASE|N", refusal)
    told = went_well(project, hint.replace("PHASE|N", "planning"))
    assert works.lost() != []
    went_well(project, shown("agentmux rewind … --to …", told))
    assert works.lost() == []
    went_well(project, shown("go on: agentmux resume …", told) + " --detach")
    assert works.lost() == []


ASIDE = "put them aside: git -C … stash push …"


@pytest.mark.follows(
    "git -C … stash push --include-untracked --message …"
    " -- :/ ':(top,exclude,glob)**/.agentmux' ':(top,exclude,glob)**/.agentmux/**'",
    "go back: agentmux try --off",
    "agentmux try --off",
    "show one: agentmux try SESSION",
    "git branch … … && ",
    "git -C … stash pop --index …",
    "git -C … stash show -p --include-untracked …",
    "go back first: agentmux try --off",
)
def test_a_trial_keeps_what_is_made_in_it(decided: Session, works: Work) -> None:
    project, name = decided.project, decided.name
    (project.path / ".agentmux" / "own.md").write_text("not named, and not put aside\n")
    before = project.git("status", "--porcelain")
    refusal = project.fails(3, "try", name)
    went_well(project, shown(ASIDE, refusal))
    assert project.git("status", "--porcelain") == "?? .agentmux/own.md\n"
    assert works.lost() == []
    refusal = project.fails(4, "try", "--off")
    told = went_well(project, shown("show one: agentmux try SESSION", refusal), SESSION=name)
    blocked = project.fails(3, "start", "--agent", "demo", "--detach", "--yes", "y")
    works.commit("a commit in the trial", project.path / "tried.py")
    made = project.git("rev-parse", "--short=12", "HEAD").strip()
    project.git("branch", f"kept-{made}", "main")  # the name is taken
    refusal = project.fails(3, "try", "--off")
    went_well(project, shown("keep the commits, and go back: …", refusal))
    assert project.git("rev-parse", "--abbrev-ref", "HEAD").strip() == "main"
    project.ok("try", name)
    works.write("an edit in the trial", project.path / "calc.py")
    aside = shown(ASIDE, project.fails(3, "try", "--off")).partition("aside: ")[2]
    inside = project.path / "tests"
    assert project.program("sh", "-c", aside, cwd=inside).returncode == 0
    assert project.git("status", "--porcelain") == "?? .agentmux/own.md\n"
    told = went_well(project, shown("go back: agentmux try --off", told))
    assert works.lost() == []
    back = shown("put back what was put aside on main: git -C … stash pop --index …", told)
    project.git("switch", "-q", "--detach", made)
    project.git("switch", "-q", "main")
    went_well(project, back)
    assert project.git("status", "--porcelain") == before
    place = Path(decided.state["worktree"])
    transfer = told[told.index("bring what you changed into") :]
    line = transfer.splitlines()[0].partition(": ")[2]
    assert project.program("sh", "-c", line).returncode == 0
    edited = (place / "calc.py").read_text()
    assert edited.count("planted") == 2  # the coder's and the one of the trial
    assert "planted" in went_well(project, shown("see what you changed in a trial: …", transfer))
    went_well(project, shown(ASIDE, project.fails(3, "try", name)))
    project.ok("try", name)
    went_well(project, shown("go back first: agentmux try --off", blocked))
    assert works.lost() == []


@ODD
@pytest.mark.parametrize("hint", ["go to the commit that was checked out: …", "or to another …"])
def test_a_trial_ends_though_the_branch_is_elsewhere(
    decided: Session, works: Work, hint: str
) -> None:
    project, name = decided.project, decided.name
    project.git("commit", "-qam", "Everything")
    project.git("stash", "-q", "--include-untracked")
    project.ok("try", name)
    project.git("worktree", "add", str(project.root / "elsewhere"), "main")
    refusal = project.fails(3, "try", "--off")
    assert f"branch main is checked out in {project.root / 'elsewhere'} now" in refusal
    project.git("worktree", "remove", str(project.root / "elsewhere"))
    project.git("branch", "-m", "main", "trunk")
    refusal = project.fails(3, "try", "--off")
    assert "branch main, which was checked out before, is gone" in refusal
    told = went_well(project, shown(hint, refusal), BRANCH="trunk")
    assert "without the files of" in told
    assert project.git("rev-parse", "HEAD") == project.git("rev-parse", "trunk")
    assert works.lost() == []


@pytest.mark.follows(
    "then: agentmux approve --push",
    "fix that, then: agentmux approve … --push",
    "or push nothing: agentmux approve … --keep",
)
@pytest.mark.parametrize(
    "hint",
    ["fix that, then: agentmux approve … --push", "or push nothing: agentmux approve … --keep"],
)
def test_a_result_is_pushed(decided: Session, works: Work, hint: str) -> None:
    project, name = decided.project, decided.name
    refusal = project.fails(2, "approve", name, "--yes", "--push")
    made = project.root / "r.git"
    went_well(project, shown("add one: git remote add origin URL", refusal), URL=str(made))
    project.git("remote", "add", "other", str(made))
    refusal = project.fails(2, "approve", name, "--yes", "--push")
    went_well(project, shown("git config remote.pushDefault NAME", refusal), NAME="origin")
    went_well(project, shown("then: agentmux approve --push", refusal), code=1)
    refusal = project.fails(1, "approve", name, "--yes", "--push")
    project.git("init", "-q", "--bare", str(made))
    went_well(project, shown(hint, refusal))
    decided.wait("done")
    assert works.lost() == []


@pytest.mark.follows(
    "agentmux request-changes --from fixing --session …",
    "agentmux request-changes --from fixing --session … …",
)
def test_a_coder_resolves_a_conflict(decided: Session, works: Work) -> None:
    project, name = decided.project, decided.name
    (made,) = (each.name for each in Path(decided.state["worktree"]).glob("demo_*.py"))
    works.commit("a commit in the way", project.path / made)
    project.git("stash", "-q", "--include-untracked")
    told = project.run("approve", name, "--yes", "--merge")
    assert told.returncode == 1
    before = shown("agentmux request-changes --from fixing --session … …", told.stdout)
    hint = shown("agentmux request-changes --from fixing --session …", told.stderr)
    went_well(project, hint)
    decided.wait("fixing").wait()
    assert works.lost() == []
    went_well(project, before)
    decided.wait("fixing").wait()
    assert works.lost() == []


ALONG = "take … along: … && … && …"


def apart(session: Session, work: Work) -> Path:
    """Commit on a detached HEAD that lacks a commit of the session's branch, and stage an edit."""
    place = Path(session.state["worktree"])
    session.project.git_at(place, "switch", "-q", "--detach", "HEAD~1")
    work.commit("a commit on no branch", place / "apart.py")
    session.project.git_at(place, "add", "calc.py")
    return place


@pytest.mark.follows(
    "then: agentmux approve ……", "commit first what is changed there: git -C … commit -a -m …"
)
def test_what_was_committed_on_no_branch_is_delivered(decided: Session, works: Work) -> None:
    project, name = decided.project, decided.name
    place = apart(decided, works)
    refusal = project.fails(3, "approve", name, "--yes", "--keep")
    went_well(project, shown("commit first what is changed there: git -C … commit -a …", refusal))
    went_well(project, shown(ALONG, refusal))
    assert works.lost() == []
    # Whoever goes to the branch alone is told what it does not have.
    for beside in ("one.py", "two.py"):
        project.git_at(place, "switch", "-q", "--detach")
        works.commit(f"a commit in {beside}", place / beside)
        project.git_at(place, "switch", "-q", decided.state["branch"])
        works.write(f"an edit beside {beside}", place / "committed_a_coder.py")
        refusal = project.fails(3, "approve", name, "--yes", "--keep")
        assert f" a commit in {beside}" in refusal
        went_well(project, shown("commit first what is changed there: … -a …", refusal))
        went_well(project, shown(ALONG, refusal))
    went_well(project, shown("then: agentmux approve ……", refusal))
    decided.wait("done")
    project.ok("prune")
    assert works.lost() == []


@ODD
@pytest.mark.follows(
    "keep the result on its branch: agentmux approve … --keep",
    "or bring them back: agentmux approve … --merge --bring-back",
)
def test_what_was_taken_off_the_base_does_not_come_back(decided: Session, works: Work) -> None:
    project, name = decided.project, decided.name
    began = decided.state["base"]["commit"]
    project.git("branch", "-q", "kept", began)  # the user's commit is looked for
    project.git("reset", "-q", "--soft", f"{began}~1")
    project.git("commit", "-qm", "Instead")
    dropped = project.git("log", "-1", "--format=%s", began).strip()
    refusal = project.fails(3, "approve", name, "--yes", "--merge")
    assert "brings back 1 commit that main had when the session began, and has no more: " in refusal
    assert dropped in refusal
    assert "or bring them back: agentmux approve" in refusal
    keep = shown("keep the result on its branch: agentmux approve … --keep", refusal)
    told = went_well(project, keep)
    decided.wait("done")
    went_well(project, shown("to go without them, first: … && … && … rebase --onto main …", told))
    project.git("stash", "-q", "--include-untracked")
    went_well(project, shown("get it with: … && … && git merge --no-edit …", told))
    assert dropped not in project.git("log", "--format=%s", "main")
    assert works.lost() == []


@pytest.mark.follows(
    "git -C …… stash push --all --message …",
    "git -C … stash pop --index …",
    "git -C … stash show -p --include-untracked …",
)
def test_what_is_in_the_way_of_a_merge_is_put_aside(decided: Session, works: Work) -> None:
    project, name = decided.project, decided.name
    place = Path(decided.state["worktree"])
    (project.path / ".git" / "info" / "exclude").write_text("ignored*.py\n")
    works.write("a staged line of the user", project.path / "calc.py")
    project.git("add", "calc.py")
    for new, mine in (
        ("ignored one.py", "ignored one.py"),
        ("new[1].py", "new[1].py"),
        ("ignored two.py/in.py", "ignored two.py"),
    ):
        (place / new).parent.mkdir(exist_ok=True)
        (place / new).write_text("MADE = 1\n")
        project.git_at(place, "add", "-f", "--", f":(literal){new}")
        works.write(f"the user's {mine}", project.path / mine)
    refusal = project.fails(1, "approve", name, "--yes", "--merge")
    went_well(project, shown("put them aside: …", refusal))
    assert len(project.git("stash", "list").splitlines()) == 1
    told = went_well(project, shown("then: agentmux approve ……", refusal))
    decided.wait("done")
    project.git("merge-base", "--is-ancestor", decided.state["commit"]["commit"], "main")
    back = shown("put back what was put aside on main: git -C … stash pop --index …", told)
    (popped,) = follow(project, back)
    assert popped.returncode != 0  # the merge has other files there
    text = "where git refuses, see it: git -C … stash show -p --include-untracked …"
    assert "planted" in went_well(project, shown(text, told))
    assert works.lost() == []


def unstashable(project: Project, works: Work) -> str:
    """Leave every kind of change that ``git stash push`` alone refuses; return the status."""
    here = project.path
    for name in ("linked/in.py", "folder.py", "split[1].py"):
        (here / name).parent.mkdir(exist_ok=True)
        (here / name).write_text("before\n")
    project.git("add", "--", "linked", "folder.py", ":(literal)split[1].py")
    project.git("commit", "-qm", "Kinds")
    works.write("an intent to add", here / "intent.py")
    project.git("add", "-N", "intent.py")
    works.write("a folder behind a link", project.root / "elsewhere" / "in.py")
    (here / "linked" / "in.py").unlink()
    (here / "linked").rmdir()
    (here / "linked").symlink_to(project.root / "elsewhere")
    (here / "folder.py").unlink()
    works.write("a folder in place of a file", here / "folder.py" / "in.py")
    works.write("what is staged of a file", here / "split[1].py")
    project.git("add", "--", ":(literal)split[1].py")
    works.write("what is not staged of it", here / "split[1].py")
    return project.git("status", "--porcelain", "--untracked-files=all")


@pytest.mark.follows("git -C … update-index --no-… -- …", "git -C …… stash push --all --message …")
def test_a_hidden_edit_in_a_trial_is_put_aside(decided: Session, works: Work) -> None:
    project, name = decided.project, decided.name
    went_well(project, shown(ASIDE, project.fails(3, "try", name)))
    project.ok("try", name)
    project.git("update-index", "--skip-worktree", "calc.py")
    works.write("a hidden edit in the trial", project.path / "calc.py")
    refusal = project.fails(3, "try", "--off")
    assert "your checkout has something else in the way: calc.py\n" in refusal
    went_well(project, shown("put them aside: …", refusal))
    told = went_well(project, "agentmux try --off")
    assert "bring what you changed into the session's worktree" in told
    assert works.lost() == []


@ODD
@pytest.mark.follows("git -C …… add --force --sparse --all", "move it away: mv … …")
def test_what_git_does_not_stash_is_put_aside_for_a_trial(decided: Session, works: Work) -> None:
    project, name = decided.project, decided.name
    unstashable(project, works)
    refusal = project.fails(3, "try", name)
    went_well(project, shown(f"move it away: mv {project.path}/linked …", refusal))
    went_well(project, shown(f"move it away: mv {project.path}/folder.py …", refusal))
    went_well(project, shown("put them aside: …", refusal))
    assert project.git("status", "--porcelain") == ""
    went_well(project, f"agentmux try {name}")
    told = went_well(project, "agentmux try --off")
    back = shown("put back what was put aside on main: git -C … stash pop --index …", told)
    went_well(project, back)
    assert works.lost() == []
    assert (project.path / "linked.old").is_symlink()
    for name in ("linked", "folder.py"):
        line = f"mv {project.path}/{name}.old {project.path}/{name}"
        assert f"; after the trial, back: {line}" in refusal
        went_well(project, line)
    assert "planted" in (project.path / "folder.py" / "in.py").read_text()


@ODD
@pytest.mark.follows(
    "git -C … update-index --no-… -- …",
    "move it away: mv … …",
    " && git -C … worktree repair",
)
@pytest.mark.parametrize(("command", "code"), [("try", 3), ("approve --yes --merge", 1)])
def test_what_git_cannot_stash_gets_out_of_the_way(
    decided: Session, works: Work, command: str, code: int
) -> None:
    project, name = decided.project, decided.name
    place = Path(decided.state["worktree"])
    project.git("stash", "-q", "--include-untracked")
    for each in ("nested/in.py", "near by/in.py", "apart/in.py"):
        (place / each).parent.mkdir(exist_ok=True)
        (place / each).write_text("MADE = 1\n")
    project.git("worktree", "add", "-q", "--detach", "apart")
    works.commit("a commit on no branch", project.path / "apart" / "other.py")
    for each in ("nested", "near by"):
        project.git("init", "-q", each)
        works.write(f"the user's {each}", project.path / each / "in.py")
    works.commit("a commit in nested", project.path / "nested" / "other.py")
    project.git("update-index", "--assume-unchanged", "calc.py")
    works.write("a hidden edit", project.path / "calc.py")
    refusal = project.fails(code, *command.split(), name)
    went_well(project, shown(f"move it away: mv {project.path}/nested …", refusal))
    went_well(project, shown(f"move it away: mv '{project.path}/near by' …", refusal))
    away = f"move it away: mv {project.path}/apart … && git -C …"
    went_well(project, shown(away, refusal))
    went_well(project, shown("put them aside: …", refusal))
    went_well(project, f"agentmux {command} {name}")
    project.git("worktree", "prune")
    assert works.lost() == []
    assert "planted" in project.git_at(project.path / "apart.old", "log", "-p", "-1")
    assert (project.path / "nested" / "in.py").read_text() == "MADE = 1\n"
    assert "planted" in (project.path / "nested.old" / "in.py").read_text()


@ODD
@pytest.mark.parametrize("folder", ["", "tests"])
def test_hints_mean_the_checkout_where_they_are_typed_in_a_worktree(
    decided: Session, works: Work, folder: str
) -> None:
    project, name = decided.project, decided.name
    place = Path(decided.state["worktree"]) / folder
    before = project.git_at(place, "status", "--porcelain", "--branch")

    def type_there(hint: str) -> None:
        line = hint.partition(": ")[2].partition(" (with")[0]
        done = project.program("sh", "-c", line, cwd=place)
        assert done.returncode == 0, done.stdout + done.stderr
        assert project.git_at(place, "status", "--porcelain", "--branch") == before

    type_there(shown("put them aside: …", project.fails(3, "try", name, cwd=place)))
    project.ok("try", name, cwd=place)
    works.commit("a commit in the trial", project.path / "tried.py")
    refusal = project.fails(3, "try", "--off", cwd=place)
    type_there(shown("keep the commits, and go back: …", refusal))
    assert project.git("rev-parse", "--abbrev-ref", "HEAD").strip() == "main"
    told = project.run("approve", name, "--yes", "--keep", cwd=place).stdout
    decided.wait("done")
    before = project.git_at(place, "status", "--porcelain", "--branch")
    type_there(shown("get it with: …", told))
    project.git("merge-base", "--is-ancestor", decided.state["commit"]["commit"], "main")
    assert works.lost() == []


@ODD
@pytest.mark.follows("take them back: agentmux try --off")
def test_a_checkout_that_was_killed_is_taken_back(decided: Session, works: Work) -> None:
    project, name = decided.project, decided.name
    project.git("stash", "-q", "--include-untracked")
    before = project.git("status", "--porcelain")
    kill_next_checkout(project.path)
    refusal = project.fails(1, "try", name)
    assert "killed by signal 9" in refusal
    assert project.git("status", "--porcelain") != before
    back = shown("take them back: agentmux try --off", refusal)
    (project.path / ".git" / "index.lock").unlink()  # as git says
    went_well(project, back)
    assert project.git("status", "--porcelain") == before
    went_well(project, f"agentmux try {name}")
    assert works.lost() == []


@ODD
def test_changes_outside_of_a_sparse_checkout_are_put_aside(decided: Session, works: Work) -> None:
    project, name = decided.project, decided.name
    project.git("stash", "-q", "--include-untracked")
    works.commit("a commit in a folder that gets sparse", project.path / "big" / "one.py")
    project.git("sparse-checkout", "set", "--no-cone", "/tests", "/calc.py")
    works.write("an edit outside", project.path / "big" / "one.py")
    works.write("a new file outside", project.path / "new" / "two.py")
    works.write("a staged edit inside", project.path / "calc.py")
    project.git("add", "calc.py")
    works.write("an edit inside", project.path / "calc.py")
    refusal = project.fails(1, "approve", name, "--yes", "--merge")
    went_well(project, shown("put them aside: …", refusal))
    assert project.git("stash", "list").count("put aside for a merge") == 1
    works.write("an edit outside, later", project.path / "big" / "one.py")
    went_well(project, shown("put them aside: …", project.fails(3, "try", name)))
    went_well(project, f"agentmux try {name}")
    went_well(project, "agentmux try --off")
    went_well(project, f"agentmux approve --yes --merge {name}")
    decided.wait("done")
    assert works.lost() == []


@ODD
@pytest.mark.follows("git -C … commit --message … -- …")
def test_a_submodule_that_is_elsewhere_is_committed_before_a_merge(
    decided: Session, works: Work
) -> None:
    project, name = decided.project, decided.name
    project.git("stash", "-q", "--include-untracked")
    inner = project.root / "inner"
    project.git("init", "-q", str(inner))
    works.commit("the first commit of the submodule", inner / "one.py")
    project.git("config", "--global", "protocol.file.allow", "always")
    project.git("submodule", "--quiet", "add", str(inner), "lib")
    project.git("commit", "-qm", "Lib")
    project.git_at(project.path / "lib", "switch", "-qc", "mine")
    works.commit("a later commit in the submodule", project.path / "lib" / "two.py")
    refusal = project.fails(3, "try", name)
    (hint,) = re.findall("^hint: (.*)$", refusal, re.MULTILINE)
    blocked = project.fails(1, "approve", name, "--yes", "--merge")
    assert hint.partition("; after the trial")[0] in blocked
    assert "; after" not in blocked
    assert "put them aside" not in blocked
    went_well(project, shown("commit the submodule …: …", refusal))
    went_well(project, f"agentmux try {name}")
    went_well(project, "agentmux try --off")
    works.write("an edit", project.path / "calc.py")
    refusal = project.fails(1, "approve", name, "--yes", "--merge")
    went_well(project, shown("put them aside: …", refusal))
    told = went_well(project, f"agentmux approve --yes --merge {name}")
    shown("put back what was put aside on …: git -C … stash pop --index …", told)
    decided.wait("done")
    assert works.lost() == []


@pytest.mark.follows("keep what was left on no branch: git branch … …")
def test_what_was_left_on_no_branch_does_not_go_with_the_worktree(
    decided: Session, works: Work
) -> None:
    project, name = decided.project, decided.name
    place = apart(decided, works)
    project.git_at(place, "switch", "-q", decided.state["branch"])
    refusal = project.fails(3, "approve", name, "--yes", "--keep")
    went_well(project, shown("or go without them: agentmux approve … --leave-commits", refusal))
    decided.wait("done")
    assert "a commit on no branch" in project.run("prune").stderr
    refusal = project.fails(3, "remove", name, "--yes")
    went_well(project, shown("keep what was left on no branch: git branch kept-… …", refusal))
    project.git("stash", "-q", "--include-untracked")
    went_well(project, shown("merge the branch first: … && git merge --no-edit …", refusal))
    project.ok("remove", name, "--yes")
    assert works.lost() == []


@ODD
@pytest.mark.follows(
    "put it back in its place, then: agentmux resume …", "… && git worktree repair …"
)
def test_a_worktree_comes_back_from_a_disk_that_was_away(decided: Session, works: Work) -> None:
    project, name = decided.project, decided.name
    place = Path(decided.state["worktree"])
    disk, again = place.with_name("disk"), ("resume", name, "--yes", "--detach")
    project.ok("stop", name)
    project.git("worktree", "unlock", str(place))
    project.git("worktree", "lock", "--reason", "on my disk", str(place))
    place.rename(disk)
    back = shown("put it back in its place, then: agentmux resume …", project.fails(3, *again))
    disk.rename(place)
    went_well(project, f"{back} --detach")
    decided.wait()
    project.ok("stop", name)
    place.rename(disk)
    went_well(project, shown("if it may go, unlock it: …", project.fails(3, *again)))
    project.ok(*again)
    decided.wait()
    project.ok("stop", name)
    made = place.rename(place.with_name("made"))
    disk.rename(place)
    went_well(project, shown("… && git worktree repair …", project.fails(3, *again)))
    made.rename(place)
    project.ok(*again)
    decided.wait()
    assert f"{place}.old" in project.git("worktree", "list")
    assert works.lost() == []


@ODD
@pytest.mark.follows(
    "put it on top of the commits before: …git -C … reset --soft … &&"
    " git -C … commit --reuse-message=…"
)
@pytest.mark.parametrize("command", ["approve", "remove"])
def test_a_history_that_began_anew_joins_the_one_before(
    decided: Session, works: Work, command: str
) -> None:
    project, name = decided.project, decided.name
    place, branch = Path(decided.state["worktree"]), decided.state["branch"]
    project.git_at(place, "add", "-A")
    project.git_at(place, "commit", "-qm", "Everything")
    last = project.git_at(place, "rev-parse", "HEAD").strip()
    project.git("update-ref", "-d", f"refs/heads/{branch}")
    works.write("a commit on the branch that is gone", place / "calc.py")
    project.git_at(place, "commit", "-qam", "Anew")
    approve = ("approve", name, "--yes", "--keep")
    refusal = project.fails(3, *approve)
    if command == "remove":
        project.ok("stop", name)
        refusal = project.fails(3, "remove", name, "--yes")
    went_well(project, shown("put it on top of the commits before: …", refusal))
    project.git("merge-base", "--is-ancestor", last, branch)
    if command == "remove":
        project.git("stash", "-q", "--include-untracked")
        went_well(project, shown("merge the branch first: … && git merge --no-edit …", refusal))
        project.ok("remove", name, "--yes")
    else:
        project.ok(*approve)
        decided.wait("done")
    assert works.lost() == []


def test_what_was_reset_away_is_taken_along_or_kept(decided: Session, works: Work) -> None:
    project, name = decided.project, decided.name
    place = Path(decided.state["worktree"])
    project.git_at(place, "add", "-A")
    project.git_at(place, "commit", "-qm", "Everything")
    project.git_at(place, "reset", "-q", "--hard", "HEAD~2")
    refusal = project.fails(3, "approve", name, "--yes", "--keep")
    assert " Everything" in refusal
    project.ok("stop", name)
    removal = project.fails(3, "remove", name, "--yes")
    went_well(project, shown("keep what was left on no branch: git branch kept-… …", removal))
    went_well(project, shown(ALONG, refusal))
    assert works.lost() == []


@ODD
@pytest.mark.follows("…: git -C … --work-tree=. log --all --oneline -n 10")
@pytest.mark.parametrize("command", ["remove", "prune"])
def test_the_commits_of_a_submodule_do_not_go_with_the_worktree(
    project: Project, command: str
) -> None:
    part = project.root / "part"
    allowed = ("-c", "protocol.file.allow=always", "submodule", "--quiet")
    project.git("clone", "-q", ".", str(part))
    project.git(*allowed, "add", str(part), "lib")
    project.git("commit", "-qm", "Submodule")
    session = project.start("add a greeting", "--worktree").wait()
    top = Path(session.state["worktree"])
    project.git_at(top, *allowed, "update", "--init")
    works = Work(project)
    works.commit("a commit in lib", top / "lib" / "beside.py")
    project.git_at(top, "submodule", "--quiet", "deinit", "-f", "lib")
    project.ok("approve", session.name, "--yes", "--merge")
    session.wait("done")
    done = project.run(command, *(("--yes", session.name) if command == "remove" else ()))
    assert "the commits of 1 submodule that nothing checks out any more (lib)" in done.stderr
    if command == "remove":
        hint = shown(
            "see the commits of …: git -C … --work-tree=. log --all --oneline -n 10", done.stderr
        )
        assert "a commit in lib" in went_well(project, hint)
    assert works.lost() == []
    assert top.is_dir()


@pytest.fixture
def other_first(project: Project) -> Session:
    """A session in the checkout that waits for a decision."""
    return project.start("another feature", "--no-worktree").wait()


@pytest.mark.follows(
    "decide on that one first: agentmux approve …",
    "or keep this result on its branch: agentmux approve … --keep",
)
def test_one_of_two_is_decided_first(other_first: Session, project: Project) -> None:
    session = project.start("add a greeting", "--worktree").wait()
    works = Work(project).plant(Path(session.state["worktree"]), "a coder")
    works.write("the work of the other session", project.path / "new_a_coder.py")  # in the way
    assert "began in" in project.fails(1, "approve", session.name, "--yes", "--merge")
    project.ok("stop", other_first.name)
    refusal = project.fails(1, "approve", session.name, "--yes", "--merge")
    assert "began in" in refusal
    keep = shown("or keep this result on its branch: agentmux approve … --keep", refusal)
    went_well(project, keep)
    session.wait("done")
    went_well(project, shown("decide on that one first: agentmux approve …", refusal))
    assert works.lost() == []


def test_a_trial_waits_for_the_session_in_the_checkout(
    other_first: Session, project: Project
) -> None:
    session = project.start("add a greeting", "--worktree").wait()
    works = Work(project).plant(Path(session.state["worktree"]), "a coder")
    project.ok("stop", other_first.name)
    refusal = project.fails(3, "try", session.name)
    assert f"session {other_first.short} works in your checkout and is not done" in refusal
    went_well(project, shown("decide on that one first: agentmux approve …", refusal))
    project.ok("resume", other_first.name, "--yes", "--detach")
    other_first.wait("done")
    went_well(project, f"agentmux try {session.name}")
    assert works.lost() == []


@pytest.mark.follows("go back first: agentmux try --off")
def test_nothing_is_approved_in_a_checkout_that_shows_a_trial(
    project: Project, other_first: Session
) -> None:
    project.ok("stop", other_first.name)
    session = project.start("add a greeting", "--worktree").wait()
    head = project.git("rev-parse", "HEAD").strip()
    note = {"session": session.name, "commit": head, "branch": "main", "head": head}
    (project.path / ".git" / "agentmux-try").write_text(json.dumps(note))  # of an earlier release
    refusal = project.fails(3, "approve", other_first.name, "--yes")
    went_well(project, shown("go back first: agentmux try --off", refusal))
    went_well(project, f"agentmux approve --yes {other_first.name}")


@pytest.mark.follows("approve it as it is: agentmux approve … --keep")
def test_a_result_in_the_checkout_is_kept(other_first: Session, project: Project) -> None:
    works = Work(project)
    works.write("a new file of the user", project.path / "mine.py")
    refusal = project.fails(2, "approve", other_first.name, "--yes", "--merge")
    went_well(project, shown("approve it as it is: agentmux approve … --keep", refusal))
    other_first.wait("done")
    assert works.lost() == []


@ODD
@pytest.mark.follows("keep the result on its branch: agentmux approve … --keep")
def test_a_result_without_a_base_branch_is_kept(project: Project, work: Work) -> None:
    project.git("switch", "-q", "--detach")
    session = project.start("add a greeting", "--worktree").wait()
    works = work.plant(Path(session.state["worktree"]), "a coder")
    refusal = project.fails(2, "approve", session.name, "--yes", "--merge")
    went_well(project, shown("keep the result on its branch: agentmux approve … --keep", refusal))
    session.wait("done")
    assert works.lost() == []


@pytest.mark.follows(
    "make it again where the session began: git branch … …",
    "if it has another name now, keep the result: agentmux approve … --keep",
)
@pytest.mark.parametrize(
    ("trunk", "deleted"), [("trunk", True), ("trunk", False), ("main/a", False)]
)
def test_a_result_whose_base_branch_has_another_name_or_is_gone(
    decided: Session, works: Work, trunk: str, *, deleted: bool
) -> None:
    project, name = decided.project, decided.name
    project.git("branch", "-q", "-m", "main", trunk)
    refusal = project.fails(2, "approve", name, "--yes", "--merge")
    assert "--merge" not in project.ok("status", name)
    if deleted:
        went_well(project, shown("make it again where the session began: git branch … …", refusal))
        went_well(project, shown("then: agentmux approve … --merge", refusal))
        assert "a commit of a coder" in project.git("log", "--format=%s", "main")
    else:
        assert ("git branch main" in refusal) == (trunk == "trunk"), "git can make it again"
        hint = "if it has another name now, keep the result: agentmux approve … --keep"
        told = went_well(project, shown(hint, refusal))
        project.git("stash", "-q", "--include-untracked")
        went_well(project, shown("get it with: … && … && git merge --no-edit …", told))
        assert "a commit of a coder" in project.git("log", "--format=%s", trunk)
    decided.wait("done")
    assert works.lost() == []


@ODD
@pytest.mark.parametrize("how", ["amended", "rebased"])
def test_a_continued_branch_whose_history_was_rewritten_is_approved_on_top(
    project: Project, work: Work, how: str
) -> None:
    project.git("switch", "-q", "-c", "topic")
    work.commit("a commit of topic", project.path / "topic.py")
    project.git("switch", "-q", "main")
    session = project.start("add a greeting", "--on", "topic").wait()
    place = Path(session.state["worktree"])
    if how == "amended":
        project.git_at(place, "commit", "-q", "--amend", "--only", "-m", "Amended")
    else:
        project.git("commit", "-q", "--allow-empty", "-m", "On main")
        project.git_at(place, "stash", "-q", "--include-untracked")
        project.git_at(place, "rebase", "-q", "main")
        project.git_at(place, "stash", "pop", "-q")
    project.git("stash", "-q", "--include-untracked")
    tip = project.git("rev-parse", "topic").strip()
    refusal = project.fails(3, "approve", session.name, "--yes", "--merge")
    assert "the history of branch topic was rewritten" in refusal
    hint = "if they are yours, commit on top of them: agentmux approve … --on-top"
    went_well(project, f"{shown(hint, refusal)} --merge")
    session.wait("done")
    assert project.git("rev-parse", "topic~").strip() == tip
    assert project.git("rev-parse", "topic") == project.git("rev-parse", "main")
    assert work.lost() == []


@ODD
def test_a_file_at_the_place_of_a_worktree_is_moved_away(decided: Session, works: Work) -> None:
    project, name = decided.project, decided.name
    place = Path(decided.state["worktree"])
    project.ok("stop", name)
    place.rename(place.with_name("elsewhere"))
    place.write_text("# planted by somebody\n")
    refusal = project.fails(3, "resume", name, "--yes", "--detach")
    project.ok("status", name)
    went_well(project, shown("move it away: mv … …", refusal))
    again = project.run("resume", name, "--yes", "--detach")
    assert "is gone: it is made again from" in again.stdout + again.stderr
    assert works.lost() == []


@pytest.mark.follows("git -C … add -- … && git -C … commit --message Configuration -- …")
def test_configuration_that_a_coder_changed_is_named_and_not_removed(
    decided: Session, works: Work
) -> None:
    project, name = decided.project, decided.name
    place = Path(decided.state["worktree"]) / ".agentmux"
    works.write("a change of the configuration", place / "config.yaml")
    works.write("a staged note", place / "note.py")
    project.git_at(place, "add", "note.py")
    works.write("a prompt in a new folder", place.parent / "lib" / ".agentmux" / "a prompt.md")
    told = project.ok("approve", name, "--yes", "--keep")
    named = ".agentmux/config.yaml, .agentmux/note.py, lib/.agentmux/a prompt.md"
    assert f"the commit leaves out what is in .agentmux: {named}" in told
    decided.wait("done").gone()
    refusal = project.fails(3, "remove", name, "--yes")
    assert f"not committed ({named})" in refusal
    hint = (
        "to have it in the result, first: git -C … add -- …"
        " && git -C … commit --message Configuration -- …"
    )
    went_well(project, shown(hint, told))
    assert works.lost() == []
    assert project.git_at(place.parent, "status", "--short") == ""


@pytest.mark.follows(
    "go on with it here: agentmux resume …",
    "if it was imported nowhere, bring it back: agentmux import …",
    "else remove what is left here: agentmux remove …",
)
def test_an_exported_session_comes_back(decided: Session, works: Work) -> None:
    project, name = decided.project, decided.name
    bare(project)
    project.ok("stop", name)
    capsule = project.root / "x.agentmux"
    project.ok("export", name, str(capsule))
    assert works.lost() == []
    refusal = project.fails(3, "resume", name, "--detach")
    went_well(
        project, shown("if it was imported nowhere, bring it back: agentmux import …", refusal)
    )
    assert works.lost() == []
    project.ok("export", name, str(project.root / "y.agentmux"))
    refusal = project.fails(3, "resume", name, "--detach")
    hint = shown("else remove what is left here: agentmux remove …", refusal)
    went_well(project, hint, code=3)  # the branch is not merged
    assert works.lost() == []


@ODD
@pytest.mark.follows(
    "else make it again from …: agentmux resume --make-again ……",
)
@pytest.mark.parametrize("moved", [True, False])
def test_a_worktree_that_is_not_at_its_place_keeps_what_git_has_of_it(
    decided: Session, works: Work, *, moved: bool
) -> None:
    project, name = decided.project, decided.name
    place = Path(decided.state["worktree"])
    project.git_at(place, "switch", "-q", "--detach")
    works.commit("a commit beside the branch", place / "beside.py")
    works.write("a staged line", place / "staged.py")
    project.git_at(place, "add", "staged.py")
    project.ok("stop", name)
    saved = place.rename(place.with_name("saved"))
    status = project.git_at(saved, "status", "--porcelain")
    refusal = project.fails(3, "remove", name, "--yes")
    again = project.fails(3, "resume", name, "--detach", "--yes")
    assert works.lost() == []
    if moved:
        hint = shown("git worktree repair NEW_PATH", again)
        went_well(project, hint, NEW_PATH=str(saved))
        back = project.fails(3, "resume", name, "--detach", "--yes")
        went_well(project, shown("move it back: git worktree move -f -f …", back))
        assert project.git_at(place, "status", "--porcelain") == status
        went_well(project, f"agentmux resume {name} --detach")
    else:
        hint = shown("else make it again from …: agentmux resume --make-again …  #", again)
        went_well(project, hint.removesuffix("#").strip() + " --detach")
        assert project.git_at(saved, "status", "--porcelain") == status
    decided.wait()
    assert works.lost() == []
    went_well(project, shown("keep what was left on no branch: git branch kept-… …", refusal))
    project.ok("stop", name)
    project.fails(3, "remove", name, "--yes")
    assert works.lost() == []


def test_a_deleted_worktree_is_not_removed_with_the_last_copy_of_its_result(
    decided: Session, works: Work
) -> None:
    project, name = decided.project, decided.name
    place = Path(decided.state["worktree"])
    project.ok("stop", name)
    shutil.rmtree(place)
    refusal = project.fails(3, "remove", name, "--yes")
    assert "that only work-tree checkpoint" in refusal
    hint = shown("a resume makes it again: agentmux resume …", refusal)
    went_well(project, f"{hint} --detach")
    decided.wait()
    assert works.lost() == []
    project.ok("approve", name, "--yes", "--keep")
    decided.wait("done")
    assert works.lost() == []


def ignore_result(session: Session) -> str:
    """Have git ignore the new files of the session; return their names, as a message has them."""
    place = Path(session.state["worktree"])
    others = ("ls-files", "--others", "--exclude-standard")
    names = sorted(session.project.git_at(place, *others).split())
    assert names
    (place / ".gitignore").write_text("".join(f"/{each}\n" for each in names))
    return ", ".join(names)


@ODD
def test_an_approval_names_reviewed_files_that_git_ignores_by_now(decided: Session) -> None:
    names = ignore_result(decided)
    told = decided.project.ok("approve", decided.name, "--yes", "--keep")
    assert f"left out, because git ignores them now: {names}\n" in told


@ODD
def test_a_worktree_made_again_names_reviewed_files_that_git_ignored(decided: Session) -> None:
    names, project = ignore_result(decided), decided.project
    project.ok("stop", decided.name)
    shutil.rmtree(decided.state["worktree"])
    told = project.run("resume", decided.name, "--detach", "--yes").stderr
    assert f"uncommitted work included, but not what git ignored ({names})" in " ".join(
        told.split()
    )


def test_after_a_removal_that_failed_the_work_counts_again(decided: Session, works: Work) -> None:
    project, name = decided.project, decided.name
    place = Path(decided.state["worktree"])
    project.ok("stop", name)
    hook = project.path / ".git" / "hooks" / "reference-transaction"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\ntest -e .git/hooks/allow\n")
    hook.chmod(0o755)
    said = project.fails(1, "remove", name, "--force", "--yes")
    assert not place.exists()
    assert f"the files of the worktree {place} are deleted, as far as they could be" in said
    hook.unlink()
    assert "that only work-tree checkpoint" in project.fails(3, "remove", name, "--yes")
    hint = shown("a resume makes it again: agentmux resume …", said)
    went_well(project, f"{hint} --detach")
    decided.wait()
    assert works.lost() == []


@ODD
def test_a_removal_takes_nothing_where_git_cannot_write(decided: Session, works: Work) -> None:
    project, name = decided.project, decided.name
    place = Path(decided.state["worktree"])
    project.ok("stop", name)
    alone = ("unshare", "-m") if os.geteuid() == 0 else ("unshare", "-rm")
    mount = 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && exec "$@"'
    words = (sys.executable, "-m", "agentmux", "remove", name, "--force", "--yes")
    done = project.program(*alone, "sh", "-c", mount, str(project.path / ".git"), *words)
    if "mount: " in done.stderr or "unshare: " in done.stderr:
        pytest.skip("this user may not mount anything")
    assert (done.returncode, "mount -o remount,rw" in done.stderr) == (5, True), done.stderr
    assert (place / ".git").exists()
    assert works.lost() == []
    assert "not committed" in project.fails(3, "remove", name, "--yes")


def goes_on_after_a_stop(project: Project, name: str, way: str) -> None:
    """Follow the hints of a refusal to approve a live session whose worktree needs a resume."""
    refusal = project.fails(3, "approve", name, "--keep")
    hints = [each for each in refusal.splitlines() if each.startswith("hint: ")]
    assert "stop it first: agentmux stop" in hints[0]
    went_well(project, shown("stop it first: agentmux stop …", refusal))
    went_well(project, f"{shown(way, refusal)} --detach")


@pytest.mark.follows("a resume links it: agentmux resume …")
def test_a_live_session_whose_repository_was_renamed_is_approved_after_a_resume(
    decided: Session, works: Work
) -> None:
    project, inside = decided.project, decided.path.relative_to(decided.project.path)
    project.path = project.path.rename(project.root / "renamed")
    session = Session(project, project.path / inside)
    goes_on_after_a_stop(project, session.name, "a resume links it: agentmux resume …")
    session.wait()
    project.ok("approve", session.name, "--yes", "--keep")
    session.wait("done")
    assert works.lost() == []


@pytest.mark.follows("a resume makes it again: agentmux resume …")
def test_a_live_session_whose_worktree_is_gone_is_approved_after_a_resume(
    decided: Session, work: Work
) -> None:
    project, name = decided.project, decided.name
    place = Path(decided.state["worktree"])
    shutil.rmtree(place)
    goes_on_after_a_stop(project, name, "a resume makes it again: agentmux resume …")
    decided.wait()
    project.ok("approve", name, "--yes", "--keep")
    decided.wait("done")
    assert work.lost() == []


@ODD
@pytest.mark.follows(
    "make it again where its work ended: git branch … …",
)
@pytest.mark.parametrize("asked", ["approve", "status", "resume", "remove"])
def test_a_branch_that_was_deleted_is_made_again(decided: Session, works: Work, asked: str) -> None:
    project, name, branch = decided.project, decided.name, decided.state["branch"]
    place = Path(decided.state["worktree"])
    last = project.git_at(place, "log", "-1", "--format=%h %s")
    if asked in {"resume", "remove"}:
        project.ok("stop", name)
    project.git("update-ref", "-d", f"refs/heads/{branch}")
    project.git("stash", "-q", "--include-untracked")
    refusal = {
        "approve": lambda: project.fails(3, "approve", name, "--yes", "--merge"),
        "status": lambda: project.ok("status", name),
        "resume": lambda: project.fails(3, "resume", name, "--yes", "--detach"),
        "remove": lambda: project.fails(3, "remove", name, "--yes"),
    }[asked]()
    if asked == "remove":
        assert f"on no branch ({last.strip()})" in refusal
        assert works.lost() == []
        return
    assert f"branch `{branch}`, on which this session works, does not exist any more" in refusal
    went_well(project, shown("make it again where its work ended: git branch … …", refusal))
    assert works.lost() == []
    assert project.git_at(place, "log", "-1", "--format=%h %s") == last
    if asked == "resume":
        project.ok("resume", name, "--yes", "--detach")
    project.ok("approve", name, "--yes", "--merge")
    project.git("merge-base", "--is-ancestor", last.split()[0], "main")


@ODD
@pytest.mark.follows("if no git is running: rm …")
def test_a_merge_is_made_again_when_the_lock_of_a_killed_git_is_gone(
    decided: Session, works: Work
) -> None:
    project, name = decided.project, decided.name
    project.git("stash", "-q", "--include-untracked")
    before = project.git("rev-parse", "main")
    (project.path / ".git" / "index.lock").touch()
    refusal = project.fails(1, "approve", name, "--yes", "--merge")
    assert "the commit is made when" not in refusal
    assert f"the merge waits until {project.path}/.git/index.lock is gone: " in refusal
    assert project.git("rev-parse", "main") == before
    went_well(project, shown("if no git is running: rm …", refusal))
    went_well(project, shown("then: agentmux approve ……", refusal))
    decided.wait("done")
    assert project.git("rev-parse", "main") != before
    assert works.lost() == []


def test_a_merge_with_conflicts_is_looked_at_first(decided: Session, works: Work) -> None:
    project, name = decided.project, decided.name
    project.git("stash", "-q", "--include-untracked")
    project.git("config", "core.editor", ":")
    project.git("switch", "-qc", "other", "HEAD~1")
    works.commit("another commit", project.path / "committed_the_user.py")
    project.git("switch", "-q", "main")
    assert project.program("git", "merge", "-q", "other").returncode == 1
    refusal = project.fails(3, "try", name)
    look, finish = "see what is left to resolve: git status", "finish it: git merge --continue"
    assert refusal.index(look) < refusal.index(finish)
    told = went_well(project, shown(look, refusal))
    assert "both added:      committed_the_user.py" in told
    assert "git merge --abort" in told
    project.git("add", "committed_the_user.py")  # with the marks, as any resolution
    went_well(project, shown(finish, refusal))
    went_well(project, f"agentmux try {name}")
    assert works.lost() == []


@pytest.mark.parametrize("url", ["{}", "../r.git", "a fork", "a clone of one branch", "no remote"])
def test_what_others_pushed_is_brought_in(decided: Session, works: Work, url: str) -> None:
    project, name, branch = decided.project, decided.name, decided.state["branch"]
    there = project.root / "r.git"
    project.git("init", "-q", "--bare", str(there))
    if url == "no remote":
        project.git("config", "remote.pushDefault", str(there))
    else:
        project.git("remote", "add", "origin", url if url.startswith(".") else str(there))
    if url == "a fork":
        project.git("init", "-q", "--bare", str(project.root / "up.git"))
        project.git("config", "remote.origin.url", str(project.root / "up.git"))
        project.git("config", "remote.origin.pushurl", str(there))
    if url == "a clone of one branch":
        project.git("config", "remote.origin.fetch", "+refs/heads/main:refs/remotes/origin/main")
    project.git("push", "-q", str(there), f"{branch}:{branch}")
    theirs = project.root / "theirs"
    project.git("clone", "-q", "--branch", branch, str(there), str(theirs))
    works.commit("a commit of others", theirs / "others.py")
    project.git_at(theirs, "push", "-q", "origin", branch)
    refusal = project.fails(1, "approve", name, "--yes", "--push")
    assert "\nhint: bring in what others pushed there: git -C" in refusal, "a line to copy"
    went_well(project, shown("bring in what others pushed there: … && …", refusal))
    went_well(project, shown("fix that, then: agentmux approve … --push", refusal))
    decided.wait("done")
    result = project.git("rev-parse", branch)
    assert project.git_at(there, "rev-parse", branch) == result
    assert "a commit of others" in project.git("log", "--format=%s", branch)
    assert works.lost() == []
