"""An approval of a worktree whose HEAD has left commits that were made there, with real git."""

import os
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from agentmux.app.delivery.approval.deliverable import deliverable, ways_along
from agentmux.app.delivery.steps.commit import find_head_error
from agentmux.app.session.workplace.own_worktree import with_workplace
from agentmux.app.world import World
from agentmux.core.journal.state import Base, Options, SessionState, TreeCheckpoint
from agentmux.core.names.phase import Phase
from agentmux.wiring import build
from tests.app.driver import git, make_project

BRANCH = "agentmux/x"


class Apart:
    """A session in a worktree of its own, with a commit on its branch."""

    def __init__(self, folder: Path) -> None:
        self.project = make_project(folder / "project")
        self.place = folder / "place"
        git(self.project, "worktree", "add", "-q", str(self.place), "-b", BRANCH)
        base = git(self.project, "rev-parse", "HEAD").strip()
        self.state = SessionState(
            phase=Phase.COMPLETING,
            schema_version=2,
            feature="Add it",
            feature_dir="20260101-101500-x",
            branch=BRANCH,
            worktree=str(self.place),
            base=Base(commit=base, branch="main"),
            options=Options(commit=True, base=base),
        )
        self.committed("here.txt")

    @property
    def world(self) -> World:
        return with_workplace(build.world(self.project, environ=dict(os.environ)), self.state)

    def git(self, *words: str) -> str:
        return git(self.place, *words)

    def committed(self, name: str) -> str:
        (self.place / name).write_text(f"{name}\n")
        self.git("add", "-A")
        self.git("commit", "-qm", f"Add {name}")
        return self.git("rev-parse", "HEAD").strip()

    def behind(self) -> list[str]:
        return [each.commit for each in deliverable(self.world, self.state).left_behind]

    def typed(self, line: str) -> int:
        """Type a hint in the project, with an editor that changes nothing."""
        env = {**os.environ, "GIT_EDITOR": ":"}
        done = subprocess.run(
            line, shell=True, cwd=self.project, check=False, capture_output=True, env=env
        )
        return done.returncode

    def hint(self) -> str:
        """Return the command with which a refusal takes the commits of HEAD along."""
        error = find_head_error(self.world, self.state)
        assert error is not None
        assert error.hints[-1] == "then: agentmux approve 20260101-101500-x"
        return error.hints[0].removeprefix("take its commits along: ")


@pytest.fixture
def apart(tmp_path: Path) -> Apart:
    return Apart(tmp_path)


def orphan(apart: Apart) -> str:
    apart.git("checkout", "-q", "--orphan", "lonely")
    return apart.committed("apart.txt")


def side(apart: Apart) -> str:
    apart.git("checkout", "-q", "-b", "feat/x", "HEAD~1")
    return apart.committed("apart.txt")


def detached(apart: Apart) -> str:
    apart.git("checkout", "-q", "--detach", "HEAD~1")
    return apart.committed("apart.txt")


def detached_orphan(apart: Apart) -> str:
    made = orphan(apart)
    apart.git("checkout", "-q", "--detach")
    apart.git("branch", "-q", "-D", "lonely")
    return made


WAYS = [orphan, side, detached, detached_orphan]


@pytest.mark.parametrize("leave", WAYS)
def test_the_hint_takes_the_commits_along(apart: Apart, leave: Callable[[Apart], str]) -> None:
    made = leave(apart)
    (apart.place / "new.txt").write_text("new\n")
    assert apart.typed(apart.hint()) == 0
    assert find_head_error(apart.world, apart.state) is None
    assert apart.behind() == []
    assert apart.git("merge-base", "--is-ancestor", made, "HEAD") == ""
    assert {"here.txt", "apart.txt", "new.txt"} <= {each.name for each in apart.place.iterdir()}


@pytest.mark.parametrize("leave", WAYS)
def test_a_hint_that_fails_leaves_a_state_that_is_refused(
    apart: Apart, leave: Callable[[Apart], str]
) -> None:
    leave(apart)
    (apart.place / "README.md").write_text("# Changed, and staged\n")
    apart.git("add", "README.md")
    git(apart.project, "switch", "-q", "--detach")
    (apart.project / "README.md").write_text("# Another one\n")
    git(apart.project, "commit", "-qam", "Change it, too")
    git(apart.project, "update-ref", f"refs/heads/{BRANCH}", "HEAD")
    assert apart.typed(apart.hint()) != 0
    assert find_head_error(apart.world, apart.state) is not None


@pytest.mark.parametrize("leave", WAYS)
def test_what_was_left_for_the_branch_is_missed_and_taken_along(
    apart: Apart, leave: Callable[[Apart], str]
) -> None:
    made = leave(apart)
    apart.git("switch", "-q", BRANCH)
    assert find_head_error(apart.world, apart.state) is None
    found = deliverable(apart.world, apart.state).left_behind
    assert [each.commit for each in found] == [made]
    assert found[0].subjects[-1].endswith(" Add apart.txt")
    (hint,) = ways_along(apart.world, apart.state, found)
    way = hint.removeprefix("take them along: ")
    assert apart.typed(way) == 0
    assert apart.behind() == []
    assert (apart.place / "apart.txt").exists()


@pytest.mark.parametrize("leave", WAYS)
def test_a_checkpoint_tells_it_where_git_keeps_no_log(
    apart: Apart, leave: Callable[[Apart], str]
) -> None:
    made = leave(apart)
    head = apart.git("rev-parse", "--abbrev-ref", "HEAD").strip()
    saved = TreeCheckpoint(
        number=1, because="phase", phase="reviewing", commit=made, head=made,
        branch=None if head == "HEAD" else head,
    )  # fmt: skip
    apart.state = replace(apart.state, tree_checkpoints=(saved,))
    apart.git("switch", "-q", BRANCH)
    apart.git("reflog", "expire", "--expire=now", "--all")
    assert apart.behind() == [made]


HELD: dict[str, Callable[[Apart, str], object]] = {
    "merged": lambda apart, made: apart.git("merge", "-q", "--no-edit", made),
    "picked": lambda apart, made: apart.git("cherry-pick", made),
    "squashed": lambda apart, made: apart.git("merge", "-q", "--squash", made),
    "delivered": lambda apart, made: git(apart.project, "merge", "-q", made),
}


@pytest.mark.parametrize("how", HELD)
def test_what_the_result_has_as_well_is_not_missed(apart: Apart, how: str) -> None:
    made = side(apart)
    apart.git("switch", "-q", BRANCH)
    assert apart.behind() == [made]
    HELD[how](apart, made)
    assert apart.behind() == []


REPLACED: dict[str, Callable[[Apart], object]] = {
    "amended": lambda apart: apart.git("commit", "-q", "--amend", "-m", "Another text"),
    "rebased": lambda apart: apart.git("rebase", "-q", "--root"),
    "reset": lambda apart: apart.git("reset", "-q", "--soft", "HEAD~1"),
    "looked at another branch": lambda apart: (
        apart.git("checkout", "-q", "--detach", "other"),
        apart.git("checkout", "-q", BRANCH),
    ),
}


@pytest.mark.parametrize("how", REPLACED)
def test_what_was_replaced_or_only_looked_at_is_not_missed(apart: Apart, how: str) -> None:
    git(apart.project, "switch", "-qc", "other")
    git(apart.project, "commit", "-q", "--allow-empty", "-m", "Theirs")
    apart.committed("more.txt")
    REPLACED[how](apart)
    apart.git("checkout", "-q", "-b", "on/it")
    apart.git("checkout", "-q", BRANCH)
    assert apart.behind() == []
