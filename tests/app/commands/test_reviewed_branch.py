"""A branch or request to look at: which one is meant, and where a session shows it."""

from dataclasses import replace
from typing import Any

import pytest

from agentmux.app.commands.begin.continued_branch import ReviewedBranch, find_reviewed
from agentmux.app.commands.begin.start import StartPlan, StartRequest, plan_start
from agentmux.core.journal.state import Reviewed
from agentmux.errors import NotFoundError, UsageError
from tests.app.commands.test_continued_branch import Scene, scene
from tests.app.driver import git
from tests.fakes.bench import Bench as TmuxTerminal

__all__ = ["scene"]


def tip_of_fix(scene: Scene) -> str:
    """Give the branch ``fix`` a commit of its own, and return it."""
    git(scene.project, "checkout", "-q", "fix")
    git(scene.project, "commit", "-q", "--allow-empty", "-m", "Fix it")
    git(scene.project, "checkout", "-q", "main")
    return git(scene.project, "rev-parse", "fix").strip()


def found(scene: Scene, given: str, base: str | None = None) -> ReviewedBranch:
    return find_reviewed(scene.world, given, base)


def test_a_branch_is_compared_with_what_is_checked_out_or_named(scene: Scene) -> None:
    tip = tip_of_fix(scene)
    of = found(scene, "fix")
    assert (of.branch.commit, of.base, of.since) == (tip, "main", scene.head)
    git(scene.project, "tag", "v1")
    assert found(scene, "fix", "v1").base == "v1"
    git(scene.project, "checkout", "-q", "fix")  # it may be checked out
    assert found(scene, "fix", "main").branch.commit == tip


def test_a_request_is_compared_with_where_it_goes(scene: Scene) -> None:
    tip = tip_of_fix(scene)
    scene.request(commit=tip, base="develop")
    with pytest.raises(UsageError, match="`develop`, with which the branch would be compared"):
        found(scene, "100")
    git(scene.project, "update-ref", "refs/remotes/origin/develop", "main")
    of = found(scene, "100")
    assert (of.base, of.since) == ("develop", scene.head)
    assert (of.branch.remote, of.branch.request is not None) == (None, True)


def test_the_commit_of_a_request_counts_not_the_branch_that_is_here(scene: Scene) -> None:
    scene.request(commit="c" * 40)
    of = found(scene, "100")
    assert (of.branch.commit, of.branch.remote) == ("c" * 40, "origin")


def test_nothing_to_review_and_no_such_branch_are_refused(scene: Scene) -> None:
    with pytest.raises(UsageError, match="nothing to review: fix is at the same commit as HEAD"):
        found(scene, "fix")
    with pytest.raises(NotFoundError, match="there is no branch `nowhere`"):
        found(scene, "nowhere")


def planned(scene: Scene, tmux: TmuxTerminal, **more: Any) -> StartPlan:
    world = replace(scene.world, terminal=lambda socket: tmux)
    of = found(scene, "fix")
    return plan_start(
        world, StartRequest(feature="x", agent="demo", of=of, pipeline="review", **more), {}
    )


def test_it_is_shown_in_a_worktree_without_a_branch(scene: Scene, tmux: TmuxTerminal) -> None:
    tip = tip_of_fix(scene)
    plan = planned(scene, tmux)
    own, state = plan.worktree, plan.state
    assert own is not None
    assert (own.branch, own.base.commit, state.branch) == ("", tip, None)
    assert state.worktree == str(own.path)
    assert state.options.base == tip
    assert state.reviewed == Reviewed(name="fix", commit=tip, base="main", since=scene.head)
    assert f"looks at branch fix in {own.path}, at {tip[:12]}, compared with main" in plan.notes[0]


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"branch": "x"}, "takes neither --on nor --branch"),
        ({"worktree": False}, "it needs --worktree"),
        ({"include": ("x",)}, "--include is for the checkout"),
    ],
)
def test_options_that_contradict_it(
    scene: Scene, tmux: TmuxTerminal, more: dict[str, Any], words: str
) -> None:
    tip_of_fix(scene)
    with pytest.raises(UsageError, match=words):
        planned(scene, tmux, **more)
